"""A small table full of what goes wrong: missing values, NaN, infinities, both zeros, huge numbers, hostile texts."""

import random
from datetime import date, datetime
from decimal import Decimal

import pyarrow as pa

WEIRD = 'we"ird; `näme` -- %s ? {x}'
TEXTS = [
    None,
    "",
    "a",
    "A",
    " a",
    "O'Hara",
    'quo"te',
    "semi;--",
    "ünï",
    "日本",
    "back\\slash",
    "%s ? {x}",
    "1:a-",
    "🙂",
]
REALS = [
    None, float("nan"), float("inf"), float("-inf"), -0.0, 0.0, 5e-324, -5e-324, 1e308, -1e308, 0.1, 0.3, 0.5, -0.5,
    0.49999999999999994, 1.25, 2.5, -2.5, 3.0, 7.75, 9.999, 10.0, 1e16, 123456.789,
]  # fmt: skip
INTEGERS = [None, 0, 1, -1, 2, 3, 7, 10, -10, 49, 50, 2**53 + 1, -(2**63), 2**63 - 1]
MONEY = [None, *(Decimal(x) for x in ("0.00", "-0.01", "0.05", "0.10", "1.25", "-1.25", "9.99", "9999999999.99"))]
HUGE = [None, 0, 1, -1, 10**18, 10**30 + 7, -(10**37) + 1, 10**37]
DAYS = [None, date(1, 1, 1), date(1969, 12, 31), date(2024, 2, 29), date(9999, 12, 31)]
MOMENTS = [
    None,
    datetime(1969, 12, 31, 23, 59, 59, 999999),
    datetime(2024, 2, 29, 12),
    datetime(2024, 2, 29, 12, 0, 0, 1),
]
CHOICES = {
    "person": [None, *range(-3, 25)],
    "tag": TEXTS,
    "x": REALS,
    "n": INTEGERS,
    "money": MONEY,
    "huge": HUGE,
    "flag": [None, True, False],
    "day": DAYS,
    "moment": MOMENTS,
    WEIRD: [None, 1, 2, 3],
}
SCHEMA = pa.schema(
    {
        "person": pa.int64(),
        "tag": pa.string(),
        "x": pa.float64(),
        "n": pa.int64(),
        "money": pa.decimal128(12, 2),
        "huge": pa.decimal128(38, 0),
        "flag": pa.bool_(),
        "day": pa.date32(),
        "moment": pa.timestamp("us"),
        WEIRD: pa.int32(),
    }
)
POSTGRES_TYPES = {
    "person": "bigint", "tag": "text", "x": "float8", "n": "bigint", "money": "numeric(12, 2)", "huge": "numeric",
    "flag": "boolean", "day": "date", "moment": "timestamp", WEIRD: "integer",
}  # fmt: skip


def make_rows(seed, count):
    """Rows as dictionaries; units have several rows."""
    dice = random.Random(seed)
    return [{name: dice.choice(values) for name, values in CHOICES.items()} for _ in range(count)]


def arrow(rows):
    """The rows as an Arrow table."""
    return pa.table({name: [row[name] for row in rows] for name in CHOICES}, schema=SCHEMA)
