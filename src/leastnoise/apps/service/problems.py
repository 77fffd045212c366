"""Errors as problem details (RFC 9457), made from the library's typed errors; nothing else is ever said."""

from __future__ import annotations

import json
from collections.abc import Mapping

from fastapi import Response

from leastnoise import errors
from leastnoise.apps.service.worker import public_given
from leastnoise.errors import LeastNoiseError, ServiceUnavailable

__all__ = ["failure_place", "problem_of", "public_error", "status_of"]

_STATUS: tuple[tuple[type[LeastNoiseError], int], ...] = (
    (errors.NotAllowed, 403),
    (errors.NotFound, 404),
    (errors.TooManyRequests, 429),
    (errors.ApprovalPending, 409),
    (errors.ServiceError, 503),
    (errors.BudgetExceeded, 403),
    (errors.DatasetSuspended, 423),
    (errors.BudgetError, 409),
    (errors.LedgerError, 503),
    (errors.EngineFailure, 500),
    (errors.DataError, 503),
    (errors.LimitError, 422),
    (errors.InputError, 422),
    (errors.PrivacyError, 422),
)


def status_of(error: LeastNoiseError) -> int:
    """The status of a typed error."""
    return next((status for kind, status in _STATUS if isinstance(error, kind)), 500)


def public_error(error: Exception) -> LeastNoiseError:
    """The error itself where it is one of ours, whose parts are public; else one that says nothing of it."""
    if isinstance(error, LeastNoiseError):
        return error
    return ServiceUnavailable("the service failed on this request", fix="report it; nothing was answered")


def problem_of(error: Exception, status: int | None = None, headers: Mapping[str, str] | None = None) -> Response:
    """The response for an error. One that is not ours says nothing of itself."""
    known = public_error(error)
    code = status or (status_of(known) if known is error else 500)
    told = {
        "type": f"urn:leastnoise:{type(known).__name__}",
        "title": (type(known).__doc__ or "").splitlines()[0],
        "status": code,
        "detail": known.problem,
        "given": public_given(known),
        "fix": known.fix,
    }
    return Response(json.dumps(told), code, dict(headers or {}), "application/problem+json")


def failure_place(error: BaseException) -> str:
    """Where a program failed, for a log: the kind of the error and the line, and nothing that it holds."""
    where = error.__traceback__
    while where is not None and where.tb_next is not None:
        where = where.tb_next
    line = "" if where is None else f" at {where.tb_frame.f_code.co_filename}:{where.tb_lineno}"
    return f"{type(error).__name__}{line}"
