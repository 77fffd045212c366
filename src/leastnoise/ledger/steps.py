"""The story of a request: reserved, committed, answered; or cancelled before it was committed.

Repeating a step that was made changes nothing and says where the request stands.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

from leastnoise.errors import RequestConflict
from leastnoise.ledger.chain import Row, damaged
from leastnoise.ledger.keeper import Writing
from leastnoise.ledger.record import Entry, Json, Request, request_key, write_cost

__all__ = ["Receipt", "advance"]


@dataclass(frozen=True)
class Receipt:
    """Where a request stands.

    Args:
        state: "reserved", "committed" or "answered".
        answer: The recorded answer, once there is one.
        fresh: Whether this very call charged it.
    """

    state: str
    answer: Json = None
    fresh: bool = False


_STATES = {
    "reserve": "reserved",
    "debit": "committed",
    "commit": "committed",
    "answer": "answered",
    "cancel": "cancelled",
}

# What to append when a request in some state (None: never seen) is to make a step; None for nothing.
_NEXT: dict[tuple[str | None, str], str | None] = {
    (None, "debit"): "debit",
    (None, "reserve"): "reserve",
    ("reserved", "reserve"): None,
    ("reserved", "debit"): "commit",
    ("reserved", "commit"): "commit",
    ("reserved", "cancel"): "cancel",
    ("committed", "reserve"): None,
    ("committed", "debit"): None,
    ("committed", "commit"): None,
    ("committed", "answer"): "answer",
    ("cancelled", "cancel"): None,
}
_FIX = {
    "debit": "a cancelled id stays cancelled: take a new one",
    "reserve": "a cancelled id stays cancelled: take a new one",
    "commit": "reserve it first, or debit it at once",
    "cancel": "only a reservation can be cancelled; what is committed stays spent",
    "answer": "debit it first: no answer without its debit",
}


def advance(writing: Writing, request: Request, step: str, more: Entry) -> Receipt:
    """Append the step where the state of the request asks for it, and say where the request stands now.

    Raises:
        BudgetExceeded: A budget does not cover it.
        UncoveredDebit: The dataset has no budget.
        RequestConflict: The id was used for something else, or the step does not follow from its state.
    """
    key, fingerprint = request.key, request.fingerprint
    story = [_entry_of(row, key) for row in writing.session.entries_of(key)]
    if story and story[0]["fingerprint"] != fingerprint:
        raise RequestConflict(
            "this request id was used before with another dataset, purpose, event or parameters",
            given=request.id,
            fix="repeat the request exactly as it was, or take a new id",
        )
    state = _STATES[story[-1]["kind"]] if story else None
    if state == "answered" and step != "cancel":
        return Receipt("answered", story[-1]["answer"])
    if (state, step) not in _NEXT:
        raise RequestConflict(f"a request that is {state or 'unknown'} can't {step}", given=request.id, fix=_FIX[step])
    kind = _NEXT[state, step]
    if kind is None:
        return Receipt(str(state))
    fields: Entry = {"analyst": request.analyst, "request": request.id, **more}
    if kind in ("debit", "reserve"):
        fields |= {
            "dataset": request.dataset,
            "purpose": request.purpose,
            "event": request.event.to_dict(),
            "cost": write_cost(request.cost),
            "fingerprint": fingerprint,
        }
    writing.append(kind, key, fields)
    return Receipt(_STATES[kind], more.get("answer"), fresh=kind in ("debit", "reserve"))


def _entry_of(row: Row, key: str) -> Entry:
    """A stored entry of a request. Its text was checked when the books followed it, but not where it is filed."""
    entry: Entry = json.loads(row.body)
    if request_key(entry.get("analyst"), entry.get("request")) != key:
        raise damaged(row.seq, "it is filed under another request")
    return entry
