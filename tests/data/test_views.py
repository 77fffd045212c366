"""Derived columns and per-unit rows on tables full of extremes: no text fails, and every engine has the same rows.

The rehearsal is switched off, as in the search for oracles: it would hide a text that can fail.
"""

import random
from collections import Counter, defaultdict
from contextlib import suppress
from datetime import date

import duckdb
import pytest

from leastnoise.data import Contribution, Kind, col, open_table, typed
from leastnoise.data.predicates import holds, value_of
from leastnoise.data.predicates.parser import parse_aggregate, parse_expression
from leastnoise.data.table import Table
from leastnoise.data.views import derive_columns, per_unit_rows
from leastnoise.errors import BadFilter, BadParameter, LeastNoiseError

from . import reference
from .hostile import FILTERS, in_duckdb, in_postgres, in_spark

EACH_ROW = Contribution(None)
NUMBERS = (
    "floor({0})", "round({0} * 2)", "ceil({0} / 3)", "CAST({0} AS INTEGER)", "floor(abs({0}))", "floor(1 / {0})",
    "floor(clamp({0}, -10, 10))", "CASE WHEN {0} > 1 THEN 1 WHEN {0} < -1 THEN 2 END", "floor(coalesce({0}, 7) + 1)",
    "floor(least({0}, 5))", "floor(nullif({0}, 1))", "({0} * {0} * {0} > 3)",
)  # fmt: skip
WHOLE = ("clamp({0}, -5, 1000000) * 3 - 1", "{0} % 7", "CAST({0} AS TEXT)", "coalesce({0}, 100000000000000000000)",
         "greatest({0}, 3)")  # fmt: skip
TEXTS = ("lower({0})", "upper({0})", "trim({0})", "length({0})", "left({0}, 1)", "CAST({0} AS INTEGER)",
         "CAST({0} AS DATE)", "floor(CAST({0} AS REAL) * 3)", "coalesce({0}, 'z')", "nullif({0}, 'a')")  # fmt: skip
FLAGS = ("CAST({0} AS INTEGER)", "CAST({0} AS TEXT)", "CASE WHEN {0} THEN 'yes' ELSE 'no' END", "NOT {0}")
PARTS = ("year", "quarter", "month", "week", "day", "weekday")
UNITS = ("day", "week", "month", "quarter", "year")
MOMENTS = (*(f"{part}({{0}})" for part in PARTS), *(f"date_trunc('{unit}', {{0}})" for unit in UNITS),
           "CAST({0} AS DATE)", "CAST(CAST({0} AS DATE) AS TEXT)", "coalesce({0}, '2000-01-01')")  # fmt: skip
LONGEST = 1 << 16  # longer texts are no keys


@pytest.fixture(autouse=True)
def no_rehearsal(monkeypatch):
    monkeypatch.setattr(Table, "_rehearse", lambda *_: None)


def texts(name, kind):
    shapes = {Kind.TEXT: TEXTS, Kind.BOOLEAN: FLAGS, Kind.DATE: MOMENTS, Kind.TIMESTAMP: MOMENTS}.get(kind, NUMBERS)
    return [shape.format(f'"{name}"') for shape in (*shapes, *(WHOLE if kind is Kind.INTEGER else ()))]


def is_told(name):
    """Whether doubles near a decimal do not depend on the engine: it has few digits."""
    return not (name[0] == "d" and name[1:2].isdigit()) or name in ("d4_0", "d4_4", "d9_2", "d12_2", "d18_3")


def key(value):
    return None if reference.missing(value) or (isinstance(value, str) and len(value) > LONGEST) else value


def check_derived(made, dice, count):
    """Random expressions, each over no row, an ordinary one and all."""
    listed = [
        (name, text) for name, kind in made.columns.items() if name not in ("n", "u") for text in texts(name, kind)
    ]
    chosen = dice.sample(listed, min(count, len(listed)))
    view = derive_columns(made.table, {f"x{i}": text for i, (_, text) in enumerate(chosen)})
    for number, (name, text) in enumerate(chosen):
        term = parse_expression(text, made.table.types)
        for where in (typed(each, made.table.types) for each in FILTERS.values()):
            found = view.discover(EACH_ROW, (f"x{number}",), where)
            wanted = Counter((key(value_of(term, row)),) for row in made.rows if holds(where, row))
            assert sum(found.values()) == sum(wanted.values()), text
            assert not is_told(name) or name == "number" or found == wanted, text


def features_of(name, kind):
    column = f'"{name}"'
    asked = [f"count({column})", f"any({column} IS MISSING)"]
    if kind is not Kind.BOOLEAN:
        asked += [f"min({column})", f"max({column})", f"first({column}, n)", f"first(n, {column})"]
    if kind.numeric:
        asked += [f"sum(clamp({column}, -100, 100))"]
    return asked


def feature_of(aggregate, rows):
    """What a feature is, in plain Python, of the rows of one unit."""
    if aggregate.condition is not None:
        return any(holds(aggregate.condition, row) for row in rows)
    if not aggregate.arguments:
        return len(rows)
    values = [tuple(value_of(term, row) for term in aggregate.arguments) for row in rows]
    there = [each for each in values if None not in each]
    if aggregate.name == "count":
        return len(there)
    if not there:
        return None
    if aggregate.name == "first":
        return min(there, key=lambda pair: (pair[1], pair[0]))[0]
    total = {"min": min, "max": max, "sum": sum}[aggregate.name](value for (value,) in there)
    return None if aggregate.name == "sum" and abs(total) > 2**63 - 1 else total


def check_features(made, dice, count):
    listed = [(name, text) for name, kind in made.columns.items() if name != "u" for text in features_of(name, kind)]
    listed += [("n", text) for text in ("count(*)", "sum(n)", "sum(clamp(n, 0, 1000) * 3 - 100)", "any(n > 5)")]
    chosen = dice.sample(listed, min(count, len(listed)))
    where = typed(col("n") >= 1, made.table.types)
    view = per_unit_rows(made.table, "u", {f"f{i}": text for i, (_, text) in enumerate(chosen)}, where)
    rounded = {f"g{i}": f"floor(f{i})" for i in range(len(chosen)) if view.columns[f"f{i}"] is Kind.REAL}
    view = derive_columns(view, rounded) if rounded else view
    units = defaultdict(list)
    for row in made.rows:
        if holds(where, row):
            units[row["u"]].append(row)
    for number, (name, text) in enumerate(chosen):
        aggregate = parse_aggregate(text, made.table.types)
        asked = f"g{number}" if f"g{number}" in view.columns else f"f{number}"
        found = view.discover(Contribution("u"), (asked,))
        assert sum(found.values()) == len(units), text
        wanted = [feature_of(aggregate, rows) for rows in units.values()]
        if asked[0] == "g":
            wanted = [None if x is None or not abs(x) < 2**53 else int(x // 1) for x in wanted]
        if is_told(name) and not (asked[0] == "g" and aggregate.name == "sum"):
            assert found == Counter((key(value),) for value in wanted), text


@pytest.mark.slow
@pytest.mark.parametrize(("engine", "many"), [("duckdb", 150), ("postgres", 100), ("spark", 5)])
def test_views_have_the_rows_of_the_reference(request, tmp_path, engine, many):
    make = {
        "duckdb": lambda: in_duckdb(tmp_path),
        "postgres": lambda: in_postgres(request.getfixturevalue("postgres_address")),
        "spark": lambda: in_spark(request.getfixturevalue("spark")),
    }[engine]
    made, dice = make(), random.Random(3)
    with made.table:
        check_derived(made, dice, many)
        check_features(made, dice, many)


def test_taking_a_unit_away_takes_its_row_away(tmp_path):
    """All features at once, on the table and on the table without each unit in turn."""
    made = in_duckdb(tmp_path)
    features = {
        "rows": "count(*)",
        "total": "sum(n)",
        "low": "min(long)",
        "last": "first(text, n)",
        "any_flag": "any(flag)",
    }
    with made.table:

        def rows_without(unit):
            view = per_unit_rows(made.table, "u", features, None if unit is None else col("u") != unit)
            return Counter(view.discover(Contribution("u"), ("u", *features)))

        whole = rows_without(None)
        assert len(whole) == 5
        for unit in range(5):
            gone = whole - rows_without(unit)
            assert [found[0] for found in gone.elements()] == [unit]
            assert rows_without(unit) <= whole


def opened(tmp_path, rows):
    file = tmp_path / f"{len(list(tmp_path.iterdir()))}.duckdb"
    with duckdb.connect(str(file)) as connection:
        connection.execute(f"CREATE TABLE t AS SELECT * FROM (VALUES {rows}) AS v(u, n)")  # noqa: S608 - our own rows
    return open_table(file, table="t")


def test_rows_of_nobody_make_no_row(tmp_path):
    with opened(tmp_path, "(1, 5), (NULL, 6), (NULL, 7)") as table:
        view = per_unit_rows(table, "u", {"total": "sum(n)"}, None)
        assert view.discover(EACH_ROW, ("total",)) == {(5,): 1}


@pytest.mark.parametrize("derived", [False, True])
def test_a_filter_of_features_is_about_features(tmp_path, derived):
    """Also where columns are derived from features; a feature that is called like a column of the rows is refused."""
    with opened(tmp_path, "(1, 5), (1, 6), (2, 9), (3, 1)") as table:
        view = per_unit_rows(table, "u", {"rows": "count(*)", "total": "sum(n)"}, None)
        view = derive_columns(view, {"twice": "2 * rows"}) if derived else view
        for where, passing in ((col("rows") >= 2, {11}), (col("rows") < 5, {11, 9, 1}), (col("total") > 5, {11, 9})):
            found = view.discover(Contribution("u"), ("total",), typed(where, view.types))
            assert found == {(total,): 1 for total in passing}


def test_a_sum_beyond_64_bits_is_missing(tmp_path):
    most = 2**63 - 1
    with opened(tmp_path, f"(1, {most}), (1, {most}), (2, {most}), (2, -{most}), (3, {most})") as table:
        view = per_unit_rows(table, "u", {"total": "sum(n)"}, None)
        assert view.discover(Contribution("u"), ("total",)) == {(None,): 1, (0,): 1, (most,): 1}


def test_a_sum_that_could_overflow_is_refused(tmp_path):
    """Rows of 128 bits could leave every type of the engine: whether they do would tell something about them."""
    with opened(tmp_path, "(1, CAST(5 AS HUGEINT))") as table:
        with pytest.raises(BadParameter, match="needs bounds"):
            per_unit_rows(table, "u", {"total": "sum(n)"}, None)
        view = per_unit_rows(table, "u", {"total": "sum(clamp(n, 0, 9))"}, None)
        assert view.discover(Contribution("u"), ("total",)) == {(5,): 1}


def test_fixed_point_sums_are_near_the_sums(tmp_path):
    made = in_duckdb(tmp_path)
    with made.table:
        view = per_unit_rows(made.table, "u", {"s": "sum(clamp(d9_2, -100, 100))"}, None)
        view = derive_columns(view, {"t": "round(s * 100)"})
        found = view.discover(Contribution("u"), ("t",))
    units = defaultdict(float)
    for row in made.rows:
        units[row["u"]] += 0 if row["d9_2"] is None else float(min(max(row["d9_2"], -100), 100))
    assert found == Counter((round(total * 100),) for total in units.values())


@pytest.mark.parametrize("ends", ["-1.7e308, 1.7e308", "0, 1e308", "0, 1e-320", "1e300, 1.0000001e300", "-1e30, 1e30"])
def test_bounds_of_any_size_end_with_a_typed_error_or_a_sum(tmp_path, ends):
    made = in_duckdb(tmp_path)
    with made.table, suppress(LeastNoiseError):
        view = per_unit_rows(made.table, "u", {"s": f"sum(clamp(d9_2, {ends}))"}, None)
        view.discover(Contribution("u"), ("s",))


@pytest.mark.parametrize(
    "names",
    [("half", "HALF"), ("x" * 70, "x" * 71), ("K\u00d6ln", "k\u00f6ln"), ("s", "\u017f")],
    ids=["capitals", "long", "umlaut", "long s"],
)
def test_no_two_columns_have_names_that_an_engine_takes_for_one(tmp_path, names):
    """DuckDB would read the first of two columns `half` and `HALF` for both, without a word."""
    made = in_duckdb(tmp_path)
    with made.table:
        for make in (derive_columns, lambda table, given: per_unit_rows(table, "u", given, None)):
            with pytest.raises(BadParameter, match="such a column"):
                make(made.table, dict.fromkeys(names, "count(*)" if make is not derive_columns else "n % 2"))
        view = derive_columns(made.table, {names[0]: "n % 2"})
        with pytest.raises(BadParameter, match="such a column"):
            derive_columns(view, {names[1]: "n % 3"})


def test_a_view_is_closed_with_its_table_and_refuses_what_is_wrong(tmp_path):
    made = in_duckdb(tmp_path)
    for columns, words in (
        ({}, "from 1"),
        ({"byte": "1"}, "such a column"),
        ({"BYTE": "1"}, "such a column"),
        ({"": "1"}, "has a name"),
        ({"x": "sum(byte)"}, "SUM"),
        ({"x": 5}, "is text"),
    ):
        with pytest.raises((BadParameter, BadFilter), match=words):
            derive_columns(made.table, columns)
    for features, words in (
        ({"x": "byte"}, "COLUMN"),
        ({"x": "avg(byte)"}, "no feature"),
        ({"x": "count(DISTINCT byte)"}, "no feature"),
        ({"x": "sum(double)"}, "needs bounds"),
        ({"x": "sum(huge)"}, "needs bounds"),
        ({"x": "sum(text)"}, "only numbers"),
        ({"x": "min(flag)"}, "use any"),
        ({"x": "first(text)"}, "no feature"),
        ({"x": "count(*) + 1"}, "ADD"),
        ({"x": "count(*) OVER ()"}, "OVER"),
    ):
        with pytest.raises((BadParameter, BadFilter), match=words):
            per_unit_rows(made.table, "u", features, None)
    view = derive_columns(made.table, {"born": "year(day)"})
    assert view.columns["born"] is Kind.INTEGER
    assert view.types["born"].limits == (1, 9999)
    assert view.tied == {"born"}
    with pytest.raises(BadParameter, match="ids apart"):
        view.discover(Contribution("born"), ("n",))
    made.table.close()
    from leastnoise.errors import Closed

    with pytest.raises(Closed):
        view.discover(EACH_ROW, ("born",))
    assert date.min.year == 1
