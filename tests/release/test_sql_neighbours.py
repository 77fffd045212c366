"""Random statements about random broken databases: numbers are those of plain Python, and units move them as declared.

Joins are those of the theorem's own search, columns of expressions and features of subqueries are drawn beside them.
Where no limit binds, what a statement reads is what its rows say, counted in Python. Where limits bind, every unit is
removed in turn, and no answer changes by more than what is declared.
"""

import random
from collections import Counter, defaultdict
from fractions import Fraction
from itertools import product

import numpy as np
import psycopg
import pytest

import leastnoise as ln
from data.test_joins import (
    KINDS,
    LINKS,
    PUBLIC,
    SHAPE,
    TABLES,
    fill,
    joined_rows,
    owners,
    random_join,
    random_rows,
    without,
)
from leastnoise.data import joins
from leastnoise.data.columns import Kind
from leastnoise.data.predicates import holds, parse, parse_expression, value_of
from leastnoise.data.table import Table
from leastnoise.errors import BadParameter
from leastnoise.model.privacy import Privacy
from support.postgres import in_schema

from .test_neighbours import compare

pytestmark = pytest.mark.slow

WIDE, NARROW = {"groups_per_unit": 500, "rows_per_unit": 5000}, {"groups_per_unit": 2, "rows_per_unit": 2}


@pytest.fixture(autouse=True)
def one_secret(monkeypatch):
    """What a unit keeps is decided by a fresh secret of the call; a change can only be seen with the same one."""
    monkeypatch.setattr("leastnoise.data.table._fresh_secret", lambda: (2024, 7))
    monkeypatch.setattr(Table, "_rehearse", lambda *_: None)


class Words:
    """Random expressions over columns, which are written as SQL writes them."""

    def __init__(self, dice, columns):
        self.dice = dice
        self.of = defaultdict(list)
        for name, kind in columns.items():
            self.of[kind].append(name)

    def text(self):
        return self.dice.choice([*self.of[Kind.TEXT], "'a'"])

    def whole(self, deep=2):
        dice, inner = self.dice, lambda: self.whole(deep - 1)
        leaves = [*self.of[Kind.INTEGER], "1", "-2"]
        if deep <= 0:
            return dice.choice(leaves)
        return dice.choice(
            [
                lambda: dice.choice(leaves),
                lambda: f"CASE WHEN {self.test()} THEN {inner()} ELSE {inner()} END",
                lambda: f"CASE WHEN {self.test()} THEN 1 ELSE 0 END",
                lambda: f"coalesce({inner()}, {inner()})",
                lambda: f"nullif({inner()}, {dice.randint(1, 2)})",
                lambda: f"least({inner()}, {inner()})",
                lambda: f"length({self.text()})",
                lambda: f"floor({inner()} / {inner()})",
                lambda: f"clamp({inner()}, -3, 3) * 2 - 1",
                lambda: f"CAST({self.text()} AS INTEGER)",
                *[lambda: f"day({dice.choice(self.of[Kind.DATE])})"] * bool(self.of[Kind.DATE]),
            ]
        )()

    def test(self):
        dice = self.dice
        return dice.choice(
            [
                lambda: f"{self.text()} = '{dice.choice('aAb')}'",
                lambda: f"{self.text()} < {self.text()}",
                lambda: f"{self.whole(1)} >= {dice.randint(-1, 3)}",
                lambda: f"NOT {self.whole(0)} IN (1, 2)",
                lambda: f"{self.text()} IS MISSING",
            ]
        )()

    def group(self):
        """An expression of few values, and those of them that are asked for; None where the formula tells them."""
        dice, letter = self.dice, self.dice.choice("aAbB")
        return dice.choice(
            [
                lambda: (f"CASE WHEN {self.text()} = '{letter}' THEN 1 ELSE 0 END", [1, 0], False),
                lambda: (f"CASE WHEN {self.test()} THEN 'x' WHEN {self.test()} THEN 'X' END", ["x", "X", None], False),
                lambda: (f"lower({self.text()})", ["a", "b"], True),
                lambda: (dice.choice([*self.of[Kind.TEXT], "upper('a')"]), ["a", "A"], True),
                lambda: (f"nullif({self.whole(1)}, 2)", [1, 3, 0, -2], True),
            ]
        )()


def lines(dice, words):
    """(items, filter, groups, aggregates) of a statement."""
    drawn = [words.group() for _ in range(2)]
    if dice.random() < 0.4:  # two formulas that differ in a capital letter alone
        (text, keys, listed), swap = drawn[0], str.maketrans("abAB", "ABab")
        drawn[1] = (
            "'".join(part.translate(swap) if i % 2 else part for i, part in enumerate(text.split("'"))),
            keys,
            listed,
        )
    groups = list({each[0]: each for each in drawn}.values())[: dice.choice([0, 1, 1, 2])]
    aggregates = []
    for _ in range(dice.choice([1, 1, 2])):
        low, high = dice.choice([(-2, 3), (0, 2), (-3, -1)])
        aggregates.append(
            dice.choice(
                [
                    ("COUNT(*)", None, None, None),
                    (f"COUNT({(value := words.whole())})", value, None, None),
                    (f"SUM(CLAMP({(value := words.whole())}, {low}, {high}))", value, low, high),
                ]
            )
        )
    where = [words.test() for _ in range(dice.choice([0, 1, 1]))]
    listed = [f"{text} IN ({', '.join(map(repr, keys))})" for text, keys, listed in groups if listed]
    return groups, aggregates, where, listed


def written(source, parts):
    groups, aggregates, where, listed = parts
    items = [*(text for text, *_ in groups), *(f"{text} AS n{number}" for number, (text, *_) in enumerate(aggregates))]
    tests = [f"({test} OR FALSE)" for test in where] + listed  # a bare `a = 1` would list the keys of a
    rest = f" WHERE {' AND '.join(tests)}" if tests else ""
    order = ", ".join(str(place + 1) for place in range(len(groups)))
    return f"SELECT {', '.join(items)} FROM {source}{rest}{f' GROUP BY {order}' if groups else ''}"  # noqa: S608 - ours


def clause(sources):
    text = f"{sources[0].table} AS {sources[0].alias}"
    for source in sources[1:]:
        equal = " AND ".join(f"{one[0]}.{one[1]} = {other[0]}.{other[1]}" for one, other in source.on)
        text += f" {'LEFT ' if source.left else ''}JOIN {source.table} AS {source.alias} ON {equal}"
    return text


FEATURES = ("count(*)", "sum(clamp({0}, -2, 5))", "min({0})", "max({0})", "any({1})", "first({0}, {0})", "count({0})")


class Reference:
    """The rows of a FROM clause in Python, and what a statement reads of them."""

    def __init__(self, types, rows):
        self.types, self.rows = types, rows

    def value(self, text, row):
        return value_of(parse_expression(self.named(text), self.types), row)

    def holds(self, text, row):
        return holds(parse(self.named(text), self.types), row)

    def named(self, text):
        """The columns in quotes, as one name each."""
        for name in self.types:
            text = text.replace(name, f'"{name}"') if "." in name else text
        return text

    def answer(self, aggregate, groups, where):
        """The cells of one aggregate, where no limit binds."""
        _, value, low, high = aggregate
        found = Counter()
        for row in self.rows:
            if not all(self.holds(test, row) for test in where):
                continue
            cell = tuple(self.value(text, row) for text, *_ in groups)
            number = None if value is None else self.value(value, row)
            if value is not None and number is None:
                continue
            found[cell] += 1 if low is None else min(max(number, low), high)
        return [found[cell] for cell in product(*(keys for _, keys, _ in groups))]

    def features(self, unit, features, where):
        """One row for each unit."""
        units = defaultdict(list)
        for row in self.rows:
            if all(self.holds(test, row) for test in where):
                units[row[unit]].append(row)
        return [{name: self.feature(*each, rows) for name, each in features.items()} for rows in units.values()]

    def feature(self, shape, value, test, rows):
        if shape.startswith("any"):
            return any(self.holds(test, row) for row in rows)
        if shape == "count(*)":
            return len(rows)
        there = [number for row in rows if (number := self.value(value, row)) is not None]
        if shape.startswith("count"):
            return len(there)
        if not there:
            return None
        if shape.startswith("sum"):
            return sum(min(max(number, -2), 5) for number in there)
        return (max if shape.startswith("max") else min)(there)


def statement(dice):
    """A statement, and what computes its answers from the joined rows."""
    while True:
        sources = random_join(dice)
        try:
            joined = joins.plan_join(SHAPE, sources)
        except BadParameter:
            continue
        break
    types = {name: KINDS[TABLES[_table(joined, end)][end[1]]] for name, end in joined.columns.items()}
    plain = {name: kind for name, kind in types.items() if name != joined.unit}
    words, names = Words(dice, plain), sorted(joined.columns)

    def rows_of(data):
        return [dict(zip(names, row, strict=True)) for row in joined_rows(data, joined).elements()]

    if dice.random() < 0.7:
        parts = lines(dice, words)
        text = written(clause(sources), parts)

        def answers(data):
            return answered(Reference(types, rows_of(data)), parts)

        return text, answers
    chosen = {f"f{number}": (dice.choice(FEATURES), words.whole(1), words.test()) for number in range(3)}
    where = [words.test() for _ in range(dice.choice([0, 1]))]
    kinds = {name: Kind.BOOLEAN if shape.startswith("any") else Kind.INTEGER for name, (shape, *_) in chosen.items()}
    outer = Words(dice, kinds)
    parts = lines(dice, outer)
    told = ", ".join(f"{shape.format(value, test)} AS {name}" for name, (shape, value, test) in chosen.items())
    inner = f"(SELECT {joined.unit}, {told} FROM {clause(sources)}"  # noqa: S608 - no database reads it
    inner += (f" WHERE {' AND '.join(where)}" if where else "") + f" GROUP BY {joined.unit}) AS u"

    def answers(data):
        units = Reference(types, rows_of(data)).features(joined.unit, chosen, where)
        return answered(Reference(kinds, units), parts)

    return written(inner, parts), answers


def _table(joined, end):
    return next(source.table for source in joined.sources if source.alias == end[0])


def answered(reference, parts):
    groups, aggregates, where, _ = parts
    return [reference.answer(aggregate, groups, where) for aggregate in aggregates]


def read(query):
    return [int(number) for number in np.ravel(query.read())]


class Embedded:
    def __init__(self, folder):
        self.folder, self.made = folder, 0

    def open(self, data, limits):
        import duckdb

        self.made += 1
        file = self.folder / f"{self.made}.duckdb"
        with duckdb.connect(str(file)) as connection:
            fill(connection.execute, data)
        return opened(file, self.folder / f"{self.made}.ledger", limits)


class Postgres:
    def __init__(self, address, folder):
        self.address, self.folder, self.made = in_schema(address, "sql_neighbours"), folder, 0

    def open(self, data, limits):
        self.made += 1
        with psycopg.connect(self.address) as connection:
            fill(lambda text, values=None: connection.execute(text.replace("?", "%s"), values), data)
        return opened(self.address, self.folder / f"{self.made}.ledger", limits)


def opened(source, ledger, limits):
    return ln.open(source, privacy_unit="people.id", links=LINKS, public=PUBLIC, budget=1, ledger=ledger, **limits)


def search(place, databases, per_database, seed):
    """How many answers were not all zero, and how far units moved them, as the largest share of what is declared."""
    dice, told, reached = random.Random(seed), 0, Fraction(0)
    for _ in range(databases):
        data, asked = random_rows(dice), [statement(dice) for _ in range(per_database)]
        with place.open(data, WIDE) as shop:
            for text, answers in asked:
                found, wanted = [read(query) for query in shop.sql(text).queries], answers(data)
                assert found == wanted, (text, data)
                told += any(map(any, wanted))
        before = []
        with place.open(data, NARROW) as shop:
            for text, _ in asked:
                queries = shop.sql(text).queries
                before.append([(read(query), query.answer_plan(Privacy(1)).sensitivity) for query in queries])
        for unit in sorted(frozenset().union(*(own for table in owners(data).values() for own in table))):
            with place.open(without(data, unit, dice), NARROW) as shop:
                for (text, _), numbers in zip(asked, before, strict=True):
                    for query, (first, sensitivity) in zip(shop.sql(text).queries, numbers, strict=True):
                        changes = [x - y for x, y in zip(first, read(query), strict=True)]
                        reached = max(reached, compare(sensitivity, changes))
    return told, reached


def test_on_duckdb(tmp_path):
    told, reached = search(Embedded(tmp_path), 4, 12, seed=102)
    assert told > 5
    assert reached == 1


@pytest.mark.engine
def test_on_postgres(postgres_address, tmp_path):
    assert search(Postgres(postgres_address, tmp_path), 3, 12, seed=1)[0] > 5
