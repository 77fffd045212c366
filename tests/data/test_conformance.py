"""One suite for every engine: exact aggregates equal to the plain Python reference, on a table full of traps."""

from fractions import Fraction
from functools import cache

import numpy as np
import polars
import psycopg
import pytest

from leastnoise.data import BinAxis, Contribution, CountRows, CountUnits, KeyAxis, Kind, SumOf, col, open_table
from leastnoise.data.dialect import select
from leastnoise.data.predicates import typed

from . import reference
from .rows import CHOICES, DAYS, HUGE, MOMENTS, MONEY, POSTGRES_TYPES, TEXTS, WEIRD, arrow, make_rows

ROWS = make_rows(seed=7, count=600)
SECRET = (0x123456789ABCDEF, 0x7EDCBA987654321)
FILES = ["parquet", "parquet_with_text_ids", "arrow_file", "duckdb_file"]
ENGINES = ["arrow", "pandas", "polars", *FILES, "postgres", "spark"]
F = Fraction


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("data")


@pytest.fixture(scope="session", params=ENGINES)
def table(request, folder):
    opened = getattr(Sources(request, folder), request.param)()
    yield opened
    opened.close()


class Sources:
    """The same rows in every engine."""

    def __init__(self, request, folder):
        self.request, self.folder = request, folder

    def arrow(self):
        return open_table(arrow(ROWS))

    def pandas(self):
        import pandas

        return open_table(arrow(ROWS).to_pandas(types_mapper=pandas.ArrowDtype))

    def polars(self):
        return open_table(polars.from_arrow(arrow(ROWS)))

    def parquet(self):
        import pyarrow.parquet

        target = self.folder / "parts"
        target.mkdir(exist_ok=True)
        pyarrow.parquet.write_table(arrow(ROWS[:200]), target / "it's 1.parquet")
        pyarrow.parquet.write_table(arrow(ROWS[200:]), target / "it's 2.parquet")
        return open_table(target / "*.parquet")

    def parquet_with_text_ids(self):
        self.parquet().close()
        return open_table(self.folder / "parts" / "*.parquet", privacy_unit="tag")

    def arrow_file(self):
        import pyarrow.feather

        pyarrow.feather.write_feather(arrow(ROWS), self.folder / "rows.arrow", compression="uncompressed")
        return open_table(self.folder / "rows.arrow")

    def duckdb_file(self):
        import duckdb

        path = self.folder / "rows.duckdb"
        with duckdb.connect(str(path)) as connection:
            connection.register("rows", arrow(ROWS))
            connection.execute('CREATE SCHEMA IF NOT EXISTS shop; CREATE TABLE shop."my;table" AS SELECT * FROM rows')
        return open_table(path, table='shop."my;table"')

    def postgres(self):
        address = self.request.getfixturevalue("postgres_address")
        names = ", ".join(f'"{name.replace(chr(34), chr(34) * 2)}" {POSTGRES_TYPES[name]}' for name in CHOICES)
        with psycopg.connect(address) as connection:
            connection.execute(f'CREATE SCHEMA IF NOT EXISTS shop; CREATE TABLE shop."my;table" ({names})'.encode())
            with connection.cursor() as cursor, cursor.copy('COPY shop."my;table" FROM STDIN') as copy:
                for row in ROWS:
                    copy.write_row([row[name] for name in CHOICES])
        return open_table(address, table='shop."my;table"')

    def spark(self):
        session = self.request.getfixturevalue("spark")
        return open_table(session.createDataFrame(arrow(ROWS)), table="rows")


@pytest.fixture(scope="session")
def picks(table):
    """What the engine hashes a unit and a number to, asked in one query per unit column and remembered."""
    found = {}

    def ask(column):
        kind, dialect = table.columns[column], table.dialect
        copies = [(cell, copy) for cell in range(1, 60) for copy in range(1, 40 if cell < 6 else 16)]
        parts = [*range(-5, 200), *(cell * 2**32 + copy for cell, copy in copies)]
        units = select("DISTINCT unit", table._relation.rows(Contribution(column), None, [], []).text, "rows")
        hashed = dialect.hash(SECRET, ("unit", kind), ("place", Kind.INTEGER))
        outputs = f"CAST(unit AS {dialect.text}) AS shown, place, " + hashed + " AS pick"
        listed = dialect.listed({str(part): part for part in parts})
        shown, places, picks = table._run(select(outputs, units, "units", "CROSS JOIN (" + listed + ") AS parts"))
        read = int if kind is Kind.INTEGER else str
        return {(read(u), int(p)): int(pick) for u, p, pick in zip(shown, places, picks, strict=True)}

    def pick(column, unit, part):
        if column not in found:
            found[column] = ask(column)
        return found[column][unit, part]

    return pick


def test_the_schema(table):
    kinds = (Kind.INTEGER, Kind.TEXT, Kind.REAL, Kind.INTEGER, Kind.DECIMAL, Kind.DECIMAL, Kind.BOOLEAN, Kind.DATE)
    assert dict(table.columns) == dict(zip(CHOICES, (*kinds, Kind.TIMESTAMP, Kind.INTEGER), strict=True))


TAGS = KeyAxis("tag", (*TEXTS, "not there", "nul\0l"))
FEW_TAGS = KeyAxis("tag", ("a", "O'Hara", "日本", None))
AXES = {
    "none": (),
    "texts": (TAGS,),
    "few": (FEW_TAGS,),
    "whole": (KeyAxis("n", (0, 1, None, -(2**63), 2**63 - 1, 2**70, 2**53, 2**53 + 1)),),
    "run": (KeyAxis("n", (-1, 0, 1, 2, 3)), KeyAxis(WEIRD, (1, 2))),
    "reals": (KeyAxis("x", (0.0, None, 0.1, 5e-324, 1e308, 2.5)),),
    "money": (KeyAxis("money", (*MONEY, Fraction(1, 3), 10**20)),),
    "huge": (KeyAxis("huge", tuple(HUGE)),),
    "flag": (KeyAxis("flag", (True, False, None)),),
    "day": (KeyAxis("day", tuple(DAYS)),),
    "moment": (KeyAxis("moment", tuple(MOMENTS)),),
    "bins": (BinAxis("x", (F(-5), F(0), F("0.1"), F("0.3"), F(10), F(10**16))),),
    "many bins": (BinAxis("x", tuple(F(i, 10) for i in range(-30, 101))),),
    "whole bins": (BinAxis("n", tuple(F(i) for i in range(-20, 60, 3))),),
    "halves of whole": (BinAxis("n", tuple(F(i, 2) for i in range(-21, 21))),),
    "wide bins": (BinAxis("n", (F(-(2**63)), F(1, 3), F(2**63))),),
    "money bins": (BinAxis("money", (F(-2), F(-1, 100), F(1, 30), F("1.25"), F(10**10))),),
    "huge bins": (BinAxis("huge", (F(-(10**36)), F(0), F(10**30) + F(1, 2), F(10**36))),),
    "two": (FEW_TAGS, KeyAxis(WEIRD, (1, 2, 3, None))),
    "three": (BinAxis("x", (F(-3), F(0), F(3))), KeyAxis("flag", (False, True)), KeyAxis(WEIRD, (3, None))),
}
MEASURES = (
    CountRows(),
    CountUnits(),
    SumOf("x", F(-5), F(10), F(1, 4)),
    SumOf("x", F("0.1"), F("9.99"), F("0.01"), 2, F(5)),
    SumOf("x", F(-(2**60)), F(2**60), F(1)),
    SumOf("x", F(0), F(1), F(2, 3), averaged=True),
    SumOf("n", F(-50), F(50), F(1)),
    SumOf("n", F(-(10**12)), F(10**12), F(30, 7), 2),
    SumOf("n", F(-50), F(50), F(7, 3), averaged=True),
    SumOf("money", F(-1), F(10), F("0.01")),
    SumOf("money", F("0.005"), F(10**6), F(1, 30), 2, F(0), averaged=True),
    SumOf("huge", F(-(10**30)), F(10**30), F(10**15)),
    SumOf(WEIRD, F(2), F(2), F(1)),
)
CONTRIBUTIONS = {
    "each row": Contribution(None),
    "person 1x1": Contribution("person"),
    "person 2x1": Contribution("person", 2, 1),
    "person 3x4": Contribution("person", 3, 4),
    "tag 2x3": Contribution("tag", 2, 3),
}


def equal(found, wanted):
    return [np.array(array, dtype=object).tolist() for array in found] == [array.tolist() for array in wanted]


@pytest.mark.slow
@pytest.mark.parametrize("axes", AXES)
def test_counts_on_every_axis(table, picks, axes):
    contribution = CONTRIBUTIONS["person 2x1"]
    asked = contribution, AXES[axes], (CountRows(), CountUnits())
    found = table._aggregate(*asked, None, SECRET)
    assert [array.shape for array in found] == [tuple(map(len, AXES[axes]))] * 2
    wanted = reference.aggregate(ROWS, table.columns, *asked, None, lambda u, g: picks("person", u, g))
    assert equal(found, wanted)


@pytest.mark.slow
@pytest.mark.parametrize("contribution", CONTRIBUTIONS)
def test_every_measure_under_every_bound(table, picks, contribution):
    bound = CONTRIBUTIONS[contribution]
    if bound.privacy_unit is not None and table.types[bound.privacy_unit].coarse:
        return  # refused: see test_identities
    where = typed((col("n") <= 50) | col("n").is_missing(), table.columns)
    for axes in ((FEW_TAGS,), ()):
        found = table._aggregate(bound, axes, MEASURES, where, SECRET)
        wanted = reference.aggregate(
            ROWS, table.columns, bound, axes, MEASURES, where, lambda u, g: picks(bound.privacy_unit, u, g)
        )
        for measure, ours, theirs in zip(MEASURES, found, wanted, strict=True):
            assert equal([ours], [theirs]), measure


WIDE = (FEW_TAGS, BinAxis("x", (F(-5), F(0), F("0.1"), F(10))), KeyAxis("flag", (True, None, False)), AXES["run"][1])
TABLES = [(0, 1), (2,), (), (0, 2, 3), (1, 3), (0, 1, 2, 3)]


def sums_of(big):
    return [np.asarray(big.sum(axis=tuple({0, 1, 2, 3} - {*table}))).tolist() for table in TABLES]


@pytest.mark.slow
@pytest.mark.parametrize("contribution", CONTRIBUTIONS)
def test_all_tables_are_sums_of_one_bounded_table(table, picks, contribution):
    """With the same secret they keep the cells that one big table keeps, and that one is the reference's."""
    bound = CONTRIBUTIONS[contribution]
    if bound.privacy_unit is not None and table.types[bound.privacy_unit].coarse:
        return  # refused: see test_identities
    where = typed((col("n") <= 50) | col("n").is_missing(), table.columns)
    for measure in (CountRows(), CountUnits()):
        asked = bound, WIDE, (measure,), where
        (big,) = reference.aggregate(ROWS, table.columns, *asked, lambda u, g: picks(bound.privacy_unit, u, g))
        found = table._marginals(bound, WIDE, TABLES, measure, where, SECRET)
        assert [counts.tolist() for counts in found] == sums_of(big)
        assert np.sum(big)


@pytest.mark.parametrize(("at_once", "packed"), [(1, 2**62), (20, 2**62), (2**21, 20), (20, 6)])
def test_tables_in_several_statements_and_packed_numbers_are_the_same(table, monkeypatch, at_once, packed):
    """A unit keeps the same cells in all statements; however places are packed, every row finds its table and cell."""
    bound = Contribution("person", 2, 2)
    whole = table._marginals(bound, WIDE, TABLES, CountRows(), None, SECRET)
    monkeypatch.setattr("leastnoise.data.table._CELLS_AT_ONCE", at_once)
    monkeypatch.setattr("leastnoise.data.sql_queries._MOST_PACKED", packed)
    if packed < 2**62:  # cells that are one number are packed into one
        monkeypatch.setattr("leastnoise.data.sql_queries._MOST_IN_PRODUCT", 1)
    again = table._marginals(bound, WIDE, TABLES, CountRows(), None, SECRET)
    if packed == 2**62:  # else the cells that are kept are others
        assert [counts.tolist() for counts in again] == [counts.tolist() for counts in whole]
    assert [counts.tolist() for counts in again] == sums_of(again[-1])
    assert sum(again[-1].ravel()) == sum(whole[-1].ravel())


@pytest.mark.slow
def test_tables_of_a_product_without_numbers_are_bounded_as_others(table, monkeypatch):
    """Cells as lists of numbers, as for products beyond 2^62: as many are kept, and all where all may be."""
    monkeypatch.setattr("leastnoise.data.sql_queries._MOST_IN_PRODUCT", 1)
    monkeypatch.setattr("leastnoise.data.sql_queries._MOST_PACKED", 12)
    few, some, all_of_them = (Contribution("person", groups, 2) for groups in (1, 2, 71))
    for measure in (CountRows(), CountUnits()):
        (big,) = table._aggregate(all_of_them, WIDE, (measure,), None, SECRET)
        found = table._marginals(all_of_them, WIDE, TABLES, measure, None, SECRET)
        assert [counts.tolist() for counts in found] == sums_of(big)
    for bound in (few, some):
        kept = [table._marginals(bound, WIDE, TABLES, CountUnits(), None, secret)[-1] for secret in (SECRET, (1, 2))]
        (big,) = table._aggregate(bound, WIDE, (CountUnits(),), None, SECRET)
        assert [counts.sum() for counts in kept] == [big.sum()] * 2
        assert kept[0].tolist() != kept[1].tolist()  # which ones is up to the secret


@pytest.mark.slow
@pytest.mark.parametrize("contribution", ["each row", "person 1x1", "person 3x4"])
@pytest.mark.parametrize(
    ("column", "grid"),
    [
        ("x", [F(-3), F(0), F("0.2"), F(2), F(11)]),
        ("x", [F(i, 2) for i in range(-10, 31)]),
        ("n", [F(i) for i in range(-12, 60, 2)]),
        ("n", [F(i) for i in range(-2, 38)]),
        ("n", [F(i, 3) for i in range(-12, 28)]),
        ("n", [F(5 * i, 2) for i in range(-8, 24)]),
        ("money", [F(-2), F(0), F(1), F(9999)]),
    ],
)
def test_ranks(table, picks, contribution, column, grid):
    bound = CONTRIBUTIONS[contribution]
    found = table._ranks(bound, column, grid, None, SECRET)
    wanted = reference.ranks(ROWS, table.columns, bound, column, grid, None, lambda u, p: picks("person", u, p))
    assert found.tolist() == wanted


@pytest.mark.slow
@pytest.mark.parametrize("contribution", ["each row", "person 1x1", "person 3x4"])
@pytest.mark.parametrize("groups", [1, 2, 3])
def test_ranks_by_key(table, picks, contribution, groups):
    bound, grid = CONTRIBUTIONS[contribution], [F(i) for i in range(-2, 12)]
    bound = Contribution(bound.privacy_unit, groups, bound.rows_per_unit)
    axis = KeyAxis("flag", (True, False, None))
    found = table._ranks(bound, "n", grid, None, SECRET, (axis,))
    asked = ROWS, table.columns, bound, "n", grid, None, lambda u, p: picks("person", u, p)
    assert found.tolist() == reference.ranks(*asked, keys=("flag", [True, False, None]))


def test_scores(table):
    options = [col("tag") == "O'Hara", col("tag").is_missing(), col("n") > 3, (col("x") > 2) & ~(col("n") < 3)]
    options = [typed(option, table.columns) for option in options]
    where = typed(~(col(WEIRD) == 2), table.columns)
    bounds = (CONTRIBUTIONS["each row"], CONTRIBUTIONS["tag 2x3"])
    for bound in bounds[: 1 if table.types["tag"].coarse else 2]:
        assert table.scores(bound, options, where).tolist() == reference.scores(ROWS, bound, options, where)


@cache
def distinct_keys(columns):
    return {tuple(row[name] for name in columns) for row in ROWS if row["person"] is not None}


@pytest.mark.slow
@pytest.mark.parametrize("columns", [("tag",), ("n", "flag"), ("money", "huge"), ("day", "moment", "tag"), (WEIRD,)])
def test_discovered_keys(table, columns):
    units = {key: set() for key in distinct_keys(columns)}
    for row in ROWS:
        if row["person"] is not None:
            units[tuple(row[name] for name in columns)].add(row["person"])
    wanted = {key: len(found) for key, found in units.items()}
    assert table.discover(Contribution("person", 10**6), columns) == wanted
    people = len({row["person"] for row in ROWS} - {None})
    bounded = table.discover(Contribution("person", 2), columns)
    groups = [sum(unit in found for found in units.values()) for unit in {row["person"] for row in ROWS} - {None}]
    assert len(groups) == people
    assert sum(bounded.values()) == sum(min(count, 2) for count in groups)
    assert all(bounded[key] <= wanted[key] for key in bounded)
    each_row = table.discover(Contribution(None), columns)
    assert sum(each_row.values()) == len(ROWS)


@pytest.mark.slow
def test_an_empty_answer_has_the_same_shape(table):
    where = col(WEIRD) == 99
    measures = (CountRows(), SumOf("n", F(-50), F(50), F(1)), SumOf("n", F(0), F(2**60), F(1)))
    for bound in (CONTRIBUTIONS["each row"], CONTRIBUTIONS["person 3x4"]):
        found = table.aggregate(bound, (FEW_TAGS,), measures, where)
        assert [array.shape for array in found] == [(4,)] * len(measures)
        assert not any(array.any() for array in found)
        assert [array.dtype for array in found] == [np.int64, np.int64, object]
        assert table.scores(bound, [col("flag") == True], where).tolist() == [0]  # noqa: E712
        assert not table.ranks(bound, "x", [F(0), F(1)], where).any()
        assert table.discover(bound, ("tag",), where) == {}
        assert [counts.any() for counts in table.marginals(bound, WIDE, TABLES, CountRows(), where)] == [False] * 6
        assert [counts.shape for counts in table.marginals(bound, WIDE, [()], CountRows(), where)] == [()]


def test_what_the_reference_hides_would_show(table):
    """The picks matter: with another secret some unit keeps other groups."""
    asked = Contribution("person"), (TAGS,), (CountRows(),), None
    assert not equal(table._aggregate(*asked, SECRET), table._aggregate(*asked, (1, 2)))
