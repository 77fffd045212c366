"""Small problems that doubles are too short for: costs, priors and lengths that differ by many powers of ten."""

import random
from fractions import Fraction
from math import isqrt

import networkx
import pytest

from leastnoise.checker import check
from leastnoise.designer import design
from leastnoise.designer.linear.clock import Clock
from leastnoise.designer.linear.reduction import make_cells
from leastnoise.designer.linear.solution import Solution, best_constant
from leastnoise.designer.linear.whole_program import solve_to_many_digits
from leastnoise.model import read_problem
from leastnoise.model.graphs import complete, cycle, from_distance, from_networkx, hypercube, path
from leastnoise.model.losses import from_matrix

CLOSE = Fraction(1, 10**9)


def places(rng, count):
    """Whole distances on a plane, exact ones rounded up, or any that differ little."""
    kind = rng.choice(["blocks", "straight", "similar"])
    points = rng.sample([(a, b) for a in range(100) for b in range(100)], count)
    if kind == "similar":
        table = [[0] * count for _ in range(count)]
        for a in range(count):
            for b in range(a):
                table[a][b] = table[b][a] = rng.randint(10, 20)
        return from_distance(table)
    if kind == "blocks":
        return from_distance([[abs(a - c) + abs(b - d) for c, d in points] for a, b in points])
    squares = [[10**4 * ((a - c) ** 2 + (b - d) ** 2) for c, d in points] for a, b in points]
    return from_distance([[Fraction(isqrt(s - 1) + 1, 100) if s else 0 for s in row] for row in squares])


def hard_problem(seed, most):
    """Any graph or metric; losses up to 10^9, priors from 10^-9, ε·diameter up to some hundred."""
    rng = random.Random(seed)
    count = rng.randint(2, most)
    tree = networkx.random_labeled_tree(count, seed=seed)
    more = [(a, b) for a in range(count) for b in range(a) if rng.random() < 0.3]
    joined = networkx.Graph([*tree.edges, *more]) if count > 1 else tree
    joined.add_nodes_from(range(count))
    kind = rng.choice(["graph", "path", "cycle", "complete", "cube", "metric", "metric", "metric"])
    graph = {
        "graph": lambda: from_networkx(joined),
        "path": lambda: path(count),
        "cycle": lambda: cycle(max(count, 3)),
        "complete": lambda: complete(count),
        "cube": lambda: hypercube(count.bit_length() - 1),
        "metric": lambda: places(rng, count),
    }[kind]()
    nodes = tuple(graph.nodes)
    epsilon = rng.choice(["1/100", "ln(2)", 1, "ln(1000)", 20, 50])
    if kind == "metric":
        epsilon = Fraction(rng.choice([1, 10, 100, 300]), int(max(graph.edge_lengths())))
    asked = {"epsilon": epsilon, "delta": rng.choice([0, "1/1000000", "1/100", "1/2"])}
    size = len(nodes)
    table = {
        "random": lambda: [[rng.randint(0, 1000) for _ in nodes] for _ in nodes],
        "steep": lambda: [[10 ** rng.randint(0, 9) for _ in nodes] for _ in nodes],
        "few": lambda: [[Fraction(rng.randint(0, 5), 5) for _ in nodes] for _ in range(3)],
        "wrong": lambda: [[int(a != b) for a in range(size)] for b in range(size)],
    }
    form = rng.choice([*table, "distance"])
    if form != "distance":
        rows = table[form]()
        asked["loss"] = from_matrix(rows, tuple(range(3)) if form == "few" else nodes, nodes)
    if rng.random() < 0.3:
        return graph, asked | {"objective": "worst"}
    weights = [10 ** rng.randint(0, 8) * rng.randint(0, 1) + rng.randint(0, 1) for _ in nodes]
    weights[0] += 1
    return graph, asked | {"prior": [Fraction(weight, sum(weights)) for weight in weights]}


def assert_closed(seed, most):
    graph, asked = hard_problem(seed, most)
    best = design(graph, **asked)
    assert best.gap <= CLOSE * max(abs(best.loss.upper), 1), (seed, float(best.gap), float(best.loss.upper))
    verdict = check(best.certificate)
    assert verdict, (seed, verdict.reason)


NEED_LONG_NUMBERS = (24, 44, 67, 92, 101, 111, 121, 130, 134)


@pytest.mark.parametrize("seed", [*range(6), *NEED_LONG_NUMBERS])
def test_no_gap_is_left_on_small_problems(seed):
    assert_closed(seed, 7)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 110))
def test_no_gap_is_left_on_problems_of_up_to_twelve_nodes(seed):
    assert_closed(seed, 12)


def alone(cells, clock):
    """What interior points find without a guess of another solver; nothing but the best constant is known."""
    rates = None if cells.problem.privacy.is_pure else (Fraction(0),) * len(cells.edge_kinds)
    return solve_to_many_digits(cells, clock, Solution(cells, best_constant(cells), cells.prior, {}, rates))


@pytest.mark.parametrize("delta", [0, "1/100"])
@pytest.mark.parametrize("objective", ["average", "worst"])
@pytest.mark.parametrize("graph", ["path:4", "cycle:5", "hypercube:3"])
def test_interior_points_find_what_others_find(graph, objective, delta):
    """Orbits, shared arcs, slacks and the worst input."""
    best = design(graph, "ln(3)", delta, objective=objective, route="symmetry")
    cells = make_cells(read_problem(graph, "ln(3)", delta, objective=objective))
    (found,) = alone(cells, Clock())
    found.require_private()
    assert found.gap <= Fraction(1, 10**12)
    assert abs(found.loss - best.loss.lower) <= Fraction(1, 10**11)


def test_a_limit_of_time_ends_the_search_for_digits():
    """The time is up as soon as the search has begun; what it has is repaired all the same."""
    graph, asked = hard_problem(100, 12)
    cells = make_cells(read_problem(graph, **asked))
    clock = Clock(listener=lambda _: setattr(clock, "limit", 0))
    (found,) = alone(cells, clock)
    found.require_private()
    assert clock.is_over
