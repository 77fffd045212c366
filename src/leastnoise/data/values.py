"""A column's values as whole steps, written so that no engine rounds, overflows or fails on any row."""

from __future__ import annotations

from fractions import Fraction
from math import ceil, floor

from leastnoise.data.axes import LARGEST_REAL
from leastnoise.data.columns import Column, Kind
from leastnoise.data.contribution import MOST_ROWS
from leastnoise.data.dialects import Dialect
from leastnoise.data.measures import SumOf
from leastnoise.errors import BadParameter, NumberTooLarge

__all__ = ["row_value", "total_type"]

_HALF = Fraction(1, 2)
_NARROW = 1 << 62
_WIDE = 10**37  # below it every engine's widest integers are exact
_SHORT = 18  # digits of a decimal in 64 bits
_DIGITS = 38  # of the widest decimals of DuckDB and Spark
_LONGEST = 10**4000  # beside a NUMERIC: Python writes them, and Postgres holds far more


def row_value(measure: SumOf, column: Column, dialect: Dialect, table: str) -> str:
    """The expression (q − centre/step)^power of one row; NULL where the value is missing.

    The steps q lie between those of the bounds, at most 2^62 in size, and so does q − centre/step (`SumOf`), so that
    64 bits do. A square is below 10^37/2^43; it is taken in 64 bits only where it is below 2^62.

    Raises:
        BadParameter: The step can't be written as a quotient of doubles, for a column of doubles.
        NumberTooLarge: Bounds beyond the doubles, or exact arithmetic that would need more than 38 digits.
    """
    value = f"{table}.{dialect.quote(column.name)}"
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
        clamped = _last_digits(clamped, digits, column.scale)
    if over == under == 1:
        return f"CAST({clamped} AS {dialect.long})"
    type_ = dialect.long if reach < _NARROW else dialect.wide
    shifted = f"(CAST({clamped} AS {type_}) - {dialect.number(first)}) * {dialect.number(2 * over)}"
    quotient = dialect.divide(f"{shifted} + {dialect.number(rest)}", dialect.number(2 * under))
    return f"(CAST({quotient} AS {dialect.long}) + {dialect.number(whole)})"


def _last_digits(decimal: str, digits: int, scale: int) -> str:
    """A decimal of so many digits in all, times 10^scale, as one without a scale.

    Each round multiplies by 10^k and moves the point: the product has digits + k + 2 ≤ 38 of them, and the cast that
    follows drops zeros only. So neither DuckDB's overflow nor Spark's loss of precision can happen. DuckDB keeps the
    product of two decimals of 64 bits in 64 bits, so that a factor is wider than that where the product is.
    """
    width = digits if digits + scale + 1 <= _SHORT else max(digits, _SHORT + 1)
    moved = f"CAST({decimal} AS DECIMAL({width}, {scale}))"
    while scale:
        shift = min(scale, _DIGITS - 2 - width)
        scale -= shift
        moved = f"CAST({moved} * CAST({10**shift} AS DECIMAL({shift + 1}, 0)) AS DECIMAL({width}, {scale}))"
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
