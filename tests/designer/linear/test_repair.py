"""What a solver leaves unfinished is repaired exactly: rows sum to one, privacy is kept, little is moved."""

from fractions import Fraction

import pytest
from hypothesis import given, settings, strategies as st

from leastnoise.designer.linear.powers import Powers
from leastnoise.designer.linear.pure import _whole_rows
from leastnoise.designer.linear.reduction import make_cells
from leastnoise.designer.linear.solution import Solution, best_constant
from leastnoise.designer.linear.whole_program import _repaired
from leastnoise.model.design_problem import read_problem
from leastnoise.model.graphs import cycle, from_edges, path

GRAPHS = [path(3), cycle(4), from_edges([(0, 1), (1, 2), (2, 0), (2, 3)])]
entries = st.integers(0, 12).map(Fraction)


def excess_of(cells, values, powers):
    """The largest Σ max(0, p(y|x) − λ·p(y|x')) of an edge, by its definition."""
    table = [[values[cell] for cell in row] for row in cells.cell_of.tolist()]
    worst = Fraction(0)
    for x, neighbour, length in cells.edges.tolist():
        pairs = zip(table[x], table[neighbour], strict=True)
        worst = max(worst, sum((max(Fraction(0), p - powers.below(length) * q) for p, q in pairs), start=Fraction(0)))
    return worst


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", ["ln(2)", 1])
@pytest.mark.parametrize("graph", GRAPHS, ids=str)
@settings(max_examples=30)
@given(data=st.data(), delta=st.sampled_from(["1/100", "1/3"]))
def test_any_table_becomes_a_private_channel_and_moves_no_more_than_its_excess_asks(graph, epsilon, data, delta):
    cells = make_cells(read_problem(graph, epsilon, delta), reduce=False)
    powers = Powers(cells.problem.privacy.epsilon * cells.unit)
    size = graph.size
    table = data.draw(
        st.lists(st.lists(entries, min_size=size, max_size=size).filter(any), min_size=size, max_size=size)
    )
    small = data.draw(st.fractions(min_value=Fraction(-1, 1000), max_value=Fraction(1, 1000)))
    rows = [[entry / sum(row) * (1 + small) for entry in row] for row in table]
    values = [Fraction(0)] * cells.count
    for row, places in zip(rows, cells.cell_of.tolist(), strict=True):
        for entry, cell in zip(row, places, strict=True):
            values[cell] = entry
    repaired = _repaired(cells, values, powers, best_constant(cells))
    Solution(cells, repaired, cells.prior, {}).require_private()
    excess = excess_of(cells, values, powers)
    moved = max(
        sum((abs(repaired[cell] - values[cell]) for cell in places), start=Fraction(0))
        for places in cells.cell_of.tolist()
    )
    delta = cells.problem.privacy.delta
    share = max(Fraction(0), 1 - delta / (excess + Fraction(1, 100)))
    assert moved <= 2 * share + Fraction(1, 50)


@pytest.mark.parametrize("epsilon", ["ln(2)", 1, "1/10"])
@settings(max_examples=30)
@given(data=st.data())
def test_any_table_becomes_purely_private_where_nothing_may_be_left_over(epsilon, data):
    cells = make_cells(read_problem(cycle(4), epsilon), reduce=False)
    powers = Powers(cells.problem.privacy.epsilon * cells.unit)
    row = st.lists(entries, min_size=4, max_size=4).filter(any)
    table = data.draw(st.lists(row, min_size=4, max_size=4))
    values = [Fraction(0)] * cells.count
    for line, places in zip(table, cells.cell_of.tolist(), strict=True):
        for entry, cell in zip(line, places, strict=True):
            values[cell] = entry / sum(line)
    Solution(cells, _repaired(cells, values, powers, best_constant(cells)), cells.prior, {}).require_private()


@settings(max_examples=60)
@given(st.sampled_from(["ln(2)", "1/10", 3]), st.lists(st.integers(-1000, 1000), min_size=4, max_size=4))
def test_rows_that_miss_a_little_are_made_whole_and_stay_private(epsilon, misses):
    """Private columns, each off by up to a thousandth: every row then sums to nearly one."""
    cells = make_cells(read_problem(path(4), epsilon), reduce=False)
    powers = Powers(cells.problem.privacy.epsilon * cells.unit)
    alpha = 1 / powers.below(1)
    table = [
        [alpha ** abs(y - x) / (1 + alpha) * (1 if y in (0, 3) else 1 - alpha) for y in range(4)] for x in range(4)
    ]
    if powers.base is None:  # powers of a rate a little lower keep their ratios below the true factor
        lower = [powers.private(-k) for k in range(4)]
        table = [
            [lower[abs(y - x)] * (1 if y in (0, 3) else 1 - alpha) / (1 + alpha) for y in range(4)] for x in range(4)
        ]
    values = [Fraction(0)] * cells.count
    for row, places in zip(table, cells.cell_of.tolist(), strict=True):
        for entry, miss, cell in zip(row, misses, places, strict=True):
            values[cell] = entry * (1 + Fraction(miss, 10**6))
    whole = _whole_rows(cells, values)
    Solution(cells, whole, cells.prior, {}).require_private()
    assert max(abs(new - old) for new, old in zip(whole, values, strict=True)) < Fraction(1, 5)
