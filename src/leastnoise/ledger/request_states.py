"""The state of every request: where it stands, and which entry may follow.

It is kept from following the chain. Where a request stands, and which entries are its own, is never looked up in a
column or an index of the store, which no hash covers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from leastnoise.composition.cost import Cost
from leastnoise.errors import RequestConflict
from leastnoise.exact.numbers import Exact
from leastnoise.exact.parameters import read_exact
from leastnoise.ledger.record import Entry, request_key
from leastnoise.model.events import Event, event_from_dict

__all__ = ["TRANSITIONS", "Debit", "RequestState", "RequestStates", "debit_of"]


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
