"""The mechanisms that theorems give go through the suite that every mechanism passes."""

from fractions import Fraction

import pytest

from leastnoise.designer.theorems import recognise
from leastnoise.model.design_problem import read_problem
from leastnoise.model.graphs import complete, cycle, from_edges, grid, hypercube, path
from leastnoise.model.losses import from_function, squared, zero_one
from mechanisms.conformance import Case, Conformance

LETTERS = from_edges([("b", "a"), ("b", "c")])
RARE = {"a": Fraction(1, 2), "b": Fraction(1, 4), "c": Fraction(1, 4)}


def by_theorem(graph, epsilon, **options):
    return recognise(read_problem(graph, epsilon, **options)).mechanism


def distance_in(graph):
    return lambda output, answer: Fraction(int(graph.distance(output, answer)))


def case(graph, epsilon, cost, outputs=None, least_quantiles=True, **options):
    nodes = list(graph.nodes)
    return Case(
        by_theorem,
        {"graph": graph, "epsilon": epsilon, **options},
        nodes,
        graph,
        list(outputs or nodes),
        loss=cost,
        samples=20_000,
        least_quantiles=least_quantiles,
        bad_answers=["secret", 12345, None],
    )


def gap(output, answer):
    return abs(output - answer)


def square(output, answer):
    return (output - answer) ** 2


HALVES = [0, Fraction(1, 2), 1, 2]
CASES = [
    case(path(4), "ln(2)", distance_in(path(4))),
    case(path(3), 1, distance_in(path(3))),
    case(path(4), "ln(2)", square, prior=["1/2", "1/4", "1/8", "1/8"], loss=squared),
    case(path(3), "ln(2)", gap, outputs=HALVES, loss=from_function(gap, HALVES)),
    case(LETTERS, "ln(3)", distance_in(LETTERS), prior=RARE),
    case(cycle(5), "ln(2)", distance_in(cycle(5))),
    case(cycle(4), 1, distance_in(cycle(4))),
    case(hypercube(2), "ln(3)", distance_in(hypercube(2))),
    case(grid(2, 3), "ln(2)", distance_in(grid(2, 3)), least_quantiles=False),
    case(complete(3), "ln(2)", lambda w, x: int(w != x), prior=[0.5, 0.4, 0.1], loss=zero_one),
]


@pytest.mark.parametrize("case", CASES, ids=str)
class TestTheoremMechanisms(Conformance):
    """Remapped geometric, exponential of the distance, likeliest response."""
