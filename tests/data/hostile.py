"""One table per engine with a column of every type and rows at the ends of each: stored value beside plain value.

Row 0 is ordinary; the others hold extremes. `FILTERS` take no row, the ordinary one, or all.
"""

import math
from datetime import date, datetime, timedelta
from decimal import Decimal

import numpy as np
import pyarrow as pa

from leastnoise.data import Kind, col

FIRST, LAST = datetime.min, datetime.max  # the ends of the calendar
DECIMALS = [(1, 0), (4, 0), (4, 4), (9, 2), (18, 0), (18, 3), (18, 9), (18, 18), (19, 4), (28, 10), (38, 0), (38, 2), (38, 10), (38, 18), (38, 30), (38, 37), (38, 38)]  # fmt: skip
REALS = [1.5, None, math.nan, math.inf, -math.inf, 0.0, -0.0, 5e-324, -1e-300, 1e300, 1.7976931348623157e308, -1e16, 2.0**53, 0.1]  # fmt: skip
SINGLES = [1.5, None, math.nan, math.inf, -math.inf, 0.0, -0.0, 1e-45, 3.4e38, -3.4e38, 0.1, 16777216.0]
TEXTS = ["a", None, "", "A", "a ", "'", "\\", "100%", "é", "e\u0301", "🙂", "\U0010ffff", "x" * 70_000, "日本"]
DAYS = {
    "1999-12-31": date(1999, 12, 31),
    "0001-01-01": date.min,
    "9999-12-31": date.max,
    "2024-02-29": date(2024, 2, 29),
}
TIMES = {"1999-12-31 12:00:00": datetime(1999, 12, 31, 12), "0001-01-01 00:00:00": FIRST, "1969-12-31 23:59:59": datetime(1969, 12, 31, 23, 59, 59)}  # fmt: skip
EPOCH = datetime(1970, 1, 1)


def whole(low, high):
    """Stored and plain values of whole numbers."""
    near = {low, low + 1, high, high - 1, 0, 1, -1, 3, 5, 7, 2**31, 2**53 + 1, -(2**53) - 1}
    return {str(x): x for x in [2, *sorted(x for x in near if low <= x <= high)]} | {None: None}


def decimals(precision, scale):
    ends = {
        0,
        1,
        -1,
        5,
        10**precision - 1,
        1 - 10**precision,
        10 ** (precision - 1),
        -(10 ** (precision - 1)),
        10**scale,
    }
    found = [Decimal(x).scaleb(-scale, PRECISE) for x in [2, *sorted(x for x in ends if abs(x) < 10**precision)]]
    return {f"{x:f}": x for x in found} | {None: None}


def moment(count, unit):
    """The time of a count of seconds, milliseconds or microseconds since 1970, brought into the calendar."""
    micros = count * {"s": 10**6, "ms": 1000, "us": 1}[unit]
    least, most = ((x - EPOCH) // timedelta(microseconds=1) for x in (FIRST, LAST))
    return LAST if micros > most else FIRST if micros < least else EPOCH + timedelta(microseconds=micros)


COUNTS = [10**9, None, 0, -1, 2**63 - 2, -(2**63), -(2**63) + 2, 10**17, -(10**17), 253402300799, 253402300800]


def rows_of(columns):
    """Rows from columns of plain values, each column in turn; units and row numbers beside them."""
    length = max(map(len, columns.values()))
    rows = [{name: values[row % len(values)] for name, values in columns.items()} for row in range(length)]
    return [row | {"u": number % 5, "n": number} for number, row in enumerate(rows)]


PRECISE = __import__("decimal").Context(prec=80)
FILTERS = {"none": col("n") == -1, "one": col("n") == 0, "all": col("n") >= 0}


class DuckDB:
    """A DuckDB file: SQL types by casts, times beyond the microseconds through Arrow, which checks nothing."""

    kinds = {
        "byte": ("TINYINT", Kind.INTEGER, whole(-128, 127)),
        "small": ("USMALLINT", Kind.INTEGER, whole(0, 2**16 - 1)),
        "long": ("BIGINT", Kind.INTEGER, whole(-(2**63), 2**63 - 1)),
        "unsigned": ("UBIGINT", Kind.INTEGER, whole(0, 2**64 - 1)),
        "huge": ("HUGEINT", Kind.INTEGER, whole(-(2**127), 2**127 - 1)),
        "double": ("DOUBLE", Kind.REAL, REALS),
        "single": ("FLOAT", Kind.REAL, [None if x is None else float(np.float32(x)) for x in SINGLES]),
        **{f"d{p}_{s}": (f"DECIMAL({p}, {s})", Kind.DECIMAL, decimals(p, s)) for p, s in DECIMALS},
        "text": ("VARCHAR", Kind.TEXT, TEXTS),
        "label": ("ENUM('a', 'B c')", Kind.TEXT, ["a", "B c", None]),
        "flag": ("BOOLEAN", Kind.BOOLEAN, [True, False, None]),
        "day": ("DATE", Kind.DATE, DAYS | {"infinity": date.max, "-infinity": date.min, "10000-01-01": date.max, "5881580-07-10": date.max, "0001-12-31 (BC)": date.min, None: None}),
        "moment": ("TIMESTAMP", Kind.TIMESTAMP, TIMES | {"infinity": LAST, "-infinity": FIRST, "294247-01-10 04:00:54": LAST, None: None}),
        "nano": ("TIMESTAMP_NS", Kind.TIMESTAMP, {"1999-12-31 12:00:00": datetime(1999, 12, 31, 12), "infinity": LAST, None: None}),
        "zoned": ("TIMESTAMPTZ", Kind.TIMESTAMP, {f"{x}+00": y for x, y in TIMES.items()} | {"infinity": LAST, "-infinity": FIRST, None: None}),
    }  # fmt: skip
    raw = {"in_s": "s", "in_ms": "ms", "in_us": "us"}

    def __init__(self, folder):
        import duckdb

        stored = {name: list(values) for name, (_, _, values) in self.kinds.items()} | dict.fromkeys(self.raw, COUNTS)
        plain = {
            name: list(values.values()) if isinstance(values, dict) else values
            for name, (_, _, values) in self.kinds.items()
        }
        plain |= {name: [None if x is None else moment(x, unit) for x in COUNTS] for name, unit in self.raw.items()}
        self.rows = rows_of(plain)
        self.columns = {name: kind for name, (_, kind, _) in self.kinds.items()} | dict.fromkeys(
            self.raw, Kind.TIMESTAMP
        )
        frame = pa.table(
            {
                "n": [row["n"] for row in self.rows],
                "u": [row["u"] for row in self.rows],
                **{
                    name: [_text(stored[name][row % len(stored[name])]) for row in range(len(self.rows))]
                    for name in self.kinds
                },
                **{
                    name: pa.array([COUNTS[row % len(COUNTS)] for row in range(len(self.rows))], pa.int64()).view(
                        pa.timestamp(unit)
                    )
                    for name, unit in self.raw.items()
                },
            }
        )
        casts = ", ".join(f"CAST({name} AS {type_}) AS {name}" for name, (type_, _, _) in self.kinds.items())
        self.path = folder / "hostile.duckdb"
        with duckdb.connect(str(self.path)) as connection:
            connection.register("frame", frame)
            connection.execute(f"CREATE TABLE hostile AS SELECT n, u, {', '.join(self.raw)}, {casts} FROM frame")

    def open(self):
        from leastnoise.data import open_table

        return open_table(self.path, table="hostile")


def _text(value):
    return None if value is None else repr(value) if isinstance(value, float) else str(value)
