"""Means, proportions, variances and ratios: what is released, and how often the intervals hold the truth."""

import re
from fractions import Fraction
from math import inf, sqrt

import numpy as np
import pyarrow as pa
import pytest
from scipy.stats import binom

import leastnoise.release as ln
from leastnoise.errors import BadParameter, LeastNoiseError, RequestConflict
from leastnoise.mechanisms import Gaussian, Geometric
from leastnoise.mechanisms.numeric.weighted_sum import reach_of_sum
from leastnoise.model.privacy import Privacy
from leastnoise.release.queries.moments import narrowed
from support.statistics import ALPHA

DRAWS = 400
LEVEL = Fraction(4, 5)
AGES = [(17 * k) % 91 for k in range(40)]
NARROW = [50 + k % 3 for k in range(40)]


@pytest.fixture
def open_values(tmp_path):
    """A table of values of single rows, without a unit."""
    opened = []

    def open_it(**columns):
        place = tmp_path / f"ledger {len(opened)}"
        opened.append(ln.open(pa.table(columns), name="values", budget=20, ledger=place))
        return opened[-1]

    yield open_it
    for dataset in opened:
        dataset.close()


@pytest.mark.slow
@pytest.mark.parametrize("noise", [Geometric(1, 1), Geometric("1/3", 50), Gaussian(900)], ids=lambda n: n.name)
@pytest.mark.parametrize("weights", [(1, 0, 0), (1, 1, 0), (1, 1, 1), (3, 1, 2)])
def test_the_reach_of_a_weighted_sum_by_enumeration(noise, weights):
    """Exactly, by convolution: no more than the chance of a miss lies beyond, and more than it just below."""
    level, size = Fraction(19, 20), 1500
    law = np.array([float(noise.noise_pmf(abs(k))) for k in range(-size, size + 1)])
    total = np.ones(1)
    for weight in filter(None, weights):
        stretched = np.zeros(weight * (len(law) - 1) + 1)
        stretched[::weight] = law
        total = np.convolve(total, stretched)
    far = reach_of_sum([noise] * 3, [Fraction(w) for w in weights], level)
    places = np.arange(len(total)) - len(total) // 2
    assert total[np.abs(places) > float(far)].sum() <= 0.05 + 1e-9
    near = 0.9 * float(far) - 1.5 * sum(weights)  # not much is given away
    assert total[np.abs(places) > near].sum() > 0.05


LEAST_HITS = int(binom.ppf(ALPHA, DRAWS, float(LEVEL)))


def test_the_power_of_the_next_test():
    """Intervals that hold with 3/5 in place of 4/5 would be noticed."""
    assert binom.cdf(LEAST_HITS - 1, DRAWS, 0.6) > 0.9


CASES = {
    "mean": (lambda d: d.mean("x", bounds=(0, 100)), np.mean),
    "variance": (lambda d: d.variance("x", bounds=(0, 100)), np.var),
    "proportion": (lambda d: d.proportion("x >= 51"), lambda x: np.mean(np.array(x) >= 51)),
    "ratio": (lambda d: d.ratio("x", "y", bounds={"x": (-50, 100), "y": (0, 10)}), lambda x: np.sum(x) / 160),
}


@pytest.mark.slow
@pytest.mark.parametrize("values", [AGES, NARROW, [0] * 40], ids=["spread", "narrow", "at the bound"])
@pytest.mark.parametrize("price", [Privacy("1/2"), Privacy(rho="1/50")], ids=["Laplace", "Gaussian"])
@pytest.mark.parametrize("case", CASES)
def test_intervals_hold_the_truth(open_values, case, price, values):
    """Forty values and much noise: the worst case for a quotient."""
    ask, true = CASES[case]
    query = ask(open_values(x=values, y=[4] * len(values)))
    how, truth = query.answer_plan(price), query.read()
    hits, drawn = 0, how.mechanism.draw(truth, size=DRAWS)
    for row in drawn:
        ((value, low, high),) = list(how.to_table([int(k) for k in row], LEVEL))
        assert low <= value <= high
        hits += low <= true(values) + 1e-9 and high >= true(values) - 1e-9
    assert hits >= LEAST_HITS


def test_an_interval_is_as_short_as_promised(open_values):
    """At the middle, 44 % shorter than separate intervals of numerator and denominator."""
    query = open_values(x=[50] * 10_000).mean("x", bounds=(0, 100))
    how = query.answer_plan(Privacy(1))
    (noise,) = (block.noise for block in how.mechanism.blocks)
    ((_, low, high),) = list(how.to_table([500_000, 500_000], Fraction(19, 20)))
    separate = 2 * noise.quantile(Fraction(39, 40)) / 10_000
    assert (high - low) / separate < 0.57


@pytest.mark.slow
def test_the_error_of_a_variance_is_what_the_formula_says(open_values):
    """The standard deviation of many releases, against first order: c₀ = c₂ = ¼ − v and c₁ = −¼ − v in the middle."""
    values = [k % 101 for k in range(20_200)]
    query = open_values(x=values).variance("x", bounds=(0, 100))
    how, truth = query.answer_plan(Privacy(1)), query.read()
    found = [how.to_table([int(k) for k in row], LEVEL)["value"][0] for row in how.mechanism.draw(truth, size=DRAWS)]
    v = np.var(values) / 100**2
    expected = 100**2 * sqrt(2) * sqrt(2 * (0.25 - v) ** 2 + (0.25 + v) ** 2) / len(values)
    assert np.std(found) == pytest.approx(expected, rel=0.25)  # six standard errors, for tails like Laplace's
    assert expected < 0.75 * 100**2 * sqrt(2) * 0.553 / len(values)  # half of ε for the squares


def test_a_deviation_is_the_root_of_a_variance(open_values):
    dataset = open_values(x=AGES)
    variance, deviation = (getattr(dataset, name)("x", bounds=(0, 100)) for name in ("variance", "deviation"))
    drawn = [int(k) + 3000 for k in variance.read()]
    (squared,), (root,) = (list(each.answer_plan(Privacy(1)).to_table(drawn, LEVEL)) for each in (variance, deviation))
    assert root == pytest.approx([sqrt(number) for number in squared])


def test_averages_of_a_unit_are_not_rounded_to_whole_numbers(tmp_path):
    table = pa.table({"person": [1, 1, 2, 2], "n": [0, 1, 0, 1], "f": [True, False, True, False]})
    with ln.open(table, name="t", privacy_unit="person", budget=1, ledger=tmp_path / "ledger") as dataset:
        for query in (dataset.mean("n", bounds=(0, 1)), dataset.mean("f"), dataset.proportion("n > 0")):
            up, down = query.read()
            assert up == down > 0
            assert query.answer_plan(Privacy(1)).sensitivity.amount == query.top


def test_missing_values_do_not_count_and_conditions_are_false_there(open_values):
    dataset = open_values(x=[1, None, 3], f=[True, None, None])
    assert [*dataset.mean("x", bounds=(0, 4)).read()] == [4, 4]
    assert [*dataset.mean("f").read()] == [1, 0]
    assert [*dataset.proportion("x > 1").read()] == [1, 2]
    assert [*dataset.proportion("x > 1", where="x IS NOT MISSING").read()] == [1, 1]


def test_what_is_narrowed_holds_both_ends():
    low, high = narrowed((Fraction(-5), Fraction(5)), Fraction(1, 3), Fraction(2, 3))
    assert low <= Fraction(1, 3) < Fraction(2, 3) <= high
    assert high - low < Fraction(1, 3) + Fraction(1, 1 << 20)
    assert narrowed((Fraction(0), Fraction(1, 2)), Fraction(-1, 3), Fraction(2, 3)) == (0, Fraction(1, 2))


@pytest.mark.slow
def test_a_ratio_without_a_denominator_has_no_limit(open_values):
    release = open_values(x=[1], y=[0]).ratio("x", "y", bounds={"x": (0, 1), "y": (0, 1)}).release("1/10")
    assert release.to_dict()["rows"][0][2] in (None, release.interval()[1])
    assert "∞" in str(release) or release.interval()[1] < 1e9
    release.plot()
    with pytest.raises(BadParameter, match="negative"):
        open_values(x=[1], y=[0]).ratio("x", "y", bounds={"x": (0, 1), "y": (-1, 1)})


def test_a_ratio_beyond_the_doubles_is_infinite(open_values):
    """It is released and charged: that no double holds it must not keep it back."""
    wide = {"x": (0, Fraction(2) ** 500), "y": (0, Fraction(1, 1 << 500))}
    dataset = open_values(x=[1.0], y=[0.0])
    query = dataset.ratio("x", "y", bounds=wide, step={"x": wide["x"][1], "y": wide["y"][1] / 2**40})
    how = query.public.answer_plan(Privacy(1))
    for drawn in ([1 << 40, 1], [1 << 40, 1 << 43]):
        table = how.to_table(drawn, LEVEL)
        assert table[table.measures[0]] == (inf,)
    assert how.to_table([1, 1 << 50], LEVEL)[table.measures[0]][0] < 1e308


def test_units_are_counted_unless_rows_are_asked_for(tmp_path):
    table = pa.table({"person": [1, 1, 1, 2, None], "city": ["a", "a", "b", "a", "a"]})
    options = {"name": "t", "privacy_unit": "person", "budget": 10, "ledger": tmp_path / "ledger"}
    with ln.open(table, **options) as dataset:
        count = dataset.count()
        assert [*count.read()] == [2]
        assert count.question == "count of units (one per person)"
        assert [*dataset.count(of="rows").read()] == [2]  # numerically the same with one row of each
        assert [*dataset.count(rows_per_unit=3).read()] == [4]
        assert dataset.count(rows_per_unit=3).question == "count of rows"
        release = count.release(1)
        assert "counts each person once; rows without person are left out" in str(release)
        with pytest.raises(BadParameter, match="once"):
            dataset.count(of="units", rows_per_unit=2)
        old = dataset.count(of="rows").release(1, request_id="old")  # as version 0.1 recorded `count()`
        with pytest.raises(RequestConflict):
            dataset.count().release(1, request_id="old")
        assert dataset.count(of="rows").release(1, request_id="old") == old
        assert dataset.left.epsilon == 8
    with ln.open(table, **options, rows_per_unit=3) as dataset:
        assert dataset.count().question == "count of rows"
        assert "units" in dataset.most_common(by="city", keys=["a", "b"]).question
    with ln.open(table, name="rows", budget=1, ledger=tmp_path / "other") as dataset:
        assert dataset.count().question == "count of rows"


def test_different_values(tmp_path):
    table = pa.table({"person": [1, 1, 1, 2, None, 3], "city": ["a", "b", "c", "a", "d", None]})
    with ln.open(table, name="t", privacy_unit="person", budget=9, ledger=tmp_path / "ledger") as dataset:
        assert dataset.count_distinct("city", groups_per_unit=3).read() == [3]
        assert dataset.count_distinct("city", groups_per_unit=1).read()[0] in (1, 2)
        assert dataset.count_distinct("city", where="city > 'a'", groups_per_unit=3).read() == [2]
        assert dataset.count_distinct("city", groups_per_unit=3).plan(1).sensitivity.amount == 3
        assert isinstance(dataset.count_distinct("city").release(1).value, int)


def test_the_tests_of_a_condition_are_rehearsed(open_values, monkeypatch):
    """Every test inside of a condition runs on made-up rows by itself, as those of a filter do."""
    dataset, seen = open_values(x=[1, 2]), []
    rehearse = type(dataset.table)._rehearse
    monkeypatch.setattr(
        type(dataset.table), "_rehearse", lambda self, queries: (seen.append(queries), rehearse(self, queries))
    )
    dataset.proportion("x > 1 AND x % 7 = 3").read()
    texts = [str(part) for query in seen[0] for part in query.parts]
    assert "t1" in "".join(texts)
    assert any("t0" in text for text in texts)


@pytest.mark.slow
def test_numbers_in_displays_are_short(tmp_path):
    """No fraction of hundreds of digits, whatever the parameters are."""
    long = Fraction(10**200 + 1, 3**400)
    table = pa.table({"person": [1, 2], "x": [1.0, 2.0], "n": [1, 2]})
    with ln.open(table, name="t", privacy_unit="person", budget=10, ledger=tmp_path / "ledger") as dataset:
        price = Fraction(10**90 + 7, 10**91 + 9)
        asked = [
            dataset.count(),
            dataset.sum("x", bounds=(0, 1 + Fraction(1, 7**300)), step=Fraction(1, 3)),
            dataset.sum("n", bounds=(0, 10**100), step=10**90),
            dataset.mean("x", bounds=(-Fraction(1, 7**100), 1), step=Fraction(1, 9)),
            dataset.variance("n", bounds=(0, Fraction(10**30, 3)), step=Fraction(10**28, 3), expected_rows=10**60),
            dataset.count(by="x", bins=[0, Fraction(1, 7**200), 1]),
            dataset.median("n", bounds=(0, 100), step=Fraction(100, 3)),
        ]
        shown = []
        for query in asked:
            plan = query.plan(price)
            release = query.release(price / 10)
            shown += [str(plan), plan._repr_html_(), str(release), release._repr_html_(), release.caption, repr(query)]
        for wrong in (
            lambda: dataset.sum("x", bounds=(0, 1), step=long),
            lambda: dataset.sum("x", bounds=(long, 0)),
            lambda: dataset.count().plan(long + 30),
            lambda: dataset.count().plan(-long),
        ):
            with pytest.raises(LeastNoiseError) as refused:
                wrong()
            shown.append(str(refused.value))
    assert not [text for text in shown if re.search(r"\d{40}", text)]
