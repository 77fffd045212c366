"""Mechanisms side by side with the optimum."""

from fractions import Fraction

import numpy as np
import pytest

from leastnoise.checker import check
from leastnoise.designer.comparison import CONTENDERS, Comparison, compare
from leastnoise.errors import BadParameter, TooLarge
from leastnoise.exact import ln
from leastnoise.mechanisms import RandomizedResponse, TruncatedGeometric
from leastnoise.model.channel import Channel
from leastnoise.model.graphs import complete, cycle, from_distance, from_edges, grid, hypercube, path
from leastnoise.model.losses import absolute, squared
from leastnoise.model.priors import uniform
from leastnoise.model.remapping import expected_loss

GRAPHS = [path(6), cycle(7), grid(2, 3), complete(4), hypercube(3), from_edges([("b", "a"), ("b", "c"), ("c", "d")])]
TENTHS = from_distance([[Fraction(abs(a - b), 10) for b in range(4)] for a in range(4)])


def test_what_the_textbook_exponential_mechanism_costs_on_a_path_of_forty():
    found = compare("path:40", 1)
    assert round(found.entry("exponential, ε/2").loss, 3) == 1.797
    assert round(found.entry("optimal").loss, 3) == 0.817
    assert found.entry("geometric").loss == pytest.approx(found.entry("optimal").loss, rel=1e-12)
    assert found.entry("exponential, ε/2").share == pytest.approx(1.79711 / 0.817265, rel=1e-5)
    assert found.left_out == ("exponential, ε",)


@pytest.mark.parametrize("graph", [*GRAPHS, TENTHS], ids=str)
@pytest.mark.parametrize("name", CONTENDERS)
def test_every_contender_is_a_channel_as_private_as_it_says(graph, name):
    for epsilon in (0.2, 1.5):
        table = CONTENDERS[name](graph, epsilon)
        if table is not None:
            assert table.sum(axis=1) == pytest.approx(1, abs=1e-12)
            assert check(Channel(table.tolist(), graph.nodes), graph, Fraction(epsilon) * (1 + Fraction(1, 10**9)))


@pytest.mark.parametrize("graph", GRAPHS, ids=str)
def test_no_contender_beats_the_optimum_and_reading_never_hurts(graph):
    for one in compare(graph, [0.3, "ln(3)"]).entries:
        assert one.true_epsilon <= float(one.epsilon) + 1e-9
        assert one.read <= one.loss + 1e-12
        assert one.share >= 1 - 1e-12


def test_laplace_and_staircase_against_numerical_integration():
    """Mass of |noise| by the density itself."""
    epsilon, cells = 0.8, 200_001
    z = np.linspace(-40, 40, cells)
    step, b = 1 / (1 + np.exp(epsilon / 2)), np.exp(-epsilon)
    stairs = b ** np.floor(np.abs(z)) * np.where(np.abs(z) % 1 < step, 1, b)
    for name, density in (("Laplace, rounded", np.exp(-epsilon * np.abs(z))), ("staircase, rounded", stairs)):
        law = CONTENDERS[name](path(5), epsilon)
        said = np.clip(np.rint(2 + z), 0, 4).astype(int)
        mass = np.bincount(said, weights=density, minlength=5) / density.sum()
        assert law[2] == pytest.approx(mass, abs=1e-3)


def test_the_exact_channel_has_the_same_loss():
    prior = ["1/2", "1/4", "1/8", "1/8"]
    exact = TruncatedGeometric("ln(2)", 0, 3).channel(range(4), range(4))
    found = compare("path:4", "ln(2)", loss=squared, prior=prior).entry("geometric")
    assert found.loss == pytest.approx(float(expected_loss(prior, exact, squared, remap=False)), rel=1e-12)
    assert found.read == pytest.approx(float(expected_loss(prior, exact, squared)), rel=1e-12)


def test_own_mechanisms_and_channels():
    blunt = Channel.uniform(3, 3)
    found = compare(
        "path:3",
        ["ln(2)", "ln(3)"],
        {
            "geometric": lambda epsilon: TruncatedGeometric(epsilon, 0, 2),
            "response": RandomizedResponse("ln(2)", 3),
            "blunt": blunt,
        },
    )
    assert [one.mechanism for one in found.entries[:5]] == ["geometric", "response", "blunt", "optimal", "lower bound"]
    assert found.entry("blunt").true_epsilon == 0
    assert found.entry("blunt", ln(3)).loss == pytest.approx(
        float(expected_loss(uniform(3), blunt, absolute, remap=False))
    )
    assert found.entry("response", ln(3)).true_epsilon == pytest.approx(np.log(2))
    assert found.frontier["geometric"][0][0] == pytest.approx(np.log(2))
    leaky = compare("path:3", 1, {"leaky": Channel.identity(3)}).entry("leaky")
    assert (leaky.true_epsilon, leaky.loss) == (np.inf, 0)


def test_it_can_be_looked_at():
    found = compare("cycle:5", "ln(2)", ["exponential, ε", "randomized response"])
    assert isinstance(found, Comparison)
    text = str(found).splitlines()
    assert text[0] == "expected distance on cycle(5)"
    assert text[2].split()[0] == "exponential,"
    assert len(text) == 6
    assert found._repr_html_().count("<tr>") == 5
    assert found.__rich__().row_count == 4


def test_what_cannot_be_compared_is_refused():
    with pytest.raises(BadParameter, match="exponential, ε/2"):
        compare("path:5", 1, ["gaussian"])
    with pytest.raises(BadParameter, match="no epsilon"):
        compare("path:5", [])
    with pytest.raises(TooLarge):
        compare("path:1000000", 1)
    with pytest.raises(TooLarge):
        compare("integers", 1)
    with pytest.raises(BadParameter, match="optimal"):
        compare("path:5", 1).entry("best")


def test_guesses_that_are_no_nodes_leave_only_own_mechanisms():
    found = compare("path:3", "ln(2)", loss=absolute.guessing([0.5, 1.5]))
    assert set(found.left_out) == set(CONTENDERS)
    assert found.entry("optimal").loss > 0
