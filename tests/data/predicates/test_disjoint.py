"""A claim that two filters exclude each other is never wrong: random filters on all rows of a small table."""

from decimal import Decimal
from itertools import combinations, product

import pytest
from hypothesis import given, strategies as st

from leastnoise.data.columns import Kind
from leastnoise.data.predicates import holds, parse
from leastnoise.data.predicates.disjoint import are_disjoint

KINDS = {"n": Kind.INTEGER, "x": Kind.REAL, "t": Kind.TEXT, "b": Kind.BOOLEAN, "d": Kind.DECIMAL}
EDGE = 2**53  # from here on doubles do not tell all whole numbers apart
DECIMALS = (None, Decimal(EDGE), Decimal(EDGE + 1), Decimal("0.1"))
ROWS = [
    dict(zip(KINDS, row, strict=True))
    for row in product(
        (None, -1, 0, 1, 2), (None, 0.0, 0.1, 0.30000000000000004, 1.5), (None, "a", "b"), (True, False), DECIMALS
    )
]
NUMBERS = ["-1", "0", "1", "2", "0.1", "0.3", "0.30000000000000004", "0.1000000000000000055511151231257827"]
TESTS = [
    *(f"{name} {sign} {value}" for name in "nx" for sign in ("=", "!=", "<", "<=", ">", ">=") for value in NUMBERS),
    *(f"1 {operator} {name}" for name in "nx" for operator in ("<", "<=", ">", ">=")),
    *("n IN (0, 2)", "n IN (1)", "x IN (0.1, 1.5)", "t = 'a'", "t IN ('a', 'b')", "t != 'a'", "t IS NULL", "n IS NULL"),
    *(f"d {sign} {value}" for sign in ("=", "<", "<=", ">", ">=") for value in (EDGE, EDGE + 1, EDGE + 2, "0.1")),
    *(f"d IN ({EDGE + 1}, 7)", f"d IN ({EDGE})", f"n IN ({EDGE}, {EDGE + 1})", "d >= 0.1000000000000000055"),
    *("x IS NULL", "b", "NOT b", "FALSE", "TRUE", "t LIKE 'a%'", "n % 2 = 1", "n + 1 = 2"),
]  # fmt: skip


def filters():
    tests = st.sampled_from(TESTS)
    return st.recursive(
        tests,
        lambda inner: st.one_of(
            st.builds("NOT ({})".format, inner),
            st.builds("({}) AND ({})".format, inner, inner),
            st.builds("({}) OR ({})".format, inner, inner),
        ),
        max_leaves=6,
    )


@pytest.mark.slow
@given(filters(), filters())
def test_a_claim_holds_on_every_row(one, other):
    first, second = parse(one, KINDS), parse(other, KINDS)
    if are_disjoint(first, second, KINDS):
        assert not any(holds(first, row) and holds(second, row) for row in ROWS), (one, other)


@pytest.mark.slow
@given(filters(), filters())
def test_a_claim_by_one_column_holds_for_every_two_rows_that_share_its_value(one, other):
    first, second = parse(one, KINDS), parse(other, KINDS)
    if are_disjoint(first, second, ["n"]):
        kept = {row["n"] for row in ROWS if holds(first, row)}
        assert kept.isdisjoint(row["n"] for row in ROWS if holds(second, row)), (one, other)


@pytest.mark.slow
def test_all_pairs_of_plain_tests():
    parsed = [parse(text, KINDS) for text in TESTS]
    held = [frozenset(i for i, row in enumerate(ROWS) if holds(test, row)) for test in parsed]
    claimed = [(i, j) for i, j in combinations(range(len(TESTS)), 2) if are_disjoint(parsed[i], parsed[j], KINDS)]
    assert all(held[i].isdisjoint(held[j]) for i, j in claimed)
    assert len(claimed) > 300


def test_what_people_write_is_proven():
    for one, other in (
        ("n < 0", "n >= 0"),
        ("n >= 0 AND n < 1", "n >= 1 AND n < 2"),
        ("t = 'a'", "t = 'b'"),
        ("t IN ('a', 'c')", "t = 'b'"),
        ("b", "NOT b"),
        ("x < 0.3", "x >= 0.3"),
        ("n IS NULL", "n = 0"),
        ("t = 'a' OR t = 'c'", "t = 'b' AND n = 1"),
    ):
        assert are_disjoint(parse(one, KINDS), parse(other, KINDS), KINDS), (one, other)
    assert not are_disjoint(parse("n < 0", KINDS), parse("n >= 0", KINDS), ["x"])
    assert not are_disjoint(parse("n <= 0", KINDS), parse("n >= 0", KINDS), KINDS)


def test_literals_that_share_a_double_exclude_nothing():
    """A decimal column is compared by doubles: the row 2^53 passes both filters of each pair."""
    row = dict.fromkeys(KINDS) | {"d": Decimal(EDGE)}
    for one, other in ((f"d <= {EDGE}", f"d >= {EDGE + 1}"), (f"d = {EDGE}", f"d IN ({EDGE + 1})")):
        first, second = parse(one, KINDS), parse(other, KINDS)
        assert holds(first, row)
        assert holds(second, row)
        assert not are_disjoint(first, second, KINDS)
