"""How many of some public thresholds a value reaches: by arithmetic where they are evenly spaced, else by bisection."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from math import ceil, floor, lcm

from leastnoise.data.axes import LARGEST_REAL
from leastnoise.data.columns import Column, Kind
from leastnoise.data.dialects import Dialect
from leastnoise.errors import BadParameter, NumberTooLarge, TooLarge
from leastnoise.model.limits import MOST_UNEVEN

__all__ = ["Thresholds"]

_FEW = 16
_SURE = 1 << 48  # whole numbers below it leave a double five bits, so that a quotient is wrong by less than one
_MOST_DIGITS = 4000  # of a threshold beside a NUMERIC: Python writes them, and Postgres holds far more


class Thresholds:
    """Increasing public numbers beside a column; a double is compared with the doubles nearest to them, others exactly.

    A threshold beyond everything that the column's type holds is reached by all values or by none, and is compared with
    none: no text holds a literal that its type can't.

    Args:
        numbers: The thresholds.
        column: The column.
        value: The expression of its plain form.
        dialect: The engine's words.

    Raises:
        BadParameter: Two thresholds are the same double, for a column of doubles.
        NumberTooLarge: A threshold is beyond the doubles, for a column of doubles, or has thousands of digits.
    """

    def __init__(self, numbers: Sequence[Fraction], column: Column, value: str, dialect: Dialect) -> None:
        self.numbers, self.column, self.value, self.dialect = tuple(numbers), column, value, dialect
        real = column.kind is Kind.REAL
        largest = max((max(abs(x.numerator), x.denominator) for x in self.numbers), default=0)
        if largest >= 10**_MOST_DIGITS or (real and any(abs(x) > LARGEST_REAL for x in self.numbers)):
            raise NumberTooLarge(f"an edge for {column.name!r} is too large", fix="take edges near the column's values")
        if real and any(float(low) == float(high) for low, high in pairwise(self.numbers)):
            raise BadParameter(f"two edges for {column.name!r} are the same double", fix="take edges further apart")

    def reached(self, number: int) -> str:
        """The test x ≥ threshold, true or false where x is not missing."""
        return self._compared(">=", self.numbers[number])

    def at_most(self, number: int) -> str:
        """The test x ≤ threshold, true or false where x is not missing."""
        return self._compared("<=", self.numbers[number])

    def count_reached(self) -> str:
        """How many thresholds are ≤ x, as a 64 bit integer; some number in range where x is missing."""
        whole = [Fraction(ceil(x)) for x in self.numbers]
        if self.column.kind is Kind.INTEGER and whole != list(self.numbers):  # x ≥ e is x ≥ ⌈e⌉, which may be even
            return Thresholds(whole, self.column, self.value, self.dialect).count_reached()
        if len(self.numbers) > _FEW and self.column.kind is not Kind.DECIMAL and (spacing := self._spacing()):
            return self._computed(*spacing)
        if len(self.numbers) > MOST_UNEVEN:
            decimal = self.column.kind is Kind.DECIMAL
            why = "beside a decimal column" if decimal else "that are not evenly spaced"
            raise TooLarge(
                f"there may be at most {MOST_UNEVEN} edges or points for {self.column.name!r} {why}",
                given=len(self.numbers),
                fix="take fewer" if decimal else "space them evenly, or take fewer",
            )
        return self._searched(0, len(self.numbers))

    def _compared(self, symbol: str, number: Fraction) -> str:
        """X ≥ e as x ≥ ⌈e⌉ and x ≤ e as x ≤ ⌊e⌋ on the lattice of the column's values.

        A NUMERIC of any scale is brought next to e first: times the denominator, the largest would overflow.
        """
        if self.column.kind is Kind.REAL:
            return f"{self.value} {symbol} {self.dialect.number(float(number))}"
        limits = self.dialect.limits(self.column)
        if limits is None:
            near = ceil(number) - 1, floor(number) + 1, number.numerator, number.denominator
            low, high, bar, times = map(self.dialect.exact_number, near)
            return f"least(greatest({self.value}, {low}), {high}) * {times} {symbol} {bar}"
        scaled = number * 10 ** (self.column.scale or 0)
        digits = ceil(scaled) if symbol == ">=" else floor(scaled)
        if limits[0] <= digits <= limits[1]:
            return f"{self.value} {symbol} {self.dialect.exact(digits, self.column)}"
        return "TRUE" if (symbol == ">=") == (digits < limits[0]) else "FALSE"

    def _searched(self, low: int, high: int) -> str:
        if low == high:
            return self.dialect.number(low)
        middle = (low + high) // 2
        upper, lower = self._searched(middle + 1, high), self._searched(low, middle)
        return f"CASE WHEN {self.reached(middle)} THEN {upper} ELSE {lower} END"

    def _spacing(self) -> tuple[int, int, int] | None:
        """(first, stride, denominator) of thresholds (first + stride·i)/denominator; None where they are not such."""
        step = self.numbers[1] - self.numbers[0]
        if step == 0:  # two that are the same for whole numbers
            return None
        denominator = lcm(self.numbers[0].denominator, step.denominator)
        first, stride = int(self.numbers[0] * denominator), int(step * denominator)
        if max(abs(first) + stride * (len(self.numbers) + 1), denominator) >= _SURE:
            return None
        even = all(x * denominator == first + stride * i for i, x in enumerate(self.numbers))
        return (first, stride, denominator) if even else None

    def _computed(self, first: int, stride: int, denominator: int) -> str:
        """A guess g = ⌊(x − t₀)/w⌋ in doubles, which is wrong by at most one, plus [x ≥ t(g)] + [x ≥ t(g+1)].

        The threshold t(i) = (first + stride·i)/denominator is rounded once, so it is the double nearest to it.
        Differences below a quarter of the width count as a quarter: Postgres refuses quotients that underflow.
        The value is brought between the thresholds first, so that every number here stays below 2^49.
        """
        real, number = self.dialect.real, self.dialect.number
        start, width = float(self.numbers[0]), stride / denominator
        limits = (number(start - width), number(float(self.numbers[-1]) + width))
        if self.column.kind is Kind.INTEGER:
            limits = (number(first - stride), number(first + stride * len(self.numbers)))
        near = f"CAST(least(greatest({self.value}, {limits[0]}), {limits[1]}) AS {real})"
        steps = f"greatest({near} - {number(start)}, {number(width / 4)}) * {number(float(denominator))}"
        floored = f"CAST(floor({steps} / {number(float(stride))}) AS {self.dialect.long})"
        guess = f"least({floored}, {number(len(self.numbers) - 2)})"

        def reached(place: str) -> str:
            edge = f"CAST({number(first)} + {number(stride)} * ({place}) AS {real}) / {number(float(denominator))}"
            return f"CASE WHEN {near} >= {edge} THEN {number(1)} ELSE {number(0)} END"

        return f"({guess} + {reached(guess)} + {reached(f'{guess} + 1')})"
