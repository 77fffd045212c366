"""Questions that count: histograms, linear combinations of them, and two-way tables."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

from numpy.typing import NDArray

from leastnoise.data import Contribution
from leastnoise.errors import BadParameter
from leastnoise.exact.parameters import NumberLike
from leastnoise.release.asking import Asking, Limit, Where, require_countable
from leastnoise.release.axes import Bins, By, Keys, cell_count, read_axes, read_by, require_cells, take
from leastnoise.release.counts import Count
from leastnoise.release.discovery import Discovery
from leastnoise.release.marginals import Marginals
from leastnoise.release.query import Query
from leastnoise.release.workloads import Workload, named_matrix, read_matrix

__all__ = ["Counting"]


class Counting(Asking):
    """How many."""

    def count(
        self,
        by: By = None,
        keys: Keys = None,
        bins: Bins = None,
        where: Where = None,
        of: str = "rows",
        groups_per_unit: Limit = None,
        rows_per_unit: Limit = None,
    ) -> Query:
        """How many rows or units, in all or in each group.

        Args:
            by: The columns to break down by.
            keys: The public keys of a column, or a dict from column to keys. Keys that nobody has come back as noisy
                zeros. Where keys and bins are left out the keys are private too: only those of enough units show,
                units are counted, and the release needs a δ.
            bins: The public edges of a numeric column, or a dict; the last bin is closed.
            where: Which rows count: SQL-like text or a predicate.
            of: "rows" or "units".
            groups_per_unit: In how many groups a unit counts.
            rows_per_unit: With how many rows in each.
        """
        columns = read_by(self.table, by, keys, bins)
        axes = read_axes(self.table, columns, keys, bins)
        require_countable(of)
        bound, rows = self._bound(groups_per_unit, rows_per_unit), self._filter(where)
        if axes is None:
            if of == "rows" and bound.rows_per_unit > 1:
                raise BadParameter(
                    "by keys that are not known in advance units are counted, not rows",
                    given=of,
                    fix='pass of="units", or list the public keys',
                )
            return Discovery(self, Contribution(bound.privacy_unit, bound.groups_per_unit), columns, rows)
        return Count(self, bound, axes, of, rows)

    def workload(
        self,
        matrix: str | Sequence[Sequence[NumberLike]] | NDArray[Any],
        by: By = None,
        keys: Keys = None,
        bins: Bins = None,
        where: Where = None,
        of: str = "rows",
        names: Sequence[str] | None = None,
        groups_per_unit: Limit = None,
        rows_per_unit: Limit = None,
    ) -> Query:
        """Linear combinations of the counts of a histogram, released together by the best mechanism for them.

        Args:
            matrix: "prefix sums", "ranges", or whole numbers with one row per answer and one column per cell, in the
                order of the table that `count` would release.
            by: As in `count`, with public keys or bins.
            keys: As in `count`.
            bins: As in `count`.
            where: As in `count`.
            of: "rows" or "units".
            names: What the answers are called.
            groups_per_unit: As in `count`.
            rows_per_unit: As in `count`.
        """
        axes = self._public_axes(by, keys, bins)
        require_countable(of)
        if isinstance(matrix, str):
            rows, called = named_matrix(matrix, axes)
        else:
            rows = read_matrix(matrix, cell_count(axes))
            called = tuple(f"answer {i}" for i in range(len(rows)))
        if names is not None:
            listed = take(names, len(rows), "names of answers")
            if len(listed) != len(rows):
                raise BadParameter(
                    "there must be one name per answer", given=len(listed), fix=f"pass {len(rows)} names"
                )
            called = tuple(map(str, listed))
        bound, kind = self._bound(groups_per_unit, rows_per_unit), matrix if isinstance(matrix, str) else "linear map"
        return Workload(self, bound, axes, rows, called, kind, of, self._filter(where))

    def marginals(
        self,
        by: By = None,
        keys: Keys = None,
        bins: Bins = None,
        where: Where = None,
        of: str = "rows",
        groups_per_unit: Limit = None,
        rows_per_unit: Limit = None,
    ) -> Query:
        """The counts by every pair of the columns; `Release.consistent` makes them agree.

        Args:
            by: At least two columns, with public keys or bins for each.
            keys: A dict from column to public keys.
            bins: A dict from column to public edges.
            where: As in `count`.
            of: "rows" or "units".
            groups_per_unit: In how many cells of each table a unit counts.
            rows_per_unit: With how many rows in each.
        """
        axes = self._public_axes(by, keys, bins)
        if len(axes) < 2:
            raise BadParameter("two-way tables need two columns", given=len(axes), fix='pass by=["city", "sex"]')
        require_countable(of)
        require_cells(sum(cell_count(pair) for pair in combinations(axes, 2)))
        return Marginals(self, self._bound(groups_per_unit, rows_per_unit), axes, of, self._filter(where))
