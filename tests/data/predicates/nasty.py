"""A small table of values that engines disagree about, and filters over it, drawn at random."""

import datetime as dt
import math
from decimal import Decimal

from hypothesis import strategies as st

from leastnoise.data.columns import Column, Kind, whole_range
from leastnoise.data.predicates import col, parse_expression, typed
from leastnoise.errors import BadFilter

KINDS = {
    "whole": Kind.INTEGER,
    "big": Kind.INTEGER,
    "real": Kind.REAL,
    "other": Kind.REAL,
    "money": Kind.DECIMAL,
    "name": Kind.TEXT,
    'we"ird `n%me': Kind.TEXT,
    "flag": Kind.BOOLEAN,
    "born": Kind.DATE,
    "seen": Kind.TIMESTAMP,
}
NUMBERS = [name for name, kind in KINDS.items() if kind.numeric]
VALUES = {
    "whole": [None, 0, 1, -1, 7, 18, -10, 100, 2**31 - 1, -(2**31)],
    "big": [None, 0, 2**63 - 1, -(2**63), 2**53 + 1, -(2**53) - 1, 5, -7],
    "real": [None, math.nan, math.inf, -math.inf, 0.0, -0.0, 0.1, 1e308, -1e308, 5e-324, 1e-31, 2.5, -7.0],
    "other": [None, math.nan, 0.0, -0.0, 1.0, -1e200, 1e-200, 3.0, math.inf],
    "money": [None, *map(Decimal, ("0", "0.1000", "19.9900", "-19.9900", "12345678901.2345", "-0.0001"))],
    "name": [
        None,
        "",
        "Bonn",
        "bonn",
        "Köln",
        "KÖLN",
        "O'Hara",
        'say "hi"',
        "100%",
        "a_b",
        "\\",
        "ß",
        "日本",
        "😀",
        "z ",
        " 12",
        "-7",
        "+012345678901234",
        "1e5",
        "-2.5E-3",
        "1" * 16,
        "2024-02-29",
        "1900-02-29",
        "2023-12-31",
        "2024-04-31",
        "0000-01-01",
        "12\n",
    ],
    'we"ird `n%me': [None, "", "x", "'; DROP TABLE t; --", "Bonn", "NaN", "null"],
    "flag": [None, True, False],
    "born": [None, dt.date(1970, 1, 1), dt.date(2000, 2, 29), dt.date(1, 1, 1), dt.date(9999, 12, 31)],
    "seen": [
        None,
        dt.datetime(1970, 1, 1),
        dt.datetime(2024, 3, 31, 2, 30),
        dt.datetime(1999, 12, 31, 23, 59, 59, 999999),
        dt.datetime(1, 1, 1),
        dt.datetime(9999, 12, 31, 23, 59, 59, 999999),
        dt.datetime(2021, 1, 3, 12, 34),
    ],
}
# Every value meets values of every other column: steps through each list at its own pace.
ROWS = [
    {name: values[(row * (place + 1) + row // 7) % len(values)] for place, (name, values) in enumerate(VALUES.items())}
    for row in range(180)
]

_LITERALS = {
    Kind.INTEGER: st.integers(-(10**20), 10**20)
    | st.integers(-20, 20)
    | st.sampled_from([0.5, -2.5, 2**63, 1e19, 18.0]),
    Kind.REAL: st.sampled_from([0, 0.1, -0.0, 1e308, 5e-324, 2.5, -7, 1e30, 2**53 + 1]) | st.floats(-1e6, 1e6),
    Kind.DECIMAL: st.sampled_from([0, 0.1, 19.99, Decimal("-19.99"), Decimal("12345678901.2345"), 1e200]),
    Kind.TEXT: st.sampled_from([text for text in VALUES["name"] if text is not None])
    | st.text(max_size=3).filter(
        lambda text: "\0" not in text and not any("\ud800" <= letter <= "\udfff" for letter in text)
    ),
    Kind.BOOLEAN: st.booleans(),
    Kind.DATE: st.dates() | st.sampled_from(["2000-02-29", "1970-01-01"]),
    Kind.TIMESTAMP: st.datetimes() | st.sampled_from(["2024-03-31 02:30:00", dt.date(1970, 1, 1)]),
}
_COMPARISONS = ["__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__"]


@st.composite
def _calculations(draw):
    value = col(draw(st.sampled_from(NUMBERS)))
    for _ in range(draw(st.integers(1, 3))):
        other = draw(st.sampled_from(NUMBERS).map(col) | st.sampled_from([0, 1, -3, 0.1, 1e-30, 1e30]))
        symbol = draw(st.sampled_from(["__add__", "__sub__", "__mul__", "__truediv__", "__rtruediv__", "__rsub__"]))
        value = getattr(value, symbol)(other)
    return value


@st.composite
def _tests(draw):
    shape = draw(st.sampled_from(["literal", "columns", "in", "missing", "text", "calculation", "remainder", "flag"]))
    name = draw(st.sampled_from(sorted(KINDS)))
    kind = KINDS[name]
    symbol = draw(st.sampled_from(_COMPARISONS[:2] if kind is Kind.BOOLEAN else _COMPARISONS))
    if shape == "literal":
        return getattr(col(name), symbol)(draw(_LITERALS[kind]))
    if shape == "columns":
        partners = [other for other, its in KINDS.items() if its is kind or (its.numeric and kind.numeric)]
        return getattr(col(name), symbol)(col(draw(st.sampled_from(partners))))
    if shape == "in":
        return col(name).is_in(draw(st.lists(_LITERALS[kind], min_size=1, max_size=15)))
    if shape == "text":
        test = draw(st.sampled_from(["starts_with", "ends_with", "contains"]))
        column = draw(st.sampled_from([text for text, its in KINDS.items() if its is Kind.TEXT]))
        return getattr(col(column), test)(draw(_LITERALS[Kind.TEXT]))
    if shape == "calculation":
        value = draw(_calculations())
        return (
            value.is_missing()
            if draw(st.booleans())
            else getattr(value, draw(st.sampled_from(_COMPARISONS)))(draw(st.sampled_from([0, 1, 2.5, -1e30, 1e60])))
        )
    if shape == "remainder":
        column = draw(st.sampled_from(["whole", "big"]))
        return col(column) % draw(st.integers(1, 12)) == draw(st.integers(0, 6))
    return col("flag").is_true() if shape == "flag" else col(name).is_missing()


PREDICATES = st.recursive(
    _tests(),
    lambda inner: st.one_of(
        inner.map(lambda part: ~part),
        st.tuples(inner, inner).map(lambda two: two[0] & two[1]),
        st.tuples(inner, inner).map(lambda two: two[0] | two[1]),
    ),
    max_leaves=6,
).map(lambda predicate: typed(predicate, KINDS))


# Expressions: random texts of a wanted kind. `whole` is known to have 32 bits, so that arithmetic on it stays whole.
COLUMNS = {
    name: Column(name, kind, "", limits=whole_range(32 if name == "whole" else 64)) for name, kind in KINDS.items()
}
_ODD = '"we""ird `n%me"'
LEAVES = {
    Kind.INTEGER: ["whole", "big", "0", "-3", "7", "18446744073709551616", "whole % 5"],
    Kind.REAL: ["real", "other", "money", "0.5", "-2.5", "1e25", "0", "1e200", "1e-200"],
    Kind.TEXT: ["name", _ODD, "'Köln'", "' a '", "'12'", "''"],
    Kind.BOOLEAN: ["flag", "TRUE", "FALSE"],
    Kind.DATE: ["born", "DATE '2000-02-29'"],
    Kind.TIMESTAMP: ["seen", "TIMESTAMP '1999-12-31 23:59:59'"],
}


def _written(dice, kind, deep, leaves):
    """A text of this kind, which the checks of the language may still refuse."""

    def other(kind):
        return _written(dice, kind, deep - 1, leaves)

    def test():
        kind = dice.choice([Kind.INTEGER, Kind.REAL, Kind.TEXT, Kind.DATE, Kind.TIMESTAMP, Kind.BOOLEAN])
        if kind is Kind.BOOLEAN:
            missing = f"{other(dice.choice(list(leaves)))} IS MISSING"
            return dice.choice([f"{other(kind)} = TRUE", missing, f"NOT ({missing})"])
        return f"{other(kind)} {dice.choice(['=', '<', '>=', '!='])} {other(kind)}"

    if deep <= 0:
        return dice.choice(leaves[kind])
    number = dice.choice([Kind.INTEGER, Kind.REAL])
    moment = dice.choice([Kind.DATE, Kind.TIMESTAMP])
    shapes = [
        lambda: dice.choice(leaves[kind]),
        lambda: f"CASE WHEN {test()} THEN {other(kind)} WHEN {test()} THEN {other(kind)} ELSE {other(kind)} END",
        lambda: f"CASE WHEN {test()} THEN {other(kind)} END",
        lambda: f"coalesce({other(kind)}, {other(kind)})",
        lambda: f"nullif({other(kind)}, {other(kind)})",
    ]
    if kind in (Kind.INTEGER, Kind.REAL):
        shapes += 2 * [lambda: f"({other(kind)} {dice.choice('+-*')} {other(number)})"]
        shapes += [
            lambda: f"clamp({other(kind)}, {dice.choice(['-5, 5', '0, 1e3', '-1.5, 9', '0, 100000000000000000000'])})"
        ]
        shapes += [lambda: f"abs({other(kind)})", lambda: f"CAST({other(number)} AS {kind.name})"]
        shapes += [lambda: f"CAST({other(Kind.TEXT)} AS {kind.name})"]
    if kind in (Kind.INTEGER, Kind.REAL, Kind.DATE, Kind.TIMESTAMP):
        shapes += [lambda: f"{dice.choice(['least', 'greatest'])}({other(kind)}, {other(kind)})"]
    if kind is Kind.INTEGER:
        shapes += [
            lambda: f"{dice.choice(['floor', 'ceil', 'round'])}({other(number)})",
            lambda: f"length({other(Kind.TEXT)})",
        ]
        parts = ["year", "quarter", "month", "week", "day", "weekday"]
        shapes += [lambda: f"{dice.choice(parts)}({other(moment)})"]
        shapes += [
            lambda: f"{dice.choice(['hour', 'minute'])}({other(Kind.TIMESTAMP)})",
            lambda: f"CAST({test()} AS INTEGER)",
        ]
    if kind is Kind.REAL:
        shapes += [lambda: f"({other(number)} / {other(number)})"]
    if kind is Kind.TEXT:
        shapes += [
            lambda: f"{dice.choice(['lower', 'upper', 'trim'])}({other(kind)})",
            lambda: f"left({other(kind)}, 2)",
        ]
        shapes += [lambda: f"CAST({other(dice.choice([Kind.INTEGER, Kind.DATE, Kind.BOOLEAN]))} AS TEXT)"]
    if kind is Kind.BOOLEAN:
        shapes += [lambda: f"({test()})"]
    if kind is Kind.DATE:
        units = ["day", "week", "month", "quarter", "year"]
        shapes += [lambda: f"date_trunc('{dice.choice(units)}', {other(moment)})"]
        shapes += [lambda: f"CAST({other(Kind.TEXT)} AS DATE)", lambda: f"CAST({other(Kind.TIMESTAMP)} AS DATE)"]
    if kind is Kind.TIMESTAMP:
        shapes += [lambda: f"CAST({other(Kind.DATE)} AS TIMESTAMP)"]
    return dice.choice(shapes)()


def expressions(dice, count, deep=3, columns=COLUMNS, leaves=LEAVES):
    """So many random expressions that the language allows."""
    kinds = [Kind.INTEGER, Kind.REAL, Kind.TEXT, Kind.BOOLEAN, Kind.DATE, Kind.TIMESTAMP]
    found = []
    while len(found) < count:
        text = _written(dice, dice.choice(kinds), dice.randint(1, deep), leaves)
        try:
            found.append(parse_expression(text, columns))
        except BadFilter:
            continue  # too large to be safe: also found by the checks alone
    return found
