"""A column's values as whole steps, written so that no engine rounds, overflows or fails on any row."""

from __future__ import annotations

from fractions import Fraction
from math import ceil, floor

from leastnoise.data.columns import Column, Kind
from leastnoise.data.contribution import MOST_ROWS
from leastnoise.data.dialects import Dialect
from leastnoise.data.measures import SumOf
from leastnoise.errors import BadParameter, NumberTooLarge

__all__ = ["row_value", "total_type"]

_NARROW = 1 << 62
_LONGEST = (1 << 63) - 1
_DIGITS = 38


def row_value(measure: SumOf, column: Column, dialect: Dialect, table: str) -> str:
    """The expression (q − centre/step)^power of one row; NULL where the value is missing.

    Raises:
        BadParameter: The step can't be written as a quotient of doubles, for a column of doubles.
        NumberTooLarge: Exact arithmetic would need more than 38 digits.
    """
    value = f"{table}.{dialect.quote(column.name)}"
    steps = (
        _real_steps(measure, value, dialect)
        if column.kind is Kind.REAL
        else _exact_steps(measure, column, value, dialect)
    )
    least, most = (dialect.number(q) for q in measure.steps)
    centred = f"(least(greatest({steps}, {least}), {most}) - {dialect.number(measure.offset)})"
    if measure.power == 2:
        centred = f"CAST({centred} AS {dialect.long if measure.largest < _NARROW else dialect.wide})"
        centred = f"({centred} * {centred})"
    return f"CASE WHEN NOT {dialect.missing(value, column)} THEN {centred} END"


def total_type(measure: SumOf, dialect: Dialect) -> str:
    """A type that holds the sum over any table."""
    return dialect.long if measure.largest * MOST_ROWS < _NARROW else dialect.wide


def _real_steps(measure: SumOf, value: str, dialect: Dialect) -> str:
    """⌊x·d/n + ½⌋ in IEEE doubles for a step n/d; NaN and NULL give some number in range, to be dropped later.

    What is below a quarter step counts as zero at once: Postgres refuses products that underflow.
    """
    try:
        numbers = [float(x) for x in (measure.low, measure.high, measure.step / 4)]
        over, under = float(measure.step.denominator), float(measure.step.numerator)
    except OverflowError:
        over = under = 0.0
    if Fraction(over) != measure.step.denominator or Fraction(under) != measure.step.numerator:
        raise BadParameter(
            "step must be a quotient of two numbers that doubles hold exactly, for a column of doubles",
            given=measure.step,
            fix="pass a step such as 0.01, 1/3 or 1000",
        )
    low, high, small = (dialect.number(x) for x in numbers)
    clamped = _clamped(value, low, high)
    seen = f"CASE WHEN {clamped} BETWEEN -{small} AND {small} THEN {dialect.number(0.0)} ELSE {clamped} END"
    scaled = f"({seen}) * {dialect.number(over)} / {dialect.number(under)} + {dialect.number(0.5)}"
    return f"CAST(floor({scaled}) AS {dialect.long})"


def _exact_steps(measure: SumOf, column: Column, value: str, dialect: Dialect) -> str:
    """⌊x/step + ½⌋ = ⌊(2d(x − L) + r)/2n⌋ + s for x ≥ L and 2dL + n = 2ns + r: all terms whole, none negative.

    Decimals are counted in their last digit; Postgres computes with NUMERIC exactly and needs no such scale.
    """
    scale = 0 if dialect.name == "postgres" else column.scale or 0
    low, high, step = floor(measure.low * 10**scale), ceil(measure.high * 10**scale), measure.step * 10**scale
    if column.kind is Kind.INTEGER and not column.wide:
        low, high = (min(max(bound, -_LONGEST - 1), _LONGEST) for bound in (low, high))
    over, under = step.denominator, step.numerator
    whole, rest = divmod(2 * over * low + under, 2 * under)
    reach = max(2 * over * (high - low) + 2 * under, abs(low), abs(high), abs(whole))
    digits = max(len(str(max(abs(low), abs(high)))), scale)
    if max(len(str(reach)) + 1, digits + scale + 2) > _DIGITS:
        raise NumberTooLarge(
            f"bounds and step of {column.name!r} need more than {_DIGITS} digits",
            given=f"bounds {measure.low} .. {measure.high}, step {measure.step}",
            fix="narrow the bounds, or take a larger step or one with fewer digits",
        )
    if scale:
        limits = (f"CAST('{bound}e-{scale}' AS DECIMAL({_DIGITS}, {scale}))" for bound in (low, high))
        clamped = _clamped(f"CAST({value} AS DECIMAL({_DIGITS}, {scale}))", *limits)
        clamped = f"CAST({clamped} AS DECIMAL({digits}, {scale})) * CAST({10**scale} AS DECIMAL({scale + 1}, 0))"
    else:
        clamped = _clamped(value, dialect.number(low), dialect.number(high))
    fractional = column.kind is Kind.DECIMAL and dialect.name == "postgres"
    if over == under == 1 and not fractional:
        return f"CAST({clamped} AS {dialect.long})"
    type_ = dialect.long if reach < _NARROW and not fractional else dialect.wide
    shifted = f"(CAST({clamped} AS {type_}) - {dialect.number(low)}) * {2 * over} + {dialect.number(rest)}"
    return f"(CAST({dialect.divide(shifted, dialect.number(2 * under))} AS {dialect.long}) + {dialect.number(whole)})"


def _clamped(value: str, low: str, high: str) -> str:
    return f"least(greatest({value}, {low}), {high})"
