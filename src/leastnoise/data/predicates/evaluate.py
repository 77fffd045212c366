"""What a filter or an expression means, in plain Python: the reference that every engine's answer must equal."""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Any, cast

from leastnoise.data.columns import Kind
from leastnoise.data.predicates.expressions import Case, Cast, DatePart, Function, Truncated, Truth
from leastnoise.data.predicates.functions import FUNCTIONS, rounded
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
from leastnoise.data.predicates.typecheck import compares_whole, is_exact, kind_of, type_of

__all__ = ["DATE_TEXT", "REAL_TEXT", "WHOLE_TEXT", "holds", "value_of"]

RowValues = Mapping[str, object]

WHOLE_TEXT = "[+-]?[0-9]{1,15}"
"""Text that is a whole number, as a regular expression that all engines read in the same way; and so on."""
REAL_TEXT = r"[+-]?[0-9]{1,15}(\.[0-9]{1,15})?([eE][+-]?[0-9]{1,2})?"
_LEAP = "([0-9][0-9](0[48]|[2468][048]|[13579][26])|(0[48]|[2468][048]|[13579][26])00)"
DATE_TEXT = (
    f"((000[1-9]|00[1-9][0-9]|0[1-9][0-9][0-9]|[1-9][0-9][0-9][0-9])-((0[1-9]|1[0-2])-(0[1-9]|1[0-9]|2[0-8])"
    f"|(0[13-9]|1[0-2])-(29|30)|(0[13578]|1[02])-31)|{_LEAP}-02-29)"
)
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
_PARTS: dict[str, Callable[[Any], int]] = {
    "quarter": lambda moment: (moment.month + 2) // 3,
    "week": lambda moment: moment.isocalendar().week,
    "weekday": lambda moment: moment.isoweekday(),
}
_FIRST_DAY: dict[str, Callable[[date], date]] = {
    "day": lambda day: day,
    "week": lambda day: day - timedelta(days=day.weekday()),
    "month": lambda day: day.replace(day=1),
    "quarter": lambda day: day.replace(month=(day.month - 1) // 3 * 3 + 1, day=1),
    "year": lambda day: day.replace(month=1, day=1),
}


def holds(predicate: Predicate, row: RowValues) -> bool:
    """Whether the row satisfies the (typed) filter."""
    match predicate:
        case ComparisonTest(symbol, left, right):
            return _compare(symbol, left, right, row)
        case IsIn(term, values):
            return any(_compare("=", term, value, row) for value in values)
        case TextTest(test, term, text):
            value = value_of(term, row)
            return value is not None and _TEXT[test](cast(str, value), text)
        case IsMissing(term):
            return value_of(term, row) is None
        case And(parts):
            return all(holds(part, row) for part in parts)
        case Or(parts):
            return any(holds(part, row) for part in parts)
        case Not(part):
            return not holds(part, row)
        case _:
            return cast(Constant, predicate).value


def value_of(term: Term, row: RowValues) -> object:
    """The value of a (typed) term, None where it is missing; numbers that are not whole as doubles."""
    kind = kind_of(term)
    if kind in (Kind.REAL, Kind.DECIMAL):
        return _double(term, row)
    match term:
        case Literal(value):
            return value
        case Name(column):
            return _plain(row[column])
        case Remainder(inner, divisor):
            whole = cast("int | None", value_of(inner, row))
            return None if whole is None else whole % divisor
        case Calculation(symbol, left, right):
            return _calculate(symbol, value_of(left, row), value_of(right, row))
        case DatePart(part, inner):
            moment = value_of(inner, row)
            return None if moment is None else _PARTS.get(part, operator.attrgetter(part))(moment)
        case Truncated(unit, inner):
            moment = value_of(inner, row)
            return None if moment is None else _FIRST_DAY[unit](_day(moment))
        case Truth(condition):
            return holds(condition, row)
        case Cast(inner, to):
            return _cast(inner, to, row)
    return _chosen(term, row, value_of)


def _plain(value: object) -> object:
    """A column's value; times with a zone are told in UTC."""
    if isinstance(value, datetime) and value.tzinfo is not None:
        return value.astimezone(UTC).replace(tzinfo=None)
    return value


def _day(moment: object) -> date:
    return moment.date() if isinstance(moment, datetime) else cast(date, moment)


def _chosen(term: Term, row: RowValues, read: Callable[[Term, RowValues], Any]) -> Any:
    """CASE and functions, of values that `read` reads in the kind of the result."""
    if isinstance(term, Case):
        for condition, result in zip(term.conditions, term.results, strict=True):
            if holds(condition, row):
                return read(result, row)
        return None if term.otherwise is None else read(term.otherwise, row)
    name, arguments = cast(Function, term).name, cast(Function, term).arguments
    if name == "nullif":
        return None if _compare("=", arguments[0], arguments[1], row) else read(arguments[0], row)
    if name in ("floor", "ceil", "round"):
        if kind_of(arguments[0]) is Kind.INTEGER:
            return read(arguments[0], row)
        number = _double(arguments[0], row)
        return None if number is None else rounded(name, number)
    values = [read(argument, row) for argument in arguments]
    there = [value for value in values if value is not None]
    if name == "coalesce":
        return next(iter(there), None)
    if name in ("least", "greatest"):
        return None if not there else min(there) if name == "least" else max(there)
    if len(there) < len(values):
        return None
    if name == "clamp":
        value, low, high = there
        return min(max(value, low), high)
    return cast(Callable[..., Any], FUNCTIONS[name].compute)(*there)


def _cast(inner: Term, to: Kind, row: RowValues) -> object:
    """A cast to all kinds but REAL."""
    value, kind = value_of(inner, row), kind_of(inner)
    if value is None or kind is to:
        return value
    if kind is Kind.TEXT:
        shape, read = {
            Kind.INTEGER: (WHOLE_TEXT, int),
            Kind.DATE: (DATE_TEXT, date.fromisoformat),
        }[to]
        return cast(Callable[[str], object], read)(str(value)) if re.fullmatch(shape, str(value)) else None
    match to:
        case Kind.INTEGER:
            return int(value) if isinstance(value, bool) else rounded("round", cast(float, value))
        case Kind.TEXT:
            if isinstance(value, date):
                return value.isoformat()
            return ("true" if value else "false") if isinstance(value, bool) else str(value)
        case Kind.DATE:
            return _day(value)
    return datetime.combine(cast(date, value), time())


def _compare(symbol: str, left: Term, right: Term, row: RowValues) -> bool:
    in_doubles = kind_of(left).numeric and not compares_whole(left, right)
    read = _double if in_doubles else value_of
    exact = not in_doubles  # a literal may then be a fraction
    values = [term.value if exact and isinstance(term, Literal) else read(term, row) for term in (left, right)]
    return None not in values and _COMPARE[symbol](*values)


def _double(term: Term, row: RowValues) -> float | None:
    """The value of a number as a double, None where it is missing."""
    if kind_of(term) is Kind.INTEGER and not isinstance(term, Literal):
        whole = cast("int | None", value_of(term, row))
        return None if whole is None else float(whole)
    match term:
        case Calculation(symbol, left, right):
            return cast("float | None", _calculate(symbol, _operand(left, row), _operand(right, row)))
        case Literal(value):
            return float(cast(Decimal, value))
        case Cast(inner):
            if kind_of(inner) is not Kind.TEXT:
                return _double(inner, row)
            text = value_of(inner, row)
            return float(str(text)) if text is not None and re.fullmatch(REAL_TEXT, str(text)) else None
        case Name(column):
            return _nearest(cast("float | Decimal | None", row[column]))
    return cast("float | None", _chosen(term, row, _double))


def _nearest(number: float | Decimal | None) -> float | None:
    if number is None or number != number:
        return None
    if not isinstance(number, Decimal):
        return float(number)
    size = number.copy_abs()
    if size > Decimal(f"1e{DECIMAL_REACH}"):
        return math.copysign(float(f"1e{DECIMAL_REACH}"), number)
    return 0.0 if size < Decimal(f"1e-{DECIMAL_REACH}") else float(number)


def _operand(term: Term, row: RowValues) -> float | None:
    """A number as it enters a calculation: a column's value is first brought into ±[10^-30, 10^30] or to zero."""
    if is_exact(type_of(term).limits) or isinstance(term, Literal | Calculation):
        return _double(term, row)
    if isinstance(term, Case | Function):
        return cast("float | None", _chosen(term, row, _operand))
    if isinstance(term, Cast) and kind_of(term.term) is not Kind.TEXT:
        return _operand(term.term, row)
    number = _double(term, row)
    if number is None:
        return None
    if abs(number) > float(f"1e{OPERAND_REACH}"):
        return math.copysign(float(f"1e{OPERAND_REACH}"), number)
    return 0.0 if abs(number) < float(f"1e-{OPERAND_REACH}") else number


def _calculate(symbol: str, left: Any, right: Any) -> Any:
    if left is None or right is None or (symbol == "/" and right == 0):
        return None
    compute: Callable[[Any, Any], Any] = {
        "+": operator.add,
        "-": operator.sub,
        "*": operator.mul,
        "/": operator.truediv,
    }[symbol]
    return compute(left, right)
