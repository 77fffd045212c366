"""Aldà and Simon's bounds on paths, against the optimum and against the exponential mechanism itself."""

from fractions import Fraction

import numpy as np
import pytest

from leastnoise.designer.bounds import (
    exponential_share,
    exponential_upper_bound,
    layered_path,
    long_path_bound,
    path_bound,
    path_optimum,
    worst_path_bound,
)
from leastnoise.errors import BadParameter
from support.optimum import least_loss


def exponential_loss(nodes, rate):
    """The expected distance of p(y|x) ∝ e^(−rate·|x − y|) under the uniform prior."""
    distances = np.abs(np.subtract.outer(np.arange(nodes), np.arange(nodes)))
    weights = np.exp(-rate * distances)
    return float((weights / weights.sum(axis=1, keepdims=True) * distances).sum() / nodes)


@pytest.mark.parametrize("factor", [Fraction(6, 5), Fraction(2), Fraction(5)])
@pytest.mark.parametrize("nodes", [2, 3, 4])
def test_the_optimum_and_the_worst_case_against_linear_programs(factor, nodes):
    loss = [[abs(w - x) for x in range(nodes)] for w in range(nodes)]
    edges = [(x, x + 1) for x in range(nodes - 1)]
    prior = [Fraction(1, nodes)] * nodes
    assert path_optimum(nodes, f"ln({factor})").lower == least_loss(loss, edges, factor, prior)
    assert worst_path_bound(nodes, f"ln({factor})").lower <= least_loss(loss, edges, factor)


@pytest.mark.parametrize("gamma", [Fraction(1, 2), Fraction(7, 10), Fraction(9, 10)])
@pytest.mark.parametrize("reach", [1, 2, 10, 60])
def test_lemma_6(gamma, reach):
    epsilon = f"ln({1 / gamma})"
    sums = [sum(gamma**d * d**k for d in range(1, reach + 1)) for k in (0, 1)]
    value = layered_path(reach, epsilon)
    assert value.lower == value.upper == 2 * sums[1] / (1 + 2 * sums[0])
    limit = 2 * gamma / (1 - gamma**2)
    assert limit * (1 - gamma**reach - reach * gamma**reach * (1 - gamma)) < value.lower < limit  # (12)
    s = (1 - gamma) * reach
    assert float(value) > float(limit) * (1 - float(s + 1) * np.exp(-float(s)))  # (13)
    assert value.lower < layered_path(reach + 1, epsilon).lower


@pytest.mark.parametrize(("nodes", "epsilon"), [(40, 2), (200, 1), (2000, 0.5), (10**5, 0.1), (10**6, 0.01)])
def test_theorem_2_is_below_the_optimum_and_not_far_on_long_paths(nodes, epsilon):
    bound, optimum = path_bound(nodes, epsilon), path_optimum(nodes, epsilon)
    assert bound.upper < optimum.lower
    assert path_bound(nodes, epsilon, slack=2).upper <= bound.upper
    if nodes >= 10**5:
        assert bound.lower > Fraction(3, 5) * optimum.upper


@pytest.mark.parametrize(("gamma", "s"), [(Fraction(1, 2), 2), (Fraction(7, 10), 2), (Fraction(1, 2), 5)])
def test_corollary_3_as_corrected(gamma, s):
    """As printed, K ≥ s²ℓ(1 + γ)/γ lets the first term of Theorem 2 be the smaller one at γ = 0.7, s = 2."""
    reach = -(-s // (1 - gamma))
    least = int(4 * s * s * reach)
    bound = long_path_bound(least, f"ln({1 / gamma})", s)
    assert bound.upper <= path_optimum(least, f"ln({1 / gamma})").lower
    assert float(bound) == pytest.approx(
        float(2 * gamma / (1 - gamma**2)) * (1 - 1 / s) * (1 - (s + 1) * np.exp(-s)), rel=1e-12
    )
    with pytest.raises(BadParameter, match=str(least)):
        long_path_bound(least - 1, f"ln({1 / gamma})", s)


def test_the_condition_of_corollary_3_as_printed_is_too_weak():
    gamma, s = 0.7, 2
    reach = int(np.ceil(s / (1 - gamma)))
    nodes = int(np.ceil(s * s * reach * (1 + gamma) / gamma))
    first = 1 - 4 * s * reach / nodes
    second = 2 * gamma / (1 + gamma) * (1 - 1 / s) * (1 - (s + 1) * np.exp(-s))
    assert first < second


@pytest.mark.parametrize("epsilon", [0.1, 0.5, 1.0, 2.0])
@pytest.mark.parametrize("nodes", [2, 5, 50, 400])
def test_lemma_7_and_corollary_4(epsilon, nodes):
    assert exponential_loss(nodes, epsilon) < float(exponential_upper_bound(epsilon).upper)
    s = 2
    if nodes >= 4 * s * s * np.ceil(s / (1 - np.exp(-epsilon))):
        share = exponential_share(nodes, epsilon, s)
        ratio = float(path_optimum(nodes, epsilon)) / exponential_loss(nodes, epsilon / 2)
        assert float(share) <= ratio
        gamma = np.exp(-epsilon)
        slack = (1 - 1 / s) * (1 - (s + 1) * np.exp(-s))
        assert float(share) == pytest.approx(np.sqrt(gamma) / (1 + gamma) * slack, rel=1e-12)


def test_corollary_4_is_reached_by_some_of_these_cases():
    assert 4 * 4 * np.ceil(2 / (1 - np.exp(-0.5))) <= 400


def test_bounds_say_what_they_are():
    bound = path_bound(200, 1)
    assert "path of 200 nodes" in bound.statement
    assert "Theorem 2" in bound.citation
    assert str(bound).startswith(f"≈ {float(bound):.12g}: no ε-private mechanism")


@pytest.mark.parametrize("arguments", [(5, 1), (200, 1, 100), (200, 1, 0.5), (1, 1), (200, 0), (200, -1)])
def test_what_the_theorem_does_not_cover_is_refused(arguments):
    with pytest.raises(BadParameter):
        path_bound(*arguments)
