"""What a filter means, in plain Python: the reference that every engine's answer must equal."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any, cast

from leastnoise.data.columns import Kind
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

__all__ = ["holds"]

_COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_TEXT: dict[str, Callable[[str, str], bool]] = {
    "starts_with": str.startswith,
    "ends_with": str.endswith,
    "contains": operator.contains,
}


def holds(predicate: Predicate, row: Mapping[str, object]) -> bool:
    """Whether the row satisfies the (typed) filter."""
    match predicate:
        case ComparisonTest(symbol, left, right):
            return _compare(symbol, left, right, row)
        case IsIn(term, values):
            return any(_compare("=", term, value, row) for value in values)
        case TextTest(test, term, text):
            value = _value(term, row)
            return value is not None and _TEXT[test](cast(str, value), text)
        case IsMissing(term):
            return _value(term, row) is None
        case And(parts):
            return all(holds(part, row) for part in parts)
        case Or(parts):
            return any(holds(part, row) for part in parts)
        case Not(part):
            return not holds(part, row)
        case _:
            return cast(Constant, predicate).value


def _compare(symbol: str, left: Term, right: Term, row: Mapping[str, object]) -> bool:
    in_doubles = kind_of(left).numeric and not compares_whole(left, right)
    values = [_double(term, row) if in_doubles else _value(term, row) for term in (left, right)]
    return None not in values and _COMPARE[symbol](*values)


def _value(term: Term, row: Mapping[str, object]) -> object:
    """The value of a term, None where it is missing; whole numbers, text, booleans, dates and times as they are."""
    match term:
        case Literal(value):
            return value
        case Remainder(inner, divisor):
            whole = cast("int | None", _value(inner, row))
            return None if whole is None else whole % divisor
        case Name(column) if kind_of(term) in (Kind.INTEGER, Kind.TEXT, Kind.BOOLEAN, Kind.DATE):
            return row[column]
        case Name(column) if kind_of(term) is Kind.TIMESTAMP:
            moment = cast("datetime | None", row[column])
            return moment if moment is None or moment.tzinfo is None else moment.astimezone(UTC).replace(tzinfo=None)
    return _double(term, row)


def _double(term: Term, row: Mapping[str, object]) -> float | None:
    """The value of a number as a double, None where it is missing."""
    match term:
        case Calculation(symbol, left, right):
            return _calculate(symbol, _operand(left, row), _operand(right, row))
        case Literal(value):
            return float(cast(Decimal, value))
        case Remainder():
            whole = cast("int | None", _value(term, row))
            return None if whole is None else float(whole)
        case Name(column):
            number = cast("int | float | Decimal | None", row[column])
    if number is None or number != number:
        return None
    if not isinstance(number, Decimal):
        return float(number)
    size = number.copy_abs()
    if size > Decimal(f"1e{DECIMAL_REACH}"):
        return math.copysign(float(f"1e{DECIMAL_REACH}"), number)
    return 0.0 if size < Decimal(f"1e-{DECIMAL_REACH}") else float(number)


def _operand(term: Term, row: Mapping[str, object]) -> float | None:
    """A number as it enters a calculation: a column's value is first brought into ±[10^-30, 10^30] or to zero."""
    number = _double(term, row)
    if number is None or not isinstance(term, Name):
        return number
    if abs(number) > float(f"1e{OPERAND_REACH}"):
        return math.copysign(float(f"1e{OPERAND_REACH}"), number)
    return 0.0 if abs(number) < float(f"1e-{OPERAND_REACH}") else number


def _calculate(symbol: str, left: float | None, right: float | None) -> float | None:
    if left is None or right is None or (symbol == "/" and right == 0):
        return None
    compute: Callable[[float, float], float] = {
        "+": operator.add,
        "-": operator.sub,
        "*": operator.mul,
        "/": operator.truediv,
    }[symbol]
    return compute(left, right)
