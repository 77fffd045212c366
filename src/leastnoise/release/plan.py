"""What a release will cost and how far off it will be, before anything is spent. Public things only."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, NamedTuple, Protocol

from leastnoise.composition import Cost, Remaining, cost_of
from leastnoise.exact import Enclosure
from leastnoise.ledger.record import Json
from leastnoise.mechanisms.histogram.independent_noise import IndependentNoise
from leastnoise.mechanisms.histogram.keys_found import KeysFound
from leastnoise.mechanisms.numeric.integer_noise import IntegerNoise
from leastnoise.model import (
    LEVEL,
    Candidate,
    ErrorEstimate,
    Event,
    Mechanism,
    Privacy,
    Reason,
    Sensitivity,
    html_table,
    number,
    rich_lines,
    text_lines,
)
from leastnoise.release.tables import TidyTable
from leastnoise.release.whole import WholeNumbers

__all__ = ["AnswerPlan", "Change", "PricedError", "RangeAnswer", "ReleasePlan", "percent", "quantile_of", "unit_of"]

_LONG_PRICE = 8  # characters of a price that nobody reads at a glance
Change = Callable[[TidyTable, Fraction], TidyTable]  # of a table whose intervals hold at some level


@dataclass(frozen=True)
class AnswerPlan:
    """What a query does at some price: the mechanism that will answer it, and how to read what it draws.

    It leaves with the release, so it holds public things only, and can be pickled.

    Attributes:
        mechanism: Draws the answer.
        event: What that costs.
        error: The error of each released number; None where it depends on how many rows there are.
        within: The error that is not exceeded with a given probability; None as above.
        sensitivity: How much one unit can change the true answer.
        encode: What was drawn, as JSON for the ledger.
        to_table: The table that such JSON stands for, with intervals at a given probability.
        reason: Why this mechanism.
        lower_bound: What no mechanism beats on this question; None where nothing is known or its neighbours are fewer
            than a theorem supposes. The bound of `reason` is set to it.
        options: All candidates that were compared, the best first.
        notes: What else there is to know.
        noise: What was added to each value, in steps, where that is one whole noise: for remapping.
        prepare: What the mechanism needs of what was read.
        ranges: The sum of the cells between two keys or edges, with its interval; None where cells have no order.
        whole: Non-negative whole numbers that agree, from what was drawn; None where there are none.
        supposing: What the error supposes of private things; nothing if empty.
        share_of_targets: The largest error as a share of the one that is wanted, not exceeded with a given probability;
            None where no errors were named.
    """

    mechanism: Mechanism
    event: Event
    error: ErrorEstimate | None
    within: Callable[[Fraction], Fraction | None]
    sensitivity: Sensitivity | None
    encode: Callable[[Any], Json]
    to_table: Callable[[Any, Fraction], TidyTable]
    reason: Reason
    lower_bound: Enclosure | None = None
    options: tuple[Candidate, ...] = ()
    notes: tuple[str, ...] = ()
    noise: IntegerNoise | None = None
    prepare: Callable[[Any], Any] | None = None
    ranges: Callable[[Any, tuple[Any, Any], Fraction], RangeAnswer] | None = None
    whole: Callable[[Any], WholeNumbers] | None = None
    supposing: str = ""
    share_of_targets: Callable[[Fraction], Fraction] | None = None

    def draw(self, truth: Any) -> Json:
        """One draw at what was read, with unpredictable noise, as JSON for the ledger."""
        return self.encode(self.mechanism.release(truth if self.prepare is None else self.prepare(truth)))

    def __post_init__(self) -> None:
        """No other bound than that of the question is passed on."""
        object.__setattr__(self, "reason", replace(self.reason, lower_bound=self.lower_bound))

    def error_at(self, level: Fraction) -> ErrorEstimate | None:
        """The error with its quantile at this level."""
        far = self.within(level)
        return None if self.error is None or far is None else replace(self.error, quantiles={level: far})


class RangeAnswer(NamedTuple):
    """The sum of some cells in a row, and the interval that holds the true one."""

    value: float
    low: float
    high: float


class Errs(Protocol):
    """A mechanism that tells its error at any level."""

    def error(self, level: Fraction, /) -> ErrorEstimate: ...


def quantile_of(mechanism: Errs, step: Fraction, level: Fraction) -> Fraction:
    """The error of a mechanism that is not exceeded with this probability, in the unit of the answer."""
    return mechanism.error(level).quantiles[level] * step


class PricedError(NamedTuple):
    """What a release of the same question would cost and how far off it would be, at another price."""

    price: Privacy
    expected: Fraction
    within: Fraction

    def __str__(self) -> str:
        """The error that is kept with the confidence of the plan, and the price."""
        return f"±{number(self.within)} at {short_price(self.price)}"


def _none(_: Fraction) -> tuple[PricedError, ...]:
    return ()


@dataclass(frozen=True)
class ReleasePlan:
    """A question with its mechanism, made from public things only: schema, bounds, keys and the ledger.

    Attributes:
        question: What is asked.
        mechanism: What will draw the answer.
        reason: Why this one, with its theorem.
        sensitivity: How much one unit can change the true answer; None where the mechanism says it otherwise.
        price: The privacy that was asked for; None where a mechanism was given instead.
        confidence: The probability with which `error_within` and the intervals of the release hold.
        error: The error to expect of each number that is released; None where it depends on how many rows there are.
        lower_bound: What no private mechanism can beat on this question, however many units there are; None where that
            is not known.
        event: What is charged.
        options: All candidates that were compared, the best first.
        notes: What else an analyst should know.
        left: What the budget leaves now; None without a ledger.
        supposing: What the error supposes of private things; nothing if empty.
        counted: What counts of the data: how much of a unit, and which rows do not.
        measured_in: The unit of the answer and of its error; nothing if empty.
    """

    question: str
    mechanism: Mechanism
    reason: Reason
    sensitivity: Sensitivity | None
    error: ErrorEstimate | None
    lower_bound: Enclosure | None
    event: Event
    options: tuple[Candidate, ...] = ()
    notes: tuple[str, ...] = ()
    price: Privacy | None = None
    confidence: Fraction = LEVEL
    left: Remaining | None = field(default=None, compare=False)
    supposing: str = ""
    counted: str = ""
    measured_in: str = ""
    other_prices: Callable[[Fraction], tuple[PricedError, ...]] = field(default=_none, compare=False, repr=False)

    @property
    def cost(self) -> Cost:
        """The price of the event."""
        return cost_of(self.event)

    @property
    def expected_error(self) -> float | None:
        """The expected error of each number, for display; None where it depends on how many rows there are."""
        return None if self.error is None else float(self.error.expected)

    @property
    def error_within(self) -> Fraction | None:
        """The error of each number that is not exceeded with the probability `confidence`."""
        return None if self.error is None else self.error.quantiles.get(self.confidence)

    @cached_property
    def prices(self) -> tuple[PricedError, ...]:
        """Some other prices with their errors, the cheapest first; computed when first asked for."""
        return self.other_prices(self.confidence)

    def lines(self) -> list[tuple[str, str]]:
        """What there is to say, one thing a line."""
        shown = [
            ("counts", self.counted or None),
            ("mechanism", mechanism_name(self.mechanism)),
            ("because", f"{self.reason.theorem} ({self.reason.citation})"),
            ("sensitivity", None if self.sensitivity is None else str(self.sensitivity)),
            *_error_lines(self.error, self.confidence, self.measured_in, self.supposing),
            ("lower bound", "none known" if self.lower_bound is None else f"{number(self.lower_bound)} expected"),
            ("costs", price_text(self.price, self.cost)),
            ("other prices", self._other_prices()),
            ("left", None if self.left is None else str(self.left)),
            ("compared", "; ".join(_compared(option) for option in self.options[1:]) or None),
            *(("note", note) for note in self.notes),
        ]
        return [(name, text) for name, text in shown if text is not None]

    def _other_prices(self) -> str | None:
        unit = "" if self.error is None else unit_of(self.error)
        shown = [f"±{number(each.within)}{unit} at {short_price(each.price)}" for each in self.prices]
        return ", ".join(shown) or None

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready: exact numbers as text."""
        return {
            "question": self.question,
            "counts": self.counted,
            "measured_in": self.measured_in,
            "mechanism": mechanism_name(self.mechanism),
            "reason": {"theorem": self.reason.theorem, "citation": self.reason.citation},
            "sensitivity": None if self.sensitivity is None else self.sensitivity.to_dict(),
            "error": None
            if self.error is None
            else {
                "loss": self.error.loss,
                "expected": float(self.error.expected),
                "within": None if self.error_within is None else float(self.error_within),
                "confidence": float(self.confidence),
                "attained": self.error.attained,
                "supposing": self.supposing,
            },
            "lower_bound": None if self.lower_bound is None else float(self.lower_bound),
            "price": None if self.price is None else self.price.to_dict(),
            "other_prices": [
                {"price": each.price.to_dict(), "expected": float(each.expected), "within": float(each.within)}
                for each in self.prices
            ],
            "event": self.event.to_dict(),
            "cost": {
                "epsilon": None if self.cost.epsilon is None else str(self.cost.epsilon),
                "delta": str(self.cost.delta),
                "rho": str(self.cost.rho),
            },
            "left": None
            if self.left is None
            else {"epsilon": str(self.left.epsilon), "delta": str(self.left.delta), "rho": str(self.left.rho)},
            "compared": [
                {"mechanism": mechanism_name(option.mechanism), "expected": float(option.expected)}
                for option in self.options
            ],
            "notes": list(self.notes),
        }

    def __str__(self) -> str:
        """All lines as text."""
        return text_lines(self.question, self.lines())

    def __rich__(self) -> Any:
        """All lines as a table for the terminal."""
        return rich_lines(self.question, self.lines())

    def _repr_html_(self) -> str:
        return html_table(self.question, self.lines())


def mechanism_name(mechanism: Mechanism) -> str:
    """Its name, with that of the noise where it adds some to many cells."""
    if isinstance(mechanism, KeysFound):
        return f"{mechanism.name} ({mechanism.noises[0].name})"
    if not isinstance(mechanism, IndependentNoise):
        return mechanism.name
    kinds = list(dict.fromkeys(block.noise.name for block in mechanism.blocks))
    many = "" if mechanism.dimension == 1 else f" on each of {mechanism.dimension} numbers"
    return f"{' and '.join(kinds)}{many}"


def short_price(price: Privacy) -> str:
    """A price with few digits, without its δ."""
    if price.currency in ("rho", "mu"):
        return f"ρ = {number(price.rho)}" if price.currency == "rho" else f"μ = {number(price.mu)}"
    return f"ε = {number(price.epsilon)}"


def price_text(price: Privacy | None, cost: Cost) -> str:
    """What was asked for, with few digits where it is a long fraction, and what is charged where that differs."""
    if price is None:
        return str(cost)
    asked, short = str(price), short_price(price)
    rounded = f" ({short[4:]})" if len(asked) > _LONG_PRICE and price.currency != "epsilon and delta" else ""
    return f"{asked}{rounded}" if asked == str(cost) else f"{asked}{rounded}; charged {cost}"


def percent(level: Fraction) -> str:
    """A level as a person writes it.

    >>> percent(Fraction(19, 20)), percent(Fraction(999, 1000))
    ('95 %', '99.9 %')
    """
    return f"{float(100 * level):.10g} %"


def unit_of(error: ErrorEstimate) -> str:
    """What an error counts, after its number; nothing where it is in the unit of the answer."""
    return "" if error.loss == "absolute" else f" {error.loss}"


def _error_lines(
    error: ErrorEstimate | None, level: Fraction, measured_in: str, supposing: str
) -> list[tuple[str, str | None]]:
    """The error in the unit of the answer; where it supposes something of the data, every line says so."""
    if error is None:
        return [("error", "depends on the number of rows; the release says how far off it is")]
    if error.loss == "zero-one":
        return [("wrong", f"with probability {'' if error.attained else 'at most '}{number(error.expected)}")]
    unit, within = measured_in if error.loss == "absolute" else error.loss, error.quantiles.get(level)
    unit += f", {supposing}" if supposing else ""
    at_most = "" if error.attained else "at most "
    return [
        ("expected error", f"{at_most}{number(error.expected)} {unit}"),
        (f"{percent(level)} error", None if within is None else f"at most {number(within)} {unit}"),
    ]


def _compared(option: Candidate) -> str:
    return f"{mechanism_name(option.mechanism)}: {number(option.expected)}"
