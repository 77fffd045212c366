"""Plans: the candidates of a problem, in the order of what they cost."""

from dataclasses import dataclass
from fractions import Fraction

import pytest
from hypothesis import given, settings, strategies as st

from leastnoise.errors import BadLoss, BadParameter
from leastnoise.exact import Enclosure
from leastnoise.mechanisms.numeric import (
    CountProblem,
    DiscreteGaussian,
    Geometric,
    LatticeLaplace,
    OptimalNoise,
    RealProblem,
    Staircase,
    TruncatedGeometric,
    TruncatedLaplace,
)
from leastnoise.model.losses import absolute, from_function, squared, zero_one
from leastnoise.model.mechanism import plan_for


@pytest.mark.slow
@settings(max_examples=30)
@given(
    st.sampled_from(["1/10", 1, "ln(3)", 4]),
    st.sampled_from([0, "1e-6", "1e-2"]),
    st.integers(1, 5),
    st.sampled_from([None, (0, 3), (0, 100)]),
    st.sampled_from([absolute, squared, zero_one]),
)
def test_options_are_in_order_and_say_by_how_much(epsilon, delta, sensitivity, bounds, loss):
    plan = plan_for(CountProblem(epsilon, delta, sensitivity, bounds, loss))
    costs = [option.expected for option in plan.options]
    assert all(costs[i].lower <= costs[i + 1].upper for i in range(len(costs) - 1))
    assert plan.options[0].excess.upper == 0
    assert plan.best is plan.options[0].mechanism
    for option in plan.options:
        assert option.expected.lower - costs[0].upper <= option.excess.upper
        assert option.excess.lower <= option.expected.upper - costs[0].lower
        event = option.mechanism.event
        assert event.epsilon <= CountProblem(epsilon).epsilon
        assert event.delta <= Fraction(delta)


def test_who_wins_for_counts():
    assert isinstance(plan_for(CountProblem(1)).best, Geometric)
    assert isinstance(plan_for(CountProblem(1, bounds=(0, 10))).best, TruncatedGeometric)
    assert isinstance(plan_for(CountProblem(3, sensitivity=5)).best, Staircase)
    assert isinstance(plan_for(CountProblem("1/2", "1/10", sensitivity=10)).best, OptimalNoise)
    assert not isinstance(plan_for(CountProblem("1/2", "1e-9")).best, DiscreteGaussian)


def test_who_wins_for_real_answers():
    plan = plan_for(RealProblem(1, sensitivity=1, extra_loss="1/100", bounds=(0, 2)))
    assert [type(option.mechanism) for option in plan.options] == [TruncatedLaplace, LatticeLaplace]
    assert isinstance(plan_for(RealProblem(1, 1, "1/100")).best, LatticeLaplace)


def test_a_plan_can_be_read():
    lines = str(plan_for(CountProblem("ln(3)", sensitivity=4))).splitlines()
    assert lines[0] == "staircase mechanism: 3.42857 (the best)"
    assert lines[1].startswith("geometric mechanism: 3.59")
    assert lines[1].endswith("(+4.87%)")


def test_other_problems_plug_in_with_two_methods():
    @dataclass(frozen=True)
    class Twice:
        epsilon: str

        def candidates(self):
            return [Geometric(self.epsilon, 2), Geometric(self.epsilon)]

        def expected_loss(self, mechanism):
            cost = Fraction(mechanism.sensitivity)
            return Enclosure(cost, cost)

    plan = plan_for(Twice("1"))
    assert [option.mechanism.sensitivity for option in plan.options] == [1, 2]
    assert plan.options[1].excess == Enclosure(Fraction(1), Fraction(1))


def test_bad_problems_are_refused():
    class Impossible:
        def candidates(self):
            return []

    with pytest.raises(BadParameter, match="no mechanism"):
        plan_for(Impossible())
    with pytest.raises(BadLoss):
        CountProblem(1, loss=from_function(lambda w, x: abs(w - x) ** 3))
    for bad in ({"epsilon": 0}, {"epsilon": 1, "delta": 1}, {"epsilon": 1, "sensitivity": "1/2"}):
        with pytest.raises(BadParameter):
            CountProblem(**bad)
    with pytest.raises(BadParameter, match="another question"):
        CountProblem(1).expected_loss(TruncatedLaplace(1, 0, 1, 1, 4))
