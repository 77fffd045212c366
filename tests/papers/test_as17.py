"""Numbers and statements of Aldà and Simon, "On the optimality of the exponential mechanism" (CSCML 2017), recomputed.

The optima were computed once with an independent linear program; here they come from theorems, and again from ours.
"""

import importlib.util
import re
from fractions import Fraction
from pathlib import Path

import networkx as nx
import numpy as np
import pytest

from leastnoise.checker import check
from leastnoise.designer import bounds, design
from leastnoise.designer.comparison import compare
from leastnoise.model.graphs import cycle, from_networkx, hypercube, sorted_histograms
from leastnoise.model.losses import absolute

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("graph", "loss"),
    [
        (cycle(12), "0.836008658298"),
        (hypercube(4), "1.075765685480"),
        (from_networkx(nx.petersen_graph()), "0.935524394526"),
    ],
    ids=str,
)
def test_theorem_1(graph, loss):
    """ε = 1, uniform prior, the distance as loss."""
    best = design(graph, 1)
    assert best.route == "theorem"
    assert f"{float(best.loss):.12f}" == loss
    assert best.loss.width < Fraction(1, 10**30)
    assert check(best.certificate)


@pytest.mark.parametrize("graph", [cycle(12), hypercube(4)], ids=str)
def test_theorem_1_by_linear_programming_over_orbits(graph):
    theorem, orbits = (design(graph, 1, route=route) for route in ("theorem", "symmetry"))
    assert orbits.lower_bound.lower - Fraction(1, 10**9) <= theorem.loss.upper
    assert theorem.loss.lower <= orbits.loss.upper
    assert orbits.gap < Fraction(1, 10**9)


@pytest.mark.parametrize(
    ("size", "loss"), [(10, 0.7163109738393902), (20, 0.7836114954616783), (40, 0.8172648117811354)]
)
def test_the_optimum_on_paths(size, loss):
    """ε = 1, uniform prior; Ghosh et al. make a linear program unnecessary."""
    for found in (design(f"path:{size}", 1), design(f"path:{size}", 1, loss=absolute)):
        assert float(found.loss) == pytest.approx(loss, rel=1e-12)
        assert found.gap == 0


def test_section_5_the_exponential_mechanism_on_a_path_of_forty():
    """1.797 for e^(−ε·d/2), against 0.817."""
    found = compare("path:40", 1)
    assert f"{found.entry('exponential, ε/2').loss:.3f}" == "1.797"
    assert f"{found.entry('optimal').loss:.3f}" == "0.817"
    assert found.entry("exponential, ε/2").share < np.exp(0.5) * (1 + np.exp(-1))  # Corollary 4 in the limit


def test_example_3_infinite_paths():
    """2γ/(1 − γ²) on both sides of the start; on one side alone γ/(1 − γ), as the limit of layers from an end."""
    gamma = Fraction(2, 5)
    assert design("integers", "ln(5/2)").loss.lower == 2 * gamma / (1 - gamma**2)
    assert bounds.layered_path(400, "ln(5/2)").upper < 2 * gamma / (1 - gamma**2)
    one_side = [sum(gamma**d * d**k for d in range(300)) for k in (0, 1)]
    assert float(one_side[1] / one_side[0]) == pytest.approx(float(gamma / (1 - gamma)), rel=1e-12)


def test_binary_databases_are_regular_and_sorted_histograms_are_not():
    """Section 4: the conditions hold for databases of bits, and fail for Example 2."""
    assert hypercube(6).is_vertex_transitive()
    assert hypercube(6).has_regular_layers()
    graph = sorted_histograms(6, 3)
    assert not graph.is_vertex_transitive()
    assert not graph.has_regular_layers()


def test_transitivity_alone_is_not_enough():
    """Numbers mod 24 with steps of 2 and 3: 1 is two steps from 0, and no neighbour of it is further; that costs."""
    graph = from_networkx(nx.circulant_graph(24, [2, 3]))
    assert graph.is_vertex_transitive()
    assert not graph.has_regular_layers()
    found = compare(graph, "ln(6/5)", ["exponential, ε"])
    assert found.entry("exponential, ε").true_epsilon == pytest.approx(np.log(1.2))
    assert found.entry("exponential, ε").share == pytest.approx(1.00149, abs=1e-5)


def test_regular_layers_are_not_necessary():
    """On a prism the layers are irregular, and e^(−ε·d) is the optimum nevertheless."""
    prism = from_networkx(nx.circular_ladder_graph(3))
    assert not prism.has_regular_layers()
    assert compare(prism, "ln(2)", ["exponential, ε"]).entry("exponential, ε").share == pytest.approx(1, abs=1e-12)


@pytest.mark.slow
def test_the_table_of_sorted_histograms_is_what_its_script_computes():
    place = ROOT / "tools" / "sorted_histograms.py"
    spec = importlib.util.spec_from_file_location("sorted_histograms", place)
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    page = (ROOT / "docs" / "theory" / "sorted_histograms.md").read_text()
    for records, types in ((3, 3), (10, 3), (15, 3), (6, 6), (8, 8)):
        line = script.markdown([script.row(records, types)]).splitlines()[-1]
        assert line in page
    listed = re.findall(r"^\| (\d+) \| (\d+) \|", page, re.M)
    assert listed == [(str(n), str(t or n)) for t, sizes in script.SIZES.items() for n in sizes]
