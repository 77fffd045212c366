"""Optimal losses from the literature, and from independent computations, found again by linear programming."""

from fractions import Fraction

import networkx
import pytest

from leastnoise.checker import check
from leastnoise.designer import design
from leastnoise.model.graphs import cycle, from_networkx, hypercube, path

TWELVE_DIGITS = Fraction(1, 10**12)

# Least expected distance at ε = 1 under the uniform prior. Paths: the truncated geometric after the best remap (Ghosh,
# Roughgarden and Sundararajan 2012). The others: the exponential mechanism without the factor 2 (Aldà and Simon 2017,
# Theorem 1), Σ d·k_d·e^−d / Σ k_d·e^−d with k_d the sizes of the layers.
LOSSES = [
    (path(10), "0.7163109738393902"),
    (path(20), "0.7836114954616783"),
    (path(40), "0.8172648117811354"),
    (cycle(12), "0.836008658298"),
    (hypercube(4), "1.075765685480"),
    (from_networkx(networkx.petersen_graph()), "0.935524394526"),
]


@pytest.mark.slow
@pytest.mark.parametrize("route", ["symmetry", "lp"])
@pytest.mark.parametrize(("graph", "loss"), LOSSES, ids=str)
def test_the_linear_program_finds_the_known_optimum(graph, loss, route):
    best = design(graph, 1, route=route)
    assert abs(best.loss.lower - Fraction(loss)) < TWELVE_DIGITS
    assert abs(best.lower_bound.lower - Fraction(loss)) < TWELVE_DIGITS
    assert check(best.certificate)
