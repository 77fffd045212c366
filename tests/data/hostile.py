"""One table per engine with a column of every type and rows at its ends: the stored text beside the plain value.

Row 0 is ordinary, the others hold extremes. `FILTERS` take no row, the ordinary one, or all.
"""

import math
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Context, Decimal

import numpy as np
import psycopg
import pyarrow as pa

from leastnoise.data import Kind, col, open_table
from support.postgres import has_loose_collations

FIRST, LAST, EPOCH = datetime.min, datetime.max, datetime(1970, 1, 1)
FILTERS = {"none": col("n") == -1, "one": col("n") == 0, "all": col("n") >= 0}
NOTHING = {None: None}
DECIMALS = [(1, 0), (4, 0), (4, 4), (9, 2), (18, 0), (18, 3), (18, 9), (18, 18), (19, 4), (28, 10), (38, 0), (38, 2)]
DECIMALS += [(38, 10), (38, 18), (38, 30), (38, 37), (38, 38)]
ODD = (math.nan, math.inf, -math.inf, 0.0, -0.0, 0.1)
DOUBLES = (1.5, *ODD, 5e-324, -1e-300, 1e300, 1.7976931348623157e308, -1e16, 2.0**53)
SINGLES = tuple(float(np.float32(x)) for x in (1.5, *ODD, 1e-45, 3.4e38, -3.4e38, 16777216.0))
TEXTS = ("a", "", "A", "a ", "'", "\\", "100%", "é", "e\u0301", "🙂", "\U0010ffff", "x" * 70_000, "日本")
DAYS = {str(day): day for day in (date(1999, 12, 31), date.min, date.max, date(2024, 2, 29))}
TIMES = {
    str(time): time for time in (datetime(1999, 12, 31, 12), FIRST, LAST, datetime(1969, 12, 31, 23, 59, 59, 999999))
}
ENDLESS = {"infinity": LAST, "-infinity": FIRST, "294247-01-10 04:00:54": LAST}
COUNTS = (10**9, 0, -1, 2**63 - 2, -(2**63), -(2**63) + 2, 10**17, -(10**17), 253402300799, 253402300800)


def whole(low, high):
    near = {low, low + 1, high, high - 1, 0, 1, -1, 3, 5, 7, 2**31, 2**53 + 1, -(2**53) - 1}
    return {str(x): x for x in [2, *sorted(x for x in near if low <= x <= high)]} | NOTHING


def decimals(precision, scale):
    ends = {0, 1, -1, 5, 10**precision - 1, 1 - 10**precision, 10 ** (precision - 1), 10**scale}
    inside = [2, *sorted(x for x in ends if abs(x) < 10**precision)]
    found = [Decimal(x).scaleb(-scale, Context(prec=80)) for x in inside]
    return {f"{x:f}": x for x in found} | NOTHING


def told(values):
    return {
        repr(x) if isinstance(x, float) else str(x).lower() if isinstance(x, bool) else x: x for x in values
    } | NOTHING


def in_calendar(count, per_second):
    """The time of a count of units since 1970, brought into the calendar."""
    micros = count * 10**6 // per_second
    least, most = ((x - EPOCH) // timedelta(microseconds=1) for x in (FIRST, LAST))
    return LAST if micros > most else FIRST if micros < least else EPOCH + timedelta(microseconds=micros)


def counted(per_second):
    return {str(count): in_calendar(count, per_second) for count in COUNTS} | NOTHING


DUCKDB = {
    "byte": ("CAST({} AS TINYINT)", Kind.INTEGER, whole(-128, 127)),
    "small": ("CAST({} AS USMALLINT)", Kind.INTEGER, whole(0, 2**16 - 1)),
    "long": ("CAST({} AS BIGINT)", Kind.INTEGER, whole(-(2**63), 2**63 - 1)),
    "unsigned": ("CAST({} AS UBIGINT)", Kind.INTEGER, whole(0, 2**64 - 1)),
    "huge": ("CAST({} AS HUGEINT)", Kind.INTEGER, whole(-(2**127), 2**127 - 1)),
    "double": ("CAST({} AS DOUBLE)", Kind.REAL, told(DOUBLES)),
    "single": ("CAST({} AS FLOAT)", Kind.REAL, told(SINGLES)),
    **{f"d{p}_{s}": (f"CAST({{}} AS DECIMAL({p}, {s}))", Kind.DECIMAL, decimals(p, s)) for p, s in DECIMALS},
    "text": ("{}", Kind.TEXT, told(TEXTS)),
    "nocase": ("{} COLLATE NOCASE", Kind.TEXT, told(("a", "A", "b"))),
    "label": ("CAST({} AS ENUM('a', 'B c'))", Kind.TEXT, told(("a", "B c"))),
    "flag": ("CAST({} AS BOOLEAN)", Kind.BOOLEAN, told((True, False))),
    "day": (
        "CAST({} AS DATE)",
        Kind.DATE,
        DAYS | {"infinity": date.max, "5881580-07-10": date.max, "0001-12-31 (BC)": date.min} | NOTHING,
    ),
    "moment": ("CAST({} AS TIMESTAMP)", Kind.TIMESTAMP, TIMES | ENDLESS | NOTHING),
    "nano": (
        "CAST({} AS TIMESTAMP_NS)",
        Kind.TIMESTAMP,
        {"2000-01-01": datetime(2000, 1, 1), "infinity": LAST} | NOTHING,
    ),
    "zoned": ("CAST({} || '+00' AS TIMESTAMPTZ)", Kind.TIMESTAMP, TIMES | NOTHING),
    "seconds": (pa.timestamp("s"), Kind.TIMESTAMP, counted(1)),
    "milliseconds": (pa.timestamp("ms"), Kind.TIMESTAMP, counted(10**3)),
    "microseconds": (pa.timestamp("us"), Kind.TIMESTAMP, counted(10**6)),
}
FRAME = {
    **{name: DUCKDB[name] for name in ("seconds", "milliseconds", "microseconds")},
    "broken": (
        pa.string(),
        Kind.TEXT,
        {b"ok": "ok", b"\xff\xfe": None, b"a\xed\xa0\x80": None, "é".encode(): "é"} | NOTHING,
    ),
    "zoned_s": (pa.timestamp("s", "Europe/Berlin"), Kind.TIMESTAMP, counted(1)),
    "zoned_ms": (pa.timestamp("ms", "UTC"), Kind.TIMESTAMP, counted(10**3)),
    "zoned_us": (pa.timestamp("us", "UTC"), Kind.TIMESTAMP, counted(10**6)),
    "day_ms": (pa.date64(), Kind.TIMESTAMP, counted(10**3)),
    **{
        f"listed_{unit}": (pa.dictionary(pa.int8(), pa.timestamp(unit, "UTC")), Kind.TIMESTAMP, counted(per_second))
        for unit, per_second in (("s", 1), ("ms", 10**3))
    },
    "listed_text": (pa.dictionary(pa.int8(), pa.string()), Kind.TEXT, {b"ok": "ok", b"\xff": None} | NOTHING),
}
SPECIAL = {"NaN": None, "Infinity": Decimal("Infinity"), "-Infinity": Decimal("-Infinity")}
POSTGRES = {
    "small": ("smallint", Kind.INTEGER, whole(-(2**15), 2**15 - 1)),
    "long": ("bigint", Kind.INTEGER, whole(-(2**63), 2**63 - 1)),
    "double": ("float8", Kind.REAL, told(DOUBLES)),
    "single": ("float4", Kind.REAL, told(SINGLES)),
    "d12_2": ("numeric(12, 2)", Kind.DECIMAL, decimals(12, 2) | {"NaN": None}),
    "d38_18": ("numeric(38, 18)", Kind.DECIMAL, decimals(38, 18)),
    "number": (
        "numeric",
        Kind.DECIMAL,
        {x: Decimal(x) for x in ("7", "7.0", "7.00", "0.1", "0.10", "-0.00", "1e200", "9.9e131070", "1e-16383")}
        | SPECIAL
        | NOTHING,
    ),
    "text": ("text", Kind.TEXT, told(TEXTS)),
    "padded": ("char(3)", Kind.TEXT, {"a": "a", "a ": "a", "A": "A", " b": " b"} | NOTHING),
    "nocase": ("text COLLATE nocase", Kind.TEXT, told(("a", "A", "b"))),
    "mood": ("mood", Kind.TEXT, told(("a", "B c"))),
    "flag": ("boolean", Kind.BOOLEAN, told((True, False))),
    "day": ("date", Kind.DATE, DAYS | {"infinity": date.max, "4713-01-01 BC": date.min} | NOTHING),
    "moment": ("timestamp", Kind.TIMESTAMP, TIMES | ENDLESS | {"4713-01-01 BC": FIRST} | NOTHING),
    "zoned": ("timestamptz", Kind.TIMESTAMP, {f"{x}+00": y for x, y in TIMES.items()} | ENDLESS | NOTHING),
}  # fmt: skip
SPARK = {
    "byte": ("CAST({} AS TINYINT)", Kind.INTEGER, whole(-128, 127)),
    "long": ("CAST({} AS BIGINT)", Kind.INTEGER, whole(-(2**63), 2**63 - 1)),
    "double": ("CAST({} AS DOUBLE)", Kind.REAL, told(DOUBLES)),
    "single": ("CAST({} AS FLOAT)", Kind.REAL, told(SINGLES)),
    **{
        f"d{p}_{s}": (f"CAST({{}} AS DECIMAL({p}, {s}))", Kind.DECIMAL, decimals(p, s))
        for p, s in ((4, 4), (18, 3), (18, 9), (38, 0), (38, 18), (38, 37))
    },
    "text": ("{}", Kind.TEXT, told(TEXTS)),
    "nocase": ("{} COLLATE UTF8_LCASE", Kind.TEXT, told(("a", "A", "b"))),
    "broken": ("CAST(unhex({}) AS STRING)", Kind.TEXT, {"6F6B": "ok", "FFFE": None, "61EDA080": None} | NOTHING),
    "flag": ("CAST({} AS BOOLEAN)", Kind.BOOLEAN, told((True, False))),
    "day": (
        "date_from_unix_date(CAST({} AS INT))",
        Kind.DATE,
        {"0": date(1970, 1, 1), str(2**31 - 1): date.max, str(-(2**31)): date.min} | NOTHING,
    ),
    "zoned": ("timestamp_micros(CAST({} AS BIGINT))", Kind.TIMESTAMP, counted(10**6)),
    "moment": (
        "timestampadd(MICROSECOND, CAST({} AS BIGINT), TIMESTAMP_NTZ'1970-01-01 00:00:00')",
        Kind.TIMESTAMP,
        counted(10**6),
    ),
}


@dataclass(frozen=True)
class Made:
    """A table, its rows in plain form, and the kinds of its columns."""

    table: object
    rows: list
    columns: dict


def _stored(columns):
    """The stored values of the rows, each column in turn, and the rows in plain form with unit and number."""
    length = max(len(values) for _, _, values in columns.values())
    turns = {
        name: [list(values.items())[row % len(values)] for row in range(length)]
        for name, (_, _, values) in columns.items()
    }
    rows = [{name: turn[row][1] for name, turn in turns.items()} | {"n": row, "u": row % 5} for row in range(length)]
    return {name: [stored for stored, _ in turn] for name, turn in turns.items()}, rows


def _made(table, rows, columns):
    kinds = {name: kind for name, (_, kind, _) in columns.items()} | {"n": Kind.INTEGER, "u": Kind.INTEGER}
    assert {name: table.columns[name] for name in kinds} == kinds
    return Made(table, rows, kinds)


def arrow(columns):
    """The rows as an Arrow table: raw where an Arrow type is given, else as texts."""
    stored, rows = _stored(columns)
    arrays = {name: _array(stored[name], type_) for name, (type_, _, _) in columns.items()}
    return pa.table(arrays | {name: pa.array([row[name] for row in rows], pa.int64()) for name in ("n", "u")}), rows


def _array(values, type_):
    if isinstance(type_, str):
        return pa.array(values, pa.string())
    if pa.types.is_dictionary(type_):
        places = pa.array(range(len(values)), type_.index_type)
        return pa.DictionaryArray.from_arrays(places, _array(values, type_.value_type))
    if pa.types.is_string(type_):
        return pa.array(values, pa.binary()).view(type_)
    return pa.array([None if x is None else int(x) for x in values], pa.int64()).view(type_)


def in_duckdb(folder):
    import duckdb

    frame, rows = arrow(DUCKDB)
    outputs = [
        f"{form.format(name) if isinstance(form, str) else name} AS {name}" for name, (form, _, _) in DUCKDB.items()
    ]
    with duckdb.connect(str(folder / "hostile.duckdb")) as connection:
        connection.register("frame", frame)
        connection.execute(f"CREATE TABLE hostile AS SELECT n, u, {', '.join(outputs)} FROM frame")  # noqa: S608
    return _made(open_table(folder / "hostile.duckdb", table="hostile"), rows, DUCKDB)


def in_a_frame():
    frame, rows = arrow(FRAME)
    return _made(open_table(frame), rows, FRAME)


def in_postgres(address, name="hostile"):
    stored, rows = _stored(POSTGRES)
    types = ", ".join(f"{name} {type_}" for name, (type_, _, _) in POSTGRES.items())
    with psycopg.connect(address) as connection:
        loose = "provider = icu, locale = 'und-u-ks-level2', deterministic = false"
        loose = loose if has_loose_collations(connection) else "locale = 'C'"
        connection.execute(f"CREATE COLLATION IF NOT EXISTS nocase ({loose})")
        if not connection.execute("SELECT 1 FROM pg_type WHERE typname = 'mood'").fetchall():
            connection.execute("CREATE TYPE mood AS ENUM ('a', 'B c')")
        connection.execute(f"DROP TABLE IF EXISTS {name}")
        connection.execute(f"CREATE TABLE {name} (n int, u int, {types})")
        with connection.cursor() as cursor, cursor.copy(f"COPY {name} FROM STDIN") as copy:
            for row in rows:
                copy.write_row([row["n"], row["u"], *(stored[name][row["n"]] for name in POSTGRES)])
    return _made(open_table(address, table=name), rows, POSTGRES)


def in_spark(session):
    stored, rows = _stored(SPARK)
    texts = [(row["n"], row["u"], *(stored[name][row["n"]] for name in SPARK)) for row in rows]
    frame = session.createDataFrame(texts, "n int, u int, " + ", ".join(f"{name} string" for name in SPARK))
    outputs = [f"{form.format(name)} AS {name}" for name, (form, _, _) in SPARK.items()]
    return _made(open_table(frame.selectExpr("n", "u", *outputs), table="hostile"), rows, SPARK)
