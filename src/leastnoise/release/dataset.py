"""A table with a budget, and all the questions that can be asked of it."""

from __future__ import annotations

from dataclasses import dataclass, field

from leastnoise.composition import Left
from leastnoise.data import Contribution, Table
from leastnoise.errors import Closed, UncoveredDebit
from leastnoise.ledger import Ledger, Opening
from leastnoise.model.privacy import Privacy
from leastnoise.release.choosing import Choosing
from leastnoise.release.counting import Counting
from leastnoise.release.deciding import Deciding
from leastnoise.release.measuring import Measuring

__all__ = ["Dataset"]


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
    _closed: bool = field(default=False, init=False)

    @property
    def budget(self) -> Privacy:
        """What all questions together may cost; as long as none was asked, what will be granted."""
        budget = self.ledger.budget_of(self.name) or self.opening.budget
        if budget is None:
            raise UncoveredDebit("the dataset has no budget", given=self.name, fix="open it with one: budget=1")
        return budget

    @property
    def left(self) -> Left:
        """What one more question may cost."""
        return self.ledger.left(self.name, self.analyst, self.purpose, self.opening)

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

    def __repr__(self) -> str:
        """Its name and unit."""
        unit = self.contribution.privacy_unit
        return f"Dataset({self.name!r}, privacy_unit={unit!r})"
