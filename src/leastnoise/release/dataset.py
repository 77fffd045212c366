"""A table with a budget, and all the questions that can be asked of it."""

from __future__ import annotations

from dataclasses import dataclass

from leastnoise.composition import Left
from leastnoise.data import Contribution, Table
from leastnoise.errors import UncoveredDebit
from leastnoise.ledger import Ledger
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
        owns_table: Whether `close` closes the table.
        owns_ledger: Whether `close` closes the ledger.
    """

    table: Table
    ledger: Ledger
    name: str
    analyst: str
    purpose: str
    contribution: Contribution
    owns_table: bool = True
    owns_ledger: bool = True

    @property
    def budget(self) -> Privacy:
        """What all questions together may cost."""
        granted = self.ledger.budget_of(self.name)
        if granted is None:
            raise UncoveredDebit("the dataset has no budget", given=self.name, fix="open it again with a budget")
        return granted

    @property
    def left(self) -> Left:
        """What one more question may cost."""
        return self.ledger.left(self.name, self.analyst, self.purpose)

    @property
    def columns(self) -> dict[str, str]:
        """The columns with what they hold: the public schema."""
        return {name: kind.value for name, kind in self.table.columns.items()}

    def close(self) -> None:
        """Let go of the engine and the ledger."""
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
