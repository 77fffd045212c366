"""Filters as text: what is read, what is refused and with which words, and the way back."""

import datetime as dt
import pickle
import re
import time
from contextlib import suppress
from decimal import Decimal
from functools import reduce
from itertools import product

import pytest
from hypothesis import given, settings, strategies as st

from leastnoise.data.columns import Column, Kind
from leastnoise.data.dialect import BoundValue
from leastnoise.data.engines.duckdb import DUCKDB
from leastnoise.data.engines.postgres import POSTGRES
from leastnoise.data.engines.spark import SPARK
from leastnoise.data.predicates import col, holds, parse, read_filter, typed
from leastnoise.data.predicates.nodes import Calculation, Name
from leastnoise.data.predicates.to_sql import to_sql
from leastnoise.data.predicates.typecheck import type_of, typed_term
from leastnoise.errors import BadFilter, LeastNoiseError, UnknownColumn

from .nasty import KINDS, PREDICATES

SCHEMA = {
    "age": Kind.INTEGER,
    "weight": Kind.REAL,
    "city": Kind.TEXT,
    "and": Kind.TEXT,
    "year": Kind.INTEGER,
    "member": Kind.BOOLEAN,
    "born": Kind.DATE,
    "seen": Kind.TIMESTAMP,
    "blob": Kind.OTHER,
    "case": Kind.INTEGER,
    "date": Kind.DATE,
}


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(predicate=PREDICATES)
def test_text_and_records_give_the_same_filter_back(predicate):
    assert parse(str(predicate), KINDS) == predicate
    told = predicate.to_dict()
    assert parse(told["filter"], {name: Kind[kind] for name, kind in told["columns"].items()}) == predicate
    assert pickle.loads(pickle.dumps(predicate)) == predicate  # noqa: S301
    assert typed(predicate, KINDS) == predicate


@pytest.mark.parametrize(
    ("text", "built"),
    [
        ("age >= 18", col("age") >= 18),
        ("18 <= age", None),
        ("age<>18 OR NOT age==-1", (col("age") != 18) | ~(col("age") == -1)),
        ("age BETWEEN 18 AND 65 AND member", col("age").between(18, 65) & col("member").is_true()),
        ("age NOT BETWEEN 18 AND 65", ~col("age").between(18, 65)),
        ("city in ('Bonn','O''Hara')", col("city").is_in(["Bonn", "O'Hara"])),
        ("city NOT IN ('Bonn')", ~col("city").is_in(["Bonn"])),
        ("city LIKE 'Bad %'", col("city").starts_with("Bad ")),
        ("city LIKE '%burg'", col("city").ends_with("burg")),
        ("city NOT LIKE '%stadt%'", ~col("city").contains("stadt")),
        ("city LIKE 'Bonn'", col("city") == "Bonn"),
        ("contains(city, '100%')", col("city").contains("100%")),
        ("age IS NULL", col("age").is_missing()),
        ("age IS NOT MISSING", ~col("age").is_missing()),
        ("member IS NOT TRUE", ~col("member").is_true()),
        ("NOT NOT member", col("member").is_true()),
        ("(age + 1) * 2 - -3 > weight / 2", (col("age") + 1) * 2 - -3 > col("weight") / 2),
        ("-age < 0", -col("age") < 0),
        ("age % 4 = 0", col("age") % 4 == 0),
        ("weight > 1.50e1", col("weight") > 15),
        ("weight > .1", col("weight") > 0.1),
        ("\"and\" = 'x' AND year = 1", (col("and") == "x") & (col("year") == 1)),
        ("date < DATE '2000-01-01'", col("date") < dt.date(2000, 1, 1)),
        ("born < DATE '2000-01-01'", col("born") < dt.date(2000, 1, 1)),
        ("born < '2000-01-01'", col("born") < dt.date(2000, 1, 1)),
        ("seen >= '2000-01-01'", col("seen") >= dt.datetime(2000, 1, 1)),
        ("seen = TIMESTAMP '2000-01-01 00:00:01.5'", col("seen") == dt.datetime(2000, 1, 1, 0, 0, 1, 500000)),
        ("lower(city) = 'bonn' AND CASE WHEN age > 1 THEN TRUE END", None),
        ("CAST(city AS INTEGER) = city::int + if(age > 1, 1, year(born))", None),
        ("((((age))) = ((1)))", col("age") == 1),
        ("age = 1 AND (age = 2 OR age = 3)", (col("age") == 1) & ((col("age") == 2) | (col("age") == 3))),
        ("age = 1 OR age = 2 AND age = 3", (col("age") == 1) | ((col("age") == 2) & (col("age") == 3))),
    ],
)
def test_text_means_what_it_says(text, built):
    read = parse(text, SCHEMA)
    if built is not None:
        assert read == typed(built, SCHEMA)
    assert parse(str(read), SCHEMA) == read
    assert read.columns <= set(SCHEMA)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("aeg > 1", "did you mean 'age'"),
        ("AGE > 1", "did you mean 'age'"),
        ("SELECT 1", "SELECT"),
        ("age > (SELECT max(age) FROM t)", "SELECT"),
        ("EXISTS (SELECT 1)", "EXISTS"),
        ("max(age) = age", "one row"),
        ("row_number() OVER () = 1", "OVER"),
        ("CAST(city AS DECIMAL(3,1)) = 1", "cast to"),
        ("CAST(born AS INTEGER) = 1", "not cast"),
        ("CASE WHEN age > 1 THEN NULL END", "ELSE NULL"),
        ("CASE WHEN age > 1 THEN 1 ELSE 'x' END = 1", "different kinds"),
        ("CASE END", "expected"),
        ("coalesce() = 1", "another number"),
        ("clamp(age, 5, 1) = 1", "do not decrease"),
        ("year(age) = 1", "part of a date"),
        ("hour(born) = 1", "part of a time"),
        ("date_trunc('hour', seen) = born", "the units are"),
        ("lower(age) = 'x'", "takes text"),
        ("least(city, 'x') = 'x'", "numbers, dates"),
        ("left(city, 0) = 'x'", "from 1 to"),
        ("city ILIKE 'b%'", "ILIKE"),
        ("city LIKE 'a%b'", "LIKE knows"),
        ("city LIKE 'a_'", "LIKE knows"),
        (r"city LIKE 'a\%'", "LIKE knows"),
        ("start_with(city, 'B')", "did you mean starts_with"),
        ("read_csv('/etc/passwd') = 1", "function"),
        ("age > 1; DROP TABLE t", "one condition"),
        ("age > 1 -- comment", "comments"),
        ("age > 1 /* comment */", "comments"),
        ("age > 1 UNION SELECT 1", "UNION"),
        ("t.age > 1", "without its table"),
        ("`age` > 1", "double quotes"),
        ("age > ?", "value itself"),
        ("age > $1", "value itself"),
        ("age = NULL", "IS MISSING"),
        ("age IN (1, NULL)", "IS MISSING"),
        ("age IN ()", "literal"),
        ("age IN (1", "expected"),
        ("age IN (SELECT 1)", "SELECT"),
        ("age >", "expected"),
        ("> 1", "expected"),
        ("age 1", "expected"),
        ("age > 1 AND", "expected"),
        ("(age > 1", "expected"),
        ("age > 1)", "expected"),
        ("(age > 1) + 1 = 2", "condition stands"),
        ("age + 1", "value stands"),
        ("18", "value stands"),
        ("", "empty"),
        ("   ", "empty"),
        ("city = 'Bonn", "close the text"),
        ('"city = 1', "close the name"),
        ("age > 1e999", "range of doubles"),
        ("age > 1x", "no number"),
        ("age > 1.2.3", "no number"),
        ("age > 99999999999999999999999999999999999999", "37 digits"),
        ("age = 'x'", "one kind"),
        ("city > 5", "quotes make text"),
        ("member > FALSE", "no order"),
        ("member = 1", "TRUE or FALSE"),
        ("age", "one kind"),
        ("born = 'yesterday'", "no date"),
        ("born = DATE '2000-02-30'", "no date"),
        ("seen = TIMESTAMP '2000-01-01T00:00:00+01:00'", "time zone"),
        ("born = seen", "one kind"),
        ("blob IS MISSING", "can't be filtered"),
        ("city + 1 = 2", "only numbers"),
        ('city = "Bonn"', "single quotes: 'Bonn'"),
        ("case > 1", "case is written"),
        ("city = 'a' 'b'", "list the texts"),
        ("age BETWEEN SYMMETRIC 2 AND 1", "BETWEEN"),
        ("(age, 1) = 1", "one value at a time"),
        ("age = CURRENT_DATE", "as a literal"),
        ("age > 1\nAND (city = 'x'\n  OR age = )", "line 3, column 12"),
        ("city LIKE 5", "'text' in quotes"),
        ("contains(age, 'x')", "asks about text"),
        ("contains(city, city)", "'text' in quotes"),
        ("age % weight = 1", "whole literal"),
        ("age % 0 = 1", "from 1"),
        ("weight % 2 = 1", "whole numbers"),
        ("weight * 1e40 > 1", "between"),
        ("age * age * age * age * age * age * age * age * age * age * age > 1", "overflow"),
        ("city = '\0'", "NUL"),
        ("age NOT = 1", "expected"),
        ("age IS 5", "MISSING, NULL"),
        ("age && 1", "AND"),
        ("sleep(10)", "function"),
        ("pg_sleep(10) IS NULL", "function"),
        ("now() > seen", "literal"),
    ],
)
def test_what_is_not_in_the_language_is_refused_by_name(text, words):
    with pytest.raises(LeastNoiseError, match=words) as caught:
        parse(text, SCHEMA)
    assert isinstance(caught.value, BadFilter | UnknownColumn)


@pytest.mark.slow
@settings(max_examples=500, deadline=None)
@given(
    text=st.text(max_size=60)
    | st.lists(
        st.sampled_from(
            [*"()<>=+-*/%,'\".;", "age", "city", "AND", "OR", "NOT", "IN", "IS", "NULL", "1", "'x'", "LIKE"]
        ),
        max_size=25,
    ).map(" ".join)
)
def test_any_text_is_a_filter_or_a_typed_error(text):
    try:
        read = parse(text, SCHEMA)
    except (BadFilter, UnknownColumn):
        return
    assert parse(str(read), SCHEMA) == read


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
        "(" * 100_000 + "age = 1" + ")" * 100_000,
        "NOT " * 90_000 + "member",
        "NOT (" * 90_000 + "member" + ")" * 90_000,
        "-" * 1 + " - " * 90_000 + "1 < age",
        "age" + " + 1" * 90_000 + " > 1",
        "age = 1" + " AND (age = 1" * 5000 + ")" * 5000,
        "age = 1 OR " * 30_000 + "age = 1",
        "city = '" + "x" * 400_000 + "'",
        "age = " + "9" * 100_000,
        " " * 390_000 + "age",
        "age > " + "1" * 399,
    ],
)
def test_huge_and_deep_texts_end_quickly_with_a_typed_error_or_an_answer(text):
    started = time.process_time()
    with suppress(LeastNoiseError):
        parse(text, SCHEMA)
    assert time.process_time() - started < 5


@pytest.mark.slow
def test_deep_filters_built_in_python_are_refused():
    def often(step, start):
        return reduce(lambda built, _: step(built), range(1000), start)

    with pytest.raises(BadFilter, match="levels deep"):
        often(lambda value: value + 1, col("age"))
    with pytest.raises(BadFilter, match="parts"):
        often(lambda built: built & built, col("age") == 1)
    with pytest.raises(BadFilter, match="levels deep"):
        often(lambda built: ~((col("age") == 1) & built), col("age") == 1)
    assert ~~(col("age") == 1) == (col("age") == 1)
    chain = col("age") == 0
    for number in range(300):
        chain = chain | (col("age") == number)
    assert holds(parse(str(chain), SCHEMA), {"age": 299})
    long = col("age").is_in(range(10_000))
    assert holds(parse(str(long), SCHEMA), {"age": 9999})
    with pytest.raises(BadFilter, match="parts"):
        _ = long | long


@pytest.mark.slow
@settings(max_examples=200, deadline=None)
@given(predicate=PREDICATES, dialect=st.sampled_from([DUCKDB, POSTGRES, SPARK]))
def test_no_value_becomes_text(predicate, dialect):
    fragment = to_sql(predicate, dialect)
    text = "".join(part for part in fragment.parts if isinstance(part, str))
    assert "'" not in re.sub("'(NaN|1e[+-]30)'", "", text), "constants of our own only"
    assert "--" not in text
    assert ";" not in text
    assert all(type(part.value) in (int, float, str) for part in fragment.parts if isinstance(part, BoundValue))


def test_names_are_quoted_so_that_none_can_leave_its_place():
    evil = 'x" OR TRUE; DROP TABLE t; --`'
    read = parse('"' + evil.replace('"', '""') + '" = 1', {evil: Kind.INTEGER})
    for dialect, mark in ((DUCKDB, '"'), (POSTGRES, '"'), (SPARK, "`")):
        text = "".join(part for part in to_sql(read, dialect).parts if isinstance(part, str))
        quoted = mark + evil.replace(mark, 2 * mark) + mark
        assert quoted in text
        assert "DROP" not in text.replace(quoted, "")


@pytest.mark.parametrize(
    "name",
    [
        "order",
        "select",
        "date",
        "null",
        "Not",
        "year",
        "été",
        "a b",
        'q"x',
        "1x",
        "starts_with",
        "x.y",
        "'",
        "--",
        "\n",
    ],
)
def test_any_name_can_be_written_and_read(name):
    schema = {name: Kind.TEXT, "other": Kind.INTEGER}
    text = col(name)
    for built in (text == "x", text.is_missing() | text.starts_with("x"), ~text.is_in(["x"]) & (col("other") > 1)):
        assert parse(str(built), schema) == typed(built, schema)


@pytest.mark.slow
def test_every_word_of_the_grammar_names_a_column_bare_or_in_quotes():
    """`str` puts quotes where sqlglot, which grows, would read a bare word as something else somewhere."""
    from sqlglot.tokens import Tokenizer

    for word in sorted(word for word in Tokenizer.KEYWORDS if word.isidentifier()):
        schema = {word.lower(): Kind.INTEGER, "n": Kind.INTEGER}
        name = col(word.lower())
        calculated = (name + 1) * name - name < col("n")
        for built in (name == 1, ~name.is_missing() & calculated, ~name.is_in([1]) | name.between(name, 2), -name > 1):
            assert parse(str(built), schema) == typed(built, schema), word


def test_python_mistakes_are_explained():
    age = col("age")
    mistakes = {
        "truth value": lambda: (age > 1) and (age < 2),
        "truth value of its own": lambda: bool(age),
        "is_missing": lambda: age == None,  # noqa: E711
        "finite": lambda: age > float("nan"),
        "within the range": lambda: age > float("inf"),
        "takes a list": lambda: age.is_in("abc"),
        "empty": lambda: age.is_in([]),
        "combined with filters": lambda: (age > 1) & True,
        "where a value is wanted": lambda: age > (age > 1),
        "takes text": lambda: age.starts_with(5),
        "has a name": lambda: col(""),
        "numbers, text": lambda: age > [1],
        "whole literal": lambda: age % 2.5,
        "time zone": lambda: age > dt.datetime(2000, 1, 1, tzinfo=dt.UTC),
    }
    for words, mistake in mistakes.items():
        with pytest.raises(BadFilter, match=words):
            mistake()
    with pytest.raises(BadFilter, match="checked against the table"):
        to_sql(age > 1, DUCKDB)
    with pytest.raises(BadFilter, match="column alone"):
        read_filter(age, SCHEMA)


def test_read_filter_takes_text_and_predicates():
    assert read_filter("age > 1", SCHEMA) == read_filter(col("age") > 1, SCHEMA)


def test_numbers_are_exact():
    assert parse("age < 0.1", SCHEMA).right.value == Decimal("0.1")
    assert (col("weight") > 0.1).right.value == Decimal("0.1")
    assert holds(parse("age = 9007199254740993", SCHEMA), {"age": 9007199254740993})
    assert not holds(parse("age = 9007199254740993", SCHEMA), {"age": 9007199254740992})
    for digits in ("9" * 37, "1234567890123456789012345678901234.5", "0.1234567890123456789012345678901234567"):
        for sign in ("", "-", "- "):
            assert parse(f"age > {sign}{digits}", SCHEMA).right.value == Decimal(sign.strip() + digits)
            assert parse(f"age IN ({sign}{digits})", SCHEMA).values[0].value == Decimal(sign.strip() + digits)


@pytest.mark.parametrize("operator", ["+", "-", "*"])
def test_the_range_of_whole_arithmetic_is_that_of_its_values(operator):
    """All pairs of small ranges: what is claimed holds every result, and both ends are reached."""
    ranges = [(low, high) for low in range(-3, 4) for high in range(low, 4)]
    compute = {"+": int.__add__, "-": int.__sub__, "*": int.__mul__}[operator]
    for left, right in product(ranges, repeat=2):
        types = {name: Column(name, Kind.INTEGER, "", limits) for name, limits in (("x", left), ("y", right))}
        found = type_of(typed_term(Calculation(operator, Name("x"), Name("y")), types)).limits
        results = [compute(x, y) for x in range(left[0], left[1] + 1) for y in range(right[0], right[1] + 1)]
        assert found == (min(results), max(results))


@pytest.mark.parametrize("text", ["x * 1e-31 > 0", "x / 1e31 > 0", "x + 1e-300 > 0", "x * 1e31 < 1", "1e-40 * x = 0"])
def test_no_number_beyond_thirty_digits_enters_a_calculation(text):
    with pytest.raises(BadFilter, match="lies between"):
        parse(text, {"x": Kind.REAL})
