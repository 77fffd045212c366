"""The parts that every certificate is made of, checked whenever one is made: exact numbers, places, exact channels.

A certificate may come from a file, a solver or a person's own code. Whichever it is, its numbers are rationals, its
places are whole numbers of at least zero (a negative one would be another name for a later place), and its channels are
exact. What a certificate claims is not checked here; that is for `leastnoise.check`.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from numbers import Integral, Rational
from typing import Any

from leastnoise.errors import BadCertificate
from leastnoise.exact.enclosures import Enclosure
from leastnoise.model.channel import Channel
from leastnoise.model.graphs import DatasetGraph
from leastnoise.model.privacy import Privacy

__all__ = [
    "as_places",
    "as_rational",
    "as_rationals",
    "as_sequence",
    "as_whole_table",
    "require_channel",
    "require_enclosure",
    "require_setting",
]


def as_sequence(values: Any, name: str, length: int | None = None) -> Sequence[Any]:
    """A tuple or list, of a certain length if one is given."""
    if not isinstance(values, tuple | list) or (length is not None and len(values) != length):
        wanted = "a tuple" if length is None else f"a tuple of {length}"
        raise BadCertificate(f"{name} must be {wanted}", given=type(values).__name__, fix="pass a tuple")
    return values


def as_rational(value: Any, name: str) -> Fraction:
    """A rational number; no float, no truth value."""
    if not isinstance(value, Rational) or isinstance(value, bool):
        raise BadCertificate(f"{name} must be exact", given=type(value).__name__, fix="pass a Fraction")
    return Fraction(int(value.numerator), int(value.denominator))


def as_rationals(values: Any, name: str, length: int | None = None) -> tuple[Fraction, ...]:
    """Rational numbers."""
    return tuple(as_rational(value, name) for value in as_sequence(values, name, length))


def as_places(values: Any, name: str, length: int | None = None) -> tuple[int, ...]:
    """Whole numbers of at least zero."""
    places = as_sequence(values, name, length)
    if any(not isinstance(place, Integral) or isinstance(place, bool) or place < 0 for place in places):
        raise BadCertificate(f"places in {name} are whole numbers of at least 0", given=values, fix="count from zero")
    return tuple(int(place) for place in places)


def as_whole_table(rows: Any, name: str) -> tuple[tuple[int, ...], ...]:
    """Rows of whole numbers, below zero too."""
    table = tuple(tuple(as_sequence(row, f"a row of {name}")) for row in as_sequence(rows, name))
    if any(type(entry) is not int for row in table for entry in row):
        raise BadCertificate(f"{name} has whole numbers only", fix="pass Python's integers")
    return table


def require_channel(channel: Any, name: str = "channel") -> None:
    """Refuse what is no channel of exact rows that sum to exactly one."""
    if type(channel) is not Channel or not channel.is_exact or not channel.sums_to_one:
        raise BadCertificate(
            f"the {name} of a certificate must be a Channel with exact rows that sum to 1",
            given=type(channel).__name__,
            fix="use to_exact(normalise=True)",
        )


def require_setting(graph: Any, privacy: Any) -> None:
    """Refuse what is no graph or no promise."""
    if not isinstance(graph, DatasetGraph) or type(privacy) is not Privacy:
        raise BadCertificate(
            "a certificate speaks of a dataset graph and a Privacy",
            given=f"{type(graph).__name__}, {type(privacy).__name__}",
            fix='pass for example path(5) and Privacy("ln(3)")',
        )


def require_enclosure(enclosure: Any, name: str) -> None:
    """Refuse what is no pair of rationals in order."""
    ends = (enclosure.lower, enclosure.upper) if type(enclosure) is Enclosure else (None, None)
    if not isinstance(ends[0], Fraction) or not isinstance(ends[1], Fraction) or ends[0] > ends[1]:
        raise BadCertificate(f"{name} must be an enclosure", given=type(enclosure).__name__, fix="pass an Enclosure")
