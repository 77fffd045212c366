"""What a column holds, in one vocabulary for all engines.

Queries never see a native column but its *plain form*, under the same name, made in the innermost subquery
(`Dialect.plain`). A predicate can therefore rely on these types:

| kind | plain form | missing |
|---|---|---|
| INTEGER | 64 bit, or the engine's widest integer (HUGEINT, NUMERIC, DECIMAL(38, 0)) for wider columns | NULL |
| REAL | IEEE double; ±0 and ±infinity are values | NULL, NaN |
| DECIMAL | the column's own decimal; Postgres NUMERIC may hold NaN and ±Infinity | NULL, NaN |
| TEXT | text compared by its bytes in UTF-8, whatever the column's collation; also UUID and enumerations | NULL |
| BOOLEAN, DATE | the engine's own | NULL |
| TIMESTAMP | without time zone, microseconds; a column with time zone is moved to UTC | NULL |
| OTHER | can't be used | |
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

__all__ = ["Column", "Kind"]


class Kind(Enum):
    """The kinds of columns that queries tell apart."""

    INTEGER = "integer"
    REAL = "real"
    DECIMAL = "decimal"
    TEXT = "text"
    BOOLEAN = "boolean"
    DATE = "date"
    TIMESTAMP = "timestamp"
    OTHER = "other"

    @property
    def numeric(self) -> bool:
        """Whether it can be summed, binned and ranked."""
        return self in (Kind.INTEGER, Kind.REAL, Kind.DECIMAL)


@dataclass(frozen=True)
class Column:
    """A column of a table: its name, its kind, and what the engine calls its type."""

    name: str
    kind: Kind
    native: str
    wide: bool = False  # an integer column that may hold more than 64 bits
    zoned: bool = False  # a time with a time zone
    precision: int | None = None  # digits of a decimal column; None: any number
    scale: int | None = None  # digits after its point; None: any number
    hint: str = ""  # what to do where another kind of column is needed
