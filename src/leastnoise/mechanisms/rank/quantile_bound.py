"""An end of an interval around a quantile: a point that lies on one side of it, with a stated probability on all data.

The lower end of a q-quantile of n records is a private quantile that aims `margin` records below rank q·n. A record
between two points counts as the lower one, so that as many records lie below a point as in truth. The end is wrong if
at least q·n records lie below it; then at least margin records stand against it. On the first point of the lattice,
which is never wrong, at most B stand: it is the anchor of the law. So a wrong point needs at least ⌈margin/u⌉ − B
changes more than the best one, u = max(q, 1 − q) or 1, and of M others one is chosen with probability at most
M·e^(−(ε/2)·(⌈margin/u⌉ − B)). The margin makes that at most `miss`. With few records nothing but the anchor is safe,
and the anchor it is: the promise needs no supposition on n. B is so large that among many records the anchor has 1/20
of the weight of the best point. The upper end is the mirror image.

The sum for permute-and-flip: with X heads among the wrong points, of mean μ, and at least one other head, a wrong one
is chosen with probability at most E[X/(X + 1)] ≤ μ/(μ + 1) ≤ μ.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from numpy.typing import NDArray

from leastnoise.errors import BadParameter
from leastnoise.exact import Enclosure, NumberLike, least_whole, ln, read_rational
from leastnoise.mechanisms.rank.quantile import Quantile, small_rank_certificate
from leastnoise.mechanisms.rank.rank_law import RankLaw, RankRule, Records
from leastnoise.model import LEVEL, Certificate, ErrorEstimate, Reason

__all__ = ["QuantileBound"]

_ANCHOR_ODDS = 20
_SIDES = ("lower", "upper")


@dataclass(frozen=True, init=False)
class QuantileBound(Quantile):
    """A point of a public grid that is not above the quantile, or not below it. The truth is the list of the numbers.

    Args:
        epsilon: The privacy of one release.
        grid: The points to choose from, increasing; not taken from the data.
        level: Of which quantile; strictly between 0 and 1.
        side: "lower" or "upper".
        miss: The probability with which it may lie on the wrong side, at most, on every database.
        records: How many records there are, where that is public: then a neighbour exchanges one of them.
        missing: What NaN and None count as; the first grid point if left out.
        method: "exponential" or "permute and flip".

    >>> low = QuantileBound(1, range(0, 121), side="lower")
    >>> low.rule.margin, low.law.anchor
    (-12, (0, 6))
    """

    name: ClassVar[str] = "private bound of a quantile"
    side: str
    miss: Fraction

    def __init__(
        self,
        epsilon: NumberLike,
        grid: Sequence[NumberLike] | NDArray[Any] | None = None,
        level: NumberLike = Fraction(1, 2),
        *,
        side: str = "lower",
        miss: NumberLike = Fraction(1, 40),
        records: NumberLike | None = None,
        missing: NumberLike | None = None,
        method: str = "exponential",
    ) -> None:
        super().__init__(epsilon, grid, level, records=records, missing=missing, method=method)
        if not 0 < self.level < 1:
            raise BadParameter("level must lie between 0 and 1", given=self.level, fix="pass 1/100 for a low quantile")
        if not isinstance(side, str) or side not in _SIDES:
            raise BadParameter("side is unknown", given=side, fix='pass "lower" or "upper"')
        object.__setattr__(self, "side", side)
        object.__setattr__(self, "miss", read_rational(miss, "miss", above=0, below=1))

    @property
    def rule(self) -> RankRule:
        """That of the quantile, moved by the margin."""
        plain = RankRule(self.level, exchange=self.records is not None)
        safe = least_whole(lambda changes: changes * (self.epsilon / 2) >= ln(max(self.lattice.last, 1) / self.miss))
        margin = -(-(safe + self._anchored) * plain.unit // self.level.denominator)
        return RankRule(self.level, plain.exchange, -margin if self.side == "lower" else margin)

    @property
    def law(self) -> RankLaw:
        """The rank law with the end of the lattice as its anchor."""
        anchor = 0 if self.side == "lower" else self.lattice.last
        return RankLaw(
            self.rule, self.epsilon / 2, self.lattice.last, self.method != "exponential", (anchor, self._anchored)
        )

    @property
    def _anchored(self) -> int:
        """How many changes the anchor needs at most."""
        return least_whole(lambda changes: changes * (self.epsilon / 2) >= ln(_ANCHOR_ODDS))

    def _read(self, truth: object) -> Records:
        """The records, each at the point next to it on the outer side."""
        cells, last = super()._read(truth).cells(), self.lattice.last
        return cells.put_down(last) if self.side == "lower" else cells.put_up(last)

    def error(self, level: Fraction = LEVEL) -> ErrorEstimate:
        """The probability of the wrong side, at most."""
        far = Fraction(0) if level <= 1 - self.miss else Fraction(1)
        return ErrorEstimate("wrong side", Enclosure(self.miss, self.miss), {level: far}, attained=False)

    def reason(self) -> Reason:
        """The margin covers the largest error in records that any database allows."""
        return Reason(
            "a private quantile that aims so many records to one side that it seldom crosses, on any database",
            "docs/theory/quantile.md, Intervals",
        )

    def certificate(self) -> Certificate:
        """The same law for at most three records on at most three points, as an exact channel on all databases."""
        last = self.lattice.last
        return small_rank_certificate(
            self.name, self.epsilon, self.records, last, lambda small: _on(self.law, small, last)
        )


def _on(law: RankLaw, small: int, last: int) -> RankLaw:
    """The same law on fewer places."""
    place, most = law.anchor or (0, 0)
    return RankLaw(law.rule, law.rate, small, law.flips, (small if place == last else place, most))
