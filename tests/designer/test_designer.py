"""Designs are optimal, private and proven: against the exact simplex, across routes, and by the checker."""

import inspect
import pickle
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given, settings, strategies as st

import leastnoise as ln
from leastnoise.checker import check
from leastnoise.designer import design
from leastnoise.errors import (
    BadGraph,
    BadLoss,
    BadParameter,
    BadPrior,
    InfiniteGraph,
    LeastNoiseError,
    TooLarge,
    UnknownLabel,
)
from leastnoise.exact import exp_enclosure, read_exact
from leastnoise.model import losses
from leastnoise.model.certificate import Certificate
from leastnoise.model.graphs import complete, cycle, from_distance, from_edges, grid, hypercube, integers, path
from leastnoise.model.remapping import expected_loss, optimal_remap, worst_case_loss
from support.programs import least_loss

TINY = Fraction(1, 10**9)
SHAPES = [path(6), cycle(6), hypercube(3), complete(4), grid(2, 3), from_edges([(0, 1), (1, 2), (2, 0), (2, 3)])]


@st.composite
def requests(draw):
    """A small graph with a loss of any sign and shape, for as many outputs as it likes."""
    size, outputs = draw(st.integers(2, 4)), draw(st.integers(1, 3))
    tree = [(i, draw(st.integers(0, i - 1))) for i in range(1, size)]
    more = draw(st.lists(st.tuples(st.integers(0, size - 1), st.integers(0, size - 1)), max_size=3))
    graph = from_edges({(min(pair), max(pair)) for pair in [*tree, *more] if pair[0] != pair[1]})
    number = st.builds(Fraction, st.integers(-4, 8), st.integers(1, 3))
    table = [[draw(number) for _ in range(size)] for _ in range(outputs)]
    weights = draw(st.lists(st.integers(0, 4), min_size=size, max_size=size).filter(any))
    prior = None if draw(st.booleans()) else [Fraction(weight, sum(weights)) for weight in weights]
    factor = draw(st.sampled_from([Fraction(3, 2), Fraction(2), Fraction(7)]))
    delta = draw(st.sampled_from([Fraction(0), Fraction(0), Fraction(1, 7), Fraction(1, 1000)]))
    return graph, table, prior, factor, delta


@pytest.mark.slow
@settings(max_examples=60)
@given(requests(), st.sampled_from(["symmetry", "lp"]))
def test_the_loss_is_that_of_the_exact_simplex(request, route):
    graph, table, prior, factor, delta = request
    best = design(
        graph,
        f"ln({factor})",
        delta,
        prior=None if prior is None else dict(zip(graph.nodes, prior, strict=True)),
        loss=losses.from_matrix(table, guesses=[f"answer {y}" for y in range(len(table))], inputs=graph.nodes),
        objective="worst" if prior is None else "average",
        route=route,
    )
    assert best.loss.lower == best.loss.upper == least_loss(graph, factor, table, delta, prior)
    assert best.is_optimal
    written = Certificate.from_json(best.certificate.to_json())  # reading checks that every row sums to one
    assert check(written)


@pytest.mark.slow
@pytest.mark.parametrize("objective", ["average", "worst"])
@pytest.mark.parametrize("delta", [0, "1/20"])
@pytest.mark.parametrize("graph", SHAPES, ids=str)
def test_routes_agree_exactly(graph, delta, objective):
    by_orbits, by_pairs = (
        design(graph, "ln(3)", delta, objective=objective, route=route) for route in ("symmetry", "lp")
    )
    assert by_orbits.loss == by_pairs.loss
    assert by_orbits.is_optimal
    assert by_pairs.is_optimal
    assert by_orbits.route == "symmetry"
    assert by_pairs.route == "lp"
    assert check(by_orbits.certificate)
    assert check(by_pairs.certificate)


@pytest.mark.parametrize("graph", [path(7), cycle(7), hypercube(3), complete(5)], ids=str)
def test_theorems_agree_exactly_with_the_program(graph):
    known, found = (design(graph, "ln(2)", route=route) for route in ("theorem", "symmetry"))
    assert known.loss == found.loss
    assert known.route == "theorem"


@pytest.mark.slow
@pytest.mark.parametrize("size", [20, 40, 60])
def test_it_is_private_at_every_diameter(size):
    """Where ε·diameter is above 18, what solvers call optimal has a tight ε of infinity; ours has at most ε."""
    prior = [Fraction(2 * x + 1, size**2) for x in range(size)]
    best = design(path(size), 1, prior=prior, route="lp")
    verdict = check(best.channel, path(size), 1)
    assert verdict
    assert verdict.tight_epsilon <= 1
    assert best.gap <= TINY * best.loss.lower
    assert best.lower_bound.lower <= best.loss.lower
    assert min(min(row) for row in best.channel.rationals().rows if any(row)) >= 0


@pytest.mark.parametrize("epsilon", ["1/1000", "1/3", 5, 40, 100])
@pytest.mark.parametrize("objective", ["average", "worst"])
def test_the_gap_is_small_at_every_epsilon(epsilon, objective):
    best = design(grid(2, 3), epsilon, objective=objective, route="symmetry")
    assert 0 <= best.gap <= TINY * best.loss.lower
    assert check(best.certificate)


@given(st.integers(-12, 12), st.integers(-60, 60))
@settings(max_examples=15)
def test_the_unit_of_the_loss_does_not_matter(exponent, offset):
    """ℓ·10^k + c is designed like ℓ, however large or small its values."""
    scale = Fraction(10) ** exponent
    moved = losses.from_function(lambda w, x: scale * abs(w - x) + offset)
    plain, other = (design(path(4), "ln(2)", loss=loss, route="lp") for loss in (losses.absolute, moved))
    assert other.loss.lower == scale * plain.loss.lower + offset
    assert other.is_optimal
    assert check(other.certificate)


def test_a_metric_asks_for_each_length_its_own_factor():
    triangle = from_distance([[0, 1, "3/2"], [1, 0, 1], ["3/2", 1, 0]], "abc")
    exact, rounded = (design(triangle, epsilon, route="symmetry") for epsilon in ("ln(4)", 1))
    assert exact.is_optimal
    assert check(exact.certificate)
    assert 0 < rounded.gap < TINY
    assert check(rounded.certificate)
    line = from_distance([[0, 1, 2], [1, 0, 1], [2, 1, 0]])
    assert design(line, "ln(3)", route="lp").loss == design(path(3), "ln(3)", route="lp").loss
    assert check(design(line, 1, "1/50", route="lp").certificate)


@settings(max_examples=15)
@given(st.lists(st.tuples(st.integers(0, 10**9), st.integers(0, 10**9)), min_size=2, max_size=6, unique=True))
def test_a_metric_may_have_a_fine_unit(points):
    """Points of the plane, distances in billionths: potentials are large whole numbers, and nothing is rounded."""
    table = [[Fraction(abs(a - c) + abs(b - d), 10**9) for c, d in points] for a, b in points]
    plane = from_distance(table)
    best = design(plane, 3, route="lp")
    assert 0 <= best.gap <= TINY * best.loss.lower
    assert check(best.certificate)


def test_outputs_need_not_be_inputs():
    """Half-way answers, too few answers, and a reader's best use of what a wider design tells."""
    coarse = design(path(5), "ln(2)", loss=losses.absolute, outputs=[0.5, 3.5])
    assert coarse.channel.outputs == (0.5, 3.5)
    table = [[abs(Fraction(str(y)) - x) for x in range(5)] for y in (0.5, 3.5)]
    assert coarse.loss.lower == least_loss(path(5), Fraction(2), table, prior=[Fraction(1, 5)] * 5)
    assert check(coarse.certificate)
    full = design(path(5), "ln(2)")
    assert full.loss.lower < coarse.loss.lower


def test_a_rational_reader_gains_nothing_where_outputs_are_guesses():
    best = design(path(6), "ln(2)", prior=["1/2", "1/10", "1/10", "1/10", "1/10", "1/10"], route="lp")
    prior = best.problem.weights
    assert expected_loss(prior, best.channel, losses.absolute, remap=False) == best.loss.lower
    assert optimal_remap(prior, best.channel, losses.absolute).loss == best.loss.lower
    fixed = design(path(6), "ln(2)", prior=list(prior), reader="fixed", route="lp")
    assert fixed.loss == best.loss


def test_the_worst_loss_is_the_largest_of_an_input():
    best = design(path(5), "ln(2)", objective="worst")
    assert worst_case_loss(best.channel, losses.absolute).loss == best.loss.lower
    average = design(path(5), "ln(2)")
    assert worst_case_loss(average.channel, losses.absolute).loss > best.loss.lower > average.loss.lower


@pytest.mark.slow
def test_delta_helps_and_epsilon_may_then_be_zero():
    pure, little, much = (design(cycle(5), "ln(2)", delta, route="lp").loss.lower for delta in (0, "1e-9", "1/10"))
    assert much < little < pure
    large = design(path(12), "ln(3)", "1/1000", route="lp")  # too large for exact elimination: refined, then recognised
    assert large.is_optimal
    assert large.loss == design(path(12), "ln(3)", "1/1000", route="symmetry").loss
    shift = design(path(3), 0, "1/10", route="lp")
    assert shift.is_optimal
    assert check(shift.certificate)


def test_a_certificate_that_was_tampered_with_is_refused():
    certificate = design(path(4), "ln(2)", route="lp").certificate
    first, *others = certificate.multipliers
    assert check(certificate)
    for changed in (
        replace(certificate, value=certificate.value - TINY, gap=certificate.gap - TINY),
        replace(certificate, lower_bound=certificate.lower_bound + TINY, gap=certificate.gap - TINY),
        replace(certificate, multipliers=(first._replace(value=first.value * 2), *others)),
        replace(certificate, multipliers=tuple(others)),
        replace(certificate, factors=((Fraction(1), Fraction(3, 2)),)),
        replace(certificate, channel=design(path(4), "ln(3)", route="lp").channel),
        replace(certificate, prior=(*certificate.prior[:-1], Fraction(1))),
    ):
        assert not check(changed)


def test_symmetry_that_the_prior_or_the_loss_breaks_is_not_used():
    lopsided = design(cycle(5), "ln(2)", prior=[1, 0, 0, 0, 0], loss=losses.zero_one, route="symmetry")
    assert lopsided.loss.lower == 0
    skew = losses.from_function(lambda w, x: (w - x) % 5)
    by_orbits, by_pairs = (design(cycle(5), "ln(2)", loss=skew, route=route) for route in ("symmetry", "lp"))
    assert by_orbits.loss == by_pairs.loss
    assert by_orbits.route == "symmetry"  # rotations keep it, reflections do not


def test_the_front_door_is_the_function():
    assert ln.design is ln.design is design
    assert inspect.signature(ln.design) == inspect.signature(design)
    assert pickle.loads(pickle.dumps(ln.design)) is design  # noqa: S301 - its own bytes


@pytest.mark.parametrize(
    ("change", "error", "text"),
    [
        ({"epsilon": 0}, BadParameter, "epsilon must be above 0"),
        ({"epsilon": -1}, BadParameter, "epsilon"),
        ({"epsilon": float("nan")}, BadParameter, "epsilon"),
        ({"delta": 1}, BadParameter, "delta"),
        ({"delta": -0.1}, BadParameter, "delta"),
        ({"prior": [0.5, 0.4, 0.2]}, BadPrior, "sum to exactly 1"),
        ({"prior": [0.5, 0.5]}, BadPrior, "3 inputs"),
        ({"prior": {"a": 1}}, UnknownLabel, "input"),
        ({"prior": [1, 0, 0], "objective": "worst"}, BadPrior, "does not depend on a prior"),
        ({"loss": losses.from_function(lambda *_: float("nan"))}, BadLoss, "guessing 0 for 0"),
        ({"loss": abs}, BadLoss, "a loss is a `Loss`"),
        ({"outputs": [0, 7]}, BadLoss, "no node"),
        ({"outputs": []}, LeastNoiseError, "outputs"),
        ({"outputs": [0, 1], "loss": losses.zero_one.guessing([0, 1, 2])}, BadParameter, "reader"),
        ({"objective": "median"}, BadParameter, "objective"),
        ({"reader": "tired"}, BadParameter, "reader"),
        ({"route": "luck"}, BadParameter, "route"),
        ({"time_limit": 0}, BadParameter, "time_limit"),
        ({"graph": "path:1"}, LeastNoiseError, "path"),
        ({"graph": [[0, 1]]}, BadGraph, "graph or a metric"),
        (
            {"graph": integers(), "objective": "average", "loss": losses.zero_one, "route": "lp"},
            InfiniteGraph,
            "finite part",
        ),
        ({"graph": integers(), "prior": {0: 1}}, BadPrior, "infinite"),
        ({"graph": from_edges([(0, 1), (1, 2), (2, 0), (2, 3)]), "route": "theorem"}, BadParameter, "no theorem"),
        ({"graph": from_distance([[0, "1e-20", 1], ["1e-20", 0, 1], [1, 1, 0]])}, TooLarge, "too fine a common unit"),
        ({"graph": hypercube(10), "route": "lp"}, TooLarge, "10,485,760 constraints"),
    ],
    ids=str,
)
def test_bad_requests_are_refused_with_what_to_do(change, error, text):
    with pytest.raises(error, match=text) as caught:
        design(**{"graph": path(3), "epsilon": "ln(2)", **change})
    assert caught.value.fix


def test_an_irrational_factor_is_taken_on_the_private_side():
    """For ε = 1 the channel's ratios stay below e, the certificate's factor above."""
    best = design(path(4), 1, route="lp")
    enclosure = exp_enclosure(read_exact(1, "epsilon"), 256)
    rows = best.channel.rationals().rows
    ratios = [p / q for one, other in pairwise(rows) for p, q in zip(one, other, strict=True) if q]
    assert max(ratios) < enclosure.lower
    assert max(ratios) > enclosure.lower * (1 - TINY)
    assert dict(best.certificate.factors)[Fraction(1)] > enclosure.upper
