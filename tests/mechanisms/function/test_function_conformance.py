"""Every mechanism for a function of one's own passes the suite that all mechanisms pass."""

from fractions import Fraction

import pytest

from leastnoise.mechanisms.function import InverseSensitivity, SmoothSensitivity
from leastnoise.model.graphs import cycle, from_distance, grid, hypercube, path
from mechanisms.conformance import Case, Conformance

EPSILON = [0, -1, "much", float("nan"), float("inf"), True]
GRAPH = ["graph", 3, "integers", None]
NODES = [98765, "98765", None, [98765], {"98765": 1}, 98765.5]


def case(make, parameters, **more):
    graph = parameters["graph"]
    mechanism = make(**parameters)
    answers = tuple(graph.nodes)
    return Case(make, parameters, answers, graph, mechanism.outputs, bad_answers=NODES, **more)


def second_largest(node):
    return sorted(node)[-2]


def three_steps(node):
    return min(node // 2, 2)


def is_large(node):
    return "large" if node > 2 else "small"


def corners(node):
    return node[0] * node[1]


def square(node):
    return node * node


def ones(node):
    return sum(node)


def points(places):
    """A metric on a line, with distances that are no whole numbers."""
    numbers = [Fraction(place) for place in places]
    return from_distance([[abs(x - y) for y in numbers] for x in numbers], places)


BAD = {"epsilon": EPSILON, "graph": GRAPH, "function": [3, {0: 1}], "method": ["best", 2]}

CASES = [
    case(InverseSensitivity, {"epsilon": "2*ln(2)", "graph": path(6), "function": three_steps}, tight=False,
         bad_parameters=BAD),
    case(InverseSensitivity, {"epsilon": "ln(3)", "graph": path(6), "function": is_large}, bad_parameters=BAD),
    case(InverseSensitivity, {"epsilon": 1, "graph": path(6), "function": is_large}),
    case(InverseSensitivity, {"epsilon": "2*ln(3)", "graph": grid(3, 3), "function": corners, "method": "exponential"},
         tight=False),
    case(InverseSensitivity, {"epsilon": "1/2", "graph": hypercube(3), "function": second_largest,
                              "method": "permute and flip"}, tight=False),
    case(InverseSensitivity, {"epsilon": 1, "graph": points(["0", "1/2", "2"]),
                              "function": {"0": 0, "1/2": 1, "2": 0}}),
    case(SmoothSensitivity, {"epsilon": "2*ln(2)", "graph": path(6), "function": square}, tight=False,
         loss=lambda y, x: abs(y - x * x),
         bad_parameters={"epsilon": EPSILON, "graph": [*GRAPH, points(["0", "1"])], "function": [3, {0: 1}, is_large],
                         "outputs": [[], ["x"]], "power": [0, 65, "x", 1.5]}),
    case(SmoothSensitivity, {"epsilon": "1/10", "graph": cycle(7), "function": three_steps, "power": 2,
                             "outputs": [0, "1/2", 1, "3/2", 2, 7]}, tight=False,
         loss=lambda y, x: abs(y - three_steps(x))),
    case(SmoothSensitivity, {"epsilon": 5, "graph": hypercube(3), "function": ones, "power": 1}, tight=False,
         loss=lambda y, x: abs(y - ones(x))),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=str)
class TestFunctionMechanisms(Conformance):
    """Inverse and smooth sensitivity."""
