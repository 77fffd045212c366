"""Publications that are not held: the same numbers as those that are, computed as they are read."""

import csv
import json
from fractions import Fraction
from itertools import product

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings, strategies as st

import leastnoise as ln
from leastnoise.errors import TooLarge
from leastnoise.release.recorded import read_numbers, recorded_numbers
from leastnoise.release.tables import LongTable

pytestmark = pytest.mark.slow

SIZES = {"a": 5, "b": 4, "c": 3}
KEYS = {"a": range(5), "b": [f"b{i}" for i in range(4)], "c": [True, False, None]}
WAYS = [["a", "b"], ["b", "c"], ["a", "b", "c"], [], ["c"]]
SURE = ln.Privacy(rho=9 * 10**5, insist=True)


@pytest.fixture
def few(monkeypatch):
    """Everything above ten cells is long, and pieces have seven rows."""
    for place in ("mechanisms.strategy.marginals", "release.queries.marginals", "release.queries.query"):
        monkeypatch.setattr(f"leastnoise.{place}.MOST_LISTED_CELLS", 10)
    monkeypatch.setattr("leastnoise.release.queries.marginals._ROWS", 7)
    monkeypatch.setattr("leastnoise.release.recorded.recorded_numbers.__defaults__", (10,))


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(5)
    return [(int(a), f"b{b}", [True, False, None][c]) for a, b, c in rng.integers(0, (6, 4, 3), (400, 3))]


@pytest.fixture
def data(tmp_path, rows):
    table = pa.table({name: [row[i] for row in rows] for i, name in enumerate(SIZES)})
    with ln.open(table, name="t", budget=ln.Privacy(rho=10**6, insist=True), ledger=tmp_path / "ledger") as dataset:
        yield dataset


def asked(data):
    return data.tables(list(SIZES), WAYS, KEYS)


@pytest.mark.slow
@pytest.mark.usefixtures("few")
def test_without_noise_every_cell_of_every_table_is_the_truth(data, rows):
    release = asked(data).release(SURE, confidence=1 - Fraction(1, 10**12))
    assert isinstance(release.table, LongTable)
    kept, found = [row for row in rows if row[0] < 5], list(release.table)
    assert len(found) == len(release.table) == 20 + 12 + 60 + 1 + 3
    place = 0
    for way in WAYS:
        columns = [i for i, name in enumerate(SIZES) if name in way]
        for cell in product(*(KEYS[list(SIZES)[i]] for i in columns)):
            table, a, b, c, value, low, high = found[place]
            shown = dict(zip(columns, cell, strict=True))
            assert (table, a, b, c) == (" × ".join(way) or "all", *(shown.get(i, "*") for i in range(3)))
            true = sum(all(row[i] == shown[i] for i in columns) for row in kept)
            assert low < true < high
            assert value == pytest.approx(true, abs=0.01)
            place += 1
    assert [len(piece) for piece in release.table.pieces()] == [7, 7, 6, 7, 5, *[7] * 8, 4, 1, 3]


@pytest.mark.usefixtures("few")
def test_the_same_record_says_the_same_whether_it_is_held_or_not(data):
    question = asked(data)
    release = question.release(rho="1/10", request_id="one")
    assert set(release.recorded) == {"count", "packed"}
    mechanism, numbers = release.how.mechanism, read_numbers(release.recorded)
    exact = [value for table in mechanism.tables(numbers) for value in table.ravel()]
    halves = [half for half, size in zip(mechanism.half_widths(), question.sizes, strict=True) for _ in range(size)]
    for (*_, value, low, high), true, half in zip(release.table, exact, halves, strict=True):
        assert abs(Fraction(value) - true) < Fraction(1, 10**9)
        assert low <= true - half <= true + half <= high  # what rounding changed is in the interval
        assert high - low < 2 * half * (1 + Fraction(1, 10**9))
    again = asked(data).release(rho="1/10", request_id="one")
    assert list(again.table) == list(release.table)
    wide = release.with_confidence("999/1000")
    assert all(w[-2] < n[-2] < n[-1] < w[-1] for w, n in zip(wide.table, release.table, strict=True))


@pytest.mark.usefixtures("few")
def test_sums_agree_and_steps_change_every_piece(data):
    release = asked(data).release(rho="1/10")
    cells = list(release.table)
    both = sum(row[4] for row in cells if row[0] == "a × b")
    assert both == pytest.approx(cells[-4][4], abs=1e-9)
    final = release.non_negative().rounded()
    assert len(final.table) == len(cells)
    assert all(row[4] == max(0, round(drawn[4])) for row, drawn in zip(final.table, cells, strict=True))
    assert all(low <= value <= high for *_, value, low, high in final.table)


@pytest.mark.usefixtures("few")
def test_it_is_written_without_being_held(data, tmp_path):
    release = asked(data).release(rho="1/10")
    release.to_csv(tmp_path / "t.csv")
    release.to_parquet(tmp_path / "t.parquet")
    cells = list(release.table)
    with (tmp_path / "t.csv").open(newline="") as file:
        head, *lines = csv.reader(file)
    assert head == ["table", "a", "b", "c", "value", "low", "high"]
    assert [float(line[4]) for line in lines] == [row[4] for row in cells]
    read = pq.read_table(tmp_path / "t.parquet")
    assert read["value"].to_pylist() == [row[4] for row in cells]
    assert read["a"].to_pylist() == [str(row[1]) for row in cells]
    assert read["c"].to_pylist() == [None if row[3] is None else str(row[3]) for row in cells]
    assert "…" in str(release)
    assert str(len(cells)) not in str(release).splitlines()[0]


@pytest.mark.usefixtures("few")
def test_what_would_hold_all_of_it_is_refused_before_anything_is_spent(data, tmp_path):
    question = asked(data)
    for refused in (
        lambda: question.plan(epsilon=1),
        lambda: question.release(epsilon=1),
        lambda: data.batch([question, data.count()]),
    ):
        with pytest.raises(TooLarge):
            refused()
    assert not list(data.ledger.debits("t"))
    release = question.release(rho=1)
    for refused in (
        release.to_pandas,
        release.to_polars,
        release.to_arrow,
        release.to_csv,
        release.to_dict,
        release.interval,
        release.table.to_records,
        release.table.with_columns,
        lambda: release.table["value"],
        lambda: release.plot(tmp_path / "x.png"),
    ):
        with pytest.raises(TooLarge):
            refused()


def test_whole_numbers_are_refused_where_the_table_over_all_columns_is_too_large(tmp_path):
    names = [f"c{i}" for i in range(6)]
    table = pa.table({name: pa.array([0], pa.int64()) for name in names})
    keys = {name: range(10) for name in names}
    with ln.open(table, name="wide", budget=ln.Privacy(rho=9), ledger=tmp_path / "ledger") as dataset:
        release = dataset.tables(names, 1, keys).release(rho=1)
        with pytest.raises(TooLarge, match="whole numbers"):
            release.whole()


@pytest.mark.slow
def test_three_quarters_of_a_million_cells(tmp_path):
    """With the limits as they are: one question, its record and its tables."""
    sizes = {"a": 900, "b": 800, "c": 4}
    rng = np.random.default_rng(1)
    columns = {name: pa.array(rng.integers(0, size, 3000)) for name, size in sizes.items()}
    with ln.open(pa.table(columns), name="t", budget=ln.Privacy(mu=3), ledger=tmp_path / "ledger") as dataset:
        question = dataset.tables(list(sizes), 2, {name: range(size) for name, size in sizes.items()})
        release = question.release(mu=1)
        assert len(release.table) == 900 * 800 + 900 * 4 + 800 * 4
        assert len(json.dumps(release.recorded)) < 7 * len(release.table)
        true = np.zeros((900, 800))
        np.add.at(true, (np.asarray(columns["a"]), np.asarray(columns["b"])), 1)
        values = np.array([row[4] for row, _ in zip(release.table, range(720_000), strict=False)])
        measured = float(((values - true.ravel()) ** 2).mean())
        stated = float(release.how.mechanism.squared_errors()[0])
        assert abs(measured / stated - 1) < 6 * (2 / 720_000) ** 0.5 * 2  # cells are nearly independent


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(-(2**80), 2**80), min_size=1, max_size=40), st.sampled_from([1, 7, 8, 15, 31, 62, 63, 64]))
def test_every_number_is_read_as_it_was_recorded(numbers, bits):
    edge = [(1 << bits) - 1, 1 - (1 << bits), -(1 << bits), (1 << (bits - 1)) - 1, -(1 << (bits - 1))]
    for given_numbers in (numbers, edge, *([each] for each in edge), [*numbers, *edge]):
        recorded = json.loads(json.dumps(recorded_numbers(np.array(given_numbers, dtype=object), most_listed=0)))
        assert read_numbers(recorded).tolist() == given_numbers


def test_runs_are_packed_each_in_its_own_width():
    numbers = np.concatenate([np.arange(-100, 100).repeat(400), np.arange(-(2**40), 2**40, 2**24)])
    recorded = recorded_numbers(numbers, most_listed=0)
    assert read_numbers(recorded).dtype == np.int64
    assert np.array_equal(read_numbers(recorded), numbers)
    assert len(recorded["packed"]) < 4 * (65536 + (len(numbers) - 65536) * 6 + 20) / 3
