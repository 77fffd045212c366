"""Filters on whole tables: native types of every width are read by the same rules, and no value makes a query fail."""

import pytest

from leastnoise.data import Contribution, CountRows, open_table
from leastnoise.errors import BadFilter, UnknownColumn

COLUMNS = """
    CAST(x AS UTINYINT) AS tiny,
    CAST(18446744073709551615 AS UBIGINT) AS unsigned_big,
    CAST(170141183460469231731687303715884105727 AS HUGEINT) - x AS huge,
    CAST(0.1 AS FLOAT) AS single,
    CAST('99999999999999999999999999.0000000001' AS DECIMAL(38, 10)) AS wide,
    CAST('b' AS ENUM ('a', 'b', 'c')) AS choice,
    CAST('2024-01-01 01:00:00+02' AS TIMESTAMPTZ) AS zoned,
    CAST('1969-12-31 23:59:59.123456789' AS TIMESTAMP_NS) AS nano,
    CAST('290000-01-01' AS TIMESTAMP_S) AS far,
    'Straße' AS street,
    [x] AS list
"""


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    duckdb = pytest.importorskip("duckdb")
    file = tmp_path_factory.mktemp("native") / "native.duckdb"
    with duckdb.connect(str(file)) as connection:
        connection.execute(f"CREATE TABLE native AS SELECT {COLUMNS} FROM range(10) AS t(x)")  # noqa: S608
    with open_table(file, table="native") as opened:
        yield opened


def count(table, where):
    from leastnoise.data.predicates import parse

    (counts,) = table.aggregate(Contribution(None), (), (CountRows(),), parse(where, table.columns))
    return int(counts)


@pytest.mark.parametrize(
    ("where", "rows"),
    [
        ("tiny < 3.5", 4),
        ("tiny > -1", 10),
        ("tiny = 300", 0),
        ("tiny - 200 < 0", 10),
        ("tiny % 3 = 0", 4),
        ("unsigned_big > 18446744073709551614", 10),
        ("unsigned_big = 18446744073709551615", 10),
        ("unsigned_big < -1", 0),
        ("unsigned_big * unsigned_big * unsigned_big > 1e50", 10),
        ("unsigned_big > tiny", 10),
        ("huge > 9999999999999999999999999999999999999", 10),
        ("huge * huge * huge * huge > 1e100", 10),
        ("huge % 7 IN (0, 1, 2, 3, 4, 5, 6)", 10),
        ("huge IN (1, 2)", 0),
        ("single > 0.1", 10),
        ("single = 0.1", 0),
        ("single * 10 > 1", 10),
        ("wide > 9e25", 10),
        ("wide * wide * wide * wide * wide > 0", 10),
        ("wide / 0 IS MISSING", 10),
        ("choice = 'b' AND choice < 'c'", 10),
        ("zoned = '2023-12-31 23:00:00'", 10),
        ("nano < '1970-01-01'", 10),
        ("far > '9999-12-31' OR far IS MISSING", 10),
        ("street LIKE '%ß%'", 10),
        ("street = 'STRASSE'", 0),
    ],
)
def test_native_types_follow_the_same_rules(table, where, rows):
    assert count(table, where) == rows


def test_what_cannot_be_filtered_on_is_refused_before_the_data_is_read(table):
    with pytest.raises(BadFilter, match="can't be filtered"):
        count(table, "list IS MISSING")
    with pytest.raises(UnknownColumn, match="did you mean 'tiny'"):
        count(table, "tinny = 1")
