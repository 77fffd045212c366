"""The parts of the linear program's solution, each against its own definition."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from leastnoise.designer.linear.column_pricing import price, rays_of, route_flow
from leastnoise.designer.linear.orbit_program import OutputOrbit
from leastnoise.designer.linear.powers import Powers
from leastnoise.designer.linear.precise_program import solve_square
from leastnoise.designer.linear.reduction import make_cells
from leastnoise.designer.linear.solution import Solution
from leastnoise.errors import PrecisionExhausted
from leastnoise.exact import exp_enclosure, ln
from leastnoise.exact.numbers import exact_exp
from leastnoise.model.design_problem import read_problem
from leastnoise.model.graphs import cycle, from_edges, hypercube, path


@given(st.data(), st.integers(2, 6))
def test_a_flow_delivers_all_or_shows_what_is_stuck(data, size):
    supplies = data.draw(st.lists(st.integers(-(10**30), 10**30), min_size=size - 1, max_size=size - 1))
    supplies.append(-sum(supplies))
    node = st.integers(0, size - 1)
    arcs = data.draw(st.lists(st.tuples(node, node).filter(lambda arc: arc[0] != arc[1]), max_size=12, unique=True))
    flows, stuck = route_flow(supplies, arcs)
    assert all(flow >= 0 for flow in flows)
    left = list(supplies)
    for flow, (start, end) in zip(flows, arcs, strict=True):
        left[start] -= flow
        left[end] += flow
    if stuck:
        assert not any(start in stuck and end not in stuck for start, end in arcs)
        assert sum(supplies[i] for i in stuck) > 0
    else:
        assert not any(left)


def _column(graph, home):
    columns = make_cells(read_problem(graph, "ln(2)"), reduce=False).columns
    return next(column for column in columns if column.home == home)


def _private_potentials(column: OutputOrbit, reach: int):
    """Every whole potential with 0 at home, by brute force."""
    others = [i for i in range(len(column.cells)) if i != column.home]
    for values in product(range(-reach, reach + 1), repeat=len(others)):
        potentials = np.zeros(len(column.cells), dtype=np.int64)
        potentials[others] = values
        if (potentials[column.tails] - potentials[column.heads] <= column.lengths).all():
            yield potentials


@pytest.mark.parametrize("graph", [path(4), cycle(4), from_edges([(0, 1), (1, 2), (2, 0), (2, 3)])], ids=str)
@settings(max_examples=25)
@given(gains=st.lists(st.integers(-9, 9), min_size=4, max_size=4), home=st.integers(0, 3))
def test_pricing_finds_the_cheapest_private_column_and_proves_it(graph, gains, home):
    column, powers = _column(graph, home), Powers(ln(2))
    found = price(column, gains, np.zeros(4, dtype=np.int64), powers)
    cheapest = min(
        sum(gain * Fraction(2) ** int(f) for gain, f in zip(gains, potentials, strict=True))
        for potentials in _private_potentials(column, 3)
    )
    assert Fraction(found.value, found.weights[home]) == cheapest
    balance = [Fraction(gain) for gain in gains]
    for arc, flow in zip(found.arcs, found.flows, strict=True):
        multiplier = Fraction(flow, found.weights[column.tails[arc]])
        assert multiplier >= 0
        balance[column.tails[arc]] += multiplier
        balance[column.heads[arc]] -= 2 * multiplier
    assert balance == [cheapest if i == home else 0 for i in range(4)]


@given(st.lists(st.floats(-1, 1), min_size=5, max_size=5))
def test_a_private_column_is_a_mixture_of_its_rays(steps):
    """On a path any steps of at most one make a private column; its rays have it in their cone."""
    from scipy.optimize import nnls

    column, powers = _column(path(6), 2), Powers(ln(3))
    values = np.exp(powers.float_rate * np.concatenate([[0.0], np.cumsum(steps)]))
    rays = rays_of(column, values, powers)
    for ray in rays:
        assert (ray[column.tails] - ray[column.heads] <= column.lengths).all()
    matrix = np.exp(powers.float_rate * np.array(rays).T)
    _, miss = nnls(matrix / values[:, None], np.ones(6))
    assert miss < 1e-3


@given(st.sampled_from([Fraction(1), Fraction(1, 3), Fraction(40), Fraction(1, 10**6), ln(3) / 2]), st.data())
def test_rounded_powers_are_private_and_close(rate, data):
    powers = Powers(rate)
    assert powers.base is None
    low, step = data.draw(st.integers(-30, 0)), data.draw(st.integers(1, 5))
    high = data.draw(st.integers(low - 5, low + step))
    bound = exp_enclosure(rate * step, 2000)
    assert powers.private(high) <= bound.lower * powers.private(low)
    assert powers.private(low) > exp_enclosure(rate * low, 200).lower * (1 - Fraction(1, 10**12))
    assert powers.below(step) <= bound.lower <= bound.upper <= powers.above(step)
    assert powers.above(step) < powers.below(step) * (1 + Fraction(1, 10**20))


def test_rational_powers_are_exact():
    powers = Powers(ln(9) / 2)
    assert powers.base == exact_exp(ln(3)) == 3
    assert powers.private(-2) == powers.below(-2) == powers.above(-2) == Fraction(1, 9)
    assert powers.whole([-2, 0, -1]) == [1, 9, 3]


@given(st.integers(0, 2**32 - 1), st.sampled_from([3, 170]))
@settings(max_examples=8)
def test_square_systems_are_solved_exactly_or_to_many_digits(seed, size):
    random = np.random.default_rng(seed)
    places = {(i, int(j)) for i in range(size) for j in random.integers(0, size, 4)} | {(i, i) for i in range(size)}
    entries = [(i, j, Fraction(int(random.integers(-3, 4)) + 20 * (i == j), 3)) for i, j in sorted(places)]
    right = [Fraction(int(entry)) for entry in random.integers(-9, 10, size)]
    solved = solve_square(size, entries, right, bits=200)
    miss = [entry - sum(v * solved[j] for i, j, v in entries if i == row) for row, entry in enumerate(right[:5])]
    assert max(map(abs, miss)) <= (0 if size == 3 else Fraction(1, 2**150))


def test_a_singular_system_has_no_answer():
    for size in (3, 170):
        assert solve_square(size, [(i, 0, Fraction(1)) for i in range(size)], [Fraction(1)] * size, 64) is None


@pytest.mark.parametrize("delta", [0, "1/10"])
@pytest.mark.parametrize("cell", range(4))
def test_a_channel_that_is_not_private_is_never_handed_out(cell, delta):
    cells = make_cells(read_problem(path(2), "ln(2)", delta), reduce=False)
    values = [Fraction(2, 3), Fraction(1, 3), Fraction(1, 3), Fraction(2, 3)]
    Solution(cells, values, cells.prior, {}).require_private()
    wrong = [value + (Fraction(1, 10**30) if place == cell else 0) for place, value in enumerate(values)]
    more = [Fraction(4, 5), Fraction(1, 5), Fraction(1, 5), Fraction(4, 5)]
    for bad in (wrong, more, [Fraction(-1, 3), Fraction(4, 3), *values[2:]]):
        with pytest.raises(PrecisionExhausted, match="nothing is handed out"):
            Solution(cells, bad, cells.prior, {}).require_private()


def test_orbits_make_the_program_small():
    """Distance classes of the cube and the cycle; a path halves; a prior breaks the symmetry."""
    counts = [make_cells(read_problem(graph, 1)).count for graph in (hypercube(6), cycle(11), path(10))]
    assert counts == [7, 6, 50]
    lopsided = make_cells(read_problem(path(3), 1, prior=[1, 0, 0]))
    assert lopsided.count == 9
    assert not lopsided.is_reduced
