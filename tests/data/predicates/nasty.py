"""A small table of values that engines disagree about, and filters over it, drawn at random."""

import datetime as dt
import math
from decimal import Decimal

from hypothesis import strategies as st

from leastnoise.data.columns import Kind
from leastnoise.data.predicates import col, typed

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
    ],
    'we"ird `n%me': [None, "", "x", "'; DROP TABLE t; --", "Bonn", "NaN", "null"],
    "flag": [None, True, False],
    "born": [None, dt.date(1970, 1, 1), dt.date(2000, 2, 29), dt.date(1, 1, 1), dt.date(9999, 12, 31)],
    "seen": [
        None,
        dt.datetime(1970, 1, 1),
        dt.datetime(2024, 3, 31, 2, 30),
        dt.datetime(1999, 12, 31, 23, 59, 59, 999999),
    ],
}
# Every value meets values of every other column: steps through each list at its own pace.
ROWS = [
    {name: values[(row * (place + 1) + row // 7) % len(values)] for place, (name, values) in enumerate(VALUES.items())}
    for row in range(105)
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
