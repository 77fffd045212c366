"""Every rainbow mechanism passes the suite that all mechanisms pass."""

import numpy as np
import pytest

from leastnoise.mechanisms.rainbow.boundary import lines_graph
from leastnoise.model.graphs import path
from leastnoise.rainbow import PluralityDecision, RainbowMechanism, ThresholdDecision
from mechanisms.conformance import Case, Conformance
from mechanisms.rainbow.examples import votes

BAD = {
    "epsilon": [-1, "much", float("nan"), float("inf"), True],
    "delta": [1, -0.1, "x", float("nan"), "ln(2)"],
}
BAD_SUMS = [float("nan"), float("inf"), "98765x", None, True, [98765], "ln(98765)"]
BAD_COUNTS = [
    [98765],
    [98765, 1, 2, 3],
    [-98765, 1, 2],
    [98765.5, 1, 2],
    ["98765x", 1, 2],
    {"a": -98765},
    {"a": 98765.25},
    98765,
    None,
    "123",
    np.ma.array([98765, 1, 2], mask=[True, False, False]),
    np.array([[98765, 1, 2]]),
]


def wrong_vote(output, counts):
    return int("abc".index(output) != counts.index(max(counts)))


def wrong_limit(limit):
    return lambda output, count: int(output != (count >= limit))


def lines(rainbows, depth):
    touching = frozenset((i, j) for j in range(len(rainbows)) for i in range(j))
    return lines_graph(rainbows, (depth,) * len(rainbows), touching)


ABC = (("a", "b", "c"), ("b", "c", "a"), ("c", "a", "b"))
FOLDED = lines(ABC, 4)
BOUNDARY = {ABC[0]: [0.5, 0.3, 0.2], ABC[1]: [0.5, 0.25, 0.25], ABC[2]: [0.4, 0.3, 0.3]}

CASES = [
    Case(
        ThresholdDecision,
        {"epsilon": "ln(2)", "at_least": 4},
        answers=range(9),
        graph=path(9),
        outputs=[True, False],
        loss=wrong_limit(4),
        bits=16,
        bad_parameters={
            **BAD,
            "at_least": [0, -3, "many", float("nan")],
            "bounds": [(1, 0), (0, 0), 7, (0, float("inf"))],
            "replace": [1, "yes"],
            "options": [("yes",), ("yes", "no", "perhaps"), ("yes", "yes")],
        },
        bad_answers=BAD_SUMS,
    ),
    Case(
        ThresholdDecision,
        {"epsilon": "ln(6/5)", "delta": "1/50", "at_least": 3},
        answers=range(30),
        graph=path(30),
        outputs=[True, False],
        loss=wrong_limit(3),
        bits=16,
    ),
    Case(
        ThresholdDecision,
        {"epsilon": "1/2", "delta": "1e-3", "at_least": 2},
        answers=range(6),
        graph=path(6),
        outputs=[True, False],
        loss=wrong_limit(2),
        bits=16,
    ),
    Case(
        ThresholdDecision,
        {"epsilon": 0, "delta": "1/10", "at_least": 5},
        answers=range(12),
        graph=path(12),
        outputs=[True, False],
        loss=wrong_limit(5),
        tight=False,  # there is no smaller ε
        bits=16,
    ),
    *(
        Case(
            PluralityDecision,
            {"epsilon": "ln(3)", "delta": delta, "options": ["a", "b", "c"], "contribution": 1, "replace": replace},
            answers=graph.nodes,
            graph=graph,
            outputs=["a", "b", "c"],
            loss=wrong_vote,
            bits=16,
            bad_parameters={
                **BAD,
                "options": [["a"], ["a", "a"], "abc", 5, [["a"], ["b"]]],
                "contribution": [0, -1, 1.5, "x"],
                "replace": [1, None],
            },
            bad_answers=BAD_COUNTS,
        )
        for delta, replace in ((0, False), ("1/20", True))
        for graph in [votes(3, 3, replace=replace)]
    ),
    Case(
        RainbowMechanism,
        {"epsilon": "ln(2)", "delta": "1/100", "boundary": BOUNDARY},
        answers=FOLDED.nodes,
        graph=FOLDED,
        outputs=["a", "b", "c"],
        loss=lambda output, answer: int(output != answer[0][0]),
        bits=16,
        bad_parameters={**BAD, "boundary": [{}, 3, {ABC[0]: [1, 1, 1]}, {ABC[0]: [1, 0, 0], ABC[1]: [1, 0, 0]}]},
        bad_answers=[(ABC[0], -98765), (ABC[0], 98765.5), (("a", "c", "b"), 98765), 98765, None, ("98765x", 1)],
    ),
]


@pytest.mark.parametrize("case", CASES, ids=str)
class TestRainbowMechanisms(Conformance):
    """The mechanism on lines, and the decisions."""
