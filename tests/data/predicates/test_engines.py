"""Every engine gives the answer that the reference in Python gives, on values that they like to disagree about."""

import random
from decimal import Decimal

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from leastnoise.data.columns import Kind
from leastnoise.data.predicates import holds, parse, parse_expression, value_of
from leastnoise.data.predicates.typecheck import type_of

from .nasty import COLUMNS, KINDS, PREDICATES, ROWS, expressions

QUIET = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.function_scoped_fixture]


def check(ask, predicates):
    answers = ask(predicates)
    assert len(answers) == len(ROWS)
    for row, found in zip(ROWS, answers, strict=True):
        for predicate, answer in zip(predicates, found, strict=True):
            assert answer is holds(predicate, row), (str(predicate), row)


def check_values(ask, terms):
    """Every engine has the value of the reference, of its kind and within the range that the type promises."""
    for row, found in zip(ROWS, ask(terms), strict=True):
        for term, answer in zip(terms, found, strict=True):
            wanted, (kind, limits) = value_of(term, row), type_of(term)
            answer = int(answer) if kind is Kind.INTEGER and isinstance(answer, Decimal) else answer
            assert answer == wanted, (str(term), row)
            assert (answer is None) == (wanted is None)
            assert kind is not Kind.INTEGER or answer is None or limits[0] <= answer <= limits[1], str(term)


@pytest.mark.slow
@pytest.mark.parametrize(("engine", "many"), [("duckdb", 225), ("postgres", 150), ("spark", 15)])
def test_expressions_have_the_value_of_the_reference(request, engine, many):
    ask, dice = request.getfixturevalue(f"{engine}_ask"), random.Random(7)
    for start in range(0, many, 15):
        check_values(ask, expressions(dice, min(15, many - start)))


@pytest.mark.slow
@settings(max_examples=60, deadline=None, suppress_health_check=QUIET)
@given(predicates=st.lists(PREDICATES, min_size=5, max_size=12))
def test_duckdb_agrees_with_the_reference(duckdb_ask, predicates):
    check(duckdb_ask, predicates)


@settings(max_examples=60, deadline=None, suppress_health_check=QUIET)
@given(predicates=st.lists(PREDICATES, min_size=5, max_size=12))
def test_postgres_agrees_with_the_reference(postgres_ask, predicates):
    check(postgres_ask, predicates)


@settings(max_examples=3, deadline=None, suppress_health_check=QUIET)
@given(predicates=st.lists(PREDICATES, min_size=10, max_size=20))
def test_spark_agrees_with_the_reference(spark_ask, predicates):
    check(spark_ask, predicates)


def test_known_traps_of_expressions(ask):
    """Ends of ranges and calendars, digits that are none, spaces that are none, letters of other languages."""
    check_values(
        ask,
        [
            parse_expression(text, COLUMNS)
            for text in (
                "clamp(coalesce(big, 100000000000000000000), -5, 5) + 1",
                "clamp(big, 100000000000000000000, 200000000000000000000)",
                "abs(big)",
                "whole * 4194304",
                "whole * whole",
                "clamp(big, 0, 4503599627370496) * clamp(big, 0, 4503599627370496)",
                "floor(real)",
                "round(real * 1e15)",
                "round(0.49999999999999994)",
                "CAST(real AS INTEGER)",
                "least(real, other, 0.5)",
                "upper(name)",
                "lower('ÄÖÜ' )",
                "trim(name)",
                "length(name)",
                "left(name, 1)",
                "CAST(name AS INTEGER)",
                "CAST(name AS REAL) * 2",
                "CAST(name AS DATE)",
                "CAST(trim(name) AS DATE)",
                "week(seen)",
                "weekday(born)",
                "year(born)",
                "date_trunc('week', born)",
                "date_trunc('quarter', seen)",
                "CAST(born AS TEXT)",
                "CAST(big AS TEXT)",
                "hour(seen) * 60 + minute(seen)",
                "coalesce(money, real)",
                "CASE WHEN flag THEN 'B' ELSE 'a' END",
                "(CASE WHEN flag THEN 'B' ELSE 'a' END < 'a')",
                "nullif(real, 0)",
            )
        ],
    )


def test_known_traps(ask):
    """NaN, the signs of zero, 2^53 + 1, overflow, underflow, division by zero, empty text, wildcards as letters."""
    check(
        ask,
        [
            parse(text, KINDS)
            for text in (
                "real = 0",
                "real IN (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11)",
                "real != real",
                "real IS MISSING",
                "NOT real > 0",
                "real > 1e307",
                "real * real * real * real > 1e100",
                "other * other * other * other = 0",
                "real / other IS MISSING",
                "0 / other = 0",
                "big = 9007199254740993",
                "big < -9223372036854775807.5",
                "big <= 99999999999999999999999999999999999",
                "big * big * big > 0",
                "whole < 17.5 AND whole >= -10.000001",
                "whole % 7 = 4",
                "money = 19.99",
                "money / 0 IS MISSING",
                "name = 'bonn'",
                "name > 'Z'",
                "name LIKE '%'",
                "contains(name, '%')",
                "contains(name, '_')",
                "name LIKE '%ö%'",
                "ends_with(name, '')",
                "ends_with(name, '😀')",
                "name IN ('z', 'O''Hara')",
                "\"we\"\"ird `n%me\" = '''; DROP TABLE t; --'",
                "flag",
                "NOT flag",
                "flag IS FALSE",
                "born BETWEEN '0001-01-01' AND '1999-12-31'",
                "seen >= DATE '1970-01-01' AND seen < TIMESTAMP '2024-03-31 02:30:00.000001'",
                "'a' < 'B' OR 'ä' < 'z'",
                "1 < 0.5 OR NOT DATE '2024-01-01' < '2024-01-02'",
                "TRUE",
                "NOT TRUE OR FALSE",
            )
        ],
    )


def test_a_difference_would_be_noticed(duckdb_ask):
    """NOT (real <= 0) holds where real is missing, and real > 0 does not: one is no answer to the other."""
    asked, answered = parse("real > 0", KINDS), parse("NOT real <= 0", KINDS)
    check(duckdb_ask, [asked, answered])
    with pytest.raises(AssertionError):
        check(lambda _: duckdb_ask([answered]), [asked])


@pytest.mark.parametrize("number", ["1e400", "-1e400", "1e-400", "NaN", "Infinity", "-Infinity", "1e301", "0"])
def test_postgres_decimals_reach_beyond_doubles(ask_about_a_decimal, number):
    texts = ("d > 1e299", "d < 5", "d = 0", "d * 2 > 1e20", "d IS MISSING", "d / d = 1")
    typed = [parse(text, {"d": Kind.DECIMAL}) for text in texts]
    assert ask_about_a_decimal(number, typed) == [holds(predicate, {"d": Decimal(number)}) for predicate in typed]
