"""The written form of certificates: strict JSON with exact numbers as text, and one form for each content.

The parts of a certificate are checked whenever one is made. A certificate may come from a file, a solver or a person's
own code. Whichever it is, its numbers are rationals, its places are whole numbers of at least zero (a negative one
would be another name for a later place), and its channels are exact. What a certificate claims is not checked here;
that is for `leastnoise.check`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from numbers import Integral, Rational
from typing import TYPE_CHECKING, Any, NoReturn

from leastnoise.errors import BadCertificate, LeastNoiseError
from leastnoise.exact import Enclosure
from leastnoise.model.channel import Channel
from leastnoise.model.graphs import DatasetGraph
from leastnoise.model.privacy import Privacy

__all__ = [
    "as_places",
    "as_rational",
    "as_rationals",
    "as_sequence",
    "as_whole_table",
    "is_certificate",
    "read_channel",
    "read_enclosure",
    "read_form",
    "read_indices",
    "read_list",
    "read_privacy",
    "read_rational_text",
    "read_table",
    "read_text",
    "require_channel",
    "require_enclosure",
    "require_setting",
    "write_enclosure",
    "write_form",
    "write_table",
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


if TYPE_CHECKING:
    from leastnoise.model.channel_certificates import Certificate

_FORMAT, _VERSION = "leastnoise/certificate", 1
_RATIONAL = re.compile(r"-?\d+(/\d+)?", re.ASCII)
_FIX = "write certificates with to_json"


def write_form(claim: str, fields: Mapping[str, Any]) -> str:
    """The whole document, laid out so that a row of numbers is a line."""
    return _lay_out(_document(claim, fields), "")


def is_certificate(text: str) -> bool:
    """Whether a JSON text says that it is a certificate, be it a good one or not."""
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        return False
    return isinstance(data, Mapping) and data.get("format") == _FORMAT


def read_form(text: str, kinds: Mapping[str, type[Certificate]]) -> Certificate:
    """Read a document, and refuse it unless writing what was read gives the same document."""
    try:
        data = json.loads(text, object_pairs_hook=_no_duplicates, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        if isinstance(error, BadCertificate):
            raise
        raise BadCertificate("this is not JSON", given=str(error), fix=_FIX) from None
    if not isinstance(data, dict) or data.get("format") != _FORMAT:
        raise BadCertificate(f'a certificate is a JSON object with "format": "{_FORMAT}"', given=data, fix=_FIX)
    if data.get("version") != _VERSION:
        given = f"version {data.get('version')!r}"
        raise BadCertificate(
            f"this release reads version {_VERSION} of certificates", given=given, fix="upgrade leastnoise"
        )
    kind = kinds.get(str(data.get("claim")))
    if kind is None:
        raise BadCertificate("this kind of claim is unknown", given=data.get("claim"), fix=f"known: {', '.join(kinds)}")
    try:
        certificate = kind.of_fields(data)
    except KeyError as error:
        if isinstance(error, LeastNoiseError):
            raise BadCertificate(error.problem, given=error.given, fix=error.fix) from None
        raise BadCertificate("a field is missing", given=error.args[0], fix=_FIX) from None
    except (LeastNoiseError, TypeError, ValueError, LookupError) as error:
        if isinstance(error, BadCertificate):
            raise
        raise BadCertificate("a field can't be read", given=str(error), fix=_FIX) from None
    difference = _difference(data, _document(certificate.claim, certificate.fields()), "")
    if difference is not None:
        raise BadCertificate("a certificate has one form only, and this is another", given=difference, fix=_FIX)
    return certificate


def read_privacy(data: Mapping[str, Any]) -> Privacy:
    """Read the fields epsilon and delta."""
    return Privacy(read_text(data["epsilon"], "epsilon"), read_text(data["delta"], "delta"))


def read_channel(data: Any) -> Channel:
    """Read an exact channel whose rows sum to exactly one."""
    if not isinstance(data, Mapping) or not isinstance(data.get("rows"), list):
        raise BadCertificate("a channel is an object with inputs, outputs and rows", given=data, fix=_FIX)
    channel = Channel.from_dict({**data, "rows": [list(row) for row in read_table(data["rows"], "rows")]})
    if not channel.is_exact or not channel.sums_to_one:
        raise BadCertificate(
            "a channel in a certificate has exact rows that sum to 1", fix="use to_exact(normalise=True)"
        )
    return channel


def read_table(data: Any, name: str) -> tuple[tuple[Fraction, ...], ...]:
    """Read a list of lists of rationals."""
    rows = read_list(data, name)
    return tuple(tuple(read_rational_text(entry) for entry in read_list(row, f"a row of {name}")) for row in rows)


def read_list(data: Any, name: str, length: int | None = None) -> Sequence[Any]:
    """Read a list."""
    if not isinstance(data, list) or (length is not None and len(data) != length):
        raise BadCertificate(f"{name} must be a list{f' of {length}' if length else ''}", given=data, fix=_FIX)
    return data


def read_indices(data: Any) -> tuple[int, ...]:
    """Read a list of whole numbers of at least zero."""
    if not isinstance(data, list) or any(type(index) is not int or index < 0 for index in data):
        raise BadCertificate("places are whole numbers of at least 0", given=data, fix=_FIX)
    return tuple(data)


def read_text(data: Any, name: str) -> str:
    """Read a text."""
    if not isinstance(data, str):
        raise BadCertificate(f"{name} must be text", given=data, fix=_FIX)
    return data


def read_rational_text(data: Any) -> Fraction:
    """Read a rational written as text: "3", "-1/2"; nothing that would have to be evaluated."""
    if not isinstance(data, str) or not _RATIONAL.fullmatch(data):
        raise BadCertificate('a number is text such as "3" or "1/2"', given=data, fix=_FIX)
    try:
        return Fraction(data)
    except (ValueError, ZeroDivisionError) as error:
        raise BadCertificate(f"a number can't be read: {error}", given=data, fix=_FIX) from None


def read_enclosure(data: Any) -> Enclosure:
    """Read a lower and an upper bound."""
    lower, upper = (read_rational_text(end) for end in read_list(data, "an enclosure", length=2))
    return Enclosure(lower, upper)


def write_enclosure(enclosure: Enclosure) -> list[str]:
    """The two bounds."""
    return [str(enclosure.lower), str(enclosure.upper)]


def write_table(rows: Iterable[Iterable[Fraction]]) -> list[list[str]]:
    """A list of lists of rationals."""
    return [[str(entry) for entry in row] for row in rows]


def _lay_out(data: Any, indent: str) -> str:
    nested = data.values() if isinstance(data, dict) else data if isinstance(data, list) else ()
    if not any(isinstance(part, dict | list) for part in nested):
        return json.dumps(data, ensure_ascii=False)
    inner = f"{indent}  "
    names = (
        [f"{json.dumps(name, ensure_ascii=False)}: " for name in data] if isinstance(data, dict) else [""] * len(data)
    )
    lines = [f"{inner}{name}{_lay_out(part, inner)}" for name, part in zip(names, nested, strict=True)]
    opening, closing = "{}" if isinstance(data, dict) else "[]"
    return "\n".join([opening, ",\n".join(lines), f"{indent}{closing}"])


def _document(claim: str, fields: Mapping[str, Any]) -> dict[str, Any]:
    return {"format": _FORMAT, "version": _VERSION, "claim": claim, **fields}


def _difference(given: Any, canonical: Any, place: str) -> str | None:
    """The first place where a document is not in its form."""
    if isinstance(given, dict) and isinstance(canonical, dict):
        for key in [*given, *canonical]:
            if key not in canonical:
                return f"the unknown field {place}{key}"
            if key not in given:
                return f"the missing field {place}{key}"
            if difference := _difference(given[key], canonical[key], f"{place}{key}."):
                return difference
        return None
    if isinstance(given, list) and isinstance(canonical, list) and len(given) == len(canonical):
        pairs = enumerate(zip(given, canonical, strict=True))
        return next((d for i, (one, other) in pairs if (d := _difference(one, other, f"{place}{i}."))), None)
    if type(given) is type(canonical) and given == canonical:
        return None
    return f"{place.rstrip('.')}: {given!r} is not {canonical!r}"


def _no_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    data = dict(pairs)
    if len(data) < len(pairs):
        raise BadCertificate("a field is given twice", given=[key for key, _ in pairs], fix=_FIX)
    return data


def _no_constant(name: str) -> NoReturn:
    raise BadCertificate("a number in a certificate is exact text", given=name, fix=_FIX)
