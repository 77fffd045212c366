"""A thousand releases of each kind of publication: errors and intervals are the stated ones, of all answers together.

With six standard errors of a mean of 1000 independent releases an alarm is false less often than once in a million, and
an error that is 15 % larger than stated is noticed; each test shows that.
"""

from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

import leastnoise as ln
from leastnoise.exact import SeededSource
from leastnoise.mechanisms.strategy import RunningTotals, plan_running
from leastnoise.model import LEVEL

pytestmark = pytest.mark.slow

DRAWS, DEVIATIONS, NOTICED = 1000, 6, 1.15
SIZES = {"a": 4, "b": 8, "c": 3}
KEYS = {name: range(size) for name, size in SIZES.items()}
TREE = {0: {0: [0, 1, 2], 1: [3]}, 1: {2: [4, 5], 3: [6, 7]}}
QUESTIONS = {
    "two-way tables": lambda data: data.tables(list(SIZES), 2, KEYS),
    "tables with targets": lambda data: data.tables(list(SIZES), [["a", "b"], ["c"], []], KEYS, targets=[9, 3, 1]),
    "hierarchy": lambda data: data.hierarchy(["region", "county", "b"], TREE),
    "ranges": lambda data: data.workload("ranges", by="b", keys=range(8)),
    "prefix sums": lambda data: data.workload("prefix sums", by="b", keys=range(8)),
}
PRICES = {"Gaussian": {"mu": "1/2"}, "Laplace": {"epsilon": "1/2"}}


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    rng = np.random.default_rng(3)
    columns = {name: pa.array(rng.integers(0, size, 900)) for name, size in SIZES.items()}
    ledger = tmp_path_factory.mktemp("thousand") / "ledger"
    with ln.open(pa.table(columns), name="t", budget=ln.Privacy(rho=20), ledger=ledger) as dataset:
        yield dataset


def agrees(squares, stated):
    """Whether the mean of some squared errors, release by release, is a stated one."""
    spread = DEVIATIONS * np.std(squares) / DRAWS**0.5
    assert abs(np.mean(squares) - stated) <= spread
    assert abs(np.mean(squares) * NOTICED**2 - stated) > spread  # power
    assert abs(np.mean(squares) / NOTICED**2 - stated) > spread


@pytest.mark.parametrize("price", PRICES)
@pytest.mark.parametrize("name", QUESTIONS)
def test_the_stated_error_and_intervals_are_those_of_a_thousand_releases(data, name, price):
    question = QUESTIONS[name](data)
    how = question.answer_plan(ln.Privacy(**PRICES[price]))
    read = question.read()
    truth = read if how.prepare is None else how.prepare(read)
    drawn = how.mechanism.draw(truth, size=DRAWS, source=SeededSource(17))
    first = how.to_table(how.encode(drawn[0]), LEVEL)
    halves = (np.array(first["high"]) - np.array(first["low"])) / 2
    if name.startswith(("two", "tables")):
        true = np.asarray(read, dtype=float)
        found = [np.concatenate([t.ravel() for t in how.mechanism.tables(one)]).astype(float) for one in drawn]
        squares = [
            float(square)
            for square, cells in zip(how.mechanism.squared_errors(), question.sizes, strict=True)
            for _ in range(cells)
        ]
    else:
        true = np.asarray([float(answer) for answer in question.answers_of(read)])
        found = [[float(answer) for answer in question._listed_answers(how.encode(one))] for one in drawn]
        squares = [
            float(square) for square in question.problem(ln.Privacy(**PRICES[price])).squared_errors(how.mechanism)
        ]
    off = np.array(found) - true
    assert found[0] == pytest.approx(first["value"])
    agrees((off**2).mean(axis=1), np.mean(squares))
    agrees((off**2 / squares).mean(axis=1), 1.0)  # each answer against its own
    if name != "tables with targets":  # there the plan states the largest one
        assert float(how.error.expected) ** 2 == pytest.approx(np.mean(squares), rel=1e-6)
    inside = (np.abs(off) <= halves + 1e-9).mean(axis=0)
    assert inside.min() >= 0.95 - DEVIATIONS * (0.95 * 0.05 / DRAWS) ** 0.5


def test_running_totals_of_a_thousand_runs_have_the_stated_errors_on_every_day():
    days, source = 24, SeededSource(5)
    horizon = RunningTotals(plan_running(days), Fraction(1, 4), 1)
    counts = [10 * day for day in range(days)]
    measured = [horizon.day(day).draw(counts[: day + 1], size=DRAWS, source=source) for day in range(days)]
    totals = [[float(total) for total in horizon.totals(one)] for one in np.array(measured, dtype=object).T]
    off = np.array(totals) - np.cumsum(counts)
    stated = np.array([float(square) for square in horizon.whole.squared_errors()])
    agrees((off**2).mean(axis=1), stated.mean())
    agrees((off**2 / stated).mean(axis=1), 1.0)
    halves = [float(horizon.day(day).half_width()) for day in range(days)]
    assert (np.abs(off) <= halves).mean(axis=0).min() >= 0.95 - DEVIATIONS * (0.95 * 0.05 / DRAWS) ** 0.5
    assert totals[0][:5] == [float(total) for total in horizon.totals([row[0] for row in measured[:5]])]
