"""The bounded mean: two sums, their noise, and the error of their quotient."""

from fractions import Fraction

import numpy as np
import pytest

from leastnoise.errors import BadParameter
from leastnoise.exact import SeededSource, discrete_laplace_pmf
from leastnoise.mechanisms.rank import BoundedMean, PrivateMean
from leastnoise.mechanisms.rank.lattice import IntervalLattice

UNIT = IntervalLattice(Fraction(0), Fraction(1), 10)


def test_the_sums_are_exact_and_do_not_depend_on_the_order():
    rng = np.random.default_rng(1)
    values = rng.random(10_000) * 1e9
    mechanism = BoundedMean(1, 0, 10**9, step="10/3")
    up, down = mechanism.sums(values)
    assert (up, down) == mechanism.sums(np.sort(values))
    assert up == sum(mechanism.lattice.places(values).tolist())
    assert up + down == mechanism.lattice.last * 10_000


def test_sums_beyond_64_bits_do_not_wrap():
    mechanism = BoundedMean(1, 0, 1, step=Fraction(1, 2**52))
    up, down = mechanism.sums(np.ones(5000))
    assert (up, down) == (5000 * 2**52, 0)
    assert mechanism.release(np.ones(5000)).mean > 0.9


@pytest.mark.parametrize(
    ("up", "down", "mean", "count"),
    [(30, 70, 3.0, 10.0), (0, 0, 5.0, 0.0), (-5, -5, 5.0, -1.0), (-5, 25, 0.0, 2.0), (25, -5, 10.0, 2.0)],
)
def test_a_released_pair_is_read_as_mean_and_count(up, down, mean, count):
    released = PrivateMean(up, down, UNIT)
    assert (released.mean, float(released), released.count) == (mean, mean, count)


def test_a_public_number_of_records_stays_exact():
    mechanism = BoundedMean(1, 0, 10, records=4)
    assert {mechanism.draw([1, 2, 3, 4]).count for _ in range(20)} == {4.0}


def test_one_record_changes_the_sums_by_top_in_all():
    mechanism = BoundedMean(1, 0, 10, step=1)
    up, down = mechanism.sums([3, 7])
    for value in range(11):
        more = mechanism.sums([3, 7, value])
        assert (more[0] - up) + (more[1] - down) == 10
        assert min(more[0] - up, more[1] - down) >= 0


@pytest.mark.parametrize("epsilon", ["ln(2)", "1/3"])
def test_with_a_public_number_the_error_is_that_of_laplace_noise(epsilon):
    """Far from the bounds nothing is clamped, so the promise is attained there."""
    mechanism = BoundedMean(epsilon, 0, 1, step=1, records=60)
    masses = {k: discrete_laplace_pmf(k, rate=mechanism.rate) for k in range(-30, 31)}
    mean = sum(p.lower * abs(k) for k, p in masses.items()) / 60
    promised = mechanism.error()
    assert mean <= promised.expected.upper <= mean + Fraction(1, 100)
    far = promised.quantiles[Fraction(19, 20)] * 60
    assert sum(p.upper for k, p in masses.items() if abs(k) <= far) >= Fraction(19, 20)
    assert sum(p.upper for k, p in masses.items() if abs(k) < far) < Fraction(19, 20)


@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("records", [5, 100, 3000])
def test_with_a_private_number_the_error_keeps_the_promise(share, records):
    mechanism = BoundedMean("1/2", 0, 100, step=1)
    values = np.array([100.0] * round(share * records) + [0.0] * (records - round(share * records)))
    drawn = [float(m) for m in mechanism.draw(values, size=4000, source=SeededSource(6))]
    errors = np.abs(np.array(drawn) - values.mean())
    promised = mechanism.error(records=records)
    assert errors.mean() <= float(promised.expected.upper)
    assert (errors <= float(promised.quantiles[Fraction(19, 20)])).mean() >= 0.95


def test_without_a_supposed_number_only_the_width_can_be_promised():
    assert BoundedMean(1, 10, 30).error().expected.upper == 20
    assert BoundedMean(1, 10, 30).error(records=10**6).expected.upper < Fraction(1, 1000)


def test_it_beats_sum_and_count_apart():
    """The same ε split between a Laplace sum of centred values and a Laplace count."""
    rng = np.random.default_rng(2)
    values = rng.random(1000)
    mechanism, rounds = BoundedMean(1, 0, 1), 20_000
    ours = np.array([float(m) for m in mechanism.draw(values, size=rounds, source=SeededSource(3))])
    apart = 0.5 + (np.sum(values - 0.5) + rng.laplace(0, 0.5 / 0.5, rounds)) / (1000 + rng.laplace(0, 1 / 0.5, rounds))
    assert np.abs(ours - values.mean()).mean() < 0.85 * np.abs(apart - values.mean()).mean()


def test_the_lower_bound_is_below_the_error():
    for records in (1, 10, 1000):
        mechanism = BoundedMean(1, 0, 7, records=records)
        assert mechanism.reason().lower_bound.upper <= mechanism.error().expected.upper
    assert BoundedMean(1, 0, 7).reason().lower_bound is None


def test_a_supposed_number_must_be_one():
    with pytest.raises(BadParameter, match="records"):
        BoundedMean(1, 0, 1).error(records=0)
