"""Random small problems, from ε = 1/10 to 50, with and without δ: proven, and as good as a plain solver's."""

import math
import random
from fractions import Fraction

import networkx
import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.sparse import coo_array

from leastnoise.checker import check
from leastnoise.designer import design
from leastnoise.designer.linear.reduction import make_cells
from leastnoise.designer.linear.solution import Solution, best_constant, best_of
from leastnoise.model.graphs import complete, cycle, from_edges, from_networkx, path
from leastnoise.model.losses import from_matrix

TOLERANCE = Fraction(1, 10**9)


def plain_optimum(problem):
    """What SciPy's HiGHS says in doubles; its own tolerance is about 1e-7."""
    epsilon, delta = float(problem.privacy.epsilon), float(problem.privacy.delta)
    losses = np.array(problem.loss_table.rows, dtype=float).T
    inputs, outputs = losses.shape
    edges = [tuple(edge) for edge in problem.graph.edges().tolist()]
    arcs = [*edges, *((b, a) for a, b in edges)]
    count = inputs * outputs
    width = count + (len(arcs) * outputs if delta else 0) + 1
    entries, right = [], []
    for number, (x, other) in enumerate(arcs):
        for y in range(outputs):
            entries += [(len(right), x * outputs + y, math.exp(-epsilon)), (len(right), other * outputs + y, -1.0)]
            if delta:
                entries += [(len(right), count + number * outputs + y, -math.exp(-epsilon))]
            right.append(0.0)
        if delta:
            entries += [(len(right), count + number * outputs + y, 1.0) for y in range(outputs)]
            right.append(delta)
    cost = np.zeros(width)
    if problem.objective == "worst":
        cost[-1] = 1
        for x in range(inputs):
            entries += [(len(right), x * outputs + y, losses[x, y]) for y in range(outputs)]
            entries += [(len(right), width - 1, -1.0)]
            right.append(0.0)
    else:
        cost[:count] = (np.array(problem.weights, dtype=float)[:, None] * losses).ravel()
    rows, columns, values = zip(*entries, strict=True)
    private = coo_array((values, (rows, columns)), shape=(len(right), width)).tocsr()
    ones = np.ones(count), (np.repeat(range(inputs), outputs), np.arange(count))
    whole = coo_array(ones, shape=(inputs, width)).tocsr()
    return linprog(cost, private, right, whole, np.ones(inputs), method="highs").fun


def random_problem(seed, most):
    """A graph, a privacy, a prior or the worst case, a loss; few outputs as often as one for each node."""
    rng = random.Random(seed)
    nodes = rng.randint(3, most)
    tree = [(node, rng.randrange(node)) for node in range(1, nodes)]
    more = [(a, b) for a in range(nodes) for b in range(a) if rng.random() < 0.2]
    graph = rng.choice([from_edges(sorted({*tree, *more})), path(nodes), cycle(nodes), complete(nodes)])
    outputs = rng.choice([2, 3, nodes])
    step = rng.choice([1, 5, 1000])
    table = [[Fraction(rng.randint(0, step), step) for _ in graph.nodes] for _ in range(outputs)]
    asked = {
        "epsilon": rng.choice(["1/10", "ln(2)", 1, 5, "ln(1000)", 20, 30, 50]),
        "delta": rng.choice([0, "1/1000000", "1/100", "1/10"]),
        "loss": from_matrix(table, tuple(range(outputs)), graph.nodes),
    }
    if rng.random() < 0.3:
        return graph, asked | {"objective": "worst"}
    weights = [rng.randint(1, 100) for _ in graph.nodes]
    return graph, asked | {"prior": [Fraction(weight, sum(weights)) for weight in weights]}


def assert_proven(seed, most):
    graph, asked = random_problem(seed, most)
    best = design(graph, **asked)
    plain = plain_optimum(best.problem)
    assert best.gap <= TOLERANCE, (seed, float(best.gap))
    assert best.lower_bound.lower >= min(map(min, best.problem.loss_table.rows))
    assert float(best.loss.upper) <= plain + 1e-6, seed
    assert float(best.lower_bound.lower) >= plain - 1e-6, seed
    verdict = check(best.certificate)
    assert verdict, (seed, verdict.reason)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(24))
def test_small_problems_are_proven(seed):
    assert_proven(seed, 7)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(1000, 1010))
def test_larger_problems_are_proven(seed):
    assert_proven(seed, 14)


def asks(nodes, is_one):
    """The loss of telling whether something holds of a node."""
    wrong = [[int(is_one(x) != bool(said)) for x in range(nodes)] for said in (0, 1)]
    return from_matrix(wrong, (0, 1), tuple(range(nodes)))


@pytest.mark.slow
def test_whether_a_count_is_large_and_whether_it_is_even():
    large = design(path(100), "ln(3)", loss=asks(100, lambda x: x >= 47))
    assert abs(large.loss.lower - Fraction(3, 400)) < TOLERANCE
    assert large.gap <= TOLERANCE
    even = design(path(40), "ln(3)", loss=asks(40, lambda x: x % 2 == 1))
    assert (even.loss.lower, even.gap) == (Fraction(1, 4), 0)


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [20, 30, 50])
def test_delta_never_costs_anything_at_a_large_epsilon(epsilon):
    petersen = from_networkx(networkx.petersen_graph())
    weaker, stricter = design(petersen, epsilon, "1/100", route="lp"), design(petersen, epsilon)
    assert weaker.loss.lower <= stricter.loss.upper
    assert weaker.gap <= TOLERANCE


@pytest.mark.slow
def test_labels_with_a_prior_are_no_harder_than_others():
    labels = tuple(range(20))
    prior = [Fraction(k * k + 3, 2530) for k in labels]
    loss = from_matrix([[abs(a - b) for b in labels] for a in labels], labels, labels)
    best = design(complete(20), 1, prior=prior, loss=loss)
    assert best.gap <= TOLERANCE
    assert abs(float(best.loss.lower) - plain_optimum(best.problem)) < 1e-6


@pytest.mark.parametrize("delta", [0, "1/100"])
@pytest.mark.parametrize("objective", ["average", "worst"])
def test_a_bound_without_multipliers_is_one_too(objective, delta):
    """Multipliers that prove nothing, as after a solver that failed: the least losses of the rows still do."""
    table = [[Fraction(1, 2), 0, 1], [1, 1, 0], [Fraction(3, 4), 1, 1]]
    asked = {"loss": from_matrix(table, range(3), path(3).nodes), "objective": objective}
    problem = design(path(3), 1, delta, **asked).problem
    cells = make_cells(problem)
    rates = (Fraction(1),) * len(cells.edge_kinds) if delta else None
    bad = Solution(cells, best_constant(cells), cells.prior, {0: Fraction(10**6)}, rates)
    free = Fraction(1, 6) if objective == "average" else Fraction(1, 2)
    assert bad.lower_bound < free
    assert best_of([bad]).lower_bound == free
