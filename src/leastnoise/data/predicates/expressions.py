"""Terms beyond columns, literals and arithmetic: CASE, functions, casts, and conditions as values.

Every one has a value, or is missing, on every row: nothing here can fail. `size` counts what an engine has to read: a
term whose SQL repeats its argument counts it as often, so that no nesting makes a text long without bound.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import ClassVar

from leastnoise.data.columns import Kind
from leastnoise.data.predicates.nodes import Literal, Node, Predicate, Term
from leastnoise.errors import BadFilter

__all__ = ["Aggregate", "Case", "Cast", "DatePart", "Function", "Truncated", "Truth"]


@dataclass(frozen=True)
class Case(Term):
    """The result of the first condition that holds; otherwise the last result, or missing where there is none."""

    conditions: tuple[Predicate, ...]
    results: tuple[Term, ...]
    otherwise: Term | None = None

    @property
    def branches(self) -> tuple[Term, ...]:
        """All results that it can have."""
        return self.results if self.otherwise is None else (*self.results, self.otherwise)

    def __str__(self) -> str:
        """The text that `parse` reads."""
        pairs = zip(self.conditions, self.results, strict=True)
        whens = " ".join(f"WHEN {condition} THEN {result}" for condition, result in pairs)
        return f"CASE {whens} END" if self.otherwise is None else f"CASE {whens} ELSE {self.otherwise} END"


@dataclass(frozen=True)
class Function(Term):
    """A function of values; which there are, and what they mean, is in `leastnoise.data.predicates.functions`."""

    repeated: ClassVar[frozenset[str]] = frozenset({"clamp", "nullif"})
    name: str
    arguments: tuple[Term, ...]

    def own_size(self) -> int:
        """One, and its arguments once more where its SQL repeats them."""
        return 1 + (sum(argument.size for argument in self.arguments) if self.name in self.repeated else 0)

    def __str__(self) -> str:
        """The text that `parse` reads."""
        return f"{self.name}({', '.join(map(str, self.arguments))})"


@dataclass(frozen=True)
class DatePart(Term):
    """A part of a date or a time as a whole number."""

    part: str
    term: Term

    def __str__(self) -> str:
        """The text that `parse` reads."""
        return f"{self.part}({self.term})"


@dataclass(frozen=True)
class Truncated(Term):
    """The first day of the day, week (from Monday), month, quarter or year of a date or a time."""

    unit: str
    term: Term

    def __str__(self) -> str:
        """The text that `parse` reads."""
        return f"date_trunc({Literal(self.unit)}, {self.term})"


@dataclass(frozen=True)
class Cast(Term):
    """A value as another kind; missing where it is none of that kind."""

    term: Term
    to: Kind

    def own_size(self) -> int:
        """Text is looked at twice, and up to eight times where a double comes out and is calculated with."""
        return 1 + (7 if self.to is Kind.REAL else 1) * self.term.size

    def __str__(self) -> str:
        """The text that `parse` reads."""
        return f"CAST({self.term} AS {self.to.name})"


@dataclass(frozen=True)
class Truth(Term):
    """A condition as a boolean, which is never missing."""

    condition: Predicate

    def children(self) -> Iterator[Node]:
        """The condition."""
        yield self.condition

    def __post_init__(self) -> None:
        """Refuse what is no condition."""
        if not isinstance(self.condition, Predicate):
            raise BadFilter("this is no condition", given=str(self.condition), fix="compare it: age >= 18")
        super().__post_init__()

    def __str__(self) -> str:
        """The text that `parse` reads."""
        return f"({self.condition})"


@dataclass(frozen=True)
class Aggregate:
    """A function of many rows, as it is written: `count(*)`, `sum(amount)`, `any(amount > 100)`, `first(city, day)`.

    Attributes:
        name: Its name in small letters.
        arguments: Its values; none for `count(*)`.
        condition: Instead of values, for `any`.
        distinct: Whether it looks at different values only.
        position: Where it stands.
    """

    name: str
    arguments: tuple[Term, ...] = ()
    condition: Predicate | None = None
    distinct: bool = False
    position: str = field(default="", compare=False)

    def __str__(self) -> str:
        """The text that is read as the same."""
        inner = ", ".join(map(str, self.arguments)) if self.condition is None else str(self.condition)
        return f"{self.name}({'DISTINCT ' if self.distinct else ''}{inner or '*'})"
