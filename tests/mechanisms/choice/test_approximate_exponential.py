"""The approximate exponential mechanism: its true privacy by brute force, its law, and how poor it is."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, strategies as st

from leastnoise.checker import check
from leastnoise.exact import ln
from leastnoise.mechanisms.choice import ApproximateExponential, Exponential
from leastnoise.model.events import BoundedRange
from support.statistics import fits


def weights_ratio(a, x, y, place):
    """P(place | x) / P(place | y) of the law ∝ 1 + a·q."""
    shares = [(1 + a * q[place]) / sum(1 + a * score for score in q) for q in (x, y)]
    return shares[0] / shares[1]


@pytest.mark.parametrize("a", [Fraction(1, 5), Fraction(1), Fraction(7)])
def test_privacy_is_twice_the_logarithm_whatever_the_factor(a):
    """All pairs of scores 0..3 of three candidates that differ by one at most: never above (1 + a)², for any a."""
    lists = list(product(range(4), repeat=3))
    pairs = [(x, y) for x in lists for y in lists if max(abs(p - q) for p, q in zip(x, y, strict=True)) <= 1]
    assert max(weights_ratio(a, x, y, 0) for x, y in pairs) <= (1 + a) ** 2
    up = [(x, y) for x, y in pairs if all(p <= q for p, q in zip(x, y, strict=True))]
    assert max(max(weights_ratio(a, x, y, 0), weights_ratio(a, y, x, 0)) for x, y in up) <= 1 + a


@pytest.mark.parametrize("monotone", [False, True])
def test_that_privacy_is_attained_in_the_limit_of_many_candidates(monotone):
    limit, last = (1 if monotone else 2), Fraction(0)
    for count in (2, 10, 1000, 10**5):
        others = count - 1
        # With a = Δ = 1 one candidate goes from 1 to 0; the others from 0 to 1, or keep 1 if all must go one way.
        before = Fraction(2) / (2 + (2 if monotone else 1) * others)
        after = Fraction(1) / (1 + 2 * others)
        ratio = before / after
        assert last < ratio < 2**limit
        last = ratio
    assert last > 2**limit * (1 - Fraction(1, 10**4))


def test_epsilon_sets_the_factor_on_the_private_side():
    assert ApproximateExponential("2*ln(3)", 2, "1/2", largest_score=1).factor == 4
    assert ApproximateExponential("ln(3)", 2, "1/2", largest_score=1, monotone=True).factor == 4
    irrational = ApproximateExponential(1, 2, largest_score=1)
    assert 2 * ln(1 + irrational.factor) < 1 < 2 * ln(1 + irrational.factor + Fraction(1, 10**30))
    assert irrational.event == BoundedRange(1)


@pytest.mark.slow
@given(st.lists(st.fractions(-2, 12, max_denominator=5), min_size=1, max_size=6))
def test_the_law_is_linear_in_the_clamped_scores(answer):
    mechanism = ApproximateExponential("2*ln(2)", len(answer), largest_score=10)
    clamped = [min(max(score, Fraction(0)), Fraction(10)) for score in answer]
    weights = [1 + score for score in clamped]
    masses = [mechanism.pmf(place, answer).lower for place in range(len(answer))]
    assert masses == [weight / sum(weights) for weight in weights]
    mean = sum((p * score for p, score in zip(masses, clamped, strict=True)), Fraction(0))
    assert mechanism.expected_score(answer).lower == mean
    assert mechanism.error_at(answer).lower == max(clamped) - mean
    assert mechanism.error_at(answer).lower <= mechanism.error().expected.upper
    beyond = [p for p, score in zip(masses, clamped, strict=True) if max(clamped) - score > mechanism.quantile()]
    assert sum(beyond) <= Fraction(1, 20)


@pytest.mark.parametrize(("count", "largest"), [(2, 10), (9, 100), (100, 1000), (10**4, 5), (10**6, "1/10")])
def test_the_estimate_is_attained(count, largest):
    """At v = V/(√n + 1), or where the others have no score at all."""
    mechanism = ApproximateExponential("2*ln(2)", count, largest_score=largest)
    worst, top, others = mechanism.error().expected, mechanism.largest_score, count - 1
    seen = max(
        others * (top - q) * (1 + q) / (1 + top + others * (1 + q)) for q in (top * step / 1000 for step in range(1000))
    )
    assert float(worst) * (1 - 1e-5) < float(seen) <= float(worst) * (1 + 1e-12)


def test_the_error_grows_with_the_scores_where_the_exponential_mechanisms_does_not():
    errors = [float(ApproximateExponential(1, 100, largest_score=top).error().expected) for top in (10**3, 10**6)]
    assert errors[0] > 800  # of a thousand
    assert errors[1] > 800_000
    assert float(Exponential(1, 100).error().expected) < 6
    answer = [1000, *[500] * 99]
    assert float(ApproximateExponential(1, 100, largest_score=1000).error_at(answer)) > 480
    assert float(Exponential(1, 100).error_at(answer)) < 1e-100


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", ["2*ln(3)", "2*ln(5/4)", 3])
def test_rejection_follows_the_law_whatever_the_factor(epsilon):
    """A height without the factor a, as the thesis prints it, draws another law unless a = 1."""
    mechanism = ApproximateExponential(epsilon, 3, largest_score=10)
    scores = [0, Fraction(5, 2), 9]
    sums = np.cumsum([float(mechanism.pmf(place, scores)) for place in range(3)])
    assert fits(mechanism.draw(scores, size=20_000), sums.__getitem__, 0, 1)


def test_rejection_finds_one_that_stands_out():
    scores = np.array([0, 0, 10**4])
    picked = ApproximateExponential("2*ln(2)", 3, largest_score=10**4).draw(scores, size=400)
    assert (picked == 2).sum() > 390


def test_a_million_candidates():
    scores = np.arange(10**6) % 1000
    drawn = ApproximateExponential("2*ln(2)", 10**6, largest_score=1000).draw(scores, size=2000)
    quarters = np.cumsum([sum(1 + q for q in range(250 * i, 250 * (i + 1))) for i in range(4)]) / 500_500
    assert fits(scores[drawn] // 250, quarters.__getitem__, 0, 2)


def test_its_certificate_is_accepted():
    assert check(ApproximateExponential("2*ln(2)", 4, "1/2", largest_score=10).certificate())
    assert check(ApproximateExponential(1, 3, largest_score=10, monotone=True).certificate())
