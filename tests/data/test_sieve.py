"""Tests on native columns say what the filter says: on every engine, on columns of every type at their ends.

Each part of a filter is asked twice of the hostile table, through the sieve and of the reference in Python. No
rehearsal: a test that fails on a row shows here.
"""

import random
from datetime import date, datetime, timedelta
from decimal import Decimal

import pytest

from leastnoise.data import Contribution, CountRows, KeyAxis, Kind, col, open_table, relation as sieve
from leastnoise.data.columns import Column, whole_range
from leastnoise.data.dialect import join, select, sql
from leastnoise.data.engines.duckdb import DUCKDB
from leastnoise.data.predicates import holds, parse, typed
from leastnoise.data.predicates.to_sql import to_sql
from leastnoise.data.relation import Sieve, parts_of, placed_by
from leastnoise.data.table import Table
from leastnoise.data.views import derive_columns, per_unit_rows
from leastnoise.errors import LeastNoiseError

from . import reference
from .hostile import in_a_frame, in_duckdb, in_postgres, in_spark

COMPARISONS = ["__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__"]
NEAR = [Decimal(0), Decimal(1), Decimal(-1), Decimal("0.1"), Decimal("1e-17"), Decimal("1e-20"), Decimal("0.005")]


def literals(dice, kind, values):
    """Values of the column, the ends of its type and of the calendar, and what lies just beside them."""
    there = [x for x in values if not reference.missing(x) and x not in (float("inf"), float("-inf"))]
    value = dice.choice(there)
    if kind.numeric:
        value = Decimal(value) if abs(value) < 10**300 else Decimal(10)
        return dice.choice(
            [value, value + dice.choice(NEAR), dice.choice(NEAR), Decimal(2) ** dice.choice([8, 31, 63])]
        )
    if kind in (Kind.DATE, Kind.TIMESTAMP):
        ends = [date.min, date.max] if kind is Kind.DATE else [datetime.min, datetime.max]
        step = timedelta(days=1) if kind is Kind.DATE else timedelta(microseconds=1)
        return dice.choice([value, *ends, ends[0] + step, ends[1] - step])
    return value


def part(dice, name, kind, values):
    value = literals(dice, kind, values)
    tests = [col(name).is_in([value, literals(dice, kind, values)]), ~col(name).is_missing(), col(name).is_missing()]
    if kind is Kind.TEXT:
        tests += [col(name).starts_with(value[:2]), col(name).ends_with(value[-1:]), col(name).contains(value[:1])]
    symbols = COMPARISONS[:2] if kind is Kind.BOOLEAN else COMPARISONS
    tests += 3 * [getattr(col(name), dice.choice(symbols))(value)]
    return dice.choice(tests)


def wrong_parts(made, count, seed=3):
    """The parts of which the engine finds other rows than the reference, and how many had a test of their own."""
    dice, parts = random.Random(seed), []
    relation = made.table._relation
    while len(parts) < count:
        name = dice.choice(sorted(set(made.columns) - {"n"}))
        try:
            parts.append(
                typed(part(dice, name, made.columns[name], [row[name] for row in made.rows]), made.table.types)
            )
        except LeastNoiseError:
            continue  # a literal that no filter can have
    wrong, exact = [], sum(not relation.undecided([each]) for each in parts)
    for start in range(0, count, 40):
        asked = parts[start : start + 40]
        texts = []
        for each in asked:
            left = [to_sql(test, relation.dialect) for test in relation.undecided([each])]
            rest = "WHERE " + join(" AND ", left) if left else ""
            rows = select("count(*)", relation.base(each.columns, [each]), "plain", rest)
            texts.append("(" + rows + f") AS p{len(texts)}")
        found = made.table._run(sql("SELECT ") + join(", ", texts))
        for each, (answer,) in zip(asked, found, strict=True):
            wanted = sum(holds(each, row) for row in made.rows)
            wrong += [(str(each), int(answer), wanted)] if int(answer) != wanted else []
    return wrong, exact


@pytest.fixture(autouse=True)
def no_rehearsal(monkeypatch):
    monkeypatch.setattr(Table, "_rehearse", lambda *_: None)


def agrees(made, count, least):
    with made.table:
        wrong, exact = wrong_parts(made, count)
    assert wrong == []
    assert exact >= least  # else nothing was tested


@pytest.mark.slow
def test_duckdb_finds_the_rows_of_the_filter(tmp_path):
    agrees(in_duckdb(tmp_path), 1200, 150)


@pytest.mark.slow
def test_a_frame_finds_the_rows_of_the_filter():
    agrees(in_a_frame(), 200, 1)


@pytest.mark.engine
def test_postgres_finds_the_rows_of_the_filter(postgres_address):
    agrees(in_postgres(postgres_address), 800, 40)


@pytest.mark.engine
def test_spark_finds_the_rows_of_the_filter(spark):
    agrees(in_spark(spark), 80, 4)


@pytest.mark.slow
def test_a_run_that_ends_one_step_late_would_be_noticed(tmp_path, monkeypatch):
    right = sieve._first
    monkeypatch.setattr(sieve, "_first", lambda passes, low, high: min(right(passes, low, high) + 1, high))
    made = in_duckdb(tmp_path)
    with made.table:
        assert wrong_parts(made, 400)[0]


@pytest.mark.slow
@pytest.mark.parametrize("digits", [(3, 1), (3, 3), (3, 0)])
@pytest.mark.parametrize("symbol", ["=", "<", "<=", ">", ">="])
def test_runs_of_decimals_are_those_of_the_doubles(digits, symbol):
    """All decimals of a small type against literals on, beside and between them: enumerated."""
    duckdb = pytest.importorskip("duckdb")
    precision, scale = digits
    column = Column("d", Kind.DECIMAL, f"DECIMAL({precision},{scale})", precision=precision, scale=scale)
    most = 10**precision - 1
    values = [Decimal(x).scaleb(-scale) for x in range(-most, most + 1)]
    bars = [Decimal(x).scaleb(-scale) + near for x in (-most, -7, 0, 1, 3, most) for near in NEAR]
    bars += [Decimal(10) ** 20, -(Decimal(10) ** 20), Decimal("0.30000000000000004")]
    with duckdb.connect() as connection:
        listed = f"SELECT CAST(x AS DECIMAL(9,0)) / {10**scale} AS d FROM range({-most}, {most + 1}) AS t(x)"  # noqa: S608
        exact = f"SELECT CAST(d AS DECIMAL({precision},{scale})) AS d FROM ({listed})"  # noqa: S608
        connection.execute(f"CREATE TABLE t AS {exact}")
        for bar in bars:
            test = typed(parse(f"d {symbol} {bar:f}", {"d": column}), {"d": column})
            (found,) = Sieve({"d": column}, DUCKDB).tests([test])
            text, bound = DUCKDB.render(sql("SELECT count(*) FROM t WHERE ") + found)
            [(rows,)] = connection.execute(text, bound).fetchall()
            assert rows == sum(holds(test, {"d": value}) for value in values), bar


def test_what_is_not_decided_stays_in_the_filter():
    """NaN and too many digits are missing, and != is no run: the test lets them pass, and the filter does not."""
    types = {
        "x": Column("x", Kind.REAL, "DOUBLE"),
        "long": Column("long", Kind.DECIMAL, "DECIMAL(16,2)", precision=16, scale=2),
        "n": Column("n", Kind.INTEGER, "SMALLINT", whole_range(16)),
        "t": Column("t", Kind.TEXT, "VARCHAR"),
        "z": Column("z", Kind.TIMESTAMP, "TIMESTAMP WITH TIME ZONE", zoned=True),
        "s": Column("s", Kind.TIMESTAMP, "TIMESTAMP_S"),
    }
    texts = ["x >= 1", "long = 3", "n != 3", "n = 40000", "n < 2.5", "t = 'a'", "z > '2024-01-01'", "s > '2024-01-01'"]
    made = Sieve(types, DUCKDB)
    for text in texts:
        part = typed(parse(text, types), types)
        assert made.undecided([part]) == [part], text
        assert [piece.parts for piece in made.tests([part])] == [(f'"{text.split()[0]}" IS NOT NULL',)]
    part = typed(parse("n = 3 OR n IS MISSING", types), types)
    assert made.tests([part]) == []
    assert list(parts_of(typed(parse("n = 3 AND (n = 4 AND NOT (n = 5 AND n = 6))", types), types)))[2:] != []


def test_keys_of_joined_tables_are_listed_and_missing_ones_are_not():
    axes = (KeyAxis("a", ("x", "y")), KeyAxis("b", ("x", None)), KeyAxis("c", (1, 2)), KeyAxis("d", ("x",)))
    assert list(map(str, placed_by(axes, {"a", "b", "c"}))) == [
        "a IN ('x', 'y')",
        "NOT c IS MISSING",
        "NOT d IS MISSING",
    ]


def test_the_scan_gets_the_test(tmp_path):
    """The text compares the native column itself, once; with a date at the end of the calendar it does not."""
    duckdb = pytest.importorskip("duckdb")
    with duckdb.connect(str(tmp_path / "t.duckdb")) as connection:
        connection.execute(
            "CREATE TABLE t AS SELECT DATE '2024-01-01' + CAST(x AS INTEGER) AS day FROM range(9) AS t(x)"
        )
    with open_table(tmp_path / "t.duckdb", table="t") as table:
        for text, native in (("day >= DATE '2024-01-05'", True), ("day >= DATE '0001-01-01'", False)):
            where = parse(text, table.types)
            rows = table._relation.rows(Contribution(None), where, set(), [])
            written = table.dialect.render(rows.text, table._relation.table)[0]
            assert ('AS native WHERE "day" >= CAST(? AS DATE)' in written) is native
            assert ("COALESCE" in written) is not native
            (found,) = table.aggregate(Contribution(None), (), (CountRows(),), where)
            assert int(found) == (5 if native else 9)


def test_rehearsals_meet_each_test_on_every_row(tmp_path):
    """The text for rehearsals counts each test over all rows, also where a view hides the filter inside."""
    with in_duckdb(tmp_path).table as table:
        where = parse("day >= DATE '2024-01-05' AND d9_2 < 3", table.types)
        per_unit = per_unit_rows(table, "u", {"many": "count(*)"}, where)
        derived = derive_columns(table, {"twice": "n * 2"})
        for asked, filtered in ((table, where), (derived, where), (per_unit, None)):
            rows = asked._relation.rows(Contribution("u"), filtered, set(), [])
            written = table.dialect.render(rows.every, table._relation.table)[0]
            assert 'count(CASE WHEN "day" >= CAST(? AS DATE) THEN 1 END) + count(CASE WHEN "d9_2" BETWEEN' in written
            assert "WHERE" not in written.split("count(CASE")[1]
