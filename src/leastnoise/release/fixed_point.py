"""Numbers as whole steps between public bounds: what a sum adds up, without rounding on the way."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import floor, log10
from typing import Any

from leastnoise.data import Kind, Table
from leastnoise.errors import BadParameter, TooLarge
from leastnoise.exact.parameters import NumberLike, read_rational
from leastnoise.release.axes import require_column

__all__ = [
    "Bounds",
    "FixedPoint",
    "decimal_step",
    "is_whole",
    "numeric_column",
    "read_bounds",
    "read_fixed_point",
]

_MOST_STEPS = 1 << 52
_LARGEST = 1 << 500
_FINEST = 6  # decimal digits of the width, where no step is given
Bounds = tuple[NumberLike, NumberLike] | None


@dataclass(frozen=True)
class FixedPoint:
    """x counts as q = ⌊clamp(x, low, high)/step + ½⌋ steps; a row is thereby moved by at most half a step.

    >>> FixedPoint(Fraction(0), Fraction(1), Fraction(1, 4)).steps
    (0, 4)
    """

    low: Fraction
    high: Fraction
    step: Fraction

    @property
    def steps(self) -> tuple[int, int]:
        """The least and the largest q."""
        return floor(self.low / self.step + Fraction(1, 2)), floor(self.high / self.step + Fraction(1, 2))

    @property
    def centre(self) -> int:
        """The q in the middle, rounded down."""
        return sum(self.steps) // 2

    @property
    def largest(self) -> int:
        """The largest |q|."""
        return max(abs(q) for q in self.steps)

    def parameters(self) -> dict[str, Any]:
        """As JSON."""
        return {"low": str(self.low), "high": str(self.high), "step": str(self.step)}


def numeric_column(table: Table, column: str) -> str:
    """A column that can be summed and ranked."""
    require_column(table, column)
    if not table.columns[column].numeric:
        numeric = [name for name, kind in table.columns.items() if kind.numeric]
        other = f"choose one of {', '.join(numeric[:8])}" if numeric else "count instead"
        raise BadParameter("this column holds no numbers", given=column, fix=table.hints.get(column, other))
    return column


def read_bounds(column: str, bounds: Bounds) -> tuple[Fraction, Fraction]:
    """Public bounds of a column.

    Raises:
        BadParameter: They are missing, no pair, in the wrong order, or absurdly far or close.
    """
    if bounds is None:
        raise BadParameter(
            f"bounds of {column!r} are missing, and without them one row could change the answer without limit",
            fix=f"pass public ones, not taken from the data: bounds=(0, 100) for {column!r}",
        )
    try:
        first, last = bounds
    except (TypeError, ValueError):
        raise BadParameter("bounds must be a pair", given=bounds, fix="pass bounds=(0, 100)") from None
    low, high = read_rational(first, "bounds"), read_rational(last, "bounds")
    if low >= high:
        raise BadParameter("bounds must increase", given=bounds, fix="pass bounds=(0, 100)")
    if max(abs(low), abs(high)) > _LARGEST or (high - low) * _LARGEST < 1:
        raise BadParameter("bounds must lie within ±2^500 and 2^-500 apart", given=bounds, fix="use another unit")
    return low, high


def decimal_step(width: Fraction, digits: int) -> Fraction:
    """A power of ten that divides the width into 10^digits parts or a little more.

    >>> decimal_step(Fraction(500), 3)
    Fraction(1, 10)
    """
    return Fraction(10) ** (floor(log10(width)) - digits)


def is_whole(table: Table, column: str, low: Fraction, high: Fraction) -> bool:
    """Whether values between the bounds are whole numbers."""
    return table.columns[column] is Kind.INTEGER and low.denominator == high.denominator == 1


def read_fixed_point(table: Table, column: str, bounds: Bounds, step: NumberLike | None) -> FixedPoint:
    """Read public bounds and a step: 1 for whole numbers, else a power of ten that is a millionth of the width or less.

    Raises:
        BadParameter: The bounds are missing or in the wrong order.
        TooLarge: The step is too fine.
    """
    low, high = read_bounds(column, bounds)
    if step is not None:
        stride = read_rational(step, "step", above=0, at_most=high - low)
    else:
        stride = Fraction(1) if is_whole(table, column, low, high) else decimal_step(high - low, _FINEST)
    if max(abs(low), abs(high)) / stride > _MOST_STEPS:
        raise TooLarge("step divides the bounds into more than 2^52 parts", given=stride, fix="pass a larger step")
    return FixedPoint(low, high, stride)
