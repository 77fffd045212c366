"""Gu et al., "Generalized rainbow differential privacy" (arXiv:2309.05871v2): its numbers, and where they are wrong."""

from fractions import Fraction
from itertools import accumulate

import pytest

from leastnoise.checker import check
from leastnoise.errors import BadParameter
from leastnoise.model.channel import Channel
from leastnoise.model.graphs import cycle, path
from leastnoise.rainbow import (
    Operator,
    RainbowGraph,
    after,
    best_for,
    dominates,
    find_best,
    phases,
    switch_times,
)
from papers.rainbow import BOUNDARY, PAPER, draw_figures, example_one, needed_delta

EPSILON = "ln(6/5)"


@pytest.mark.parametrize(
    ("delta", "times"), [(0, (38, 22, 7, 1, 0)), ("1/1000", (25, 20, 7, 1, 0)), ("1/100", (13, 12, 6, 1, 0))]
)
def test_switch_times_of_figures_3_to_5(delta, times):
    operator = Operator(EPSILON, delta)
    assert switch_times(operator, BOUNDARY) == times
    for k, time in enumerate(times):  # and they are what iteration finds
        reached = [sum(operator.iterate(BOUNDARY, t)[: k + 1]) >= operator.crossing for t in range(40)]
        assert reached.index(True) == time


def test_degenerate_phases_of_figure_3():
    """Section 5.3: the first phase of k = 5 is degenerate, and so is the third of k = 1."""
    found = phases(Operator(EPSILON), BOUNDARY)
    assert found[4].first_ends == 0
    assert found[0].second_ends is None


def test_prefix_sums_of_figure_5_at_ten_steps():
    right = accumulate(after(Operator(EPSILON, "1/100"), BOUNDARY, 10))
    printed = accumulate(Operator(EPSILON, "1/100", published=True).iterate(BOUNDARY, 10))
    assert [float(s) for s in right] == pytest.approx([0.26268, 0.31284, 0.80032, 0.94558, 1], abs=5e-6)
    assert [float(s) for s in printed] == pytest.approx([0.26268, 0.31284, 0.80550, 0.95365, 1], abs=5e-6)


def test_the_printed_operator_needs_more_delta():
    """Lemma 1 at p = (0.9, 0.1): P({2}) = 0.1, and privacy allows 0.098."""
    p = (Fraction(9, 10), Fraction(1, 10))
    printed = Operator(EPSILON, "1/100", published=True)(p)
    assert Fraction(6, 5) * printed[1] + Fraction(1, 100) == Fraction("0.098")
    verdict = check(Channel([p, printed]), path(2), EPSILON, "1/100")
    assert not verdict
    assert verdict.counterexample.outputs == (1,)
    assert verdict.counterexample.probability == Fraction(1, 10)
    assert verdict.tight_delta == Fraction("0.012")
    walk = [Operator(EPSILON, "1/100", published=True).iterate(BOUNDARY, t) for t in (9, 10)]
    assert needed_delta(*walk, EPSILON) == Fraction("0.012")
    assert check(Channel([p, Operator(EPSILON, "1/100")(p)]), path(2), EPSILON, "1/100")


def test_without_delta_the_printed_operator_is_right():
    walk = [Operator(EPSILON, published=True).iterate(BOUNDARY, t) for t in range(51)]
    assert check(Channel(walk), path(51), EPSILON)


def test_example_1_needs_twice_not_e_squared():
    five, witness = example_one("ln(2)")
    assert witness is not None
    for channel in (witness.first, witness.second):
        assert check(channel, five.graph, "ln(2)")
    assert not dominates(witness.first, witness.second, five)
    assert not dominates(witness.second, witness.first, five)
    assert example_one("2")[1] is None


def test_the_two_mechanisms_that_example_1_names():
    """M1 and M2 are valid at e^ε = 2; M1 can't be beaten at the second dataset, M2 not at the third."""
    five = RainbowGraph(cycle(5), lambda n: (1, 3, 2) if n == 4 else (1, 2, 3))
    ends = {0: ["0.2", "0.1", "0.7"], 3: ["0.4", "0.1", "0.5"]}
    first = {1: ["0.4", "0.2", "0.4"], 2: ["0.4", "0.2", "0.4"]}
    second = {1: ["0.4", "0.1", "0.5"], 2: ["0.7", "0.05", "0.25"]}
    named = [best_for(five, {**ends, **inner}, "ln(2)") for inner in (first, second)]
    assert all(check(channel, five.graph, "ln(2)") for channel in named)
    assert Operator("ln(2)")(ends[0]) == named[0].row(1)
    assert Operator("ln(2)")(ends[3]) == named[1].row(2)
    both = {1: first[1], 2: second[2]}
    with pytest.raises(ValueError, match="no private mechanism"):
        find_best(five, {**ends, **both}, "ln(2)")


@pytest.mark.slow
def test_the_claims_of_the_text():
    found = {claim.place: claim for claim in PAPER.claims()}
    wrong = {place for place, claim in found.items() if not claim.holds}
    assert wrong == {"Example 1", "Lemma 1", "(22)", "Section 5.2", "Section 6.3"}
    assert all(found[place].instead for place in wrong)
    assert {"Theorem 2", "Figure 3", "Figure 4", "Figure 5"} <= set(found)


@pytest.mark.slow
def test_the_figures_are_drawn_alike_each_time(tmp_path):
    first, again = (draw_figures(tmp_path / name).read_bytes() for name in ("one", "two"))
    assert first == again
    for text in (
        "Figure 5, δ = 1/100, as published: needs δ = 0.012",
        "Figure 5, δ = 1/100, put right: needs δ = 0.01<",
    ):
        assert text in first.decode()
    (tmp_path / "file").write_text("")
    with pytest.raises(BadParameter, match="folder"):
        draw_figures(tmp_path / "file")
