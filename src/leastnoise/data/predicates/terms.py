"""The values that a filter compares: columns, literals, and arithmetic on them. Any of them may be missing."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal, InvalidOperation
from numbers import Integral
from typing import TYPE_CHECKING

from leastnoise.data.predicates.limits import MAX_DEPTH, MAX_LITERAL, MAX_SIZE
from leastnoise.errors import BadFilter

if TYPE_CHECKING:
    from leastnoise.data.columns import Kind

__all__ = ["Arithmetic", "Literal", "Name", "Node", "Remainder", "Scalar", "Term", "read_literal", "remainder"]

Scalar = bool | int | Decimal | str | date | datetime


class Node:
    """A part of a filter; it knows how deep and how large it is, and is refused when it is too much to read safely."""

    depth: int
    size: int

    def __post_init__(self) -> None:
        """Measure a new node by its children."""
        children = list(self.children())
        depth = 1 + max((child.depth for child in children), default=0)
        size = self.own_size() + sum(child.size for child in children)
        if depth > MAX_DEPTH:
            raise BadFilter(
                f"the filter nests more than {MAX_DEPTH} levels deep", fix="flatten it: a AND b AND c is one level"
            )
        if size > MAX_SIZE:
            raise BadFilter(
                f"the filter has more than {MAX_SIZE} parts",
                fix="use IN for a list of values, or add a column to the table",
            )
        object.__setattr__(self, "depth", depth)
        object.__setattr__(self, "size", size)

    def own_size(self) -> int:
        """As how many parts it counts without its children."""
        return 1

    def children(self) -> Iterator[Node]:
        """The parts it is made of, in order."""
        for value in vars(self).values():
            yield from (part for part in (value if isinstance(value, tuple) else (value,)) if isinstance(part, Node))


@dataclass(frozen=True)
class Name(Node):
    """A column; its kind is unknown until the filter is checked against a schema."""

    column: str
    kind: Kind | None = None


@dataclass(frozen=True)
class Literal(Node):
    """A constant. Numbers are exact: an int, or a Decimal where it is no whole number."""

    value: Scalar


@dataclass(frozen=True)
class Arithmetic(Node):
    """`left operator right` in doubles, with operator one of + - * /; missing where a side is, and where x / 0."""

    operator: str
    left: Term
    right: Term


@dataclass(frozen=True)
class Remainder(Node):
    """The remainder r of a whole number by a positive whole literal, 0 ≤ r < divisor also below zero."""

    term: Term
    divisor: int

    def __post_init__(self) -> None:
        """Refuse a divisor that is not positive."""
        if not 1 <= self.divisor < 2**31:
            raise BadFilter(
                "a remainder is taken by a whole literal from 1 to 2^31 − 1",
                given=str(self.divisor)[:40],
                fix="write for example id % 10 = 3",
            )
        super().__post_init__()


Term = Name | Literal | Arithmetic | Remainder


def remainder(term: Term, divisor: Term) -> Remainder:
    """The remainder by a whole literal; any other divisor is refused."""
    if not isinstance(divisor, Literal) or type(divisor.value) is not int:
        raise BadFilter("a remainder is taken by a whole literal", fix="write for example id % 10 = 3")
    return Remainder(term, divisor.value)


def read_literal(value: object) -> Literal:
    """A Python value as an exact literal: 0.1 means one tenth, a whole Decimal is an int."""
    if isinstance(value, bool):
        return Literal(value)
    if isinstance(value, Integral):
        return _number(Decimal(int(value)) if abs(int(value)) < 10**400 else Decimal("inf"), value)
    if isinstance(value, float):
        return _number(Decimal(repr(float(value))), value)
    if isinstance(value, Decimal):
        return _number(value, value)
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, datetime):
        if value.tzinfo is not None:
            raise BadFilter(
                "a timestamp in a filter has no time zone", given=value, fix="pass the wall-clock time of the table"
            )
        return Literal(value)
    if isinstance(value, date):
        return Literal(value)
    if value is None:
        raise BadFilter("nothing compares with a missing value", fix="use col(name).is_missing(), or IS MISSING")
    raise BadFilter(
        "a filter compares with numbers, text, booleans, dates and timestamps",
        given=type(value).__name__,
        fix="pass one of those",
    )


def _number(number: Decimal, given: object) -> Literal:
    if not number.is_finite() or not _in_doubles(number):
        raise BadFilter(
            "a number in a filter is finite and within the range of doubles",
            given=str(given)[:60],
            fix="use is_missing() or IS MISSING for NaN, and a finite bound",
        )
    if number.copy_abs() < MAX_LITERAL and number == number.to_integral_value():  # abs would round to 28 digits
        return Literal(int(number))
    return Literal(number)


def _in_doubles(number: Decimal) -> bool:
    """Whether the nearest double is finite, and zero only for zero."""
    try:
        nearest = float(number)
    except (OverflowError, InvalidOperation):
        return False
    return math.isfinite(nearest) and (nearest != 0 or number == 0) and len(number.as_tuple().digits) <= 400


def _text(value: str) -> Literal:
    if "\0" in value or any("\ud800" <= character <= "\udfff" for character in value):
        raise BadFilter(
            "text in a filter has no NUL character and no lone surrogate",
            given=ascii(value),
            fix="leave it out: not every engine can store it",
        )
    return Literal(value)
