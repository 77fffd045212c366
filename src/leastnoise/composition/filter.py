"""A budget that can't be overdrawn, though queries and their prices are chosen after seeing earlier answers.

The rule: a query is admitted while, with it, Σδ ≤ δ_e and (Σε ≤ ε or Σρ ≤ ρ*). Here δ_e is the part of δ set aside for
the queries' own δ, and ρ* the largest ρ that is (ε, δ − δ_e)-private by the conversion in `concentrated`. Then the
whole interaction is (ε, δ)-private. Each arm is a known filter: Σε ≤ ε is basic composition (Rogers, Roth, Ullman and
Vadhan 2016), Σρ ≤ ρ* the approximate-zCDP filter (Whitehouse, Ramdas, Rogers and Wu 2023, section 3). Either may decide
query by query, because an interaction that ends with Σε ≤ ε has a loss of at most ε and adds nothing to δ, and the
others never left the second arm; the theory page on composition has the proof. Tighter accountants (optimal
composition, loss distributions) are not valid filters, and are not used here.
"""

from __future__ import annotations

import os
import threading
from typing import NoReturn

from leastnoise.composition.account import Account, Left, Limits
from leastnoise.composition.cost import Cost, cost_of
from leastnoise.errors import BudgetExceeded, ForeignProcess
from leastnoise.exact.parameters import NumberLike
from leastnoise.model.events import Event
from leastnoise.model.privacy import Privacy

__all__ = ["Filter"]


class Filter:
    """A budget in the memory of one process; `leastnoise.accounting.Ledger` keeps one for many, and through crashes.

    Args:
        budget: What the whole interaction may cost.
        event_delta: The part of δ for the queries' own δ; half where nothing is said.

    >>> from leastnoise.model.events import Pure
    >>> budget = Filter(Privacy(1))
    >>> for _ in range(10):
    ...     budget.debit(Pure("1/10"))
    >>> budget.debit(Pure("1/10"))
    Traceback (most recent call last):
    leastnoise.errors.BudgetExceeded: the budget does not cover this query; given: ε = 1/10; nothing fits any more
    """

    def __init__(self, budget: Privacy, event_delta: NumberLike | None = None) -> None:
        self._account = Account(Limits(budget, event_delta))
        self._lock = threading.Lock()
        self._process = os.getpid()

    @property
    def limits(self) -> Limits:
        """The budget and how its δ is divided."""
        return self._account.limits

    @property
    def spent(self) -> Cost:
        """What was debited so far."""
        with self._lock:
            return self._account.spent

    @property
    def left(self) -> Left:
        """What one more query may cost."""
        with self._lock:
            return self._account.left

    def admits(self, event: Event) -> bool:
        """Whether a debit of this event would be accepted now."""
        with self._lock:
            return self._account.admits(cost_of(event))

    def debit(self, event: Event) -> None:
        """Spend; all of it or nothing.

        Raises:
            BudgetExceeded: The event does not fit; the text says what would.
            UnknownEvent: Not in the vocabulary.
            ForeignProcess: This is a copy in another process, and would spend the budget a second time.
        """
        if os.getpid() != self._process:
            raise ForeignProcess(
                "a filter belongs to the process that made it, and this is a copy of it",
                fix="use a leastnoise.accounting.Ledger, which processes can share",
            )
        cost = cost_of(event)
        with self._lock:
            if not self._account.admits(cost):
                raise BudgetExceeded(
                    "the budget does not cover this query", given=str(cost), fix=self._account.advice(cost)
                )
            self._account.add(cost)

    def __reduce__(self) -> NoReturn:
        """Refuse to be copied: two copies would spend the budget twice."""
        raise ForeignProcess(
            "a filter can't be copied or pickled: each copy would spend the whole budget",
            fix="share the object within the process, or use a leastnoise.accounting.Ledger",
        )
