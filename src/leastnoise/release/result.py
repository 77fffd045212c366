"""What was released: the value with its error bars, what it cost, and why it may be trusted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property, partial
from math import isfinite
from pathlib import Path
from typing import Any

from leastnoise.composition import Cost
from leastnoise.errors import BadParameter, LeastNoiseError
from leastnoise.exact import NumberLike, read_integer
from leastnoise.mechanisms import best_guess
from leastnoise.model import (
    Certificate,
    ErrorEstimate,
    Event,
    Loss,
    Prior,
    PriorLike,
    absolute,
    aligned,
    html_table,
    number,
    rich_table,
)
from leastnoise.release.arguments import read_confidence
from leastnoise.release.plan import AnswerPlan, Change, RangeAnswer, ReleasePlan, percent
from leastnoise.release.tables import LongTable, TidyTable, measure_names
from leastnoise.release.whole import SimulatedError, simulate, with_whole

__all__ = ["Release"]

_IN_THE_UNIT = ("absolute", "root mean square", "largest")  # errors in the unit of the answer


def _is_yes_or_no(error: ErrorEstimate | None) -> bool:
    """Whether an answer is right or wrong, and nothing between."""
    return error is not None and error.loss == "zero-one"


@dataclass(frozen=True)
class Release:
    """A private answer. Everything in it is public: it may be printed, stored and processed further at no cost.

    Attributes:
        table: Keys, value and error bars, one row per released number.
        plan: How it was made.
        request_id: Asking again under this id returns this release; None without a ledger.
        steps: What was done to it after it was drawn, in order; nothing if empty.
        how: By which answer plan it was drawn; None where a mechanism was given instead.
        recorded: What the ledger has of it.
        changes: The steps themselves.
        simulated: What simulations say of the error after these steps; None where there were none.
    """

    table: TidyTable
    plan: ReleasePlan
    request_id: str | None = None
    steps: tuple[str, ...] = ()
    how: AnswerPlan | None = field(default=None, repr=False, compare=False)
    recorded: Any = field(default=None, repr=False, compare=False)
    changes: tuple[Change, ...] = field(default=(), repr=False, compare=False)
    simulated: SimulatedError | None = field(default=None, compare=False)

    @property
    def value(self) -> Any:
        """The one value, or the whole table if there are several."""
        return self.table if self.table.keys else self.table[self._names[0]][0]

    @property
    def confidence(self) -> Fraction:
        """The probability with which each interval of the table holds the true value."""
        return self.plan.confidence

    def interval(self, confidence: NumberLike | None = None) -> Any:
        """The two ends that hold the true value; a tuple of such pairs for a table, None for what has no intervals.

        Args:
            confidence: The probability with which they hold, each for itself; that of the release if left out.

        Raises:
            BadParameter: A confidence is asked for, and there are no intervals with it.
        """
        table = (self if confidence is None else self.with_confidence(confidence)).table
        _, low, high = measure_names(table.keys)
        if low not in table.columns:
            if confidence is None:
                return None
            raise BadParameter(
                "this release has no intervals that hold with this probability",
                given=confidence,
                fix="a quantile has those that interval_share and interval_confidence pay for; a choice has none",
            )
        pairs = tuple(zip(table[low], table[high], strict=True))
        return pairs if table.keys else pairs[0]

    def with_confidence(self, confidence: NumberLike) -> Release:
        """The same release with intervals that hold with another probability, exact for the law of the noise. Free.

        Args:
            confidence: The probability, between 0 and 1: 0.9, "99/100".

        Raises:
            BadParameter: It is no such number, or the release has no intervals.
        """
        level = read_confidence(confidence)
        if self.how is None:
            raise BadParameter("this release has no intervals", given=self.plan.question, fix="ask a dataset for some")
        table = self.how.to_table(self.recorded, level)
        for change in self.changes:
            table = table.changed(partial(_changed, change, level))
        error = None if self.how.supposing else self.how.error_at(level)
        return replace(self, table=table, plan=replace(self.plan, confidence=level, error=error))

    @property
    def error_within(self) -> Fraction | float | None:
        """How far off each number is at most, with the probability `confidence`.

        Where the law of the noise alone does not say it (means, variances, ratios, numbers that were changed after they
        were drawn), it is the largest distance of a value from an end of its interval: the error of this release. None
        where there is neither.
        """
        known = None if self.changes else self.plan.error_within
        names = measure_names(self.table.keys)
        held = not isinstance(self.table, LongTable) and all(name in self.table.columns for name in names)
        if known is not None or not held:
            return known
        rows = zip(*(self.table[name] for name in names), strict=True)
        return max((max(value - low, high - value) for value, low, high in rows), default=None)

    def range(self, first: Any, last: Any, confidence: NumberLike | None = None) -> RangeAnswer:
        """The sum of the cells from one key or edge to another, with its interval. Free.

        Args:
            first: The first key, or the lower edge.
            last: The last key, which counts too, or the upper edge.
            confidence: The probability with which the interval holds; that of the release if left out.

        Raises:
            BadParameter: There is no such key or edge, or the release is no table of prefix sums or ranges.
        """
        level = self.confidence if confidence is None else read_confidence(confidence)
        if self.how is None or self.how.ranges is None or self.changes:
            raise BadParameter(
                "ranges are those of prefix sums and ranges as they were released",
                given=self.plan.question,
                fix='ask for dataset.workload("ranges", …), and take ranges before other steps',
            )
        return self.how.ranges(self.recorded, (first, last), level)

    @property
    def event(self) -> Event:
        """What was charged."""
        return self.plan.event

    @property
    def cost(self) -> Cost:
        """Its price."""
        return self.plan.cost

    @property
    def error(self) -> ErrorEstimate | None:
        """The error of each number, as it was drawn; None where it depends on how many rows there are."""
        return self.plan.error

    @cached_property
    def _certificate(self) -> Certificate | str:
        try:
            return self.plan.mechanism.certificate()
        except LeastNoiseError as refusal:
            return str(refusal)

    @property
    def certificate(self) -> Certificate | None:
        """What the checker can verify on its own; None where there is none, and `no_certificate` says why."""
        return None if isinstance(self._certificate, str) else self._certificate

    @property
    def no_certificate(self) -> str | None:
        """Why there is no certificate; None where there is one."""
        return self._certificate if isinstance(self._certificate, str) else None

    def non_negative(self) -> Release:
        """Negative values and ends of error bars become zero. Costs nothing."""
        _require_numbers(self.table, "non_negative", self.plan.question)
        return self._after("non_negative", _non_negative)

    def rounded(self, digits: NumberLike = 0) -> Release:
        """Values rounded to so many digits after the point; error bars stay, or grow up to the rounded value.

        Args:
            digits: How many; whole numbers for none.
        """
        places = read_integer(digits, "digits", at_least=-30, at_most=30)
        _require_numbers(self.table, "rounded", self.plan.question)
        return self._after(f"rounded({places})", partial(_with_values, partial(_round, places)))

    def whole(self, draws: NumberLike = 20) -> Release:
        """Non-negative whole numbers that agree: sums of one table of such numbers near what was drawn. Costs nothing.

        For counts, tables, hierarchies, prefix sums and ranges. The same record gives the same numbers. Each interval
        holds the true value as before, and the new value. The error of the new values is simulated (`simulated`).

        Args:
            draws: How many simulations; none for 0.

        Raises:
            BadParameter: The release is none of these, or was changed before.
            TooLarge: The one table behind all numbers would have more than 65536 cells.
        """
        many = read_integer(draws, "draws", at_least=0, at_most=10_000)
        how = self.how
        if how is None or how.whole is None or self.changes:
            raise BadParameter(
                "whole numbers that agree are those of counts, tables, hierarchies, prefix sums and ranges as drawn",
                given=self.plan.question,
                fix="make them whole before other steps, or take non_negative().rounded()",
            )
        found = how.whole(self.recorded)
        told = simulate(how.mechanism, how.prepare, how.encode, how.whole, found, many) if many else None
        return replace(self._after("whole", partial(with_whole, found.values)), simulated=told)

    def remapped(self, prior: PriorLike, loss: Loss = absolute) -> Release:
        """Each value becomes the best guess under a prior on the true answers and a loss; error bars hold the guess.

        Args:
            prior: How likely each true answer is.
            loss: What a wrong guess costs.

        Raises:
            BadParameter: The values are not whole numbers with one kind of noise, or were changed before.
        """
        values = self.table[self._names[0]]
        noise = None if self.how is None else self.how.noise
        if noise is None or self.steps or not all(type(value) is int for value in values):
            raise BadParameter(
                "a remap needs counts as they were drawn", given=self.plan.question, fix="remap before other steps"
            )
        known = prior if isinstance(prior, Prior) else Prior(prior)
        guesses = {value: best_guess(noise, value, known, loss).guess for value in set(values)}
        return self._after("remapped", partial(_with_values, guesses.__getitem__))

    def to_pandas(self) -> Any:
        """A pandas data frame, one row per released number."""
        return self.table.to_pandas()

    def to_polars(self) -> Any:
        """A Polars data frame."""
        return self.table.to_polars()

    def to_arrow(self) -> Any:
        """An Arrow table."""
        return self.table.to_arrow()

    def to_csv(self, path: str | Path | None = None) -> str | None:
        """Comma-separated values in UTF-8 with a header: the text, or nothing if it is written to a file.

        Keys are written as they are: a spreadsheet may read one that starts with "=", "+", "-" or "@" as a formula.

        Args:
            path: Where to; if left out, the text is returned.
        """
        return self.table.to_csv(path)

    def to_parquet(self, path: str | Path) -> None:
        """A Parquet file, one row per released number.

        Args:
            path: Where to.
        """
        self.table.to_parquet(path)

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready: the rows, the plan and the request.

        Raises:
            TooLarge: There are so many rows that they are not held.
        """
        return {
            "columns": list(self.table.names),
            "keys": list(self.table.keys),
            "rows": [[_plain(cell) for cell in row] for row in zip(*self.table.columns.values(), strict=True)],
            "confidence": float(self.confidence),
            "plan": self.plan.to_dict(),
            "request_id": self.request_id,
            "steps": list(self.steps),
            "simulated": None if self.simulated is None else str(self.simulated),
        }

    def plot(self, path: str | Path | None = None) -> Any:
        """Draw the values with their error bars; into a .png, .svg or .pdf file, or as a matplotlib figure."""
        from leastnoise.release.pictures import draw_release

        return draw_release(self, path)

    @property
    def caption(self) -> str:
        """One line about it."""
        done = f"; {', '.join(self.steps)}" if self.steps else ""
        far = self.error_within
        told = self.plan.error
        unit = self.plan.measured_in if told is None or told.loss in _IN_THE_UNIT else told.loss
        bound = "" if told is None or told.attained else "at most "
        off = (
            ""
            if far is None or _is_yes_or_no(told)
            else f"; {percent(self.confidence)} error {bound}{number(far)} {unit}".rstrip()
        )
        return f"{self.plan.question}; cost {self.cost}{off}{done}"

    @property
    def remarks(self) -> list[str]:
        """What the numbers are: what counts of the data, and what the intervals hold."""
        counted = [f"counts {self.plan.counted}"] if self.plan.counted else []
        counted += [] if len(self.table) else ["nothing was common enough to show"]
        counted += list(self.plan.notes[:1]) if _is_yes_or_no(self.plan.error) else []
        counted += [str(self.simulated)] if self.simulated is not None else []
        if measure_names(self.table.keys)[1] not in self.table.columns:
            return counted
        each = "each true value" if self.table.keys else "the true value"
        return [*counted, f"low and high hold {each} with probability {percent(self.confidence)}"]

    def __str__(self) -> str:
        """The table, and lines about it."""
        return "\n".join([aligned(self.table.shown()), self.caption, *self.remarks])

    def __rich__(self) -> Any:
        """The same for the terminal."""
        return rich_table(self.table.shown(), "; ".join([self.caption, *self.remarks]))

    def _repr_html_(self) -> str:
        head, *body = self.table.shown()
        return html_table("; ".join([self.caption, *self.remarks]), body, head)

    @property
    def _names(self) -> tuple[str, str, str]:
        return measure_names(self.table.keys)

    def _after(self, step: str, change: Change) -> Release:
        table = self.table.changed(partial(_changed, change, self.confidence))
        return replace(self, table=table, steps=(*self.steps, step), changes=(*self.changes, change), simulated=None)


def _changed(change: Change, level: Fraction, table: TidyTable) -> TidyTable:
    return change(table, level)


def _require_numbers(table: TidyTable, step: str, question: str) -> None:
    if isinstance(table, LongTable):  # of counts
        return
    for name in table.measures:
        if any(isinstance(value, bool) or not isinstance(value, int | float) for value in table[name]):
            raise BadParameter(f"{step} needs numbers", given=question, fix="leave the choice as it is")


def _non_negative(table: TidyTable, _: Fraction) -> TidyTable:
    names = [name for name in measure_names(table.keys) if name in table.columns]
    return table.with_columns(**{name: tuple(max(x, type(x)(0)) for x in table[name]) for name in names})


def _with_values(change: Callable[[Any], Any], table: TidyTable, _: Fraction) -> TidyTable:
    """Other values; where one would leave its interval, the interval goes on up to it."""
    name, low, high = measure_names(table.keys)
    values = tuple(map(change, table[name]))
    changed = {name: values}
    if low in table.columns:
        changed[low] = tuple(map(min, table[low], values))
        changed[high] = tuple(map(max, table[high], values))
    return table.with_columns(**changed)


def _round(places: int, value: float) -> float | int:
    """Half to even, on the exact number that the double is."""
    rounded = round(Fraction(value), places)
    return int(rounded) if places <= 0 or isinstance(value, int) else float(rounded)


def _plain(cell: Any) -> Any:
    if isinstance(cell, float) and not isfinite(cell):
        return None  # JSON has no infinity: this end of the interval has no limit
    return cell if cell is None or isinstance(cell, bool | int | float | str) else str(cell)
