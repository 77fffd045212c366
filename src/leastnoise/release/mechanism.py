"""Releasing any mechanism's answer: charged to a ledger if there is one, its cost reported either way."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from inspect import signature
from typing import Any

import numpy as np

from leastnoise.errors import BadParameter
from leastnoise.exact.sources import system_source
from leastnoise.ledger import Ledger, Request
from leastnoise.ledger.record import Json
from leastnoise.model.labels import decode_label, encode_label
from leastnoise.model.mechanism import Mechanism
from leastnoise.release.fingerprint import fingerprint_of, require_no_predictable_source
from leastnoise.release.plan import ReleasePlan
from leastnoise.release.queries.query import fresh_id
from leastnoise.release.result import Release
from leastnoise.release.tidy import TidyTable
from leastnoise.release.transaction import left_after, release_once

__all__ = ["release_mechanism"]


def release_mechanism(
    mechanism: Mechanism,
    truth: Any,
    *,
    ledger: Ledger | None = None,
    dataset: str | None = None,
    analyst: str | None = None,
    purpose: str | None = None,
    request_id: str | None = None,
    progress: Callable[..., None] | None = None,
    encode: Callable[[Any], Json] | None = None,
    decode: Callable[[Any], Any] | None = None,
    parameters: Mapping[str, Json] | None = None,
) -> Release:
    """One release of a mechanism at the truth.

    Everything that can be wrong with the mechanism is said before anything is spent. An error that the truth
    causes, in computing it or in drawing, is a failure: it is charged and says nothing.

    Args:
        mechanism: What draws, with the source of this process and no other.
        truth: The true answer, private; or a function of no arguments that computes it, called after the budget was
            checked and before it is debited.
        ledger: Where it is charged; without one nothing is recorded and the cost is only reported.
        dataset: Whose budget; needed with a ledger.
        analyst: Who asks; "anyone" if left out.
        purpose: What for.
        request_id: Repeating it returns the recorded answer and costs nothing. It is bound to all parameters of the
            mechanism; with another one under the same id the request is refused.
        progress: Handed to a mechanism whose draws take time and that takes one. What it is told depends on the data.
        encode: What was drawn, as plain JSON; numbers, text, tuples and arrays by default.
        decode: Its inverse.
        parameters: JSON that tells this question from others under the same id, beside the mechanism. Needed where the
            mechanism holds a function, which no hash can tell from another.

    Raises:
        BadParameter: The mechanism can't be told from others; nothing was spent.
        InsecureSource: The mechanism holds a predictable source of bits; nothing was spent.
        RequestConflict: The id was used for another question.
        EngineFailure: Computing or drawing the answer failed; it was charged.

    >>> from leastnoise.mechanisms import Geometric
    >>> release = release_mechanism(Geometric("ln(3)"), 42)
    >>> type(release.value), str(release.cost), release.certificate is not None
    (<class 'int'>, 'ε = ln(3)', True)
    """
    require_no_predictable_source(mechanism)
    draw: Callable[..., Any] = mechanism.draw
    if progress is not None:
        draw = partial(draw, progress=_accepted(mechanism, progress))
    plan = _plan(mechanism)
    name, request = None, None
    if ledger is not None:
        if dataset is None:
            raise BadParameter("a ledger needs to know whose budget to charge", fix='pass dataset="census"')
        name = fresh_id() if request_id is None else request_id
        told = _identity(mechanism, parameters)
        request = Request(name, plan.event, dataset, analyst or "anyone", purpose or "any", told)
    read = truth if callable(truth) else lambda: truth
    write, show = encode or _encode, decode or decode_label
    recorded = release_once(ledger, request, read, lambda truth: write(draw(truth, source=system_source)))
    return Release(TidyTable({"value": (show(recorded),)}), replace(plan, left=left_after(ledger, request)), name)


def _plan(mechanism: Mechanism) -> ReleasePlan:
    reason = mechanism.reason()
    return ReleasePlan(
        question=f"answer of the {mechanism.name}",
        mechanism=mechanism,
        reason=reason,
        sensitivity=None,
        error=mechanism.error(),
        lower_bound=reason.lower_bound,
        half_error=None,
        event=mechanism.event,
    )


def _identity(mechanism: Mechanism, parameters: Mapping[str, Json] | None) -> dict[str, Json]:
    """What the request id is bound to: the mechanism, and what the caller adds."""
    told: dict[str, Json] = {"mechanism": mechanism.name}
    try:
        told["fingerprint"] = fingerprint_of(mechanism)
    except BadParameter:
        if not parameters:
            raise
    return told if parameters is None else {**told, "parameters": dict(parameters)}


def _accepted(mechanism: Mechanism, progress: Callable[..., None]) -> Callable[..., None]:
    if "progress" not in signature(mechanism.draw).parameters:
        raise BadParameter("this mechanism reports no progress", given=mechanism.name, fix="leave `progress` out")
    return progress


def _encode(drawn: Any) -> Json:
    """As the model writes labels; an array is a tuple of its rows."""
    written: Json = encode_label(_as_tuple(drawn.tolist()) if isinstance(drawn, np.ndarray) else drawn)
    return written


def _as_tuple(nested: Any) -> Any:
    return tuple(_as_tuple(part) for part in nested) if isinstance(nested, list) else nested
