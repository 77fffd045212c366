"""What one privacy unit may add to an answer, and what is added up; neighbours differ by all rows of one unit."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import floor
from typing import TYPE_CHECKING

from leastnoise.errors import BadParameter, NumberTooLarge
from leastnoise.exact.parameters import read_integer, read_rational
from leastnoise.model.limits import MOST_GROUPS, MOST_ROWS, MOST_ROWS_PER_UNIT

if TYPE_CHECKING:
    from leastnoise.data.predicates import Predicate

__all__ = ["Contribution", "CountRows", "CountUnits", "Measure", "SumOf"]

_HALF = Fraction(1, 2)
_MOST_STEPS = 1 << 62


@dataclass(frozen=True)
class Contribution:
    """The contribution bounds that the engine enforces before anything is added up (docs/theory/contribution.md).

    Args:
        privacy_unit: The column that says to whom a row belongs; rows where it is missing belong to nobody and are
            dropped. None: every row is a unit of its own.
        groups_per_unit: A unit counts in at most so many groups; which ones is decided by a secret of the call.
        rows_per_unit: In each of them it counts as at most so many rows.

    Raises:
        BadParameter: A limit is not a whole number from 1 to `MOST_GROUPS` or `MOST_ROWS_PER_UNIT`.

    >>> Contribution("person", groups_per_unit=2).rows_per_unit
    1
    """

    privacy_unit: str | None
    groups_per_unit: int = 1
    rows_per_unit: int = 1

    def __post_init__(self) -> None:
        """Read the numbers."""
        for name, most in (("groups_per_unit", MOST_GROUPS), ("rows_per_unit", MOST_ROWS_PER_UNIT)):
            limit = read_integer(getattr(self, name), name, at_least=1, at_most=most)
            object.__setattr__(self, name, 1 if self.privacy_unit is None else limit)


@dataclass(frozen=True)
class CountRows:
    """Rows per group; a unit counts as min(its rows in the group, rows_per_unit)."""


@dataclass(frozen=True)
class CountUnits:
    """Units per group."""


@dataclass(frozen=True)
class SumOf:
    """Σ (q − centre/step)^power with q = ⌊clamp(x, low, high)/step + ½⌋, in whole numbers of any size.

    Missing values (NULL, NaN) add nothing; ±infinity counts as the bound. For a column of doubles the quotient and the
    sum with ½ are rounded as IEEE doubles, and q is clamped once more afterwards; for whole numbers and decimals they
    are exact. What one unit adds to one group lies between `R·lowest` and `R·highest` (and 0), R = rows_per_unit: the
    sum of its rows is clamped there, or, with `averaged`, a unit with n > R rows adds sum·R/n, rounded towards zero.

    A column of booleans, or a condition on a row, is 1 where it holds and 0 where it does not.

    Args:
        column: A numeric column, a column of booleans, or a condition.
        low: The public lower bound.
        high: The public upper bound.
        step: What one unit of the result is worth (to the power).
        power: 1 or 2.
        centre: A whole multiple of the step that values are measured from.
        averaged: Scale a unit with too many rows down instead of clamping its sum. Right where the sum is divided by a
            count (a mean): there the count is scaled down too.

    Raises:
        BadParameter: Bounds that do not increase, a step or centre that does not fit.
        NumberTooLarge: More than 2^62 steps, or a sum that could exceed 38 digits.

    >>> SumOf("age", Fraction(0), Fraction(100), Fraction(1, 2)).highest
    200
    """

    column: str | Predicate
    low: Fraction
    high: Fraction
    step: Fraction
    power: int = 1
    centre: Fraction = Fraction(0)
    averaged: bool = False

    def __post_init__(self) -> None:
        """Read the numbers."""
        for name in ("low", "high", "centre"):
            object.__setattr__(self, name, read_rational(getattr(self, name), name))
        object.__setattr__(self, "step", read_rational(self.step, "step", above=0))
        if self.low > self.high:
            raise BadParameter("bounds must increase", given=f"{self.low} .. {self.high}", fix="exchange them")
        if self.power not in (1, 2):
            raise BadParameter("power must be 1 or 2", given=self.power, fix="pass power=1 for a sum")
        if (self.centre / self.step).denominator != 1:
            raise BadParameter("centre must be a multiple of the step", given=self.centre, fix="round it to one")
        if max(*map(abs, self.steps), *(abs(q - self.offset) for q in self.steps)) > _MOST_STEPS:
            raise NumberTooLarge("the bounds are more than 2^62 steps", given=self.step, fix="pass a larger step")
        if self.largest * MOST_ROWS >= 10**37:
            raise NumberTooLarge("the sum could exceed 37 digits", given=self.step, fix="pass a larger step")

    @property
    def steps(self) -> tuple[int, int]:
        """The least and the largest q."""
        return floor(self.low / self.step + _HALF), floor(self.high / self.step + _HALF)

    @property
    def offset(self) -> int:
        """The centre in steps."""
        return int(self.centre / self.step)

    @property
    def lowest(self) -> int:
        """The least that one row adds."""
        least, most = (q - self.offset for q in self.steps)
        if self.power == 1:
            return least
        return 0 if least <= 0 <= most else min(least * least, most * most)

    @property
    def highest(self) -> int:
        """The most that one row adds."""
        return max(int((q - self.offset) ** self.power) for q in self.steps)

    @property
    def largest(self) -> int:
        """The most that one row changes a sum, up or down."""
        return max(abs(self.lowest), abs(self.highest))


Measure = CountRows | CountUnits | SumOf
