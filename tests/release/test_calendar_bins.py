"""Bins of dates and times: every row lies in the bin that the calendar says, in every zone as the engine stores it."""

from datetime import UTC, date, datetime, timedelta, timezone

import pandas as pd
import pyarrow as pa
import pytest

import leastnoise.release as ln
from leastnoise.data import Kind
from leastnoise.errors import BadParameter, TooLarge
from leastnoise.release.calendar_bins import read_time_axis

TIMES = [datetime(2024, 2, 28, 22) + timedelta(hours=7 * k, microseconds=k % 2) for k in range(1600)]
WORDS = {
    "hours from 2024-03-01 to 2024-03-02 23:59": lambda t: t.strftime("%Y-%m-%d %H:00"),
    "days from 2024-02-28 to 2024-03-31": lambda t: t.strftime("%Y-%m-%d"),
    "weeks from 2024-03-01 to 2024-04-01": lambda t: f"week of {(t - timedelta(days=t.weekday())).date()}",
    "months from 2024-02 to 2025-01": lambda t: t.strftime("%Y-%m"),
    "quarters from 2024 to 2024-12": lambda t: f"{t.year}-Q{(t.month + 2) // 3}",
    "Year  from 2024 to 2025": lambda t: str(t.year),
}


@pytest.fixture
def ask(tmp_path):
    opened = []

    def open_it(table):
        place = tmp_path / f"ledger {len(opened)}"
        opened.append(ln.open(table, name="times", budget=1, ledger=place))
        return opened[-1]

    yield open_it
    for dataset in opened:
        dataset.close()


@pytest.mark.parametrize("words", WORDS)
def test_words(ask, words):
    query = ask(pa.table({"t": TIMES})).count(by="t", bins=words)
    (axis,) = query.axes
    expected = dict.fromkeys(axis.labels, 0)
    for time in TIMES:
        if axis.edges[0] <= time < axis.edges[-1]:
            expected[WORDS[words](time)] += 1
    assert dict(zip(axis.labels, query.read().tolist(), strict=True)) == expected
    assert sum(expected.values()) > 5


def test_edges_and_days(ask):
    dataset = ask(pa.table({"d": pa.array([t.date() for t in TIMES] + [None])}))
    edges = [date(2024, 3, 1), "2024-03-02", datetime(2024, 4, 1)]
    query = dataset.count(by="d", bins=edges)
    assert query.axes[0].labels == ("[2024-03-01, 2024-03-02)", "[2024-03-02, 2024-04-01)")
    assert query.read().tolist() == [
        sum(a <= t.date() < b for t in TIMES)
        for a, b in ((date(2024, 3, 1), date(2024, 3, 2)), (date(2024, 3, 2), date(2024, 4, 1)))
    ]
    assert query.release("1/2").table["d"] == query.axes[0].labels
    both = dataset.tables(by=["d"], ways=1, bins=edges)
    assert both.release("1/4").table


@pytest.mark.slow
def test_zones_are_read_in_utc(ask):
    """As pandas stores them, with nanoseconds, and as Arrow and DuckDB do."""
    aware = [t.replace(tzinfo=timezone(timedelta(hours=-5))) for t in TIMES]
    utc = [t.astimezone(UTC).replace(tzinfo=None) for t in aware]
    frames = [
        pd.DataFrame({"t": pd.Series(aware).dt.tz_convert("America/New_York")}),
        pd.DataFrame({"t": pd.Series(aware).dt.tz_convert("UTC").astype("datetime64[ns, UTC]")}),
        pa.table({"t": pa.array(aware, pa.timestamp("us", "Europe/Paris"))}),
    ]
    for frame in frames:
        query = ask(frame).count(by="t", bins="days from 2024-03-01 to 2024-03-31")
        expected = [sum(t.date() == date(2024, 3, day) for t in utc) for day in range(1, 32)]
        assert query.read().tolist() == expected


@pytest.mark.parametrize(
    "bins", ["months", "months from 2026 to 2025", "days from 1 May to 2 May", [1, 2], ["2026", "2025"], ["2026"], 3]
)
def test_what_is_no_bin_is_refused(bins):
    with pytest.raises(BadParameter):
        read_time_axis("t", Kind.TIMESTAMP, bins)


def test_limits_of_the_calendar():
    with pytest.raises(TooLarge):
        read_time_axis("t", Kind.TIMESTAMP, "hours from 1900 to 2000")
    with pytest.raises(BadParameter, match="9999"):
        read_time_axis("t", Kind.DATE, "years from 9990 to 9999")
    with pytest.raises(BadParameter, match="finer"):
        read_time_axis("t", Kind.DATE, "hours from 2026-01-01 to 2026-01-02")
    assert len(read_time_axis("t", Kind.DATE, "weeks from 0001-01-01 to 0001-01-10")) == 2
