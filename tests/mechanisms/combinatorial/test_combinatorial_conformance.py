"""Cuts and facilities go through the suite that every mechanism passes, on all graphs and demands of a small size."""

from fractions import Fraction
from itertools import combinations

import pytest

from leastnoise.exact import read_exact
from leastnoise.mechanisms.combinatorial import (
    ExponentialCut,
    KMedian,
    KWayCut,
    NodeCut,
    PerfectCut,
    RaisedCut,
    StoppedCut,
    WeighedCut,
)
from leastnoise.model.graphs import from_edges
from mechanisms.conformance import Case, Conformance

BAD_GRAPHS = [[(12345,)], 12345, [(0, 1, 2, 12345)]]  # edges to strangers are dropped
PAIRS = list(combinations(range(3), 2))
GRAPHS = [tuple(pair for place, pair in enumerate(PAIRS) if code >> place & 1) for code in range(8)]
ONE_EDGE = from_edges([(x, y) for x in GRAPHS for y in GRAPHS if set(x) < set(y) and len(y) == len(x) + 1], GRAPHS)
CUTS = [frozenset(cut) for cut in ({1}, {2}, {1, 2})]
DEMANDS = [(), (0,), (1,), (2,), (0, 1), (1, 2)]
ONE_DEMAND = from_edges(
    [(x, y) for x in DEMANDS for y in DEMANDS if len(y) == len(x) + 1 and set(x) <= set(y)], DEMANDS
)


def cuts(make, **parameters):
    return Case(
        make,
        {"nodes": 3, **parameters},
        answers=GRAPHS,
        graph=ONE_EDGE,
        outputs=CUTS,
        epsilon=read_exact(parameters["epsilon"], "epsilon"),
        tight=False,
        samples=4000,
        bad_parameters={"epsilon": [0, -1, "one", float("nan"), None], "nodes": [0, 1, -1, 2.5, [1, 1]]},
        bad_answers=BAD_GRAPHS,
    )


def weighed(epsilon):
    return Case(
        WeighedCut,
        {"cut": ExponentialCut(epsilon, 3), "epsilon": epsilon},
        answers=GRAPHS,
        graph=ONE_EDGE,
        outputs=[(cut, Fraction(weight)) for cut in CUTS for weight in range(-6, 9)],
        complete=False,
        epsilon=2 * read_exact(epsilon, "epsilon"),
        tight=False,
        samples=4000,
        bad_parameters={"epsilon": [0, -1, "one", float("nan"), None], "cut": [None, 3]},
        bad_answers=BAD_GRAPHS,
    )


def in_parts(epsilon):
    return Case(
        KWayCut,
        {"nodes": 3, "parts": 2, "epsilon": epsilon},
        answers=GRAPHS,
        graph=ONE_EDGE,
        outputs=[frozenset({cut, frozenset(range(3)) - cut}) for cut in CUTS],
        epsilon=read_exact(epsilon, "epsilon"),
        tight=False,
        samples=4000,
        bad_parameters={"epsilon": [0, -1, "one", float("nan"), None], "parts": [0, 1, 4, 2.5, None]},
        bad_answers=BAD_GRAPHS,
    )


def facilities(**parameters):
    return Case(
        KMedian,
        {"k": 1, "points": [[0], [1], [3]], **parameters},
        answers=DEMANDS,
        graph=ONE_DEMAND,
        outputs=[(0,), (1,), (2,)],
        epsilon=read_exact(parameters["epsilon"], "epsilon"),
        tight=False,
        samples=4000,
        bad_parameters={"epsilon": [0, -1, "one", float("nan"), None], "k": [0, 4, 1.5, None]},
        bad_answers=["12345", [1234.5]],
    )


CASES = [
    cuts(ExponentialCut, epsilon="ln(4)"),
    cuts(ExponentialCut, epsilon=1),
    *(in_parts(epsilon) for epsilon in ("ln(4)", 1)),
    cuts(PerfectCut, epsilon=1),
    cuts(NodeCut, epsilon="ln(4)"),
    cuts(StoppedCut, epsilon="ln(4)"),
    cuts(StoppedCut, epsilon=1),
    cuts(RaisedCut, epsilon=2),
    *(weighed(epsilon) for epsilon in ("ln(4)", 1)),
    facilities(epsilon="ln(16)", steps=2),
    facilities(epsilon=1, steps=1),
]


@pytest.mark.parametrize("case", CASES, ids=str)
class TestCombinatorialMechanisms(Conformance):
    """On three nodes, and on three places."""
