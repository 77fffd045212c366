"""Text so long that functions of an engine fail on it is missing there, whatever is asked of it.

In Postgres `btrim` and a cast of padded text fail from 128 MB on, `translate` and regular expressions from 256 MB on,
and so does a row whose parts have more than 1 GB together. A question that met such a text would tell, by failing, that
the row is there. So each is asked of a table with such rows, and of one where they hold nothing.
"""

import psycopg
import pytest

from leastnoise.data import Contribution, CountRows, CountUnits, KeyAxis, Kind, col, open_table
from leastnoise.data.dialect import LONGEST_TEXT
from leastnoise.data.linked_tables import link_tables
from leastnoise.data.links import ColumnPlace
from leastnoise.data.predicates import parse, typed
from leastnoise.data.predicates.functions import FUNCTIONS
from leastnoise.data.views import derive_columns, per_unit_rows
from support.postgres import in_schema

HUGE = 1 << 28
OF_TEXT = [name for name, shape in FUNCTIONS.items() if shape.takes == "text"]
VALUES = [f"{name}({{0}}{', 3' if name == 'left' else ''})" for name in OF_TEXT]
VALUES += [f"CAST({{0}} AS {kind})" for kind in ("INTEGER", "REAL", "DATE", "TEXT")]
VALUES += [
    "coalesce({0}, 'x')",
    "nullif({0}, 'x')",
    "CASE WHEN {0} = 'x' THEN {0} END",
    "CAST(lower(trim({0})) AS INTEGER)",
]
TESTS = ["{0} = 'ab'", "{0} < 'b'", "{0} IN ('ab', '7')", "{0} LIKE '%b'", "{0} LIKE 'a%'", "{0} LIKE '%b%'"]
TESTS += [
    "starts_with({0}, '')",
    "ends_with({0}, '')",
    "contains({0}, '')",
    *(f"{value} IS MISSING" for value in VALUES),
]
NAMES = ("note", "short", "padded")


def answers(table):
    """What a table says to every question about its columns of text."""
    one, found = Contribution("person", 50, 50), []
    for name in NAMES:
        options = [parse(text.format(name), table.types) for text in TESTS]
        found.append(table.scores(one, options).tolist())
        with derive_columns(table, {f"d{i}": text.format(name) for i, text in enumerate(VALUES)}) as view:
            found += every_value(view, one)
        features = {f"f{i}": f"{kind}({name})" for i, kind in enumerate(("min", "max", "count"))}
        features |= {
            "f3": f"first({name}, lower({name}))",
            "f4": f"first(upper({name}), day)",
            "f5": f"any({name} > 'a')",
        }
        with per_unit_rows(table, "person", features, parse(f"length({name}) < 10", table.types)) as view:
            found += every_value(view, one)
        found.append(table.totals_by_key(one, (name, "short"), (CountUnits(), CountRows())))
        of_text = Contribution(name, 50, 50)
        found.append(table.aggregate(of_text, (KeyAxis("short", ("ab", None)),), (CountRows(),))[0].tolist())
    return found


def every_value(view, bound):
    """The values of all columns of a view that are not of the table, together; doubles are no keys."""
    made = [name for name in view.columns if name[0] in "df" and name != "day"]
    doubles = [parse(f"{name} > 0", view.types) for name in made if view.columns[name] is Kind.REAL]
    keys = tuple(name for name in made if view.columns[name] is not Kind.REAL)
    return [view.discover(bound, keys), view.scores(bound, doubles).tolist() if doubles else []]


@pytest.fixture(scope="module")
def address(postgres_address):
    """A table with texts that are far too long, and one with nothing in their place."""
    address = in_schema(postgres_address, "long_text")
    columns = "person int, day int, note text, short varchar, padded bpchar"
    with psycopg.connect(address) as connection:
        connection.execute(f"CREATE TABLE short ({columns}); CREATE TABLE long ({columns})")
        rows = "(1, 1, 'ab', 'ab', 'ab '), (2, 2, '7', '7', '7'), (3, 3, ' aB ', '', 'é')"
        connection.execute(f"INSERT INTO short VALUES {rows}; INSERT INTO long VALUES {rows}")  # noqa: S608 - ours
        connection.execute("INSERT INTO short VALUES (4, 4, NULL, NULL, NULL), (1, 5, NULL, 'ab', NULL)")
        connection.execute("CREATE TABLE copy AS TABLE short")
        huge = f"repeat('a', {HUGE}), repeat('b', {LONGEST_TEXT + 1}), repeat('c', {HUGE // 2})"
        beyond = f"repeat('é', {LONGEST_TEXT // 2}) || 'a', 'ab', repeat('1', {LONGEST_TEXT + 1})"
        connection.execute(f"INSERT INTO long VALUES (4, 4, {huge}), (1, 5, {beyond})")  # noqa: S608 - ours
    return address


def test_no_text_of_postgres_is_too_long_for_a_question(address):
    with open_table(address, table="short") as short, open_table(address, table="long") as long:
        assert answers(long) == answers(short)


@pytest.mark.parametrize(
    "told", ["translate(note, 'A', 'a')", "btrim(note, ' ')", "note ~ '^[0-9]{1,15}$'", "padded::text"]
)
def test_the_functions_themselves_fail_on_them(address, told):
    with psycopg.connect(address) as connection, pytest.raises(psycopg.Error, match=r"too large|alloc"):
        connection.execute(f"SELECT {told} FROM long").fetchall()  # noqa: S608 - ours


def test_joins_on_text_of_any_length(address):
    bound, found = Contribution("short.person", 1, 50), {}
    with open_table(address, table="short") as engine:
        for table in ("long", "copy"):
            for name in NAMES:
                view = link_tables(engine, ColumnPlace("short", "person"), {f"{table}.{name}": "short.note"}, []).view(
                    table
                )
                (count,) = view.aggregate(bound, (), (CountRows(),), typed(col("short.day") > 0, view.columns))
                found[table, name] = int(count)
    assert {found["long", name] for name in NAMES} != {0}
    assert all(found["long", name] == found["copy", name] for name in NAMES)


@pytest.mark.parametrize("engine", ["postgres", "spark"])
def test_the_longest_text_is_there_and_one_byte_more_is_missing(request, engine):
    numbers = {"postgres": "generate_series(0, 1) AS numbers(more)", "spark": "range(2) AS numbers(more)"}[engine]
    told = "SELECT concat(repeat('{}', {}), repeat('x', CAST(more AS INT))) AS note FROM {}"
    lengths = {"x": LONGEST_TEXT, "é": LONGEST_TEXT // 2, " ": 0}
    rows = " UNION ALL ".join(told.format(letter, length, numbers) for letter, length in lengths.items())
    if engine == "postgres":
        address = in_schema(request.getfixturevalue("postgres_address"), "longest_text")
        with psycopg.connect(address) as connection:
            connection.execute(f"CREATE TABLE texts AS {rows}")
        table = open_table(address, table="texts")
    else:
        table = open_table(request.getfixturevalue("spark").sql(rows), table="texts")
    with table:
        texts = ("note IS MISSING", "starts_with(note, 'x')", f"length(note) = {LONGEST_TEXT}", "lower(note) = 'x'")
        options = [parse(text, table.types) for text in texts]
        assert table.scores(Contribution(None), options).tolist() == [2, 2, 1, 1]
