"""On a path the best mechanism for the worst input is the geometric one with a random remap, and its proof checks."""

import json
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from leastnoise.checker import check
from leastnoise.designer.theorems import recognise
from leastnoise.designer.theorems.minimax_path import recognise_minimax_path
from leastnoise.exact import SeededSource
from leastnoise.exact.numbers import exact_exp
from leastnoise.model.certificate import Certificate, OptimalityCertificate
from leastnoise.model.design_problem import read_problem
from leastnoise.model.graphs import from_distance, from_edges, path
from leastnoise.model.losses import absolute, from_function, from_matrix, squared, zero_one
from leastnoise.model.reading_certificates import LineCertificate
from support.optimum import least_loss
from support.statistics import fits


@st.composite
def legal_losses(draw, size):
    """m(|w − x|, x) with an m that grows in its first argument."""
    steps = [draw(st.lists(st.integers(0, 4), min_size=size, max_size=size)) for _ in range(size)]
    heights = [np.cumsum(row).tolist() for row in steps]
    return from_matrix([[heights[x][abs(w - x)] for x in range(size)] for w in range(size)])


@given(data=st.data(), size=st.integers(2, 4), epsilon=st.sampled_from(["ln(2)", "ln(3)", "ln(6/5)", "ln(10)"]))
@settings(max_examples=20)
def test_it_is_the_optimum_of_the_whole_program_for_every_legal_loss(data, size, epsilon):
    problem = read_problem(path(size), epsilon, loss=data.draw(legal_losses(size)), objective="worst")
    found = recognise(problem)
    growth = exact_exp(problem.privacy.epsilon)
    least = least_loss(problem.loss_table.rows, list(pairwise(range(size))), growth)
    assert found.route == "theorem"
    assert found.lower_bound.lower <= least <= found.loss.upper
    assert found.gap < Fraction(1, 10**9)
    assert check(found.certificate)
    assert check(found.channel, path(size), epsilon=epsilon)


@pytest.mark.parametrize("epsilon", ["ln(2)", "ln(5/4)", "ln(20)"])
@pytest.mark.parametrize("loss", [None, absolute, squared, zero_one])
@pytest.mark.parametrize("size", [2, 5, 9])
def test_the_gap_is_zero_where_the_law_is_rational(epsilon, loss, size):
    found = recognise_minimax_path(read_problem(path(size), epsilon, loss=loss, objective="worst"))
    assert found.gap == 0
    assert isinstance(found.certificate, OptimalityCertificate)
    assert found.certificate.gap == 0
    assert check(found.certificate)


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [1, "1/10", 8])
@pytest.mark.parametrize("size", [6, 70, 120])
def test_irrational_laws_and_long_paths_have_a_small_gap_and_a_proof(epsilon, size):
    found = recognise_minimax_path(read_problem(path(size), epsilon, objective="worst"))
    assert 0 <= found.gap < Fraction(1, 10**7)
    kind = OptimalityCertificate if size <= 64 else LineCertificate
    assert isinstance(found.certificate, kind)
    assert check(Certificate.from_json(found.certificate.to_json()))


@pytest.mark.slow
@pytest.mark.parametrize(
    "change",
    [
        {"epsilon": "2"},
        {"value": "1/2"},
        {"lower_bound": "2"},
        {"gap": "0"},
        {"loss": "squared"},
        {"prior": None},
        {"remap": []},
        {"objective": "average"},
        {"delta": "1/10"},
    ],
    ids=str,
)
def test_a_changed_proof_is_rejected(change):
    proof = recognise_minimax_path(read_problem("path:70", 1, objective="worst")).certificate
    data = json.loads(proof.to_json())
    assert check(Certificate.from_json(json.dumps(data)))
    assert not check(Certificate.from_json(json.dumps(data | change)))


def test_a_remap_whose_parts_are_exchanged_is_rejected():
    proof = recognise_minimax_path(read_problem("path:70", 1, objective="worst")).certificate
    data = json.loads(proof.to_json())
    first = next(k for k, (place, _, share) in enumerate(data["remap"]) if share != "1")
    one, two = data["remap"][first], data["remap"][first + 1]
    assert one[0] == two[0]
    data["remap"][first], data["remap"][first + 1] = [one[0], one[1], two[2]], [two[0], two[1], one[2]]
    assert not check(Certificate.from_json(json.dumps(data)))


def test_a_constant_added_to_the_loss_is_added_to_the_optimum():
    plain, shifted = (from_function(lambda w, x, less=less: abs(w - x) - less) for less in (0, 7))
    losses = [
        recognise(read_problem("path:6", "ln(2)", loss=loss, objective="worst")).loss.lower for loss in (plain, shifted)
    ]
    assert losses[0] - losses[1] == 7


def test_labels_in_disorder_and_points_of_a_metric():
    letters = from_edges([("c", "a"), ("b", "c"), ("d", "b")])
    plain = recognise(read_problem(path(4), "ln(3)", objective="worst"))
    found = recognise(read_problem(letters, "ln(3)", objective="worst"))
    assert found.loss == plain.loss
    assert check(found.certificate)
    points = [Fraction(3 * k, 2) for k in (2, 0, 1, 3)]
    metric = from_distance([[abs(a - b) for b in points] for a in points], points)
    spaced = recognise(read_problem(metric, "ln(9)/3", objective="worst"))
    assert check(spaced.certificate)
    assert spaced.lower_bound.lower <= Fraction(3, 2) * plain.loss.lower <= spaced.loss.upper


@pytest.mark.slow
def test_the_mechanism_is_the_channel():
    found = recognise(read_problem("path:5", "ln(2)", objective="worst"))
    mechanism, channel = found.mechanism, found.channel
    assert mechanism.mixed
    for node in range(5):
        assert tuple(mechanism.pmf(output, node).lower for output in range(5)) == channel.row(node)
    assert mechanism.error().expected.upper == found.loss.upper
    drawn = mechanism.draw(1, size=50_000, source=SeededSource(3))
    sums, other = (np.cumsum([float(p) for p in channel.row(node)]) for node in (1, 2))
    assert fits(drawn, lambda y: sums[y], 0, 3)
    assert not fits(drawn, lambda y: other[y], 0, 3)


def test_other_problems_are_left_to_others():
    assert recognise_minimax_path(read_problem("path:5", 1, delta=0.1, objective="worst")) is None
    assert recognise_minimax_path(read_problem("path:5", 1)) is None
    assert recognise_minimax_path(read_problem("grid:2x3", 1, objective="worst")) is None
    falling = from_function(lambda w, x: -abs(w - x))
    assert recognise_minimax_path(read_problem("path:5", 1, loss=falling, objective="worst")) is None
