"""Which inputs and outputs a problem can't tell apart: permutations that keep neighbours, prior and loss.

A permutation of inputs and outputs that keeps the distances, the prior and the loss takes a private channel to a
private channel of the same loss. Averaging over all of them changes nothing about privacy or loss and leaves a channel
that is constant on orbits of pairs (Aldà and Simon 2017, Lemma 2): one unknown per orbit is enough.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np
from numpy.typing import NDArray

from leastnoise.model.design_problem import DesignProblem
from leastnoise.model.graphs import symmetry
from leastnoise.model.graphs.aliases import IntArray

__all__ = ["find_symmetries", "orbits_of_pairs"]


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
