"""Optimal (ε, δ) noise: private without any tolerance, and the optimum of an exact program."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import linprog

from leastnoise.checker import check
from leastnoise.errors import BadParameter, LeastNoiseError
from leastnoise.exact.enclosures import exp_enclosure
from leastnoise.exact.matrices import RationalMatrix
from leastnoise.exact.programs import minimise
from leastnoise.mechanisms import DiscreteGaussian, Geometric, OptimalNoise, Staircase, plan_for
from leastnoise.mechanisms.histogram.independent_noise import HistogramProblem
from leastnoise.mechanisms.numeric import optimal_noise
from leastnoise.mechanisms.numeric.optimal_noise import needed_delta
from leastnoise.mechanisms.numeric.problems import CountProblem
from leastnoise.model.events import Approximate
from leastnoise.model.losses import absolute, squared, zero_one
from leastnoise.model.privacy import Privacy
from leastnoise.model.sensitivity import Sensitivity

LOSSES = {absolute: 1, squared: 2, zero_one: 0}


def least_mean(growth, delta, change, order, last):
    """The optimum over all laws on −last..last, by an exact program that is no wiser than the definition."""
    values = list(range(-last, last + 1))
    steps = [s for s in range(-change, change + 1) if s]
    width = len(values) * (1 + 2 * len(steps)) + len(steps)
    rows, right = [[Fraction(0)] * width], [Fraction(1)]
    for k in range(len(values)):
        rows[0][k] = Fraction(1)
    place = len(values)
    for s in steps:
        total = [Fraction(0)] * width
        for k, i in enumerate(values):
            row = [Fraction(0)] * width
            row[k] += 1
            if -last <= i + s <= last:
                row[values.index(i + s)] -= growth
            row[place], row[place + 1] = Fraction(-1), Fraction(1)  # the excess, and what is left free
            total[place] = Fraction(1)
            place += 2
            rows.append(row)
            right.append(Fraction(0))
        total[place] = Fraction(1)
        place += 1
        rows.append(total)
        right.append(delta)
    cost = [Fraction(abs(i) ** order if i else 0) for i in values] + [Fraction(0)] * (width - len(values))
    guess = linprog(np.array(cost, float), A_eq=np.array(rows, float), b_eq=np.array(right, float), method="highs-ds")
    believed = np.argsort(-guess.x, kind="stable")[: int((guess.x > 1e-9).sum())].tolist()
    return minimise(cost, RationalMatrix(rows), right, believed).cost


@pytest.mark.parametrize("loss", LOSSES, ids=str)
@pytest.mark.parametrize(
    ("growth", "delta"), [(2, "1/12"), (3, "1/10"), ("5/4", "1/5"), (2, "1/3"), (6, "1/1000"), ("3/2", "9/10")]
)
def test_for_one_step_it_is_the_optimum_for_every_loss(growth, delta, loss):
    noise = OptimalNoise(f"ln({growth})", delta, loss=loss)
    assert noise.masses == OptimalNoise(f"ln({growth})", delta).masses
    last = len(noise.masses) + 2
    least = least_mean(Fraction(growth), Fraction(delta), 1, LOSSES[loss], last)
    assert noise.moment(LOSSES[loss]).lower == least == noise.bound.lower
    assert needed_delta(noise.masses, Fraction(growth), 1) == noise.delta


@pytest.mark.parametrize(("growth", "delta", "change"), [(2, "1/6", 2), (3, "1/20", 2), (4, "1/10", 3)])
def test_for_several_steps_it_lies_between_its_bound_and_the_optimum(growth, delta, change):
    noise = OptimalNoise(f"ln({growth})", delta, change)
    least = least_mean(Fraction(growth), Fraction(delta), change, 1, len(noise.masses) + change)
    assert noise.bound.lower <= least <= noise.moment(1).lower
    assert noise.moment(1).lower - noise.bound.lower < Fraction(1, 10**7)


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", ["1/8", 1, "ln(3)", 4])
@pytest.mark.parametrize("delta", ["1e-9", "1e-6", "1/100", "1/3"])
@pytest.mark.parametrize("change", [1, 2, 3])
def test_it_is_private_for_every_step_without_tolerance(epsilon, delta, change):
    """By the definition, at a rational below e^ε."""
    try:
        noise = OptimalNoise(epsilon, delta, change)
    except LeastNoiseError:
        assert change > 1
        return
    masses = dict(enumerate(noise.masses))
    growth = exp_enclosure(noise.epsilon, 300).lower
    for s in range(-change, change + 1):
        values = range(-len(masses) - change, len(masses) + change + 1)
        excess = sum(max(0, masses.get(abs(i), 0) - growth * masses.get(abs(i + s), 0)) for i in values)
        assert s == 0 or excess <= noise.delta
    assert sum(noise.masses[1:]) * 2 + noise.masses[0] == 1
    assert min(noise.masses) >= 0
    rivals = [
        Geometric(epsilon, change),
        Staircase(epsilon, change),
        DiscreteGaussian.for_privacy(epsilon, delta, change),
    ]
    assert noise.moment(1).upper <= min(rival.moment(1).upper for rival in rivals) * (1 + Fraction(1, 10**6))


@pytest.mark.parametrize(("epsilon", "delta"), [(1, "1e-9"), ("ln(3)", "1e-9"), ("1/8", "1e-6")])
@pytest.mark.parametrize("change", [2, 3])
def test_a_small_delta_is_proven_nearly_optimal(epsilon, delta, change):
    noise = OptimalNoise(epsilon, delta, change)
    assert noise.bound.upper - noise.bound.lower < noise.bound.upper / 10**6


def test_a_smaller_step_may_need_more_than_the_largest():
    assert needed_delta([Fraction(0), Fraction(0), Fraction(1, 2)], Fraction(2), 4) == 1
    comb = [Fraction(1, 3), Fraction(0), Fraction(1, 3)]
    assert needed_delta(comb, Fraction(2), 2) == needed_delta(comb, Fraction(2), 1) == 1  # by two steps it is 1/3


def test_a_law_that_is_not_private_is_never_handed_out(monkeypatch):
    monkeypatch.setattr(optimal_noise, "_truncated", lambda *_: (Fraction(1, 2), Fraction(1, 4)))
    with pytest.raises(LeastNoiseError):
        OptimalNoise("ln(2)", "1/12")


def test_the_certificate_is_accepted_and_a_bolder_one_is_not():
    for change in (1, 2):
        proof = OptimalNoise("ln(2)", "1/12", change).certificate()
        assert check(proof)
        assert not check(replace(proof, privacy=Privacy("ln(2)", "1/13")))
        assert not check(replace(proof, privacy=Privacy("ln(3/2)", "1/12")))


@pytest.mark.parametrize("epsilon", [3, 20, 350, 700, 750, 1000, 10_000])
@pytest.mark.parametrize("change", [2, 3, 10])
@pytest.mark.filterwarnings("error")
def test_a_large_epsilon_gives_a_law_or_a_typed_error(epsilon, change):
    """The program is of doubles: e^750 is none, and e^-750 is zero."""
    try:
        found = OptimalNoise(epsilon, Fraction(1, 10**4), change)
    except BadParameter:
        assert epsilon > 3
    else:
        assert epsilon < 750
        assert needed_delta(found.masses, exp_enclosure(found.epsilon, 64).lower, change) <= found.delta


def test_the_planner_takes_it_where_its_exact_error_is_less():
    assert plan_for(CountProblem("1/10", "1/100", sensitivity=5)).best.name == "optimal noise"
    one = HistogramProblem(Privacy("1/2", "1/50"), 1, Sensitivity(1, 1, "one row"))
    best = plan_for(one).best
    assert isinstance(best.blocks[0].noise, OptimalNoise)
    assert best.event == Approximate("1/2", "1/50")
    other = HistogramProblem(Privacy("1/2", "1e-6"), 1, Sensitivity(1, 1, "one row"))
    assert not isinstance(plan_for(other).best.blocks[0].noise, OptimalNoise)  # less than one percent
    for two in (
        HistogramProblem(Privacy("1/2", "1/50"), 4, Sensitivity(2, 1, "two rows")),
        HistogramProblem(Privacy(rho="1/50"), 1, Sensitivity(1, 1, "one row")),
        HistogramProblem(Privacy("1/2"), 1, Sensitivity(1, 1, "one row")),
    ):
        assert not any(isinstance(c.mechanism.blocks[0].noise, OptimalNoise) for c in plan_for(two).options)
