"""Numbers about private cuts and medians in Tóthmérész 2013 (after Gupta et al., SODA 2010), recomputed."""

from itertools import combinations
from math import log

import numpy as np
import pytest

from leastnoise.mechanisms.combinatorial.k_median import KMedian
from leastnoise.mechanisms.combinatorial.min_cut import RaisedCut, plan_min_cut

PAIRS = list(combinations(range(6), 2))
CROSSES = np.array(
    [[(cut << 1 >> a & 1) != (cut << 1 >> b & 1) for a, b in PAIRS] for cut in range(1, 32)], dtype=float
)


def algorithm_2(graph, ladder, epsilon):
    """P(cut) of Algorithm 2 as printed, for a graph on six nodes and an order in which pairs become edges."""
    present = np.array([[pair in graph or pair in ladder[:rung] for pair in PAIRS] for rung in range(16)], dtype=float)
    weights = present @ CROSSES.T
    least = weights.min(axis=1)
    rungs = np.exp(-epsilon * np.abs(least - 8 * log(6) / epsilon))
    cuts = np.exp(-epsilon * (weights - least[:, np.newaxis]))
    return rungs / rungs.sum() @ (cuts / cuts.sum(axis=1, keepdims=True))


def test_algorithm_2_is_not_two_epsilon_private():
    """Gupta et al. claim 2ε; the thesis proves 4ε (Proposition 2.1); 3ε holds, and here more than 2.4ε is lost."""
    graph = {(0, 1), (0, 3), (0, 4), (1, 3), (1, 5), (2, 3), (3, 5), (4, 5)}
    ladder = [
        *[(1, 4), (3, 4), (0, 5), (2, 5), (1, 2), (2, 3), (0, 4), (3, 5)],
        *[(4, 5), (0, 1), (0, 3), (1, 3), (1, 5), (0, 2), (2, 4)],
    ]
    with_it, without = algorithm_2(graph | {(2, 4)}, ladder, 5.0), algorithm_2(graph, ladder, 5.0)
    loss = np.abs(np.log(with_it / without)).max()
    assert 2.4 * 5 < loss <= 3 * 5


@pytest.mark.parametrize("nodes", [100, 1000])
def test_the_extra_weight_is_logarithmic_as_in_proposition_2_2(nodes):
    """c(G) + O(ln n/ε): the constant of our bound is below 30 for a hundred nodes and more, in units of ln(n)/ε."""
    for epsilon in (1, "1/10"):
        extra = RaisedCut(epsilon, nodes).error().expected.upper
        assert float(extra) * (1 if epsilon == 1 else 0.1) < 30 * log(nodes)


def test_the_lower_bound_beats_that_of_theorem_4_2():
    """ln n/(12ε) for 3·ln n/n < ε < 1/12."""
    for nodes, epsilon in ((1000, 0.05), (500, 0.08)):
        assert float(plan_min_cut(nodes, epsilon).lower_bound) > log(nodes) / (12 * epsilon)


def test_one_sided_scores_double_the_share_of_a_swap():
    """Algorithm 4 has ε' = ε/2Δ(T + 1); with costs that only go up it is twice that."""
    mechanism = KMedian(1, 2, points=np.eye(6), steps=9)
    assert mechanism.share == 2 * (mechanism.epsilon / (2 * (mechanism.steps + 1)))
