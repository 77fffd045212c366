"""No calculation that is let through can leave the doubles: on no row, in Python and so in every engine.

Postgres fails where a result overflows or underflows, so that a formula which could do so on some row would tell, by
failing, that the row is there. Random formulas run on values of every size; each intermediate result is looked at.
"""

import math
import random
from decimal import Decimal

import pytest

from leastnoise.data.columns import Column, Kind, whole_range
from leastnoise.data.predicates import evaluate, parse, parse_expression, value_of
from leastnoise.errors import BadFilter

COLUMNS = {
    "r": Column("r", Kind.REAL, ""),
    "q": Column("q", Kind.REAL, ""),
    "m": Column("m", Kind.DECIMAL, ""),
    "b": Column("b", Kind.INTEGER, "", limits=whole_range(128)),
    "w": Column("w", Kind.INTEGER, "", limits=whole_range(32)),
    "t": Column("t", Kind.TEXT, ""),
    "f": Column("f", Kind.BOOLEAN, ""),
}
DOUBLES = [None, 0.0, -0.0, 1e30, -1e30, 1e308, -1e308, 5e-324, 1e-30, 1.1e-30, 1.0, 1 + 2**-52, math.inf, math.nan]
VALUES = {
    "r": DOUBLES,
    "q": DOUBLES,
    "m": [None, *map(Decimal, ("0", "1e300", "-1e400", "1e-30", "1e-400", "1"))],
    "b": [None, 0, 1, 2**127 - 1, -(2**127), 2**53],
    "w": [None, 0, 1, -1, 2**31 - 1, -(2**31)],
    "t": [None, "9" * 15 + "." + "9" * 15 + "e99", "1e-99", "-0.000000000000001e-99", "1", "x"],
    "f": [None, True, False],
}
LEAVES = ["r", "q", "m", "b", "w", "2", "0.5", "1e30", "1e-30", "1e300", "1e-300", "-3", "w % 7", "CAST(t AS REAL)"]
ENDS = ["0, 1e300", "-1e300, 5", "1e-200, 1e-100", "1, 1000000000000000000000000000000", "0, 9007199254740991"]


def written(dice, deep):
    def inner():
        return written(dice, deep - 1)

    if deep <= 0:
        return dice.choice(LEAVES)
    shapes = [lambda: f"({inner()} {dice.choice('+-*/')} {inner()})"] * 4
    shapes += [lambda: f"CAST({inner()} AS REAL)"] * 3
    shapes += [
        lambda: f"CASE WHEN f THEN {inner()} ELSE {inner()} END",
        lambda: f"clamp({inner()}, {dice.choice(ENDS)})",
    ]
    shapes += [lambda: f"{dice.choice(['coalesce', 'nullif', 'least', 'greatest'])}({inner()}, {inner()})"]
    shapes += [
        lambda: f"{dice.choice(['abs', 'floor', 'round', '-'])}({inner()})",
        lambda: f"CAST({inner()} AS INTEGER)",
    ]
    return dice.choice(shapes)()


@pytest.fixture(autouse=True)
def _looked_at(monkeypatch):
    """Every result of a calculation is within what Postgres takes."""
    calculate = evaluate._calculate

    def checked(symbol, left, right):
        found = calculate(symbol, left, right)
        if type(found) is int:
            assert abs(found) < 2**53
        elif found is not None:
            lost = found == 0 and left != 0 and right != 0 and symbol in "*/"
            assert (found == 0 and not lost) or 1e-307 < abs(found) < 1e307, (symbol, left, right)
        return found

    monkeypatch.setattr(evaluate, "_calculate", checked)


@pytest.mark.slow
def test_no_calculation_leaves_the_doubles_on_any_row():
    dice, accepted = random.Random(5), 0
    for _ in range(2500):
        text = written(dice, dice.randint(1, 4))
        try:
            term = parse_expression(text, COLUMNS)
        except BadFilter:
            continue
        accepted += 1
        for _ in range(12):
            value_of(term, {name: dice.choice(values) for name, values in VALUES.items()})
    assert accepted > 1000


@pytest.mark.parametrize(
    "number",
    ["CASE WHEN w = 7 THEN {0} ELSE 1 END", "nullif({0}, w)", "clamp(r, {0}, 1e307)", "coalesce(r, {0})", "{0}"],
)
@pytest.mark.parametrize("size", ["1e200", "1e-200"])
def test_a_cast_hides_no_number_from_the_proof(number, size):
    """`CASE … THEN 1e200 ELSE 1 END`, cast and squared, would fail in Postgres just where the row is there."""
    factor = f"CAST({number.format(size)} AS REAL)"
    with pytest.raises(BadFilter, match="lies between"):
        parse(f"{factor} * {factor} > 5", COLUMNS)
    parse(f"{factor} > 5", COLUMNS)
