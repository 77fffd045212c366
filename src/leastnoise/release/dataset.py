"""A table with a budget, and all the questions that can be asked of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Self, TypedDict, overload

from numpy.typing import NDArray

from leastnoise.composition import Remaining
from leastnoise.data import Axis, Contribution, Kind, Predicate, Table
from leastnoise.data.predicates import read_filter
from leastnoise.data.views import derive_columns, per_unit_rows
from leastnoise.errors import BadParameter, Closed, TooLarge, UncoveredDebit
from leastnoise.exact import NumberLike, read_integer
from leastnoise.ledger import Ledger, Opening
from leastnoise.ledger.record import Json, read_name
from leastnoise.model import (
    LEVEL,
    MOST_CELLS,
    MOST_DESIGNED,
    MOST_DESIGNED_CELLS,
    MOST_OPTIONS,
    MOST_TABLE_CELLS,
    MOST_TURNS,
    PrefixSums,
    Prior,
    PriorLike,
    Privacy,
    read_prior,
    require_memory,
    unknown_label,
)
from leastnoise.release.aims import read_aim
from leastnoise.release.arguments import (
    Bins,
    Bounds,
    By,
    FixedPoint,
    Keys,
    cell_count,
    numeric_column,
    read_axes,
    read_by,
    read_condition_scale,
    read_fixed_point,
    read_grid,
    read_interval_share,
    read_levels,
    read_tables,
    require_cells,
    require_column,
    take,
)
from leastnoise.release.batch import Batch
from leastnoise.release.calls import asked_as_json, make_asked
from leastnoise.release.description import Description
from leastnoise.release.queries.choices import BestKeys, BestOption
from leastnoise.release.queries.counts import Count, Sum
from leastnoise.release.queries.decisions import IsAtLeast, Plurality
from leastnoise.release.queries.designed import LOSSES, DesignedCounts
from leastnoise.release.queries.distinct import CountDistinct
from leastnoise.release.queries.facilities import facilities_question, middles, read_places
from leastnoise.release.queries.found_keys import CommonUnknownKeys, MeasuredKeys
from leastnoise.release.queries.graphs import GRAPH_ANSWERS, graph_question
from leastnoise.release.queries.hierarchies import Hierarchy, read_tree
from leastnoise.release.queries.marginals import Tables
from leastnoise.release.queries.moments import Deviation, Mean, Moment, Variance
from leastnoise.release.queries.private_scale import (
    PrivateBounds,
    PrivateGroups,
    PrivateRows,
    bound_options,
    limit_options,
    magnitudes,
)
from leastnoise.release.queries.quantiles import Quantiles
from leastnoise.release.queries.query import CellQuery, Query
from leastnoise.release.queries.ratios import Ratio
from leastnoise.release.queries.running import Running
from leastnoise.release.queries.unknown_keys import CountUnknownKeys, SortedCountsQuery
from leastnoise.release.queries.workloads import Workload, named_workload, read_matrix
from leastnoise.release.sql_query import SQLQuery, read_sql

__all__ = ["Dataset"]

_PRIVATE = "private"
Where = str | Predicate | None
Limit = NumberLike | None


class _Rows(TypedDict):
    """What every question has, read."""

    dataset: Dataset
    contribution: Contribution
    where: Predicate | None


class _Cells(_Rows):
    """And what a question by public keys or bins has."""

    axes: tuple[Axis, ...]


_BYTES_OF_A_CELL = 50  # of a release of tables, while it is drawn


@asked_as_json
@dataclass(frozen=True, repr=False, eq=False)
class Dataset:
    """Made by `ln.open`. Each method makes a question; its `plan` says what it costs, its `release` asks it.

    Attributes:
        table: The data in its engine; private.
        ledger: Where the budget is kept.
        name: What the ledger calls the dataset.
        analyst: Who asks.
        purpose: What for.
        contribution: What one unit may add, unless a question says otherwise.
        opening: The budget and the privacy unit that the first request fixes; until then nothing is granted.
        owns_table: Whether `close` closes the table.
        owns_ledger: Whether `close` closes the ledger.
        origin: The dataset of which this is a view.
        description: What is publicly known of its columns, for SQL.
    """

    table: Table
    ledger: Ledger
    name: str
    analyst: str
    purpose: str
    contribution: Contribution
    opening: Opening
    owns_table: bool = True
    owns_ledger: bool = True
    origin: Dataset | None = None
    description: Description = field(default_factory=Description)
    _closed: bool = field(default=False, init=False)

    @property
    def budget(self) -> Privacy:
        """What all questions together may cost; as long as none was asked, what will be granted."""
        budget = self.ledger.budget_of(self.name) or self.opening.budget
        if budget is None:
            raise UncoveredDebit("the dataset has no budget", given=self.name, fix="open it with one: budget=1")
        return budget

    @property
    def left(self) -> Remaining:
        """What one more question may cost."""
        return self.ledger.left(self.name, self.analyst, self.purpose, self.opening)

    @property
    def columns(self) -> dict[str, str]:
        """The columns with what they hold: the public schema."""
        return {name: kind.value for name, kind in self.table.columns.items()}

    def with_columns(self, expressions: Mapping[str, str]) -> Dataset:
        """The same dataset, on the same account, with more columns: expressions of a row.

        An expression has a value, or is missing, on every row; see the theory of expressions. Closing this dataset
        closes the view, too.

        Args:
            expressions: From new names to expressions: {"senior": "age >= 65", "month": "month(day)"}.

        Raises:
            BadFilter: An expression can't be read, or could fail.
            BadParameter: A name is taken.
        """
        return self._view(derive_columns(self.table, expressions), self.contribution)

    def per_unit(self, features: Mapping[str, str], where: Where = None) -> Dataset:
        """The same dataset, on the same account, with one row per unit: features of all its rows.

        One unit is one row, so that it counts in one group, with one row. Units without a row that passes the filter
        are not there.

        Args:
            features: From new names to features: {"orders": "count(*)", "spent": "sum(amount)", "start": "min(day)",
                "any_big": "any(amount > 100)", "city": "first(city, day)"}.
            where: Which rows count: text such as "age >= 18", or a predicate.

        Raises:
            BadFilter: A feature can't be read.
            BadParameter: There is no privacy unit, or a sum needs bounds: sum(clamp(amount, 0, 100)).
        """
        unit = self.contribution.privacy_unit
        if unit is None:
            raise BadParameter(
                "every row is a unit of its own here",
                fix="open the dataset with the column of the unit: privacy_unit=…",
            )
        return self._view(per_unit_rows(self.table, unit, features, self._filter(where)), Contribution(unit))

    def _view(self, table: Table, contribution: Contribution) -> Dataset:
        self.require_ready()
        return Dataset(
            table=table,
            ledger=self.ledger,
            name=self.name,
            analyst=self.analyst,
            purpose=self.purpose,
            contribution=contribution,
            opening=self.opening,
            owns_table=False,
            owns_ledger=False,
            origin=self,
            description=self.description,
        )

    def sql(self, statement: str) -> SQLQuery:
        """A SELECT statement as questions: several aggregates are one batch, under one price.

        COUNT(*), COUNT(DISTINCT unit), SUM, AVG, VARIANCE, STDDEV, MEDIAN and PERCENTILE_CONT are answered. HAVING,
        ORDER BY and LIMIT act on the released table. Bounds come from CLAMP(x, 0, 100) or the description of the
        dataset, keys from WHERE x IN (…), from there, or from the formula.

        Args:
            statement: "SELECT city, COUNT(*) AS n FROM people WHERE city IN ('Bonn', 'Ulm') GROUP BY city".

        Raises:
            BadFilter: It can't be read, or asks for what can't be answered; line and column are in the text.
            BadParameter: Bounds or keys are missing, and where to write them.
        """
        return read_sql(self, statement)

    def count(
        self,
        by: By = None,
        keys: Keys = None,
        bins: Bins = None,
        where: Where = None,
        of: str | None = None,
        groups_per_unit: Limit = None,
        rows_per_unit: Limit = None,
        rest: bool = False,
    ) -> Query:
        """How many units or rows, in all or in each group.

        With a privacy unit each unit counts once, however many rows it has, unless `rows_per_unit` or of="rows" is
        given. With rows_per_unit=1 both numbers are the same.

        Args:
            by: The columns to break down by.
            keys: The public keys of a column, or a dict from column to keys. Keys that nobody has come back as noisy
                zeros. Where keys and bins are left out the keys are private too: only those of enough units show, and
                the release needs a δ.
            bins: The public edges of a numeric column, or a dict; the last bin is closed.
            where: Which rows count: text such as "age >= 18", or a predicate.
            of: "units" or "rows". If left out, units are counted where there is a privacy unit and no `rows_per_unit`
                is given, here or for the dataset; else rows.
            groups_per_unit: The most groups one unit may count in; the limit of the dataset if left out.
                "private" to choose it by a tenth of the price.
            rows_per_unit: The most rows one unit may count with in each group; the limit of the dataset if left out.
                "private" to choose it by a tenth of the price.
            rest: Whether to add a row for everything else, where the keys are private.
        """
        columns = read_by(self.table, by, keys, bins)
        axes = read_axes(self.table, columns, keys, bins)
        counted = self._counted(of, rows_per_unit)
        if _is_private(rows_per_unit) or _is_private(groups_per_unit):
            of_cells = by, keys, bins, where
            return self._private_limit(of_cells, groups_per_unit, rows_per_unit, lambda at: Count(**at, of=counted))
        asked = self._rows(where, groups_per_unit, rows_per_unit)
        if axes is None:
            bound = asked["contribution"]
            if counted == "units" or bound.rows_per_unit == 1:
                asked["contribution"] = Contribution(bound.privacy_unit, bound.groups_per_unit)
                counted = "units"
            if counted == "rows" or _read_rest(rest):
                return MeasuredKeys(**asked, columns=columns, what="count", of=counted, rest=_read_rest(rest))
            return CountUnknownKeys(**asked, columns=columns)
        _require_no_rest(rest)
        return Count(**asked, axes=axes, of=counted)

    def workload(
        self,
        matrix: str | Sequence[Sequence[NumberLike]] | NDArray[Any],
        by: By = None,
        keys: Keys = None,
        bins: Bins = None,
        where: Where = None,
        of: str | None = None,
        names: Sequence[str] | None = None,
        weights: Sequence[NumberLike] | None = None,
        goal: str = "total",
        targets: Sequence[NumberLike] | None = None,
        groups_per_unit: Limit = None,
        rows_per_unit: Limit = None,
    ) -> Query:
        """Linear combinations of the counts of a histogram, released together by the best mechanism for them.

        Of prefix sums and ranges `release.range(first, last)` gives the sum of any cells in a row.

        Args:
            matrix: "prefix sums", "ranges", or whole numbers with one row per answer and one column per cell, in the
                order of the table that `count` would release.
            by: The columns to break down by, with public keys or bins for each.
            keys: The public keys of a column, or a dict from column to keys. Those that nobody has are noisy zeros.
            bins: The public edges of a numeric column, or a dict from column to edges; the last bin is closed.
            where: Which rows count: text such as "age >= 18", or a predicate.
            of: "units" or "rows". If left out, units are counted where there is a privacy unit and no `rows_per_unit`
                is given, here or for the dataset; else rows.
            names: What the answers are called.
            weights: How much the squared error of each answer counts; all the same if left out.
            goal: "total" for the least sum of the squared errors, "largest" for the least error of the worst answer.
            targets: Instead of both: the error that is wanted of each answer. Their proportions are planned for;
                `price()` without an error finds the price at which all are kept.
            groups_per_unit: The most groups one unit may count in; the limit of the dataset if left out.
            rows_per_unit: The most rows one unit may count with in each group; the limit of the dataset if left out.
        """
        asked = self._cells(by, keys, bins, where, groups_per_unit, rows_per_unit)
        axes = asked["axes"]
        counted = self._counted(of, rows_per_unit)
        named = isinstance(matrix, str)
        what = named_workload(matrix, axes) if isinstance(matrix, str) else read_matrix(matrix, cell_count(axes))
        called = None if named else tuple(f"answer {i}" for i in range(what.answers))
        if names is not None:
            listed = take(names, min(what.answers, MOST_CELLS), "names of answers")
            if len(listed) != what.answers:
                raise BadParameter(
                    "there must be one name per answer", given=len(listed), fix=f"pass {what.answers} names"
                )
            called = tuple(read_name(name, "names") for name in listed)
        aim = read_aim(what.answers, "answers", weights, goal, targets)
        return Workload(**asked, workload=what, names=called, of=counted, **aim._asdict())

    def hierarchy(
        self,
        levels: Sequence[str],
        tree: Mapping[Any, Any] | Iterable[Sequence[Any]],
        where: Where = None,
        of: str | None = None,
        weights: Mapping[str, NumberLike] | None = None,
        goal: str = "total",
        targets: Mapping[str, NumberLike] | None = None,
        groups_per_unit: Limit = None,
        rows_per_unit: Limit = None,
    ) -> Query:
        """Counts at every level of a public tree, with the least noise for all of them together; all sums agree.

        A row counts in the leaf that the last column says, and in all groups above. The names of the levels above are
        public labels, and need no columns.

        Args:
            levels: What the levels are called, the coarsest first; the last one is a column of the table.
            tree: {"North": {"Kent": ["Deal", "Dover"]}}, or the leaves as a list of ("North", "Kent", "Deal").
            where: Which rows count: text such as "age >= 18", or a predicate.
            of: "units" or "rows"; as for `count` if left out.
            weights: How much the squared error of each group of a level counts, by level; 1 for those left out. The
                number of all is the level "all".
            goal: "total" for the least sum of the squared errors, "largest" for the least error of the worst group.
            targets: Instead of both: the error that is wanted of each group of a level, by level, "all" included. Their
                proportions are planned for; `price()` without an error finds the price at which all are kept.
            groups_per_unit: The most leaves one unit may count in; the limit of the dataset if left out.
            rows_per_unit: The most rows one unit may count with in each leaf; the limit of the dataset if left out.
        """
        counted = self._counted(of, rows_per_unit)
        named, paths = read_tree(levels, tree)
        asked = self._cells(named[-1], [path[-1] for path in paths], None, where, groups_per_unit, rows_per_unit)
        return Hierarchy.of_tree(asked, counted, named, paths, weights, goal, targets)

    def running(
        self,
        column: str,
        name: str,
        keys: Keys,
        where: Where = None,
        of: str | None = None,
        groups_per_unit: Limit = None,
        rows_per_unit: Limit = None,
    ) -> Running:
        """Running totals for a known horizon: `release(day, …)` continues them a day at a time, with the same noise.

        Each day is charged as it comes, all days together the price that `plan` states on the first. Of a unit its
        first days count. The rows of past days should not change: a unit whose own were changed c times is protected
        with √(c + 1) times the μ.

        Args:
            column: The column that says to which day a row belongs.
            name: What the run is called: its days are found in the ledger by it.
            keys: All days of the horizon, in order.
            where: Which rows count: text such as "age >= 18", or a predicate.
            of: "units" or "rows"; as for `count` if left out.
            groups_per_unit: The most days one unit may count on, over the whole horizon.
            rows_per_unit: The most rows one unit may count with on each day; the limit of the dataset if left out.
        """
        counted = self._counted(of, rows_per_unit)
        asked = self._cells(column, keys, None, where, groups_per_unit, rows_per_unit)
        PrefixSums(len(asked["axes"][0]))  # refuses a horizon that is too long
        return Running(**asked, of=counted, name=read_name(name, "name"))

    def tables(
        self,
        by: By = None,
        ways: NumberLike | Iterable[Iterable[str]] = 2,
        keys: Keys = None,
        bins: Bins = None,
        where: Where = None,
        of: str | None = None,
        weights: Sequence[NumberLike] | None = None,
        goal: str = "total",
        targets: Sequence[NumberLike] | None = None,
        groups_per_unit: Limit = None,
        rows_per_unit: Limit = None,
    ) -> Query:
        """The counts by several sets of columns at once, with the least noise; all sums of the tables agree.

        Args:
            by: The columns, with public keys or bins for each.
            ways: How many columns a table has, for the tables of all sets of so many; or the tables, each a list of
                columns, [] for the number of all rows.
            keys: A dict from column to public keys.
            bins: A dict from column to public edges.
            where: Which rows count: text such as "age >= 18", or a predicate.
            of: "units" or "rows". If left out, units are counted where there is a privacy unit and no `rows_per_unit`
                is given, here or for the dataset; else rows.
            weights: How much the squared error of each cell of a table counts, a number for each table.
            goal: "total" for the least squared error of all cells in sum, "largest" for the least error of the worst.
            targets: Instead of both: the error that is wanted of the cells of each table. Their proportions are planned
                for; `price()` without an error finds the price at which all are kept.
            groups_per_unit: The most cells of the table over all columns that one unit may count in; all tables are
                sums of that one, so that they agree.
            rows_per_unit: The most rows one unit may count with in each group; the limit of the dataset if left out.
        """
        columns = read_by(self.table, by, keys, bins)
        axes = read_axes(self.table, columns, keys, bins, together=False)
        if not axes:
            raise BadParameter("tables need columns with public keys or bins", fix='pass by=["city", "sex"] and keys')
        counted = self._counted(of, rows_per_unit)
        named = read_tables(ways, columns)
        aim = read_aim(len(named), "tables", weights, goal, targets)
        cells = sum(cell_count(axes[i] for i in table) for table in named)
        require_cells(cells, MOST_TABLE_CELLS)
        require_memory(_BYTES_OF_A_CELL * cells, "a release of so many cells", "ask for fewer keys or bins, or tables")
        asked = self._rows(where, groups_per_unit, rows_per_unit)
        return Tables(**asked, axes=axes, of=counted, tables=named, **aim._asdict())

    def sum(
        self,
        column: str,
        bounds: Bounds = None,
        step: Limit = None,
        by: By = None,
        keys: Keys = None,
        bins: Bins = None,
        where: Where = None,
        groups_per_unit: Limit = None,
        rows_per_unit: Limit = None,
        rest: bool = False,
    ) -> Query:
        """The sum of a numeric column between public bounds, in exact fixed point.

        Args:
            column: What to sum; missing values do not count.
            bounds: Public; values outside count as the nearer one. "private" to choose them by a tenth of the price.
            step: What values are rounded to; 1 for whole numbers, else a millionth of the width or a little finer.
            by: The columns to break down by.
            keys: The public keys of a column, or a dict from column to keys. Those that nobody has are noisy zeros.
                Where keys and bins are left out the keys are private too: only those of enough units show, with a δ.
            bins: The public edges of a numeric column, or a dict from column to edges; the last bin is closed.
            where: Which rows count: text such as "age >= 18", or a predicate.
            groups_per_unit: The most groups one unit may count in; the limit of the dataset if left out.
                "private" to choose it by a tenth of the price.
            rows_per_unit: The most rows one unit may count with in each group; the limit of the dataset if left out.
                "private" to choose it by a tenth of the price.
            rest: Whether to add a row for everything else, where the keys are private.
        """
        if _is_private(bounds):
            asked = self._cells(by, keys, bins, where, groups_per_unit, rows_per_unit)
            return self._private_bounds(asked, column, step, lambda scale: Sum(**asked, column=column, scale=scale))
        scale = read_fixed_point(self.table, numeric_column(self.table, column), bounds, step)
        if _is_private(rows_per_unit) or _is_private(groups_per_unit):
            return self._private_limit(
                (by, keys, bins, where),
                groups_per_unit,
                rows_per_unit,
                lambda at: Sum(**at, column=column, scale=scale),
                max(abs(scale.low), abs(scale.high)) / 2,
            )
        columns = read_by(self.table, by, keys, bins)
        if read_axes(self.table, columns, keys, bins) is None:
            of_rows = self._rows(where, groups_per_unit, rows_per_unit)
            of = "units"
            return MeasuredKeys(
                **of_rows, columns=columns, what="sum", of=of, column=column, scale=scale, rest=_read_rest(rest)
            )
        _require_no_rest(rest)
        asked = self._cells(by, keys, bins, where, groups_per_unit, rows_per_unit)
        return Sum(**asked, column=column, scale=scale)

    @overload
    def mean(
        self,
        column: str,
        bounds: Bounds = None,
        step: Limit = None,
        by: By = None,
        keys: Keys = None,
        bins: Bins = None,
        where: Where = None,
        groups_per_unit: Limit = None,
        rows_per_unit: Limit = None,
        expected_rows: Limit = None,
        rest: bool = False,
    ) -> Query: ...

    @overload
    def mean(
        self,
        column: list[str] | tuple[str, ...],
        bounds: Mapping[str, tuple[NumberLike, NumberLike]] | None = None,
        step: Limit | Mapping[str, NumberLike] = None,
        by: By = None,
        keys: Keys = None,
        bins: Bins = None,
        where: Where = None,
        groups_per_unit: Limit = None,
        rows_per_unit: Limit = None,
        expected_rows: Limit = None,
        rest: bool = False,
    ) -> Batch: ...

    def mean(
        self,
        column: str | list[str] | tuple[str, ...],
        bounds: Any = None,
        step: Any = None,
        by: By = None,
        keys: Keys = None,
        bins: Bins = None,
        where: Where = None,
        groups_per_unit: Limit = None,
        rows_per_unit: Limit = None,
        expected_rows: Limit = None,
        rest: bool = False,
    ) -> Query | Batch:
        """The mean of a column of numbers or booleans; the number of rows is private too.

        Args:
            column: Whose mean; missing values do not count. Several columns are asked under one price, as a batch.
            bounds: Public; values outside count as the nearer one. "private" to choose them by a tenth of
                the price. For several columns a dict from column to bounds.
                A column of booleans needs none: it is 1 where it is true.
            step: What values are rounded to. If left out, 1 for whole numbers where each row is a unit, a ten
                thousandth of the width or less where the rows of a unit are averaged, else a millionth. For several
                columns one for all, or a dict from column to step.
            by: The columns to break down by.
            keys: The public keys of a column, or a dict from column to keys. Those that nobody has are noisy zeros.
                Where keys and bins are left out the keys are private too: only those of enough units show, with a δ.
            bins: The public edges of a column, or a dict from column to edges; the last bin is closed.
            where: Which rows count: text such as "age >= 18", or a predicate.
            groups_per_unit: The most groups one unit may count in; the limit of the dataset if left out.
                "private" to choose it by a tenth of the price.
            rows_per_unit: The most rows one unit may count with in each group; a unit with more counts with their
                average. The limit of the dataset if left out.
            expected_rows: A public guess of the number of values per cell, for the error in the plan only.
            rest: Whether to add a row for everything else, where the keys are private.
        """
        guess = _read_guess(expected_rows)
        if not isinstance(column, str) and isinstance(column, Iterable):
            listed = [require_column(self.table, name) for name in take(column, len(self.table.columns), "columns")]
            if not listed:
                raise BadParameter("there is no column to ask about", fix='pass for example ["age", "pay"]')
            _require_no_rest(rest)
            cells, ends = (
                self._cells(by, keys, bins, where, groups_per_unit, rows_per_unit),
                _of_columns(bounds, listed, "bounds"),
            )
            steps = _of_columns(step, listed, "step") if isinstance(step, Mapping) else dict.fromkeys(listed, step)
            return self.batch(
                [self._moment(Mean, name, ends.get(name), steps.get(name), cells, guess) for name in listed]
            )
        if _is_private(groups_per_unit):
            _require_no_rest(rest)
            scale = self._scale(column, bounds, step, self.contribution)
            return self._private_limit(
                (by, keys, bins, where),
                groups_per_unit,
                rows_per_unit,
                lambda at: Mean(**at, column=column, scale=scale, expected_rows=guess),
                (scale.high - scale.low) / 2,
            )
        columns = read_by(self.table, by, keys, bins)
        if not _is_private(bounds) and read_axes(self.table, columns, keys, bins) is None:
            if guess is not None:
                raise BadParameter(
                    "how many values a key has is found out with the keys", given=guess, fix="leave expected_rows out"
                )
            rows = self._rows(where, groups_per_unit, rows_per_unit)
            scale = self._scale(column, bounds, step, rows["contribution"])
            return MeasuredKeys(
                **rows, columns=columns, what="mean", of="rows", column=column, scale=scale, rest=_read_rest(rest)
            )
        _require_no_rest(rest)
        asked = self._cells(by, keys, bins, where, groups_per_unit, rows_per_unit)
        return self._moment(Mean, column, bounds, step, asked, guess)

    def proportion(
        self,
        condition: str | Predicate,
        by: By = None,
        keys: Keys = None,
        bins: Bins = None,
        where: Where = None,
        groups_per_unit: Limit = None,
        rows_per_unit: Limit = None,
        expected_rows: Limit = None,
    ) -> Query:
        """The share of rows for which a condition holds; the number of rows is private too.

        Args:
            condition: Text such as "age >= 65", or a predicate. It is false where a value that it looks at is missing:
                such rows are among those for which it does not hold, unless `where` leaves them out.
            by: The columns to break down by, with public keys or bins for each.
            keys: The public keys of a column, or a dict from column to keys. Those that nobody has are noisy zeros.
            bins: The public edges of a column, or a dict from column to edges; the last bin is closed.
            where: Among which rows: text such as "age >= 18", or a predicate.
            groups_per_unit: The most groups one unit may count in; the limit of the dataset if left out.
                "private" to choose it by a tenth of the price.
            rows_per_unit: The most rows one unit may count with in each group; a unit with more counts with the share
                of its rows. The limit of the dataset if left out.
            expected_rows: A public guess of the number of rows per cell, for the error in the plan only.
        """
        scale, guess = read_condition_scale(self.contribution.privacy_unit is not None), _read_guess(expected_rows)
        held = self._required(condition)
        if _is_private(groups_per_unit):
            return self._private_limit(
                (by, keys, bins, where),
                groups_per_unit,
                rows_per_unit,
                lambda at: Mean(**at, column=held, scale=scale, expected_rows=guess),
                Fraction(1, 2),
            )
        asked = self._cells(by, keys, bins, where, groups_per_unit, rows_per_unit)
        return Mean(**asked, column=held, scale=scale, expected_rows=guess)

    def ratio(
        self,
        numerator: str,
        denominator: str,
        bounds: Mapping[str, tuple[NumberLike, NumberLike]] | None = None,
        step: Mapping[str, NumberLike] | None = None,
        by: By = None,
        keys: Keys = None,
        bins: Bins = None,
        where: Where = None,
        groups_per_unit: Limit = None,
        rows_per_unit: Limit = None,
    ) -> Query:
        """The sum of one column over the sum of another, over the rows that have both: pay per hour.

        A column of booleans is 1 where it is true, and needs no bounds: its sum is how many rows it is true for.

        Args:
            numerator: The column above.
            denominator: The column below, which is not negative.
            bounds: The public bounds of both: {"pay": (0, 200000), "hours": (0, 60)}.
            step: What values are rounded to, as a dict; as for a mean if left out.
            by: The columns to break down by, with public keys or bins for each.
            keys: The public keys of a column, or a dict from column to keys. Those that nobody has are noisy zeros.
            bins: The public edges of a column, or a dict from column to edges; the last bin is closed.
            where: Which rows count: text such as "age >= 18", or a predicate.
            groups_per_unit: The most groups one unit may count in; the limit of the dataset if left out.
            rows_per_unit: The most rows one unit may count with in each group; a unit with more counts with their
                average. The limit of the dataset if left out.
        """
        asked = self._cells(by, keys, bins, where, groups_per_unit, rows_per_unit)
        columns = require_column(self.table, numerator), require_column(self.table, denominator)
        if numerator == denominator:
            raise BadParameter("a ratio is of two different columns", given=numerator, fix="name another one below")
        ends, steps = _of_columns(bounds, columns, "bounds"), _of_columns(step, columns, "step")
        above, below = (
            self._scale(column, ends.get(column), steps.get(column), asked["contribution"]) for column in columns
        )
        if below.low < 0 or below.steps[1] < 1:
            raise BadParameter(
                "the column below must not be negative",
                given=f"{denominator} from {below.low} on",
                fix=f'pass bounds such as {{"{denominator}": (0, 60)}}',
            )
        return Ratio(**asked, columns=columns, scales=(above, below), expected_rows=None)

    def variance(
        self,
        column: str,
        bounds: Bounds = None,
        step: Limit = None,
        by: By = None,
        keys: Keys = None,
        bins: Bins = None,
        where: Where = None,
        groups_per_unit: Limit = None,
        rows_per_unit: Limit = None,
        expected_rows: Limit = None,
    ) -> Query:
        """The variance of a column of numbers, Σ(x − mean)²/n; the number of rows is private too.

        Args:
            column: Whose variance; missing values do not count.
            bounds: Public; values outside count as the nearer one. "private" to choose them by a tenth of
                the price. A column of booleans needs none: it is 1 where it is true.
            step: What values are rounded to. If left out, 1 for whole numbers where each row is a unit, a ten
                thousandth of the width or less where the rows of a unit are averaged, else a millionth.
            by: The columns to break down by, with public keys or bins for each.
            keys: The public keys of a column, or a dict from column to keys. Those that nobody has are noisy zeros.
            bins: The public edges of a column, or a dict from column to edges; the last bin is closed.
            where: Which rows count: text such as "age >= 18", or a predicate.
            groups_per_unit: The most groups one unit may count in; the limit of the dataset if left out.
            rows_per_unit: The most rows one unit may count with in each group; a unit with more counts with their
                average. The limit of the dataset if left out.
            expected_rows: A public guess of the number of values per cell, for the error in the plan only.
        """
        asked = self._cells(by, keys, bins, where, groups_per_unit, rows_per_unit)
        return self._moment(Variance, column, bounds, step, asked, _read_guess(expected_rows))

    def deviation(
        self,
        column: str,
        bounds: Bounds = None,
        step: Limit = None,
        by: By = None,
        keys: Keys = None,
        bins: Bins = None,
        where: Where = None,
        groups_per_unit: Limit = None,
        rows_per_unit: Limit = None,
        expected_rows: Limit = None,
    ) -> Query:
        """The standard deviation of a column of numbers: the square root of its variance.

        Args:
            column: Whose deviation; missing values do not count.
            bounds: Public; values outside count as the nearer one. "private" to choose them by a tenth of
                the price. A column of booleans needs none: it is 1 where it is true.
            step: What values are rounded to. If left out, 1 for whole numbers where each row is a unit, a ten
                thousandth of the width or less where the rows of a unit are averaged, else a millionth.
            by: The columns to break down by, with public keys or bins for each.
            keys: The public keys of a column, or a dict from column to keys. Those that nobody has are noisy zeros.
            bins: The public edges of a column, or a dict from column to edges; the last bin is closed.
            where: Which rows count: text such as "age >= 18", or a predicate.
            groups_per_unit: The most groups one unit may count in; the limit of the dataset if left out.
            rows_per_unit: The most rows one unit may count with in each group; a unit with more counts with their
                average. The limit of the dataset if left out.
            expected_rows: A public guess of the number of values per cell, for the error in the plan only.
        """
        asked = self._cells(by, keys, bins, where, groups_per_unit, rows_per_unit)
        return self._moment(Deviation, column, bounds, step, asked, _read_guess(expected_rows))

    def count_distinct(self, column: str, where: Where = None, groups_per_unit: Limit = None) -> Query:
        """How many different values a column has; missing ones do not count.

        Args:
            column: Whose values: text, whole numbers, decimals, booleans, dates or times.
            where: Which rows count: text such as "age >= 18", or a predicate.
            groups_per_unit: Of how many values of one unit the number may depend. A unit with more counts with so many
                of them. The limit of the dataset if left out.
        """
        require_column(self.table, column)
        return CountDistinct(**self._rows(where, groups_per_unit, 1), column=column)

    def min(
        self,
        column: str,
        bounds: Bounds = None,
        step: Limit = None,
        grid: Sequence[NumberLike] | None = None,
        by: By = None,
        keys: Keys = None,
        bins: Bins = None,
        where: Where = None,
        groups_per_unit: Limit = None,
        rows_per_unit: Limit = None,
    ) -> Query:
        """About the least value of a numeric column: the quantile at level 0, chosen from a public grid.

        No private answer can depend on the least value alone, for that is often one unit's. So some values lie below
        the answer; the plan says how many.

        Args:
            column: Whose least value; missing values do not count.
            bounds: Public; values outside count as the nearer one. "private" where nobody knows them: then the grid is
                a public scale of both signs, with numbers 1 or 2 % apart.
            step: The distance of grid points; about a thousandth of the width if left out.
            grid: The points themselves, instead of bounds and step.
            by: The columns to break down by, with public keys or bins for each.
            keys: The public keys of a column, or a dict from column to keys.
            bins: The public edges of a numeric column, or a dict from column to edges; the last bin is closed.
            where: Which rows count: text such as "age >= 18", or a predicate.
            groups_per_unit: The most groups one unit may count in; the limit of the dataset if left out.
            rows_per_unit: The most rows one unit may count with in each group, or in all without groups.
        """
        limits = groups_per_unit, rows_per_unit
        return self.quantile(column, Fraction(0), bounds, step, grid, by, keys, bins, where, *limits)

    def max(
        self,
        column: str,
        bounds: Bounds = None,
        step: Limit = None,
        grid: Sequence[NumberLike] | None = None,
        by: By = None,
        keys: Keys = None,
        bins: Bins = None,
        where: Where = None,
        groups_per_unit: Limit = None,
        rows_per_unit: Limit = None,
    ) -> Query:
        """About the largest value of a numeric column: the quantile at level 1, chosen from a public grid.

        No private answer can depend on the largest value alone, for that is often one unit's. So some values lie above
        the answer; the plan says how many.

        Args:
            column: Whose largest value; missing values do not count.
            bounds: Public; values outside count as the nearer one. "private" where nobody knows them: then the grid is
                a public scale of both signs, with numbers 1 or 2 % apart.
            step: The distance of grid points; about a thousandth of the width if left out.
            grid: The points themselves, instead of bounds and step.
            by: The columns to break down by, with public keys or bins for each.
            keys: The public keys of a column, or a dict from column to keys.
            bins: The public edges of a numeric column, or a dict from column to edges; the last bin is closed.
            where: Which rows count: text such as "age >= 18", or a predicate.
            groups_per_unit: The most groups one unit may count in; the limit of the dataset if left out.
            rows_per_unit: The most rows one unit may count with in each group, or in all without groups.
        """
        limits = groups_per_unit, rows_per_unit
        return self.quantile(column, Fraction(1), bounds, step, grid, by, keys, bins, where, *limits)

    def median(
        self,
        column: str,
        bounds: Bounds = None,
        step: Limit = None,
        grid: Sequence[NumberLike] | None = None,
        by: By = None,
        keys: Keys = None,
        bins: Bins = None,
        where: Where = None,
        groups_per_unit: Limit = None,
        rows_per_unit: Limit = None,
        expected_rows: Limit = None,
        interval_share: Limit = None,
        interval_confidence: NumberLike = LEVEL,
    ) -> Query:
        """The median of a numeric column, chosen from a public grid.

        Args:
            column: Whose median; missing values do not count.
            bounds: Public; values outside count as the nearer one. "private" where nobody knows them: then the grid is
                a public scale of both signs, with numbers 1 or 2 % apart.
            step: The distance of grid points; about a thousandth of the width if left out.
            grid: The points themselves, instead of bounds and step.
            by: The columns to break down by, with public keys or bins for each.
            keys: The public keys of a column, or a dict from column to keys.
            bins: The public edges of a numeric column, or a dict from column to edges; the last bin is closed.
            where: Which rows count: text such as "age >= 18", or a predicate.
            groups_per_unit: The most groups one unit may count in; the limit of the dataset if left out.
                "private" to choose it by a tenth of the price.
            rows_per_unit: The most rows one unit may count with in each group, or in all without groups.
            expected_rows: A public guess of the number of rows per group, by which the mechanism is chosen; 1000 if
                left out.
            interval_share: The share of the price that pays for intervals in the unit of the column, such as "1/2";
                without it there are none.
            interval_confidence: The probability with which each interval holds the true quantile, on every table.
        """
        return self.quantile(
            column,
            Fraction(1, 2),
            bounds,
            step,
            grid,
            by,
            keys,
            bins,
            where,
            groups_per_unit,
            rows_per_unit,
            expected_rows,
            interval_share,
            interval_confidence,
        )

    def quantile(
        self,
        column: str,
        levels: NumberLike | Sequence[NumberLike],
        bounds: Bounds = None,
        step: Limit = None,
        grid: Sequence[NumberLike] | None = None,
        by: By = None,
        keys: Keys = None,
        bins: Bins = None,
        where: Where = None,
        groups_per_unit: Limit = None,
        rows_per_unit: Limit = None,
        expected_rows: Limit = None,
        interval_share: Limit = None,
        interval_confidence: NumberLike = LEVEL,
    ) -> Query:
        """One or several quantiles of a numeric column, chosen from a public grid; disjoint groups share one price.

        Args:
            column: Whose quantiles; missing values do not count.
            levels: From 0, the minimum, to 1, the maximum; several are released together.
            bounds: Public; values outside count as the nearer one. "private" where nobody knows them: then the grid is
                a public scale of both signs, with numbers 1 or 2 % apart.
            step: The distance of grid points; about a thousandth of the width if left out.
            grid: The points themselves, instead of bounds and step.
            by: The columns to break down by, with public keys or bins for each.
            keys: The public keys of a column, or a dict from column to keys.
            bins: The public edges of a numeric column, or a dict from column to edges; the last bin is closed.
            where: Which rows count: text such as "age >= 18", or a predicate.
            groups_per_unit: The most groups one unit may count in; the limit of the dataset if left out.
                "private" to choose it by a tenth of the price.
            rows_per_unit: The most rows one unit may count with in each group, or in all without groups.
            expected_rows: A public guess of the number of rows per group, by which the mechanism is chosen; 1000 if
                left out.
            interval_share: The share of the price that pays for intervals in the unit of the column, such as "1/2";
                without it there are none.
            interval_confidence: The probability with which each interval holds the true quantile, on every table.
        """
        numeric_column(self.table, column)
        found = read_levels(levels)
        known = not _is_private(bounds)
        if known:
            points, even = read_grid(self.table, column, bounds, step, grid)
        elif step is not None or grid is not None:
            raise BadParameter(
                "private bounds have their own grid", fix='leave step and grid out with bounds="private"'
            )
        else:
            points, even = magnitudes(self.table.columns[column]), None
        share, confidence = read_interval_share(found, interval_share, interval_confidence)
        guess = _read_guess(expected_rows)

        def within(asked: _Cells) -> Quantiles:
            return Quantiles(
                **asked,
                column=column,
                levels=found,
                grid=points,
                even=even,
                known=known,
                expected_rows=guess,
                interval_share=share,
                interval_confidence=confidence,
            )

        if _is_private(groups_per_unit):
            cells = (by, keys, bins, where)
            return self._private_limit(cells, groups_per_unit, rows_per_unit, within, Fraction(1, 2))
        return within(self._cells(by, keys, bins, where, groups_per_unit, rows_per_unit))

    def most_common(
        self,
        k: NumberLike = 1,
        by: By = None,
        keys: Keys = None,
        bins: Bins = None,
        where: Where = None,
        of: str | None = None,
        rows_per_unit: Limit = None,
        groups_per_unit: Limit = None,
    ) -> Query:
        """The k keys that most units, or rows, have; the counts themselves are not released.

        Args:
            k: How many, the most common first.
            by: The columns to break down by.
            keys: The public keys of a column, or a dict from column to keys. Those that nobody has are noisy zeros.
                Where keys and bins are left out the keys are private too: only those of enough units show, with a δ.
            bins: The public edges of a numeric column, or a dict from column to edges; the last bin is closed.
            where: Which rows count: text such as "age >= 18", or a predicate.
            of: "units" or "rows"; units if both this and `rows_per_unit` are left out.
            rows_per_unit: The most rows one unit may count with for each key, where rows are counted.
            groups_per_unit: The most keys one unit may count for. With public keys that is all of them if left out; a
                small limit helps where several keys are wanted and nobody has many.
        """
        counted = self._counted(of, rows_per_unit, choice=True)
        columns = read_by(self.table, by, keys, bins)
        if columns and read_axes(self.table, columns, keys, bins) is None:
            most = read_integer(k, "k", at_least=1, at_most=MOST_TURNS)
            of_rows = self._rows(where, groups_per_unit, 1 if counted == "units" else rows_per_unit)
            return CommonUnknownKeys(**of_rows, columns=columns, k=most, of=counted)
        asked = self._votes(by, keys, bins, where, rows_per_unit, groups_per_unit)
        length = read_integer(k, "k", at_least=1, at_most=min(cell_count(asked["axes"]), MOST_TURNS))
        return BestKeys(**asked, k=length, of=counted, scale=None)

    def choose(
        self,
        options: Mapping[str, str | Predicate] | Sequence[str | Predicate] | None = None,
        by: By = None,
        keys: Keys = None,
        bins: Bins = None,
        sum_of: str | None = None,
        bounds: Bounds = None,
        step: Limit = None,
        where: Where = None,
        rows_per_unit: Limit = None,
    ) -> Query:
        """The best of some options: the predicate that most rows satisfy, or the key with the best score.

        Args:
            options: Predicates, with names as a dict; the score of one is the number of rows for which it holds.
            by: Instead of options: the columns whose keys are the options.
            keys: Their public keys.
            bins: Or their public bins.
            sum_of: The score of a key is the sum of this column; without it, the number of rows.
            bounds: Of that column.
            step: Of that column.
            where: Which rows count: text such as "age >= 18", or a predicate.
            rows_per_unit: The most rows one unit may count with for each option.
        """
        if options is None:
            scale = None
            if sum_of is not None:
                scale = read_fixed_point(self.table, numeric_column(self.table, sum_of), bounds, step)
            asked = self._votes(by, keys, bins, where, rows_per_unit)
            return BestKeys(**asked, k=1, of=sum_of or "rows", scale=scale)
        if by is not None or keys is not None or bins is not None or sum_of is not None:
            raise BadParameter("the options are either predicates or keys", fix="leave out `options`, or the others")
        if isinstance(options, str | Predicate) or not isinstance(options, Iterable):
            raise BadParameter("options must be a list or a dict", given=options, fix='pass ["age < 18", "age >= 18"]')
        listed = take(options, MOST_OPTIONS, "options")
        if not listed:
            raise BadParameter(
                "there are no options", fix='pass for example {"minors": "age < 18", "others": "age >= 18"}'
            )
        if isinstance(options, Mapping):
            named = {read_name(name, "options"): self._required(options[name]) for name in listed}
        else:
            named = {str(option): predicate for option, predicate in ((each, self._required(each)) for each in listed)}
        rows = self._rows(where, rows=rows_per_unit)
        return BestOption(**rows, names=tuple(named), options=tuple(named.values()))

    def decision(
        self,
        at_least: NumberLike | None = None,
        by: By = None,
        keys: Keys = None,
        bins: Bins = None,
        where: Where = None,
        of: str | None = None,
        rows_per_unit: Limit = None,
    ) -> Query:
        """Is a count at least so many? Or, by public keys: which key has most?

        Args:
            at_least: The threshold of a test whose answer is True or False.
            by: Instead of a threshold: the columns whose keys are voted on.
            keys: Their public keys; a tie goes to the one that is listed first.
            bins: Or their public bins.
            where: Which rows count: text such as "age >= 18", or a predicate.
            of: "units" or "rows"; units if both this and `rows_per_unit` are left out.
            rows_per_unit: The most rows one unit may count with, where rows are counted.
        """
        counted = self._counted(of, rows_per_unit, choice=True)
        if (at_least is None) == (by is None and keys is None and bins is None):
            raise BadParameter(
                "a decision is either a test of one count or a vote among keys",
                fix='pass at_least=100, or by="party", keys=["red", "blue"]',
            )
        if at_least is not None:
            threshold = read_integer(at_least, "at_least", at_least=1)
            return IsAtLeast(**self._rows(where, 1, rows_per_unit), axes=(), of=counted, at_least=threshold)
        asked = self._votes(by, keys, bins, where, rows_per_unit)
        size = cell_count(asked["axes"])
        if size < 2:
            raise BadParameter("a vote is among two keys at least", given=size, fix="list all keys that may win")
        if size > MOST_OPTIONS:
            raise TooLarge(f"a vote is among at most {MOST_OPTIONS} keys", given=size, fix="use most_common instead")
        return Plurality(**asked, of=counted)

    def design(
        self,
        by: By = None,
        keys: Keys = None,
        bins: Bins = None,
        at_most: NumberLike | None = None,
        prior: PriorLike | None = None,
        loss: str = "absolute",
        where: Where = None,
        of: str | None = None,
        groups_per_unit: Limit = None,
        rows_per_unit: Limit = None,
    ) -> Query:
        """How many units or rows, in all or in each group, by the optimal mechanism for a public range and a prior.

        Where one unit changes one count by one, no private mechanism has a smaller expected loss under the prior.

        Args:
            by: The columns to break down by.
            keys: The public keys of a column, or a dict from column to keys.
            bins: The public edges of a numeric column, or a dict from column to edges; the last bin is closed.
            at_most: The largest count that is told apart; a larger one counts as this. Not taken from the data.
            prior: How likely each count 0..at_most is, in every cell, before anything is known: a list of weights, or
                a dict from count to weight; they are divided by their sum. All alike if left out.
            loss: What an error costs: "absolute", "squared" or "zero_one".
            where: Which rows count: text such as "age >= 18", or a predicate.
            of: "units" or "rows"; as for `count` if left out.
            groups_per_unit: The most groups one unit may count in; the limit of the dataset if left out.
            rows_per_unit: The most rows one unit may count with in each group; the limit of the dataset if left out.
        """
        asked = self._cells(by, keys, bins, where, groups_per_unit, rows_per_unit)
        cells = cell_count(asked["axes"])
        if cells > MOST_DESIGNED_CELLS:
            raise TooLarge(
                f"counts are designed for at most {MOST_DESIGNED_CELLS} cells", given=cells, fix="use count instead"
            )
        if at_most is None:
            raise BadParameter(
                "a design needs a public range of counts", fix="pass the largest that matters: at_most=100"
            )
        most = read_integer(at_most, "at_most", at_least=1, at_most=MOST_DESIGNED)
        if not isinstance(loss, str) or loss not in LOSSES:
            raise BadParameter("the loss is unknown", given=loss, fix=f"use one of {', '.join(LOSSES)}")
        if cells * (most + 1) > MOST_CELLS:
            raise TooLarge(
                f"cells times counts may be at most {MOST_CELLS}", given=cells * (most + 1), fix="lower at_most"
            )
        believed = None if prior is None else read_prior(_weights(prior, most + 1), range(most + 1))
        counted = self._counted(of, rows_per_unit)
        return DesignedCounts(**asked, of=counted, at_most=most, prior=believed, loss=loss)

    def graph(
        self,
        answer: str,
        tail: str,
        head: str,
        nodes: Iterable[Any],
        where: Where = None,
        groups_per_unit: Limit = None,
    ) -> Query:
        """About the graph whose edges are the rows: its edges, degrees, connected parts, triangles, a cut or a cover.

        Two nodes are joined if some row names both. A release protects what one unit adds: one row, thus one edge,
        where there is no privacy unit (edge level). A node with all its edges is protected only if all rows that name
        it are its own.

        Args:
            answer: "edges", "degrees", "components", "triangles", "cut" (which nodes to take from the others so that
                few edges are cut) or "cover" (an order of the nodes: every edge is covered by whichever of its ends
                comes first).
            tail: The column of one end of an edge.
            head: The column of the other end.
            nodes: The public nodes; other rows join nothing.
            where: Which rows count: text such as "year >= 2020", or a predicate.
            groups_per_unit: The most edges of one unit that count; the limit of the dataset if left out.
        """
        if not isinstance(answer, str) or answer not in GRAPH_ANSWERS:
            known = ", ".join(GRAPH_ANSWERS)
            raise BadParameter("the answer about a graph is unknown", given=answer, fix=f"use one of {known}")
        if require_column(self.table, tail) == require_column(self.table, head):
            raise BadParameter("an edge has two ends in two columns", given=tail, fix="name another column")
        listed = take(nodes, MOST_CELLS, "nodes")
        if len(listed) < 2:
            raise BadParameter("a graph needs two public nodes at least", given=len(listed), fix="list them all")
        asked = self._cells((tail, head), {tail: listed, head: listed}, None, where, groups_per_unit, None)
        return graph_question(answer, asked)

    def facilities(
        self,
        by: By,
        k: NumberLike,
        places: Mapping[Any, Sequence[NumberLike]] | None = None,
        bins: Bins = None,
        where: Where = None,
        squared: bool = False,
        opening: NumberLike | Sequence[NumberLike] | None = None,
        of: str | None = None,
        groups_per_unit: Limit = None,
        rows_per_unit: Limit = None,
    ) -> Query:
        """Some public places such that units or rows are near to the nearest of them; and how many are nearest to each.

        Args:
            by: The column that says where a row is; or numeric columns that are its coordinates, with `bins`.
            k: How many places to choose; with `opening` at most so many.
            places: The public places: a dict from key to coordinates, all in one unit such as kilometres.
            bins: Instead of places: the public edges of each coordinate. Places are then the middles of the cells.
            where: Which rows count: text such as "age >= 18", or a predicate.
            squared: Whether squares of distances are added up, as for k-means, and not distances.
            opening: What a facility costs, one number or one for each place, in the unit of the (squared) distances.
            of: "units" or "rows"; as for `count` if left out.
            groups_per_unit: The most places one unit may count at; the limit of the dataset if left out.
            rows_per_unit: The most rows one unit may count with at each; the limit of the dataset if left out.
        """
        if (places is None) == (bins is None):
            raise BadParameter("the public places are either listed or the middles of bins", fix="pass places or bins")
        located = None if places is None else read_places(places)
        columns = read_by(self.table, by, None, bins)
        if not columns or (located is not None and len(columns) > 1):
            raise BadParameter(
                "one column says where a row is, or several with bins", given=by, fix='pass by="city", for example'
            )
        keys = None if located is None else {columns[0]: list(located)}
        asked = self._cells(columns, keys, bins, where, groups_per_unit, rows_per_unit)
        where_they_are = middles(asked["axes"]) if located is None else tuple(located.values())
        return facilities_question(
            asked, self._counted(of, rows_per_unit), where_they_are, k, squared=squared, opening=opening
        )

    def sorted_counts(self, by: By, total: NumberLike, top: NumberLike = 100, where: Where = None) -> Query:
        """How many units the most common key has, the next one, and so on; the keys are not released.

        Args:
            by: The column, or columns, whose values are the keys. They need not be known.
            total: A public guess of the number of units, by which the better mechanism is chosen.
            top: How many counts.
            where: Which rows count: text such as "age >= 18", or a predicate.
        """
        length = read_integer(top, "top", at_least=1, at_most=MOST_CELLS)
        guess = read_integer(total, "total", at_least=1)
        columns = read_by(self.table, by, None, None)
        if not columns:
            raise BadParameter("there is no column to count by", fix='pass for example by="password"')
        asked = self._rows(where, 1, 1)
        return SortedCountsQuery(**asked, columns=columns, top=length, total=guess)

    def batch(self, queries: Sequence[Query], weights: Sequence[NumberLike] | None = None) -> Batch:
        """Several questions under one price: one split, one debit, one record.

        Args:
            queries: Questions about this dataset.
            weights: How much the squared error of each counts. Without them the errors of counts are compared as they
                are; if there are other questions, each error relative to what it would be at the whole price.

        Raises:
            BadParameter: No questions, too many, or one about another dataset.
        """
        return Batch.of(self, queries, weights)

    def ask(self, question: Mapping[str, Json]) -> Query | Batch:
        """The question that some JSON stands for: what `to_dict` of a question gives.

        Args:
            question: The name of a method of this class and its arguments, for example {"question": "count", "by":
                "city", "keys": ["Bonn", "Ulm"]}. Dates, decimals and fractions are objects: {"$date": "2024-02-29"},
                {"$decimal": "1.50"}, {"$fraction": "1/3"}.

        Raises:
            UnknownLabel: There is no such question, or it has no such argument.
            BadParameter: An argument is missing, or no such value.
        """
        made: Query | Batch = make_asked(self, question)
        return made

    def require_ready(self) -> None:
        """Refuse to go on after `close`, and in a forked child.

        Raises:
            Closed: It was closed.
            ForeignProcess: It was opened by another process.
        """
        if self._closed:
            raise Closed("the dataset was closed", given=self.name, fix="ask within the `with` block, or open it again")
        if self.origin is not None:
            self.origin.require_ready()
        self.table.require_ready()

    def close(self) -> None:
        """Let go of the engine and the ledger; nothing can be asked afterwards."""
        object.__setattr__(self, "_closed", True)
        if self.owns_table:
            self.table.close()
        if self.owns_ledger:
            self.ledger.close()

    def __enter__(self) -> Self:
        """Itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close it."""
        self.close()

    def __repr__(self) -> str:
        """Its name and unit."""
        unit = self.contribution.privacy_unit
        return f"{type(self).__name__}({self.name!r}, privacy_unit={unit!r})"

    def _filter(self, where: Where) -> Predicate | None:
        return None if where is None else read_filter(where, self.table.types)

    def _bound(self, groups: Limit, rows: Limit) -> Contribution:
        """The contribution bounds of a question: its own, or those of the dataset."""
        base = self.contribution
        if _is_private(groups) or _is_private(rows):
            raise BadParameter(
                "this question does not choose this limit privately",
                given=_PRIVATE,
                fix="pass a number; in a mean a unit counts with the average of its rows, so a large one costs nothing",
            )
        most_groups = base.groups_per_unit if groups is None else read_integer(groups, "groups_per_unit", at_least=1)
        most_rows = base.rows_per_unit if rows is None else read_integer(rows, "rows_per_unit", at_least=1)
        if base.privacy_unit is None and (most_groups > 1 or most_rows > 1):
            raise BadParameter(
                "without a privacy unit every row is one",
                given=f"groups_per_unit={most_groups}, rows_per_unit={most_rows}",
                fix='leave the limits out, or open the table with privacy_unit="person_id"',
            )
        return Contribution(base.privacy_unit, most_groups, most_rows)

    def _counted(self, of: str | None, rows: Limit, choice: bool = False) -> str:
        """Whether units or rows are counted: units, unless rows are asked for or a number of rows per unit is given.

        A number for the whole dataset is one, too, but not for a choice among keys, where units vote.
        """
        base = self.contribution
        if of is None:
            single = choice or (base.privacy_unit is not None and base.rows_per_unit == 1)
            return "units" if single and rows is None else "rows"
        if not isinstance(of, str) or of not in ("rows", "units"):
            raise BadParameter("what is counted must be rows or units", given=of, fix='pass of="rows" or of="units"')
        if of == "units" and rows is not None:
            raise BadParameter(
                "a unit counts once, however many rows it has",
                given=rows,
                fix='leave rows_per_unit out, or pass of="rows"',
            )
        return of

    def _rows(self, where: Where, groups: Limit = None, rows: Limit = None) -> _Rows:
        """What every question has."""
        return {"dataset": self, "contribution": self._bound(groups, rows), "where": self._filter(where)}

    def _cells(self, by: By, keys: Keys, bins: Bins, where: Where, groups: Limit, rows: Limit) -> _Cells:
        """What a question by public keys or bins has."""
        axes = read_axes(self.table, read_by(self.table, by, keys, bins), keys, bins)
        if axes is None:
            raise BadParameter(
                "this needs public keys or bins", fix='pass keys=["Lyon", "Metz"], or count by unknown keys first'
            )
        return {**self._rows(where, groups, rows), "axes": axes}

    def _private_bounds(
        self, asked: _Cells, column: str, step: Limit, make: Callable[[FixedPoint], CellQuery]
    ) -> PrivateBounds:
        """A question whose bounds are chosen privately, from that of given bounds."""
        if step is not None:
            raise BadParameter("the step follows from the bounds", given=step, fix='leave it out with bounds="private"')
        kind = self.table.columns[numeric_column(self.table, column)]
        rows: _Rows = {"dataset": self, "contribution": asked["contribution"], "where": asked["where"]}
        return PrivateBounds(**rows, options=tuple(make(scale).public for scale in bound_options(kind)), column=column)

    def _private_limit(
        self,
        of_cells: tuple[By, Keys, Bins, Where],
        groups: Limit,
        rows: Limit,
        make: Callable[[_Cells], CellQuery],
        worth: Fraction = Fraction(1),
    ) -> PrivateRows | PrivateGroups:
        """A question whose rows or groups per unit are chosen privately, from that of a given number."""
        by_rows, by_groups = _is_private(rows), _is_private(groups)
        if by_rows and by_groups:
            raise BadParameter("one limit can be private, not both", fix="say groups_per_unit or rows_per_unit")
        asked = self._cells(*of_cells, 1 if by_groups else groups, 1 if by_rows else rows)
        bound, where = asked["contribution"], asked["where"]
        if bound.privacy_unit is None:
            raise BadParameter("without a privacy unit every row is one", fix="leave the limits out")
        if by_groups and not asked["axes"]:
            raise BadParameter("without groups there is no limit to choose", fix="pass by=…, or leave it out")
        limits = [
            Contribution(bound.privacy_unit, each if by_groups else bound.groups_per_unit, each if by_rows else most)
            for most in [bound.rows_per_unit]
            for each in limit_options()
        ]
        options = tuple(make({**asked, "contribution": limit}).public for limit in limits)
        if by_rows:
            return PrivateRows(dataset=self, contribution=bound, where=where, options=options, worth=worth)
        several = worth if bound.rows_per_unit == 1 else worth * bound.rows_per_unit / 2
        return PrivateGroups(dataset=self, contribution=bound, where=where, options=options, worth=several)

    def _votes(self, by: By, keys: Keys, bins: Bins, where: Where, rows: Limit, groups: Limit = None) -> _Cells:
        """The same for a choice among keys: a unit may count for every one, which costs nothing for choices in turn."""
        asked = self._cells(by, keys, bins, where, groups, rows)
        if not asked["axes"]:
            raise BadParameter("a choice needs options", fix='pass by="city", keys=["Lyon", "Metz"]')
        if groups is None and self.contribution.privacy_unit is not None:
            asked["contribution"] = self._bound(cell_count(asked["axes"]), rows)
        return asked

    def _moment(
        self, kind: type[Moment], column: Any, bounds: Any, step: Limit, asked: _Cells, guess: int | None
    ) -> Query:
        def with_scale(scale: FixedPoint) -> Moment:
            return kind(**asked, column=column, scale=scale, expected_rows=guess)

        if _is_private(bounds):
            return self._private_bounds(asked, column, step, with_scale)
        return with_scale(self._scale(column, bounds, step, asked["contribution"]))

    def _scale(self, column: Any, bounds: Any, step: Limit, contribution: Contribution) -> FixedPoint:
        """What a column whose rows are averaged counts in; booleans are 0 or 1."""
        name, averaged = require_column(self.table, column), contribution.privacy_unit is not None
        if self.table.columns[name] is not Kind.BOOLEAN:
            return read_fixed_point(self.table, numeric_column(self.table, name), bounds, step, averaged)
        if bounds is not None or step is not None:
            raise BadParameter("a column of booleans is 0 or 1", given=name, fix="leave bounds and step out")
        return read_condition_scale(averaged)

    def _required(self, option: str | Predicate) -> Predicate:
        found = self._filter(option)
        if found is None:
            raise BadParameter("an option must be a condition", given=option, fix='pass for example "age < 18"')
        return found


def _of_columns(given: Any, columns: Sequence[str], what: str) -> dict[str, Any]:
    """What is said about each of several columns."""
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise BadParameter(
            f"with several columns {what} must say which are whose",
            given=type(given).__name__,
            fix=f'pass {what}={{"{columns[0]}": …}}',
        )
    for name in given:
        if not isinstance(name, str) or name not in columns:
            raise unknown_label(name, columns, "column")
    return dict(given)


def _weights(prior: PriorLike, size: int) -> Prior:
    """Weights of counts, divided by their sum."""
    if isinstance(prior, Prior):
        return prior
    listed = prior if isinstance(prior, Mapping) else take(prior, size, "weights of the prior")
    if not isinstance(listed, Mapping) and len(listed) != size:
        raise BadParameter(
            f"a prior has a weight for each of the {size} counts from 0 on", given=len(listed), fix="pass as many"
        )
    return Prior(listed, normalise=True)


def _is_private(given: object) -> bool:
    """Whether bounds or a limit are to be chosen privately; whatever else it is, others read."""
    return isinstance(given, str) and given == _PRIVATE


def _read_rest(rest: object) -> bool:
    """Whether there is a row for everything else."""
    if not isinstance(rest, bool):
        raise BadParameter("rest is True or False", given=type(rest).__name__, fix="pass rest=True")
    return rest


def _require_no_rest(rest: object) -> None:
    """Refuse a row for everything else where keys and bins say what there is."""
    if _read_rest(rest):
        raise BadParameter(
            "everything else is a row where keys are not known in advance",
            given=rest,
            fix="leave keys and bins out, or count everything in a second question",
        )


def _read_guess(expected_rows: Limit) -> int | None:
    return None if expected_rows is None else read_integer(expected_rows, "expected_rows", at_least=1)
