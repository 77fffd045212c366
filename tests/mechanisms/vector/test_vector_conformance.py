"""The K-norm mechanism goes through the suite that every mechanism passes, with every kind of body."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from leastnoise.mechanisms.vector import CountingBody, CrossPolytope, Cube, EuclideanBall, KNorm, Polytope
from leastnoise.model.graphs import from_edges
from mechanisms.conformance import Case, Conformance

BAD_EPSILON = [0, -1, "one", float("nan"), float("inf"), None, True, 1e-9]


def l1(output, answer):
    return sum(abs(y - x) for y, x in zip(output, answer, strict=True))


def k_norm(epsilon, body, changes, sensitivity=1, basis=None, reach=12, left_out="1/1000", **more):
    """Answers on a small box; neighbours differ by one of `changes`, or its opposite."""
    dimension = len(changes[0])
    answers = list(product(range(2), repeat=dimension))
    steps = {*changes, *(tuple(-c for c in change) for change in changes)}
    edges = [
        (x, y)
        for place, x in enumerate(answers)
        for y in answers[place + 1 :]
        if tuple(b - a for a, b in zip(x, y, strict=True)) in steps
    ]
    return Case(
        KNorm,
        {"epsilon": epsilon, "body": body, "sensitivity": sensitivity, "basis": basis},
        answers=answers,
        graph=from_edges(edges, answers),
        outputs=list(product(range(-reach, reach + 2), repeat=dimension)),
        complete=False,
        loss=l1,
        left_out=Fraction(left_out),
        least_quantiles=False,
        samples=50_000,
        bad_parameters={
            "epsilon": BAD_EPSILON,
            "sensitivity": [0, -1, 1.5, None],
            "basis": [[], [[0] * dimension] * dimension, [[1] * 7]],
        },
        bad_answers=[[5678.5] * dimension, [12345] * 7, "12345", [[1234, 5678]], None, [True] * dimension],
        **more,
    )


UNITS = [(1, 0), (0, 1)]
COUNTS = [(1, 0), (0, 1), (1, 1)]
CORNERS = [(1, 0), (0, 1), (1, 1), (1, -1)]

CASES = [
    k_norm("ln(4)", CrossPolytope(2), UNITS),
    k_norm("ln(9)", CrossPolytope(2), COUNTS, sensitivity=2),
    k_norm("ln(6)", Cube(2), CORNERS),
    k_norm(2, Cube(2), CORNERS),
    k_norm("ln(6)", CountingBody(2), COUNTS),
    k_norm("3/2", CountingBody(2), COUNTS, reach=16),
    k_norm("ln(6)", Polytope(tuple(COUNTS)), COUNTS),
    k_norm("ln(12)", Polytope(((1, 0), (0, 1), (1, 2))), [*UNITS, (1, 2)]),
    k_norm(2, Polytope(((1, 0), (0, 1), (1, 1))), COUNTS),
    k_norm(2, EuclideanBall(2, 1), UNITS),
    k_norm("5/2", EuclideanBall(2, 2), CORNERS),
    k_norm("ln(6)", CrossPolytope(2), [(1, 1), (0, 1)], basis=[[1, 0], [1, 1]]),
    k_norm("ln(6)", CrossPolytope(1), [(1,)], basis=[[1]], reach=20),
    k_norm("ln(9)", Polytope(((2,), (3,))), [(1,)], reach=40, tight=False),
]


@pytest.mark.parametrize("case", CASES, ids=str)
class TestVectorMechanisms(Conformance):
    """Bodies with corners in closed form, the hull of columns, the ball, and other lattices."""


def test_a_basis_of_long_columns_does_not_wrap():
    drawn = KNorm("1/1000", CrossPolytope(1), basis=[[2**61]]).draw([0], size=20)
    assert all(isinstance(y, int) and y % 2**61 == 0 for y in drawn.ravel().tolist())
    assert max(map(abs, drawn.ravel().tolist())) > 2**63


def test_answers_are_shifted_by_the_noise_and_nothing_else():
    """The noise is drawn before the answer is looked at: the same bits give the same noise."""
    from leastnoise.exact import SeededSource

    mechanism = KNorm(1, CountingBody(3))
    here, there = (mechanism.draw(x, size=50, source=SeededSource(1)) for x in ([0, 0, 0], [10**6, -5, 7]))
    assert (there - here == np.array([10**6, -5, 7])).all()
