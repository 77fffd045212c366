"""What a ledger's entries say, in one canonical form, and where they leave each request.

An entry is a JSON object with sorted keys and no blanks. Numbers that matter are exact, as text. An entry is one of:
`open` (the first), `version` (from here on a later format), `grant` (a budget), `dataset` (its privacy unit),
`reserve`, `commit`, `cancel`, `debit` (reserve and commit at once), `answer` (the released value or a part of it,
nothing else of what the query saw), `fail` and `clear`.

The state of a request is kept from following the chain. Where it stands, and which entries are its own, is never looked
up in a column or an index of the store, which no hash covers.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from json.encoder import encode_basestring_ascii
from typing import Any, NamedTuple, TypeAlias

from leastnoise.composition.cost import Cost, cost_of
from leastnoise.errors import BadParameter, RequestConflict, UnknownEvent, shown
from leastnoise.exact import Exact, read_exact
from leastnoise.model import Event, event_from_dict

__all__ = [
    "TRANSITIONS",
    "UNIT_PURPOSE",
    "Debit",
    "Entry",
    "Json",
    "Request",
    "RequestState",
    "RequestStates",
    "canonical",
    "debit_of",
    "read_name",
    "read_purpose",
    "request_key",
]

Json: TypeAlias = bool | int | float | str | list["Json"] | dict[str, "Json"] | None
Entry: TypeAlias = dict[str, Any]

_ENCODER = json.JSONEncoder(sort_keys=True, separators=(",", ":"), allow_nan=False)
_LONGEST_NAME = 200
_DEEPEST = 100  # levels of lists and dicts in parameters
UNIT_PURPOSE = "privacy unit: "  # how format 1 began the purpose of a grant that kept a privacy unit


def canonical(value: object, what: str = "value") -> str:
    r"""The one text of a JSON value: sorted keys, no blanks, ASCII only.

    Raises:
        BadParameter: Not JSON; NaN and infinities are not.

    >>> canonical({"b": [1, 0.5], "a": "é"})
    '{"a":"\\u00e9","b":[1,0.5]}'
    """
    try:
        return _ENCODER.encode(value)
    except (TypeError, ValueError, RecursionError):
        raise BadParameter(
            f"{what} is not plain JSON",
            given=type(value).__name__,
            fix="use numbers, text, lists and dicts with text keys; NaN and infinities have no JSON",
        ) from None


@dataclass(frozen=True)
class Request:
    """One question, and all that makes it this question.

    Args:
        id: The analyst's own name for it. Asking again under the same id returns the recorded answer and costs nothing.
        event: What answering costs.
        dataset: About which data.
        analyst: Who asks; ids of different analysts are different.
        purpose: What for.
        parameters: JSON that tells this question from others. Only its hash is kept; the same id with other parameters
            is refused.
        asked: Gives the question and its price as JSON, where another process is to answer; no part of the question.

    >>> from leastnoise.model.events import Pure
    >>> Request("q1", Pure("1/10"), dataset="census", analyst="ada").key
    '["ada","q1"]'
    """

    id: str
    event: Event
    dataset: str
    analyst: str
    purpose: str = "any"
    parameters: Mapping[str, Json] = field(default_factory=dict)
    asked: Callable[[], dict[str, Json]] | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        """Check the names and that the event has a price."""
        for name in ("id", "dataset", "analyst"):
            read_name(getattr(self, name), name)
        read_purpose(self.purpose)
        if not isinstance(self.event, Event):
            raise UnknownEvent("a request costs an event", given=self.event, fix='pass for example Pure("1/10")')
        _ = self.cost
        if not isinstance(self.parameters, Mapping) or not _has_text_keys(self.parameters):
            raise BadParameter(
                "parameters must be a dict with text keys, and so must every dict in it",
                given=type(self.parameters).__name__,
                fix='pass for example {"query": "q"}',
            )

    @cached_property
    def cost(self) -> Cost:
        """What answering costs."""
        return cost_of(self.event)

    @cached_property
    def key(self) -> str:
        """What the ledger finds it by."""
        return request_key(self.analyst, self.id)

    @cached_property
    def fingerprint(self) -> str:
        """A hash of everything but the id."""
        text = canonical(
            [self.dataset, self.analyst, self.purpose, self.event.to_dict(), dict(self.parameters)], "parameters"
        )
        return hashlib.sha256(text.encode()).hexdigest()


def _has_text_keys(value: object, depth: int = 0) -> bool:
    """Whether JSON keeps the value apart from others: it writes the keys 1 and "1" alike."""
    if depth > _DEEPEST:
        return False
    if isinstance(value, Mapping):
        return all(isinstance(key, str) and _has_text_keys(each, depth + 1) for key, each in value.items())
    return not isinstance(value, list | tuple) or all(_has_text_keys(each, depth + 1) for each in value)


def request_key(analyst: object, request: object) -> str:
    """What a request is filed under: JSON of the analyst and the id.

    >>> request_key("ada", "first")
    '["ada","first"]'
    """
    if not isinstance(analyst, str) or not isinstance(request, str):
        raise BadParameter("a request has an analyst and an id", given=type(request).__name__, fix="name both")
    return f"[{encode_basestring_ascii(analyst)},{encode_basestring_ascii(request)}]"


def read_name(value: object, what: str) -> str:
    """A name of a dataset, an analyst, a purpose or a request: short, printable text.

    >>> read_name("census 2020", "dataset")
    'census 2020'
    """
    if not isinstance(value, str) or not 0 < len(value) <= _LONGEST_NAME or not value.isprintable():
        raise BadParameter(
            f"{what} must be printable text of 1 to {_LONGEST_NAME} characters",
            given=value if isinstance(value, str) else type(value).__name__,
            fix=f'pass for example {what}="census"',
        )
    if value != value.strip():
        raise BadParameter(f"{what} must not begin or end with a blank", given=shown(value), fix="strip it")
    return value


def read_purpose(value: object) -> str:
    """The name of a purpose; one that format 1 used for privacy units can't be used any more."""
    name = read_name(value, "purpose")
    if name.startswith(UNIT_PURPOSE):
        raise BadParameter(
            f"a purpose must not begin with {UNIT_PURPOSE!r}: old ledgers keep privacy units under such names",
            given=name,
            fix='pass for example purpose="monthly report"',
        )
    return name


class RequestState(NamedTuple):
    """Where a request stands.

    Args:
        state: "reserved", "committed", "answered", "failed" or "cancelled".
        first: The number of the entry that charged it first. It binds the id to one question.
        last: The number of the entry that brought it here; of an answer in parts, the last part.
    """

    state: str
    first: int
    last: int


@dataclass(frozen=True)
class Debit:
    """What was charged for a request.

    Args:
        time: When it was charged, in seconds since 1970.
        analyst: Who asked.
        purpose: What for.
        request: The id.
        event: What was done.
        cost: What it costs.
        floor: The least ε that it was charged because it failed; None where it did not fail.
        state: Where the request stands now.
    """

    time: int
    analyst: str
    purpose: str
    request: str
    event: Event
    cost: Cost
    floor: Exact | None
    state: str


_KNOWN = ("reserved", "committed", "answered", "failed", "cancelled")

# Where an entry of a kind takes a request; what is not here can't happen. "interrupt" is a cancellation that counts.
TRANSITIONS: dict[tuple[str | None, str], str] = {
    (None, "debit"): "committed",
    (None, "reserve"): "reserved",
    ("cancelled", "debit"): "committed",
    ("cancelled", "reserve"): "reserved",
    ("reserved", "commit"): "committed",
    ("reserved", "cancel"): "cancelled",
    ("committed", "answer"): "answered",
    # Several processes may work on one request. Whatever one of them did, a failure or an interruption of another
    # is seen by whoever asked, so it counts.
    **{(state, "fail"): "answered" if state == "answered" else "failed" for state in _KNOWN},
    **{(state, "interrupt"): "cancelled" if state == "reserved" else state for state in _KNOWN},
}


class RequestStates:
    """The state of every request, by its key."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[str, int, int]] = {}  # as in `RequestState`, but plain: there may be millions
        self._answering: tuple[str, int, int] | None = None  # an answer in parts: whose, how many, the next one
        self.whole = True  # whether no answer lacks a part

    def __len__(self) -> int:
        """How many requests there are."""
        return len(self._known)

    def begin(self, key: str, kind: str, seq: int) -> bool:
        """Take a request that was never seen to where its first entry takes it; False where that can't be."""
        state = TRANSITIONS.get((None, kind))
        if state is None or key in self._known or not self.whole:
            return False
        self._known[key] = state, seq, seq
        return True

    def get(self, key: str) -> RequestState | None:
        """Where a request stands; None where it was never seen."""
        found = self._known.get(key)
        return None if found is None else RequestState(*found)

    def after(self, key: str, kind: str, seq: int) -> tuple[str, int, int]:
        """Where an entry of a kind and number takes a request, for `go_on`.

        Raises:
            RequestConflict: It can't follow.
        """
        known = self._known.get(key)
        before = None if known is None else known[0]
        state = TRANSITIONS.get((before, kind))
        if state is None:
            raise RequestConflict(f"{kind!r} can't follow {before!r}", fix="restore the ledger")
        if known is None:
            return state, seq, seq
        return known if state == before else (state, known[1], seq)

    def go_on(self, key: str, known: tuple[str, int, int]) -> None:
        """Take a request to where `after` said."""
        self._known[key] = known

    def answer(self, key: str, entry: Entry) -> bool:
        """Take an answer, or the next part of one, and say whether it is complete.

        Raises:
            RequestConflict: It is not the next part.
        """
        if "parts" not in entry:
            expected, found = None, self._answering
        else:
            part, parts = entry["part"], entry["parts"]
            if type(parts) is not int or parts < 2 or type(entry["text"]) is not str:
                raise RequestConflict("it is no part of an answer", fix="restore the ledger")
            expected, found = (key, parts, part), self._answering or (key, parts, 1)
        if expected != found:
            raise RequestConflict("it is not the next part of an answer", fix="restore the ledger")
        last = expected is None or expected[2] == expected[1]
        self._answering = None if last or expected is None else (key, expected[1], expected[2] + 1)
        self.whole = last
        return last


def debit_of(entry: Entry, requests: RequestStates) -> Debit:
    """What an entry `debit`, `reserve` or `fail` charged."""
    known = requests.get(request_key(entry["analyst"], entry["request"]))
    return Debit(
        entry["time"],
        entry["analyst"],
        entry["purpose"],
        entry["request"],
        event_from_dict(entry["event"]),
        Cost.from_list(entry["cost"]),
        read_exact(entry["floor"], "floor") if "floor" in entry else None,
        "unknown" if known is None else known.state,
    )
