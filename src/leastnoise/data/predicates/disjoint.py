"""A proof, from two filters alone, that no row satisfies both.

A conjunction excludes what one of its parts excludes, a disjunction what all of its parts exclude, and a filter its
exact opposite. Tests of one column against constants are intervals; two of them exclude each other where no value
lies in both. Whatever these rules do not settle is not proven: the answer is then no.
"""

from __future__ import annotations

from collections.abc import Collection
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
_SMALLEST, _LARGEST = Fraction(1, 10**290), 10**290


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
    ours, theirs = _values_of(one), _values_of(other)
    if ours is None or theirs is None or ours.name != theirs.name:
        return False
    return ours.excludes(theirs)


@dataclass(frozen=True)
class _Values:
    """What a test of one column against constants lets through: some points, or all from low to high (None: no end)."""

    name: Name
    points: tuple[Any, ...] = ()
    low: Any = None
    high: Any = None
    low_open: bool = False
    high_open: bool = False

    def excludes(self, other: _Values) -> bool:
        """Whether no value is in both."""
        if self.points and other.points:
            return set(map(_nearest, self.points)).isdisjoint(map(_nearest, other.points))
        if self.points or other.points:
            few, many = (self, other) if self.points else (other, self)
            return all(_Values(few.name, (), point, point).excludes(many) for point in few.points)
        return _is_empty(self, other) or _is_empty(other, self)


def _is_empty(above: _Values, below: _Values) -> bool:
    """Whether no value is both from `above.low` on and up to `below.high`."""
    low, high = above.low, below.high
    if low is None or high is None or type(low) is not type(high):
        return False
    near_low, near_high = _nearest(low), _nearest(high)
    return bool(near_low > near_high or (near_low == near_high and low >= high and (above.low_open or below.high_open)))


def _nearest(value: Any) -> Any:
    """The value as an engine may compare it.

    Beside a whole number in a column of whole numbers that is itself. Other numbers may be compared as they are, or by
    the doubles nearest to them: what is proven of these, and of the numbers where the doubles are equal, holds in both.
    """
    return float(value) if isinstance(value, Fraction) else value


def _values_of(test: Predicate) -> _Values | None:
    """The column that a test compares with constants, and the values for which it holds; None for other tests."""
    if isinstance(test, IsIn) and isinstance(test.term, Name):
        return _points(test.term, [literal.value for literal in test.values])
    if not isinstance(test, ComparisonTest):
        return None
    left, right, operator = test.left, test.right, test.operator
    if isinstance(left, Literal):
        left, right, operator = right, left, {"<": ">", "<=": ">=", ">": "<", ">=": "<="}.get(operator, operator)
    if not isinstance(left, Name) or not isinstance(right, Literal):
        return None
    if operator == "=":
        return _points(left, [right.value])
    value = _comparable(left, right.value)
    if value is None or left.kind is Kind.TEXT or operator not in ("<", "<=", ">", ">="):
        return None
    is_open = operator in ("<", ">")
    if operator[0] == ">":
        return _Values(left, low=value, low_open=is_open)
    return _Values(left, high=value, high_open=is_open)


def _points(name: Name, values: list[Any]) -> _Values | None:
    points = tuple(_comparable(name, value) for value in values)
    return None if None in points else _Values(name, points)


def _comparable(name: Name, value: Any) -> Any:
    """A literal with a total order among its own type; None where nothing is to be proven from it.

    Whole numbers beside a column of whole numbers stay as they are; all other numbers become rationals. An engine may
    take very large or very small ones for others, so nothing is said of them.
    """
    if isinstance(value, bool | str | date | datetime):
        return value
    if name.kind is Kind.INTEGER:
        return int(value) if value == int(value) else None
    if name.kind not in (Kind.REAL, Kind.DECIMAL) or not isinstance(value, int | Decimal):
        return None
    number = Fraction(value)
    return number if not number or _SMALLEST <= abs(number) <= _LARGEST else None
