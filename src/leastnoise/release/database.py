"""Several linked tables with one budget: each is asked as a dataset, and so is a join that protects one unit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from leastnoise.data import Source
from leastnoise.data.joined_table import JoinedTable
from leastnoise.data.linked_tables import LinkedTables
from leastnoise.errors import BadParameter
from leastnoise.release.dataset import Dataset

__all__ = ["Database"]


@dataclass(frozen=True, repr=False, eq=False)
class Database(Dataset):
    """Made by `ln.open` with `links`. It is asked like a dataset: about the table of the unit, or about any other.

    `shop["orders"]` is a dataset of the orders that belong to a customer. Its own columns have their own names, and
    those of the tables that its links lead to are qualified: "customers.city". A public table, and the table of the
    unit where the unit is known without it, is joined only where a question names one of its columns. Rows without a
    partner there stay, and what they lack is missing. All datasets of a database share its budget.

    Attributes:
        linked: The tables in their engine; private.
    """

    linked: LinkedTables = field(kw_only=True)
    _views: dict[int, Dataset] = field(default_factory=dict, init=False)

    @property
    def table_names(self) -> tuple[str, ...]:
        """The tables, private and public, as they were declared."""
        return tuple(self.linked.members)

    def columns_of(self, table: str) -> dict[str, str]:
        """The columns of one table with what they hold: the public schema.

        Args:
            table: Its name, as it was declared.
        """
        return {
            name: column.kind.value for name, column in self.linked.shape.tables[self.linked.shape.table(table)].items()
        }

    def __getitem__(self, table: str) -> Dataset:
        """The rows of a private table, with what its links lead to.

        Raises:
            UnsafeJoin: The table is public.
            BadParameter: There is no such table.
        """
        if not isinstance(table, str):
            raise BadParameter("a table has a name", given=table, fix=f"pass one of {', '.join(self.table_names)}")
        return self if table == self.linked.shape.unit.table else self._dataset(self.linked.view(table))

    def join(self, sources: Sequence[Source]) -> Dataset:
        """The rows of a join, with columns named "alias.column".

        Args:
            sources: The tables in the order of a FROM clause.

        Raises:
            UnsafeJoin: A joined row could depend on several units; the reason and what to write are in the text.
            BadParameter: Tables, aliases or conditions that make no sense.
        """
        return self._dataset(self.linked.join(sources))

    def close(self) -> None:
        """Let go of the engine and the ledger; no dataset of the database can be asked afterwards."""
        super().close()
        if self.owns_table:
            self.linked.engine.close()

    def _dataset(self, view: JoinedTable) -> Dataset:
        if id(view) not in self._views:
            contribution = replace(self.contribution, privacy_unit=view.unit)
            self._views[id(view)] = Dataset(
                table=view,
                ledger=self.ledger,
                name=self.name,
                analyst=self.analyst,
                purpose=self.purpose,
                contribution=contribution,
                opening=self.opening,
                owns_table=False,
                owns_ledger=False,
            )
        return self._views[id(view)]
