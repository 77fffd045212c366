"""Public axes of a result: keys or bins. What is on them is fixed before the data is read."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from numbers import Integral, Rational
from sys import float_info
from typing import Any

from leastnoise.data.columns import Column, Kind, decimal_text
from leastnoise.errors import BadParameter
from leastnoise.exact.parameters import read_rational

__all__ = ["LARGEST_REAL", "Axis", "BinAxis", "KeyAxis", "TimeAxis", "key_text"]

_LONG = range(-(1 << 63), 1 << 63)
_HUGE = range(-(1 << 127), 1 << 127)
_MOST_PLACES = 1200  # after the point: beyond it no number is read
LARGEST_REAL = Fraction(float_info.max)


@dataclass(frozen=True)
class KeyAxis:
    """The public keys of a column, in order; None stands for missing (NULL, NaN). Rows with other keys are dropped.

    Raises:
        BadParameter: No key, or a key twice.

    >>> len(KeyAxis("city", ("Rome", "Oslo", None)))
    3
    """

    column: str
    keys: tuple[Hashable, ...]

    def __post_init__(self) -> None:
        """Refuse what is no axis."""
        if not self.keys:
            raise BadParameter("keys must not be empty", given=self.column, fix="list the public keys")
        if len(set(self.keys)) < len(self.keys):
            raise BadParameter(f"a key of {self.column!r} is listed twice", fix="list each key once")

    def __len__(self) -> int:
        """How many keys."""
        return len(self.keys)


@dataclass(frozen=True)
class BinAxis:
    """Bins [e₀, e₁), [e₁, e₂), …, the last one closed; rows outside, and missing values, are dropped.

    A column of doubles is compared with the double nearest to each edge; whole numbers and decimals exactly.

    Raises:
        BadParameter: Fewer than two edges, or edges that do not increase.

    >>> len(BinAxis("age", (0, 18, 65, 120)))
    3
    """

    column: str
    edges: tuple[Fraction, ...]

    def __post_init__(self) -> None:
        """Read the edges."""
        object.__setattr__(self, "edges", tuple(read_rational(edge, "edges") for edge in self.edges))
        if len(self.edges) < 2 or any(not low < high for low, high in pairwise(self.edges)):
            raise BadParameter("bins need at least two edges that increase", given=self.column, fix="sort the edges")

    def __len__(self) -> int:
        """How many bins."""
        return len(self.edges) - 1


@dataclass(frozen=True)
class TimeAxis:
    """Bins [e₀, e₁), [e₁, e₂), … of dates or times without a zone; rows outside, and missing values, are dropped.

    Raises:
        BadParameter: Fewer than two edges, edges that do not increase, or not one label for each bin.

    >>> len(TimeAxis("day", (datetime(2025, 1, 1), datetime(2026, 1, 1)), ("2025",)))
    1
    """

    column: str
    edges: tuple[datetime, ...]
    labels: tuple[str, ...]

    def __post_init__(self) -> None:
        """Refuse what is no axis."""
        if len(self.edges) < 2 or any(not low < high for low, high in pairwise(self.edges)):
            raise BadParameter("bins need at least two edges that increase", given=self.column, fix="sort the edges")
        if len(self.labels) != len(self):
            raise BadParameter("there must be one label for each bin", given=self.column, fix="name every bin")

    def __len__(self) -> int:
        """How many bins."""
        return len(self.edges) - 1


Axis = KeyAxis | BinAxis | TimeAxis


def key_text(key: Any, column: Column) -> str | None:
    """A key as text that the engine casts to the column's plain form; None if the column can't hold it.

    Raises:
        BadParameter: The key is of another kind than the column.
    """
    match column.kind, key:
        case Kind.BOOLEAN, bool():
            return "true" if key else "false"
        case Kind.INTEGER | Kind.REAL | Kind.DECIMAL, Integral() | Rational() | float() | Decimal() if not isinstance(
            key, bool
        ):
            return _number_text(key, column)
        case Kind.TEXT, str():
            return _utf8(key)
        case Kind.TIMESTAMP, datetime() if key.tzinfo is None:
            return key.isoformat(" ")
        case Kind.DATE, date() if not isinstance(key, datetime):
            return key.isoformat()
    raise BadParameter(
        f"a key of {column.name!r} is of kind {type(key).__name__}, the column of kind {column.kind.value}",
        fix="pass keys of the column's own kind (dates as datetime.date, times without time zone as datetime.datetime)",
    )


def _number_text(key: Any, column: Column) -> str | None:
    exact = read_rational(key, f"a key of {column.name!r}")
    if column.kind is Kind.REAL:
        return repr(float(exact)) if abs(exact) <= LARGEST_REAL else None
    if column.kind is Kind.DECIMAL:
        return _decimal_text(exact, column)
    fits = exact.denominator == 1 and int(exact) in (_HUGE if column.wide else _LONG)
    return str(int(exact)) if fits else None


def _decimal_text(exact: Fraction, column: Column) -> str | None:
    scale = _MOST_PLACES if column.scale is None else column.scale
    digits = exact * 10**scale
    if digits.denominator != 1 or (column.precision is not None and abs(digits) >= 10**column.precision):
        return None
    return decimal_text(int(digits), scale)


def _utf8(key: str) -> str:
    try:
        key.encode()
    except UnicodeEncodeError:
        raise BadParameter("a key is not valid text (a lone surrogate)", fix="leave it out") from None
    return key
