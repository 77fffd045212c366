"""Questions whose answer is a choice: the most common keys, the best option."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from leastnoise.data import Predicate
from leastnoise.errors import BadParameter
from leastnoise.exact.parameters import NumberLike, read_integer
from leastnoise.model.limits import MOST_OPTIONS, MOST_TURNS
from leastnoise.release.asking import Asking, Limit, Where, require_countable
from leastnoise.release.axes import Bins, By, Keys, cell_count, take
from leastnoise.release.choices import BestKeys, BestOption
from leastnoise.release.fixed_point import Bounds, FixedPoint, numeric_column, read_fixed_point
from leastnoise.release.query import Query

__all__ = ["Choosing"]


class Choosing(Asking):
    """Which."""

    def most_common(
        self,
        k: NumberLike = 1,
        by: By = None,
        keys: Keys = None,
        bins: Bins = None,
        where: Where = None,
        of: str = "units",
        rows_per_unit: Limit = None,
    ) -> Query:
        """The k keys that most units, or rows, have; the counts themselves are not released.

        Args:
            k: How many, the most common first.
            by: As in `count`, with public keys or bins.
            keys: As in `count`.
            bins: As in `count`.
            where: As in `count`.
            of: "units" or "rows".
            rows_per_unit: With how many rows a unit counts for each key, where rows are counted.
        """
        require_countable(of)
        return self._best(k, by, keys, bins, where, of, None, rows_per_unit)

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
            keys: Their public keys, as in `count`.
            bins: Or their public bins.
            sum_of: The score of a key is the sum of this column; without it, the number of rows.
            bounds: Of that column.
            step: Of that column.
            where: As in `count`.
            rows_per_unit: With how many rows a unit counts for each option.
        """
        if options is None:
            scale = None
            if sum_of is not None:
                scale = read_fixed_point(self.table, numeric_column(self.table, sum_of), bounds, step)
            return self._best(1, by, keys, bins, where, sum_of or "rows", scale, rows_per_unit)
        if by is not None or keys is not None or bins is not None or sum_of is not None:
            raise BadParameter("the options are either predicates or keys", fix="leave out `options`, or the others")
        if isinstance(options, str | Predicate) or not isinstance(options, Iterable):
            raise BadParameter("options must be a list or a dict", given=options, fix='pass ["age < 18", "age >= 18"]')
        pairs = options.items() if isinstance(options, Mapping) else ((str(option), option) for option in options)
        named = dict(take(pairs, MOST_OPTIONS, "options"))
        if not named:
            raise BadParameter(
                "there are no options", fix='pass for example {"minors": "age < 18", "others": "age >= 18"}'
            )
        predicates = tuple(self._required(option) for option in named.values())
        bound = self._bound(None, rows_per_unit)
        return BestOption(self, bound, tuple(map(str, named)), predicates, self._filter(where))

    def _best(
        self,
        k: NumberLike,
        by: By,
        keys: Keys,
        bins: Bins,
        where: Where,
        of: str,
        scale: FixedPoint | None,
        rows: Limit,
    ) -> BestKeys:
        axes = self._public_axes(by, keys, bins)
        if not axes:
            raise BadParameter("a choice needs options", fix='pass by="city", keys=["Lyon", "Metz"]')
        size = cell_count(axes)
        length = read_integer(k, "k", at_least=1, at_most=min(size, MOST_TURNS))
        bound = self._bound(size, rows)  # a unit may count for every key: that costs nothing here
        return BestKeys(self, bound, axes, length, of, scale, self._filter(where))

    def _required(self, option: str | Predicate) -> Predicate:
        found = self._filter(option)
        if found is None:
            raise BadParameter("an option must be a condition", given=option, fix='pass for example "age < 18"')
        return found
