"""The functions of expressions: what each takes, what it gives, and what it means in plain Python.

A function is missing where an argument is, unless the table says otherwise. All are total: no value makes one fail.

| function | gives |
|---|---|
| coalesce(x, y, …) | the first value that is not missing |
| nullif(x, y) | x; missing where x = y |
| least(x, y, …), greatest(x, y, …) | of those that are not missing |
| clamp(x, low, high) | x brought between two numbers |
| abs(x) | |x| |
| floor(x), ceil(x), round(x) | the whole number below, above, or nearest (⌊x + ½⌋ in doubles); missing from ±2^53 on |
| lower(t), upper(t) | letters A to Z only, whatever the engine's language |
| trim(t) | without spaces (U+0020) at both ends |
| length(t) | how many code points |
| left(t, n) | the first n code points |
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from leastnoise.data.columns import Kind

__all__ = ["DATE_PARTS", "EXACT", "FUNCTIONS", "TRUNCATIONS", "Range", "Shape", "Type", "rounded"]

Range = tuple[int, int]
EXACT: Range = (-(2**53 - 1), 2**53 - 1)
"""Whole numbers that doubles tell apart: whole results of arithmetic and of rounding stay within."""
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_LOWER = str.maketrans(_LETTERS, _LETTERS.lower())
_UPPER = str.maketrans(_LETTERS.lower(), _LETTERS)
_LONGEST = 2**32


class Type(NamedTuple):
    """What a term is: its kind and, for whole numbers, the range that it provably keeps."""

    kind: Kind
    limits: Range | None = None


@dataclass(frozen=True)
class Shape:
    """How a function is called, and what it does.

    Attributes:
        fewest: The least number of arguments.
        most: The largest.
        takes: "any" values that agree in kind, "numbers", "ordered" values, or "text".
        compute: What it gives for values that are not missing; None where it looks at missing ones itself.
        example: How it is written.
    """

    fewest: int
    most: int
    takes: str
    compute: Callable[..., Any] | None
    example: str


def rounded(name: str, number: float) -> int | None:
    """floor, ceil or round of a double; None from ±2^53 on.

    >>> rounded("round", 2.5), rounded("round", -2.5), rounded("floor", -0.5), rounded("ceil", 1e300)
    (3, -2, -1, None)
    """
    near = min(max(number, -(2.0**53)), 2.0**53)
    found = {"floor": math.floor, "ceil": math.ceil, "round": lambda x: math.floor(x + 0.5)}[name](near)
    return found if EXACT[0] <= found <= EXACT[1] else None


def _trimmed(text: str) -> str:
    return text.strip(" ")


FUNCTIONS: Mapping[str, Shape] = {
    "coalesce": Shape(1, 50, "any", None, "coalesce(income, 0)"),
    "nullif": Shape(2, 2, "any", None, "nullif(income, -1)"),
    "least": Shape(2, 50, "ordered", None, "least(income, 1000)"),
    "greatest": Shape(2, 50, "ordered", None, "greatest(income, 0)"),
    "clamp": Shape(3, 3, "numbers", None, "clamp(income, 0, 1000)"),
    "abs": Shape(1, 1, "numbers", abs, "abs(balance)"),
    "floor": Shape(1, 1, "numbers", None, "floor(income / 1000)"),
    "ceil": Shape(1, 1, "numbers", None, "ceil(income / 1000)"),
    "round": Shape(1, 1, "numbers", None, "round(income / 1000)"),
    "lower": Shape(1, 1, "text", lambda text: text.translate(_LOWER), "lower(city)"),
    "upper": Shape(1, 1, "text", lambda text: text.translate(_UPPER), "upper(city)"),
    "trim": Shape(1, 1, "text", _trimmed, "trim(city)"),
    "length": Shape(1, 1, "text", len, "length(city)"),
    "left": Shape(2, 2, "text", lambda text, count: text[:count], "left(zip, 2)"),
}
LENGTH: Range = (0, _LONGEST)
DATE_PARTS: Mapping[str, Range] = {
    "year": (1, 9999),
    "quarter": (1, 4),
    "month": (1, 12),
    "week": (1, 53),
    "day": (1, 31),
    "weekday": (1, 7),
    "hour": (0, 23),
    "minute": (0, 59),
}
"""Parts of dates and times with their ranges; week and weekday (Monday is 1) as ISO 8601 counts them."""
TRUNCATIONS = ("day", "week", "month", "quarter", "year")
