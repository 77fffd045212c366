"""Check a filter against a schema before any data is touched: names, kinds, and that arithmetic can't overflow."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime, time
from decimal import Decimal
from difflib import get_close_matches
from math import ceil, floor, log10
from typing import cast

from leastnoise.data.columns import Kind
from leastnoise.data.predicates.nodes import (
    MAX_LITERAL,
    OPERAND_REACH,
    RESULT_REACH,
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
from leastnoise.errors import BadFilter, UnknownColumn

__all__ = ["compares_whole", "kind_of", "typed"]

_ORDER = ("<", "<=", ">", ">=")


def typed(predicate: Predicate, columns: Mapping[str, Kind]) -> Predicate:
    """The same filter with the kind of every column filled in and every literal of the kind it is compared with."""
    match predicate:
        case ComparisonTest(operator, left, right):
            left, right = _typed(left, columns), _typed(right, columns)
            left, right = _fitted(left, right), _fitted(right, left)
            _same_kind(left, right, operator)
            return ComparisonTest(operator, left, right)
        case IsIn(term, values):
            term = _typed(term, columns)
            fitted = tuple(cast(Literal, _fitted(value, term)) for value in values)
            for value in fitted:
                _same_kind(term, value, "=")
            return IsIn(term, fitted)
        case TextTest(test, term, text):
            term = _typed(term, columns)
            if kind_of(term) is not Kind.TEXT:
                raise BadFilter(
                    f"{test} asks about text", given=_described(term), fix="compare other kinds with = < > or IN"
                )
            return TextTest(test, term, text)
        case IsMissing(term):
            return IsMissing(_typed(term, columns))
        case And(parts):
            return And(tuple(typed(part, columns) for part in parts))
        case Or(parts):
            return Or(tuple(typed(part, columns) for part in parts))
        case Not(part):
            return Not(typed(part, columns))
        case _:
            return cast(Constant, predicate)


def kind_of(term: Term) -> Kind:
    """The kind of a typed term; a literal that is no whole number is REAL."""
    match term:
        case Name(column, kind):
            if kind is None:
                raise BadFilter(
                    "the filter was not checked against the table yet", given=column, fix="call typed(columns) first"
                )
            return kind
        case Literal(value):
            return next(kind for types, kind in _LITERALS if isinstance(value, types))
        case Calculation():
            return Kind.REAL
        case Remainder():
            return Kind.INTEGER


_LITERALS: tuple[tuple[type, Kind], ...] = (
    (bool, Kind.BOOLEAN),
    (int, Kind.INTEGER),
    (Decimal, Kind.REAL),
    (str, Kind.TEXT),
    (datetime, Kind.TIMESTAMP),
    (date, Kind.DATE),
)


def compares_whole(left: Term, right: Term) -> bool:
    """Whether two numbers are compared as exact whole numbers (a literal may still be a fraction), or as doubles."""
    whole = [kind_of(term) is Kind.INTEGER for term in (left, right)]
    return all(whole) or any(
        mine and isinstance(other, Literal) for mine, other in zip(whole, (right, left), strict=True)
    )


def _typed(term: Term, columns: Mapping[str, Kind]) -> Term:
    match term:
        case Name(column):
            return Name(column, _known_kind(column, columns))
        case Calculation(operator, left, right):
            checked = Calculation(operator, _typed(left, columns), _typed(right, columns))
            _reach(checked)
            return checked
        case Remainder(inner, divisor):
            inner = _typed(inner, columns)
            if not isinstance(inner, Name) or kind_of(inner) is not Kind.INTEGER:
                raise BadFilter(
                    "a remainder is taken of a column of whole numbers",
                    given=_described(inner),
                    fix="write for example id % 10 = 3",
                )
            return Remainder(inner, divisor)
        case Literal():
            return term


def _known_kind(column: str, columns: Mapping[str, Kind]) -> Kind:
    if column not in columns:
        close = get_close_matches(column, columns, n=1, cutoff=0.0) if columns else []
        by_case = [name for name in columns if name.lower() == column.lower()]
        nearest = (by_case or close or ["…"])[0]
        raise UnknownColumn("the table has no such column", given=column, fix=f"did you mean {nearest}?")
    if columns[column] is Kind.OTHER:
        raise BadFilter(
            "this column's type can't be filtered on", given=column, fix="use a number, text, boolean or date column"
        )
    return columns[column]


def _fitted(term: Term, other: Term) -> Term:
    """A literal read as the kind of what it is compared with: text as a date, a date as midnight."""
    if not isinstance(term, Literal):
        return term
    value, kind = term.value, kind_of(other)
    if isinstance(value, str) and kind in (Kind.DATE, Kind.TIMESTAMP):
        try:
            value = date.fromisoformat(value) if kind is Kind.DATE else datetime.fromisoformat(value)
        except ValueError:
            raise BadFilter(
                f"{_described(other)} is compared with text that is no {kind.value}",
                given=value,
                fix="write '2024-01-31'" if kind is Kind.DATE else "write '2024-01-31 12:00:00'",
            ) from None
        if isinstance(value, datetime) and value.tzinfo is not None:
            raise BadFilter("a timestamp in a filter has no time zone", given=term.value, fix="write it in UTC")
    if kind is Kind.TIMESTAMP and isinstance(value, date) and not isinstance(value, datetime):
        value = datetime.combine(value, time())
    return Literal(value)


def _same_kind(left: Term, right: Term, operator: str) -> None:
    kinds = kind_of(left), kind_of(right)
    if not (kinds[0] is kinds[1] or (kinds[0].numeric and kinds[1].numeric)):
        raise BadFilter(
            "a filter compares values of one kind",
            given=f"{_described(left)} {operator} {_described(right)}",
            fix=_advice(kinds),
        )
    if kinds[0] is Kind.BOOLEAN and operator in _ORDER:
        raise BadFilter("booleans have no order", given=f"{_described(left)} {operator} …", fix="use = or !=")
    if kinds[0].numeric and compares_whole(left, right):
        for literal in (left, right):
            if isinstance(literal, Literal) and not -MAX_LITERAL < cast(Decimal, literal.value) < MAX_LITERAL:
                raise BadFilter(
                    "a number compared with whole numbers has at most 37 digits",
                    given=str(literal.value)[:60],
                    fix="use a smaller bound: every value lies within it",
                )


def _advice(kinds: tuple[Kind, Kind]) -> str:
    if Kind.TEXT in kinds:
        return (
            "quotes make text: write 18 for a number and '18' for text; a column of a CSV is text until its kind is "
            'declared: columns={"age": "integer"}'
        )
    if Kind.BOOLEAN in kinds:
        return "compare a boolean with TRUE or FALSE"
    return "write a literal of the column's kind: 18, 'text', DATE '2024-01-31', TIMESTAMP '2024-01-31 12:00:00'"


def _described(term: Term) -> str:
    if isinstance(term, Name):
        return f"{term.column} ({kind_of(term).value})"
    if isinstance(term, Literal):
        return f"{str(term.value)[:40]!r} ({kind_of(term).value})"
    return f"a calculation ({kind_of(term).value})"


def _reach(term: Term) -> tuple[int, int]:
    """Exponents (low, high): the value is zero or missing, or 10^low ≤ |value| ≤ 10^high. From the formula alone."""
    if isinstance(term, Calculation):
        (low, high), (other_low, other_high) = _reach(term.left), _reach(term.right)
        if term.operator in "+-":  # a difference of doubles is a multiple of the smaller one's last bit
            low, high = min(low, other_low) - 17, max(high, other_high) + 1
        elif term.operator == "*":
            low, high = low + other_low, high + other_high
        else:
            low, high = low - other_high, high - other_low
        low, high = low - 1, high + 1  # rounding
        if low < -RESULT_REACH or high > RESULT_REACH:
            raise BadFilter(
                "this calculation has so many steps that a double might overflow",
                fix="use fewer factors, at most eight columns multiplied or divided",
            )
        return low, high
    if not kind_of(term).numeric:
        raise BadFilter("only numbers can be calculated with", given=_described(term), fix="compare it as it is")
    if isinstance(term, Literal):
        size = abs(float(cast(Decimal, term.value)))
        exponents = (floor(log10(size)), ceil(log10(size))) if size else (0, 0)
        if exponents[0] < -OPERAND_REACH or exponents[1] > OPERAND_REACH:
            raise BadFilter(
                f"a number in a calculation lies between 1e-{OPERAND_REACH} and 1e{OPERAND_REACH}",
                given=str(term.value)[:60],
                fix="move it to the other side of the comparison",
            )
        return exponents
    return -OPERAND_REACH, OPERAND_REACH
