"""Medians and other quantiles: the engine counts rows on a public grid, a rank mechanism chooses from it.

A unit adds at most `rows_per_unit` rows to a group, so it moves every number of changes there by at most that many, and
the rank mechanism gets ε/rows_per_unit; as an exponential mechanism its log-probabilities still range over ε. A unit in
g groups pays for g of them; groups that share no unit share one price.

Of the mechanisms that the price pays for, the one with the least expected rank error on a public reference is used: so
many rows, spread evenly over the grid. An interval in the unit of the column is two more private quantiles, which aim
to both sides of the first by a margin that covers the worst database; they get a stated share of the price.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, partial
from math import ceil, lcm
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from leastnoise.composition.cost import covers, pure_within
from leastnoise.data import CountRows, Kind
from leastnoise.errors import UnknownEvent
from leastnoise.exact import Exact, rational_above
from leastnoise.ledger.record import Json
from leastnoise.mechanisms import IntervalQuantile, Quantile, QuantileBound, QuantileTable, SeveralQuantiles
from leastnoise.mechanisms.rank.reference import REFERENCE_ROWS
from leastnoise.mechanisms.rank.tally import Tally
from leastnoise.model import (
    MOST_POINTS,
    MOST_RANK_CELLS,
    BoundedRange,
    Composed,
    ErrorEstimate,
    Event,
    Privacy,
    Pure,
    number,
)
from leastnoise.release.arguments import cell_keys
from leastnoise.release.plan import AnswerPlan, percent, quantile_of
from leastnoise.release.queries.query import CellQuery
from leastnoise.release.sensitivity import points_reachable, sensitivity_of
from leastnoise.release.tables import TidyTable, measure_names

__all__ = ["Quantiles"]

_USUAL_POINTS = 1001
_MOST_PARTS = 8  # of a step of the grid, where rows are counted
_SURE = 1 << 48  # numerators and denominators below it are placed on a grid by doubles
RankMechanism = SeveralQuantiles | IntervalQuantile | Quantile


@dataclass(frozen=True, repr=False, kw_only=True)
class Quantiles(CellQuery):
    """One or several quantiles of a column, in all or by public keys and bins.

    Attributes:
        column: Whose quantiles; missing values do not count.
        levels: Which ones, increasing.
        grid: The public points to choose from, increasing.
        even: The distance of the grid points, where it is the same for all.
        known: Whether the grid was given; else it is the public scale of all numbers.
        expected_rows: A public guess of the rows of a group, by which the mechanism is chosen; None for the usual one.
        interval_share: The share of the price that pays for intervals; None for no intervals.
        interval_confidence: The probability with which each of them holds the true quantile.
    """

    recorded_as: ClassVar[str] = "Quantiles"
    column: str
    levels: tuple[Fraction, ...]
    grid: tuple[Fraction, ...]
    even: Fraction | None
    known: bool
    expected_rows: int | None
    interval_share: Fraction | None
    interval_confidence: Fraction

    @property
    def question(self) -> str:
        names = {"1/2": "median", "0": "minimum", "1": "maximum"}
        listed = ", ".join(map(number, self.levels))
        named = names.get(str(self.levels[0]), f"quantile {listed}") if len(self.levels) == 1 else f"quantiles {listed}"
        return self.described(f"{named} of {self.column}")

    @property
    def measured_in(self) -> str:
        return self.column

    def parameters(self) -> dict[str, Json]:
        even: list[Json] = [str(self.grid[0]), str(self.even), len(self.grid)]
        found: dict[str, Json] = {
            **super().parameters(),
            "column": self.column,
            "levels": [str(level) for level in self.levels],
            "grid": [str(point) for point in self.grid] if self.even is None else even,
        }
        if not self.known:
            found["grid"] = ["magnitudes", str(self.grid[-1]), len(self.grid)]
        if self.expected_rows is not None:
            found["expected_rows"] = self.expected_rows
        if self.interval_share is not None:
            found["interval"] = [str(self.interval_share), str(self.interval_confidence)]
        return found

    @cached_property
    def reachable(self) -> bool:
        """Whether any number of units can count as at each point."""
        asked = self.dataset.table, self.contribution, self.column, self._counted, self.where
        return not self.axes and points_reachable(*asked, every=self._parts)

    def answer_plan(self, price: Privacy) -> AnswerPlan:
        """The rank mechanism with the least error on the reference."""
        sensitivity = sensitivity_of(self.contribution, CountRows(), self.cells, norm="l∞")
        rows = sensitivity.each
        found = [
            (method, self._within(price, method, rows, sensitivity.cells))
            for method in self._methods(pure_within(price))
        ]
        guess = self.guess
        errors = [mechanism.reference_error(guess) for _, mechanism in found]
        order = sorted(range(len(found)), key=errors.__getitem__)
        method, mechanism = found[order[0]]
        error, reason = mechanism.error(), mechanism.reason()
        saved = () if self.known else self._saved(price, rows, sensitivity.cells, errors[order[0]])
        bounded = rows == 1 and self.reachable and price.is_pure and self.interval_share is None
        return AnswerPlan(
            mechanism=mechanism,
            event=_scaled(mechanism.event, Fraction(rows)),
            error=ErrorEstimate("rows", error.expected, error.quantiles, attained=False),
            within=partial(quantile_of, mechanism, Fraction(1)),
            sensitivity=sensitivity,
            encode=_numbers,
            to_table=partial(self._table, all(point.denominator == 1 for point in self.grid), self.interval_confidence),
            reason=reason,
            lower_bound=reason.lower_bound if bounded else None,
            notes=(
                f"by {method}: expected rank error {errors[order[0]]:.3g} rows if {guess} rows"
                f"{' of each group' if self.axes else ''} were spread evenly over the grid, the public reference; "
                + "".join(f"{found[i][0]} {errors[i]:.3g}, " for i in order[1:])
                + "the errors above are bounds for the worst table",
                "errors count rows between answer and true quantile where every value is a point of the grid; where "
                "many lie between two, the answer may be either; a value counts as the nearest of "
                f"{len(self._counted)} points",
                f"the grid has {len(self.grid)} points from {number(self.grid[0])} to {number(self.grid[-1])}",
                *saved,
                *self._interval_notes,
            ),
        )

    def _saved(self, price: Privacy, rows: int, touched: int, error: float) -> tuple[str]:
        """What it costs not to know bounds: on a grid of a thousand points the same price answers better."""
        narrow = copy(self)
        object.__setattr__(narrow, "grid", tuple(map(Fraction, range(_USUAL_POINTS))))
        object.__setattr__(narrow, "even", Fraction(1))
        methods = narrow._methods(pure_within(price))
        least = min(narrow._within(price, each, rows, touched).reference_error(self.guess) for each in methods)
        return (
            "no share of the price is spent on bounds: the grid is a public scale, its numbers 1 or 2 % apart; "
            f"to know them would save {max(error - least, 0):.2g} of {error:.3g} rows on the reference, and give finer "
            "answers",
        )

    @property
    def guess(self) -> int:
        """The rows of a group, as far as is public."""
        return REFERENCE_ROWS if self.expected_rows is None else self.expected_rows

    @property
    def _interval_notes(self) -> tuple[str, ...]:
        if self.interval_share is None:
            return ()
        held = percent(self.interval_confidence)
        return (f"{percent(self.interval_share)} of the price pay for intervals that hold with {held} on every table",)

    def read(self) -> Any:
        """How many rows of each group lie nearest to each grid point: below it, at it and above it."""
        parts, fine = self._parts, self._counted
        found = self.dataset.table.ranks(self.contribution, self.column, fine, self.where, self.axes)
        table = np.reshape(found, (self.cells, len(fine)))
        if parts > 1:
            before, after = parts // 2, (parts - 1) // 2
            wide = np.pad(table, ((0, 0), (before, after))).reshape(self.cells, len(self.grid), parts)
            sides = wide[..., :before].sum(axis=2), wide[..., before], wide[..., before + 1 :].sum(axis=2)
            table = np.stack(sides, axis=2)
        return Tally(table[0]) if self._is_plain else table

    @cached_property
    def _parts(self) -> int:
        """Into how many equal parts a step of the grid is divided where rows are counted; from public things only.

        Whole numbers are divided as far as whole numbers go. Uneven grids, decimals, and numbers with so many digits
        that an engine would not place them by doubles are not divided: the engine is asked what it always could answer.
        """
        kind = self.dataset.table.columns[self.column]
        if self.even is None or len(self.grid) < 2 or kind not in (Kind.INTEGER, Kind.REAL):
            return 1
        whole = self.even.denominator == self.grid[0].denominator == 1
        if kind is Kind.INTEGER and not whole:
            return 1
        denominator = 2 * lcm(self.even.denominator, self.grid[0].denominator)
        largest = max(abs(self.grid[0]), abs(self.grid[-1])) + 2 * self.even
        for parts in range(_MOST_PARTS, 1, -1):
            points = parts * len(self.grid)
            fits = points <= MOST_POINTS and points * self.cells <= MOST_RANK_CELLS
            short = (2 * largest + 1) * denominator * parts < _SURE
            if fits and short and (kind is Kind.REAL or self.even % parts == 0):
                return parts
        return 1

    @cached_property
    def _counted(self) -> tuple[Fraction, ...]:
        """The points that rows are counted at: those of the grid, and evenly between them."""
        if self._parts == 1 or self.even is None:
            return self.grid
        step = self.even / self._parts
        return tuple(self.grid[0] + step * i for i in range((len(self.grid) - 1) * self._parts + 1))

    @property
    def _is_plain(self) -> bool:
        """Whether there is one group, and no interval."""
        return not self.axes and self.interval_share is None

    def _methods(self, epsilon: Exact) -> Iterator[str]:
        """The ways to answer that are affordable."""
        if len(self.levels) == 1:
            yield from ("permute and flip", "exponential")
        else:
            several = self._several(epsilon, "separate").alternatives(self.guess, self.cells)
            yield from (each.method for each in several)

    def _within(self, price: Privacy, method: str, rows: int, touched: int) -> RankMechanism | QuantileTable:
        """The mechanism with the largest ε that the price pays for, where a unit is so many rows in so many groups."""
        mechanism = self._mechanism(pure_within(price) / rows, method, touched)
        if price.currency in ("rho", "mu"):  # several events, or a bounded range, cost less than their ε
            shape = self._mechanism(Fraction(1), method, touched).event
            epsilon = pure_within(price, lambda epsilon: _scaled(shape, rational_above(epsilon)))
            better = self._mechanism(epsilon / rows, method, touched)
            mechanism = better if covers(price, _scaled(better.event, Fraction(rows))) else mechanism
        return mechanism

    def _mechanism(self, epsilon: Exact, method: str, touched: int) -> RankMechanism | QuantileTable:
        """What costs ε in all, where one row may be in so many groups."""
        each, share = epsilon / touched, self.interval_share or Fraction(0)
        answer = each * (1 - share)
        parts: list[RankMechanism] = [self._answer(answer, method)]
        if self._is_plain:
            return parts[0]
        if share:
            law = "exponential" if isinstance(parts[0].event, BoundedRange | Composed) else "permute and flip"
            miss, end = (1 - self.interval_confidence) / 2, each * share / (2 * len(self.levels))
            points = [float(point) for point in self.grid]
            parts += [
                QuantileBound(end, points, level, side=side, miss=miss, method=law)
                for level in self.levels
                for side in ("lower", "upper")
            ]
        return QuantileTable(tuple(parts), self.cells, touched)

    def _answer(self, epsilon: Exact, method: str) -> RankMechanism:
        if len(self.levels) > 1:
            return self._several(epsilon, method)
        if self.even is not None and len(self.grid) > 1:
            ends = self.grid[0], self.grid[-1]
            return IntervalQuantile(epsilon, *ends, self.levels[0], step=self.even, method=method)
        return Quantile(epsilon, self.grid, self.levels[0], method=method)

    def _several(self, epsilon: Exact, method: str) -> SeveralQuantiles:
        if self.even is None:
            return SeveralQuantiles(epsilon, self.levels, grid=self.grid, method=method)
        return SeveralQuantiles(epsilon, self.levels, self.grid[0], self.grid[-1], step=self.even, method=method)

    def _table(self, whole: bool, paid: Fraction, drawn: list[float], level: Fraction) -> TidyTable:
        """A row for each group and level, never decreasing; whole numbers where there are no others.

        Intervals are shown as far as they are paid for.
        """
        count, groups = len(self.levels), cell_keys(self.axes)
        rows = np.reshape(np.array(drawn, dtype=np.float64), (self.cells, -1))
        several = {name: tuple(key for key in keys for _ in self.levels) for name, keys in groups.items()}
        if count > 1:
            several["level"] = tuple(float(q) for _ in range(self.cells) for q in self.levels)
        values, low, high = np.sort(rows[:, :count], axis=1), rows[:, count::2], rows[:, count + 1 :: 2]
        shown = [values]
        if self.interval_share is not None and level <= paid:
            low, high = self._outer(low, -1), self._outer(high, 1)
            shown += [np.minimum(np.minimum(low, high), values), np.maximum(np.maximum(low, high), values)]
        kinds = (int if whole else float, *(int if whole and self._are_whole else float,) * 2)
        named = zip(measure_names(tuple(several)), shown, kinds, strict=False)
        columns = {name: tuple(map(kind, part.ravel().tolist())) for name, part, kind in named}
        return TidyTable({**several, **columns}, tuple(several))

    @property
    def _are_whole(self) -> bool:
        """Whether all values are whole numbers."""
        return self.dataset.table.columns[self.column] is Kind.INTEGER

    def _outer(self, ends: NDArray[np.float64], side: int) -> NDArray[np.float64]:
        """How far values go that count as one of these points, down or up: halfway to the next point of the count.

        Halfway counts as up. Values beyond the grid count as its ends.
        """
        points, found = [float(point) for point in self.grid], np.empty_like(ends)
        for place, end in np.ndenumerate(ends):
            here = bisect_left(points, end)
            there = min(max(here + side, 0), len(points) - 1)
            edge = self.grid[here] + (self.grid[there] - self.grid[here]) / (2 * self._parts)
            if self._are_whole and there != here:
                edge = Fraction(ceil(edge) - (side > 0))
            found[place] = float(edge)
        return found


def _scaled(event: Event, factor: Fraction) -> Event:
    """What a rank mechanism costs with so many times its ε, or where a unit moves its scores by so many times more."""
    if isinstance(event, Composed):
        return Composed(tuple(_scaled(part, factor) for part in event.events))
    if isinstance(event, BoundedRange):
        return BoundedRange(event.epsilon * factor)
    if type(event) is not Pure:
        raise UnknownEvent("no event of a rank mechanism", given=type(event).__name__, fix="say how it grows with ε")
    return Pure(event.epsilon * factor)


def _numbers(drawn: Any) -> list[Json]:
    """All that was drawn, group by group, as JSON."""
    return [float(point) for point in np.ravel(drawn)]
