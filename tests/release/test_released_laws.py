"""What really leaves: the law of released histograms, and whether intervals and error bounds keep their promise."""

from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import binom

from leastnoise.exact import SeededSource
from leastnoise.mechanisms import Geometric
from leastnoise.model.privacy import Privacy
from support.statistics import ALPHA, fits

pytestmark = pytest.mark.slow


def test_a_released_histogram_has_the_law_of_its_plan(open_people):
    dataset = open_people()
    keys = list(range(200, 5200))  # ages that nobody has: 5000 noisy zeros
    query = dataset.count(by="age", keys=keys)
    values = query.release("ln(2)").table["value"]
    assert query.plan("ln(2)").mechanism.blocks[0].noise == Geometric("ln(2)")
    assert fits(values, lambda y: Geometric("ln(2)").cdf(y, 0).lower, -8, 8)
    assert not fits(values, lambda y: Geometric("6/5").cdf(y, 0).lower, -8, 8)


def test_two_releases_have_fresh_noise(open_people):
    query = open_people().count(by="age", keys=list(range(200, 700)))
    assert query.release(1).table["value"] != query.release(1).table["value"]


@pytest.mark.parametrize("kind", ["mean", "variance"])
@pytest.mark.parametrize("rows", [60, 2000])
def test_intervals_and_error_bounds_of_moments(open_people, kind, rows):
    query = getattr(open_people(), kind)("age", bounds=(0, 100), expected_rows=rows)
    rng = np.random.default_rng(3)
    ages = rng.integers(0, 101, rows)
    truth = float(ages.mean() if kind == "mean" else ages.var())
    parts = [ages, 100 - ages] if kind == "mean" else [(100 - ages) ** 2, 2 * ages * (100 - ages), ages**2]
    answer = [int(part.sum()) for part in parts]
    how = query.answer_plan(Privacy(1))
    drawn = how.mechanism.draw(np.array(answer, dtype=object), 600, SeededSource(9))
    tables = [how.to_table([int(x) for x in row], Fraction(19, 20)) for row in drawn]
    covered = sum(t["low"][0] <= truth + 1e-9 and truth - 1e-9 <= t["high"][0] for t in tables)
    assert binom.cdf(covered, len(tables), 0.95) > ALPHA
    errors = np.array([abs(t["value"][0] - truth) for t in tables])
    assert errors.mean() <= float(how.error.expected)
    assert (errors > float(how.error.quantiles[Fraction(19, 20)])).mean() <= 0.05
    assert all(t["low"][0] <= t["value"][0] <= t["high"][0] for t in tables)


def test_the_noise_on_each_city_is_its_own(open_people):
    query = open_people().count(by="city", keys=[f"nowhere {i}" for i in range(3000)])
    values = np.array(query.release("ln(2)").table["value"])
    products = np.sign(values[::2] * values[1::2])
    same = (products > 0).sum()
    assert ALPHA < binom.cdf(same, (products != 0).sum(), 0.5) < 1 - ALPHA
