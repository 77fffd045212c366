"""From a problem to its linear program: orbits of pairs become cells, bounds between pairs become arcs.

Which inputs and outputs a problem can't tell apart: permutations that keep neighbours, prior and loss.

A permutation of inputs and outputs that keeps the distances, the prior and the loss takes a private channel to a
private channel of the same loss. Averaging over all of them changes nothing about privacy or loss and leaves a channel
that is constant on orbits of pairs (Aldà and Simon 2017, Lemma 2): one unknown per orbit is enough.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from fractions import Fraction
from math import gcd, lcm

import numpy as np
from numpy.typing import NDArray

from leastnoise.designer.linear.orbit_program import OrbitProgram, codes_of
from leastnoise.errors import TooLarge
from leastnoise.exact import IntArray
from leastnoise.model import DesignProblem
from leastnoise.model.graphs import symmetry

__all__ = ["directed_edges", "find_symmetries", "has_many_constraints", "make_cells", "orbits_of_pairs"]


_MOST_CONSTRAINTS = 4_000_000
_MANY_CONSTRAINTS = 200_000  # more than the exact program solves in a few minutes, on a graph
_MANY_IN_A_HURRY = 90_000  # more than it solves in half a minute, where every two inputs are bound: 45 places
_HURRY = 60.0  # seconds: a limit of time below it asks for a gap of a percent rather than for none
_MOST_CELLS = 1_000_000  # pairs of an input and an output that are still searched for columns
_MOST_COMPARED = 700  # nodes among which a search for points in between takes no time
_LONGEST = 1 << 45  # a sum of many lengths must still be an exact double


def make_cells(problem: DesignProblem, *, reduce: bool = True) -> OrbitProgram:
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
    return OrbitProgram(
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


def has_many_constraints(problem: DesignProblem, *, reduce: bool, limit: float | None = None) -> bool:
    """Whether symmetries, if they may be used, leave more than the exact program solves in the seconds there are."""
    size, outputs = len(problem.graph.nodes), len(problem.answers)
    is_metric = problem.graph.edge_lengths() is not None
    is_hurried = is_metric and limit is not None and limit < _HURRY
    most, pairs = _MANY_IN_A_HURRY if is_hurried else _MANY_CONSTRAINTS, 2 * len(problem.graph.edges())
    if pairs * outputs > most and is_metric and size <= _MOST_COMPARED:
        pairs = len(directed_edges(problem, np.arange(size))[0])
    if pairs * outputs <= most or size * max(size, outputs) > _MOST_CELLS:
        return False
    return not reduce or _all_differ(problem) or not len(find_symmetries(problem))


def _all_differ(problem: DesignProblem) -> bool:
    """Whether the distances to others and the prior already tell all inputs apart."""
    signs = {
        (weight, tuple(sorted(row)))
        for weight, row in zip(problem.weights, problem.graph.distances().tolist(), strict=True)
    }
    return len(signs) == len(problem.weights)


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


def find_symmetries(problem: DesignProblem) -> IntArray:
    """Generators of the symmetries, one per row: the image of each node, then of each output (numbered after them)."""
    graph, size = problem.graph, len(problem.graph.nodes)
    colors = None if problem.objective == "worst" or problem.has_uniform_prior else problem.weights
    if problem.is_distance_loss:
        moves = graph.automorphism_generators(colors)
        return np.concatenate([moves, moves + size], axis=1)
    labels = range(size + len(problem.answers))
    shades: list[Hashable] = [(weight,) for weight in colors or [0] * size]
    shades += ["output"] * len(problem.answers)
    return symmetry.find_generators(labels, [*_edge_classes(problem), *_loss_classes(problem)], shades)


def orbits_of_pairs(moves: IntArray, inputs: int, outputs: int) -> IntArray:
    """The orbit of each pair of an input and an output as a matrix, numbered by first appearance row by row."""
    if not len(moves):
        return np.arange(inputs * outputs).reshape(inputs, outputs)
    if np.array_equal(moves[:, inputs:], moves[:, :inputs] + inputs):
        return symmetry.pair_orbits(moves[:, :inputs], inputs)
    block = symmetry.pair_orbits(moves, inputs + outputs)[:inputs, inputs:]
    _, first, inverse = np.unique(block, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[inverse].reshape(block.shape)


def _edge_classes(problem: DesignProblem) -> Sequence[IntArray]:
    edges, lengths = problem.graph.edges(), problem.graph.edge_lengths()
    return [edges] if lengths is None else _classes(edges, lengths)


def _loss_classes(problem: DesignProblem) -> Sequence[IntArray]:
    table = problem.loss_table.transposed().rows
    pairs = np.argwhere(np.ones((len(table), len(table[0])), dtype=bool)) + np.array([0, len(table)])
    return _classes(pairs, [value for row in table for value in row])


def _classes(pairs: IntArray, values: Sequence[Hashable]) -> list[IntArray]:
    """Lists of pairs such that a permutation keeps every value if and only if it keeps every list.

    Values are numbered, the most frequent one first as 0, and list k holds the pairs whose number has bit k set.
    """
    known = {value: number for number, value in enumerate(dict.fromkeys(values))}
    numbers: NDArray[np.int64] = np.array([known[value] for value in values])
    rank = np.argsort(np.argsort(-np.bincount(numbers), kind="stable"))[numbers]
    return [pairs[(rank >> bit) & 1 == 1] for bit in range(max(1, (len(known) - 1).bit_length()))]
