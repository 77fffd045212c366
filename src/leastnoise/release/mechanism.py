"""Releasing any mechanism's answer: charged to a ledger if there is one, its cost reported either way."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from leastnoise.errors import BadParameter
from leastnoise.ledger import Ledger, Request
from leastnoise.ledger.record import Json
from leastnoise.model.labels import decode_label, encode_label
from leastnoise.model.mechanism import Mechanism
from leastnoise.release.order import answer_once
from leastnoise.release.plan import ReleasePlan
from leastnoise.release.query import fresh_id
from leastnoise.release.result import Release
from leastnoise.release.tidy import TidyTable

__all__ = ["release_mechanism"]


def release_mechanism(
    mechanism: Mechanism,
    answer: Any,
    *,
    ledger: Ledger | None = None,
    dataset: str | None = None,
    analyst: str | None = None,
    purpose: str | None = None,
    request_id: str | None = None,
    draw: Callable[[Any], Any] | None = None,
    encode: Callable[[Any], Json] | None = None,
    decode: Callable[[Any], Any] | None = None,
    parameters: Mapping[str, Json] | None = None,
) -> Release:
    """One release of a mechanism at the true answer.

    Args:
        mechanism: What draws.
        answer: The true answer, private; or a function of no arguments that computes it, called after the budget was
            checked and before it is debited.
        ledger: Where it is charged; without one nothing is recorded and the cost is only reported.
        dataset: Whose budget; needed with a ledger.
        analyst: Who asks; "anyone" if left out.
        purpose: What for.
        request_id: Repeating it returns the recorded answer and costs nothing.
        draw: The mechanism's `release` with further arguments, such as a progress bar; plain `release` if left out.
        encode: What was drawn, as plain JSON; numbers, text, tuples and arrays by default.
        decode: Its inverse.
        parameters: JSON that tells this question from others under the same id.

    >>> from leastnoise.mechanisms import Geometric
    >>> release = release_mechanism(Geometric("ln(3)"), 42)
    >>> type(release.value), str(release.cost), release.certificate is not None
    (<class 'int'>, 'ε = ln(3)', True)
    """
    read, take = answer if callable(answer) else lambda: answer, draw or mechanism.release
    write, show = encode or _encode, decode or decode_label
    name, request = None, None
    if ledger is not None:
        if dataset is None:
            raise BadParameter("a ledger needs to know whose budget to charge", fix='pass dataset="census"')
        name = fresh_id() if request_id is None else request_id
        told = {"mechanism": mechanism.name, **(parameters or {})}
        request = Request(name, mechanism.privacy, dataset, analyst or "anyone", purpose or "any", told)
    recorded = answer_once(ledger, request, read, lambda truth: write(take(truth)))
    reason = mechanism.why()
    plan = ReleasePlan(
        question=f"answer of the {mechanism.name}",
        mechanism=mechanism,
        reason=reason,
        sensitivity=None,
        error=mechanism.error(),
        lower_bound=reason.lower_bound,
        half_error=None,
        event=mechanism.privacy,
        left=None
        if ledger is None or request is None
        else ledger.left(request.dataset, request.analyst, request.purpose),
    )
    return Release(TidyTable({"value": (show(recorded),)}), plan, name)


def _encode(drawn: Any) -> Json:
    """As the model writes labels; an array is a tuple of its rows."""
    written: Json = encode_label(_as_tuple(drawn.tolist()) if isinstance(drawn, np.ndarray) else drawn)
    return written


def _as_tuple(nested: Any) -> Any:
    return tuple(_as_tuple(part) for part in nested) if isinstance(nested, list) else nested
