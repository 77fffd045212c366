"""The steps of a request: reserved, committed, answered; or cancelled before it was committed; or failed.

Repeating a step that was made changes nothing and says where the request stands.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from leastnoise.errors import BadParameter, BudgetChanged, RequestConflict
from leastnoise.ledger.budgets import Opening, PrivacyUnit, Scope, read_opening, write_grant
from leastnoise.ledger.ledger_state import LedgerState
from leastnoise.ledger.record import Entry, Json, Request
from leastnoise.ledger.request_states import TRANSITIONS, RequestState
from leastnoise.ledger.session import WriteContext

__all__ = [
    "Receipt",
    "advance",
    "answer_entries",
    "entry_fields",
    "recorded_answer",
    "require_agreement",
    "require_same",
]

_PART = 1 << 20  # characters of an answer's text in one entry


@dataclass(frozen=True)
class Receipt:
    """Where a request stands.

    Args:
        state: "reserved", "committed", "answered", "failed" or "cancelled".
        answer: The recorded answer, once there is one.
        fresh: Whether this very call charged it.
    """

    state: str
    answer: Any = None
    fresh: bool = False


# What to append when a request in some state (None: never seen) is to make a step; None for nothing.
_NEXT: dict[tuple[str | None, str], str | None] = {
    (None, "debit"): "debit",
    (None, "reserve"): "reserve",
    ("cancelled", "debit"): "debit",
    ("cancelled", "reserve"): "reserve",
    ("reserved", "reserve"): None,
    ("reserved", "debit"): "commit",
    ("reserved", "commit"): "commit",
    ("reserved", "cancel"): "cancel",
    ("committed", "reserve"): None,
    ("committed", "debit"): None,
    ("committed", "commit"): None,
    ("committed", "answer"): "answer",
    ("cancelled", "cancel"): None,
    ("failed", "reserve"): None,
    ("failed", "debit"): None,
    ("failed", "commit"): None,
    **{(state, "interrupt"): "cancel" for state in ("reserved", "committed", "answered", "cancelled", "failed")},
    **{(state, "fail"): "fail" for state in ("reserved", "committed", "answered", "cancelled", "failed")},
}
_FIX = {
    "commit": "reserve it first, or debit it at once",
    "cancel": "only a reservation can be cancelled; what is committed stays spent",
    "interrupt": "only a request that was reserved or debited can be interrupted",
    "answer": "debit it first: no answer without its debit; one that failed has none",
    "fail": "only a request that was reserved or debited can fail",
}


def advance(
    context: WriteContext,
    request: Request,
    step: str,
    more: Sequence[Entry] = ({},),
    answer: Json = None,
    opening: Opening | None = None,
) -> Receipt:
    """Append the step where the state of the request asks for it, and say where the request stands now.

    Args:
        context: The state and the store, within a transaction.
        request: Whose step it is.
        step: "debit", "reserve", "commit", "cancel", "interrupt", "answer" or "fail".
        more: Further fields, for each entry that the step takes.
        answer: The answer that the step "answer" records.
        opening: The budget and unit that a reservation fixes where there are none.

    Raises:
        BudgetExceeded: A budget does not cover it.
        BudgetChanged: The dataset has another budget or unit than `opening` says.
        UncoveredDebit: The dataset has no budget.
        DatasetSuspended: Failures or interruptions wait for whoever keeps the ledger.
        RequestConflict: The id was used for something else, or the step does not follow from its state.
    """
    if not isinstance(request, Request):
        raise BadParameter("a step is one of a `Request`", given=request, fix="make one with its id, event and dataset")
    if opening is not None:
        require_agreement(context.state, request.dataset, opening)
    known = context.state.requests.get(request.key)
    if known is not None:
        require_same(context.entries(known.first, known.first)[0], request)
    state = None if known is None else known.state
    if known is not None and state == "answered" and step not in ("cancel", "interrupt", "fail"):
        return Receipt("answered", recorded_answer(context, known))
    if (state, step) not in _NEXT:
        raise RequestConflict(f"a request that is {state or 'unknown'} can't {step}", given=request.id, fix=_FIX[step])
    kind = _NEXT[state, step]
    if step in ("debit", "reserve") and state != "failed":  # one that waits could read the data and fail, too
        context.state.suspensions.require_none(request.dataset, request.analyst)
    if state == "failed" and step == "fail" and _is_suspended(context, request):
        kind = None
    if kind == "reserve" and opening is not None:
        _grant_opening(context, request, opening)
    if state != "failed" and opening is not None and request.dataset not in context.state.units:
        context.append("dataset", {"dataset": request.dataset, "unit": opening.unit})
    if kind is None:
        return Receipt(str(state))
    for fields in more:
        context.append(kind, entry_fields(kind, step, request) | fields)
    reached = TRANSITIONS[state, "interrupt" if step == "interrupt" else kind]
    if known is not None and state == "answered":
        answer = recorded_answer(context, known)
    return Receipt(reached, answer, fresh=kind in ("debit", "reserve"))


def require_same(first: Entry, request: Request) -> None:
    """Go on only where a request is the question that its id was first used for.

    Raises:
        RequestConflict: It is another one.
    """
    if first["fingerprint"] != request.fingerprint:
        raise RequestConflict(
            "this request id was used before with another dataset, purpose, event or parameters",
            given=request.id,
            fix="repeat the request exactly as it was, or take a new id",
        )


def answer_entries(answer: Json, text: str) -> list[Entry]:
    """The fields of the entries that hold an answer: itself, or the parts of its canonical text."""
    if len(text) <= _PART:
        return [{"answer": answer}]
    chunks = [text[start : start + _PART] for start in range(0, len(text), _PART)]
    return [{"part": i, "parts": len(chunks), "text": chunk} for i, chunk in enumerate(chunks, start=1)]


def recorded_answer(context: WriteContext, known: RequestState) -> Json:
    """The answer of a request, read again and proven."""
    (last,) = context.entries(known.last, known.last)
    if "parts" not in last:
        answer: Json = last["answer"]
        return answer
    parts = context.entries(known.last - last["parts"] + 1, known.last)
    whole: Json = json.loads("".join(entry["text"] for entry in parts))
    return whole


def entry_fields(kind: str, step: str, request: Request) -> Entry:
    """What an entry of a kind says for a step of a request."""
    fields: Entry = {"analyst": request.analyst, "request": request.id}
    if step == "interrupt":
        fields |= {"dataset": request.dataset, "interrupted": True}
    if kind in ("debit", "reserve", "fail"):
        fields |= {
            "dataset": request.dataset,
            "purpose": request.purpose,
            "event": request.event.to_dict(),
            "cost": request.cost.to_list(),
            "fingerprint": request.fingerprint,
        }
    return fields


def _is_suspended(context: WriteContext, request: Request) -> bool:
    found = context.state.suspensions.get(request.dataset, request.analyst)
    return found is not None and found.holds


def require_agreement(state: LedgerState, dataset: str, opening: Opening) -> None:
    """Go on only where the dataset has no other budget and no other privacy unit than an opening says.

    Raises:
        BudgetChanged: It has.
    """
    read_opening(opening)
    granted, unit = state.budgets.get(Scope(dataset)), state.units.get(dataset)
    if granted is not None and opening.budget is not None and granted.account.limits.budget != opening.budget:
        raise BudgetChanged(
            f"dataset {dataset!r} was granted {granted.account.limits.budget}, and opening it does not change that",
            given=str(opening.budget),
            fix="leave `budget` out; whoever keeps the ledger can set a new limit with ledger.grant, "
            "or `leastnoise budget grant`",
        )
    if unit is not None and unit != PrivacyUnit(opening.unit):
        raise BudgetChanged(
            "the budget of this dataset protects another privacy unit: one granted per person can't be used per row",
            given=str(PrivacyUnit(opening.unit)),
            fix=f"open it with the first one: {unit}; for another unit, give the dataset another name and a budget of "
            "its own",
        )


def _grant_opening(context: WriteContext, request: Request, opening: Opening) -> None:
    """Grant the first budget of a dataset, if with it the request is admitted; nothing is written where it is not."""
    state, scope = context.state, Scope(request.dataset)
    budgets = state.matching(request.dataset, request.analyst, request.purpose, opening.budget)
    state.admit(request.cost, budgets, [budget.account_at(context.time) for budget in budgets])
    if opening.budget is not None and scope not in state.budgets:
        context.append("grant", write_grant(opening.budget, scope))
