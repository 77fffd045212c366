"""Frames: the schema of a pandas column of objects does not depend on what the objects are."""

import random
from datetime import UTC, date, datetime, timedelta, timezone, tzinfo
from decimal import Decimal

import numpy as np
import pandas
import polars
import pyarrow as pa
import pytest

from leastnoise.data import Contribution, CountRows, CountUnits, Kind, SumOf, open_table
from leastnoise.errors import BadParameter, UnknownColumn

EACH_ROW = Contribution(None)


class Hostile:
    def __str__(self):
        raise RuntimeError("never called")

    __repr__ = __eq__ = __bool__ = __float__ = __iter__ = __hash__ = __str__


class BrokenZone(tzinfo):
    def utcoffset(self, _):
        raise RuntimeError("no zone")


OBJECTS = [
    None, np.nan, pandas.NA, pandas.NaT, "36", "", "\ud800", "a\0b", b"36", b"\xff", 36, -7, 10**5000, True, 36.0, 30.5,
    float("inf"), Decimal(36), Decimal("1e99999"), Decimal("NaN"), Decimal("sNaN"), date(2024, 1, 31),
    datetime(2024, 1, 31, 12, tzinfo=UTC), datetime(2024, 1, 31, tzinfo=BrokenZone()), pandas.Timestamp("2024-01-31"),
    np.int64(36), np.float32(36), np.datetime64("2024-01-31"), np.datetime64("NaT"), np.str_("36"), np.bool_(True),
    np.array([1, 2]), [1], {"a": 1}, object(), Hostile(), pandas.Interval(0, 1), 3 + 4j,
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("kind", [None, "text", "integer", "real", "decimal(10,2)", "boolean", "date", "timestamp"])
def test_no_object_changes_the_schema_or_fails(kind):
    dice = random.Random(2)
    columns = None if kind is None else {"x": kind}
    schemas = set()
    for objects in ([], [None, None], OBJECTS, *([dice.choice(OBJECTS)] for _ in range(5))):
        column = pandas.Series([None] * len(objects), dtype=object)
        for place, value in enumerate(objects):
            column.iat[place] = value
        with open_table(pandas.DataFrame({"x": column}), columns=columns) as table:
            assert table.aggregate(EACH_ROW, (), (CountRows(),))[0] == len(objects)
            if table.columns["x"] is not Kind.REAL:
                table.discover(EACH_ROW, ("x",))
            schemas.add(table.columns["x"])
    assert len(schemas) == 1


def test_what_objects_are_read_as():
    values = [36, "37", 38.0, Decimal(39), np.int32(40), True, None, np.nan, "refused", 41.5]
    frame = pandas.DataFrame({"age": pandas.Series(values, dtype=object), "all missing": pandas.Series([None] * 10)})
    with open_table(frame, columns={"age": "integer"}) as table:
        found = {key: number for (key,), number in table.discover(EACH_ROW, ("age",)).items()}
        assert found == {36: 1, 37: 1, 38: 1, 39: 1, 40: 1, None: 5}
        assert table.aggregate(EACH_ROW, (), (SumOf("age", 0, 100, 1),))[0] == 190
        assert table.columns["all missing"] is Kind.TEXT
    with open_table(frame) as table:
        texts = ["36", "37", "38", "39", "40", "true", "refused", "41.5"]
        assert table.discover(EACH_ROW, ("age",)) == {**{(text,): 1 for text in texts}, (None,): 2}
        with pytest.raises(BadParameter, match=r'columns=\{"age": "integer"\}'):
            table.ranks(EACH_ROW, "age", [0, 1])


def test_equal_objects_are_one_unit():
    """What Python calls equal has one text, so that nobody counts twice for the way in which an id is written."""
    noon = datetime(2024, 3, 31, 12, tzinfo=UTC)
    groups = [
        [7, 7.0, Decimal(7), Decimal("7.00"), Decimal("0.70e1"), np.int8(7), np.float32(7)],
        [0, 0.0, -0.0, Decimal("-0.00")],
        [10**22, 1e22, Decimal("1e22")],
        [2.0**-20, Decimal(2) ** -20],
        [Decimal("1e300"), Decimal("1.0e300")],
        [noon, noon.astimezone(timezone(timedelta(hours=2))), pandas.Timestamp(noon)],
    ]
    objects = [(value, place) for place, values in enumerate(groups) for value in values]
    frame = pandas.DataFrame({"id": pandas.Series([value for value, _ in objects], dtype=object)})
    with open_table(frame) as table:
        assert table.aggregate(Contribution("id"), (), (CountUnits(),))[0] == len(groups)


def test_broken_text_names_nobody():
    frame = pandas.DataFrame({"id": pandas.Series(["a", "\ud800", "\ud801", b"\xff", b"\xfe", b"a"], dtype=object)})
    with open_table(frame) as table:
        assert table.aggregate(Contribution("id"), (), (CountUnits(),))[0] == 1
        assert table.discover(EACH_ROW, ("id",)) == {("a",): 2, (None,): 4}


def test_times_with_a_zone_and_categories():
    moments = pandas.to_datetime(["2024-01-31 12:00:00.000000007", None, "2024-06-30 12:00"], format="ISO8601")
    frame = pandas.DataFrame(
        {
            "utc": moments.tz_localize("UTC"),
            "paris": moments.tz_localize("Europe/Paris"),
            "words": pandas.Categorical(["a", None, "b"]),
            "mixed": pandas.Categorical(["a", 1, None]),
            "numbers": pandas.Categorical([1, 2, 1]),
            "strings": pandas.Series(["a", None, "\ud800"], dtype="string"),
        }
    )
    kinds = {"utc": Kind.TIMESTAMP, "paris": Kind.TIMESTAMP, "words": Kind.TEXT, "mixed": Kind.TEXT}
    with open_table(frame) as table:
        assert dict(table.columns) == {**kinds, "numbers": Kind.INTEGER, "strings": Kind.TEXT}
        found = set(table.discover(EACH_ROW, ("utc", "paris", "words", "mixed")))
        noon, evening = datetime(2024, 1, 31, 12), datetime(2024, 6, 30, 12)
        expected = {
            (noon, noon.replace(hour=11), "a", "a"),
            (None, None, None, "1"),
            (evening, evening.replace(hour=10), "b", None),
        }
        assert found == expected
    with open_table(
        polars.DataFrame({"t": [datetime(2024, 1, 31, tzinfo=UTC)]}).cast(polars.Datetime("ns", "UTC"))
    ) as table:
        assert table.discover(EACH_ROW, ("t",)) == {(datetime(2024, 1, 31),): 1}


def test_objects_in_polars_are_refused_as_such():
    with open_table(polars.DataFrame({"o": polars.Series([object()], dtype=polars.Object), "n": [1]})) as table:
        assert dict(table.columns) == {"o": Kind.OTHER, "n": Kind.INTEGER}


@pytest.mark.parametrize(
    ("frame", "columns", "error"),
    [
        (pa.table({"a": [1]}), {"a": "text"}, BadParameter),
        (polars.DataFrame({"a": ["1"]}), {"a": "integer"}, BadParameter),
        (pandas.DataFrame({"a": [1]}), {"a": "text"}, BadParameter),
        (pandas.DataFrame({"a": [1], "o": [None]}), {"a": "real"}, BadParameter),
        (pandas.DataFrame({"a": [1], "o": [None]}), 5, BadParameter),
        (pandas.DataFrame({"a": [1], "o": [None]}), {"oo": "real"}, UnknownColumn),
    ],
)
def test_only_what_has_no_type_is_declared(frame, columns, error):
    with pytest.raises(error):
        open_table(frame, columns=columns)
