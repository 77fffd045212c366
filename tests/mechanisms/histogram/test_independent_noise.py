"""Noise on many cells: the charge is right on all neighbours of small cases, and the choice is the least error."""

from fractions import Fraction
from itertools import product
from math import prod

import pytest
from hypothesis import given, settings, strategies as st

from leastnoise.accounting import cost_of
from leastnoise.checker import check
from leastnoise.exact import SeededSource, ln
from leastnoise.mechanisms import Gaussian, Geometric, Staircase, plan_for
from leastnoise.mechanisms.histogram.independent_noise import HistogramProblem, IndependentNoise, NoiseBlock
from leastnoise.model.channel import Channel
from leastnoise.model.events import Composed, GaussianPrivacy, Pure
from leastnoise.model.graphs import from_edges
from leastnoise.model.privacy import Privacy
from leastnoise.model.sensitivity import Sensitivity
from support.statistics import fits

SPAN = 3


def channel_of(mechanism, cells, most):
    """The exact law on counts 0..most, each output merged beyond SPAN on either side, and who are neighbours."""
    nodes = list(product(range(most + 1), repeat=cells))
    borders = range(-SPAN, most + SPAN + 1)
    noise = mechanism.blocks[0].noise
    marginal = {}
    for count in range(most + 1):
        masses = [noise.noise_pmf(y - count).lower for y in borders]
        marginal[count] = [*masses, noise.cdf(-SPAN - 1, count).lower, 1 - noise.cdf(most + SPAN, count).lower]
        assert sum(marginal[count]) == 1
    outputs = list(product(range(len(borders) + 2), repeat=cells))
    rows = [[prod(marginal[n][i] for n, i in zip(node, output, strict=True)) for output in outputs] for node in nodes]
    return Channel(rows, inputs=nodes), nodes


@pytest.mark.parametrize(("touched", "each"), [(1, 1), (2, 1), (1, 2), (2, 2)])
@pytest.mark.parametrize("kind", [Geometric, Staircase])
def test_a_unit_in_so_many_cells_costs_as_much_as_is_charged_and_no_less(touched, each, kind):
    share = ln(4)
    problem = HistogramProblem(Privacy(share * touched), 2, Sensitivity(touched, each, ""))
    candidates = [c for c in problem.candidates() if isinstance(c.blocks[0].noise, kind)]
    if not candidates:
        assert kind is Staircase
        assert each == 1
        return
    (mechanism,) = candidates
    channel, nodes = channel_of(mechanism, 2, each)

    def differ_by_one_unit(x, y):
        steps = [b - a for a, b in zip(x, y, strict=True)]
        return x < y and min(steps) >= 0 and sum(step > 0 for step in steps) <= touched

    graph = from_edges([(x, y) for x in nodes for y in nodes if differ_by_one_unit(x, y)], nodes)
    assert mechanism.event in (mechanism.blocks[0].noise.event, Composed((mechanism.blocks[0].noise.event,) * touched))
    charged = cost_of(mechanism.event).epsilon
    assert charged == share * touched
    assert check(channel, graph, charged)
    assert not check(channel, graph, charged - Fraction(1, 1000))


@pytest.mark.slow
@settings(max_examples=20)
@given(
    st.integers(1, 4),
    st.integers(1, 6),
    st.fractions(min_value=Fraction(1, 10), max_value=4, max_denominator=10),
    st.sampled_from([Fraction(0), Fraction(1, 10**6)]),
)
def test_the_chosen_noise_has_the_least_expected_error(cells, each, epsilon, delta):
    problem = HistogramProblem(Privacy(epsilon, delta), 10, Sensitivity(cells, each, ""))
    plan = plan_for(problem)
    best = plan.best.error().expected
    assert all(best.lower <= option.mechanism.error().expected.upper for option in plan.options)
    if problem.lower_bound is not None:
        assert problem.lower_bound.lower <= best.upper
    kinds = {type(option.mechanism.blocks[0].noise) for option in plan.options}
    assert (Gaussian in kinds) == (delta > 0)


def test_with_many_groups_and_some_delta_gaussian_noise_wins():
    problem = HistogramProblem(Privacy(Fraction(1), Fraction(1, 10**6)), 1000, Sensitivity(100, 1, ""))
    noise = plan_for(problem).best.blocks[0].noise
    assert isinstance(noise, Gaussian)
    assert noise.variance < Geometric(1, 100).moment(2).lower


def test_a_unit_in_fifteen_cells_gets_the_noise_of_the_exact_profile():
    """By the conversion of concentrated privacy σ would be 17.5."""
    problem = HistogramProblem(Privacy(1, "1e-6"), 20, Sensitivity(15, 1, ""))
    noise = next(c.blocks[0].noise for c in problem.candidates() if isinstance(c.blocks[0].noise, Gaussian))
    assert 16.3 < float(noise.variance) ** 0.5 < 16.4
    assert plan_for(problem).best.event == GaussianPrivacy(Fraction(15) / noise.variance)


def test_groups_in_excess_of_the_cells_do_not_count():
    one = HistogramProblem(Privacy(Fraction(1)), 1, Sensitivity(5, 1, ""))
    assert plan_for(one).best.event.epsilon == 1
    assert plan_for(one).best.blocks[0].noise == Geometric(1)


def test_blocks_keep_their_own_noise():
    both = IndependentNoise((NoiseBlock(Geometric("ln(2)"), 1, Pure(1)), NoiseBlock(Geometric("ln(8)"), 1, Pure(1))))
    drawn = both.draw([10, 20], 20_000, SeededSource(5))
    for place, (start, epsilon) in enumerate([(10, ln(2)), (20, ln(8))]):
        assert fits(drawn[:, place], lambda y, e=epsilon, x=start: Geometric(e).cdf(y, x).lower, start - 4, start + 4)
    assert not fits(drawn[:, 0], lambda y: Geometric("ln(8)").cdf(y, 10).lower, 6, 14)
    assert both.pmf((11, 20), (10, 20)).lower == Fraction(1, 6) * Fraction(7, 9)
