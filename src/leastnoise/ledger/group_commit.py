"""Group commit: threads that wait for the writer share its next transaction, and its one flush to the disk."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, Generic, TypeVar

from leastnoise.errors import LedgerUnavailable

__all__ = ["GroupCommit", "Ticket"]

Argument = TypeVar("Argument")


class Ticket(Generic[Argument]):
    """An operation in the queue, and what came of it."""

    __slots__ = ("done", "error", "operation", "result")

    def __init__(self, operation: Callable[[Argument], Any]) -> None:
        self.operation = operation
        self.result: Any = None
        self.error: BaseException | None = None
        self.done = False


class GroupCommit(Generic[Argument]):
    """Runs operations in batches, one batch at a time.

    Args:
        run_batch: Runs all tickets of a batch in one transaction and sets their results or errors. What it raises
            is the fate of the whole batch.
    """

    def __init__(self, run_batch: Callable[[list[Ticket[Argument]]], None]) -> None:
        self._run_batch = run_batch
        self._queue: list[Ticket[Argument]] = []
        self._queue_lock, self._writer = threading.Lock(), threading.Lock()

    def run(self, operation: Callable[[Argument], Any]) -> Any:
        """The operation's result, once its transaction is over."""
        ticket = Ticket(operation)
        with self._queue_lock:
            self._queue.append(ticket)
        with self._writer:  # whoever comes first runs everything that has queued up meanwhile
            if not ticket.done:
                with self._queue_lock:
                    batch, self._queue = self._queue, []
                try:
                    self._run_batch(batch)
                except BaseException as error:
                    for each in batch:  # an interrupt is for this thread alone
                        each.error = error if isinstance(error, Exception) else _interrupted()
                    raise
                finally:
                    for each in batch:
                        each.done = True
        if ticket.error is not None:
            raise ticket.error
        return ticket.result


def _interrupted() -> LedgerUnavailable:
    return LedgerUnavailable(
        "the transaction was interrupted by another thread, and nothing was answered", fix="ask again under the same id"
    )
