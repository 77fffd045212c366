"""Truncated Laplace noise seen through cells: the error, what the cells cost, and the papers' claims."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from leastnoise.mechanisms.numeric import TruncatedGeometric, TruncatedLaplace
from leastnoise.model.channel import Channel
from leastnoise.model.losses import absolute, squared
from leastnoise.model.priors import Prior, uniform
from leastnoise.model.remapping import expected_loss


def law(mechanism, answers):
    """The channel in doubles, cells in order."""
    step = mechanism.step
    middles = [float(mechanism.low + step * (2 * j + 1) / 2) for j in range(mechanism.cells)]
    rows = np.array([[float(mechanism.pmf(y, x)) for y in middles] for x in answers])
    return Channel(rows, [Fraction(x) for x in answers], middles)


@settings(max_examples=40)
@given(
    st.integers(1, 9),
    st.fractions(Fraction(1, 20), 8, max_denominator=20),
    st.fractions(0, 1, max_denominator=24),
)
def test_the_error_at_an_answer_is_the_mean_of_the_law_and_never_above_the_bound(cells, epsilon, share):
    mechanism = TruncatedLaplace(epsilon, -1, 3, 2, cells)
    answer = -1 + 4 * share
    outputs = [mechanism.low + mechanism.step * (2 * j + 1) / 2 for j in range(cells)]
    masses = [mechanism.pmf(y, answer, bits=128) for y in outputs]
    mean = sum(p.lower * abs(y - answer) for p, y in zip(masses, outputs, strict=True))
    assert abs(mechanism.error_at(answer).lower - mean) < Fraction(1, 2**50)
    assert mechanism.error_at(answer).lower <= mechanism.error().expected.upper
    inside = sum(p.lower for p, y in zip(masses, outputs, strict=True) if abs(y - answer) <= mechanism.quantile())
    assert inside >= Fraction(19, 20) - Fraction(1, 2**50)


@pytest.mark.parametrize("cells", [1, 2, 3, 4, 10, 40])
@pytest.mark.parametrize("epsilon", ["1/10", 1, 12])
def test_the_bound_of_the_error_is_reached_by_some_answer(cells, epsilon):
    mechanism = TruncatedLaplace(epsilon, 0, 1, 1, cells)
    reached = max(mechanism.error_at(Fraction(k, 240)).upper for k in range(241))
    bound = mechanism.error().expected
    assert reached <= bound.upper
    assert reached >= bound.lower * (1 if cells % 2 == 0 else Fraction(9, 10))


@pytest.mark.parametrize(("cells", "step_epsilon"), [(2, "ln(2)"), (4, "ln(2)"), (4, "ln(9/4)"), (6, "ln(5/4)")])
def test_the_geometric_mechanism_is_refined_by_it(cells, step_epsilon):
    """Lemma 11 of Fernandes, McIver and Morgan: the cells are post-processing of the geometric mechanism."""
    geometric = TruncatedGeometric(step_epsilon, 0, cells)
    laplace = TruncatedLaplace(geometric.epsilon * cells, 0, cells, cells, cells)
    borders = range(cells + 1)
    outputs = [Fraction(2 * j + 1, 2) for j in range(cells)]
    refinement = geometric.channel(borders, borders).refines(laplace.channel(borders, outputs))
    assert refinement


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [1, 2, 5])
@pytest.mark.parametrize("cells", [4, 8, 16])
@pytest.mark.parametrize("loss", [absolute, squared], ids=str)
def test_what_the_cells_cost_stays_below_the_bounds(epsilon, cells, loss):
    """Against the best for priors on the cell borders (Theorem 14) and against 16 times finer cells (the factor)."""
    mechanism, finer = (TruncatedLaplace(epsilon, 0, 1, 1, n) for n in (cells, 16 * cells))
    answers = [Fraction(k, cells) for k in range(cells + 1)]
    best = TruncatedGeometric(Fraction(epsilon, cells), 0, cells)
    rows = np.array([[float(best.pmf(y, x)) for y in range(cells + 1)] for x in range(cells + 1)])
    lipschitz = 1 if loss is absolute else 2
    skewed = Prior({x: 1 + 3 * place for place, x in enumerate(answers)}, normalise=True)
    for prior in (uniform(answers), skewed):
        here = expected_loss(prior, law(mechanism, answers), loss)
        there = expected_loss(prior, law(finer, answers), loss)
        optimum = expected_loss(prior, Channel(rows, answers), loss)
        assert optimum - 1e-12 <= there <= here + 1e-12
        assert here - optimum <= float(mechanism.lattice_loss(lipschitz))
        assert here <= there * float(mechanism.lattice_factor()) + 1e-12


def test_the_wanted_extra_loss_gives_the_cells():
    mechanism = TruncatedLaplace.for_extra_loss(1, 0, 10, 1, "1/10", lipschitz=2)
    assert mechanism.lattice_loss(2).upper <= Fraction(1, 10)
    fewer = TruncatedLaplace(1, 0, 10, 1, mechanism.cells - 1)
    assert fewer.lattice_loss(2).upper > Fraction(1, 10)


def test_answers_outside_the_interval_count_as_its_ends():
    mechanism = TruncatedLaplace(1, 0, 1, 1, 4)
    assert mechanism.pmf(0.125, -5) == mechanism.pmf(0.125, 0)
    assert mechanism.pmf(0.875, 1e300) == mechanism.pmf(0.875, 1)
    assert mechanism.pmf(7, 0).upper == 0


def test_very_many_cells_are_no_trouble():
    mechanism = TruncatedLaplace(1, 0, 1, 1, 2**60)
    assert 0 <= mechanism.release(0.5) <= 1
    assert mechanism.error().expected.upper < 1
    drawn = mechanism.draw(0.25, size=1000)
    assert drawn.min() >= 0
    assert drawn.max() <= 1
    assert len(np.unique(drawn)) > 300  # the rest are at the ends
