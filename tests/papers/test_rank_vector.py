"""Numbers and statements of the literature about medians and K-norm mechanisms, recomputed; and those that are wrong.

T13: Tóthmérész, "Differential Privacy" (M.Sc. thesis, 2013). HT10: Hardt and Talwar (STOC 2010). NRS07:
Nissim, Raskhodnikova and Smith (STOC 2007).
"""

from fractions import Fraction
from itertools import combinations_with_replacement, product
from math import comb, e, exp, log

import numpy as np
import pytest

from leastnoise.exact import ln
from leastnoise.mechanisms.rank import SmoothMedian, least_worst_error
from leastnoise.mechanisms.rank.rank_law import RankLaw, RankRule
from leastnoise.mechanisms.vector import (
    CountingBody,
    CrossPolytope,
    Cube,
    KNorm,
    Polytope,
    for_linear_map,
    packing_bound,
)
from leastnoise.mechanisms.vector.hulls import boundary


def continuous_prefix_sums(d):
    """E‖F·Laplace(1)‖₁: the mean of |sum of k Laplace numbers| is 2k·C(2k, k)/4^k."""
    return sum(Fraction(2 * k * comb(2 * k, k), 4**k) for k in range(1, d + 1))


@pytest.mark.parametrize(
    ("d", "k_norm", "laplace"), [(2, 2.5, 4), (5, 9.023, 25), (10, 24.668, 100), (20, 68.536, 400)]
)
def test_k_norm_against_laplace_for_prefix_sums(d, k_norm, laplace):
    """ε times the error of the lattice mechanism tends to that of the continuous one as ε falls."""
    assert float(continuous_prefix_sums(d)) == pytest.approx(k_norm, abs=5e-4)
    epsilon, matrix = Fraction(1, 50), np.tril(np.ones((d, d), dtype=int))
    ours = KNorm(epsilon, CrossPolytope(d), 1, matrix.tolist())
    plain = KNorm(epsilon, CrossPolytope(d), d)
    assert float(epsilon * ours.error().expected.upper) == pytest.approx(float(continuous_prefix_sums(d)), rel=2e-4)
    assert float(epsilon * plain.error().expected.upper) == pytest.approx(laplace, rel=2e-4)
    assert float(ours.error().expected) / float(plain.error().expected) == pytest.approx(k_norm / laplace, rel=0.01)


def test_ten_counting_queries_cost_forty_where_laplace_costs_a_hundred():
    epsilon = Fraction(1, 100)
    assert float(epsilon * KNorm(epsilon, CountingBody(10)).error().expected.upper) == pytest.approx(40, rel=1e-3)
    assert float(epsilon * KNorm(epsilon, CrossPolytope(10), 10).error().expected.upper) == pytest.approx(100, rel=1e-3)


@pytest.mark.parametrize("body", [Cube(3), CountingBody(4), Polytope(((1, 0), (0, 1), (1, 1), (1, 2)))])
def test_the_error_is_d_plus_one_over_epsilon_times_the_mean_over_k(body):
    """T13 Proposition 2.8 and HT10: E‖noise‖₁ = (d+1)/ε·E_K‖z‖₁, here with the mean over K by brute force."""
    epsilon, d = Fraction(1, 100), body.dimension
    points = np.random.default_rng(1).uniform(-1, 1, (400_000, d)) * body.largest_sum
    inside = points[body.steps(np.rint(points * 10**6).astype(np.int64)) <= 10**6]
    mean = np.abs(inside).sum(axis=1).mean()
    assert float(epsilon * body.mean_absolute(epsilon).upper) == pytest.approx((d + 1) * mean, rel=0.02)


def test_the_k_norm_is_never_below_the_scaled_l1_norm():
    """T13 section 2.4 has ‖z‖_K ≤ ‖z‖₁/‖F‖; it is the other way round: z = Σc_i·g_i gives ‖z‖₁ ≤ ‖F‖·Σ|c_i|."""
    columns = ((1, 0), (1, 1), (1, 2))
    body, norm = Polytope(columns), max(sum(map(abs, c)) for c in columns)
    points = np.array(list(product(range(-6, 7), repeat=2)))
    sums = np.abs(points).sum(axis=1)
    assert (norm * body.steps(points) >= sums).all()
    assert (norm * (body.steps(points) - 1) > sums).any()


@pytest.mark.parametrize("d", [2, 3, 4, 5])
def test_the_volume_of_counting_queries(d):
    columns = [c for c in product((0, 1), repeat=d) if any(c)]
    assert boundary(columns).volume == d + 1


@pytest.mark.parametrize("d", [2, 5, 10, 20])
def test_the_packing_bound_has_a_constant(d):
    """T13 Theorem 4.1 says Ω(d·√d·Vol(K)^(1/d)/ε); the bound itself for d counts, in ℓ₂, and the error above it."""
    bound = float(packing_bound(d, Fraction(d + 1), Fraction(1)))
    order = d * d**0.5 * (d + 1) ** (1 / d)
    assert 0.08 < bound / order < 0.25
    assert float(packing_bound(d, Fraction(d + 1), Fraction(1), "l1")) < float(
        KNorm(1, CountingBody(d)).error().expected
    )


def test_ranges_are_noise_on_the_cells():
    """All ranges on n cells have rank n: the lattice mechanism is Laplace noise on the cells, whatever their number."""
    for cells, continuous in [(3, 8.4), (6, None)]:
        ranges = [[int(a <= c <= b) for c in range(cells)] for a in range(cells) for b in range(a, cells)]
        best = for_linear_map(ranges, "1/50").best
        assert best.body == CrossPolytope(cells)
        if continuous:
            lengths = [b - a + 1 for a in range(cells) for b in range(a, cells)]
            formula = sum(2 * k * comb(2 * k, k) / 4**k for k in lengths)
            assert float(best.error().expected) / 50 == pytest.approx(formula, rel=1e-3)


def test_the_error_bound_of_the_thesis_for_the_k_norm_median_is_false():
    """T13 after Proposition 3.4: expected error at most η + e^(−εt)·K/2. All records equal: η = 0 and t = 5 here."""
    width, records = 10**6, 9
    law = RankLaw(RankRule(Fraction(1, 2), exchange=True), Fraction(1), width)
    places = np.full(records, width // 2)
    at_the_median = float(law.pmf(width // 2, places))
    mean_elsewhere = width / 4
    assert (1 - at_the_median) * mean_elsewhere > 50 * exp(-5) * width / 2


def test_the_median_of_an_odd_number_is_the_middle_one():
    """T13 section 3.1 writes x_m for the median of 2m + 1 numbers; it is x_{m+1}."""
    law = RankLaw(RankRule(Fraction(1, 2), exchange=True), ln(2), 10)
    places = np.array([1, 4, 9])
    masses = [law.pmf(r, places).lower for r in range(11)]
    assert masses.index(max(masses)) == 4


def test_the_sensitivity_of_a_bounded_median_is_half_the_width_or_the_width():
    """T13 section 3.1 has (a + b)/2, which is zero on [−1, 1]: half the width for one record more or less is right."""

    def median(values):
        ordered, n = sorted(values), len(values)
        return Fraction(ordered[(n - 1) // 2] + ordered[n // 2], 2)

    points = (-1, 0, 1)
    added = max(
        abs(median(d) - median((*d, x)))
        for size in range(1, 5)
        for d in combinations_with_replacement(points, size)
        for x in points
    )
    assert added == 1
    changed = max(
        abs(median(d) - median((*d[:i], x, *d[i + 1 :])))
        for size in (1, 3)
        for d in combinations_with_replacement(points, size)
        for i in range(size)
        for x in points
    )
    assert changed == 2


def test_the_lower_bound_for_a_bounded_median():
    """T13 Proposition 3.4: (b − a)/8 for ε < 1/2. The constant is e^-ε/2 with one record more or less."""
    for epsilon in (Fraction(1, 100), Fraction(1, 4), Fraction(1, 2)):
        exact = least_worst_error(Fraction(1), epsilon, 2)
        assert float(exact) == pytest.approx(exp(-float(epsilon)) / 2)
        assert exact.lower > Fraction(1, 8)
    assert float(least_worst_error(Fraction(1), Fraction(1), 1)) == pytest.approx(1 / (1 + e))


def test_the_decay_of_the_smooth_median_is_that_of_nissim_raskhodnikova_and_smith_to_first_order():
    mechanism = SmoothMedian(1, 1e-6, 0, 1, 3)
    theirs = 1 / (2 * log(2 / 1e-6))
    assert log(float(mechanism.growth)) == pytest.approx(theirs, rel=0.02)
    assert log(float(mechanism.growth)) < theirs
