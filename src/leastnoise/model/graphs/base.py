"""What every dataset graph can be asked.

Nodes are datasets, or the values a query can take; edges join neighbours; d(x, y) is the length of a shortest path. A
metric may stand in for the graph: then every pair is an edge and has its own length (metric privacy, ε·d(x, y)).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Sequence
from fractions import Fraction
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from leastnoise.errors import UnknownLabel, shown
from leastnoise.exact import IntArray, Length
from leastnoise.model.graphs import symmetry
from leastnoise.model.graphs.layers import LayerDegrees, layer_degrees_from, layers_from
from leastnoise.model.labels import suggest
from leastnoise.model.limits import require_memory

if TYPE_CHECKING:
    from scipy.sparse import csr_array

__all__ = ["DatasetGraph"]

_NODES_SEARCHED_FOR_A_HINT = 10_000


class DatasetGraph(ABC):
    """A connected graph of datasets, or a metric space of them; immutable, equal if built alike.

    Methods take and return labels; arrays are in node order, so that entry i belongs to `nodes[i]`.
    """

    @property
    @abstractmethod
    def name(self) -> str:
        """A short description, such as "path(20)"."""

    @property
    @abstractmethod
    def size(self) -> int | None:
        """The number of nodes; None if there are infinitely many."""

    @property
    @abstractmethod
    def nodes(self) -> Sequence[Hashable]:
        """The labels in node order; made on demand in families known in closed form."""

    @abstractmethod
    def edges(self) -> IntArray:
        """The edges as rows (i, j) of node indices with i < j, sorted; for a metric, all pairs."""

    @abstractmethod
    def distances_from(self, node: Hashable) -> npt.NDArray[Any]:
        """The distance of every node from `node`: int64 for a graph, Fractions for a metric."""

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """A form that JSON can hold without loss; `graphs.from_dict` reads it back."""

    @abstractmethod
    def _position(self, label: object) -> int | None:
        """The index of a label, None if it is no node."""

    @abstractmethod
    def _distances(self) -> npt.NDArray[Any]:
        """The full distance matrix, freshly made; memory was checked."""

    def __repr__(self) -> str:
        """The name."""
        return self.name

    def __contains__(self, label: object) -> bool:
        """Whether there is a node with this label."""
        return self._position(label) is not None

    def index(self, label: Hashable) -> int:
        """The position of a label among `nodes`.

        Raises:
            UnknownLabel: There is no such node; the text names the closest one.
        """
        position = self._position(label)
        if position is None:
            raise UnknownLabel(f"{self.name} has no such node", given=shown(label), fix=self._hint(label))
        return position

    def edge_lengths(self) -> list[Fraction] | None:
        """The length of each of `edges()`; None means that all have length one."""
        return None

    def different_lengths(self) -> tuple[list[Fraction], IntArray] | None:
        """The different edge lengths in ascending order, and the place of each edge's among them; None as above."""
        lengths = self.edge_lengths()
        if lengths is None:
            return None
        different = sorted(set(lengths))
        place = {length: i for i, length in enumerate(different)}
        return different, np.array([place[length] for length in lengths], dtype=np.int64)

    def distance(self, x: Hashable, y: Hashable) -> Length:
        """The length of a shortest path between two nodes."""
        distance = self.distances_from(x)[self.index(y)]
        return distance if isinstance(distance, Fraction) else int(distance)

    def distances(self) -> npt.NDArray[Any]:
        """All distances as a matrix: int64 for a graph, Fractions for a metric. Computed once, read-only.

        Raises:
            TooLarge: The matrix would not fit into memory.
        """
        require_memory(
            16 * self._finite_size() ** 2,
            f"the distance matrix of {self.name}",
            "ask for distance(x, y), distances_from(x) or layer_sizes(x) instead",
        )
        return self._distance_matrix

    @cached_property
    def _distance_matrix(self) -> npt.NDArray[Any]:
        matrix = self._distances()
        matrix.flags.writeable = False
        return matrix

    def adjacency(self) -> csr_array[np.int8, tuple[int, int]]:
        """The symmetric 0/1 matrix of edges, sparse."""
        from scipy.sparse import csr_array  # slow to import, and seldom needed

        edges = self.edges()
        rows, columns = np.concatenate([edges, edges[:, ::-1]]).T
        shape = (self._finite_size(), self._finite_size())
        return csr_array((np.ones(len(rows), dtype=np.int8), (rows, columns)), shape=shape)

    def neighbours(self, node: Hashable) -> tuple[Hashable, ...]:
        """The nodes that share an edge with `node`, in node order."""
        position, edges = self.index(node), self.edges()
        found = np.concatenate([edges[edges[:, 1] == position, 0], edges[edges[:, 0] == position, 1]])
        return tuple(self.nodes[int(i)] for i in np.sort(found))

    def degree(self, node: Hashable) -> int:
        """The number of neighbours."""
        return len(self.neighbours(node))

    def diameter(self) -> Length:
        """The largest distance between two nodes."""
        largest = self.distances().max()
        return largest if isinstance(largest, Fraction) else int(largest)

    def layers(self, start: Hashable) -> dict[Length, tuple[Hashable, ...]]:
        """S_d(start) for every distance d that occurs: the nodes at that distance, nearest layer first."""
        return {d: tuple(self.nodes[int(i)] for i in layer) for d, layer in layers_from(self, start)}

    def layer(self, start: Hashable, distance: Length) -> tuple[Hashable, ...]:
        """S_d(start), the nodes at exactly this distance; empty if there are none."""
        found = np.flatnonzero(self.distances_from(start) == distance)
        return tuple(self.nodes[int(i)] for i in found)

    def layer_sizes(self, start: Hashable) -> dict[Length, int]:
        """The number of nodes at every distance that occurs, nearest layer first."""
        return {d: len(layer) for d, layer in layers_from(self, start)}

    def layer_size(self, start: Hashable, distance: Length) -> int:
        """The number of nodes at exactly this distance."""
        return self.layer_sizes(start).get(distance, 0)

    def layer_degrees(self, start: Hashable) -> LayerDegrees:
        """Each node's number of neighbours one layer nearer, in its layer and one layer further from `start`."""
        return layer_degrees_from(self, start)

    def has_regular_layers(self, *starts: Hashable) -> bool:
        """Whether the layer sequence is regular from each of `starts`, or from every node if none is given.

        Together with `is_vertex_transitive` this is what makes p(y|x) ∝ e^(−ε·d(x, y)) an optimal ε-private mechanism
        (Aldà and Simon 2017, Theorem 1). A metric has no layers in this sense and the answer is no.
        """
        if self.edge_lengths() is not None:
            return False
        if not starts:  # one start per orbit is enough: an automorphism carries layers to layers
            starts = tuple(self.nodes[int(i)] for i in np.unique(self.orbits(), return_index=True)[1])
        return all(self.layer_degrees(start).is_regular for start in starts)

    def automorphism_generators(self, colors: symmetry.Colors | None = None) -> IntArray:
        """Generators of the group of permutations of the nodes that keep all distances.

        Args:
            colors: A colour per node (in node order, or a mapping), which the permutations must keep as well; equal
                values, for example of a prior, are equal colours.

        Returns:
            One permutation per row: node i goes to node row[i]. No rows if only the identity is left.
        """
        return self._generators if colors is None else symmetry.find_generators(self.nodes, self._edge_classes, colors)

    @cached_property
    def _generators(self) -> IntArray:
        generators = self._known_generators()
        if generators is None:
            generators = symmetry.find_generators(self.nodes, self._edge_classes, None)
        generators.flags.writeable = False
        return generators

    def _known_generators(self) -> IntArray | None:
        """The generators where a formula gives them."""
        return None

    @cached_property
    def _edge_classes(self) -> Sequence[IntArray]:
        """Sorted lists of edges such that keeping each of them is the same as keeping all distances."""
        edges, size = self.edges(), self._finite_size()
        if 4 * len(edges) <= size * (size - 1):
            return [edges]
        joined = self.adjacency().toarray()  # a dense graph has the automorphisms of its sparse complement
        return [np.argwhere(np.triu(joined == 0, k=1))]

    def is_automorphism(self, permutation: npt.ArrayLike) -> bool:
        """Whether node i ↦ node permutation[i] is a permutation that keeps all distances."""
        image = np.asarray(permutation)
        if image.shape != (self._finite_size(),) or not np.array_equal(np.sort(image), np.arange(len(image))):
            return False
        return all(symmetry.keeps(image, edges) for edges in self._edge_classes)

    def orbits(self, colors: symmetry.Colors | None = None) -> IntArray:
        """The orbit of each node under the automorphisms, numbered by first appearance."""
        return symmetry.node_orbits(self.automorphism_generators(colors), self._finite_size())

    def pair_orbits(self, colors: symmetry.Colors | None = None) -> IntArray:
        """The orbit of each ordered pair of nodes, as a matrix, numbered by first appearance row by row.

        A linear program that the automorphisms leave alone needs one variable per orbit (Aldà and Simon 2017, Lemma 2,
        averages in this way).
        """
        return symmetry.pair_orbits(self.automorphism_generators(colors), self._finite_size())

    def is_vertex_transitive(self) -> bool:
        """Whether for any two nodes an automorphism takes one to the other."""
        return not self.orbits().any()

    def _finite_size(self) -> int:
        """The number of nodes; an infinite graph refuses."""
        return len(self.nodes)

    def _hint(self, label: object) -> str:
        """What to write instead of a label that is not there: the closest one."""
        return suggest(label, islice(self.nodes, _NODES_SEARCHED_FOR_A_HINT), "node")
