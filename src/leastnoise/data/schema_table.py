"""A table of which only the columns are here: questions about it can be made and checked, and none can be asked."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from leastnoise.data.columns import Column
from leastnoise.data.engines.duckdb import DUCKDB
from leastnoise.data.identity import Identity
from leastnoise.data.table import Table
from leastnoise.errors import engine_failure

__all__ = ["SchemaTable"]


class SchemaTable(Table):
    """The public schema of a table that somebody else holds.

    Args:
        name: What the table is called there.
        columns: Its columns.
    """

    dialect = DUCKDB

    def __init__(self, name: str, columns: Iterable[Column]) -> None:
        super().__init__(Identity(name), columns, "elsewhere")

    def rehearse(self, question: Callable[[], object]) -> None:
        """Whoever holds the rows rehearses it."""

    def _release(self) -> None:
        pass

    def _execute(self, text: str, values: list[object]) -> Sequence[Sequence[Any]]:  # noqa: ARG002 - there are no rows
        raise engine_failure()
