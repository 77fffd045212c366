"""One unit is one unit, however its id is written: for grouping, for distinct and for the hash that keeps its groups.

Random small tables have ids that differ in scale, case, padding, collation, zone or the sign of zero. For every
neighbour, all rows of one unit away, what is missing is exactly what the unit gives alone, within its bounds: so nobody
else's groups have changed, and the unit counted once.
"""

import random
from collections import Counter
from datetime import datetime
from decimal import Decimal
from fractions import Fraction

import duckdb
import numpy as np
import psycopg
import pyarrow as pa
import pyarrow.parquet
import pytest

from leastnoise.data import Contribution, CountRows, CountUnits, KeyAxis, SumOf, col, open_table
from leastnoise.data.table import Table
from leastnoise.errors import BadParameter

SECRET = (0x123456789ABCDEF, 0x7EDCBA987654321)
KEYS, TABLES, ROWS = 4, 3, 14
MEASURES = (CountRows(), CountUnits())
SUM = (SumOf("k", Fraction(0), Fraction(5), Fraction(1)),)
NOON = datetime(2024, 3, 31, 12)
# What is stored, beside the identity that it stands for; None is nobody.
ZEROS = {"0.0": 0.0, "-0.0": 0.0, "NaN": None, "1.5": 1.5, "Infinity": np.inf}
SAME = {
    "7": Decimal(7),
    "7.0": Decimal(7),
    "7.00": Decimal(7),
    "-0.0": Decimal(0),
    "0": Decimal(0),
    "7.01": Decimal("7.01"),
}
CASES = {x: x for x in ("a", "A", "a ", "ä", "Ä", "a\u0308")}
LETTERS = "ab0e8400-e29b-41d4-a716-446655440000"
DUCKDB = {
    "DOUBLE": ZEROS,
    "FLOAT": ZEROS,
    "DECIMAL(9, 3)": SAME,
    "VARCHAR": CASES,
    "UUID": {LETTERS: LETTERS, LETTERS.upper(): LETTERS, LETTERS[:-1] + "1": 1},
    "BOOLEAN": {"true": True, "t": True, "false": False},
    "TIMESTAMPTZ": {"2024-03-31 12:00:00+00": NOON, "2024-03-31 14:00:00+02": NOON, "infinity": None, "2024-03-31": 1},
    "DATE": {"2024-03-31": NOON, "2024-03-30": 1, "infinity": None, "10000-01-01": None, "9999-12-31": None},
}
POSTGRES = {
    "float8": ZEROS,
    "numeric": SAME | {"NaN": None, "7.000000": Decimal(7), "0.70e1": Decimal(7), "Infinity": np.inf},
    "numeric(9, 3)": SAME,
    "text": CASES,
    "char(5)": {"a": "a", "a ": "a", "A": "A", "a    ": "a", " a": " a"},
    "uuid": DUCKDB["UUID"],
    "bool": DUCKDB["BOOLEAN"],
    "timestamptz": DUCKDB["TIMESTAMPTZ"] | {"-infinity": None},
    "date": {"2024-03-31": NOON, "2024-03-30": 1, "infinity": None, "10000-01-01": None},
}
SPARK = {"DOUBLE": ZEROS, "DECIMAL(9, 3)": SAME, "STRING": CASES}


def tables(ids):
    """Rows (table, number, id as stored, key)."""
    dice = random.Random(4)
    return [(t, t * ROWS + n, dice.choice(list(ids)), dice.randrange(KEYS)) for t in range(TABLES) for n in range(ROWS)]


def check(opened, ids, names):
    """Every neighbour of every table, under several bounds and shapes of question."""
    rows, axes = tables(ids), (KeyAxis("k", tuple(range(KEYS))),)
    with opened as table:
        for number in names:
            mine = [row for row in rows if row[0] == number]
            for groups, most in ((1, 1), (2, 1), (2, 2)):
                bound, here = Contribution("id", groups, most), col("t") == number

                def ask(where, bound=bound):
                    found = Counter(table._discover(bound, ("k",), where, SECRET))
                    counted = [found[(key,)] for key in range(KEYS)]
                    ranked = table._ranks(bound, "k", range(KEYS), where, SECRET)
                    totals = [*table._aggregate(bound, axes, MEASURES, where, SECRET)]
                    totals += table._aggregate(bound, axes, (*SUM, CountRows()), where, SECRET)
                    return [*map(np.array, totals), np.array(counted), ranked]

                full, units = ask(here), {ids[row[2]] for row in mine}
                assert sum(full[1]) == sum(
                    min(groups, len({r[3] for r in mine if ids[r[2]] == u})) for u in units - {None}
                )
                for unit in units:
                    own = [row[1] for row in mine if ids[row[2]] == unit]
                    alone, rest = ask(here & col("n").is_in(own)), ask(here & ~col("n").is_in(own))
                    for before, after, given in zip(full, rest, alone, strict=True):
                        assert (before - after == given).all(), (unit, bound)
                    limit = 0 if unit is None else 1
                    reach = [limit * x for x in (most, 1, 5 * most, most, 1)]
                    for given, largest in zip(alone, reach, strict=False):
                        assert given.max() <= largest
                        assert np.count_nonzero(given) <= groups
                    assert alone[5].sum() <= most * limit


@pytest.fixture(autouse=True)
def no_rehearsal(monkeypatch):
    monkeypatch.setattr(Table, "_rehearse", lambda *_: None, raising=False)


@pytest.mark.slow
@pytest.mark.parametrize("type_", DUCKDB)
def test_units_in_duckdb(tmp_path, type_):
    with duckdb.connect(str(tmp_path / "ids.duckdb")) as connection:
        connection.execute(f"CREATE TABLE ids (t INT, n INT, id {type_}, k INT)")
        for row in tables(DUCKDB[type_]):
            connection.execute(f"INSERT INTO ids VALUES (?, ?, CAST(? AS {type_}), ?)", row)  # noqa: S608
    check(open_table(tmp_path / "ids.duckdb", table="ids"), DUCKDB[type_], [0])


@pytest.mark.parametrize("type_", POSTGRES)
def test_units_in_postgres(postgres_address, type_):
    with psycopg.connect(postgres_address) as connection:
        connection.execute(f"DROP TABLE IF EXISTS ids; CREATE TABLE ids (t int, n int, id {type_}, k int)")
        with connection.cursor() as cursor, cursor.copy("COPY ids FROM STDIN") as copy:
            for row in tables(POSTGRES[type_]):
                copy.write_row(row)
    check(open_table(postgres_address, table="ids"), POSTGRES[type_], range(3 if type_ == "numeric" else 1))


def test_units_in_spark(spark):
    """All columns of ids in one table, a question each: Spark takes its time."""
    for type_, ids in SPARK.items():
        frame = spark.createDataFrame(tables(ids), "t int, n int, id string, k int")
        with open_table(frame.selectExpr("t", "n", f"CAST(id AS {type_}) AS id", "k"), table="ids") as table:
            bound, axes = Contribution("id", 2, 1), (KeyAxis("k", tuple(range(KEYS))),)
            found = table._aggregate(bound, axes, (CountUnits(), *SUM), col("t") == 0, SECRET)[0]
        mine = [row for row in tables(ids) if row[0] == 0]
        units = {ids[row[2]] for row in mine} - {None}
        assert found.sum() == sum(min(2, len({r[3] for r in mine if ids[r[2]] == u})) for u in units)


def test_a_collation_in_spark_names_no_unit(spark):
    frame = spark.createDataFrame([("a",), ("A",)], "id string").selectExpr("id COLLATE UTF8_LCASE AS id")
    with open_table(frame, table="ids") as table, pytest.raises(BadParameter, match="collation"):
        table.aggregate(Contribution("id"), (), (CountUnits(),))


BROKEN = {b"ok": "ok", "é".encode(): "é", b"M\xfcller": None, b"M\xf6ller": None, b"\xff": None, b"\xfe": None}


@pytest.mark.slow
@pytest.mark.parametrize("source", ["frame", "rows.parquet", "rows.csv"])
def test_broken_text_names_nobody(tmp_path, source):
    """Bytes that are no text are missing, or become one sign; two ids that meet in it would be one unit."""
    rows = tables(BROKEN)
    numbers = {name: [row[place] for row in rows] for place, name in ((0, "t"), (1, "n"), (3, "k"))}
    frame = pa.table(numbers | {"id": pa.array([row[2] for row in rows], pa.binary()).view(pa.string())})
    kinds = None
    if source == "rows.parquet":
        pyarrow.parquet.write_table(frame, tmp_path / source)
    elif source == "rows.csv":
        lines = [b"%d,%d,%s,%d\n" % row for row in rows]
        (tmp_path / source).write_bytes(b"t,n,id,k\n" + b"".join(lines))
        kinds = dict.fromkeys("tnk", "integer")
    source = frame if source == "frame" else tmp_path / source
    check(open_table(source, columns=kinds, privacy_unit="id"), BROKEN, [0])


def test_text_in_parquet_names_units_only_if_all_ids_differ(tmp_path):
    ids = pa.array([b"M\xfcller", b"M\xf6ller", b"M?ller"], pa.binary()).view(pa.string())
    pyarrow.parquet.write_table(pa.table({"id": ids}), tmp_path / "ids.parquet")
    with open_table(tmp_path / "ids.parquet") as table, pytest.raises(BadParameter, match="question marks"):
        table.aggregate(Contribution("id"), (), (CountUnits(),))
    with open_table(tmp_path / "ids.parquet", privacy_unit="id") as table:
        assert table.aggregate(Contribution("id"), (), (CountUnits(),))[0] == 1


@pytest.mark.parametrize("zone", [None, "UTC"])
@pytest.mark.parametrize("old", [False, True])
def test_nanoseconds_in_parquet_name_no_unit(tmp_path, zone, old):
    frame = pa.table({"id": pa.array([1, 2, 3000], pa.timestamp("ns", zone))})
    pyarrow.parquet.write_table(frame, tmp_path / "ids.parquet", use_deprecated_int96_timestamps=old)
    with open_table(tmp_path / "ids.parquet") as table:
        assert sum(table.discover(Contribution(None), ("id",)).values()) == 3
        with pytest.raises(BadParameter, match="nanoseconds"):
            table.aggregate(Contribution("id"), (), (CountRows(),))


def test_nanoseconds_name_no_unit(tmp_path):
    with duckdb.connect(str(tmp_path / "ids.duckdb")) as connection:
        connection.execute("CREATE TABLE ids AS SELECT TIMESTAMP_NS '2024-01-01 00:00:00.000000001' AS id")
    with open_table(tmp_path / "ids.duckdb", table="ids") as table, pytest.raises(BadParameter, match="nanoseconds"):
        table.aggregate(Contribution("id"), (), (CountRows(),))
