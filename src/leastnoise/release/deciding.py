"""Questions whose answer is a decision, and the list of frequencies that names nobody."""

from __future__ import annotations

from leastnoise.data import Contribution
from leastnoise.errors import BadParameter, TooLarge
from leastnoise.exact.parameters import NumberLike, read_integer
from leastnoise.model.limits import MOST_CELLS, MOST_OPTIONS
from leastnoise.release.asking import Asking, Limit, Where, require_countable
from leastnoise.release.axes import Bins, By, Keys, cell_count, read_by
from leastnoise.release.decisions import IsAtLeast, Plurality
from leastnoise.release.frequencies import SortedCounts
from leastnoise.release.query import Query

__all__ = ["Deciding"]


class Deciding(Asking):
    """Whether, and how unequal."""

    def decision(
        self,
        at_least: NumberLike | None = None,
        by: By = None,
        keys: Keys = None,
        bins: Bins = None,
        where: Where = None,
        of: str = "units",
        rows_per_unit: Limit = None,
    ) -> Query:
        """Is a count at least so many? Or, by public keys: which key has most?

        Args:
            at_least: The threshold of a test whose answer is True or False.
            by: Instead of a threshold: the columns whose keys are voted on.
            keys: Their public keys, as in `count`; a tie goes to the one that is listed first.
            bins: Or their public bins.
            where: As in `count`.
            of: "units" or "rows".
            rows_per_unit: With how many rows a unit counts, where rows are counted.
        """
        require_countable(of)
        if (at_least is None) == (by is None and keys is None and bins is None):
            raise BadParameter(
                "a decision is either a test of one count or a vote among keys",
                fix='pass at_least=100, or by="party", keys=["red", "blue"]',
            )
        condition = self._filter(where)
        if at_least is not None:
            threshold = read_integer(at_least, "at_least", at_least=1)
            return IsAtLeast(self, self._bound(1, rows_per_unit), (), of, condition, threshold)
        axes = self._public_axes(by, keys, bins)
        size = cell_count(axes)
        if size < 2:
            raise BadParameter("a vote is among two keys at least", given=size, fix="list all keys that may win")
        if size > MOST_OPTIONS:
            raise TooLarge(f"a vote is among at most {MOST_OPTIONS} keys", given=size, fix="use most_common instead")
        bound = self._bound(size, rows_per_unit)  # a unit may vote for every key: no lead moves by more for it
        return Plurality(self, bound, axes, of, condition)

    def sorted_counts(self, by: By, total: NumberLike, top: NumberLike = 100, where: Where = None) -> Query:
        """How many units the most common key has, the next one, and so on; the keys are not released.

        Args:
            by: The column, or columns, whose values are the keys. They need not be known.
            total: A public guess of the number of units, by which the better mechanism is chosen.
            top: How many counts.
            where: As in `count`.
        """
        length = read_integer(top, "top", at_least=1, at_most=MOST_CELLS)
        guess = read_integer(total, "total", at_least=1)
        columns = read_by(self.table, by, None, None)
        if not columns:
            raise BadParameter("there is no column to count by", fix='pass for example by="password"')
        once = Contribution(self.contribution.privacy_unit)
        return SortedCounts(self, once, columns, length, guess, self._filter(where))
