"""A filter as SQL: every value bound, every test TRUE or FALSE, and nothing that an engine could fail on.

The text is written over the *plain form* of the columns (`leastnoise.data.columns`). It uses comparisons, IN, CASE,
NULLIF, COALESCE, casts that widen, arithmetic on doubles inside a safe range, and three text functions per engine.
"""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal
from math import ceil, floor
from typing import cast

from leastnoise.data.columns import Kind
from leastnoise.data.dialect import Dialect, Fragment, bound, join, sql
from leastnoise.data.predicates.nodes import (
    DECIMAL_REACH,
    OPERAND_REACH,
    And,
    Calculation,
    ComparisonTest,
    Constant,
    IsIn,
    IsMissing,
    Literal,
    Name,
    Not,
    Or,
    Predicate,
    Remainder,
    Term,
    TextTest,
)
from leastnoise.data.predicates.typecheck import compares_whole, kind_of

__all__ = ["to_sql"]

_MIRROR = {"=": "=", "!=": "!=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}


def to_sql(predicate: Predicate, dialect: Dialect) -> Fragment:
    """The (typed) filter in one engine's words, in parentheses or a function call so that it can stand anywhere."""
    match predicate:
        case ComparisonTest(symbol, left, right):
            return _comparison(symbol, left, right, dialect)
        case IsIn(term, values):
            return _membership(term, values, dialect)
        case TextTest(test, term, text):
            return _surely(dialect.text_test(test, _value(term, dialect), text))
        case IsMissing(term):
            return "(" + _value(term, dialect) + " IS NULL)"
        case And(parts):
            return "(" + join(" AND ", [to_sql(part, dialect) for part in parts]) + ")"
        case Or(parts):
            return "(" + join(" OR ", [to_sql(part, dialect) for part in parts]) + ")"
        case Not(part):
            return "(NOT " + to_sql(part, dialect) + ")"
        case _:
            return sql("TRUE" if cast(Constant, predicate).value else "FALSE")


def _surely(test: Fragment) -> Fragment:
    """A test that is false where the engine says NULL."""
    return "COALESCE(" + test + ", FALSE)"


def _comparison(symbol: str, left: Term, right: Term, dialect: Dialect) -> Fragment:
    if not kind_of(left).numeric:
        return _surely(_value(left, dialect) + f" {symbol} " + _value(right, dialect))
    if not compares_whole(left, right):
        return _surely(_double(left, dialect) + f" {symbol} " + _double(right, dialect))
    if isinstance(left, Literal):
        left, symbol, right = right, _MIRROR[symbol], left
    if isinstance(right, Literal) and isinstance(right.value, Decimal):
        return _against_fraction(symbol, left, right.value, dialect)
    return _surely(_value(left, dialect) + f" {symbol} " + _value(right, dialect))


def _against_fraction(symbol: str, term: Term, fraction: Decimal, dialect: Dialect) -> Fragment:
    """A whole number against a number that is none: x < 2.5 is x <= 2, and x = 2.5 never holds."""
    if symbol == "=":
        return sql("FALSE")
    if symbol == "!=":
        return "(" + _value(term, dialect) + " IS NOT NULL)"
    below = symbol in ("<", "<=")
    nearest = Literal(floor(fraction) if below else ceil(fraction))
    return _surely(_value(term, dialect) + (" <= " if below else " >= ") + _value(nearest, dialect))


def _membership(term: Term, values: tuple[Literal, ...], dialect: Dialect) -> Fragment:
    if not kind_of(term).numeric:
        return _among(_value(term, dialect), [_value(value, dialect) for value in values])
    if kind_of(term) is Kind.INTEGER:
        whole = [value for value in values if not isinstance(value.value, Decimal)]
        return _among(_value(term, dialect), [_value(value, dialect) for value in whole]) if whole else sql("FALSE")
    # Adding zero makes -0.0 the same as 0.0 also for an engine that looks values up by their bits.
    return _among("(" + _double(term, dialect) + " + 0)", [_double(value, dialect) for value in values])


def _among(value: Fragment, values: list[Fragment]) -> Fragment:
    return _surely(value + " IN (" + join(", ", values) + ")")


def _value(term: Term, dialect: Dialect) -> Fragment:
    """A term in its own kind, NULL where it is missing; numbers that are not whole as doubles."""
    match term:
        case Literal(value):
            return _literal(value, dialect)
        case Remainder(inner, divisor):
            column = _value(inner, dialect)
            return f"mod({divisor} + mod(" + column + f", {divisor}), {divisor})"
        case Name(column) if kind_of(term) not in (Kind.REAL, Kind.DECIMAL):
            return sql(dialect.quote(column))
    return _double(term, dialect)


def _literal(value: object, dialect: Dialect) -> Fragment:
    match value:
        case bool():
            return sql("TRUE" if value else "FALSE")
        case int() if abs(value) < 2**63:
            return _cast(value, dialect.long)
        case int():
            return _cast(str(value), dialect.wide)
        case Decimal():
            return _cast(float(value), dialect.real)
        case datetime():
            return _cast(value.isoformat(" "), dialect.timestamp)
        case date():
            return _cast(value.isoformat(), "DATE")
        case _:
            return _cast(value, dialect.text)


def _cast(value: object, to: str) -> Fragment:
    return "CAST(" + bound(value) + f" AS {to})"


def _double(term: Term, dialect: Dialect) -> Fragment:
    """A number as a double, NULL where it is missing."""
    match term:
        case Literal(value):
            return _cast(float(cast(Decimal, value)), dialect.real)
        case Remainder():
            return "CAST(" + _value(term, dialect) + f" AS {dialect.real})"
        case Calculation(symbol, left, right):
            divisor = _operand(right, dialect)
            divisor = "NULLIF(" + divisor + ", 0)" if symbol == "/" else divisor
            return "(" + _operand(left, dialect) + f" {symbol} " + divisor + ")"
        case Name(column):
            name = dialect.quote(column)
    as_double = f"CAST({name} AS {dialect.real})"
    if kind_of(term) is Kind.INTEGER or (kind_of(term) is Kind.DECIMAL and not dialect.any_decimal):
        return sql(as_double)
    missing = f"WHEN {dialect.not_a_number(name)} THEN NULL"
    if kind_of(term) is Kind.REAL:
        return sql(f"CASE {missing} ELSE {as_double} END")
    # Decimals of any size reach further than doubles, and the cast would fail there.
    most, least = f"1e{DECIMAL_REACH}", f"1e-{DECIMAL_REACH}"
    return sql(
        f"CASE {missing} WHEN {name} > {most} THEN {most} WHEN {name} < -{most} THEN -{most} "
        f"WHEN abs({name}) < {least} THEN 0 ELSE {as_double} END"
    )


def _operand(term: Term, dialect: Dialect) -> Fragment:
    """A number as it enters a calculation: a column's value is first brought into ±[10^-30, 10^30] or to zero."""
    number = _double(term, dialect)
    if not isinstance(term, Name):
        return number
    most, least = dialect.number(10.0**OPERAND_REACH), dialect.number(10.0**-OPERAND_REACH)
    return (
        "(CASE WHEN "
        + number
        + f" > {most} THEN {most} WHEN "
        + number
        + f" < -{most} THEN -{most} WHEN abs("
        + number
        + f") < {least} THEN 0 ELSE "
        + number
        + " END)"
    )
