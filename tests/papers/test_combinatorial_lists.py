"""Numbers and statements of the literature about sorted counts and vertex covers, recomputed; and those that are wrong.

AS17: Aldà and Simon, "On the optimality of the exponential mechanism" (CSCML 2017), section 6. BDB16: Blocki, Datta and
Bonneau, "Differentially private password frequency lists" (NDSS 2016). T13: Tóthmérész, "Differential privacy and the
exponential mechanism" (2013), section 3.2. Gupta et al.: SODA 2010.
"""

from fractions import Fraction
from itertools import combinations, permutations
from math import log

import pytest

from leastnoise.mechanisms.combinatorial.sorted_counts import IsotonicCounts, SortedCounts, zipf_counts
from leastnoise.mechanisms.combinatorial.sorted_counts.diagram import distance, read_counts
from leastnoise.mechanisms.combinatorial.sorted_counts.sorted_counts import tight_decay
from leastnoise.mechanisms.combinatorial.vertex_cover import VertexCoverOrder, decode
from leastnoise.mechanisms.combinatorial.vertex_cover.cover_order import privacy_above, textbook_noise


@pytest.mark.parametrize(("epsilon", "rate"), [(1, 0.5685), (2, 1.724), (4, 3.963)])
def test_rates_of_the_tight_calibration(epsilon, rate):
    """The general theorem (BDB16 use it) gives epsilon/2."""
    assert -log(tight_decay(Fraction(epsilon))) == pytest.approx(rate, abs=5e-4)


@pytest.mark.slow
def test_errors_on_a_list_like_rockyou():
    """BDB16 report ℓ₁/N from 8.8e-7 at ε = 8 to 1.9e-3 at ε = 0.002 on RockYou, N = 32.6 million; a list of Zipf's kind
    with as many users lies in that range, and geometric noise with isotonic regression behind it at ε = 1."""
    total = 32_600_000
    counts = zipf_counts(total, exponent="4/5", distinct=15_000_000)
    error = {epsilon: float(SortedCounts(epsilon, total).error_at(counts)) for epsilon in (8, 1, Fraction(1, 4))}
    assert error[8] / total < 8.8e-7 < error[1] / total < 1e-4
    assert 1900 < error[1] < 2600
    assert 2.5 < error[Fraction(1, 4)] / error[1] < 4
    other = IsotonicCounts(1, total, 15_000_000).draw(counts)
    assert distance(read_counts(counts), read_counts(other)) > 1.2 * error[1]


def test_as17_theorem_3_case_2_grows_like_the_root():
    """Ω(√(N/ε)): four times the records or a quarter of ε double the bound."""
    bounds = [
        float(SortedCounts(e, n).reason().lower_bound) for e, n in ((0.04, 10**6), (0.04, 4 * 10**6), (0.01, 10**6))
    ]
    assert bounds[1] / bounds[0] == pytest.approx(2, rel=0.05)
    assert bounds[2] / bounds[0] == pytest.approx(2, rel=0.05)


@pytest.mark.parametrize("epsilon", [Fraction(1, 10), Fraction(1), Fraction(4)])
@pytest.mark.parametrize("nodes", [2, 50, 10**6])
def test_t13_proposition_3_6_holds_with_room(nodes, epsilon):
    """The noise 4√n/ε of Gupta et al. is private, and the least that is is smaller."""
    assert privacy_above(nodes, textbook_noise(nodes, epsilon)) <= epsilon


def test_t13_proposition_3_7_needs_the_other_direction():
    """Printed is Pr(v ∈ X) ≤ (m + |X|w)/(2m + nw); on a triangle with X of two nodes it is strictly more."""
    edges, cover, weight = [(0, 1), (0, 2), (1, 2)], {0, 1}, Fraction(1)
    degree = [sum(v in edge for edge in edges) for v in range(3)]
    chance = sum(degree[v] + weight for v in cover) / sum(d + weight for d in degree)
    assert chance > (len(edges) + len(cover) * weight) / (2 * len(edges) + 3 * weight)


def test_t13_proposition_3_7_on_all_graphs_of_five_nodes_with_four_edges():
    """2 + 16/ε is far above what happens."""
    mechanism, orders = VertexCoverOrder(2, 5), list(permutations(range(5)))
    for edges in [((0, 1), (0, 2), (0, 3), (0, 4)), ((0, 1), (1, 2), (2, 3), (3, 4)), ((0, 1), (1, 2), (2, 0), (3, 4))]:
        smallest = min(
            size for size in range(6) for s in combinations(range(5), size) if all(set(s) & set(e) for e in edges)
        )
        mean = sum(float(mechanism.pmf(order, edges)) * len(decode(order, edges)) for order in orders)
        assert mean <= (2 + 16 / 2) * smallest
        assert mean <= mechanism.error().expected.upper * smallest
