"""Large samples against the exact cdf, at one significance level, and the proof that a slightly wrong law is caught."""

import numpy as np
import pytest

from leastnoise import exact
from support.statistics import fits

SIZE = 400_000
EACH = 40_000  # one exact parameter per element
POWER = 10_000_000  # what it takes to tell laws apart that differ by one per cent


@pytest.mark.slow
@pytest.mark.parametrize("rate", ["1e-9", "1/1000", "1/200", "1/10", "ln(2)", 1, 3, 100])
@pytest.mark.parametrize("each", [False, True])
def test_discrete_laplace(rate, each):
    size = EACH if each else SIZE
    drawn = exact.discrete_laplace(rate=[rate] * size) if each else exact.discrete_laplace(rate=rate, size=size)
    assert_fits(drawn, lambda x: exact.discrete_laplace_cdf(x, rate=rate), float(exact.read_exact(rate, "rate")))


@pytest.mark.slow
@pytest.mark.parametrize("rate", ["1e-9", "1/300", "1/7", 1, 100])
@pytest.mark.parametrize("each", [False, True])
def test_geometric(rate, each):
    drawn = exact.geometric([rate] * EACH) if each else exact.geometric(rate, size=SIZE)
    assert_fits(drawn, lambda x: exact.geometric_cdf(x, rate), float(exact.read_exact(rate, "rate")))


def assert_fits(drawn, cdf, rate):
    """Wide laws are compared on a coarser lattice, which keeps every digit that was drawn."""
    if rate == 100:  # e^-100: whatever is not zero would be a mistake
        assert not drawn.any()
        return
    step = max(int(0.02 / rate), 1)
    reach = int(6 / rate / step) + 1
    assert fits(np.floor_divide(drawn, step), lambda x: cdf((x + 1) * step - 1), -reach, reach)
    # The last digit on its own: remainders modulo 8 are nearly uniform for wide laws.
    if step > 1000:
        assert fits(np.mod(drawn, 8), lambda x: min(max((x + 1) / 8, 0), 1), 0, 7)


@pytest.mark.slow
@pytest.mark.parametrize("variance", ["1/10", 1, "7/2", 100, 10**4])
def test_discrete_gaussian_from_a_table(variance):
    drawn = exact.discrete_gaussian(variance, size=SIZE)
    reach = int(5 * float(exact.read_rational(variance, "v")) ** 0.5) + 1
    assert fits(drawn, lambda x: exact.discrete_gaussian_cdf(x, variance), -reach, reach)


@pytest.mark.slow
@pytest.mark.parametrize("variance", [2, 10**4])
def test_discrete_gaussian_by_rejection_is_the_same_law(variance):
    """An array of variances always goes the other way; both must follow the one cdf."""
    drawn = exact.discrete_gaussian([variance] * EACH)
    reach = int(5 * variance**0.5)
    assert fits(drawn, lambda x: exact.discrete_gaussian_cdf(x, variance), -reach, reach)


def test_wide_discrete_gaussian_by_rejection():
    """Beyond the table, against the normal law: at sigma = 10^6 the two differ by less than 10^-6 in any interval."""
    from scipy.stats import norm

    drawn = exact.discrete_gaussian(10**12, size=SIZE // 2)
    step = 50_000
    assert fits(np.floor_divide(drawn, step), lambda x: norm.cdf(((x + 1) * step - 0.5) / 1e6), -100, 100)


def test_negative_binomial():
    assert fits(
        exact.negative_binomial(4, "1/3", size=SIZE // 2), lambda x: exact.negative_binomial_cdf(x, 4, "1/3"), 0, 40
    )


@pytest.mark.parametrize("bound", [1, 6, 1000, 2**16 + 1])
def test_uniform_integer(bound):
    drawn = exact.uniform_integer(bound, size=SIZE)
    assert drawn.min() >= 0
    assert drawn.max() < bound
    if bound > 1:
        cells = min(bound, 50)
        assert fits(
            drawn * cells // bound,
            lambda x: exact.uniform_integer_cdf(-(-(x + 1) * bound // cells) - 1, bound),
            0,
            cells,
        )


@pytest.mark.slow
@pytest.mark.parametrize("p", ["1/3", 0.01, "1e-3", 0.9])
def test_bernoulli(p):
    chance = float(exact.read_exact(p, "p"))
    for heads in (exact.bernoulli(p, SIZE), exact.bernoulli([p] * EACH)):
        assert fits(heads.astype(int), lambda x: 1 - chance if x == 0 else 1.0, 0, 1)


@pytest.mark.slow
@pytest.mark.parametrize("x", ["1/100", "ln(2)", 3, 7])
def test_bernoulli_exp(x):
    chance = float(exact.bernoulli_exp_pmf(True, x))
    for heads in (exact.bernoulli_exp(x, SIZE), exact.bernoulli_exp([x] * EACH)):
        assert fits(heads.astype(int), lambda k: 1 - chance if k == 0 else 1.0, 0, 1)


def test_categorical_exp_with_many_candidates():
    exponents = np.arange(3000) % 50 / 10.0
    drawn = exact.categorical_exp(exponents, size=SIZE // 2, rate="1/2")
    weights = np.exp(exponents / 2)
    shares = np.cumsum(weights) / weights.sum()
    assert fits(drawn // 50, lambda x: shares[x * 50 + 49], 0, 58)
    by_score = np.bincount(np.arange(3000) % 50, weights).cumsum() / weights.sum()
    assert fits(drawn % 50, lambda x: by_score[x], 0, 48)


@pytest.mark.slow
def test_categorical_exp_through_levels():
    """A long array with few values is drawn in two steps; the law must be the same."""
    exponents = np.arange(5000) * 7 % 10
    drawn = np.array([exact.categorical_exp(exponents, rate="1/3") for _ in range(4000)])
    weights = np.exp(np.arange(10) / 3)
    assert fits(exponents[drawn], lambda x: weights[: x + 1].sum() / weights.sum(), 0, 8)
    within = np.searchsorted(np.flatnonzero(exponents == 9), drawn[exponents[drawn] == 9])
    assert fits(within // 50, lambda x: (x + 1) / 10, 0, 8)


def test_permutations():
    orders = exact.permutation(4, size=SIZE // 10)
    code = orders @ np.array([64, 16, 4, 1])
    faces = np.unique(code)
    assert len(faces) == 24
    assert fits(np.searchsorted(faces, code), lambda x: (x + 1) / 24, 0, 22)


def test_truncated_geometric():
    drawn = exact.truncated_geometric(3, 0, 10, scale=4, size=SIZE)
    assert fits(drawn, lambda x: exact.truncated_geometric_cdf(x, 3, 0, 10, scale=4), 0, 9)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("drawn", "wrong"),
    [
        ("laplace", lambda x: exact.discrete_laplace_cdf(x, rate="1.01")),
        ("laplace", lambda x: exact.discrete_laplace_cdf(x - 1, rate=1)),
        ("gaussian", lambda x: exact.discrete_gaussian_cdf(x, "101/100")),
        ("coin", lambda x: [0.664, 1.0][x]),
    ],
)
def test_the_test_of_fit_rejects_a_law_that_is_slightly_wrong(drawn, wrong):
    samples, reach = {
        "laplace": (lambda: exact.discrete_laplace(rate=1, size=POWER), (-8, 8)),
        "gaussian": (lambda: exact.discrete_gaussian(1, size=POWER), (-4, 4)),
        "coin": (lambda: exact.bernoulli("1/3", size=POWER).astype(int), (0, 1)),
    }[drawn]
    assert not fits(samples(), wrong, *reach)
