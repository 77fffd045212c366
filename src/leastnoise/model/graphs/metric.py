"""Any finite metric in place of a graph: metric privacy asks for e^(ε·d(x, y)) between every two nodes."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from fractions import Fraction
from functools import cached_property, lru_cache
from math import lcm
from typing import Any

import numpy as np
import numpy.typing as npt

from leastnoise.errors import BadGraph, shown
from leastnoise.exact import IntArray, NumberLike, read_rational
from leastnoise.model.graphs.base import DatasetGraph
from leastnoise.model.graphs.explicit import ListedGraph, is_list_of_lists, node_positions
from leastnoise.model.labels import decode_label, encode_label

__all__ = ["from_distance", "read_metric"]


def from_distance(
    matrix: Sequence[Sequence[NumberLike]] | npt.NDArray[Any], labels: Iterable[Hashable] | None = None
) -> DatasetGraph:
    """The metric with these distances, read exactly: 0.1 is one tenth, "1/3" a third.

    Args:
        matrix: A square table of distances.
        labels: The name of each row; 0, 1, 2, … by default.

    Raises:
        BadGraph: Not square, not symmetric, not zero on the diagonal, not positive off it, or longer than a detour (the
            two or three nodes are named).

    >>> triangle = from_distance([[0, 1, "3/2"], [1, 0, 1], ["3/2", 1, 0]], "abc")
    >>> triangle, triangle.distance("a", "c"), triangle.edge_lengths()
    (metric(3 nodes), Fraction(3, 2), [Fraction(1, 1), Fraction(3, 2), Fraction(1, 1)])
    >>> from_distance([[0, 1, 3], [1, 0, 1], [3, 1, 0]], "abc")
    Traceback (most recent call last):
    leastnoise.errors.BadGraph: the triangle inequality fails; given: d('a', 'c') = 3 > d('a', 'b') + d('b', 'c') = 2...
    """
    rows = _read_rows(matrix)
    nodes = tuple(range(len(rows)) if labels is None else labels)
    node_positions(nodes)
    if {len(rows)} != {len(nodes), *(len(row) for row in rows)}:
        lengths = sorted({len(row) for row in rows})
        raise BadGraph(
            "distances must form a square table with one label per row",
            given=f"{len(rows)} rows of length {' and '.join(map(str, lengths))}, {len(nodes)} labels",
            fix="give one row and one column per node",
        )
    return Metric(nodes, _read_table(rows))


def read_metric(nodes: Sequence[Any], distances: Sequence[Sequence[str]]) -> DatasetGraph:
    """Read what `Metric.to_dict` wrote: row i holds the distances to the nodes after i."""
    if not isinstance(nodes, list | tuple) or not is_list_of_lists(distances):
        raise BadGraph("nodes are a list of labels and distances a list of rows", fix="write graphs with to_dict")
    size = len(nodes)
    if [len(row) for row in distances] != list(range(size - 1, 0, -1)):
        raise BadGraph(
            "row i must hold the distances from node i to each later node",
            given=f"rows of length {', '.join(str(len(row)) for row in distances)}",
            fix=f"give {size - 1} rows, of length {size - 1} down to 1",
        )
    table: list[list[NumberLike]] = [[0] * size for _ in range(size)]
    for i, row in enumerate(distances):
        for j, value in enumerate(row, start=i + 1):
            table[i][j] = table[j][i] = value
    return from_distance(table, [decode_label(node) for node in nodes])


class Metric(ListedGraph):
    """A finite metric space, held as whole numbers over one common denominator."""

    def __init__(self, nodes: tuple[Hashable, ...], table: list[list[Fraction]]) -> None:
        super().__init__(nodes)
        self._denominator = lcm(*(value.denominator for row in table for value in row))
        whole = [[value.numerator * (self._denominator // value.denominator) for value in row] for row in table]
        # Two distances must be addable without overflow; beyond that, Python's numbers are slower but exact too.
        fits = max(abs(value) for row in whole for value in row) < 2**62
        self._whole: npt.NDArray[Any] = np.array(whole, dtype=np.int64 if fits else object)
        self._check()

    def _check(self) -> None:
        whole, nodes = self._whole, self._nodes
        if (where := _first(np.diag(whole) != 0)) is not None:
            raise self._refusal("a node must be at distance zero from itself", (where[0], where[0]))
        if (where := _first(whole != whole.T)) is not None:
            raise self._refusal("distances must be symmetric", where, where[::-1])
        if (where := _first((whole <= 0) & ~np.eye(len(nodes), dtype=bool))) is not None:
            raise self._refusal("different nodes must be at a positive distance", where)
        for middle in range(len(nodes)):
            detour = whole[:, middle, None] + whole[None, middle, :]
            if (where := _first(detour < whole)) is not None:
                i, j = where
                way = f"d({nodes[i]!r}, {nodes[middle]!r}) + d({nodes[middle]!r}, {nodes[j]!r})"
                raise BadGraph(
                    "the triangle inequality fails",
                    given=f"{self._shown(i, j)} > {way} = {Fraction(int(detour[i, j]), self._denominator)}",
                    fix="shorten the direct way or lengthen the detour",
                )

    def _shown(self, i: int, j: int) -> str:
        return f"d({self._nodes[i]!r}, {self._nodes[j]!r}) = {Fraction(int(self._whole[i, j]), self._denominator)}"

    def _refusal(self, problem: str, *pairs: tuple[int, ...]) -> BadGraph:
        return BadGraph(problem, given=", ".join(self._shown(i, j) for i, j in pairs), fix="correct the table")

    @property
    def name(self) -> str:
        """How many nodes."""
        return f"metric({len(self._nodes)} nodes)"

    def edges(self) -> IntArray:
        """All pairs (i, j) with i < j."""
        return np.column_stack(np.triu_indices(self.size, k=1))

    def edge_lengths(self) -> list[Fraction]:
        """The distance of each pair of `edges()`."""
        return [Fraction(int(value), self._denominator) for value in self._whole[np.triu_indices(self.size, k=1)]]

    def different_lengths(self) -> tuple[list[Fraction], IntArray]:
        """The different distances, and the place of each pair's among them."""
        different, places = np.unique(self._whole[np.triu_indices(self.size, k=1)], return_inverse=True)
        return [Fraction(int(value), self._denominator) for value in different], places.astype(np.int64)

    def distance(self, x: Hashable, y: Hashable) -> Fraction:
        """The distance as given."""
        return Fraction(int(self._whole[self.index(x), self.index(y)]), self._denominator)

    def distances_from(self, node: Hashable) -> npt.NDArray[Any]:
        """The distance of every node from `node`."""
        return _fractions(self._whole[self.index(node)], self._denominator)

    def _distances(self) -> npt.NDArray[Any]:
        return _fractions(self._whole, self._denominator)

    def to_dict(self) -> dict[str, Any]:
        """Labels, and for each node its distances to all later ones as exact text."""
        rows = [
            [str(Fraction(int(value), self._denominator)) for value in row[i + 1 :]]
            for i, row in enumerate(self._whole)
        ]
        return {"graph": "metric", "nodes": [encode_label(node) for node in self._nodes], "distances": rows[:-1]}

    def __eq__(self, other: object) -> bool:
        """The same labels in the same order, at the same distances."""
        if not isinstance(other, Metric):
            return NotImplemented
        same_unit = self._denominator == other._denominator
        return self._nodes == other._nodes and same_unit and np.array_equal(self._whole, other._whole)

    def __hash__(self) -> int:
        """Equal metrics have equal hashes."""
        return hash((self._nodes, self._denominator, tuple(self._whole.flat)))

    @cached_property
    def _edge_classes(self) -> Sequence[IntArray]:
        # Number the lengths, the most frequent first as 0, and let class k hold the pairs whose number has bit k set: a
        # permutation keeps all lengths iff it keeps every bit of their numbers.
        edges = self.edges()
        _, length, count = np.unique(self._whole[tuple(edges.T)], return_inverse=True, return_counts=True)
        number = np.argsort(np.argsort(-count, kind="stable"))[length] if len(count) else length
        bits = max(1, (max(len(count), 1) - 1).bit_length())
        return [edges[(number >> bit) & 1 == 1] for bit in range(bits)]


def _read_rows(matrix: Sequence[Sequence[NumberLike]] | npt.NDArray[Any]) -> list[list[NumberLike]]:
    try:
        return [list(row) for row in matrix]
    except TypeError:
        raise BadGraph(
            "distances must form a square table", given=shown(matrix), fix="give one row and one column per node"
        ) from None


def _read_table(rows: list[list[NumberLike]]) -> list[list[Fraction]]:
    def read(value: NumberLike) -> Fraction:
        return read_rational(value, "distance")

    # A table repeats itself, and to read a number takes longer than to remember it.
    remembered = lru_cache(maxsize=None, typed=True)(read)
    return [[remembered(value) if isinstance(value, Hashable) else read(value) for value in row] for row in rows]


def _first(wrong: npt.NDArray[np.bool_]) -> tuple[int, ...] | None:
    return tuple(int(k) for k in np.argwhere(wrong)[0]) if wrong.any() else None


def _fractions(whole: npt.NDArray[Any], denominator: int) -> npt.NDArray[Any]:
    fractions = np.empty(whole.shape, dtype=object)
    fractions.ravel()[:] = [Fraction(int(value), denominator) for value in whole.flat]
    return fractions
