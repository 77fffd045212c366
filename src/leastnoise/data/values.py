"""A column's values beside public numbers: whole steps of a sum, and which of some thresholds a value reaches.

Everything is written so that no engine rounds where exactness is promised, and none overflows or fails on any row.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from math import ceil, floor, lcm

from leastnoise.data.columns import LARGEST_REAL, Column, Kind, SumOf
from leastnoise.data.dialect import Dialect, Fragment
from leastnoise.errors import BadParameter, NumberTooLarge, TooLarge
from leastnoise.model import MOST_ROWS, MOST_UNEVEN

__all__ = ["ReachedThresholds", "condition_value", "row_value", "total_type"]

_HALF = Fraction(1, 2)
_NARROW = 1 << 62
_WIDE = 10**37  # below it every engine's widest integers are exact
_SHORT = 18  # digits of a decimal in 64 bits
_DIGITS = 38  # of the widest decimals of DuckDB and Spark
_LONGEST = 10**4000  # beside a NUMERIC: Python writes them, and Postgres holds far more
_FEW = 16
_SURE = 1 << 48  # whole numbers below it leave a double five bits, so that a quotient is wrong by less than one
_MOST_DIGITS = 4000  # of a threshold beside a NUMERIC: Python writes them, and Postgres holds far more


def row_value(measure: SumOf, column: Column, dialect: Dialect, table: str) -> str:
    """The expression (q − centre/step)^power of one row; NULL where the value is missing.

    The steps q lie between those of the bounds, at most 2^62 in size, and so does q − centre/step (`SumOf`), so that
    64 bits do. A square is below 10^37/2^43; it is taken in 64 bits only where it is below 2^62.

    Raises:
        BadParameter: The step can't be written as a quotient of doubles, for a column of doubles.
        NumberTooLarge: Bounds beyond the doubles, or exact arithmetic that would need more than 38 digits.
    """
    value = f"{table}.{dialect.quote(column.name)}"
    if column.kind is Kind.BOOLEAN:
        yes, no = map(dialect.number, _worth(measure))
        return f"CASE WHEN {value} THEN {yes} WHEN NOT {value} THEN {no} END"
    if column.kind is Kind.REAL:
        steps = _real_steps(measure, column, value, dialect)
    elif dialect.limits(column) is None:
        steps = _numeric_steps(measure, column, value, dialect)
    else:
        steps = _lattice_steps(measure, column, value, dialect)
    centred = f"({steps} - {dialect.number(measure.offset)})"
    if measure.power == 2:
        centred = f"CAST({centred} AS {dialect.long if measure.largest < _NARROW else dialect.wide})"
        centred = f"({centred} * {centred})"
    return f"CASE WHEN NOT {dialect.missing(value, column)} THEN {centred} END"


def condition_value(measure: SumOf, condition: Fragment, dialect: Dialect) -> Fragment:
    """The same for a condition, which is 1 or 0 on every row."""
    yes, no = map(dialect.number, _worth(measure))
    return "CASE WHEN " + condition + f" THEN {yes} ELSE {no} END"


def _worth(measure: SumOf) -> tuple[int, int]:
    """What a row adds where the value is 1, and where it is 0: computed here, so that the engine computes nothing."""

    def worth(value: int) -> int:
        steps = floor(min(max(Fraction(value), measure.low), measure.high) / measure.step + _HALF)
        return int((steps - measure.offset) ** measure.power)

    return worth(1), worth(0)


def total_type(measure: SumOf, dialect: Dialect) -> str:
    """A type that holds the sum over any table."""
    return dialect.long if measure.largest * MOST_ROWS < _NARROW else dialect.wide


def _real_steps(measure: SumOf, column: Column, value: str, dialect: Dialect) -> str:
    """⌊x·d/n + ½⌋ in IEEE doubles for a step n/d; NaN and NULL give some number in range, to be dropped later.

    The value is clamped first. So |x·d| is at most half the largest double, which is checked here, and |x·d/n| at most
    2^62·(1 + 2^-51) < 2^63, since the bounds are at most 2^62 steps: nothing overflows. What is below a quarter step
    counts as zero at once, so that |x·d| ≥ n/4 elsewhere: nothing underflows, which Postgres would refuse.
    """
    largest = max(abs(measure.low), abs(measure.high))
    if 2 * largest * measure.step.denominator > LARGEST_REAL:
        raise NumberTooLarge(
            f"bounds and step of {column.name!r} leave the range of doubles",
            given=f"bounds {measure.low} .. {measure.high}, step {measure.step}",
            fix="narrow the bounds, or take a step with fewer digits",
        )
    least, most = (dialect.number(q) for q in measure.steps)
    if max(measure.step.numerator, measure.step.denominator) > LARGEST_REAL or any(
        Fraction(float(part)) != part for part in (measure.step.numerator, measure.step.denominator)
    ):
        raise BadParameter(
            "step must be a quotient of two numbers that doubles hold exactly, for a column of doubles",
            given=measure.step,
            fix="pass a step such as 0.01, 1/3 or 1000",
        )
    over, under = float(measure.step.denominator), float(measure.step.numerator)
    low, high, small = (dialect.number(float(x)) for x in (measure.low, measure.high, measure.step / 4))
    clamped = _clamped(value, low, high)
    seen = f"CASE WHEN {clamped} BETWEEN -{small} AND {small} THEN {dialect.number(0.0)} ELSE {clamped} END"
    scaled = f"({seen}) * {dialect.number(over)} / {dialect.number(under)} + {dialect.number(0.5)}"
    return _clamped(f"CAST(floor({scaled}) AS {dialect.long})", least, most)


def _lattice_steps(measure: SumOf, column: Column, value: str, dialect: Dialect) -> str:
    """Q = ⌊X/u + ½⌋ for values X/10^s of a type that holds least ≤ X ≤ most, and u = step·10^s = n/d.

    q reaches k from X = ⌈(k − ½)·u⌉ on. So the X with q strictly between the steps of the bounds are a run F … L, which
    may be empty. Beyond it q is that of a bound, by comparisons alone. Inside it, and for X clamped to it, q is
    ⌊(2d(X − F) + r)/2n⌋ + w, where 2dF + n = 2nw + r: all terms whole, none negative, and the quotient at most 2^63
    however coarse the lattice is beside the step.
    """
    least, most = measure.steps
    low, high = dialect.limits(column) or (0, 0)
    unit = measure.step * 10 ** (column.scale or 0)
    first, last = ceil((least + _HALF) * unit), ceil((most - _HALF) * unit) - 1
    tests = {f"{value} > ": (last, most), f"{value} < ": (first, least)}
    if least == most or last < low:
        return dialect.number(most)
    if first > high:
        return dialect.number(least)
    branches = "".join(
        f"WHEN {test}{dialect.exact(bar, column)} THEN {dialect.number(q)} "
        for test, (bar, q) in tests.items()
        if low <= bar <= high
    )
    first, last = max(first, low), min(last, high)
    inside = dialect.number(least) if first > last else _inner_steps(unit, first, last, column, value, dialect)
    return f"CASE {branches}ELSE {inside} END" if branches else inside


def _inner_steps(unit: Fraction, first: int, last: int, column: Column, value: str, dialect: Dialect) -> str:
    """⌊X/u + ½⌋ for X clamped to first … last."""
    over, under = unit.denominator, unit.numerator
    whole, rest = divmod(2 * over * first + under, 2 * under)
    if first == last:  # and no text holds `over`, which the terms below then do not bound
        return dialect.number(whole)
    largest = max(abs(first), abs(last))
    reach = max(2 * over * (last - first) + 2 * under, largest, abs(whole))
    clamped = _clamped(value, dialect.exact(first, column), dialect.exact(last, column))
    digits = max(len(str(largest)), column.scale or 0)
    if reach >= _WIDE or (column.scale and digits > _DIGITS - 3):
        raise NumberTooLarge(
            f"bounds and step of {column.name!r} need more than {_DIGITS} digits",
            given=f"a step of {unit} of the last digit",
            fix="narrow the bounds, or take a larger step or one with fewer digits",
        )
    if column.scale:
        clamped = _last_digits(clamped, digits, column.scale, dialect)
    if over == under == 1:
        return f"CAST({clamped} AS {dialect.long})"
    type_ = dialect.long if reach < _NARROW else dialect.wide
    shifted = f"(CAST({clamped} AS {type_}) - {dialect.number(first)}) * {dialect.number(2 * over)}"
    quotient = dialect.divide(f"{shifted} + {dialect.number(rest)}", dialect.number(2 * under))
    return f"(CAST({quotient} AS {dialect.long}) + {dialect.number(whole)})"


def _last_digits(decimal: str, digits: int, scale: int, dialect: Dialect) -> str:
    """A decimal of so many digits in all, times 10^scale, as one without a scale.

    Each round multiplies by 10^k and moves the point: the product has digits + k + 2 ≤ 38 of them, and the cast that
    follows drops zeros only. So neither DuckDB's overflow nor Spark's loss of precision can happen. DuckDB keeps the
    product of two decimals of 64 bits in 64 bits, so that a factor is wider than that where the product is.
    """
    width = digits if digits + scale + 1 <= _SHORT else max(digits, _SHORT + 1)
    moved = f"CAST({decimal} AS {dialect.decimal(width, scale)})"
    while scale:
        shift = min(scale, _DIGITS - 2 - width)
        scale -= shift
        factor = f"CAST({10**shift} AS {dialect.decimal(shift + 1, 0)})"
        moved = f"CAST({moved} * {factor} AS {dialect.decimal(width, scale)})"
    return moved


def _numeric_steps(measure: SumOf, column: Column, value: str, dialect: Dialect) -> str:
    """⌊x/step + ½⌋ for a NUMERIC of any scale, exact: all in NUMERIC, which the steps leave clamped to 64 bits."""
    low, high = floor(measure.low), ceil(measure.high)
    over, under = measure.step.denominator, measure.step.numerator
    whole, rest = divmod(2 * over * low + under, 2 * under)
    if max(over, under, abs(low), abs(high)) >= _LONGEST:
        raise NumberTooLarge(f"bounds or step of {column.name!r} have thousands of digits", fix="take fewer digits")
    number = dialect.exact_number
    shifted = f"({_clamped(value, number(low), number(high))} - {number(low)}) * {number(2 * over)} + {number(rest)}"
    steps = f"{dialect.divide(shifted, number(2 * under))} + {number(whole)}"
    return f"CAST({_clamped(steps, *(number(q) for q in measure.steps))} AS {dialect.long})"


def _clamped(value: str, low: str, high: str) -> str:
    return f"least(greatest({value}, {low}), {high})"


class ReachedThresholds:
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
            return ReachedThresholds(whole, self.column, self.value, self.dialect).count_reached()
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
