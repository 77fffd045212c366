"""A number that no mechanism beats, with what it says and who proved it."""

from __future__ import annotations

from dataclasses import dataclass

from leastnoise.exact.enclosures import Enclosure

__all__ = ["Bound"]


@dataclass(frozen=True, repr=False)
class Bound(Enclosure):
    """An enclosed number with its meaning; its lower end is what may be relied on.

    Attributes:
        statement: What is bounded, by which formula, under which conditions.
        citation: Where it is proven.
    """

    statement: str
    citation: str

    @classmethod
    def of(cls, value: Enclosure, statement: str, citation: str) -> Bound:
        """Put words to a number."""
        return cls(value.lower, value.upper, statement, citation)

    def __repr__(self) -> str:
        """The number alone."""
        return super().__repr__().replace("Enclosure", "Bound", 1)

    def __str__(self) -> str:
        """Number, statement and source."""
        number = str(self.lower) if self.is_exact else f"≈ {float(self):.12g}"
        return f"{number}: {self.statement} ({self.citation})"
