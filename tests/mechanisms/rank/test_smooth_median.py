"""The smooth median: S by definition, smoothness on all small databases, (ε, δ) with the exact masses."""

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, strategies as st

from leastnoise.exact import SeededSource, exp_enclosure
from leastnoise.mechanisms.rank import IntervalQuantile, SmoothMedian
from leastnoise.mechanisms.rank.smooth_median import smooth_bound


def median(database):
    return sorted(database)[-(-len(database) // 2) - 1]


def smooth_sensitivity_by_definition(database, top, decay):
    """max over all databases D' of LS(D')·decay^d(D, D'), LS the most that one exchange moves the median."""

    def local(other):
        changed = ((*other[:i], x, *other[i + 1 :]) for i in range(len(other)) for x in range(top + 1))
        return max(abs(median(other) - median(found)) for found in changed)

    everything = product(range(top + 1), repeat=len(database))
    return max(
        local(other) * decay ** sum(a != b for a, b in zip(database, other, strict=True)) for other in everything
    )


@pytest.mark.parametrize(("records", "top"), [(1, 4), (2, 3), (3, 3), (4, 2)])
@pytest.mark.parametrize("epsilon", [1, 5])
def test_s_is_the_smooth_sensitivity_by_definition(records, top, epsilon):
    mechanism = SmoothMedian(epsilon, "1/10", 0, top, records, step=1)
    for database in product(range(top + 1), repeat=records):
        by_definition = smooth_sensitivity_by_definition(database, top, 1 / mechanism.growth)
        claimed = mechanism.smooth_sensitivity(database)
        assert by_definition <= claimed <= by_definition * (1 + Fraction(1, 2**24))


def test_the_formula_of_the_thesis_misses_pairs_on_both_sides_of_the_median():
    """Only pairs with one end at the median: too small where the gaps on both sides add up."""
    below, above, decay = [5.0, 0.0], [5.0, 10.0], 0.9
    one_sided = max((above[k] - 5.0) * decay ** (k - 1) for k in (1,))
    assert smooth_bound(np.array(below), np.array(above), decay) == 10 * decay > one_sided


@given(
    st.lists(st.integers(0, 9), min_size=1, max_size=9),
    st.lists(st.integers(0, 9), min_size=1, max_size=9),
    st.sampled_from([0.1, 0.5, 0.9, 0.99, 0.9999]),
)
def test_halving_the_rows_finds_the_best_pair(down, up, decay):
    below, above = 100.0 - np.cumsum([0, *down]), 100.0 + np.cumsum([0, *up])
    brute = max(
        (above[j] - below[i]) * decay ** (i + j - 1) for i in range(len(below)) for j in range(len(above)) if i + j
    )
    assert smooth_bound(below, above, decay) == pytest.approx(brute, rel=1e-13)


def test_pairs_outside_the_window_never_count_for_more_than_what_is_added():
    """Two thousand records, of which a few hundred are looked at: S is still an upper bound, and hardly more."""
    rng = np.random.default_rng(8)
    values = np.sort(rng.integers(0, 10**6, 2001))
    mechanism = SmoothMedian(3, "1/100", 0, 10**6, 2001, step=1)
    decay = float(1 / mechanism.growth)
    padded = np.concatenate([[0], values, [10**6]]).astype(float)
    middle = 1001
    gaps = padded[middle:][np.newaxis, :] - padded[: middle + 1][::-1][:, np.newaxis]
    powers = np.arange(gaps.shape[0])[:, np.newaxis] + np.arange(gaps.shape[1]) - 1.0
    brute = (gaps * decay**powers)[powers >= 0].max()
    assert float(mechanism.smooth_sensitivity(values)) == pytest.approx(brute, rel=1e-6)
    assert float(mechanism.smooth_sensitivity(values)) >= brute * (1 - 1e-12)


@pytest.mark.parametrize(("epsilon", "delta"), [(1, "1/10"), (2, "1/100"), ("ln(3)", "1/3"), ("1/2", "1/20")])
def test_neighbours_are_as_close_as_promised_with_room_to_spare(epsilon, delta):
    """Σ max(0, p − e^ε·p') over all outputs of all pairs of neighbours, without the bounds that hide the tails."""
    top, records = 6, 3
    mechanism = SmoothMedian(epsilon, delta, 0, top, records, step=1)
    factor = float(exp_enclosure(mechanism.epsilon))
    outputs = np.arange(-400, 401 + top)
    laws = {}
    for database in product(range(top + 1), repeat=records):
        rate = float(mechanism.epsilon) / (2 * float(mechanism.smooth_sensitivity(database)))
        laws[database] = math.tanh(rate / 2) * np.exp(-rate * np.abs(outputs - median(database)))
    worst = 0.0
    for database in laws:
        for i, x in product(range(records), range(top + 1)):
            other = laws[(*database[:i], x, *database[i + 1 :])]
            worst = max(worst, np.maximum(laws[database] - factor * other, 0).sum())
    assert 0 < worst <= float(mechanism.delta)


def test_the_constants_of_the_thesis_are_too_weak():
    """Noise S/ε and decay ε/(2 ln(1/δ)): for a claimed 10^-6 the true δ is above 10^-2."""
    epsilon, delta = 1.0, 1e-6
    decay = epsilon / (2 * math.log(1 / delta))
    z = np.linspace(-200, 200, 800_001)
    one = np.exp(-np.abs(z)) / 2
    scale = math.exp(-decay)
    other = np.exp(-np.abs(z - 1) / scale) / (2 * scale)
    excess = np.maximum(one - math.exp(epsilon) * other, 0).sum() * (z[1] - z[0])
    assert excess > 1e-2


def test_the_noise_follows_the_data():
    near, far = [49, 50, 50, 50, 51], [0, 10, 50, 90, 100]
    mechanism = SmoothMedian(2, "1e-3", 0, 100, 5, step=1)
    errors = [np.abs(mechanism.draw(x, size=2000, source=SeededSource(1)) - 50).mean() for x in (near, far)]
    assert errors[0] < errors[1]


def test_the_error_is_never_above_what_is_promised():
    mechanism = SmoothMedian(2, "1/10", 0, 4, 3, step=1)
    promised = mechanism.error()
    for database in product(range(5), repeat=3):
        law = [mechanism.pmf(y, database) for y in range(5)]
        mean = sum(p.lower * abs(y - median(database)) for y, p in enumerate(law))
        assert mean <= promised.expected.upper
        far = promised.quantiles[Fraction(19, 20)]
        assert sum(p.upper for y, p in enumerate(law) if abs(y - median(database)) <= far) >= Fraction(19, 20)


def test_inverse_sensitivity_is_closer_on_ordinary_data():
    values = np.random.default_rng(0).lognormal(10, 1, 100_001)
    truth = np.median(values)
    smooth = SmoothMedian(1, 1e-6, 0, 10**6, len(values)).draw(values, size=1000, source=SeededSource(3))
    inverse = IntervalQuantile(1, 0, 10**6, records=len(values)).draw(values, size=1000, source=SeededSource(4))
    assert 3 * np.abs(inverse - truth).mean() < np.abs(smooth - truth).mean()
