"""A search for questions that are answered on one table and fail on its neighbour: a failure tells that a row is there.

Random questions about a column of every type run on no row, on an ordinary row and on rows full of extremes. Each is
answered on all of them, as the plain Python reference does, or refused on all of them by a typed error of the plan. The
rehearsal is switched off here: it would hide a text that can fail. LEASTNOISE_ORACLES sets the number of questions.
"""

import os
import random
from contextlib import suppress
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from functools import wraps
from inspect import signature

import duckdb
import numpy as np
import psycopg
import pyarrow.parquet
import pytest

from leastnoise.data import (
    BinAxis,
    Contribution,
    CountRows,
    CountUnits,
    KeyAxis,
    Kind,
    SumOf,
    TimeAxis,
    col,
    open_table,
)
from leastnoise.data.dialect import join, select
from leastnoise.data.linked_tables import link_tables
from leastnoise.data.links import ColumnPlace
from leastnoise.data.predicates import parse, typed, value_of
from leastnoise.data.predicates.nodes import columns_of
from leastnoise.data.predicates.to_sql import value_sql
from leastnoise.data.table import Table
from leastnoise.errors import BadParameter, EngineFailure, LeastNoiseError
from support.postgres import in_schema

from . import reference
from .hostile import FILTERS, FRAME, Made, arrow, in_a_frame, in_duckdb, in_postgres, in_spark
from .predicates.nasty import expressions

F = Fraction
QUESTIONS = int(os.environ.get("LEASTNOISE_ORACLES", "150"))
MAGNETS = [
    *(F(0), F(1), F(1, 2), F(1, 3), F(7), F(100), F(25, 4)),
    *(F(10) ** k for k in (-40, -38, -30, -24, -18, -15, -10, -5, -2, 2, 5, 9, 12, 15, 17, 18, 19, 20, 28, 30, 35)),
    *(F(10) ** k for k in (37, 38, 39, 60, 308, 309)),
    *(F(2) ** k + d for k in (7, 8, 15, 16, 31, 32, 52, 53, 61, 62, 63, 64, 100, 126, 127, 128) for d in (-1, 0, 1)),
]  # fmt: skip


def number(dice):
    return dice.choice(MAGNETS) * dice.choice((1, 1, -1)) + dice.choice((0, 0, 0, F(1, 2), 1, F(1, 7)))


def edges(dice):
    if dice.random() < 0.3:
        start, step = number(dice), abs(number(dice)) or F(1)
        return [start + step * i for i in range(dice.choice((2, 18, 40)))]
    return sorted({number(dice) for _ in range(dice.randint(2, 6))})


def measure(dice, name):
    low, high = sorted((dice.choice((F(0), number(dice))), number(dice)))
    step = dice.choice((F(1), F(1, 100), abs(number(dice)) or F(1), (high - low) / 2 ** dice.randint(1, 61) or F(1)))
    centre = step * dice.choice((0, 0, 1, 1000))
    return SumOf(name, low, high, step, dice.choice((1, 1, 2)), centre, averaged=dice.random() < 0.3)


TIMES = [
    datetime.min,
    datetime.max,
    *(datetime(year, 1, 1) for year in (1, 2, 1582, 1970, 2024, 2262, 9999)),
    datetime(2024, 2, 29, 23, 59, 59, 999999),
    datetime(1969, 12, 31, 23),
]


def times(dice, name, kind):
    """Bins of a column of dates or times."""
    chosen = sorted({(t.replace(hour=0, minute=0, second=0, microsecond=0) if kind is Kind.DATE else t) for t in TIMES})
    found = sorted(dice.sample(chosen, dice.randint(2, len(chosen))))
    return TimeAxis(name, tuple(found), tuple(map(str, found[:-1])))


def key(dice, kind, values):
    if dice.random() < 0.5 or kind is Kind.BOOLEAN:
        return dice.choice(values)
    return number(dice) if kind.numeric else dice.choice(values)


def keys(dice, kind, values):
    chosen = [x for x in (key(dice, kind, values) for _ in range(dice.randint(1, 5))) if x == x]
    chosen = [float(x) if kind is Kind.REAL and x is not None and abs(x) < 1e308 else x for x in chosen]
    return tuple(dict.fromkeys(None if reference.missing(x) else x for x in chosen)) or (None,)


def predicate(dice, name, kind, values):
    value = dice.choice([x for x in values if not reference.missing(x) and x not in (float("inf"), float("-inf"))])
    tests = [col(name).is_missing(), ~col(name).is_missing()]
    if kind.numeric:
        literal = number(dice)
        literal = Decimal(literal.numerator) / Decimal(literal.denominator)
        other = col("u")
        tests += [col(name) >= literal, col(name) < value, col(name) == value, col(name) * other + 3 > 7]
        tests += [col(name) / other <= 1, col(name) - col(name) == 0, col(name).is_in([1, literal, value])]
        tests += [col(name) > col("u"), -col(name) < 5]
        tests += [col(name) % dice.choice((1, 2, 2**31 - 1)) == 1] if kind is Kind.INTEGER else []
    elif kind is Kind.TEXT:
        tests += [col(name).starts_with(value[:3]), col(name).ends_with(value[-1:]), col(name).contains("%")]
        tests += [col(name) < value, col(name).is_in(["a", value])]
    elif kind is Kind.BOOLEAN:
        tests += [col(name).is_true(), col(name) != True]  # noqa: E712
    else:
        tests += [col(name) >= value, col(name) < value, col(name) != value, col(name).is_in([value])]
    chosen = dice.choice(tests)
    return chosen if dice.random() < 0.6 else (~chosen | dice.choice(tests)) & dice.choice(tests)


def question(dice, columns, rows):
    """A random question: what is asked, ask(table, where), and the reference's answer(rows, where)."""
    name = dice.choice([column for column in columns if column not in ("n", "u")])
    kind, values = columns[name], [row[name] for row in rows]
    bound = dice.choice([Contribution(None), Contribution("u", 50, dice.choice((1, 3, 50)))])
    if name != "nano" and dice.random() < 0.2:
        bound = Contribution(name, 50, 50)
    shape = dice.choice(["bins", "keys", "sum", "sum", "ranks", "scores", "discover"])
    timed, usable = kind in (Kind.DATE, Kind.TIMESTAMP), ("keys", "scores", "discover")
    if timed and shape == "bins":
        usable = (*usable, "bins")
    if kind is Kind.BOOLEAN and shape == "sum":
        usable = (*usable, "sum")
    shape = shape if kind.numeric or shape in usable else "keys"
    shape = "bins" if shape == "discover" and kind is Kind.REAL else shape
    if shape == "ranks":
        asked = Contribution(bound.privacy_unit, 50, 10**4), name, edges(dice)
        if dice.random() < 0.5:
            rows_kept = [0, 1, 2, None]
            return (
                (*asked, rows_kept),
                lambda table, where: table.ranks(*asked, where, (KeyAxis("n", tuple(rows_kept)),)).tolist(),
                lambda where: reference.ranks(rows, columns, *asked, where, None, keys=("n", rows_kept)),
            )
        return (
            asked,
            lambda table, where: table.ranks(*asked, where).tolist(),
            lambda where: reference.ranks(rows, columns, *asked, where, None),
        )
    if shape == "scores" and bound.privacy_unit is not None and dice.random() < 0.4:
        most = dice.choice((1, 3, 10))
        return (
            (bound, most),
            lambda table, where: table.units_by_rows(bound, (), most, where).tolist(),
            lambda where: reference.units_by_rows(rows, bound, most, where),
        )
    if shape == "scores":
        options = [typed(predicate(dice, name, kind, values), columns) for _ in range(3)]
        return (
            (bound, list(map(str, options))),
            lambda table, where: table.scores(bound, options, where).tolist(),
            lambda where: reference.scores(rows, bound, options, where),
        )
    if shape == "discover" and dice.random() < 0.6:
        summed = dice.choice([other for other, held in columns.items() if held.numeric])
        measures = (CountUnits(), CountRows(), measure(dice, summed))
        return (
            (bound, name, measures),
            lambda table, where: table.totals_by_key(bound, (name,), measures, where),
            lambda where: reference.totals_by_key(rows, columns, bound, name, measures, where),
        )
    if shape == "discover":
        return (
            (bound, name),
            lambda table, where: table.discover(bound, (name,), where),
            lambda where: reference.discover(rows, bound, name, where),
        )
    bins = (lambda: times(dice, name, kind)) if timed else (lambda: BinAxis(name, edges(dice)))
    summed = name
    if shape == "sum" and dice.random() < 0.3:
        summed = typed(predicate(dice, name, kind, values), columns)
    axes = {"bins": lambda: (bins(),), "keys": lambda: (KeyAxis(name, keys(dice, kind, values)),)}
    if shape == "keys" and bound.privacy_unit is not None and dice.random() < 0.4:
        axis, most = axes["keys"](), dice.choice((1, 3, 10))
        if dice.random() < 0.5:
            return (
                (bound, axis, most),
                lambda table, where: table.units_by_groups(bound, axis, most, where).tolist(),
                lambda where: reference.units_by_groups(rows, columns, bound, axis, most, where),
            )
        first = Contribution(bound.privacy_unit, 1, bound.rows_per_unit)
        return (
            (first, axis, "earliest"),
            lambda table, where: table.aggregate(first, axis, (CountRows(),), where, earliest=True)[0].tolist(),
            lambda where: reference.aggregate(rows, columns, first, axis, (CountRows(),), where, lambda *_: 0)[
                0
            ].tolist(),
        )
    asked = bound, axes.get(shape, tuple)(), (measure(dice, summed),) if shape == "sum" else (CountRows(), CountUnits())
    if shape in axes and dice.random() < 0.4:
        both, counted = (*asked[1], KeyAxis("n", (0, 1, 2, None))), dice.choice((CountRows(), CountUnits()))

        def sums(where):
            (big,) = reference.aggregate(rows, columns, bound, both, (counted,), where, None)
            return [big.tolist(), big.sum(axis=1).tolist(), int(big.sum())]

        return (
            (bound, both, counted),
            lambda table, where: [x.tolist() for x in table.marginals(bound, both, [(0, 1), (0,), ()], counted, where)],
            sums,
        )
    return (
        asked,
        lambda table, where: [x.tolist() for x in table.aggregate(*asked, where)],
        lambda where: [x.tolist() for x in reference.aggregate(rows, columns, *asked, where, None)],
    )


def outcome(ask):
    """The answer, or the class of a refusal; a failure of the engine is none of both."""
    try:
        return ask()
    except EngineFailure:
        return "FAILED"
    except LeastNoiseError as refusal:
        return type(refusal).__name__


def search(made, count, seed):
    """The oracles and the wrong answers among so many questions, and how many were answered."""
    dice, found, answered = random.Random(seed), [], 0
    filters = {name: typed(where, made.columns) for name, where in FILTERS.items()}
    for _ in range(count):
        try:
            asked, ask, wanted = question(dice, made.columns, made.rows)
        except LeastNoiseError:
            continue  # refused before there is a table
        got = {name: outcome(lambda where=where, ask=ask: ask(made.table, where)) for name, where in filters.items()}
        if "FAILED" in got.values() or len({isinstance(answer, str) for answer in got.values()}) > 1:
            found.append(("oracle", asked, got))
        elif not isinstance(got["none"], str):
            answered += 1
            pairs = {name: (answer, wanted(filters[name])) for name, answer in got.items()}
            wrong = {name: pair for name, pair in pairs.items() if pair[0] != pair[1]}
            found += [("wrong", asked, wrong)] if wrong else []
    return found, answered


@pytest.fixture(autouse=True)
def no_rehearsal(monkeypatch):
    monkeypatch.setattr(Table, "_rehearse", lambda *_: None)


def holds(made, count):
    with made.table:
        found, answered = search(made, count, seed=1)
    assert found == []
    assert answered > count / 2


ENDS = [(F(0), F(10) ** k) for k in (-30, -18, -10, -2, 0, 2, 9, 16, 18, 19, 25, 36, 37, 100, 300, 307, 308)]
ENDS += [(F(-(2**k)), F(2**k - 1)) for k in (7, 15, 31, 53, 62, 63, 64, 126, 127)]
ENDS += [(-F(7) * 10**-15, F(7) * 10**-15), (F(10) ** 17, F(10) ** 18), (F(-1, 3), F(2, 3)), (F(2**63), F(2**63) + 5)]


def border_sums(name):
    """Bounds and steps at the borders of all types, those that are refused left out."""
    for low, high in ENDS:
        width = high - low
        for step in {
            F(1),
            F(1, 100),
            F(1, 3),
            F(1, 10**18),
            F(2) ** 970 / 3,
            *(width / 2**k for k in (0, 1, 20, 52, 61)),
        }:
            for power in (1, 2):
                with suppress(LeastNoiseError):
                    yield SumOf(name, low, high, step, power)


def sums_hold(made):
    """Every sum alone or refused: no row makes one fail, and each has the value of the reference."""
    everybody, wrong, answered = Contribution(None), [], 0
    with made.table:
        for name in (name for name, kind in made.columns.items() if kind.numeric and name not in ("n", "u")):
            measures = [each for each in border_sums(name) if outcome(lambda m=each: made.table.check(
                lambda m=m: made.table.aggregate(everybody, (), (m,)))) is None]  # fmt: skip
            answered += len(measures)
            for start in range(0, len(measures), 30):
                some = tuple(measures[start : start + 30])
                got = outcome(lambda some=some: [x.tolist() for x in made.table.aggregate(everybody, (), some)])
                if got == "FAILED":
                    wrong.append((name, some))
                    continue
                wanted = reference.aggregate(made.rows, made.columns, everybody, (), some, None, None)
                wrong += [(each, *pair) for each, *pair in zip(some, got, [x.tolist() for x in wanted], strict=True)
                          if pair[0] != pair[1]]  # fmt: skip
    assert wrong == []
    assert answered > 500


@pytest.mark.slow
def test_sums_at_the_borders_of_the_types_of_duckdb(tmp_path):
    sums_hold(in_duckdb(tmp_path))


def test_sums_at_the_borders_of_the_types_of_postgres(postgres_address):
    sums_hold(in_postgres(postgres_address))


TESTS = [
    "abs({0}) >= 1", "{0} = 2.5", "{0} != 2.5", "{0} < 2.5", "{0} >= -2.5", "{0} IN (2.5, 7)", "{0} IN (0, 0.0)",
    "{0} * {0} * 3 > 1", "{0} * {0} * {0} / {0} > 1e80", "0 - {0} < 5", "{0} / 3 - {0} > 0", "round({0}) = 7",
    "clamp({0}, -5, 5) - clamp({0}, -3, 7) = -2", "least({0}, 3) + greatest({0}, 4) > 7", "coalesce({0}, 1) / {0} > 0",
]  # fmt: skip


def expressions_hold(made):
    """Every expression on every column of numbers, all rows: none fails, and each is as the reference says."""
    everybody, wrong = Contribution(None), []
    with made.table:
        for name in (name for name, kind in made.columns.items() if kind.numeric):
            options = [parse(text.format(name), made.table.types) for text in TESTS]
            got = outcome(lambda options=options: made.table.scores(everybody, options).tolist())
            wanted = reference.scores(made.rows, everybody, options, None)
            wrong += [(name, got, wanted)] if got != wanted else []
    assert wrong == []


@pytest.mark.slow
def test_expressions_on_every_type_of_duckdb(tmp_path):
    expressions_hold(in_duckdb(tmp_path))


def test_expressions_on_every_type_of_postgres(postgres_address):
    expressions_hold(in_postgres(postgres_address))


EXTREMES = {
    Kind.INTEGER: ["0", "-3", "-9223372036854775808", "9007199254740993", "99999999999999999999999999999999999"],
    Kind.REAL: ["0.5", "1e25", "-1e-30", "1e200", "1e-300"],
    Kind.TEXT: ["'a'", "' 12'", "''", "'-9.9e99'", "'9999-12-31'", "'\U0010ffff'"],
    Kind.BOOLEAN: ["TRUE", "FALSE"],
    Kind.DATE: ["DATE '0001-01-01'", "DATE '9999-12-31'"],
    Kind.TIMESTAMP: ["TIMESTAMP '0001-01-01 00:00:00'", "TIMESTAMP '9999-12-31 23:59:59.999999'"],
}


def random_expressions_hold(made, count, at_once=20):
    """Random expressions over columns of every type, row by row: none fails, and each is as the reference says."""
    dice, relation, wrong = random.Random(9), made.table._relation, []
    columns = {name: made.table.types[name] for name in made.columns}
    leaves = {kind: [*texts, *texts, *(f'"{name}"' for name in columns if alike(made.columns[name]) is kind)]
              for kind, texts in EXTREMES.items()}  # fmt: skip
    with made.table:
        for _ in range(0, count, at_once):
            terms = expressions(dice, at_once, 4, columns, leaves)
            outputs = [value_sql(term, relation.dialect) + f" AS p{i}" for i, term in enumerate(terms)]
            rows = relation.base({"n"}.union(*map(columns_of, terms)), every=True)
            query = select(join(", ", ["base.n AS n", *outputs]), rows, "base")
            numbers, *answers = made.table._execute(*relation.dialect.render(query, relation.table))
            for term, found in zip(terms, answers, strict=True):
                wanted = [value_of(term, made.rows[int(number)]) for number in numbers]
                pairs = zip(map(told, found), wanted, strict=True)
                wrong += [(str(term), *pair) for pair in pairs if not same(*pair)][:1]
    assert wrong == []


def alike(kind):
    return Kind.REAL if kind is Kind.DECIMAL else kind


def told(value):
    """What an engine answers as Python says it; of numbers, times and texts alone."""
    if value is None or value is np.ma.masked:
        return None
    if isinstance(value, np.datetime64):
        return None if np.isnat(value) else value.astype("datetime64[us]").item()
    return value.item() if isinstance(value, np.generic) else value


def same(found, wanted):
    """DuckDB hands over dates as times, and whole numbers of more than 64 bits as doubles."""
    if found is None or wanted is None:
        return found is wanted
    if isinstance(wanted, date) and not isinstance(wanted, datetime):
        return found in (wanted, datetime.combine(wanted, datetime.min.time()))
    if isinstance(wanted, int) and isinstance(found, float):
        return float(wanted) == found
    return found == wanted


def test_random_expressions_on_every_type_of_duckdb(tmp_path):
    random_expressions_hold(in_duckdb(tmp_path), 2 * QUESTIONS)


def test_random_expressions_on_every_type_of_postgres(postgres_address):
    random_expressions_hold(in_postgres(postgres_address), 2 * QUESTIONS)


def test_random_expressions_on_every_type_of_spark(spark):
    random_expressions_hold(in_spark(spark), QUESTIONS // 5)


@pytest.mark.slow
def test_duckdb_has_no_oracle(tmp_path, monkeypatch):
    """And the search asks in every way in which rows can be read."""
    ways = {name for name, way in vars(Table).items() if name[0] != "_" and "contribution" in named_in(way)}
    asked = set()
    for name in ways:
        monkeypatch.setattr(Table, name, noted(getattr(Table, name), asked))
    holds(in_duckdb(tmp_path), QUESTIONS)
    assert asked == ways
    assert len(ways) > 5


def named_in(way):
    return signature(way).parameters if callable(way) else ()


def noted(way, asked):
    @wraps(way)
    def wrapped(*given, **named):
        asked.add(way.__name__)
        return way(*given, **named)

    return wrapped


@pytest.mark.slow
def test_a_frame_has_no_oracle():
    """Times and texts as Arrow stores them, beyond what it allows."""
    holds(in_a_frame(), QUESTIONS // 3)


def test_postgres_has_no_oracle(postgres_address):
    holds(in_postgres(postgres_address), QUESTIONS)


def test_spark_has_no_oracle(spark):
    holds(in_spark(spark), QUESTIONS // 10)


def test_spark_without_ansi_mode_has_no_oracle(spark):
    spark.conf.set("spark.sql.ansi.enabled", "false")
    try:
        holds(in_spark(spark), QUESTIONS // 15)
    finally:
        spark.conf.set("spark.sql.ansi.enabled", "true")


def test_parquet_with_broken_text_and_times_far_out(tmp_path):
    """DuckDB would fail while it scans; milliseconds are read by Arrow, and broken text with question marks."""
    frame, rows = arrow(FRAME)
    for name, columns in {
        "times.parquet": ["zoned_ms", "milliseconds", "broken", "n"],
        "texts.parquet": ["broken"],
    }.items():
        pyarrow.parquet.write_table(frame.select(columns), tmp_path / name)
    with open_table(tmp_path / "times.parquet") as table:
        for column in ("zoned_ms", "milliseconds", "broken"):
            found = table.discover(Contribution(None), (column,))
            assert found == reference.discover(rows, Contribution(None), column, None)
    with open_table(tmp_path / "texts.parquet") as table:
        found = table.discover(Contribution(None), ("broken",))
    assert sum(found.values()) == len(rows)
    assert {("ok",), ("é",), ("??",), (None,)} <= found.keys()


def joined_pairs(rows, one, other):
    """How many pairs of rows have equal values in two columns."""
    return sum(not reference.missing(row[one]) and row[one] == partner[other] for row in rows for partner in rows)


def search_joins(engine, made, partner, most=3):
    """A column of every kind joined with its like in a copy of the table: nothing fails, and the pairs are right."""
    asked = 0
    for one, kind in made.columns.items():
        likes = [other for other, of in made.columns.items() if of is kind]
        for other in dict.fromkeys([one, likes[-1], likes[len(likes) // 2]][:most]):
            links = {f"hostile.{one}": f"{partner}.{other}"}
            try:
                view = link_tables(engine, ColumnPlace(partner, "n"), links, []).view("hostile")
            except BadParameter:
                continue  # doubles, decimals of different types, ids that meet
            bound = Contribution(view.unit, 1, 10**4)
            (found,) = view.aggregate(bound, (), (CountRows(),), typed(col(f"{partner}.u") >= 0, view.columns))
            assert found == joined_pairs(made.rows, one, other), (one, other)
            found = view.aggregate(bound, (KeyAxis(one, (None,)),), (CountRows(),), typed(col("n") >= 0, view.columns))
            assert found[0].sum() == 0, one  # what is missing has no partner
            asked += 1
    return asked


@pytest.mark.slow
def test_joins_in_duckdb_have_no_oracle(tmp_path):
    made = in_duckdb(tmp_path)
    made.table.close()
    with duckdb.connect(str(tmp_path / "hostile.duckdb")) as connection:
        connection.execute("CREATE TABLE partner AS FROM hostile")
    with open_table(tmp_path / "hostile.duckdb", table="partner") as engine:
        assert search_joins(engine, made, "partner") > 40


def test_joins_in_postgres_have_no_oracle(postgres_address):
    made, address = in_postgres(postgres_address, "hostile_rows"), in_schema(postgres_address, "hostile_joins")
    made.table.close()
    with psycopg.connect(postgres_address) as connection:
        for name in ("hostile", "partner"):
            connection.execute(f"CREATE OR REPLACE VIEW hostile_joins.{name} AS TABLE hostile_rows")
    with open_table(address, table="partner") as engine:
        assert search_joins(engine, made, "partner") > 15


def test_joins_in_spark_have_no_oracle(spark):
    made = in_spark(spark)
    for name in ("hostile", "partner"):
        made.table._frame.createOrReplaceTempView(name)
    few = Made(made.table, made.rows, {name: made.columns[name] for name in ("d18_3", "broken", "moment")})
    with made.table, open_table(spark, table="partner") as engine:
        assert search_joins(engine, few, "partner", most=1) == 3
