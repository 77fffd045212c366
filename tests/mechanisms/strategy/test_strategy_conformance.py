"""Strategies and marginals go through the suite that every mechanism passes."""

import dataclasses
from fractions import Fraction
from itertools import product

import pytest

from leastnoise.composition.gaussian import delta_of
from leastnoise.mechanisms.strategy import (
    IdentityWorkload,
    MappedStrategy,
    MarginalsMechanism,
    PrefixSums,
    PureMarginalsMechanism,
    PureStrategyMechanism,
    Strategy,
    StrategyMechanism,
)
from leastnoise.mechanisms.strategy.marginals import plan_marginals
from leastnoise.model.graphs import from_edges
from leastnoise.model.strategies import StrategyPart
from mechanisms.conformance import Case, Conformance

BAD_MU = [0, -1, "one", float("nan"), None, True]


def small(workload, strategy, inverse, denominator, groups=1):
    """A strategy of small whole numbers, so that its law can be listed."""
    part = StrategyPart(workload, None, strategy, inverse, denominator, 60, dual=inverse)
    return Strategy((part,), "total", groups, 1, "made by hand")


HAND = small(PrefixSums(2), ((1, 0), (1, 1)), ((1,), (-1, 2)), 1)  # G = [[2, 1], [1, 1]]
CELLS = small(IdentityWorkload(2), ((1, 0), (0, 1)), ((1,), (0, 1)), 1, groups=2)
ONE_CELL = from_edges([((0, 0), (1, 0)), ((0, 0), (0, 1)), ((1, 0), (1, 1)), ((0, 1), (1, 1))])
BOTH_CELLS = from_edges([((0, 0), (1, 1))])


def just_above(mu_squared, epsilon):
    """A claim (ε, δ) that holds."""
    return {"epsilon": Fraction(epsilon), "delta": delta_of(Fraction(mu_squared), Fraction(epsilon)).upper}


def strategy(plan, graph, mu_squared):
    mechanism = StrategyMechanism(plan, mu_squared)
    return Case(
        StrategyMechanism,
        {"strategy": plan, "mu_squared": mu_squared},
        answers=tuple(graph.nodes),
        graph=graph,
        outputs=list(product(range(-9, 12), repeat=mechanism.measure(graph.nodes[0]).size)),
        complete=False,
        tight=False,  # the continuous mechanism has exactly this privacy, rounding takes a little away
        least_quantiles=False,
        samples=50_000,
        bad_parameters={"mu_squared": BAD_MU},
        bad_answers=[[5678.5, 1], [12345] * 7, "12345", [[1234, 5678]], None, [True, False]],
        **just_above(mu_squared, 1),
    )


def pure(plan, graph, epsilon):
    return Case(
        PureStrategyMechanism,
        {"strategy": plan, "epsilon": epsilon},
        answers=tuple(graph.nodes),
        graph=graph,
        outputs=list(product(range(-12, 15), repeat=2)),
        complete=False,
        samples=50_000,
        bad_parameters={"epsilon": BAD_MU, "strategy": [dataclasses.replace(plan, norm="l2")]},
        bad_answers=[[5678.5, 1], [12345] * 7, "12345", [[1234, 5678]], None, [True, False]],
    )


def mapped():
    """x ↦ (x₁, x₁ + x₂), measured as it is asked: each answer comes from one noise."""
    square = ((1, 0), (1, 1))
    return Case(
        MappedStrategy,
        {"matrix": square, "strategy": square, "epsilon": "ln(3)"},
        answers=[(0, 0), (1, 1), (0, 1), (1, 2)],
        graph=from_edges([((0, 0), (1, 1)), ((0, 0), (0, 1)), ((1, 1), (1, 2)), ((0, 1), (1, 2))]),
        outputs=list(product(range(-14, 16), repeat=2)),
        complete=False,
        samples=50_000,
        bad_parameters={"epsilon": BAD_MU, "strategy": [((1, 1),), ((1, 0, 0), (0, 1, 0), (0, 0, 1))]},
        bad_answers=[[5678.5, 1], [12345] * 7, "12345", [[1234, 5678]], None, [True, False]],
    )


def marginals():
    plan = plan_marginals((2,), [(0,)])
    return Case(
        MarginalsMechanism,
        {"strategy": plan, "mu_squared": 1, "grid": 0},
        answers=[(0, 0), (1, 0), (1, 1)],
        graph=from_edges([(0, 1), (1, 2)], [0, 1, 2]),
        outputs=list(product(range(-9, 12), range(-11, 14))),
        complete=False,
        tight=False,
        samples=50_000,
        bad_parameters={
            "mu_squared": BAD_MU,
            "groups": [0, 1.5, None],
            "rows": [0, 1.5, None],
            "grid": [-1, 1.5, "fine", 65],
        },
        bad_answers=[[5678.5, 1], [12345] * 7, "12345", [[1234, 5678]], None, [True, False]],
        **just_above(1, 1),
    )


def pure_marginals():
    return Case(
        PureMarginalsMechanism,
        {"sizes": (2,), "tables": [(0,)], "epsilon": "ln(9)"},
        answers=[(0, 0), (1, 0), (1, 1)],
        graph=from_edges([(0, 1), (1, 2)], [0, 1, 2]),
        outputs=list(product(range(-12, 15), repeat=2)),
        complete=False,
        samples=50_000,
        bad_parameters={"epsilon": BAD_MU, "groups": [0, 1.5, None], "rows": [0, 1.5, None], "sizes": [(0,)]},
        bad_answers=[[5678.5, 1], [12345] * 7, "12345", [[1234, 5678]], None, [True, False]],
    )


CASES = [
    strategy(HAND, ONE_CELL, Fraction(1, 2)),
    strategy(CELLS, BOTH_CELLS, Fraction(1)),
    pure(dataclasses.replace(HAND, norm="l1"), ONE_CELL, "ln(9)"),
    pure(dataclasses.replace(CELLS, norm="l1"), BOTH_CELLS, "ln(9)"),
    mapped(),
    marginals(),
    pure_marginals(),
]


@pytest.mark.parametrize("case", CASES, ids=str)
class TestStrategies(Conformance):
    """Measurements of a histogram, and of the interactions of marginal tables."""


@pytest.mark.slow
def test_the_squared_error_is_the_expectation_of_the_law():
    """From the measurements x₀ and x₀ + x₁ both prefix sums are read off as they are."""
    case = CASES[0]
    for answer, row in zip(case.answers, case.law(), strict=True):
        pairs = zip(case.outputs, row, strict=False)
        expected = sum(float(p) * ((y[0] - answer[0]) ** 2 + (y[1] - sum(answer)) ** 2) for y, p in pairs)
        assert abs(expected / float(case.mechanism.error().expected) - 1) < 1e-3
