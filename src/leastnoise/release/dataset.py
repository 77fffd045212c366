"""A table with a budget, and all the questions that can be asked of it."""

from __future__ import annotations

import os
from dataclasses import dataclass, field

from leastnoise.composition import Left, Limits
from leastnoise.composition.account import Account
from leastnoise.data import Contribution, Table
from leastnoise.errors import Closed, ForeignProcess, UncoveredDebit
from leastnoise.ledger import Ledger, Opening, Scope
from leastnoise.model.privacy import Privacy
from leastnoise.release.choosing import Choosing
from leastnoise.release.counting import Counting
from leastnoise.release.deciding import Deciding
from leastnoise.release.measuring import Measuring

__all__ = ["Dataset", "granted_budget"]


@dataclass(frozen=True, repr=False, eq=False)
class Dataset(Counting, Measuring, Choosing, Deciding):
    """Made by `ln.open`. Each method makes a question; its `plan` says what it costs, its `release` asks it.

    Attributes:
        table: The data in its engine; private.
        ledger: Where the budget is kept.
        name: What the ledger calls the dataset.
        analyst: Who asks.
        purpose: What for.
        contribution: What one unit may add, unless a question says otherwise.
        opening: The budget and the privacy unit that the first request fixes; until then nothing is granted.
        owns_table: Whether `close` closes the table.
        owns_ledger: Whether `close` closes the ledger.
    """

    table: Table
    ledger: Ledger
    name: str
    analyst: str
    purpose: str
    contribution: Contribution
    opening: Opening
    owns_table: bool = True
    owns_ledger: bool = True
    _process: int = field(default_factory=os.getpid, init=False)
    _closed: bool = field(default=False, init=False)

    @property
    def budget(self) -> Privacy:
        """What all questions together may cost; as long as none was asked, what will be granted."""
        budget = granted_budget(self.ledger, self.name) or self.opening.budget
        if budget is None:
            raise UncoveredDebit("the dataset has no budget", given=self.name, fix="open it with one: budget=1")
        return budget

    @property
    def left(self) -> Left:
        """What one more question may cost."""
        try:
            return self.ledger.left(self.name, self.analyst, self.purpose)
        except UncoveredDebit:
            if self.opening.budget is None:
                raise
        own = Account(Limits(self.opening.budget)).left
        others = [balance.left for balance in self.ledger.balances() if self._is_bound_by(balance.scope)]
        return Left(
            min(left.epsilon for left in (own, *others)),
            min(left.rho for left in (own, *others)),
            min(left.delta for left in (own, *others)),
            max(left.used for left in (own, *others)),
        )

    @property
    def columns(self) -> dict[str, str]:
        """The columns with what they hold: the public schema."""
        return {name: kind.value for name, kind in self.table.columns.items()}

    def require_ready(self) -> None:
        """Refuse to go on after `close`, and in a forked child.

        Raises:
            Closed: It was closed.
            ForeignProcess: It was opened by another process.
        """
        if self._closed:
            raise Closed("the dataset was closed", given=self.name, fix="ask within the `with` block, or open it again")
        if self._process != os.getpid():
            raise ForeignProcess(
                "the dataset was opened by another process", given=self.name, fix="open it again in this one"
            )
        self.table.require_ready()

    def close(self) -> None:
        """Let go of the engine and the ledger; nothing can be asked afterwards."""
        object.__setattr__(self, "_closed", True)
        if self.owns_table:
            self.table.close()
        if self.owns_ledger:
            self.ledger.close()

    def __enter__(self) -> Dataset:
        """Itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close it."""
        self.close()

    def _is_bound_by(self, scope: Scope) -> bool:
        mine = (self.name, self.analyst, self.purpose)
        limits = (scope.dataset, scope.analyst, scope.purpose)
        return all(limit in (None, own) for limit, own in zip(limits, mine, strict=True))

    def __repr__(self) -> str:
        """Its name and unit."""
        unit = self.contribution.privacy_unit
        return f"Dataset({self.name!r}, privacy_unit={unit!r})"


def granted_budget(ledger: Ledger, dataset: str) -> Privacy | None:
    """What the ledger has granted to a dataset; None before its first request."""
    return next((b.limits.budget for b in ledger.balances() if b.scope == Scope(dataset)), None)
