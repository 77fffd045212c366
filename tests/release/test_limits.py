"""No public parameter makes a question hang: it is planned within seconds, or refused at once with a typed error."""

import itertools
import signal
from contextlib import contextmanager, suppress
from fractions import Fraction

import pyarrow as pa
import pytest

from leastnoise.data import Contribution, open_table
from leastnoise.errors import BadParameter, LeastNoiseError, NumberTooLarge, TooLarge
from leastnoise.ledger import Ledger, Opening
from leastnoise.model import limits
from leastnoise.model.privacy import Privacy
from leastnoise.release.dataset import Dataset
from leastnoise.release.plan import ReleasePlan

SECONDS = 10  # of the processor, so that a busy machine is not a failure


@contextmanager
def time_limit(seconds):
    def stop(*_):
        raise TimeoutError(f"not done after {seconds} s")

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


@pytest.fixture(scope="module")
def dataset(tmp_path_factory):
    columns = {"u": ["a"], "k": ["x"], "n": [1], "x": [0.5], "d": pa.array([1], pa.decimal128(10, 2)), "f": [True]}
    path = tmp_path_factory.mktemp("limits") / "ledger"
    with open_table(pa.table(columns)) as table, Ledger.create(path) as ledger:
        ledger.grant(Privacy(10**6, "1/10", insist=True), "t")
        yield Dataset(table, ledger, "t", "a", "p", Contribution("u"), Opening(None, "u"))


CELLS, ENTRIES = limits.MOST_CELLS, limits.MOST_ENTRIES
WIDE = {"by": "n", "keys": range(CELLS)}


ROW = range(300)


def levels(count):
    return [Fraction(k, count + 1) for k in range(1, count + 1)]


ENDLESS = {
    "keys": lambda d: d.count(by="n", keys=itertools.count()),
    "bins": lambda d: d.count(by="n", bins=itertools.count()),
    "by": lambda d: d.count(by=itertools.repeat("n")),
    "grid": lambda d: d.median("x", grid=itertools.count()),
    "levels": lambda d: d.quantile("x", (Fraction(k, k + 1) for k in itertools.count(1)), bounds=(0, 1)),
    "rows of a matrix": lambda d: d.workload(itertools.repeat([1]), by="n", keys=[1]),
    "a row of a matrix": lambda d: d.workload([itertools.repeat(1)], by="n", keys=[1]),
    "names": lambda d: d.workload([[1]], by="n", keys=[1], names=itertools.repeat("a")),
    "options": lambda d: d.choose(f"n = {k}" for k in itertools.count()),
}
TOO_LARGE = {
    "keys": lambda d: d.count(by="n", keys=range(CELLS + 1)),
    "bins": lambda d: d.count(by="x", bins=range(CELLS + 2)),
    "cells": lambda d: d.count(keys={"n": range(400), "x": range(400)}),
    "cells of tables": lambda d: d.tables(
        keys={"n": range(95_000), "k": [str(i) for i in range(450)], "x": [0], "u": ["a"], "f": [True]}
    ),
    "answers": lambda d: d.workload([[1]] * (CELLS + 1), by="n", keys=[1]),
    "entries": lambda d: d.workload([[1] * 101] * (ENTRIES // 100), by="n", keys=range(101)),
    "ranges": lambda d: d.workload("ranges", by="n", keys=range(limits.MOST_STRATEGY_CELLS + 1)),
    "prefix sums": lambda d: d.workload("prefix sums", by="n", keys=range(CELLS)),
    "an entry": lambda d: d.workload([[10**1000]], by="n", keys=[1]),
    "another entry": lambda d: d.workload([[limits.LARGEST_ENTRY + 1]], by="n", keys=[1]),
    "grid": lambda d: d.median("x", grid=range(limits.MOST_POINTS + 1)),
    "step of a grid": lambda d: d.median("x", bounds=(0, 1), step="1e-9"),
    "levels": lambda d: d.quantile("x", levels(100_000), bounds=(0, 1)),
    "most common": lambda d: d.most_common(50_000, **WIDE),
    "votes": lambda d: d.decision(**WIDE),
    "designed cells": lambda d: d.design(by="n", keys=range(limits.MOST_DESIGNED_CELLS + 1), at_most=9),
    "designed counts": lambda d: d.design(at_most=limits.MOST_DESIGNED + 1),
    "designed counts of cells": lambda d: d.design(by="n", keys=range(100), at_most=1000),
    "options": lambda d: d.choose([f"n = {k}" for k in range(limits.MOST_OPTIONS + 1)]),
    "counts": lambda d: d.sorted_counts("k", total=10, top=CELLS + 1),
    "groups": lambda d: d.count(by="k", of="units", groups_per_unit=limits.MOST_GROUPS + 1),
    "rows": lambda d: d.count(rows_per_unit=limits.MOST_ROWS_PER_UNIT + 1),
    "uneven edges": lambda d: d.count(by="n", bins=[i * i for i in range(limits.MOST_UNEVEN + 2)]),
    "uneven points": lambda d: d.median("x", grid=[i * i for i in range(limits.MOST_UNEVEN + 2)]),
    "points of decimals": lambda d: d.median("d", grid=range(limits.MOST_UNEVEN + 2)),
    "edges of doubles": lambda d: d.count(by="x", bins=[0, 10**309]),
    "edges of whole numbers": lambda d: d.count(by="n", bins=[-(10**309), 0]),
    "points of doubles": lambda d: d.median("x", grid=[0, 10**309]),
    "bounds": lambda d: d.sum("x", bounds=(0, 10**400)),
    "step": lambda d: d.sum("x", bounds=(0, 1), step="1e-40"),
}
LARGEST = {
    "keys": lambda d: d.count(**WIDE, groups_per_unit=limits.MOST_GROUPS, rows_per_unit=2**31),
    "texts": lambda d: d.count(by="k", keys=[f"key {i}" for i in range(CELLS)]),
    "bins": lambda d: d.sum("n", bounds=(-9, 9), by="x", bins=range(20_001)),
    "variances": lambda d: d.variance("n", bounds=(-9, 9), **WIDE),
    "unknown keys": lambda d: d.count(by="k", of="units", groups_per_unit=limits.MOST_GROUPS),
    "some groups": lambda d: d.count(by="k", of="units", groups_per_unit=10**5),
    "two-way tables": lambda d: d.tables(keys={"n": range(300), "x": range(300), "k": ["a"]}),
    "six prefix sums": lambda d: d.workload("prefix sums", by="n", keys=range(6)),
    "prefix sums": lambda d: d.workload("prefix sums", by="n", keys=range(256)),
    "ranges": lambda d: d.workload("ranges", by="n", keys=range(125)),
    "all different": lambda d: d.workload([[i * j % 997 for j in ROW] for i in ROW], by="n", keys=ROW),
    "many answers": lambda d: d.workload([[i % 7, i % 5] for i in range(CELLS)], by="n", keys=[1, 2]),
    "one large weight": lambda d: d.workload([[50_000, 1]], by="n", keys=[1, 2]),
    "two large weights": lambda d: d.workload([[10**9, 1], [1, 10**9]], by="n", keys=[1, 2]),
    "eight answers": lambda d: d.workload([[(i * j) % 9 for j in range(16)] for i in range(8)], by="n", keys=range(16)),
    "grid": lambda d: d.median("x", bounds=(0, limits.MOST_POINTS - 1), step=1),
    "grid of whole numbers": lambda d: d.median("n", bounds=(0, limits.MOST_POINTS - 1), step=1),
    "bins of whole numbers": lambda d: d.count(by="n", bins=range(CELLS + 1)),
    "uneven grid": lambda d: d.median("x", grid=[i * i for i in range(limits.MOST_UNEVEN + 1)]),
    "levels": lambda d: d.quantile("x", levels(limits.MOST_TURNS), bounds=(0, 1000), step=1),
    "most common": lambda d: d.most_common(limits.MOST_TURNS, **WIDE),
    "options": lambda d: d.choose([f"n = {k}" for k in range(limits.MOST_OPTIONS)]),
    "designed cells": lambda d: d.design(by="n", keys=range(1000), at_most=99, prior=range(1, 101)),
    "designed counts": lambda d: d.design(at_most=limits.MOST_DESIGNED, prior=range(1, limits.MOST_DESIGNED + 2)),
    "votes": lambda d: d.decision(by="n", keys=range(limits.MOST_OPTIONS)),
    "at least": lambda d: d.decision(at_least=10**1000, of="rows", rows_per_unit=2**31),
    "counts": lambda d: d.sorted_counts("k", total=10**6, top=CELLS),
    "decimals": lambda d: d.sum("d", bounds=("-99.99", 99)),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", ENDLESS)
def test_what_never_ends_is_refused(dataset, name):
    with time_limit(SECONDS), pytest.raises(LeastNoiseError):
        ENDLESS[name](dataset)


@pytest.mark.slow
@pytest.mark.parametrize("name", TOO_LARGE)
def test_what_is_too_large_is_refused_before_it_is_planned(dataset, name):
    with time_limit(SECONDS), pytest.raises((TooLarge, NumberTooLarge, BadParameter)) as refusal:
        TOO_LARGE[name](dataset)
    assert refusal.value.fix
    assert len(str(refusal.value)) < 600


@pytest.mark.slow
@pytest.mark.parametrize("name", LARGEST)
def test_what_is_within_the_limits_is_planned_in_seconds(dataset, name):
    with time_limit(SECONDS):
        query = LARGEST[name](dataset)
        plan = query.plan(1, "1e-6")
        assert plan.to_dict()
        assert str(plan)
        query.check()  # the engine reads the text and runs it on made-up rows


@pytest.mark.slow
@pytest.mark.parametrize("price", [("1e-9", "1e-300"), (10**6, 0), ("ln(3)", "1/2")])
def test_extreme_prices_are_planned_or_refused_in_seconds(dataset, price):
    asked = [
        lambda d: d.count(by="n", keys=[1, 2], groups_per_unit=2, rows_per_unit=3),
        lambda d: d.count(by="k", of="units", groups_per_unit=1000),
        lambda d: d.sum("x", bounds=(-1, 1)),
        lambda d: d.mean("n", bounds=(-9, 9), expected_rows=100),
        lambda d: d.variance("x", bounds=(-9, 9)),
        lambda d: d.median("x", bounds=(0, 100), step=1),
        lambda d: d.quantile("x", levels(5), bounds=(0, 100), step=1),
        lambda d: d.most_common(2, by="n", keys=range(9)),
        lambda d: d.workload("prefix sums", by="n", keys=range(6)),
        lambda d: d.tables(keys={"n": [1, 2], "k": ["a"]}),
        lambda d: d.decision(at_least=10),
        lambda d: d.decision(by="n", keys=range(4)),
        lambda d: d.design(by="n", keys=range(4), at_most=50, rows_per_unit=3),
    ]
    for ask in asked:
        with time_limit(SECONDS), suppress(LeastNoiseError):
            assert isinstance(ask(dataset).plan(*price), ReleasePlan)


def test_the_limits_follow_from_each_other():
    assert limits.MOST_CELLS < limits.MOST_NUMBERS < limits.MOST_ENTRIES < limits.LONGEST_ANSWER
    assert limits.MOST_CELLS <= limits.MOST_GROUPS
    assert limits.LARGEST_ENTRY * limits.MOST_CELLS * limits.MOST_ROWS * limits.MOST_ROWS_PER_UNIT < 10**37
