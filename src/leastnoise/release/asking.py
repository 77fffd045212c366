"""What all questions of a dataset start from: the table, its filters, and what one unit may add."""

from __future__ import annotations

from abc import ABC, abstractmethod

from leastnoise.composition import Left
from leastnoise.data import Axis, Contribution, Predicate, Table
from leastnoise.data.predicates import read_filter
from leastnoise.errors import BadParameter
from leastnoise.exact.parameters import NumberLike, read_integer
from leastnoise.ledger import Ledger, Opening
from leastnoise.release.axes import Bins, By, Keys, read_axes, read_by

__all__ = ["Asking", "Limit", "Where", "require_countable"]

Where = str | Predicate | None
Limit = NumberLike | None


class Asking(ABC):
    """Reads the arguments that questions have in common.

    Attributes:
        table: The data in its engine; private.
        ledger: Where the budget is kept.
        name: What the ledger calls the dataset.
        analyst: Who asks.
        purpose: What for.
        contribution: What one unit may add, unless a question says otherwise.
        opening: The budget and the privacy unit that the first request fixes.
    """

    table: Table
    ledger: Ledger
    name: str
    analyst: str
    purpose: str
    contribution: Contribution
    opening: Opening

    @property
    @abstractmethod
    def left(self) -> Left:
        """What one more question may cost."""

    @abstractmethod
    def require_ready(self) -> None:
        """Refuse to ask a dataset that was closed, or opened by another process."""

    def _filter(self, where: Where) -> Predicate | None:
        return read_filter(where, self.table.columns)

    def _bound(self, groups: Limit, rows: Limit) -> Contribution:
        """The contribution bounds of a question: its own, or those of the dataset."""
        base = self.contribution
        most_groups = base.groups_per_unit if groups is None else read_integer(groups, "groups_per_unit", at_least=1)
        most_rows = base.rows_per_unit if rows is None else read_integer(rows, "rows_per_unit", at_least=1)
        return Contribution(base.privacy_unit, most_groups, most_rows)

    def _public_axes(self, by: By, keys: Keys, bins: Bins) -> tuple[Axis, ...]:
        axes = read_axes(self.table, read_by(self.table, by, keys, bins), keys, bins)
        if axes is None:
            raise BadParameter(
                "this needs public keys or bins", fix='pass keys=["Lyon", "Metz"], or count by unknown keys first'
            )
        return axes


def require_countable(of: object) -> None:
    """Refuse to count anything but rows and units."""
    if of not in ("rows", "units"):
        raise BadParameter("what is counted must be rows or units", given=of, fix='pass of="rows" or of="units"')
