"""Every choice mechanism passes the suite that all mechanisms pass."""

from fractions import Fraction
from itertools import combinations, permutations, product

import numpy as np
import pytest

from leastnoise.mechanisms.choice import (
    ApproximateExponential,
    BestPrice,
    Exponential,
    MostCommon,
    OneShotTopK,
    PeelingTopK,
    PermuteAndFlip,
    RandomizedResponse,
    SubsetSelection,
    UnknownTopK,
)
from leastnoise.model.graphs import complete, from_edges, grid
from mechanisms.conformance import Case, Conformance

BAD = {
    "epsilon": [0, -1, "much", float("nan"), float("inf"), True],
    "sensitivity": [0, -1, "ln(3)", None],
    "candidates": [0, -3, 2.5, [], ["a", "a"]],
    "monotone": [1, "yes", None],
}
BAD_SCORES = [
    [987654],
    [987654, 1234, 987654, 1234, 5],
    [float("nan"), 1234567.5, 1],
    np.array([np.inf, 98765.25, 3.0]),
    np.array([[987654, 1, 2]]),
    ["98765x", 1, 2],
    [True, False, True],
    {"98765": 4},
    None,
    98765,
    np.array([1234567, 1, 2], dtype=np.longdouble),
    np.array([98765 + 2j, 1, 2]),
    np.ma.array([987654, 1, 2], mask=[True, False, False]),
    np.array(98765),
]


def scores_graph(levels, count, sensitivity=1, monotone=False):
    """All score lists of these levels; neighbours as one record may make them."""

    def near(x, y):
        moves = [b - a for a, b in zip(x, y, strict=True)]
        one_way = not monotone or min(moves) >= 0 or max(moves) <= 0
        return one_way and max(map(abs, moves)) <= sensitivity

    nodes = list(product(levels, repeat=count))
    return from_edges([pair for pair in combinations(nodes, 2) if near(*pair)], nodes)


def lists_of_records(values, most):
    """All databases of at most some records, as sorted tuples; neighbours by adding one record."""
    nodes = [x for size in range(most + 1) for x in product(values, repeat=size) if list(x) == sorted(x)]
    edges = [(x, y) for x in nodes for y in nodes if len(y) == len(x) + 1 and _is_part(x, y)]
    return from_edges(edges, nodes)


def _is_part(x, y):
    rest = list(y)
    for record in x:
        if record not in rest:
            return False
        rest.remove(record)
    return True


def case(make, parameters, graph, outputs, **more):
    return Case(make, parameters, answers=tuple(graph.nodes), graph=graph, outputs=outputs, **more)


CASES = [
    case(
        PermuteAndFlip,
        {"epsilon": "2*ln(2)", "candidates": 2, "sensitivity": 1, "monotone": False},
        scores_graph(range(4), 2),
        range(2),
        bad_parameters=BAD,
        bad_answers=[bad for bad in BAD_SCORES if bad is not None],
    ),
    case(
        PermuteAndFlip,
        {"epsilon": "ln(3)", "candidates": ["a", "b", "c"], "sensitivity": "1/2", "monotone": True},
        scores_graph([0, Fraction(1, 2)], 3, Fraction(1, 2), monotone=True),
        "abc",
        bad_parameters=BAD,
        bad_answers=BAD_SCORES,
    ),
    case(
        PermuteAndFlip,
        {"epsilon": 1, "candidates": 3, "monotone": True},
        scores_graph(range(2), 3, monotone=True),
        range(3),
    ),
    case(
        Exponential,
        {"epsilon": "2*ln(2)", "candidates": 3, "sensitivity": 1, "monotone": False},
        scores_graph(range(3), 3),
        range(3),
        tight=False,
        bad_parameters={**BAD, "base": [[1, 2], [0, 0, 0], [1, 1, -1], ["x", 1, 1]]},
        bad_answers=BAD_SCORES,
    ),
    case(
        Exponential,
        {"epsilon": "ln(3)", "candidates": ["a", "b", "c"], "monotone": True, "base": [1, "1/3", 0]},
        scores_graph(range(2), 3, monotone=True),
        "abc",
        tight=False,
    ),
    case(Exponential, {"epsilon": "1/3", "candidates": 2}, scores_graph(range(3), 2), range(2), tight=False),
    case(
        ApproximateExponential,
        {"epsilon": "2*ln(2)", "candidates": 3, "sensitivity": 1, "largest_score": 10},
        scores_graph(range(3), 3),
        range(3),
        tight=False,
        bad_parameters={**BAD, "largest_score": [0, -1, "ln(2)", None]},
        bad_answers=[*BAD_SCORES, ["ln(98765)", 1, 2]],
    ),
    case(
        ApproximateExponential,
        {"epsilon": 1, "candidates": 2, "largest_score": 3, "monotone": True},
        scores_graph(range(4), 2, monotone=True),
        range(2),
        tight=False,
    ),
    case(
        RandomizedResponse,
        {"epsilon": "ln(3)", "options": 4},
        complete(4),
        range(4),
        loss=lambda output, answer: output != answer,
        bad_parameters={"epsilon": BAD["epsilon"], "options": [1, 0, ["a"], ["a", "a"]]},
        bad_answers=[98765, "98765", None, 1.5, [98765]],
    ),
    case(
        SubsetSelection,
        {"epsilon": "ln(3)", "options": 5, "chosen": 2},
        complete(5),
        list(combinations(range(5), 2)),
        bad_parameters={
            "epsilon": BAD["epsilon"],
            "options": [1, 0, ["a"], ["a", "a"]],
            "chosen": [0, 5, 1.5, "x", True],
        },
        bad_answers=[98765, "98765", None, 1.5, [98765]],
    ),
    case(SubsetSelection, {"epsilon": 1, "options": 3}, complete(3), [(0,), (1,), (2,)]),
    case(
        RandomizedResponse,
        {"epsilon": 5, "options": ["yes", "no"]},
        from_edges([("yes", "no")]),
        ["yes", "no"],
        loss=lambda output, answer: output != answer,
    ),
    case(
        PeelingTopK,
        {"epsilon": "2*ln(2)", "candidates": 3, "k": 2, "sensitivity": 1, "monotone": True},
        scores_graph(range(2), 3, monotone=True),
        list(permutations(range(3), 2)),
        epsilon="2*ln(2)",
        tight=False,
        samples=10_000,
        bad_parameters={**BAD, "k": [0, 4, 1.5]},
        bad_answers=BAD_SCORES,
    ),
    case(
        OneShotTopK,
        {"epsilon": "4*ln(2)", "candidates": ["a", "b", "c"], "k": 2},
        scores_graph(range(2), 3),
        list(permutations("abc", 2)),
        epsilon="4*ln(2)",
        tight=False,
        samples=10_000,
        bad_parameters={"k": [0, 4, 1.5]},
        bad_answers=BAD_SCORES,
    ),
    case(
        MostCommon,
        {"epsilon": "ln(3)", "options": 2},
        grid(3, 3),
        range(2),
        bad_parameters={"epsilon": BAD["epsilon"], "options": [0, ["a", "a"]], "replace": [1, None]},
        bad_answers=[[987654], [98765.25, 1], np.array([98765.5, 1.0]), {0: 98765.5}],
    ),
    case(
        MostCommon,
        {"epsilon": "2*ln(3)", "options": 2, "replace": True},
        from_edges([((x, 4 - x), (x + 1, 3 - x)) for x in range(4)]),
        range(2),
    ),
    case(
        BestPrice,
        {"epsilon": "ln(2)", "highest_valuation": 3, "prices": [1, 2], "replace": False},
        lists_of_records([1, 2], 3),
        [1, 2],
        bad_parameters={
            "epsilon": BAD["epsilon"],
            "highest_valuation": [0, -1, "x", float("nan")],
            "prices": [0, [], [0], [4], [1, 1], ["x"]],
            "replace": [1, None],
        },
        bad_answers=[["98765x"], [None], 98765, [[98765]]],
    ),
    case(
        BestPrice,
        {"epsilon": "2*ln(2)", "highest_valuation": 2, "prices": [2, 1], "replace": True},
        from_edges([((1, 1), (1, 2)), ((1, 2), (2, 2))]),
        [1, 2],
        tight=False,
    ),
    Case(
        UnknownTopK,
        {"epsilon": "2*ln(3)", "delta": "1/20", "k": 2, "groups": 2},
        answers=[{"a": 2}, {}, {"a": 3, "b": 1}, {"a": 1}],
        graph=from_edges([("two", "three"), ("nobody", "one"), ("one", "two")], ["two", "nobody", "three", "one"]),
        outputs=[(), ("a",), ("b",), ("a", "b"), ("b", "a")],
        tight=False,  # the threshold is a whole number
        samples=3_000,
        bad_parameters={
            "epsilon": BAD["epsilon"],
            "delta": [0, 1, "x"],
            "k": [0, 101],
            "groups": [0],
            "rows": [0, 1.5],
        },
        bad_answers=[{"a": 98765.5}, [98765], None, {"a": True}],
    ),
]


@pytest.mark.parametrize("case", CASES, ids=str)
class TestChoiceMechanisms(Conformance):
    """Selections, top k, randomized response."""
