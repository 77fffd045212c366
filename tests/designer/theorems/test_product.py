"""On a Cartesian product the optimum is the sum of the factors' optima: against the whole program, with a proof."""

import json
from fractions import Fraction
from itertools import product
from math import prod

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from leastnoise.checker import check
from leastnoise.designer.designer import design
from leastnoise.designer.linear.solve import solve
from leastnoise.designer.theorems import recognise
from leastnoise.designer.theorems.product import recognise_product
from leastnoise.errors import BadLoss, BadParameter, BadPrior
from leastnoise.exact import SeededSource
from leastnoise.exact.numbers import exact_exp
from leastnoise.model.certificate import Certificate
from leastnoise.model.design_problem import read_problem
from leastnoise.model.graphs import grid, hamming, hypercube, path, torus
from leastnoise.model.losses import absolute, additive, from_function, squared, zero_one
from leastnoise.model.priors import independent
from leastnoise.model.reading_certificates import ProductCertificate
from support.optimum import least_loss
from support.statistics import fits

GRAPHS = [grid(2, 2), grid(2, 3), hypercube(3), hamming(2, 3), grid(2, 2, 2)]


def priors_of(draw, graph):
    weights = [draw(st.lists(st.integers(0, 4), min_size=side, max_size=side).filter(any)) for side in graph.sides]
    return [[Fraction(weight, sum(row)) for weight in row] for row in weights]


@pytest.mark.slow
@given(data=st.data(), graph=st.sampled_from(GRAPHS), epsilon=st.sampled_from(["ln(2)", "ln(3)", "ln(6/5)"]))
@settings(max_examples=15, deadline=None)
def test_it_is_the_optimum_of_the_whole_program(data, graph, epsilon):
    priors = priors_of(data.draw, graph)
    losses = [data.draw(st.sampled_from([absolute, squared, zero_one])) for _ in graph.sides]
    problem = read_problem(graph, epsilon, prior=independent(*priors), loss=additive(*losses))
    found = recognise_product(problem, recognise)
    if found is None:  # a factor that no theorem speaks of may be too long for a program
        assert any(factor.size > 3 for factor in graph.factors)
        return
    growth = exact_exp(problem.privacy.epsilon)
    assert found.loss.lower == least_loss(problem.loss_table.rows, graph.edges().tolist(), growth, problem.weights)
    assert found.gap == 0
    assert check(found.certificate)
    assert check(found.channel, graph, epsilon=epsilon)
    listed = read_problem(graph, epsilon, prior=[prod(each) for each in product(*priors)], loss=additive(*losses))
    assert recognise_product(listed, recognise).loss == found.loss


@pytest.mark.slow
@pytest.mark.parametrize("graph", [grid(2, 3), hamming(2, 3), grid(2, 2, 2)], ids=str)
def test_the_worst_input(graph):
    found = recognise_product(read_problem(graph, "ln(2)", objective="worst"), recognise)
    assert found.loss.lower == least_loss(graph.distances().tolist(), graph.edges().tolist(), Fraction(2))
    assert found.gap == 0
    assert check(found.certificate)


def test_delta_is_not_added_up():
    """Against the program over the whole graph."""
    problem = read_problem(grid(2, 3), "ln(2)", delta="1/10")
    found, whole = recognise_product(problem, recognise), solve(problem)
    assert check(found.channel, grid(2, 3), epsilon="ln(2)", delta="1/10")
    assert found.lower_bound.lower <= whole.loss.upper
    assert whole.lower_bound.lower <= found.loss.upper
    assert found.gap < Fraction(1, 10**9)
    assert check(found.certificate)


def test_large_products_take_no_room():
    for graph in (grid(10**6, 10**6), torus(10**3, 10**3)):
        found = design(graph, 1)
        assert found.route == "theorem"
        assert 1.7 < float(found.loss) < 1.71
        assert check(Certificate.from_json(found.certificate.to_json()))
        assert found.mechanism.draw(graph.nodes[0]) in graph
    found = design(hypercube(300), 1, prior=independent(*[["1/3", "2/3"]] * 300))
    assert len(found.certificate.parts) == 1
    assert check(found.certificate)


def test_a_changed_proof_is_rejected():
    data = json.loads(design(grid(3, 80), 1).certificate.to_json())
    assert check(Certificate.from_json(json.dumps(data)))
    changes = [{"epsilon": "2"}, {"value": "1"}, {"lower_bound": "2"}, {"gap": "0"}, {"uses": [0, 0]}, {"uses": [1, 0]}]
    changes += [{"objective": "worst"}, {"delta": "1/9"}, {"uses": [0]}, {"uses": [0, 7]}, {"parts": data["parts"][:1]}]
    changes += [{"graph": grid(3, 81).to_dict()}, {"graph": path(240).to_dict()}]
    for change in changes:
        assert not check(Certificate.from_json(json.dumps(data | change))), change
    parts = json.loads(json.dumps(data["parts"]))
    parts[1]["epsilon"] = "2"
    assert not check(Certificate.from_json(json.dumps(data | {"parts": parts})))


def test_the_mechanism_is_the_product_of_its_parts():
    found = design(grid(2, 3), "ln(2)", prior=independent([0.5, 0.5], [0.2, 0.3, 0.5]))
    mechanism, nodes = found.mechanism, list(grid(2, 3).nodes)
    for node in nodes:
        assert tuple(mechanism.pmf(output, node).lower for output in nodes) == found.channel.row(node)
    drawn = [nodes.index(each) for each in mechanism.draw((1, 0), size=30_000, source=SeededSource(8)).tolist()]
    sums, other = (np.cumsum([float(p) for p in found.channel.row(node)]) for node in ((1, 0), (0, 0)))
    assert fits(np.array(drawn), lambda y: sums[y], 0, 4)
    assert not fits(np.array(drawn), lambda y: other[y], 0, 4)
    with pytest.raises(BadParameter) as error:
        mechanism.release((7, 12345))
    assert "12345" not in str(error.value)


def test_what_is_no_sum_or_not_independent_is_left_to_others():
    tied = ["1/4", "0", "0", "1/4", "1/4", "1/4"]
    assert recognise_product(read_problem(grid(2, 3), 1, prior=tied), recognise) is None
    both = from_function(lambda w, x: int(w != x))
    assert recognise_product(read_problem(grid(2, 3), 1, loss=both), recognise) is None
    assert recognise_product(read_problem("path:5", 1), recognise) is None
    with pytest.raises(BadPrior):
        read_problem("path:5", 1, prior=independent([0.5, 0.5]))
    with pytest.raises(BadPrior):
        independent()
    with pytest.raises(BadLoss):
        additive(absolute, None)


def test_the_certificate_is_a_product():
    assert isinstance(design(grid(2, 2, 3), 1).certificate, ProductCertificate)
