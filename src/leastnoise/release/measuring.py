"""Questions about a numeric column: sums, means, variances, quantiles."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from leastnoise.exact.parameters import NumberLike, read_integer
from leastnoise.release.asking import Asking, Limit, Where
from leastnoise.release.axes import Bins, By, Keys
from leastnoise.release.fixed_point import Bounds, numeric_column, read_fixed_point
from leastnoise.release.grids import read_grid, read_levels
from leastnoise.release.mean import Mean
from leastnoise.release.quantiles import Quantiles
from leastnoise.release.query import Query
from leastnoise.release.sums import Sum
from leastnoise.release.variance import Variance

__all__ = ["Measuring"]


class Measuring(Asking):
    """How much."""

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
    ) -> Query:
        """The sum of a numeric column between public bounds, in exact fixed point.

        Args:
            column: What to sum; missing values do not count.
            bounds: Public; values outside count as the nearer one.
            step: What values are rounded to; 1 for whole numbers, else a millionth of the width or a little finer.
            by: As in `count`, with public keys or bins.
            keys: As in `count`.
            bins: As in `count`.
            where: As in `count`.
            groups_per_unit: As in `count`.
            rows_per_unit: As in `count`.
        """
        scale = read_fixed_point(self.table, numeric_column(self.table, column), bounds, step)
        axes = self._public_axes(by, keys, bins)
        return Sum(self, self._bound(groups_per_unit, rows_per_unit), axes, column, scale, self._filter(where))

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
    ) -> Query:
        """The mean of a numeric column; the number of rows is private too.

        Args:
            column: Whose mean; missing values do not count.
            bounds: Public; values outside count as the nearer one.
            step: What values are rounded to.
            by: As in `count`, with public keys or bins.
            keys: As in `count`.
            bins: As in `count`.
            where: As in `count`.
            groups_per_unit: As in `count`.
            rows_per_unit: As in `count`.
            expected_rows: A public guess of the number of values per cell, for the error in the plan only.
        """
        arguments = (column, bounds, step, by, keys, bins, where, groups_per_unit, rows_per_unit, expected_rows)
        return self._moment(Mean, *arguments)

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
        """The variance of a numeric column, Σ(x − mean)²/n; arguments as in `mean`."""
        arguments = (column, bounds, step, by, keys, bins, where, groups_per_unit, rows_per_unit, expected_rows)
        return self._moment(Variance, *arguments)

    def median(
        self,
        column: str,
        bounds: Bounds = None,
        step: Limit = None,
        grid: Sequence[NumberLike] | None = None,
        where: Where = None,
        rows_per_unit: Limit = None,
    ) -> Query:
        """The median of a numeric column; arguments as in `quantile`."""
        return self.quantile(column, Fraction(1, 2), bounds, step, grid, where, rows_per_unit)

    def quantile(
        self,
        column: str,
        levels: NumberLike | Sequence[NumberLike],
        bounds: Bounds = None,
        step: Limit = None,
        grid: Sequence[NumberLike] | None = None,
        where: Where = None,
        rows_per_unit: Limit = None,
    ) -> Query:
        """One or several quantiles of a numeric column, chosen from a public grid.

        Args:
            column: Whose quantiles; missing values do not count.
            levels: Between 0 and 1; several are released together.
            bounds: Public; values outside count as the nearer one.
            step: The distance of grid points; about a thousandth of the width if left out.
            grid: The points themselves, instead of bounds and step.
            where: As in `count`.
            rows_per_unit: With how many rows, in all, a unit counts.
        """
        numeric_column(self.table, column)
        found = read_levels(levels)
        points, even = read_grid(self.table, column, bounds, step, grid, len(found))
        return Quantiles(self, self._bound(None, rows_per_unit), column, found, points, even, self._filter(where))

    def _moment(
        self,
        kind: type[Mean | Variance],
        column: str,
        bounds: Bounds,
        step: Limit,
        by: By,
        keys: Keys,
        bins: Bins,
        where: Where,
        groups: Limit,
        rows: Limit,
        expected: Limit,
    ) -> Query:
        scale = read_fixed_point(self.table, numeric_column(self.table, column), bounds, step)
        axes = self._public_axes(by, keys, bins)
        guess = None if expected is None else read_integer(expected, "expected_rows", at_least=1)
        return kind(self, self._bound(groups, rows), axes, column, scale, self._filter(where), guess)
