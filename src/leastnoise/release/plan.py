"""What a release will cost and how far off it will be, before anything is spent. Public things only."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from leastnoise.composition import Cost, Remaining, cost_of
from leastnoise.exact.enclosures import Enclosure
from leastnoise.exact.numbers import Exact
from leastnoise.ledger.record import Json
from leastnoise.mechanisms.candidates import Candidate
from leastnoise.mechanisms.histogram.independent_noise import IndependentNoise
from leastnoise.mechanisms.numeric.integer_noise import IntegerNoise
from leastnoise.model.events import Event
from leastnoise.model.mechanism import LEVEL, ErrorEstimate, Mechanism, Reason
from leastnoise.model.sensitivity import Sensitivity
from leastnoise.release.tables import Line, TidyTable, html_lines, number, rich_lines, text_lines

__all__ = ["AnswerPlan", "ReleasePlan"]


@dataclass(frozen=True)
class AnswerPlan:
    """What a query does at some price: the mechanism that will answer it, and how to read what it draws.

    Attributes:
        mechanism: Draws the answer.
        event: What that costs.
        error: The error of each released number; None where it depends on how many rows there are.
        sensitivity: How much one unit can change the true answer.
        encode: What was drawn, as JSON for the ledger.
        to_table: The table that such JSON stands for.
        reason: Why this mechanism.
        lower_bound: What no mechanism beats on this question; None where nothing is known or its neighbours are fewer
            than a theorem supposes. The bound of `reason` is set to it.
        options: All candidates that were compared, the best first.
        notes: What else there is to know.
        noise: What was added to each value, in steps, where that is one whole noise: for remapping.
    """

    mechanism: Mechanism
    event: Event
    error: ErrorEstimate | None
    sensitivity: Sensitivity | None
    encode: Callable[[Any], Json]
    to_table: Callable[[Any], TidyTable]
    reason: Reason
    lower_bound: Enclosure | None = None
    options: tuple[Candidate, ...] = ()
    notes: tuple[str, ...] = ()
    noise: IntegerNoise | None = None

    def __post_init__(self) -> None:
        """No other bound than that of the question is passed on."""
        object.__setattr__(self, "reason", replace(self.reason, lower_bound=self.lower_bound))


@dataclass(frozen=True)
class ReleasePlan:
    """A question with its mechanism, made from public things only: schema, bounds, keys and the ledger.

    Attributes:
        question: What is asked.
        mechanism: What will draw the answer.
        reason: Why this one, with its theorem.
        sensitivity: How much one unit can change the true answer; None where the mechanism says it otherwise.
        error: The error to expect of each number that is released; None where it depends on how many rows there are.
        lower_bound: What no private mechanism can beat on this question, however many units there are; None where that
            is not known.
        half_error: The ε at which the expected error would be half; None where that is not within four times ε.
        event: What is charged.
        options: All candidates that were compared, the best first.
        notes: What else an analyst should know.
        left: What the budget leaves now; None without a ledger.
    """

    question: str
    mechanism: Mechanism
    reason: Reason
    sensitivity: Sensitivity | None
    error: ErrorEstimate | None
    lower_bound: Enclosure | None
    half_error: Exact | None
    event: Event
    options: tuple[Candidate, ...] = ()
    notes: tuple[str, ...] = ()
    left: Remaining | None = field(default=None, compare=False)

    @property
    def cost(self) -> Cost:
        """The price of the event."""
        return cost_of(self.event)

    @property
    def expected_error(self) -> float | None:
        """The expected error of each number, for display; None where it depends on how many rows there are."""
        return None if self.error is None else float(self.error.expected)

    @property
    def error_95(self) -> Fraction | None:
        """The error of each number that is not exceeded with 95 % probability."""
        return None if self.error is None else self.error.quantiles.get(LEVEL)

    def lines(self) -> list[Line]:
        """What there is to say, one thing a line."""
        shown = [
            ("mechanism", mechanism_name(self.mechanism)),
            ("because", f"{self.reason.theorem} ({self.reason.citation})"),
            ("sensitivity", None if self.sensitivity is None else str(self.sensitivity)),
            *_error_lines(self.error),
            ("lower bound", "none known" if self.lower_bound is None else f"{number(self.lower_bound)} expected"),
            ("half the error", None if self.half_error is None else f"would need ε = {number(self.half_error)}"),
            ("costs", str(self.cost)),
            ("left", None if self.left is None else str(self.left)),
            ("compared", "; ".join(_compared(option) for option in self.options[1:]) or None),
            *(("note", note) for note in self.notes),
        ]
        return [(name, text) for name, text in shown if text is not None]

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready: exact numbers as text."""
        return {
            "question": self.question,
            "mechanism": mechanism_name(self.mechanism),
            "reason": {"theorem": self.reason.theorem, "citation": self.reason.citation},
            "sensitivity": None if self.sensitivity is None else self.sensitivity.to_dict(),
            "error": None
            if self.error is None
            else {
                "loss": self.error.loss,
                "expected": float(self.error.expected),
                "within_95": None if self.error_95 is None else float(self.error_95),
                "attained": self.error.attained,
            },
            "lower_bound": None if self.lower_bound is None else float(self.lower_bound),
            "half_error_epsilon": None if self.half_error is None else str(self.half_error),
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
        return html_lines(self.question, self.lines())


def mechanism_name(mechanism: Mechanism) -> str:
    """Its name, with that of the noise where it adds some to many cells."""
    if not isinstance(mechanism, IndependentNoise):
        return mechanism.name
    kinds = list(dict.fromkeys(block.noise.name for block in mechanism.blocks))
    many = "" if mechanism.dimension == 1 else f" on each of {mechanism.dimension} numbers"
    return f"{' and '.join(kinds)}{many}"


def _error_lines(error: ErrorEstimate | None) -> list[tuple[str, str | None]]:
    if error is None:
        return [("error", "depends on the number of rows")]
    unit, within = "" if error.loss == "absolute" else f"({error.loss})", error.quantiles.get(LEVEL)
    at_most = "" if error.attained else "at most "
    return [
        ("expected error", f"{at_most}{number(error.expected)} {unit}"),
        ("95 % error", None if within is None else f"at most {number(within)} {unit}"),
    ]


def _compared(option: Candidate) -> str:
    return f"{mechanism_name(option.mechanism)}: {number(option.expected)}"
