"""Theorem and linear program are two ways to one number."""

from fractions import Fraction

from hypothesis import given, settings, strategies as st

from leastnoise.designer import design
from leastnoise.model.graphs import complete, cycle, path
from leastnoise.model.losses import absolute, squared, zero_one

weights = st.lists(st.integers(1, 6), min_size=3, max_size=6)
epsilons = st.sampled_from(["ln(2)", "ln(5/4)", "ln(7)"])


@given(weights=weights, epsilon=epsilons, loss=st.sampled_from([None, absolute, squared, zero_one]))
@settings(max_examples=15)
def test_on_paths_with_any_prior(weights, epsilon, loss):
    prior = [Fraction(weight, sum(weights)) for weight in weights]
    theorem, program = (
        design(path(len(weights)), epsilon, prior=prior, loss=loss, route=route) for route in ("theorem", "lp")
    )
    assert theorem.gap == 0
    assert program.lower_bound.lower <= theorem.loss.lower <= program.loss.upper
    assert program.gap < Fraction(1, 10**9)


@given(weights=weights, epsilon=epsilons)
@settings(max_examples=10)
def test_on_complete_graphs_with_any_prior(weights, epsilon):
    prior = [Fraction(weight, sum(weights)) for weight in weights]
    theorem, program = (
        design(complete(len(weights)), epsilon, prior=prior, route=route) for route in ("theorem", "lp")
    )
    assert program.lower_bound.lower <= theorem.loss.lower <= program.loss.upper


@given(size=st.integers(3, 9), epsilon=epsilons, objective=st.sampled_from(["average", "worst"]))
@settings(max_examples=10)
def test_on_cycles(size, epsilon, objective):
    theorem, program = (design(cycle(size), epsilon, objective=objective, route=route) for route in ("theorem", "lp"))
    assert program.lower_bound.lower <= theorem.loss.lower <= program.loss.upper
