"""Opening tables, locking the engine, and errors that say nothing about the data."""

import os
import stat
import subprocess
import sys
import traceback
from fractions import Fraction

import duckdb
import numpy as np
import pandas
import polars
import psycopg
import pyarrow as pa
import pyarrow.parquet
import pytest

from leastnoise.data import BinAxis, Contribution, CountRows, KeyAxis, Kind, SumOf, col, open_table
from leastnoise.data.dialect import sql
from leastnoise.data.engines.duckdb import EmbeddedTable
from leastnoise.errors import (
    BadParameter,
    BadSource,
    Closed,
    EngineFailure,
    ForeignProcess,
    UnknownColumn,
)

F = Fraction
EACH_ROW = Contribution(None)
PRIVATE = "Ada Lovelace"


@pytest.fixture
def people():
    frame = pa.table({"name": [PRIVATE, "Bo", None], "age": [36, 20, None], "blob": [b"x", b"y", b"z"]})
    with open_table(frame, table="people") as table:
        yield table


@pytest.fixture
def parquet(tmp_path):
    pyarrow.parquet.write_table(pa.table({"name": [PRIVATE], "age": [36]}), tmp_path / "people.parquet")
    with open_table(tmp_path / "people.parquet") as table:
        yield table


@pytest.mark.slow
@pytest.mark.parametrize(
    "statement",
    [
        "FROM read_csv('/etc/passwd')",
        "FROM read_text('/etc/passwd')",
        "FROM glob('/etc/*')",
        "ATTACH '{folder}/new.duckdb'",
        "COPY (SELECT 1) TO '{folder}/out.csv'",
        "EXPORT DATABASE '{folder}/out'",
        "SET threads = 1",
        "SET enable_external_access = true",
        "SET allowed_paths = ['/etc/passwd']",
        "RESET memory_limit",
        "INSTALL httpfs",
        "LOAD httpfs",
        "FROM people_outside",
    ],
)
def test_the_session_is_locked(parquet, tmp_path, statement):
    people_outside = pa.table({"a": [1]})
    assert people_outside is not None  # a Python variable that DuckDB would find on its own
    assert parquet.aggregate(EACH_ROW, (), (CountRows(),))[0] == 1
    with pytest.raises(EngineFailure):
        parquet._run(sql(statement.format(folder=tmp_path)))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["people.parquet"]


def test_the_same_statements_work_in_an_open_session(tmp_path):
    with duckdb.connect() as connection:
        connection.execute(f"COPY (SELECT 1) TO '{tmp_path}/out.csv'")
        assert connection.execute("FROM read_text('/etc/passwd')").fetchall()


def test_an_engine_error_says_nothing(people):
    with pytest.raises(EngineFailure) as caught:
        people._run(sql("SELECT CAST(name AS INTEGER) FROM source"))
    error = caught.value
    assert error.__cause__ is None
    assert error.__context__ is None
    assert PRIVATE not in "".join(traceback.format_exception(error))
    with pytest.raises(EngineFailure) as other:
        people._run(sql("SELECT 1 / 0 FROM nowhere"))
    assert str(error) == str(other.value)
    with pytest.raises(duckdb.ConversionException, match=PRIVATE):  # what DuckDB itself would have said
        people._connection.execute("SELECT CAST(name AS INTEGER) FROM source")


def test_postgres_errors_say_nothing_and_nothing_is_written(postgres_address):
    with psycopg.connect(postgres_address) as connection:
        connection.execute("CREATE TABLE IF NOT EXISTS secrets (name text)")
        connection.execute("INSERT INTO secrets VALUES (%s)", [PRIVATE])
    with open_table(postgres_address, table="secrets") as table:
        writing = "DELETE FROM secrets RETURNING name"  # it has an answer, so that nothing but the engine refuses it
        for statement in ("SELECT CAST(name AS integer) FROM secrets", writing, "CREATE TABLE x ()"):
            with pytest.raises(EngineFailure) as caught:
                table._run(sql(statement))
            assert caught.value.__context__ is None
            assert PRIVATE not in "".join(traceback.format_exception(caught.value))
        assert table.aggregate(EACH_ROW, (), (CountRows(),))[0] == 1
        assert table.name == "postgresql:/postgres/public.secrets"
    with pytest.raises(Closed):
        table.aggregate(EACH_ROW, (), (CountRows(),))
    password = "".join(reversed("2retnuh"))  # not as such in the lines that a traceback shows
    with pytest.raises(BadSource) as refused:
        open_table(postgres_address.replace("tester@", f"tester:{password}@"), table="nothing")
    assert password not in "".join(traceback.format_exception(refused.value))


def test_numbers_of_any_precision_in_postgres(postgres_address):
    with psycopg.connect(postgres_address) as connection:
        connection.execute("CREATE TABLE numbers (n numeric, f real)")
        values = ["NaN", "Infinity", "-Infinity", "0.1", "0.10", "0.3333333333333333333333333", "1e200", None]
        for value in values:
            connection.execute("INSERT INTO numbers VALUES (%s::numeric, 0.1)", [value])
    third = SumOf("n", F(0), F(1), F(1, 3))
    with open_table(postgres_address, table="public.numbers") as table:
        sums, rows = table.aggregate(EACH_ROW, (), (third, CountRows()))
        assert (sums.item(), rows.item()) == (3 + 0 + 0 + 0 + 1 + 3, 8)
        bins = table.aggregate(EACH_ROW, (BinAxis("n", (F(0), F(1, 3), F(1))),), (CountRows(),))[0]
        assert bins.tolist() == [3, 0]
        keys = table.aggregate(EACH_ROW, (KeyAxis("n", (None, F(1, 10), F(1, 3))),), (CountRows(),))[0]
        assert keys.tolist() == [2, 2, 0]
        assert table.discover(EACH_ROW, ("n",))[(None,)] == 2


def test_spark_without_ansi_mode_and_another_time_zone(spark):
    """Nothing in a query relies on ANSI errors, and times are told in UTC."""
    rows = [(1, float("nan"), "a"), (1, 1e308, "b"), (2, None, "a"), (2, float("-inf"), None)]
    frame = spark.createDataFrame(rows, "u int, x double, k string").selectExpr(
        "*", "timestamp'2024-03-31 02:30:00 UTC' AS t", "array(1) AS other"
    )
    total = SumOf("x", F(-(2**60)), F(2**60), F(1))
    asked = Contribution("u", 2, 1), (KeyAxis("k", ("a", "b", None)),), (CountRows(), total)
    before = spark.conf.get("spark.sql.session.timeZone")
    found = []
    with open_table(frame) as table:
        assert table.columns["other"] is Kind.OTHER
        for ansi, zone in (("true", "UTC"), ("false", "Asia/Kolkata")):
            spark.conf.set("spark.sql.ansi.enabled", ansi)
            spark.conf.set("spark.sql.session.timeZone", zone)
            found.append([array.tolist() for array in table.aggregate(*asked)])
            (key,) = table.discover(EACH_ROW, ("t",))
            assert str(key[0]) == "2024-03-31 02:30:00"
        with pytest.raises(EngineFailure) as caught:
            table._run(sql("SELECT raise_error(k) FROM nowhere"))
        assert caught.value.__context__ is None
        view = table._views[0]
    spark.conf.set("spark.sql.ansi.enabled", "true")
    spark.conf.set("spark.sql.session.timeZone", before)
    assert found[0] == found[1] == [[2, 1, 1], [0, 2**60, -(2**60)]]
    assert not spark.catalog.tableExists(view)
    frame.createOrReplaceTempView("people")
    with open_table(spark, table="people") as named:
        assert named.name == "spark:people"
        assert named.aggregate(EACH_ROW, (), (CountRows(),))[0] == 4
    with pytest.raises(BadSource):
        open_table(spark, table="nowhere")


def test_frames_with_numpy_types():
    frame = pandas.DataFrame({"u": [1.0, 2.0, np.nan], "k": pandas.Categorical(["a", "b", "a"]), "o": ["x", None, "y"]})
    frame["t"] = pandas.to_datetime(["2024-01-01", None, "2024-01-02"])
    with open_table(frame) as table:
        kinds = {"u": Kind.REAL, "k": Kind.TEXT, "o": Kind.TEXT, "t": Kind.TIMESTAMP}
        assert dict(table.columns) == kinds
        found = table.aggregate(Contribution("u"), (KeyAxis("k", ("a", "b")),), (CountRows(),))[0]
        assert found.tolist() == [1, 1]
        assert table.discover(EACH_ROW, ("k",)) == {("a",): 2, ("b",): 1}
    with open_table(polars.LazyFrame({"k": ["a", "b", "a"]})) as lazy:
        assert lazy.scores(EACH_ROW, [col("k") == "a"]).tolist() == [2]


def test_more_options_than_one_query_asks_for(people):
    ages = [col("age") == age for age in range(201, 0, -1)]
    assert people.scores(EACH_ROW, ages).nonzero()[0].tolist() == [201 - 36, 201 - 20]


def test_text_order_is_by_bytes_whatever_the_column_says(tmp_path):
    with duckdb.connect(str(tmp_path / "c.duckdb")) as connection:
        connection.execute("CREATE TABLE t (k VARCHAR COLLATE NOCASE); INSERT INTO t VALUES ('a'), ('A'), ('b')")
    with open_table(tmp_path / "c.duckdb", table="t") as table:
        assert table.aggregate(EACH_ROW, (KeyAxis("k", ("a", "A")),), (CountRows(),))[0].tolist() == [1, 1]
        assert table.discover(EACH_ROW, ("k",)) == {("a",): 1, ("A",): 1, ("b",): 1}


@pytest.mark.slow
def test_spilled_rows_stay_private_and_go_away(tmp_path):
    rows = pa.table({"u": np.arange(600_000), "k": np.arange(600_000) % 7})
    with open_table(rows, memory_limit="60MB", temp_directory=tmp_path) as table:
        (folder,) = tmp_path.iterdir()
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700
        found = table.aggregate(Contribution("u", 2), (KeyAxis("k", tuple(range(7))),), (CountRows(),))[0]
        assert found.sum() == 600_000
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("options", [{"memory_limit": "lots"}, {"temp_directory": "nowhere/at/all"}])
def test_limits_that_are_none(options):
    with pytest.raises(BadParameter, match=next(iter(options.values()))):
        open_table(pa.table({"a": [1]}), **options)


def test_another_process_and_a_closed_table_are_refused(people):
    child = os.fork()
    if not child:
        try:
            people.aggregate(EACH_ROW, (), (CountRows(),))
        except ForeignProcess:
            os._exit(7)
        finally:
            os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    people.close()
    with pytest.raises(Closed):
        people.aggregate(EACH_ROW, (), (CountRows(),))
    assert repr(people) == "<EmbeddedTable 'people': 3 columns>"


@pytest.mark.parametrize(
    ("ask", "error", "text"),
    [
        (lambda t: t.aggregate(EACH_ROW, (KeyAxis("nme", ("a",)),), (CountRows(),)), UnknownColumn, "'name'"),
        (lambda t: t.aggregate(Contribution("agee"), (), (CountRows(),)), UnknownColumn, "'age'"),
        (lambda t: t.aggregate(EACH_ROW, (KeyAxis("age", ("a",)),), (CountRows(),)), BadParameter, "kind"),
        (lambda t: t.aggregate(EACH_ROW, (KeyAxis("name", ("\ud800",)),), (CountRows(),)), BadParameter, "surrogate"),
        (lambda t: t.aggregate(EACH_ROW, (KeyAxis("age", (1, True)),), (CountRows(),)), BadParameter, "twice"),
        (lambda t: t.aggregate(EACH_ROW, (BinAxis("name", (0, 1)),), (CountRows(),)), BadParameter, "numbers"),
        (lambda t: t.aggregate(EACH_ROW, (), (SumOf("name", F(0), F(1), F(1)),)), BadParameter, "numbers"),
        (lambda t: t.aggregate(Contribution("blob"), (), (CountRows(),)), BadParameter, "BLOB"),
        (lambda t: t.ranks(EACH_ROW, "age", [F(1), F(1)]), BadParameter, "grid"),
        (lambda t: t.discover(EACH_ROW, ()), BadParameter, "column"),
        (lambda t: t.aggregate(EACH_ROW, (), (CountRows(),), col("agee") > 3), UnknownColumn, "age"),
    ],
)
def test_wrong_questions_are_refused_before_the_data_is_touched(people, ask, error, text):
    people.close()  # an engine that is asked would fail in another way
    with pytest.raises(error, match=text):
        ask(people)


@pytest.mark.parametrize(
    ("source", "options", "error"),
    [
        ("nowhere.parquet", {}, BadSource),
        ("readme.txt", {}, BadSource),
        ("broken.parquet", {}, BadSource),
        ("broken.arrow", {}, BadSource),
        ("broken.duckdb", {"table": "t"}, BadSource),
        ("broken.duckdb", {}, BadParameter),
        ("broken.parquet", {"table": "t"}, BadParameter),
        (3, {}, BadSource),
        ("loop.csv", {}, BadSource),
        ("a\0b.csv", {}, BadSource),
        ("*.duckdb", {"table": "t"}, BadSource),
        ("broken.parquet", {"columns": {"a": "text"}}, BadParameter),
        ("postgresql://127.0.0.1:1/x", {"table": "t", "columns": {"a": "text"}}, BadParameter),
        ("postgresql://127.0.0.1:1/x", {"table": "t"}, BadSource),
        ("postgresql://127.0.0.1:1/x", {"table": 'a"; DROP TABLE b'}, BadParameter),
        ("postgresql://127.0.0.1:1/x", {"table": "t", "memory_limit": "1GB"}, BadParameter),
    ],
)
def test_sources_that_are_none(tmp_path, source, options, error):
    for name in ("readme.txt", "broken.parquet", "broken.arrow", "broken.duckdb"):
        (tmp_path / name).write_text(PRIVATE)
    (tmp_path / "loop.csv").symlink_to(tmp_path / "loop.csv")
    given = source if not isinstance(source, str) or "//" in source else str(tmp_path / source)
    with pytest.raises(error) as caught:
        open_table(given, **options)
    with pytest.raises(BadSource):
        open_table("~nobody-of-this-name/x.csv")
    assert PRIVATE not in "".join(traceback.format_exception(caught.value))


def test_drivers_are_imported_when_they_are_needed():
    code = """
import sys, leastnoise.data
print([name for name in ("duckdb", "psycopg", "pyspark", "pyarrow") if name in sys.modules])
"""
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


@pytest.mark.slow
def test_where_memory_does_not_do_the_units_are_taken_in_parts(tmp_path, monkeypatch):
    path, seen = tmp_path / "many.parquet", []
    persons = "SELECT i % 500000 AS person, hash(i) % 50 AS city, i % 7 AS value FROM range(2000000) AS numbers(i)"
    duckdb.connect().execute(f"COPY ({persons}) TO '{path}' (FORMAT parquet)")
    plain = EmbeddedTable._execute

    def watched(table, text, values):
        seen.extend([text] if "TABLE source" in text else [])  # what reads the table, not the rehearsals
        return plain(table, text, values)

    monkeypatch.setattr(EmbeddedTable, "_execute", watched)
    bound, cities, secret = Contribution("person", 2, 1), (KeyAxis("city", tuple(range(50))),), (5, 7)
    measures = (CountRows(), SumOf("value", Fraction(0), Fraction(6), Fraction(1)))

    def answers(memory_limit):
        seen.clear()
        with open_table(path, memory_limit=memory_limit) as table:
            found = [
                table._aggregate(bound, cities, measures[:1], None, secret)[0].tolist(),
                table._aggregate(bound, cities, measures, None, secret)[1].tolist(),
                table._discover(bound, ("city",), None, secret),
                table._ranks(bound, "value", range(7), None, secret).tolist(),
                table.scores(bound, [col("city") == 3, col("value") > 2]).tolist(),
            ]
        return found, len(seen)

    whole, at_once = answers("2GB")
    parts, more = answers("40MB")
    assert parts == whole
    assert at_once == 5
    assert more > 16


def test_what_a_session_of_duckdb_has_attached_is_refused_with_the_reason(tmp_path):
    """Such as a Postgres, of which DuckDB reads NaN in a NUMERIC as 0: a session, a relation, a view, a name."""
    with duckdb.connect(str(tmp_path / "other.duckdb")) as connection:
        connection.execute("CREATE TABLE visits AS SELECT 1 AS person")
    with duckdb.connect(str(tmp_path / "shop.duckdb")) as connection:
        connection.execute(f"ATTACH '{tmp_path / 'other.duckdb'}' AS server")
        connection.execute("CREATE VIEW visits AS FROM server.visits")
        for source in (connection, connection.table("server.visits")):
            with pytest.raises(BadSource, match=r"rules that lose values.*postgresql://") as caught:
                open_table(source)
            assert "person" not in str(caught.value)
    for name in ("visits", "server.main.visits"):
        with pytest.raises(BadSource, match="tables of its own file alone"):
            open_table(tmp_path / "shop.duckdb", table=name)
