"""From a problem to its linear program: orbits of pairs become cells, bounds between pairs become arcs."""

from __future__ import annotations

from fractions import Fraction
from math import gcd, lcm

import numpy as np
from numpy.typing import NDArray

from leastnoise.designer.linear.cells import Cells, codes_of
from leastnoise.designer.linear.symmetry import find_symmetries, orbits_of_pairs
from leastnoise.errors import TooLarge
from leastnoise.model.design_problem import DesignProblem
from leastnoise.model.graphs.aliases import IntArray

__all__ = ["directed_edges", "make_cells"]

_MOST_CONSTRAINTS = 4_000_000
_LONGEST = 1 << 45  # a sum of many lengths must still be an exact double


def make_cells(problem: DesignProblem, *, reduce: bool = True) -> Cells:
    """The program of a problem, over orbits or (with `reduce=False`) over single pairs.

    Raises:
        TooLarge: The program has more constraints than can be solved.
    """
    graph, inputs, outputs = problem.graph, len(problem.graph.nodes), len(problem.answers)
    moves = find_symmetries(problem) if reduce else np.empty((0, inputs + outputs), dtype=np.int64)
    cell_of = orbits_of_pairs(moves, inputs, outputs)
    # Two inputs are in one orbit if and only if the same cells occur in their rows.
    _, first_input, row_of_input, row_sizes = np.unique(
        cell_of.min(axis=1), return_index=True, return_inverse=True, return_counts=True
    )
    edges, unit = directed_edges(problem, first_input)
    if len(edges) * outputs > _MOST_CONSTRAINTS:
        raise TooLarge(
            f"the linear program on {graph.name} would have {len(edges) * outputs:,} constraints, "
            f"more than the {_MOST_CONSTRAINTS:,} that can be solved",
            given=f"{inputs:,} nodes, {outputs:,} outputs",
            fix="use fewer outputs or a coarser graph, or a uniform prior and a symmetric loss so that orbits are few",
        )
    count = int(cell_of.max()) + 1
    representatives = cell_of[first_input]
    row_of = np.empty(count, dtype=np.int64)
    row_of[representatives] = np.arange(len(first_input))[:, None]
    outputs_of = np.bincount(representatives.ravel(), minlength=count)
    where = np.unravel_index(np.unique(cell_of, return_index=True)[1], cell_of.shape)
    losses = problem.losses_at(list(zip(*(place.tolist() for place in where), strict=True)))
    least_loss = min(losses)
    loss_range = max(losses) - least_loss or Fraction(1)
    starts, ends, lengths = edges.T
    row = np.repeat(row_of_input[starts], outputs)
    keys = np.column_stack([cell_of[starts].ravel(), cell_of[ends].ravel(), np.repeat(lengths, outputs)])
    keys, sizes = keys[keys[:, 0] != keys[:, 1]], row_sizes[row][keys[:, 0] != keys[:, 1]]
    codes = codes_of(keys[:, 0], keys[:, 1], keys[:, 2], count, lengths)
    _, chosen, inverse = np.unique(codes, return_index=True, return_inverse=True)
    triples = np.bincount(inverse, weights=sizes).astype(np.int64)
    tails, heads, lengths = keys[chosen].T
    if problem.privacy.is_pure:  # of two bounds between the same cells only the tighter, shorter one matters
        tightest = np.unique(tails * count + heads, return_index=True)[1]
        tails, heads, lengths, triples = tails[tightest], heads[tightest], lengths[tightest], triples[tightest]
    return Cells(
        problem,
        len(moves) > 0,
        cell_of,
        row_of_input,
        row_of,
        outputs_of,
        row_sizes,
        tuple((loss - least_loss) / loss_range for loss in losses),
        least_loss,
        loss_range,
        tails,
        heads,
        lengths,
        triples,
        unit,
        edges,
    )


def directed_edges(problem: DesignProblem, starts: IntArray) -> tuple[IntArray, Fraction]:
    """Rows (x, x', length) for each x of `starts` and each of its neighbours, and the unit of the lengths.

    A pair of a metric that another point lies between is left out where δ = 0: the two shorter steps imply it.
    """
    edges, lengths = problem.graph.edges(), problem.graph.edge_lengths()
    if lengths is None:
        whole, unit = np.ones(len(edges), dtype=np.int64), Fraction(1)
    else:
        denominator = lcm(*(length.denominator for length in lengths))
        numerators = [length.numerator * (denominator // length.denominator) for length in lengths]
        common = gcd(*numerators)
        if max(numerators) // common > _LONGEST:
            raise TooLarge(
                "the distances have too fine a common unit",
                given=f"the largest is {max(numerators) // common} times {Fraction(common, denominator)}",
                fix="round distances to at most twelve digits; rounding down asks for more privacy, not for less",
            )
        whole, unit = np.array([n // common for n in numerators], dtype=np.int64), Fraction(common, denominator)
        if problem.privacy.is_pure:
            kept = ~_is_between(edges, whole, len(problem.graph.nodes))
            edges, whole = edges[kept], whole[kept]
    both = np.concatenate([np.column_stack([edges, whole]), np.column_stack([edges[:, ::-1], whole])])
    return both[np.isin(both[:, 0], starts)], unit


def _is_between(edges: IntArray, whole: IntArray, size: int) -> NDArray[np.bool_]:
    """Whether some third point lies on a shortest way between the two ends of each edge."""
    table = np.zeros((size, size), dtype=np.int64)
    table[edges[:, 0], edges[:, 1]] = table[edges[:, 1], edges[:, 0]] = whole
    between = np.zeros(len(edges), dtype=bool)
    for point in range(size):
        through = table[edges[:, 0], point] + table[point, edges[:, 1]] == whole
        between |= through & (edges != point).all(axis=1)
    return between
