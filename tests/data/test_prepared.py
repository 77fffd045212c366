"""The words prepared for Trino, BigQuery and Snowflake answer the questions of the conformance suite, as text shows.

Each text is written for the engine, read back by sqlglot as the engine's, written again for DuckDB, and run there on
the same rows; the numbers are those of the plain Python reference. What sqlglot does not carry over is done here:
quotients of whole numbers, numbers of 38 digits (DuckDB has no remainder for such decimals that is exact, and no type
as wide as BigQuery's BIGNUMERIC: what comes from the column of money has six digits behind the point, all else none),
Trino's `from_big_endian_64` of a part of bytes, Snowflake's `md5_number_lower64` and FLATTEN, and days of the week.

Nothing here shows that Trino, BigQuery or Snowflake itself takes a text.
"""

import hashlib
from datetime import date, datetime
from fractions import Fraction
from pathlib import Path

import duckdb
import pytest
from sqlglot import ErrorLevel, exp, parse_one

import leastnoise
from leastnoise.data import Contribution, CountRows, CountUnits, TimeAxis, open_table
from leastnoise.data.columns import Kind
from leastnoise.data.dialect import bound, sql
from leastnoise.data.engines.prepared import BIGQUERY, SNOWFLAKE, TRINO
from leastnoise.data.identity import Identity
from leastnoise.data.predicates import parse
from leastnoise.data.table import Table
from leastnoise.errors import BadParameter, LeastNoiseError

from .rows import arrow
from .test_conformance import (  # noqa: F401 - the same questions, of the table below
    CONTRIBUTIONS,
    ROWS,
    picks,
    test_all_tables_are_sums_of_one_bounded_table,
    test_counts_on_every_axis,
    test_discovered_keys,
    test_every_measure_under_every_bound,
    test_scores,
    test_tables_of_a_product_without_numbers_are_bounded_as_others,
    test_the_schema,
    test_what_the_reference_hides_would_show,
)

BIG_ENDIAN = """
CREATE MACRO unsigned(bytes) AS CAST(CAST('0x' || left(hex(bytes), 16) AS UBIGINT) AS HUGEINT);
CREATE MACRO from_big_endian_64(bytes) AS
    CAST(CASE WHEN unsigned(bytes) >> 63 = 0 THEN 0 ELSE -18446744073709551616 END + unsigned(bytes) AS BIGINT)
"""


WHOLE = """
CREATE MACRO whole_quotient(a, b) AS CAST(a AS HUGEINT) // CAST(b AS HUGEINT);
CREATE MACRO whole_rest(a, b) AS CAST(a AS HUGEINT) % CAST(b AS HUGEINT);
"""


def from_bigquery(text):
    """A text of BigQuery's in DuckDB's words."""
    tree = parse_one(text, read="bigquery")
    for node in list(tree.find_all(exp.Cast)):
        if node.to.this is exp.DataType.Type.BIGDECIMAL:
            names = {column.name for column in node.find_all(exp.Column)}
            points = any("." in literal.name for literal in node.find_all(exp.Literal))
            decimal = "money" in names or points or node.find(exp.Placeholder) or ("key" in names and "money" in text)
            node.set("to", exp.DataType.build("DECIMAL(38, 6)" if decimal else "INT128", dialect="duckdb"))
    for node in reversed(list(tree.find_all(exp.IntDiv, exp.Mod))):
        name = "whole_quotient" if isinstance(node, exp.IntDiv) else "whole_rest"
        node.replace(exp.func(name, node.this.copy(), node.expression.copy()))
    for node in list(tree.find_all(exp.Extract)):
        if node.name == "ISOWEEK":
            node.set("this", exp.var("WEEK"))
        if node.name == "DAYOFWEEK":  # from Sunday on, as 1; DuckDB's Sunday is 0
            node.replace(exp.paren(exp.Add(this=node.copy(), expression=exp.Literal.number(1))))
    return tree.sql("duckdb", unsupported_level=ErrorLevel.RAISE)


def whole_numbers(tree, dialect):
    """Numbers of 38 digits, and quotients of them, as DuckDB has them."""
    wide = exp.DataType.build("DECIMAL(38, 0)", dialect=dialect)
    for node in list(tree.find_all(exp.DataType)):
        if node == wide:
            node.replace(exp.DataType.build("INT128", dialect="duckdb"))
    for node in list(tree.find_all(exp.Div)):
        if isinstance(node.this.unnest(), exp.Sub) and isinstance(node.this.unnest().expression, exp.Mod):
            node.replace(exp.IntDiv(this=node.this, expression=node.expression))


def from_trino(text):
    """A text of Trino's in DuckDB's words."""
    tree = parse_one(text, read="trino")
    whole_numbers(tree, "trino")
    for node in list(tree.find_all(exp.Anonymous)):
        if node.name.lower() == "from_big_endian_64":  # the first eight bytes, which DuckDB can't cut out
            node.set("expressions", [node.expressions[0].this])
    for node in list(tree.find_all(exp.Extract)):
        if node.name == "DAY_OF_WEEK":  # from Monday on
            node.set("this", exp.var("ISODOW"))
    return tree.sql("duckdb", unsupported_level=ErrorLevel.RAISE)


LISTS = {  # of FLATTEN, whose columns have names in capitals
    "RANGE": '(SELECT unnest({0}) AS "INDEX")',
    "ParseJSON": '(SELECT unnest(CAST({0} AS VARCHAR[][])) AS "VALUE")',
}


def from_snowflake(text):
    """A text of Snowflake's in DuckDB's words."""
    tree = parse_one(text, read="snowflake")
    whole_numbers(tree, "snowflake")
    for node in list(tree.find_all(exp.TableFromRows, exp.Table)):
        flat = node.find(exp.Explode, exp.Unnest)
        if flat is not None and not isinstance(node.this, exp.Identifier) and node.find(exp.Select) is None:
            listed = flat.find(exp.Kwarg).expression
            shape = LISTS["ParseJSON" if isinstance(listed, exp.ParseJSON) else "RANGE"]
            told = parse_one(f"FROM {shape.format(listed.sql('duckdb'))}", read="duckdb")
            node.replace(told.args["from_"].this)
    return tree.sql("duckdb", unsupported_level=ErrorLevel.RAISE).replace("M_D5_NUMBER_LOWER64", "md5_number_lower")


class Prepared(Table):
    """The rows in DuckDB, asked in prepared words."""

    def __init__(self, frame, dialect, translated):
        self.dialect, self.translated = dialect, translated
        with open_table(frame) as opened:
            columns = list(opened.types.values())
        self.connection = duckdb.connect()
        self.connection.register("frame", frame)
        self.connection.execute(f"CREATE TABLE rows AS FROM frame; {BIG_ENDIAN}; {WHOLE}")
        super().__init__(Identity("rows"), columns, lambda _: sql("SELECT * FROM rows"))

    def _rehearse(self, queries):
        """DuckDB's extreme values are none of theirs."""

    def _execute(self, text, values):
        found = self.connection.execute(self.translated(text), values)
        rows = found.fetchall()
        return list(zip(*rows, strict=True)) if rows else [()] * len(found.description)

    def _release(self):
        self.connection.close()


ENGINES = {
    "trino": (TRINO, from_trino),
    "bigquery": (BIGQUERY, from_bigquery),
    "snowflake": (SNOWFLAKE, from_snowflake),
}


@pytest.fixture(scope="session", params=ENGINES)
def table(request):
    with Prepared(arrow(ROWS), *ENGINES[request.param]) as opened:
        yield opened


FILTERS = [
    "least(n, person) < 3",
    "greatest(n, person, 2) > 2 AND least(person, n, 7) <= 5",
    "greatest(x, money) >= 1.25 OR least(x, 0.3, money) < -1",
    "clamp(n, 0, 10) = 10 OR clamp(x, 0, 1) = 1",
    "coalesce(n, person, 4) = 4 AND nullif(person, 3) < 9",
    "floor(x) = 0 OR ceil(money) = 2 OR round(x / 2) = 1",
    "abs(person) % 3 = 1 AND person % 5 = 2",
    "x / person > 0.2 AND x * 2 + n < 1e6",
    "length(trim(tag)) = 1 AND upper(tag) = 'A'",
    "left(tag, 2) IN ('O''', 'qu', '日本') OR lower(tag) = 'o''hara'",
    "starts_with(tag, 'O') OR ends_with(tag, 'te') OR contains(tag, '? {')",
    "tag >= 'a' AND tag < 'z'",
    "CAST(tag AS INTEGER) IS NULL AND CAST(person AS TEXT) = '7'",
    "CASE WHEN flag THEN n ELSE person END > 1",
    "year(day) = 2024 AND week(day) = 9 AND weekday(day) = 4 AND quarter(day) = 1",
    "date_trunc('month', day) = DATE '2024-02-01' OR date_trunc('week', day) = DATE '1969-12-29'",
    "hour(moment) = 23 OR moment > TIMESTAMP '2024-02-29 12:00:00'",
    "day BETWEEN DATE '1900-01-01' AND DATE '2024-12-31' AND money IN (0.05, 1.25)",
]


@pytest.fixture(scope="module")
def own():
    with open_table(arrow(ROWS)) as opened:
        yield opened


@pytest.mark.slow
@pytest.mark.parametrize("where", FILTERS)
def test_a_filter_takes_the_rows_that_it_takes_in_duckdb(table, own, where):
    asked = Contribution(None), (), (CountRows(),), parse(where, own.columns)
    (found,), (wanted,) = table.aggregate(*asked), own.aggregate(*asked)
    assert 0 < found == wanted < len(ROWS)


@pytest.mark.parametrize(("column", "years"), [("day", (1, 1969, 1970, 2024, 2025)), ("moment", (1960, 2000, 2030))])
def test_bins_of_time(table, own, column, years):
    axis = TimeAxis(column, tuple(datetime(year, 1, 1) for year in years), tuple(map(str, years[1:])))
    asked = Contribution("person", 10, 4), (axis,), (CountRows(), CountUnits())
    found, wanted = table.aggregate(*asked), own.aggregate(*asked)
    assert [counts.tolist() for counts in found] == [counts.tolist() for counts in wanted]
    assert found[0].any()


def test_least_and_greatest_skip_what_is_missing():
    """Trino gives NULL for `least(NULL, 1)`: no text has the word, and a value that is told twice is bound twice."""
    text, values = TRINO.render(sql("SELECT greatest(least(a, ") + bound(5) + '), "least(?)", 0) | 8 FROM t')  # noqa: S608
    assert "least(" not in text.lower().replace('"least(?)"', "")
    assert text.count("?") - text.count('"least(?)"') == len(values) > 1
    for a, b, wanted in ((None, None, 13), (7, None, 13), (3, None, 11), (None, 6, 14), (-1, -2, 8)):
        rows = f'WITH t AS (SELECT CAST({a or "NULL"} AS INT) AS a, CAST({b or "NULL"} AS INT) AS "least(?)") '
        assert duckdb.execute(rows + from_trino(text), values).fetchall() == [(wanted,)]


def test_bigquery_has_its_own_words():
    """Reserved words are quoted, names are escaped, Monday is 1, and 63 bits come from two halves that fit an INT64."""
    assert BIGQUERY.quote("a`b\\c") == "`a\\`b\\\\c`"
    text, _ = BIGQUERY.render(sql("SELECT rows.a FROM t AS rows"))
    assert text == "SELECT `rows`.a FROM t AS `rows`"
    for day, number in ((date(2024, 1, 1), 1), (date(2024, 1, 6), 6), (date(2024, 1, 7), 7)):
        text, _ = BIGQUERY.render(sql(f"SELECT EXTRACT(ISODOW FROM CAST('{day}' AS DATE))"))  # noqa: S608
        assert "ISODOW" not in text
        with duckdb.connect() as connection:
            connection.execute(WHOLE)
            assert connection.execute(from_bigquery(text)).fetchall() == [(number,)]
    text, values = BIGQUERY.render("SELECT " + BIGQUERY.hash((3, 4), ("'u'", Kind.TEXT), ("7", Kind.INTEGER)))
    digest = hashlib.sha256(b"3:1:u:7:4").digest()
    assert duckdb.execute(from_bigquery(text), values).fetchall() == [(int.from_bytes(digest[:8]) & (2**63 - 1),)]


def test_snowflake_has_its_own_words():
    """Names keep their letters, weeks do not hang on the session, and 63 bits come from the lower half of a digest."""
    text, _ = SNOWFLAKE.render(sql('SELECT v0 AS Unit, "d" FROM rows'))
    assert text == 'SELECT "v0" AS "Unit", "d" FROM "rows"'
    text, _ = SNOWFLAKE.render("SELECT " + SNOWFLAKE.first_day("week", sql("CAST('2024-03-03' AS DATE)")) + " AS w")
    assert "WEEK" not in text.replace("DAYOFWEEKISO", "")
    assert duckdb.execute(from_snowflake(text)).fetchall() == [(datetime(2024, 2, 26),)]
    text, values = SNOWFLAKE.render("SELECT " + SNOWFLAKE.hash((3, 4), ("'u'", Kind.TEXT), ("7", Kind.INTEGER)))
    digest = hashlib.md5(b"3:1:u:7:4", usedforsecurity=False).digest()
    lower = int.from_bytes(digest[8:], "little") % 2**63  # as DuckDB reads the bytes
    assert duckdb.execute(from_snowflake(text), values).fetchall() == [(lower,)]


def test_what_is_not_prepared_is_refused(table):
    with pytest.raises(BadParameter, match="no copies"):
        table.ranks(CONTRIBUTIONS["person 3x4"], "x", [Fraction(0), Fraction(1)])


def test_no_source_reaches_it():
    """An address of theirs is no source, and nothing in the library imports the words."""
    for address in ("trino://server/shop", "bigquery://project/shop", "snowflake://account/shop"):
        with pytest.raises(LeastNoiseError):
            open_table(address, table="visits")
    texts = [path.read_text() for path in Path(leastnoise.__file__).parent.rglob("*.py")]
    assert not any("engines.prepared" in text or "import prepared" in text for text in texts)
