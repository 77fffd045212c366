"""Labels of inputs and outputs: distinct hashable names, found by name, written to JSON and back.

Numbers are labels too: 0, 1/2 and 0.25 keep their value, so that a loss can measure the distance between them.
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sized
from fractions import Fraction
from itertools import islice
from numbers import Integral
from typing import Any, SupportsFloat

from leastnoise.errors import BadChannel, BadParameter, TooLarge, UnknownColumn, UnknownLabel, shown
from leastnoise.exact import read_rational

__all__ = [
    "closest",
    "decode_label",
    "encode_label",
    "index_labels",
    "label_number",
    "read_labels",
    "suggest",
    "unknown_label",
]

_SHOWN = 6
_LONGEST_GUESSED = 200  # characters of a wrong label that are compared with the right ones
_MOST_LABELS = 1 << 24
_MOST_UNCOUNTED = 1 << 20  # from something that does not say how many it has, and may have no end


def read_labels(labels: Iterable[Hashable] | int | None, what: str, count: int | None = None) -> tuple[Hashable, ...]:
    """Read labels, or a number of labels meaning 0, 1, 2, …; refuse repeated and unhashable ones.

    >>> read_labels(3, "inputs"), read_labels("ab", "outputs")
    ((0, 1, 2), ('a', 'b'))
    """
    if labels is None:
        labels = count or 0
    if isinstance(labels, Integral):
        number = int(labels)
        if number > _MOST_LABELS:
            raise TooLarge(f"there may be at most {_MOST_LABELS:,} {what}", given=number, fix="use fewer")
        read: tuple[Hashable, ...] = tuple(range(number))
    elif isinstance(labels, Iterable):
        most = _MOST_LABELS if isinstance(labels, Sized) else _MOST_UNCOUNTED
        read = tuple(islice(_iterator(labels, what), most + 1))
        if len(read) > most:
            raise TooLarge(f"there may be at most {most:,} {what}", fix="use fewer, in a list")
    else:
        raise BadChannel(f"{what} are a list of labels, or how many", given=labels, fix=f"pass for example {what}=3")
    if not read:
        raise BadChannel(f"there must be at least one of the {what}", given="none", fix=f"name the {what}")
    if count is not None and len(read) != count:
        raise BadChannel(
            f"there are {count} {what} in the matrix", given=f"{len(read)} labels", fix=f"pass {count} distinct {what}"
        )
    index_labels(read, what)
    return read


def _iterator(labels: Iterable[Hashable], what: str) -> Iterator[Hashable]:
    try:
        return iter(labels)
    except TypeError:  # NumPy's point has the methods of a list, and is none
        raise BadChannel(f"{what} are a list of labels", given=labels, fix=f"pass for example {what}=3") from None


def index_labels(labels: tuple[Hashable, ...], what: str) -> dict[Hashable, int]:
    """The place of each label; a repeated or unhashable one is an error."""
    places: dict[Hashable, int] = {}
    for place, label in enumerate(labels):
        try:
            first = places.setdefault(label, place)
        except TypeError:
            raise BadChannel(f"{what}[{place}] cannot be a label", given=label, fix="use text or a number") from None
        if first != place:
            raise BadChannel(
                f"{what}[{first}] and {what}[{place}] are the same label", given=label, fix=f"give distinct {what}"
            )
        if isinstance(label, float) and math.isnan(label):
            raise BadChannel(f"{what}[{place}] is not a number", given=label, fix="use text or a number")
    return places


def unknown_label(label: object, known: Iterable[Hashable], what: str) -> UnknownLabel:
    """The error for a label that is not there, naming the closest one that is.

    >>> raise unknown_label("appel", ["apple", "pear"], "output")
    Traceback (most recent call last):
    leastnoise.errors.UnknownLabel: there is no output of this name; given: 'appel'; did you mean 'apple'?
    """
    kind = UnknownColumn if what == "column" else UnknownLabel
    return kind(f"there is no {what} of this name", given=shown(label), fix=suggest(label, known, what))


def suggest(label: object, known: Iterable[Hashable], what: str) -> str:
    """What to write instead of a label that is not there: the closest one, or what there is."""
    labels = list(known)
    near = closest(label, labels)
    if near is not None:
        return f"did you mean {shown(near)}?"
    listed = ", ".join(map(shown, labels[:_SHOWN]))
    return f"the {what}s are {listed}{', …' if len(labels) > _SHOWN else ''}"


def closest(label: object, known: Iterable[Hashable], alike: float = 0.5) -> Hashable | None:
    """The known label that is most like one that is not there; None where none is `alike`, from 0 to 1, to it.

    >>> closest("appel", ["pear", "apple"]), closest("x", ["apple"])
    ('apple', None)
    """
    written = {_text(each): each for each in reversed(list(known))}
    same = [each for text, each in written.items() if text.casefold() == _text(label).casefold()]
    near = difflib.get_close_matches(_text(label)[:_LONGEST_GUESSED], written, n=1, cutoff=alike)
    return same[-1] if same else written[near[0]] if near else None


def _text(label: object) -> str:
    return str(label) if isinstance(label, str | float | Fraction) else shown(label)


def label_number(label: Hashable, what: str = "label") -> Fraction:
    """The number that a label is; text that looks like a number is not one.

    >>> label_number(0.5)
    Fraction(1, 2)
    """
    if isinstance(label, int | Fraction) and not isinstance(label, bool):
        return Fraction(label)
    if isinstance(label, str | bool) or not isinstance(label, SupportsFloat):
        raise BadParameter(
            f"a {what} must be a number to have a distance", given=shown(label), fix="use numbers as labels"
        )
    return read_rational(label, what)


def encode_label(label: Hashable) -> Any:
    """A label as JSON: text, whole numbers, true, false and null as they are; the others say what they are.

    >>> encode_label((1, Fraction(1, 2)))
    {'tuple': [1, {'number': '1/2'}]}
    """
    if label is None or isinstance(label, str | bool) or type(label) is int:
        return label
    if isinstance(label, Fraction):
        return {"number": str(label)}
    if isinstance(label, float):
        return {"float": label.hex()}
    if isinstance(label, tuple):
        return {"tuple": [encode_label(part) for part in label]}
    if isinstance(label, frozenset):
        return {"set": sorted((encode_label(part) for part in label), key=repr)}
    if hasattr(label, "item"):  # a NumPy scalar is the Python number it holds
        return encode_label(label.item())
    raise BadChannel(
        "a label of this type has no form in JSON", given=type(label).__name__, fix="use text, numbers or tuples"
    )


def decode_label(encoded: Any) -> Hashable:
    """The label that `encode_label` wrote.

    >>> decode_label({"tuple": [1, {"number": "1/2"}]})
    (1, Fraction(1, 2))
    """
    if encoded is None or isinstance(encoded, str | bool | int):
        return encoded
    if isinstance(encoded, Mapping) and len(encoded) == 1:
        ((kind, value),) = encoded.items()
        if kind == "number" and isinstance(value, str):
            return read_rational(value, "label")
        if kind == "float" and isinstance(value, str):
            return _read_float(value)
        if kind == "tuple" and isinstance(value, list):
            return tuple(decode_label(part) for part in value)
        if kind == "set" and isinstance(value, list):
            return frozenset(decode_label(part) for part in value)
    raise BadChannel("this is not the JSON form of a label", given=encoded, fix="write labels with `to_json`")


def _read_float(text: str) -> float:
    try:
        return float.fromhex(text)
    except (OverflowError, ValueError):
        raise BadChannel("this is not a float in hexadecimal", given=text, fix="write labels with `to_json`") from None
