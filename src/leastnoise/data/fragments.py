"""Pieces of a query: text of our own making, and values that are bound and never become text."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

__all__ = ["Bound", "Fragment", "Source", "bound", "join", "secret", "select", "sql"]


@dataclass(frozen=True)
class Bound:
    """A value that the driver hands to the engine beside the text; a secret one decides nothing about its types."""

    value: object
    secret: bool = False


@dataclass(frozen=True)
class Source:
    """Where the rows come from: the table itself, or rows made up for a rehearsal (`leastnoise.data.canary`).

    Args:
        names: The columns that are read.
    """

    names: tuple[str, ...]


@dataclass(frozen=True)
class Fragment:
    """Text pieces and bound values in order; `+` joins two fragments, or a fragment and our own text.

    >>> (sql("age >= ") + bound(18) + " AND TRUE").parts
    ('age >= ', Bound(value=18, secret=False), ' AND TRUE')
    """

    parts: tuple[str | Bound | Source, ...]

    def __add__(self, other: Fragment | str) -> Fragment:
        """This one, then the other."""
        return Fragment(self.parts + (other.parts if isinstance(other, Fragment) else (other,)))

    def __radd__(self, other: str) -> Fragment:
        """The text, then this one."""
        return Fragment((other, *self.parts))


def sql(text: str) -> Fragment:
    """Text as a fragment; identifiers in it must have gone through `Dialect.quote`."""
    return Fragment((text,))


def bound(value: object) -> Fragment:
    """A value as a fragment."""
    return Fragment((Bound(value),))


def secret(word: int) -> Fragment:
    """A word of a secret as a fragment."""
    return Fragment((Bound(word, secret=True),))


def join(separator: str, fragments: Iterable[Fragment | str]) -> Fragment:
    """The fragments in a row with text between them.

    >>> join(", ", [sql("a"), bound(1)]).parts
    ('a', ', ', Bound(value=1, secret=False))
    """
    parts: list[str | Bound | Source] = []
    for number, fragment in enumerate(fragments):
        parts += [separator] if number else []
        parts += fragment.parts if isinstance(fragment, Fragment) else (fragment,)
    return Fragment(tuple(parts))


def select(outputs: Fragment | str, source: Fragment, alias: str, rest: Fragment | str = "") -> Fragment:
    """SELECT outputs FROM (source) AS alias rest.

    >>> "".join(select("a", sql("TABLE t"), "u", "WHERE a > 0").parts)
    'SELECT a FROM (TABLE t) AS u WHERE a > 0'
    """
    return join("", ["SELECT ", outputs, " FROM (", source, f") AS {alias} ", rest])
