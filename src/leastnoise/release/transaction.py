"""The steps of a release: check, hold the price, read, debit, draw, record, answer.

1. **Check.** Whatever can be wrong with the question is found here, from public things only: the table is open and of
   this process, the columns and keys fit, and the whole question was answered once by an empty table with the same
   columns. A refusal costs nothing, reserves nothing and grants nothing.
2. **Hold.** The price is reserved in the ledger. The first request that is admitted also fixes the budget and the
   privacy unit of its dataset. What no budget covers is refused here.
3. **Read.** The true answer is computed. From here on private rows have been seen, so that *no exception is a refusal*:
   every one, whatever its class and text, is a failure.
4. **Debit, draw, record.** The answer leaves after it was recorded, never before.

A **failure** may tell one bit about the data, and no price bounds what a bit is worth to whoever can choose the
question. So a failure is charged, at least `FLOOR`, and it is rationed: the ledger suspends the dataset for this
analyst until whoever keeps the ledger clears it. The request stays failed; to repeat it raises the same error and reads
nothing.

An **interruption** (Ctrl-C) before the debit gives the price back. After the debit the price stays spent; the same id
then draws without a new charge, and nothing of an earlier draw was seen: a value that was not recorded never left. An
interruption tells whether the work takes longer than some time, which depends on the data. So the ledger counts every
one and suspends the dataset after a few.

A crash leaves a reservation or a debit, and the same id goes on from there. A request that was answered gets the
recorded answer; the data is not touched.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

from leastnoise.composition import Remaining
from leastnoise.errors import BadParameter, EngineFailure, LeastNoiseError, LedgerUnavailable, engine_failure
from leastnoise.exact import releasing
from leastnoise.ledger import FLOOR, Ledger, Opening, Request
from leastnoise.ledger.record import Json

__all__ = ["FLOOR", "left_after", "release_once"]

TrueAnswer = TypeVar("TrueAnswer")

_FAILED_IN_FORMAT_1: Json = {"failed": True}  # what version 0.1 recorded instead of an answer


def release_once(
    ledger: Ledger | None,
    request: Request | None,
    read: Callable[[], TrueAnswer],
    draw: Callable[[TrueAnswer], Json],
    *,
    check: Callable[[], object] | None = None,
    opening: Opening | None = None,
) -> Any:
    """The recorded answer of a request, which is drawn first if there is none.

    Args:
        ledger: Where the price is charged; None charges nothing and records nothing.
        request: The question and its price; as the ledger, None without one.
        read: Computes the true answer from the private data.
        draw: Draws the released answer, as plain JSON.
        check: Refuses what public things forbid, before anything is held.
        opening: The budget and the privacy unit that the first admitted request fixes.

    Raises:
        BudgetExceeded: No budget covers it; nothing was read and nothing spent.
        DatasetSuspended: A failure or too many interruptions wait for whoever keeps the ledger; nothing was spent.
        EngineFailure: Reading or drawing failed, now or when this request was made first. It was charged.
    """
    if check is not None:
        check()
    stopped: BaseException
    try:
        if ledger is None or request is None:
            return _private(partial(draw, _private(read)))
        return _steps(ledger, request, read, draw, opening)
    except Exception as error:
        stopped = error
    except BaseException:
        stopped = KeyboardInterrupt()
    # Outside of `except`: what was caught is let go of, for its causes and its frames may hold private values.
    stopped.__cause__ = stopped.__context__ = None
    raise stopped.with_traceback(None)


def _steps(
    ledger: Ledger, request: Request, read: Callable[[], Any], draw: Callable[[Any], Json], opening: Opening | None
) -> Any:
    try:
        receipt = ledger.reserve(request, opening)
        if receipt.state not in ("answered", "failed"):
            truth = _private(read)
            receipt = ledger.commit(request)
    except EngineFailure:
        ledger.fail(request, floor=FLOOR)
        raise
    except KeyboardInterrupt:
        _interrupted(ledger, request)
        raise
    if receipt.state == "failed" or receipt.answer == _FAILED_IN_FORMAT_1:
        raise engine_failure()
    if receipt.state == "answered":
        return receipt.answer
    try:
        return _recorded(ledger, request, _private(partial(draw, truth)))
    except EngineFailure:
        ledger.fail(request, floor=FLOOR)
        raise
    except KeyboardInterrupt:
        _interrupted(ledger, request)
        raise


def _private(work: Callable[[], Any]) -> Any:
    """Run what sees private values. An interruption stays one; anything else becomes the one failure."""
    try:
        with releasing():
            return work()
    except Exception:
        raise engine_failure() from None
    except BaseException:
        raise KeyboardInterrupt from None


def _recorded(ledger: Ledger, request: Request, drawn: Json) -> Any:
    """What the ledger has for an answer; that a drawn value is no JSON is a failure, for it depends on the draw."""
    try:
        return ledger.record(request, drawn)
    except BadParameter:
        raise engine_failure() from None


def _interrupted(ledger: Ledger, request: Request) -> None:
    """Count the interruption, and give the price back if it was not debited; one that was never held has neither."""
    try:
        ledger.cancel(request, interrupted=True)
    except LeastNoiseError:
        return


def left_after(ledger: Ledger | None, request: Request | None) -> Remaining | None:
    """What the budget leaves after a release, for display. An answer that was paid is not held back for it."""
    if ledger is None or request is None:
        return None
    try:
        return ledger.left(request.dataset, request.analyst, request.purpose)
    except LedgerUnavailable:
        return None
