"""The order of steps of a release: hold the price, read the data, debit, draw, record, answer.

- Before anything is read the price is held in the ledger; what no budget covers is refused here.
- An interruption (Ctrl-C) while the data is read gives the price back, and so does a question that the table refuses
  before it reads anything (a key of the wrong kind). The same id may then be asked again.
- A failure while the data is read, or while the answer is drawn, is charged: that it failed may say something about
  the data. It is recorded like an answer, so repeating the request raises the same error and reads nothing.
- Between debit and record a crash leaves the debit; repeating the request by its id then draws without a new charge,
  and nothing was answered before.
- A request that was answered gets the recorded answer; the data is not touched.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

from leastnoise.errors import (
    BadFilter,
    BadParameter,
    EngineFailure,
    NumberTooLarge,
    TooLarge,
    UnknownLabel,
)
from leastnoise.ledger import Ledger, Opening, Request
from leastnoise.ledger.record import Json

__all__ = ["answer_once"]

Truth = TypeVar("Truth")

_FAILED: Json = {"failed": True}
# What a table says of a question before it reads anything.
_REFUSALS = (BadFilter, BadParameter, NumberTooLarge, TooLarge, UnknownLabel)


def answer_once(
    ledger: Ledger | None,
    request: Request | None,
    read: Callable[[], Truth],
    draw: Callable[[Truth], Json],
    opening: Opening | None = None,
) -> Any:
    """The recorded answer of a request, which is drawn first if there is none.

    Args:
        ledger: Where the price is charged; None charges nothing and records nothing.
        request: The question and its price; as the ledger, None without one.
        read: Computes the true answer from the private data.
        draw: Draws the released answer, as plain JSON.
        opening: The privacy unit that the first admitted request fixes.

    Raises:
        BudgetExceeded: No budget covers it; nothing was read and nothing spent.
        EngineFailure: Reading or drawing failed, now or when this request was made first. It was charged.
    """
    if ledger is None or request is None:
        drawn, stopped = _attempt(lambda: draw(read()))
        if stopped is not None:
            raise stopped
        return drawn
    receipt = ledger.reserve(request, opening)
    if receipt.state == "failed":
        raise engine_failure()
    if receipt.state == "answered":
        return _unless_failed(receipt.answer)
    truth, stopped = _attempt(read)
    if stopped is not None and not isinstance(stopped, EngineFailure):
        if receipt.state == "reserved":
            ledger.cancel(request)
        raise stopped
    ledger.commit(request)
    drawn = _FAILED
    if stopped is None:
        drawn, stopped = _attempt(partial(draw, truth))
    del truth  # so that no traceback from here on holds it
    if stopped is not None:
        if not isinstance(stopped, Exception):
            raise stopped
        drawn = _FAILED
    return _unless_failed(ledger.record(request, drawn))


def _attempt(work: Callable[[], Any]) -> tuple[Any, BaseException | None]:
    """What the work gives, or what to raise instead.

    An interruption stays one and a refusal of the question passes; anything else becomes the one failure that says
    nothing. What was caught is let go of: its text, its causes and the frames of its traceback may hold private values.
    """
    try:
        return work(), None
    except _REFUSALS as refusal:
        return None, refusal.with_traceback(None)
    except Exception:
        return None, engine_failure()
    except BaseException:
        return None, KeyboardInterrupt()


def _unless_failed(answer: Json) -> Json:
    if answer == _FAILED:
        raise engine_failure()
    return answer


def engine_failure() -> EngineFailure:
    """The one text of every failure."""
    return EngineFailure(
        "the engine failed; what it said is not passed on, for it may quote the data",
        fix="look into the engine's own log; the request was charged, ask again under a new id",
    )
