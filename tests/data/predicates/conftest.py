"""The nasty table in three real engines; `ask(predicates)` gives each engine's answers row by row."""

import pytest

from leastnoise.data.dialect import bound, join, sql
from leastnoise.data.engines.duckdb import DUCKDB
from leastnoise.data.engines.postgres import POSTGRES
from leastnoise.data.engines.spark import SPARK
from leastnoise.data.predicates import Predicate
from leastnoise.data.predicates.to_sql import to_sql, value_sql

from .nasty import KINDS, ROWS

DUCKDB_TYPES = {
    "integer": "BIGINT",
    "real": "DOUBLE",
    "decimal": "DECIMAL(18, 4)",
    "text": "VARCHAR",
    "boolean": "BOOLEAN",
    "date": "DATE",
    "timestamp": "TIMESTAMP",
}
POSTGRES_TYPES = {**DUCKDB_TYPES, "real": "DOUBLE PRECISION", "decimal": "NUMERIC", "text": 'TEXT COLLATE "C"'}
SPARK_TYPES = {**DUCKDB_TYPES, "text": "STRING", "timestamp": "TIMESTAMP_NTZ"}
RECORDS = [(number, *row.values()) for number, row in enumerate(ROWS)]


def _schema(dialect, types):
    columns = ", ".join(f"{dialect.quote(name)} {types[kind.value]}" for name, kind in KINDS.items())
    return f"number BIGINT, {columns}"


def _question(dialect, predicates):
    told = [to_sql(each, dialect) if isinstance(each, Predicate) else value_sql(each, dialect) for each in predicates]
    answers = join(", ", [text + f" AS p{i}" for i, text in enumerate(told)])
    return dialect.render(sql("SELECT ") + answers + sql(" FROM nasty ORDER BY number"))


@pytest.fixture(scope="session")
def duckdb_ask():
    duckdb = pytest.importorskip("duckdb")
    with duckdb.connect() as connection:
        connection.execute(f"CREATE TABLE nasty ({_schema(DUCKDB, DUCKDB_TYPES)})")
        table = connection.table("nasty")
        for record in RECORDS:
            table.insert(record)
        yield lambda predicates: connection.execute(*_question(DUCKDB, predicates)).fetchall()


@pytest.fixture(scope="session")
def postgres_connection(postgres_address):
    import psycopg

    with psycopg.connect(postgres_address, autocommit=True) as connection:
        yield connection


@pytest.fixture(scope="session")
def postgres_ask(postgres_connection):
    postgres_connection.execute(f"CREATE TABLE nasty ({_schema(POSTGRES, POSTGRES_TYPES)})")
    with postgres_connection.cursor() as cursor, cursor.copy("COPY nasty FROM STDIN") as copy:
        for record in RECORDS:
            copy.write_row(record)
    return lambda predicates: postgres_connection.execute(*_question(POSTGRES, predicates)).fetchall()


@pytest.fixture
def ask_about_a_decimal(postgres_connection):
    """The answers about one NUMERIC, given as text."""

    def ask(number, predicates):
        answers = join(", ", [to_sql(predicate, POSTGRES) for predicate in predicates])
        table = sql(" FROM (SELECT CAST(") + bound(number) + sql(" AS NUMERIC) AS d) AS t")
        return list(postgres_connection.execute(*POSTGRES.render(sql("SELECT ") + answers + table)).fetchone())

    return ask


@pytest.fixture(scope="session")
def spark_ask(spark):
    spark.createDataFrame(RECORDS, _schema(SPARK, SPARK_TYPES)).coalesce(1).createOrReplaceTempView("nasty")

    def ask(predicates):
        text, values = _question(SPARK, predicates)
        return [tuple(row) for row in spark.sql(text, args=values).collect()]

    return ask


@pytest.fixture(params=["duckdb", "postgres", "spark"])
def ask(request):
    """One engine after the other."""
    return request.getfixturevalue(f"{request.param}_ask")
