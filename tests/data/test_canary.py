"""The rehearsal: what could fail on some row is refused before any private row is read, and costs little."""

from fractions import Fraction
from functools import reduce
from operator import or_

import psycopg
import pyarrow as pa
import pytest

from leastnoise.data import BinAxis, Contribution, CountRows, KeyAxis, Kind, SumOf, col, open_table
from leastnoise.data.dialect import sql
from leastnoise.data.engines.duckdb import DUCKDB, EmbeddedTable
from leastnoise.data.engines.postgres import POSTGRES
from leastnoise.data.engines.spark import SPARK
from leastnoise.data.sql_queries import BoundedQueries
from leastnoise.errors import UnsafeQuestion

from .hostile import in_a_frame, in_duckdb, in_postgres, in_spark

F = Fraction
EACH_ROW = Contribution(None)


def texts(table):
    """The texts that a table's engine is given from now on."""
    seen, run = [], table._execute

    def watched(text, values):
        seen.append(text)
        return run(text, values)

    table._execute = watched
    return seen


def made_of_each_type(made):
    """All columns in two questions: keys are found in them, numbers are filtered on, binned and summed."""
    with made.table as table:
        names = [name for name in made.columns if name not in ("n", "u")]
        assert table.discover(EACH_ROW, tuple(name for name in names if made.columns[name] is not Kind.REAL))
        numbers = [name for name in names if made.columns[name].numeric and name not in ("d38_37", "d38_38")]
        if numbers:
            sums = tuple(SumOf(name, F(0), F(1), F(1, 4)) for name in numbers)
            where = reduce(or_, (col(name) > 0 for name in numbers))
            assert len(table.aggregate(Contribution("u"), (BinAxis(numbers[0], (0, 1)),), sums, where)) == len(sums)


@pytest.mark.slow
def test_hostile_rows_can_be_made_of_every_type_of_duckdb(tmp_path):
    made_of_each_type(in_duckdb(tmp_path))
    made_of_each_type(in_a_frame())


def test_hostile_rows_can_be_made_of_every_type_of_postgres(postgres_address):
    made_of_each_type(in_postgres(postgres_address, "hostile_too"))


def test_hostile_rows_can_be_made_of_every_type_of_spark(spark):
    made_of_each_type(in_spark(spark))


@pytest.fixture
def people():
    frame = pa.table(
        {"u": [1, 1, 2], "n": [1, 2, 3], "s": ["a", "b", None], "d": pa.array([1, 2, 3], pa.decimal128(18, 4))}
    )
    with open_table(frame) as table:
        yield table


@pytest.mark.parametrize("broken", ["CAST(CAST({} AS TINYINT) AS BIGINT)", "CAST({} * 4 AS BIGINT)"])
def test_a_text_that_can_fail_is_refused_before_the_table_is_read(people, monkeypatch, broken):
    """The private rows themselves would be answered: only the made-up ones fail."""
    monkeypatch.setattr(type(DUCKDB), "plain", lambda _, column: broken.format(column.name))
    seen = texts(people)
    for where in (None, col("n") == 2, (col("n") == 7) & (col("n") > 8)):  # no made-up row passes the last filter
        with pytest.raises(UnsafeQuestion) as refused:
            people.aggregate(EACH_ROW, (KeyAxis("n", (1, 2)),), (CountRows(),), where)
        assert refused.value.__context__ is None
    assert seen
    assert not any("TABLE source" in text for text in seen)
    monkeypatch.setattr(EmbeddedTable, "_rehearse", lambda *_: None)
    assert people.aggregate(EACH_ROW, (KeyAxis("n", (1, 2)),), (CountRows(),))[0].shape == (2,)


def test_values_are_rehearsed_whatever_the_keys_and_filters(people, monkeypatch):
    """A value that could overflow is found although no made-up row has the key."""
    monkeypatch.setattr("leastnoise.data.table.row_value", lambda *_: 'CAST(base."n" AS TINYINT)')
    seen = texts(people)
    with pytest.raises(UnsafeQuestion):
        people.aggregate(EACH_ROW, (KeyAxis("s", ("nobody",)),), (SumOf("n", F(0), F(1), F(1)),), col("s") == "nobody")
    assert not any("TABLE source" in text for text in seen)


def test_sums_are_rehearsed_too(people, monkeypatch):
    """Each row is fine, and so is no row; only a sum over made-up rows is too large for its type."""
    monkeypatch.setattr(BoundedQueries, "_total", lambda *_: "CAST(sum(v0) AS TINYINT)")
    seen = texts(people)
    asked = EACH_ROW, (), (SumOf("n", F(0), F(100), F(1)),)
    with pytest.raises(UnsafeQuestion):
        people.aggregate(*asked)
    assert not any("TABLE source" in text for text in seen)
    monkeypatch.setattr(EmbeddedTable, "_rehearse", lambda *_: None)
    assert people.aggregate(*asked)[0] == 6


def test_the_old_overflow_of_decimals_is_found(people, monkeypatch):
    """DuckDB multiplies decimals of 64 bits in 64 bits."""
    monkeypatch.setattr(
        "leastnoise.data.values._last_digits", lambda decimal, *_: f"({decimal}) * CAST(10000 AS DECIMAL(5, 0))"
    )
    with pytest.raises(UnsafeQuestion):
        people.aggregate(EACH_ROW, (), (SumOf("d", F(0), F(10**13), F(1)),))


def test_a_question_is_rehearsed_once(people):
    asked = Contribution("u", 1), (KeyAxis("s", ("a", None)),), (CountRows(),), col("n") > 0
    people.aggregate(*asked)
    seen = texts(people)
    people.aggregate(*asked)
    assert len(seen) == 1  # another secret, the same text
    people.aggregate(*asked[:3], col("n") > 1)
    assert len(seen) > 3


def test_secrets_are_bound_and_never_text(people):
    seen = texts(people)
    people._aggregate(Contribution("u", 1), (KeyAxis("s", ("a", "b")),), (CountRows(),), None, (123456789, 987654321))
    assert not any("123456789" in text or "987654321" in text for text in seen)


def test_the_made_up_rows_hold_the_ends_of_the_types(people):
    people.aggregate(EACH_ROW, (), (CountRows(),))
    low, high, longest, nothing = people._run(
        sql(f"SELECT min(n), max(n), max(length(s)), count(*) - count(s) FROM {people._canary._kept}")  # noqa: S608
    )
    assert (low[0], high[0]) == (-(2**63), 2**63 - 1)
    assert longest[0] > 2**16
    assert nothing[0] > 0


def test_no_optimiser_folds_the_hostile_values(postgres_address, spark):
    """They come from a scan, not from constants: the optimised plan still computes them row by row."""
    rows = "SELECT CASE mod(numbers.place, 2) WHEN 0 THEN 1 END AS x FROM "
    with psycopg.connect(postgres_address) as connection:
        plan = connection.execute(f"EXPLAIN VERBOSE {rows}{POSTGRES.numbers(9)}").fetchall()
    assert "CASE" in str(plan)
    assert "CASE" in spark.sql(rows + SPARK.numbers(9))._jdf.queryExecution().optimizedPlan().toString()
