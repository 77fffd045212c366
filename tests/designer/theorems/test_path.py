"""On a path, and on evenly spaced points, the theorem's optimum is the linear program's, and its proof checks."""

import json
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from leastnoise.checker import check
from leastnoise.designer.theorems import recognise
from leastnoise.designer.theorems.path import best_reading, recognise_path
from leastnoise.errors import BadParameter
from leastnoise.exact import SeededSource, ln
from leastnoise.exact.numbers import exact_exp
from leastnoise.mechanisms import TruncatedGeometric
from leastnoise.model.certificate import Certificate, OptimalityCertificate
from leastnoise.model.design_problem import read_problem
from leastnoise.model.graphs import complete, cycle, from_distance, from_edges, grid, path
from leastnoise.model.graphs.path_cycle_complete import find_line
from leastnoise.model.losses import absolute, from_function, from_matrix, squared, zero_one
from leastnoise.model.priors import uniform
from leastnoise.model.reading_certificates import LineCertificate
from leastnoise.model.remapping import expected_loss
from leastnoise.model.uniform_count import uniform_count
from support.optimum import least_loss
from support.statistics import fits

priors = st.lists(st.integers(0, 5), min_size=2, max_size=4).filter(any)
epsilons = st.sampled_from(["ln(2)", "ln(3)", "ln(6/5)", "ln(10)"])


@st.composite
def legal_losses(draw, size):
    """m(|w − x|, x) with an m that grows in its first argument."""
    steps = [draw(st.lists(st.integers(0, 4), min_size=size, max_size=size)) for _ in range(size)]
    heights = [np.cumsum(row).tolist() for row in steps]
    return from_matrix([[heights[x][abs(w - x)] for x in range(size)] for w in range(size)])


@given(data=st.data(), weights=priors, epsilon=epsilons)
@settings(max_examples=25)
def test_it_is_the_optimum_for_every_prior_and_legal_loss(data, weights, epsilon):
    size = len(weights)
    prior = [Fraction(weight, sum(weights)) for weight in weights]
    problem = read_problem(path(size), epsilon, prior=prior, loss=data.draw(legal_losses(size)))
    found = recognise(problem)
    assert found is not None
    assert found.is_optimal
    edges = list(pairwise(range(size)))
    assert found.loss.lower == least_loss(
        problem.loss_table.rows, edges, exact_exp(problem.privacy.epsilon), problem.weights
    )
    assert check(found.certificate)
    assert expected_loss(prior, found.channel, problem.loss, remap=False) == found.loss.lower


@given(data=st.data(), weights=priors)
@settings(max_examples=15)
def test_for_any_other_loss_the_sweep_says_whether_it_is_optimal(data, weights):
    size = len(weights)
    costs = data.draw(st.lists(st.lists(st.integers(-3, 3), min_size=size, max_size=size), min_size=2, max_size=3))
    prior = [Fraction(weight, sum(weights)) for weight in weights]
    problem = read_problem(path(size), "ln(2)", prior=prior, loss=from_matrix(costs))
    reading = best_reading(Fraction(1, 2), problem.loss_table, prior)
    optimum = least_loss(costs, list(pairwise(range(size))), 2, prior)
    assert reading.loss >= optimum
    assert (recognise_path(problem) is not None) == (reading.loss == optimum)


@pytest.mark.parametrize(
    ("weights", "costs"),
    [
        ([5, 2, 5, 5], [[0, -3, 0, 3], [-1, 1, 1, -2]]),
        ([5, 2, 3], [[-2, -1, 2], [-3, 3, 0], [1, -1, 3]]),
        ([1, 4, 5], [[-3, 2, -1], [1, -2, 1]]),
        ([5, 1, 4, 2], [[2, -3, 0, 2], [2, -2, 2, 3], [0, 3, -1, 3]]),
    ],
)
def test_where_a_better_mechanism_exists_nothing_is_claimed(weights, costs):
    """Losses that are not legal, for which the program finds less than the truncated geometric mechanism costs."""
    prior = [Fraction(weight, sum(weights)) for weight in weights]
    problem = read_problem(path(len(weights)), "ln(2)", prior=prior, loss=from_matrix(costs))
    reading = best_reading(Fraction(1, 2), problem.loss_table, prior)
    assert reading.loss > least_loss(costs, list(pairwise(range(len(weights)))), 2, prior)
    assert recognise_path(problem) is None


@given(data=st.data(), weights=priors, epsilon=epsilons, guesses=st.integers(1, 3))
@settings(max_examples=25)
def test_guesses_may_lie_anywhere_on_the_line(data, weights, epsilon, guesses):
    """ℓ(w, x) = m(|θ(w) − x|, x) for places θ that are no nodes: the dual solution always exists."""
    places = [Fraction(data.draw(st.integers(-4, 4 * len(weights))), 4) for _ in range(guesses)]
    steep = [data.draw(st.lists(st.integers(0, 3), min_size=3, max_size=3)) for _ in weights]
    table = [
        [slopes[0] * gap + slopes[1] * (gap > 1) + slopes[2] * gap**2 for slopes, gap in zip(steep, row, strict=True)]
        for row in ([abs(place - x) for x in range(len(weights))] for place in places)
    ]
    prior = [Fraction(weight, sum(weights)) for weight in weights]
    problem = read_problem(path(len(weights)), epsilon, prior=prior, loss=from_matrix(table))
    assert recognise_path(problem) is not None


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", ["ln(2)", "ln(3)", "ln(6/5)", "ln(21/20)", "ln(100/99)", "ln(50)"])
@pytest.mark.parametrize("size", [2, 3, 4, 7, 16, 33])
def test_the_closed_form_for_the_uniform_prior(epsilon, size):
    """Against the matrix, with the best remap of all."""
    mechanism = TruncatedGeometric(epsilon, 0, size - 1)
    found, nodes = uniform_count(mechanism.epsilon, size), range(size)
    channel = mechanism.channel(nodes, nodes)
    assert found.loss.is_exact
    assert found.loss.lower == expected_loss(uniform(size), channel, absolute)
    said = {place: found.moved.get(place, place) for place in nodes}
    assert expected_loss(uniform(size), channel.pixelate(said), absolute, remap=False) == found.loss.lower


@pytest.mark.parametrize("epsilon", [1, 0.1, "1/3", "1/2*ln(2)"])
@pytest.mark.parametrize("size", [2, 5, 12])
def test_irrational_laws_are_enclosed_between_rational_ones(epsilon, size):
    """More privacy costs more: the loss at e^ε lies between those at rationals on either side."""
    found = recognise(read_problem(path(size), epsilon)).loss
    reading = recognise(read_problem(path(size), epsilon, loss=from_function(lambda w, x: abs(w - x)))).loss
    assert found.width < Fraction(1, 2**100)
    assert max(found.lower, reading.lower) <= min(found.upper, reading.upper)
    power = float(read_problem(path(size), epsilon).privacy.epsilon)
    near = Fraction(np.exp(power)).limit_denominator(10**6)
    sides = [uniform_count(ln(near + side), size).loss.lower for side in (Fraction(1, 10**4), Fraction(-1, 10**4))]
    assert sides[0] <= found.upper
    assert found.lower <= sides[1]


def test_ties_between_guesses_are_no_obstacle():
    """At α = 1/2 the first output of a long path is read equally well as 0 or 1, up to 2^-size."""
    assert uniform_count(ln(2), 10**6).moved == {}
    large = recognise(read_problem("path:3000", "ln(2)"))
    assert large.mechanism.draw(1500) in range(3000)
    assert large.channel is None
    assert check(large.certificate)


def test_evenly_spaced_points_are_a_path_whatever_their_order():
    points = [3, Fraction(1, 2), Fraction(7, 4)]
    metric = from_distance([[abs(a - b) for b in points] for a in points], points)
    problem = read_problem(metric, "ln(4)", prior=["1/2", "1/4", "1/4"], loss=absolute)
    found = recognise(problem)
    assert found.mechanism.line.gap == Fraction(5, 4)
    lengths = zip(metric.edges().tolist(), metric.edge_lengths(), strict=True)
    edges = [(*pair, length) for pair, length in lengths]
    steps = read_problem(from_distance([[abs(a - b) * Fraction(4, 5) for b in points] for a in points]), "ln(4)")
    assert recognise(steps).loss.lower == least_loss(
        [[abs(a - b) * Fraction(4, 5) for b in points] for a in points],
        [(a, b, Fraction(4) ** int(length * Fraction(4, 5))) for a, b, length in edges],
        None,
        [Fraction(1, 3)] * 3,
    )
    assert check(recognise(steps).certificate)
    assert recognise(steps).gap == 0


def test_a_path_in_disorder_is_found_and_its_labels_are_kept():
    graph = from_edges([("c", "a"), ("b", "c"), ("d", "b")])
    assert [find_line(graph).label(place) for place in range(4)] in (list("acbd"), list("dbca"))
    found = recognise(read_problem(graph, "ln(3)"))
    assert found.loss == recognise(read_problem(path(4), "ln(3)")).loss
    assert check(found.certificate)
    assert found.channel.probability("a", given="a") == Fraction(3, 4)
    assert found.mechanism.pmf("a", "a").lower == Fraction(3, 4)


@pytest.mark.parametrize(
    "graph",
    [
        cycle(5),
        complete(4),
        grid(2, 3),
        from_edges([(0, 1), (0, 2), (0, 3)]),
        from_distance([[0, 1, 3], [1, 0, 2], [3, 2, 0]]),
        from_distance([[0, 1, 1], [1, 0, 1], [1, 1, 0]]),
        from_distance([[0, 1, 2, 3], [1, 0, 2, 2], [2, 2, 0, 1], [3, 2, 1, 0]]),
    ],
    ids=str,
)
def test_what_is_no_path_is_not_taken_for_one(graph):
    assert find_line(graph) is None
    assert recognise_path(read_problem(graph, 1)) is None


def test_other_problems_on_a_path_are_left_to_others():
    assert recognise_path(read_problem("path:5", 1, delta=0.1)) is None
    assert recognise_path(read_problem("path:5", 1, objective="worst")) is None
    assert recognise_path(read_problem("path:5", 1, loss=from_function(lambda w, x: -abs(w - x)))) is None
    assert recognise_path(read_problem("path:5", 1, loss=from_matrix([[0] * 5, [1] * 5], ["no", "yes"]))) is None


@pytest.mark.parametrize("epsilon", ["1/10", 1, 7, 30])
@pytest.mark.parametrize("prior", [None, ["1/2", "1/4", "1/8", "1/16", "1/16"]])
@pytest.mark.parametrize("loss", [None, zero_one, squared])
def test_an_irrational_law_has_a_rational_channel_and_a_proof_of_its_loss(epsilon, prior, loss):
    found = recognise_path(read_problem("path:5", epsilon, prior=prior, loss=loss))
    verdict = check(found.channel, path(5), epsilon=epsilon)
    assert verdict
    assert verdict.tight_epsilon < Fraction(epsilon)
    proof = found.certificate
    assert isinstance(proof, OptimalityCertificate)
    assert 0 <= proof.gap <= Fraction(1, 10**12) * found.loss.upper
    assert proof.lower_bound <= found.loss.upper
    assert found.loss.lower <= proof.value
    assert check(proof)
    assert proof.prior == found.problem.weights
    other = json.loads(proof.to_json())
    other["epsilon"] = str(2 * Fraction(epsilon))
    assert not check(Certificate.from_json(json.dumps(other)))


def test_a_long_path_has_a_channel_and_a_proof_of_its_loss():
    found = recognise_path(read_problem("path:80", 1))
    assert check(found.channel, path(80), epsilon=1)
    assert isinstance(found.certificate, LineCertificate)
    assert check(found.certificate)
    assert recognise_path(read_problem("path:300", 1)).channel is None


def test_guesses_between_the_nodes():
    halves = [Fraction(k, 2) for k in range(7)]
    for epsilon in ("ln(2)", 1):
        found = recognise(read_problem("path:4", epsilon, loss=squared.guessing(halves)))
        assert isinstance(found.certificate, OptimalityCertificate)
        assert check(found.certificate)
        assert found.loss.upper < recognise(read_problem("path:4", epsilon, loss=squared)).loss.lower


def test_the_mechanism_says_what_the_channel_says():
    prior = ["1/2", "1/8", "1/8", "1/8", "1/8"]
    found = recognise(read_problem("path:5", "ln(3/2)", prior=prior, loss=zero_one))
    mechanism, channel = found.mechanism, found.channel
    assert [p for p in channel.row(3) if p] != list(channel.row(3))  # some node is never said
    for node in range(5):
        assert tuple(mechanism.pmf(output, node).lower for output in range(5)) == channel.row(node)
    sums = np.cumsum([float(p) for p in channel.row(3)])
    drawn = mechanism.draw(3, size=50_000, source=SeededSource(5))
    assert drawn.dtype == np.int64
    assert fits(drawn, lambda y: sums[y], 0, 3)
    other = np.cumsum([float(p) for p in channel.row(2)])
    assert not fits(drawn, lambda y: other[y], 0, 3)
    assert mechanism.draw(3, source=SeededSource(5)) in range(5)
    assert mechanism.reason().lower_bound == found.loss
    assert mechanism.error().expected.lower > found.loss.lower  # the worst node, not the mean


def test_a_million_nodes_need_no_matrix():
    found = recognise(read_problem("path:1000000", 0.01))
    mechanism = found.mechanism
    assert 99.98 < found.loss.lower <= found.loss.upper < 100
    assert found.channel is None
    assert 0 <= mechanism.draw(0) <= 999_999
    alpha = np.exp(-0.01)
    assert float(mechanism.pmf(500_003, 500_000)) == pytest.approx((1 - alpha) / (1 + alpha) * alpha**3)
    assert mechanism.pmf(0, 0).upper == 0  # the first outputs are read as later nodes


def test_a_wrong_answer_is_refused_without_being_shown():
    for design in (recognise(read_problem("path:5", 1)), recognise(read_problem(from_edges([("a", "b")]), 1))):
        with pytest.raises(BadParameter) as error:
            design.release("secret")
        assert "secret" not in str(error.value)
