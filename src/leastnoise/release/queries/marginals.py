"""Marginal tables of some columns, released together with the least noise; all their sums agree.

Gaussian noise where the price pays for some (`MarginalsMechanism`), else Laplace noise on some tables and exact
averages (`PureMarginalsMechanism`); docs/theory/marginals.md. The big table over all columns is never formed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from itertools import product
from math import prod
from typing import Any, ClassVar, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from leastnoise.composition.cost import gaussian_within, pure_within
from leastnoise.data.columns import free_name
from leastnoise.errors import NumberTooLarge, TooLarge
from leastnoise.exact import Enclosure, sqrt_enclosure
from leastnoise.ledger.record import Json
from leastnoise.mechanisms.histogram.independent_noise import HistogramProblem, too_wide
from leastnoise.mechanisms.numeric import Geometric
from leastnoise.mechanisms.strategy import MarginalsMechanism, PureMarginalsMechanism, plan_marginals, shared_price
from leastnoise.model import LEVEL, MOST_LISTED_CELLS, ErrorEstimate, Mechanism, Privacy, Sensitivity, number, plan_for
from leastnoise.release.aims import Aim
from leastnoise.release.arguments import axis_labels, cell_count
from leastnoise.release.plan import AnswerPlan
from leastnoise.release.queries.counts import shown_number
from leastnoise.release.queries.query import CountQuery
from leastnoise.release.recorded import read_numbers, recorded_numbers
from leastnoise.release.tables import LongTable, TidyTable, measure_names
from leastnoise.release.whole import WholeNumbers, nearest_whole, require_few, sums_of, table_views

__all__ = ["MarginalsProblem", "Tables"]

Places = tuple[int, ...]
TablesMechanism = MarginalsMechanism | PureMarginalsMechanism
_SHOWN = 6  # tables whose errors a plan lists
_ROWS = 1 << 16  # of a piece of a table that is not held
_ALL = "*"  # stands in the columns that a table does not have


class ReleasedTables(Protocol):
    """What reads tables, and how far off they are."""

    def tables(self, released: Any, /) -> Iterator[NDArray[Any]]: ...
    def half_widths(self, level: Fraction, /) -> tuple[Fraction, ...]: ...


@dataclass(frozen=True)
class MarginalsProblem:
    """Marginal tables are asked for; what they cost is the root of the mean squared error of a cell.

    Args:
        sizes: How many keys or bins each column has.
        tables: Which columns each table has.
        goal: "total" for the least squared error of all cells, "largest" for the least largest one.
        price: The privacy of the whole release, in any currency.
        sensitivity: Of the table over all columns, of which all tables are sums: how many of its cells one unit
            changes, and by how much. So the counts of each table change by no more in the ℓ₁ norm.
        weights: How much the squared error of each cell of a table counts; None for ones.
    """

    sizes: tuple[int, ...]
    tables: tuple[Places, ...]
    goal: str
    price: Privacy
    sensitivity: Sensitivity
    weights: tuple[Fraction, ...] | None = None

    def candidates(self) -> list[TablesMechanism]:
        """Gaussian noise on interactions, and Laplace noise on all tables or on the best ones.

        Raises:
            NumberTooLarge: All noise would be too wide to be drawn.
            TooLarge: There are too many cells for a pure price.
        """
        if sum(self._cells) > MOST_LISTED_CELLS:
            gaussian = self._gaussian()
            if gaussian is None:
                raise TooLarge(
                    f"tables of more than {MOST_LISTED_CELLS} cells need Gaussian noise",
                    given=sum(self._cells),
                    fix="ask at a price with a δ, in rho or in mu, or for fewer cells",
                )
            return [gaussian]
        best = shared_price(self.sizes, self.tables, self.weights, self.goal)
        found = [one for one in (self._gaussian(), self._laplace(None), self._laplace(best)) if one is not None]
        if not found:
            raise too_wide(self.sensitivity.l1 * len(self.tables))
        return found

    def _gaussian(self) -> MarginalsMechanism | None:
        mu_squared = gaussian_within(self.price)
        if not mu_squared:
            return None
        groups, rows = self.sensitivity.cells, self.sensitivity.each
        plan = plan_marginals(self.sizes, self.tables, self.weights, self.goal, groups)
        try:
            return MarginalsMechanism(plan, mu_squared, groups, rows)
        except NumberTooLarge:
            return None

    def _laplace(self, parts: Mapping[Places, int] | None) -> PureMarginalsMechanism | None:
        epsilon, groups, rows = pure_within(self.price), self.sensitivity.cells, self.sensitivity.each
        try:
            return PureMarginalsMechanism(self.sizes, self.tables, epsilon, groups, rows, parts) if epsilon else None
        except NumberTooLarge:
            return None

    def expected_loss(self, mechanism: Mechanism) -> Enclosure:
        """The root of the mean of the expected squared errors of all cells; for "largest" of their maximum."""
        errors = cast(TablesMechanism, mechanism).squared_errors()
        weights = self.weights or (Fraction(1),) * len(self.tables)
        if self.goal == "largest":
            return sqrt_enclosure(max(w * e for w, e in zip(weights, errors, strict=True)))
        return sqrt_enclosure(
            sum((n * e for n, e in zip(self._counted, errors, strict=True)), Fraction(0)) / sum(self._counted)
        )

    def bound(self, mechanism: Mechanism) -> Fraction:
        """What that loss is at least for all noise of the same kind with unbiased linear answers."""
        rows, best = self.sensitivity.each, cast(TablesMechanism, mechanism)
        least = plan_marginals(self.sizes, self.tables, self.weights, self.goal).bound(self.goal) * rows**2
        if isinstance(best, MarginalsMechanism):
            least /= best.mu_squared
        else:
            least *= Geometric(best.epsilon).moment(2).lower
        return sqrt_enclosure(least if self.goal == "largest" else least / sum(self._counted)).lower

    @property
    def _counted(self) -> list[Fraction]:
        """How much the squared error of each table counts: its weight times its cells."""
        weights = self.weights or (Fraction(1),) * len(self.tables)
        return [weight * cells for weight, cells in zip(weights, self._cells, strict=True)]

    @property
    def _cells(self) -> list[int]:
        """How many cells each table has."""
        return [prod(self.sizes[i] for i in table) for table in self.tables]


@dataclass(frozen=True, repr=False, kw_only=True)
class Tables(CountQuery):
    """The counts by some sets of columns; what a unit may add is bounded once, in the table over all columns.

    Attributes:
        tables: The places of the columns of each table.
        goal: "total" or "largest".
        weights: How much the squared error of each cell of a table counts; None for ones.
        targets: The wanted error of the cells of each table, which weights and goal come from; None if there is none.
    """

    recorded_as: ClassVar[str] = "Tables"
    tables: tuple[Places, ...]
    goal: str
    weights: tuple[Fraction, ...] | None = None
    targets: tuple[Fraction, ...] | None = None

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many cells each table has."""
        return tuple(cell_count(self.axes[i] for i in table) for table in self.tables)

    @property
    def is_long(self) -> bool:
        return sum(self.sizes) > MOST_LISTED_CELLS

    @property
    def question(self) -> str:
        many = "one table" if len(self.tables) == 1 else f"{len(self.tables)} tables"
        return self.described(f"{many} of the count of {self.counted_words}")

    def parameters(self) -> dict[str, Json]:
        asked: dict[str, Json] = {
            **super().parameters(),
            "tables": [list(table) for table in self.tables],
            "goal": self.goal,
        }
        return asked if self.weights is None else {**asked, "weights": [str(weight) for weight in self.weights]}

    def problem(self, price: Privacy) -> MarginalsProblem:
        """What is to be solved at a price."""
        whole = self.sensitivity_of_counts()
        sensitivity = replace(whole, reason=f"{whole.reason}, of the table over all columns, of which all are sums")
        lengths = tuple(len(axis) for axis in self.axes)
        return MarginalsProblem(lengths, self.tables, self.goal, price, sensitivity, self.weights)

    def answer_plan(self, price: Privacy) -> AnswerPlan:
        """The candidate with the least expected error of a cell."""
        problem = self.problem(price)
        ranking, sensitivity = plan_for(problem), problem.sensitivity
        single = HistogramProblem(price, sum(self.sizes), sensitivity, self.reachable)
        best, expected = cast(TablesMechanism, ranking.best), ranking.options[0].expected
        aim, proven = Aim(self.weights, self.goal, self.targets), _proven(problem, best, expected)
        if aim.targets is not None:
            squares = best.squared_errors()
            expected, proven = sqrt_enclosure(max(squares)), (*proven, aim.note(squares))
        return AnswerPlan(
            mechanism=best,
            event=best.event,
            error=ErrorEstimate("root mean square", expected, {LEVEL: max(best.half_widths())}, attained=False),
            within=partial(_widest, best),
            sensitivity=sensitivity,
            encode=recorded_numbers,
            to_table=partial(self.to_table, best),
            whole=partial(self.whole, best),
            reason=best.reason(),
            lower_bound=single.lower_bound,
            options=ranking.options,
            notes=(
                "only rows on all axes count; all sums of the tables agree",
                *proven,
                self._by_table(best),
            ),
            share_of_targets=None if aim.targets is None else partial(_share_of_targets, aim, best),
        )

    def _by_table(self, mechanism: TablesMechanism) -> str:
        """The error of each table, of the first ones where there are many."""
        names = [" × ".join(self.axes[i].column for i in places) or "all" for places in self.tables]
        errors = [number(sqrt_enclosure(error).upper) for error in mechanism.squared_errors()]
        pairs = [f"{name} {error}" for name, error in zip(names, errors, strict=True)]
        more = "" if len(pairs) <= _SHOWN else f" and {len(pairs) - _SHOWN} more"
        return f"root mean squared error by table: {', '.join(pairs[:_SHOWN])}{more}"

    def read(self) -> NDArray[Any]:
        """The counts of all tables, one after the other, of the rows that lie on all axes; bounded once for all."""
        counts = self.dataset.table.marginals(self.contribution, self.axes, self.tables, self.counted, self.where)
        return np.concatenate([np.ravel(table) for table in counts])

    def whole(self, mechanism: TablesMechanism, drawn: Any) -> WholeNumbers:
        """Whole numbers that agree, from one table over the columns that some table has.

        Raises:
            TooLarge: That one has too many cells.
        """
        used = sorted({i for table in self.tables for i in table})
        tables = [[used.index(i) for i in table] for table in self.tables]
        shape = [len(self.axes[i]) for i in used]
        require_few(prod(shape))
        estimates = list(mechanism.tables(read_numbers(drawn)))
        views = table_views(shape, tables, estimates, mechanism.squared_errors())
        cells = nearest_whole(views)
        values = tuple(count for view in views for count in sums_of(view, cells))
        return WholeNumbers(values, np.array(values, dtype=object))

    def to_table(self, mechanism: ReleasedTables, drawn: Any, level: Fraction) -> TidyTable:
        """One row per cell; `table` says of which table."""
        names = tuple(axis.column for axis in self.axes)
        keys = (free_name("table", names), *names)
        if self.is_long and isinstance(mechanism, MarginalsMechanism):
            walk = partial(self._pieces, mechanism, drawn, level, keys)
            return LongTable.of((*keys, *measure_names(keys)), keys, sum(self.sizes), walk)
        rows: list[tuple[Any, ...]] = []
        values: list[tuple[Fraction, Fraction]] = []
        halves, drawn = mechanism.half_widths(level), read_numbers(drawn)
        for places, counts, half in zip(self.tables, mechanism.tables(drawn), halves, strict=True):
            title = " × ".join(names[i] for i in places) or "all"
            for chosen in product(*(axis_labels(self.axes[i]) for i in places)):
                labels = dict(zip(places, chosen, strict=True))
                rows.append((title, *(labels.get(i, _ALL) for i in range(len(names)))))
            values += [(count, half) for count in counts.ravel()]
        columns = {key: tuple(row[i] for row in rows) for i, key in enumerate(keys)}
        value, low, high = measure_names(keys)
        bars = {
            value: tuple(shown_number(count) for count, _ in values),
            low: tuple(shown_number(count - half) for count, half in values),
            high: tuple(shown_number(count + half) for count, half in values),
        }
        return TidyTable({**columns, **bars}, keys)

    def _pieces(
        self, mechanism: MarginalsMechanism, drawn: Any, level: Fraction, keys: tuple[str, ...]
    ) -> Iterator[TidyTable]:
        """The rows in doubles, so many of a table at a time. Intervals hold what their roundings change, too."""
        labels = [np.fromiter(axis_labels(axis), dtype=object, count=len(axis)) for axis in self.axes]
        released, halves = mechanism.double_tables(read_numbers(drawn)), mechanism.half_widths(level)
        for table, (counts, off), half in zip(self.tables, released, halves, strict=True):
            title = " × ".join(self.axes[i].column for i in table) or "all"
            reach = float(half) * (1 + 2.0**-50) + off
            for start in range(0, counts.size, _ROWS):
                values = counts.ravel()[start : start + _ROWS]
                cells = np.arange(start, start + values.size)
                found = np.unravel_index(cells, counts.shape) if table else ()
                spots = dict(zip(table, found, strict=True))
                shown = [(title,) * values.size]
                for place, names in enumerate(labels):
                    shown.append(tuple(names[spots[place]]) if place in spots else (_ALL,) * values.size)
                ends = (np.nextafter(values + sign * reach, sign * np.inf) for sign in (-1, 1))
                bars = (tuple(numbers.tolist()) for numbers in (values, *ends))
                yield TidyTable(dict(zip((*keys, *measure_names(keys)), (*shown, *bars), strict=True)), keys)


def _share_of_targets(aim: Aim, mechanism: TablesMechanism, level: Fraction) -> Fraction:
    return aim.share(mechanism.half_widths(level))


def _widest(mechanism: TablesMechanism, level: Fraction) -> Fraction:
    """The error of the worst cell that is not exceeded with this probability."""
    return max(mechanism.half_widths(level))


def _proven(problem: MarginalsProblem, mechanism: TablesMechanism, expected: Enclosure) -> tuple[str, ...]:
    """What is proven about the loss, in words."""
    noise = "Gaussian" if isinstance(mechanism, MarginalsMechanism) else "such Laplace"
    what = "the root mean squared error of a cell"
    if problem.goal == "largest":
        what = "the largest root mean squared error of a cell"
    what = what if problem.weights is None else f"{what}, weighted,"
    return (
        f"{what} is {number(expected.upper)}; no {noise} noise with unbiased answers has less "
        f"than {number(problem.bound(mechanism))}",
    )
