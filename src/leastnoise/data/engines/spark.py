"""Spark: the caller's session does the work; a DataFrame is named for us by a temporary view."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from leastnoise.data.columns import Column, Kind
from leastnoise.data.dialects import SPARK
from leastnoise.data.table import Table

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["SparkTable"]

_KINDS = {
    **dict.fromkeys(("tinyint", "smallint", "int", "bigint"), Kind.INTEGER),
    **dict.fromkeys(("float", "double"), Kind.REAL),
    **dict.fromkeys(("timestamp", "timestamp_ntz"), Kind.TIMESTAMP),
    "boolean": Kind.BOOLEAN,
    "date": Kind.DATE,
}


class SparkTable(Table):
    """A Spark DataFrame, wherever its session runs.

    Args:
        name: Its public name.
        frame: The DataFrame.
    """

    dialect = SPARK

    def __init__(self, name: str, frame: DataFrame) -> None:
        self._frame, self._session = frame, frame.sparkSession
        self._view = f"leastnoise_{uuid4().hex}"
        self._made_up: DataFrame | None = None
        frame.createTempView(self._view)
        super().__init__(name, [_column(field, native) for field, native in frame.dtypes], self._view)

    def _execute(self, text: str, values: list[object]) -> Sequence[Sequence[Any]]:
        found = self._session.sql(text, args=values)
        rows = found.collect()
        return list(zip(*rows, strict=True)) if rows else [()] * len(found.columns)

    def _keep(self, text: str, values: list[object]) -> str:
        self._made_up = self._session.sql(text, args=values).cache()
        self._made_up.createTempView(f"{self._view}_made_up")
        return f"{self._view}_made_up"

    def close(self) -> None:
        """Drop the temporary views; the session is the caller's and stays."""
        self._session.catalog.dropTempView(self._view)
        if self._made_up is not None:
            self._session.catalog.dropTempView(f"{self._view}_made_up")
            self._made_up.unpersist()


def _column(name: str, native: str) -> Column:
    decimal = re.fullmatch(r"decimal\((\d+),(\d+)\)", native)
    if decimal:
        return Column(name, Kind.DECIMAL, native, precision=int(decimal[1]), scale=int(decimal[2]))
    text = re.match(r"(string|varchar|char)\b", native)
    kind = Kind.TEXT if text else _KINDS.get(native, Kind.OTHER)
    return Column(name, kind, native, zoned=native == "timestamp")
