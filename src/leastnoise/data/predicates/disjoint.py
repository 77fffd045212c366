"""A proof, from two filters alone, that no row satisfies both.

A conjunction excludes what one of its parts excludes, a disjunction what all of its parts exclude, and a filter its
exact opposite. Tests of one column against constants are intervals; two of them exclude each other where no value
lies in both. Whatever these rules do not settle is not proven: the answer is then no.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from typing import Any

from leastnoise.data.columns import Kind
from leastnoise.data.predicates.nodes import (
    And,
    ComparisonTest,
    Constant,
    IsIn,
    IsMissing,
    Literal,
    Name,
    Not,
    Or,
    Predicate,
    TextTest,
)

__all__ = ["are_disjoint"]

_MOST_PAIRS = 1 << 16


def are_disjoint(one: Predicate, other: Predicate, columns: Collection[str]) -> bool:
    """Whether tests on these columns prove that no row satisfies both filters.

    Args:
        one: A filter, checked against the schema.
        other: Another one on the same table.
        columns: The proof looks at no other columns. With the column of the privacy unit alone it shows that no unit
            has a row for the one filter and a row for the other.

    >>> from leastnoise.data.predicates import parse
    >>> kinds = {"age": Kind.INTEGER, "city": Kind.TEXT}
    >>> young, old = parse("age < 18 AND city = 'Bonn'", kinds), parse("age >= 18", kinds)
    >>> are_disjoint(young, old, ["age"]), are_disjoint(young, old, ["city"])
    (True, False)
    """
    return one.size * other.size <= _MOST_PAIRS and _disjoint(one, other, frozenset(columns))


def _disjoint(one: Predicate, other: Predicate, columns: frozenset[str]) -> bool:
    for first, second in ((one, other), (other, one)):
        if isinstance(first, Or):
            return all(_disjoint(part, second, columns) for part in first.parts)
    for first, second in ((one, other), (other, one)):
        if isinstance(first, And):
            return any(_disjoint(part, second, columns) for part in first.parts)
        if first == Constant(False):
            return True
    if not one.columns | other.columns <= columns:
        return False
    return one == Not(other) or other == Not(one) or _no_common_value(one, other)


def _no_common_value(one: Predicate, other: Predicate) -> bool:
    for first, second in ((one, other), (other, one)):
        if isinstance(first, IsMissing) and isinstance(second, ComparisonTest | IsIn | TextTest):
            return isinstance(first.term, Name) and first.term in second.children()
    ours, theirs = _spans(one), _spans(other)
    if ours is None or theirs is None or ours[0] != theirs[0]:
        return False
    return all(mine.excludes(yours) for mine in ours[1] for yours in theirs[1])


@dataclass(frozen=True)
class _Span:
    """The values from low to high, None for no end; the ends belong to it or not."""

    kind: Kind
    low: Any = None
    high: Any = None
    low_open: bool = False
    high_open: bool = False

    def excludes(self, other: _Span) -> bool:
        return _is_empty(self, other) or _is_empty(other, self)


def _is_empty(above: _Span, below: _Span) -> bool:
    """Whether no value is both from `above.low` on and up to `below.high`."""
    low, high = above.low, below.high
    if low is None or high is None or type(low) is not type(high):
        return False
    open_end = above.low_open or below.high_open
    if above.kind is Kind.REAL:
        # An engine may compare with the double nearest to a literal, or with the literal itself: this holds in both.
        near_low, near_high = _double(low), _double(high)
        return near_low > near_high or (near_low == near_high and open_end and low >= high)
    return bool(low > high or (low == high and open_end))


def _spans(test: Predicate) -> tuple[str, list[_Span]] | None:
    """The column that a test compares with constants, and the values for which it holds; None for other tests."""
    if isinstance(test, IsIn) and isinstance(test.term, Name) and test.term.kind is not None:
        return test.term.column, list(_points(test.term.kind, [literal.value for literal in test.values]))
    if not isinstance(test, ComparisonTest):
        return None
    left, right, operator = test.left, test.right, test.operator
    if isinstance(left, Literal):
        left, right, operator = right, left, {"<": ">", "<=": ">=", ">": "<", ">=": "<="}.get(operator, operator)
    if not isinstance(left, Name) or not isinstance(right, Literal) or left.kind is None:
        return None
    kind, value = left.kind, _comparable(right.value)
    if operator == "=":
        return left.column, list(_points(kind, [right.value]))
    if kind is Kind.TEXT or operator not in ("<", "<=", ">", ">="):
        return None
    is_open = operator in ("<", ">")
    span = _Span(kind, low=value, low_open=is_open) if operator[0] == ">" else _Span(kind, None, value, False, is_open)
    return left.column, [span]


def _points(kind: Kind, values: list[Any]) -> Iterator[_Span]:
    for value in map(_comparable, values):
        yield _Span(kind, value, value)


def _comparable(value: Any) -> Any:
    """A literal with a total order among its own type: numbers as rationals."""
    if isinstance(value, bool | str | date | datetime):
        return value
    return Fraction(value) if isinstance(value, int | Decimal) else None


def _double(number: Fraction) -> float:
    try:
        return float(number)
    except OverflowError:
        return float("inf") if number > 0 else float("-inf")
