"""What was released: the value with its error bars, what it cost, and why it may be trusted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Any

from leastnoise.composition import Cost
from leastnoise.errors import BadParameter, LeastNoiseError
from leastnoise.exact.parameters import NumberLike, read_integer
from leastnoise.mechanisms import best_guess
from leastnoise.mechanisms.numeric.integer_noise import IntegerNoise
from leastnoise.model.certificate import Certificate
from leastnoise.model.events import Event
from leastnoise.model.losses import Loss, absolute
from leastnoise.model.mechanism import ErrorEstimate
from leastnoise.model.priors import PriorLike
from leastnoise.release.plan import ReleasePlan
from leastnoise.release.tables import TidyTable, html_table, measure_names, number, rich_table, text_table

__all__ = ["Release"]


@dataclass(frozen=True)
class Release:
    """A private answer. Everything in it is public: it may be printed, stored and processed further at no cost.

    Attributes:
        table: Keys, value and error bars, one row per released number.
        plan: How it was made.
        request_id: Asking again under this id returns this release; None without a ledger.
        steps: What was done to it after it was drawn, in order; nothing if empty.
    """

    table: TidyTable
    plan: ReleasePlan
    request_id: str | None = None
    steps: tuple[str, ...] = ()
    noise: IntegerNoise | None = field(default=None, repr=False)
    adjust: Callable[[TidyTable, IntegerNoise], TidyTable] | None = field(default=None, repr=False, compare=False)

    @property
    def value(self) -> Any:
        """The one value, or the whole table if there are several."""
        return self.table if self.table.keys else self.table[self._names[0]][0]

    @property
    def interval(self) -> tuple[Any, Any] | None:
        """The two ends that hold the one true value with 95 % probability; None where there is none, or a table."""
        _, low, high = self._names
        if self.table.keys or low not in self.table.columns:
            return None
        return self.table[low][0], self.table[high][0]

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
        table = self._mapped(lambda value: max(value, type(value)(0)), "non_negative")
        return self._after("non_negative", table)

    def rounded(self, digits: NumberLike = 0) -> Release:
        """Values rounded to so many digits after the point, whole numbers for none; the error bars stay."""
        places = read_integer(digits, "digits", at_least=-30, at_most=30)
        name = self._names[0]
        values = tuple(_round(value, places) for value in self._numbers(name, "rounded"))
        return self._after(f"rounded({places})", self.table.with_columns(**{name: values}))

    def consistent(self) -> Release:
        """Marginals that agree on every total that they share, with the least change in squares.

        The error bars are those of the new values: they hold the true counts with 95 % probability, each for itself.

        Raises:
            BadParameter: This is no release of marginals, or it was changed before.
        """
        if self.adjust is None or self.noise is None:
            raise BadParameter(
                "only marginals can be made consistent", given=self.plan.question, fix="ask for dataset.marginals(…)"
            )
        if self.steps:
            raise BadParameter(
                "consistent needs counts as they were drawn", given=", ".join(self.steps), fix="call consistent first"
            )
        return self._after("consistent", self.adjust(self.table, self.noise))

    def remapped(self, prior: PriorLike, loss: Loss = absolute) -> Release:
        """Each value becomes the best guess under a prior on the true answers and a loss; the error bars stay.

        Raises:
            BadParameter: The values are not whole numbers with one kind of noise, or were changed before.
        """
        name = self._names[0]
        values = self.table[name]
        if self.noise is None or self.steps or not all(type(value) is int for value in values):
            raise BadParameter(
                "a remap needs counts as they were drawn", given=self.plan.question, fix="remap before other steps"
            )
        guesses = {value: best_guess(self.noise, value, prior, loss).guess for value in set(values)}
        return self._after("remapped", self.table.with_columns(**{name: tuple(guesses[value] for value in values)}))

    def to_pandas(self) -> Any:
        """A pandas data frame, one row per released number."""
        return self.table.to_pandas()

    def to_polars(self) -> Any:
        """A Polars data frame."""
        return self.table.to_polars()

    def to_arrow(self) -> Any:
        """An Arrow table."""
        return self.table.to_arrow()

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready: the rows, the plan and the request."""
        return {
            "columns": list(self.table.names),
            "keys": list(self.table.keys),
            "rows": [[_plain(cell) for cell in row] for row in self.table],
            "plan": self.plan.to_dict(),
            "request_id": self.request_id,
            "steps": list(self.steps),
        }

    def plot(self, path: str | Path | None = None) -> Any:
        """Draw the values with their error bars; into a .png, .svg or .pdf file, or as a matplotlib figure."""
        from leastnoise.release.pictures import draw_release

        return draw_release(self, path)

    @property
    def caption(self) -> str:
        """One line about it."""
        done = f"; {', '.join(self.steps)}" if self.steps else ""
        off = "" if self.plan.error_95 is None else f"; 95 % error {number(self.plan.error_95)}"
        return f"{self.plan.question}; cost {self.cost}{off}{done}"

    def __str__(self) -> str:
        """The table, and a line about it."""
        return f"{text_table(self.table.names, list(self.table))}\n{self.caption}"

    def __rich__(self) -> Any:
        """The same for the terminal."""
        return rich_table(self.table.names, list(self.table), self.caption)

    def _repr_html_(self) -> str:
        return html_table(self.table.names, list(self.table), self.caption)

    @property
    def _names(self) -> tuple[str, str, str]:
        return measure_names(self.table.keys)

    def _after(self, step: str, table: TidyTable) -> Release:
        return replace(self, table=table, steps=(*self.steps, step))

    def _numbers(self, name: str, step: str) -> tuple[Any, ...]:
        column = self.table[name]
        if any(isinstance(value, bool) or not isinstance(value, int | float) for value in column):
            raise BadParameter(f"{step} needs numbers", given=self.plan.question, fix="leave the choice as it is")
        return column

    def _mapped(self, change: Callable[[Any], Any], step: str) -> TidyTable:
        names = [name for name in self._names if name in self.table.columns]
        return self.table.with_columns(
            **{name: tuple(change(value) for value in self._numbers(name, step)) for name in names}
        )


def _round(value: float, places: int) -> float | int:
    """Half to even, on the exact number that the double is."""
    rounded = round(Fraction(value), places)
    return int(rounded) if places <= 0 or isinstance(value, int) else float(rounded)


def _plain(cell: Any) -> Any:
    return cell if cell is None or isinstance(cell, bool | int | float | str) else str(cell)
