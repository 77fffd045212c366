"""Whole numbers that agree, and intervals that hold their own values, over random publications of each kind."""

import itertools
import random
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest

import leastnoise as ln
from leastnoise.errors import BadParameter, TooLarge
from leastnoise.release.whole import View, nearest_sums, nearest_whole, sums_of, table_views

SIZES = {"a": 3, "b": 4, "c": 2, "d": 6}
KEYS = {name: list(range(size)) for name, size in SIZES.items()}
TREE = {"n": {"x": [0, 1], "y": [2]}, "s": {"z": [3, 4, 5]}}
ASKED = {
    "count": lambda d: d.count(by=["a", "b"], keys={name: KEYS[name] for name in "ab"}),
    "two-way tables": lambda d: d.tables(list("abcd"), 2, KEYS),
    "nested tables": lambda d: d.tables(list("abcd"), [[], ["a"], ["a", "d"], ["b", "c"]], KEYS),
    "hierarchy": lambda d: d.hierarchy(["side", "part", "d"], TREE),
    "prefix sums": lambda d: d.workload("prefix sums", by="d", keys=KEYS["d"]),
    "ranges": lambda d: d.workload("ranges", by="d", keys=KEYS["d"]),
}
OTHERS = {
    "sum": lambda d: d.sum("d", bounds=(0, 5), by="a", keys=KEYS["a"]),
    "mean": lambda d: d.mean("d", bounds=(0, 5), by="a", keys=KEYS["a"]),
    "matrix": lambda d: d.workload([[1, 1, 0], [0, 1, 2]], by="a", keys=KEYS["a"]),
    "ratio": lambda d: d.ratio("d", "b", bounds={"d": (0, 5), "b": (1, 4)}, by="c", keys=KEYS["c"]),
    "proportion": lambda d: d.proportion("d > 2", by="a", keys=KEYS["a"]),
    "variance": lambda d: d.variance("d", bounds=(0, 5)),
    "distinct": lambda d: d.count_distinct("d"),
    "median": lambda d: d.median("d", bounds=(0, 5), interval_share="1/2"),
}
PRICES = [{"epsilon": "1/5"}, {"epsilon": 2}, {"rho": "1/100"}, {"epsilon": 1, "delta": "1e-6"}]


@pytest.fixture
def open_random(tmp_path):
    """A random table of some rows, spread unevenly; the numbers of rows are small, so that noise goes below zero."""
    opened = []

    def open_it(seed):
        rng = random.Random(seed)
        columns = {
            name: [min(rng.randrange(size), rng.randrange(size)) for _ in range(90)] for name, size in SIZES.items()
        }
        table = pa.table({name: pa.array(values, pa.int64()) for name, values in columns.items()})
        budget = ln.Privacy("100", "1e-2", insist=True)
        opened.append(ln.open(table, name=f"random {seed}", budget=budget, ledger=tmp_path / f"{seed}.ledger"))
        return opened[-1]

    yield open_it
    for dataset in opened:
        dataset.close()


def inside(release):
    value, low, high = release._names
    table = release.table
    return all(a <= v <= b for v, a, b in zip(table[value], table[low], table[high], strict=True))


def priced(price, name):
    return {"epsilon": 1} if name in OTHERS and "rho" in price else price


@pytest.mark.slow
@pytest.mark.parametrize("name", [*ASKED, *OTHERS])
def test_no_value_is_outside_of_its_own_interval(open_random, name):
    """Random publications at four prices, each as drawn and after every step that there is."""
    for seed, price in enumerate(PRICES):
        release = {**ASKED, **OTHERS}[name](open_random(seed)).release(**priced(price, name))
        steps = [
            release,
            release.with_confidence("1/100"),
            release.non_negative(),
            release.rounded(),
            release.rounded(-1),
        ]
        steps += [release.non_negative().rounded()]
        if name in ASKED:
            steps += [release.whole(0), release.whole(0).with_confidence("1/100"), release.whole(0).rounded(-1)]
        assert all(map(inside, steps))
        assert any(not same_values(release, step) for step in steps[2:]) or name not in ASKED  # values do move


def same_values(release, step):
    return release.table[release._names[0]] == step.table[step._names[0]]


def whole_of(dataset, name, price):
    return ASKED[name](dataset).release(**price).whole(3)


@pytest.mark.slow
@pytest.mark.parametrize("price", PRICES, ids=str)
def test_tables_are_whole_and_agree(open_random, price):
    for name in ("two-way tables", "nested tables"):
        final = whole_of(open_random(7), name, price)
        found = {}
        for table, *keys, value, _low, _high in final.table:
            assert type(value) is int
            assert value >= 0
            shown = {column: key for column, key in zip("abcd", keys, strict=True) if key != "*"}
            for size in range(len(shown) + 1):
                for part in itertools.combinations(shown, size):
                    at = (part, tuple(shown[column] for column in part))
                    found.setdefault(at, {}).setdefault(table, []).append(value)
        for sums in found.values():
            assert len({sum(values) for values in sums.values()}) == 1


@pytest.mark.parametrize("price", PRICES, ids=str)
def test_levels_prefix_sums_and_ranges_are_whole_and_agree(open_random, price):
    dataset = open_random(3)
    values = whole_of(dataset, "hierarchy", price).table["value"]
    leaves, parts, sides, everybody = values[:6], values[6:9], values[9:11], values[11]
    assert min(leaves) >= 0
    assert parts == (leaves[0] + leaves[1], leaves[2], sum(leaves[3:]))
    assert sides == (parts[0] + parts[1], parts[2])
    assert everybody == sum(leaves)
    sums = whole_of(dataset, "prefix sums", price).table["value"]
    assert all(type(total) is int for total in sums)
    assert list(sums) == sorted(sums)
    assert sums[0] >= 0
    ranges = whole_of(dataset, "ranges", price).table["value"]
    pairs = [(first, last) for first in range(6) for last in range(first, 6)]
    cells = [count for (first, last), count in zip(pairs, ranges, strict=True) if first == last]
    assert min(cells) >= 0
    assert list(ranges) == [sum(cells[first : last + 1]) for first, last in pairs]


@pytest.mark.slow
def test_the_record_gives_the_same_whole_numbers_again(open_random):
    dataset = open_random(1)
    for name, ask in ASKED.items():
        first = ask(dataset).release(epsilon=1, request_id=name).whole(2)
        left = dataset.left
        again = ask(dataset).release(epsilon=1, request_id=name).whole(2)
        assert (again.table, again.simulated, dataset.left) == (first.table, first.simulated, left)
        assert again.steps == ("whole",)
        assert again.with_confidence("1/2").table["value"] == first.table["value"]


@pytest.mark.slow
def test_the_error_is_simulated_and_says_so(tmp_path):
    """On a table far from zero whole numbers are about as far off as what was drawn, and the simulation says that."""
    rows = pa.table({"a": [k % 3 for k in range(60_000)], "b": [k % 4 for k in range(60_000)]})
    with ln.open(rows, name="many", budget=20, ledger=tmp_path / "ledger") as dataset:
        drawn = dataset.tables(["a", "b"], [["a"], ["b"], ["a", "b"]], {name: KEYS[name] for name in "ab"}).release(
            epsilon=1
        )
        final = drawn.whole(200)
        assert final.simulated.root_mean_square == pytest.approx(float(drawn.error.expected), rel=0.15)
        assert "simulated" in str(final)
        assert "simulated" in final.to_dict()["simulated"]
        assert drawn.whole(0).simulated is None
        assert final.rounded(-2).simulated is None  # another step, another error


def test_the_stated_error_is_that_of_the_final_numbers(open_random):
    """Cut off at zero, a value may be farther from an end of its interval than the noise says."""
    release = ASKED["count"](open_random(4)).release(epsilon="1/5")
    for step in (release.rounded(-2), release.whole(0), release.non_negative()):
        rows = zip(*(step.table[name] for name in step._names), strict=True)
        assert step.error_within == max(max(value - low, high - value) for value, low, high in rows)
    assert release.rounded(-2).error_within > release.error_within == release.plan.error_within


@pytest.mark.slow
def test_what_has_no_whole_numbers_is_refused(open_random, tmp_path):
    dataset = open_random(2)
    for name in OTHERS:
        with pytest.raises(BadParameter, match="whole numbers that agree"):
            OTHERS[name](dataset).release(epsilon=1).whole()
    release = ASKED["two-way tables"](dataset).release(epsilon=1)
    with pytest.raises(BadParameter, match="whole numbers that agree"):
        release.rounded().whole()
    with pytest.raises(BadParameter):
        release.whole("many")
    wide = pa.table({name: pa.array([0, 1], pa.int64()) for name in "abc"})
    with ln.open(wide, name="wide", budget=1, ledger=tmp_path / "wide.ledger") as other:
        large = other.tables(list("abc"), 2, dict.fromkeys("abc", range(60))).release(epsilon=1)
        with pytest.raises(TooLarge, match="65536"):
            large.whole()


def objective(views, cells):
    """Σ over views of the squared distances, at the weights of `nearest_whole`."""
    return sum(
        (Fraction(total) - estimate) ** 2
        for view in views
        for total, estimate in zip(sums_of(view, cells), view.estimates, strict=True)
    )


@pytest.mark.slow
def test_no_single_step_comes_nearer():
    """The promise of the search, and by brute force over small tables that little is lost against the best one."""
    rng = random.Random(5)
    for _ in range(40):
        tables = [(0,), (1,), (0, 1)] if rng.random() < 0.5 else [(0, 1), ()]
        estimates = [
            np.array([Fraction(rng.randrange(-700, 1800), 256) for _ in range(2 ** len(table))], dtype=object)
            for table in tables
        ]
        views = table_views((2, 2), tables, estimates, [Fraction(1)] * len(tables))
        cells = nearest_whole(views)
        here = objective(views, cells)
        for place, change in itertools.product(range(4), (-1, 1)):
            moved = [count + change * (place == spot) for spot, count in enumerate(cells)]
            assert min(moved) < 0 or objective(views, moved) >= here
        best = min(objective(views, tried) for tried in itertools.product(range(9), repeat=4))
        assert here <= best + 4 * len(tables)


def test_numbers_beyond_64_bits_stay_exact():
    huge = [Fraction(10**30), Fraction(-5), Fraction(7, 2)]
    cells = nearest_whole(
        [View(np.arange(3), huge, Fraction(1)), View(np.zeros(3, dtype=np.int64), [sum(huge)], Fraction(1))]
    )
    assert abs(cells[0] - 10**30) <= 3
    assert min(cells) == 0
    assert nearest_sums([Fraction(10**30), Fraction(1)]) == [(10**30 + 1 + 1) // 2] * 2


@pytest.mark.parametrize("name", ASKED)
def test_noise_that_is_mostly_zero_leaves_whole_numbers(open_random, name):
    """At a high price an error is zero with 95 %, and so is the variance that is taken from it."""
    dataset = open_random(3)
    release = ASKED[name](dataset).release(epsilon=8)
    assert sum(release.whole().table["value"]) > 0


def test_estimates_without_any_doubt_are_kept():
    estimates = [Fraction(2), Fraction(0), Fraction(7)]
    for doubt in ([0, 0], [0, 1], [1, 0], [0, Fraction(1, 10**9)]):
        views = [
            View(np.arange(3), estimates, Fraction(doubt[0])),
            View(np.array([0, 0, 1]), [9, 7], Fraction(doubt[1])),
        ]
        assert len(nearest_whole(views)) == 3
        views[1] = View(np.array([0, 0, 1]), [Fraction(2), Fraction(7)], Fraction(doubt[1]))
        assert nearest_whole(views) == [2, 0, 7]
