"""Noise through a linear map: its law, its expected error and its 95 % error against the exact law of the sum."""

from fractions import Fraction

import numpy as np
import pytest

from leastnoise.errors import BadParameter
from leastnoise.exact import SeededSource
from leastnoise.mechanisms import DiscreteGaussian, Gaussian, Geometric, plan_for
from leastnoise.mechanisms.histogram.mapped_noise import MappedNoise, mean_along, reach_of
from leastnoise.model.events import Pure
from leastnoise.model.linear_workloads import ExplicitWorkload
from leastnoise.model.privacy import Privacy
from leastnoise.model.sensitivity import Sensitivity
from leastnoise.release.queries.workload_problem import WorkloadProblem
from support.statistics import fits

ONCE = Sensitivity(1, 1, "one row")


def law_of_sum(noise, entries, span=400):
    """The law of Σ f_i·Z_i in doubles, on −span..span: good to 1e-9 for the noise used here."""
    base = np.array([float(noise.noise_pmf(k)) for k in range(-span, span + 1)])
    law = np.zeros(2 * span + 1)
    law[span] = 1.0
    for entry in entries:
        spread = np.zeros(2 * span + 1)
        for k in range(-span, span + 1):
            if abs(k * entry) <= span and base[k + span] > 1e-14:
                spread[max(0, k * entry) : 2 * span + 1 + min(0, k * entry)] += (
                    base[k + span] * law[max(0, -k * entry) : 2 * span + 1 - max(0, k * entry)]
                )
        law = spread
    return law


@pytest.mark.slow
@pytest.mark.parametrize(
    "noise", [Geometric("ln(2)"), Geometric(1, 2), DiscreteGaussian(4), Gaussian(4), Gaussian("1/3")], ids=str
)
@pytest.mark.parametrize("shape", [((1, 1),), ((1, 4),), ((1, 30),), ((1, 2), (3, 1)), ((2, 3),)])
@pytest.mark.parametrize("level", [Fraction(1, 2), Fraction(19, 20), Fraction(999, 1000)], ids=str)
def test_the_errors_along_a_row_bound_the_exact_ones(noise, shape, level):
    entries = [entry for entry, count in shape for _ in range(count)]
    law = law_of_sum(noise, entries)
    sizes = np.abs(np.arange(len(law)) - len(law) // 2)
    true = float(sizes @ law)
    found = mean_along(noise, shape)
    assert true <= float(found.upper) + 1e-9
    if isinstance(noise, Geometric):
        assert float(found.lower) - 1e-9 <= true
    squares = sum(entry**2 * count for entry, count in shape)
    reach = float(reach_of(noise, Fraction(squares), Fraction(shape[-1][0]), level))
    assert law[sizes > reach].sum() <= 1 - level + 1e-9
    assert reach <= 8 * np.sqrt(float(sizes**2 @ law)) + 1  # and is not much too large


def test_the_law_of_the_draws():
    mechanism = MappedNoise(((1, 1), (0, 1)), Geometric("ln(2)"), Pure("ln(2)"))
    drawn = np.array(mechanism.draw([30, 10], 30_000, SeededSource(11)), dtype=np.int64)
    assert fits(drawn[:, 1], lambda y: Geometric("ln(2)").cdf(y, 10).lower, 5, 15)
    assert not fits(drawn[:, 0], lambda y: Geometric("ln(2)").cdf(y, 30).lower, 25, 35)
    law = np.cumsum(law_of_sum(Geometric("ln(2)"), [1, 1]))
    assert fits(drawn[:, 0], lambda y: law[y - 30 + len(law) // 2], 24, 36)
    assert mechanism.pmf((31, 10), (30, 10)).lower == Fraction(1, 6) * Fraction(1, 3)
    with pytest.raises(BadParameter, match="closed form"):
        MappedNoise(((1, 1),), Geometric(1), Pure(1)).pmf((1,), (1,))


def test_many_overlapping_answers_are_answered_from_the_cells_and_one_total_is_not():
    prefix_sums = tuple(tuple(int(cell <= last) for cell in range(8)) for last in range(8))
    problem = WorkloadProblem(ExplicitWorkload(prefix_sums), Privacy(Fraction(1)), ONCE)
    assert isinstance(plan_for(problem).best, MappedNoise)
    total = ((1,) * 32,)
    problem = WorkloadProblem(ExplicitWorkload(total), Privacy(Fraction(1)), ONCE)
    least = Geometric(1).moment(2).upper * (1 + Fraction(1, 10**9))
    assert problem.expected_loss(plan_for(problem).best).upper ** 2 <= least


def test_with_some_delta_gaussian_noise_is_compared_too():
    prefix_sums = tuple(tuple(int(cell <= last) for cell in range(12)) for last in range(12))
    for delta, kinds in ((Fraction(0), {False}), (Fraction(1, 10**6), {False, True})):
        plan = plan_for(WorkloadProblem(ExplicitWorkload(prefix_sums), Privacy(Fraction(1), delta), ONCE))
        assert {"Gaussian" in repr(option.mechanism) for option in plan.options} == kinds


@pytest.mark.parametrize("epsilon", [1, 3, 5, 8, 12])
def test_intervals_are_zero_just_where_noise_is_hardly_ever_drawn(epsilon):
    """Two cells in the first answer, one in the second: the chance that any of them moves is at most theirs in sum."""
    noise, level = Geometric(epsilon), Fraction(19, 20)
    mechanism = MappedNoise(((1, -1, 0), (0, 0, 5)), noise, Pure(epsilon))
    moved = noise.moment(0).upper
    for reach, cells in zip(mechanism.reaches(level), (2, 1), strict=True):
        still = (1 - moved) ** cells
        if cells * moved <= 1 - level:
            assert reach == 0
            assert still >= level
        elif cells == 1:
            assert reach > 0
            assert still < level
