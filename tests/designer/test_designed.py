"""A designed mechanism is a mechanism like any other."""

from fractions import Fraction

import pytest

from leastnoise.designer import design
from leastnoise.model import losses
from leastnoise.model.events import Approximate, Pure
from leastnoise.model.graphs import cycle, from_edges, grid, path
from mechanisms.conformance import Case, Conformance

LOLLIPOP = from_edges([("a", "b"), ("b", "c"), ("c", "a"), ("c", "d")])
DISTANCE = {frozenset("ad"): 2, frozenset("bd"): 2}


def _mechanism(**request):
    return design(route="symmetry", **request).mechanism


def _lollipop_distance(output, answer):
    return 0 if output == answer else DISTANCE.get(frozenset((output, answer)), 1)


BAD = {"epsilon": [0, -1, "many"], "delta": [-1, 1]}
CASES = [
    Case(
        _mechanism,
        {"graph": path(4), "epsilon": "ln(2)"},
        answers=range(4),
        graph=path(4),
        outputs=range(4),
        loss=lambda y, x: abs(y - x),
        samples=20_000,
        bad_parameters=BAD,
        bad_answers=[7777, "secret 1234", None, [1234]],
    ),
    Case(
        _mechanism,
        {"graph": LOLLIPOP, "epsilon": 1},
        answers=LOLLIPOP.nodes,
        graph=LOLLIPOP,
        outputs=LOLLIPOP.nodes,
        loss=_lollipop_distance,
        samples=20_000,
        bad_answers=["secret 1234"],
    ),
    Case(
        _mechanism,
        {"graph": cycle(5), "epsilon": "ln(2)", "delta": "1/10"},
        answers=range(5),
        graph=cycle(5),
        outputs=range(5),
        loss=lambda y, x: min((y - x) % 5, (x - y) % 5),
        samples=20_000,
        bad_answers=[-1234],
    ),
    Case(
        _mechanism,
        {"graph": grid(2, 2), "epsilon": "ln(3)", "objective": "worst"},
        answers=grid(2, 2).nodes,
        graph=grid(2, 2),
        outputs=grid(2, 2).nodes,
        loss=lambda y, x: abs(y[0] - x[0]) + abs(y[1] - x[1]),
    ),
    Case(
        _mechanism,
        {"graph": path(5), "epsilon": "ln(2)", "loss": losses.squared, "outputs": (1, 3)},
        answers=range(5),
        graph=path(5),
        outputs=(1, 3),
        loss=lambda y, x: (y - x) ** 2,
    ),
]


@pytest.mark.parametrize("case", CASES, ids=str)
class TestDesignedMechanisms(Conformance):
    """Designs with and without δ, with other outputs, for the worst input."""


def test_the_event_says_the_price():
    assert design(path(3), "ln(2)", route="lp").mechanism.event == Pure("ln(2)")
    assert design(path(3), "ln(2)", "1/10", route="lp").mechanism.event == Approximate("ln(2)", "1/10")


def test_the_reason_carries_the_bound():
    best = design(path(3), "ln(2)", route="lp")
    assert best.mechanism.reason().lower_bound.lower == best.loss.lower == Fraction(5, 9)
    assert best.reason == best.mechanism.reason()


def test_a_design_releases_without_showing_predictable_noise():
    best = design(path(3), "ln(2)", route="lp")
    assert best.release(1) in range(3)
    assert "optimal" in repr(best)


def test_mechanisms_are_equal_by_law_and_promise():
    one, same, other = (design(path(3), epsilon, route="lp").mechanism for epsilon in ("ln(2)", "ln(2)", "ln(3)"))
    assert one == same
    assert hash(one) == hash(same)
    assert one != other
    assert one != "path"
