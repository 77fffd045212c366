"""A filter as a tree of tests on one row. It holds or it does not: there is no third truth value.

The one rule about missing values (NULL, and NaN in a column of numbers): **every test on a missing value is false,
and NOT is the exact opposite**. So each row satisfies either p or NOT p, never both and never neither.

A filter is read by recursion, so its depth is bounded. Its literals fit every engine's widest type of whole numbers.
Its arithmetic runs in doubles inside a range where no engine overflows or underflows (Postgres fails on both). `str` of
every node is the text that `parse` reads as the same node.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date, datetime
from decimal import Decimal, InvalidOperation
from numbers import Integral
from typing import Any, Self

from leastnoise.data.columns import Kind
from leastnoise.errors import BadFilter

__all__ = [
    "DECIMAL_REACH",
    "KEYWORDS",
    "MAX_DEPTH",
    "MAX_LITERAL",
    "MAX_TEXT",
    "OPERAND_REACH",
    "RESULT_REACH",
    "And",
    "Calculation",
    "ComparisonTest",
    "Constant",
    "IsIn",
    "IsMissing",
    "Literal",
    "Name",
    "Node",
    "Not",
    "Or",
    "Predicate",
    "Remainder",
    "Scalar",
    "Term",
    "TextTest",
    "columns_of",
    "read_literal",
    "remainder",
]

MAX_DEPTH = 60
MAX_SIZE = 1000
"""Parts of a filter; beyond it the engines' own parsers and optimisers take minutes, or give up."""
VALUES_PER_PART = 20
"""So many values of a list count as one part."""
MAX_TEXT = 400_000
MAX_LITERAL = 10**37
"""Whole literals lie below this: they fit HUGEINT, DECIMAL(38, 0) and NUMERIC."""
OPERAND_REACH = 30
"""In arithmetic a column's value beyond ±10^30 counts as ±10^30, and one closer to zero than 10^-30 as zero."""
RESULT_REACH = 300
"""No intermediate result may be able to leave 10^-300 … 10^300; the bound follows from the formula alone."""
DECIMAL_REACH = 300
"""A DECIMAL beyond ±10^300 counts as ±10^300, and one closer to zero than 10^-300 as zero."""
KEYWORDS = frozenset(
    """
    ALL ALTER AND ARRAY AS ASYMMETRIC BETWEEN CALL CASE CREATE CROSS DATE DESCRIBE DISTINCT DROP ELSE EXCEPT
    EXECUTE EXPLAIN FALSE FETCH FOR FROM GLOB GRANT HAVING ILIKE IN INNER INSERT INTERSECT INTERVAL INTO IS JOIN
    LATERAL LIKE LIST MAP MISSING NOT NOTNULL NULL NULLABLE OBJECT ON OPTIMIZE OR OUTER PARTITIONED_BY PREPARE
    QUALIFY RANGE REGEXP RENAME RETURNING REVOKE RLIKE ROLLBACK SELECT SHOW STRUCT SYMMETRIC TABLESAMPLE THEN
    TIMESTAMP TRUE UNCACHE UNION USING VACUUM VALUES WHEN WHERE WITH XOR
    """.split()  # noqa: SIM905
)
"""Words that name a column only in double quotes: sqlglot reads them, somewhere, as something else."""
_BARE = re.compile(r"[^\W\d]\w*")

Scalar = bool | int | Decimal | str | date | datetime


class Node:
    """A part of a filter; it knows how deep and how large it is, and is refused when it is too much to read safely.

    Attributes:
        depth: How many levels it has.
        size: How many parts.
        position: Where it stands in a statement, for errors; "" elsewhere.
    """

    depth: int
    size: int
    position: str = ""

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

    def at(self, position: str) -> Self:
        """This node, which then knows its place; that is no part of what it says."""
        object.__setattr__(self, "position", position)
        return self

    def own_size(self) -> int:
        """As how many parts it counts without its children."""
        return 1

    def children(self) -> Iterator[Node]:
        """The parts it is made of, in order."""
        for value in vars(self).values():
            yield from (part for part in (value if isinstance(value, tuple) else (value,)) if isinstance(part, Node))


class Term(Node):
    """A part that has a value: a number, text, a boolean, a date or a time; or it is missing."""


@dataclass(frozen=True)
class Name(Term):
    """A column; its kind is unknown until the filter is checked against a schema.

    Attributes:
        column: Its name.
        kind: Its kind.
        limits: The least and the largest whole number that it can hold, where that is known.
    """

    column: str
    kind: Kind | None = None
    limits: tuple[int, int] | None = field(default=None, compare=False, repr=False)

    def __str__(self) -> str:
        """The name, in double quotes where it is no plain word."""
        bare = _BARE.fullmatch(self.column) and self.column.upper() not in KEYWORDS
        return self.column if bare else '"' + self.column.replace('"', '""') + '"'


@dataclass(frozen=True)
class Literal(Term):
    """A constant. Numbers are exact: an int, or a Decimal where it is no whole number."""

    value: Scalar

    def __str__(self) -> str:
        """The literal as filters write it."""
        match self.value:
            case bool():
                return "TRUE" if self.value else "FALSE"
            case str():
                return "'" + self.value.replace("'", "''") + "'"
            case datetime():
                return f"TIMESTAMP '{self.value.isoformat(' ')}'"
            case date():
                return f"DATE '{self.value.isoformat()}'"
        return str(self.value)


@dataclass(frozen=True)
class Calculation(Term):
    """`left operator right`, with operator one of + - * /; missing where a side is, and where x / 0.

    It is computed in doubles. Where both sides are whole and the result provably stays below 2^53 that is exact: the
    result is a whole number.
    """

    operator: str
    left: Term
    right: Term

    def __str__(self) -> str:
        """In parentheses."""
        return f"({self.left} {self.operator} {self.right})"


@dataclass(frozen=True)
class Remainder(Term):
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

    def __str__(self) -> str:
        """In parentheses."""
        return f"({self.term} % {self.divisor})"


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


class Predicate(Node):
    """A condition on one row, safe to send to an engine: it looks at no other row and never raises on any value.

    Combine with `&`, `|` and `~`. `str` gives back text that `parse` reads.

    >>> from leastnoise.data.predicates import col
    >>> adult = col("age") >= 18
    >>> str(adult & ~col("city").is_in(["Bonn", "Ulm"]))
    "age >= 18 AND NOT city IN ('Bonn', 'Ulm')"
    """

    @property
    def columns(self) -> frozenset[str]:
        """The names of the columns it looks at."""
        return frozenset(name.column for name in self._names())

    def to_dict(self) -> dict[str, Any]:
        """As plain data for records: the text, and the kind of each column."""
        kinds = {name.column: name.kind.name for name in self._names() if name.kind is not None}
        return {"filter": str(self), "columns": dict(sorted(kinds.items()))}

    def __and__(self, other: Predicate) -> Predicate:
        """Both hold."""
        return And.of(self, _predicate(other))

    def __or__(self, other: Predicate) -> Predicate:
        """One of them holds."""
        return Or.of(self, _predicate(other))

    def __invert__(self) -> Predicate:
        """The exact opposite."""
        return self.part if isinstance(self, Not) else Not(self)

    def __bool__(self) -> bool:
        """Refuse `and`, `or`, `not` and chained comparisons, which Python would decide at once."""
        raise BadFilter(
            "a filter has no truth value of its own: it is asked row by row",
            given=str(self),
            fix="combine filters with &, | and ~ in parentheses, and write between(a, b) for a <= x <= b",
        )

    def tests(self) -> Iterator[Predicate]:
        """The innermost tests, each of which looks at the row for itself."""
        inner = [part for part in self.children() if isinstance(part, Predicate)]
        for part in inner:
            yield from part.tests()
        if not inner:
            yield self

    def _names(self) -> Iterator[Name]:
        return _names(self)


@dataclass(frozen=True)
class Constant(Predicate):
    """TRUE or FALSE on every row."""

    value: bool

    def __str__(self) -> str:
        """The text that `parse` reads."""
        return "TRUE" if self.value else "FALSE"


@dataclass(frozen=True)
class ComparisonTest(Predicate):
    """`left operator right` with one of = != < <= > >=; false where a side is missing."""

    operator: str
    left: Term
    right: Term

    def __str__(self) -> str:
        """The text that `parse` reads."""
        return f"{self.left} {self.operator} {self.right}"


@dataclass(frozen=True)
class IsIn(Predicate):
    """Whether a value equals one of the literals; false where it is missing."""

    term: Term
    values: tuple[Literal, ...]

    def __post_init__(self) -> None:
        """Refuse an empty list."""
        if not self.values:
            raise BadFilter("a list to choose from is empty", fix="give at least one value, or use FALSE")
        super().__post_init__()

    def own_size(self) -> int:
        """A list of values is one thing to an engine, if a long one."""
        return 1 + len(self.values) // VALUES_PER_PART

    def children(self) -> Iterator[Node]:
        """The value that is looked up; the literals are counted otherwise."""
        yield self.term

    def __str__(self) -> str:
        """The text that `parse` reads."""
        return f"{self.term} IN ({', '.join(map(str, self.values))})"


@dataclass(frozen=True)
class TextTest(Predicate):
    """Whether text starts with, ends with or contains a literal, letter by letter; false where it is missing."""

    test: str
    term: Term
    text: str

    def __str__(self) -> str:
        """The text that `parse` reads."""
        return f"{self.test}({self.term}, {Literal(self.text)})"


@dataclass(frozen=True)
class IsMissing(Predicate):
    """Whether a value is missing: NULL, NaN, or arithmetic without a result."""

    term: Term

    def __str__(self) -> str:
        """The text that `parse` reads."""
        return f"{self.term} IS MISSING"


@dataclass(frozen=True)
class And(Predicate):
    """All parts hold."""

    parts: tuple[Predicate, ...]

    @staticmethod
    def of(*parts: Predicate) -> Predicate:
        """The parts joined on one level, so that a long chain is not a deep one."""
        return And(tuple(inner for part in parts for inner in (part.parts if isinstance(part, And) else (part,))))

    def __str__(self) -> str:
        """The text that `parse` reads."""
        return " AND ".join(f"({part})" if isinstance(part, And | Or) else str(part) for part in self.parts)


@dataclass(frozen=True)
class Or(Predicate):
    """Some part holds."""

    parts: tuple[Predicate, ...]

    @staticmethod
    def of(*parts: Predicate) -> Predicate:
        """The parts joined on one level, so that a long chain is not a deep one."""
        return Or(tuple(inner for part in parts for inner in (part.parts if isinstance(part, Or) else (part,))))

    def __str__(self) -> str:
        """The text that `parse` reads."""
        return " OR ".join(f"({part})" if isinstance(part, Or) else str(part) for part in self.parts)


@dataclass(frozen=True)
class Not(Predicate):
    """The part does not hold: the exact opposite, also on missing values."""

    part: Predicate

    def __str__(self) -> str:
        """The text that `parse` reads."""
        return f"NOT ({self.part})" if isinstance(self.part, And | Or) else f"NOT {self.part}"


def columns_of(node: Node) -> frozenset[str]:
    """The names of the columns that a filter or an expression looks at."""
    return frozenset(name.column for name in _names(node))


def _names(node: Node) -> Iterator[Name]:
    waiting: list[Node] = [node]
    while waiting:
        node = waiting.pop()
        waiting += node.children()
        if isinstance(node, Name):
            yield node


def _predicate(value: object) -> Predicate:
    if isinstance(value, Predicate):
        return value
    raise BadFilter(
        "a filter is combined with filters only",
        given=type(value).__name__,
        fix='compare first: (col("age") >= 18) & (col("city") == "Bonn"), and .is_true() for a column of booleans',
    )
