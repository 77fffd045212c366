"""A filter as a tree of tests on one row. It holds or it does not: there is no third truth value.

The one rule about missing values (NULL, and NaN in a column of numbers): **every test on a missing value is false,
and NOT is the exact opposite**. So each row satisfies either p or NOT p, never both and never neither.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from leastnoise.data.predicates.limits import VALUES_PER_PART
from leastnoise.data.predicates.terms import Literal, Name, Node, Term
from leastnoise.errors import BadFilter

if TYPE_CHECKING:
    from leastnoise.data.columns import Kind
    from leastnoise.data.dialects import Dialect
    from leastnoise.data.fragments import Fragment

__all__ = ["And", "Comparison", "Constant", "IsIn", "IsMissing", "Not", "Or", "Predicate", "TextTest"]


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

    def typed(self, columns: Mapping[str, Kind]) -> Predicate:
        """This filter checked against a schema: every name known, every comparison between values of one kind."""
        from leastnoise.data.predicates.checking import typed

        return typed(self, columns)

    def fragment(self, dialect: Dialect) -> Fragment:
        """SQL that is TRUE or FALSE on every row, never NULL and never an error. Needs `typed` first."""
        from leastnoise.data.predicates.rendering import render

        return render(self, dialect)

    def holds(self, row: Mapping[str, object]) -> bool:
        """What the filter means, in Python: the answer that every engine must give. Needs `typed` first."""
        from leastnoise.data.predicates.meaning import holds

        return holds(self, row)

    def to_dict(self) -> dict[str, Any]:
        """As plain data for records: the text, and the kind of each column."""
        kinds = {name.column: name.kind.name for name in self._names() if name.kind is not None}
        return {"filter": str(self), "columns": dict(sorted(kinds.items()))}

    @staticmethod
    def from_dict(data: Mapping[str, Any]) -> Predicate:
        """The filter that `to_dict` wrote, checked again."""
        from leastnoise.data.columns import Kind
        from leastnoise.data.predicates.grammar import parse

        try:
            text, kinds = data["filter"], {str(name): Kind[kind] for name, kind in data["columns"].items()}
        except (KeyError, TypeError, AttributeError):
            raise BadFilter("this is no filter in a record", given=data, fix="pass what to_dict gave") from None
        return parse(text, kinds)

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

    def __str__(self) -> str:
        """The text that `parse` reads."""
        from leastnoise.data.predicates.writing import write

        return write(self)

    def tests(self) -> Iterator[Predicate]:
        """The innermost tests, each of which looks at the row for itself."""
        inner = [part for part in self.children() if isinstance(part, Predicate)]
        for part in inner:
            yield from part.tests()
        if not inner:
            yield self

    def _names(self) -> Iterator[Name]:
        waiting: list[Node] = [self]
        while waiting:
            node = waiting.pop()
            waiting += node.children()
            if isinstance(node, Name):
                yield node


@dataclass(frozen=True)
class Constant(Predicate):
    """TRUE or FALSE on every row."""

    value: bool


@dataclass(frozen=True)
class Comparison(Predicate):
    """`left operator right` with one of = != < <= > >=; false where a side is missing."""

    operator: str
    left: Term
    right: Term


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


@dataclass(frozen=True)
class TextTest(Predicate):
    """Whether text starts with, ends with or contains a literal, letter by letter; false where it is missing."""

    test: str
    term: Term
    text: str


@dataclass(frozen=True)
class IsMissing(Predicate):
    """Whether a value is missing: NULL, NaN, or arithmetic without a result."""

    term: Term


@dataclass(frozen=True)
class And(Predicate):
    """All parts hold."""

    parts: tuple[Predicate, ...]

    @staticmethod
    def of(*parts: Predicate) -> Predicate:
        """The parts joined on one level, so that a long chain is not a deep one."""
        return And(tuple(inner for part in parts for inner in (part.parts if isinstance(part, And) else (part,))))


@dataclass(frozen=True)
class Or(Predicate):
    """Some part holds."""

    parts: tuple[Predicate, ...]

    @staticmethod
    def of(*parts: Predicate) -> Predicate:
        """The parts joined on one level, so that a long chain is not a deep one."""
        return Or(tuple(inner for part in parts for inner in (part.parts if isinstance(part, Or) else (part,))))


@dataclass(frozen=True)
class Not(Predicate):
    """The part does not hold: the exact opposite, also on missing values."""

    part: Predicate


def _predicate(value: object) -> Predicate:
    if isinstance(value, Predicate):
        return value
    raise BadFilter(
        "a filter is combined with filters only",
        given=type(value).__name__,
        fix='compare first: (col("age") >= 18) & (col("city") == "Bonn"), and .is_true() for a column of booleans',
    )
