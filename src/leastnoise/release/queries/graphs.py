"""Questions about the graph whose edges are the rows of a table: edges, degrees, parts, triangles, a cut, a cover.

Two columns name the ends of an edge, and the nodes are public. Two nodes are joined if some row names both, in either
order and however often; a row with an end outside the nodes, or with the same node twice, joins nothing.

Privacy. The engine keeps at most g = `groups_per_unit` cells of a unit in the table of all ordered pairs of nodes, and
the cells of the others do not depend on it. So a unit more adds at most g edges and takes none away. Without a privacy
unit each row is a unit and g = 1: edge level. With a unit that is a person, g = 1 says that only one of its edges
counts. It is not node level: what others' rows say about a node is not that node's own.

An edge more changes the number of edges by one; two degrees by one each; the number of connected parts by one at most;
the number of triangles by at most n − 2, one for each third node. So g edges change the three numbers by at most g, g
and g(n − 2), for which there is noise on one number. Degrees, cuts and covers are drawn with ε/g for each edge: g edges
are g steps from neighbour to neighbour, hence ε. (Noise for two degrees that change by g each would not do: g edges at
one node change g + 1 degrees.)
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from leastnoise.composition.cost import pure_within
from leastnoise.data import CountRows
from leastnoise.exact import Exact
from leastnoise.ledger.record import Json
from leastnoise.mechanisms.combinatorial import CoverPlan, CutPlan, plan_min_cut, plan_vertex_cover
from leastnoise.mechanisms.combinatorial.graph_input import read_graph
from leastnoise.mechanisms.histogram.independent_noise import HistogramProblem
from leastnoise.mechanisms.numeric.integer_noise import IntegerNoise
from leastnoise.model import ErrorEstimate, Mechanism, Privacy, Pure, Sensitivity
from leastnoise.release.arguments import axis_labels
from leastnoise.release.plan import AnswerPlan
from leastnoise.release.queries.counts import bars_around, noise_plan, whole_numbers
from leastnoise.release.queries.query import CellQuery, Query
from leastnoise.release.tables import TidyTable

__all__ = ["GRAPH_ANSWERS", "graph_question"]

_NUMBERS = ("edges", "degrees", "components", "triangles")
GRAPH_ANSWERS = (*_NUMBERS, "cut", "cover")
_NODE, _TWO_ENDS = "node", "an edge has two ends"


class _OfGraph(CellQuery):
    """What all questions about the graph share."""

    @property
    def nodes(self) -> tuple[Hashable, ...]:
        """The public nodes."""
        return axis_labels(self.axes[0])

    @property
    def edges_of_a_unit(self) -> int:
        """How many edges one unit can add, at most."""
        return min(self.contribution.groups_per_unit, self.cells)

    @property
    def ends(self) -> str:
        """The two columns, in words."""
        return f"between {self.axes[0].column} and {self.axes[1].column} ({len(self.nodes)} nodes)"

    @property
    def level(self) -> str:
        """What is protected, in words."""
        unit, most = self.contribution.privacy_unit, self.edges_of_a_unit
        if unit is None:
            return "edge level: one row, thus one edge, is protected, and not a node with all its edges"
        few = "one edge" if most == 1 else f"{most} edges"
        return f"{few} of each {unit}; what the rows of others say about a node is not protected with it"

    def each_edge(self, price: Privacy) -> Exact:
        """What one edge costs where all edges of a unit cost the price."""
        return pure_within(price) / self.edges_of_a_unit

    def drawn_plan(
        self,
        price: Privacy,
        mechanism: Mechanism,
        encode: Callable[[Any], Json],
        to_table: Callable[[Any, Any], TidyTable],
        notes: tuple[str, ...],
    ) -> AnswerPlan:
        """The plan of a mechanism on graphs that was made for the share of one edge."""
        most, error = self.edges_of_a_unit, mechanism.error()
        return AnswerPlan(
            mechanism=mechanism,
            event=mechanism.event if most == 1 else Pure(pure_within(price)),
            error=error,
            within=partial(_far, error),
            sensitivity=Sensitivity(1, most, f"a unit adds at most {_edges(most)}", norm="l∞"),
            encode=encode,
            to_table=to_table,
            reason=mechanism.reason(),
            notes=(self.level, *notes),
        )

    def read(self) -> NDArray[np.int64]:
        """The places of both ends of each edge, in whichever order; private."""
        return np.argwhere(self.totals(CountRows()).reshape(len(self.nodes), -1) > 0)


@dataclass(frozen=True, repr=False, kw_only=True)
class NumbersOfGraph(_OfGraph):
    """How many edges, connected parts or triangles there are, or how many edges each node has.

    Attributes:
        what: "edges", "degrees", "components" or "triangles".
    """

    recorded_as: ClassVar[str] = "NumbersOfGraph"
    what: str

    @property
    def question(self) -> str:
        asked = f"{'degree of each node' if self.what == 'degrees' else f'number of {self.what}'} {self.ends}"
        return asked if self.where is None else f"{asked} where {self.where}"

    @property
    def measured_in(self) -> str:
        return "edges" if self.what == "degrees" else self.what

    def parameters(self) -> dict[str, Json]:
        return {**super().parameters(), "what": self.what}

    @property
    def sensitivity(self) -> Sensitivity:
        """What so many edges more can change."""
        most = self.edges_of_a_unit
        if self.what == "degrees" and most > 1:  # how they are spread over the nodes is not said: one cell of n numbers
            return Sensitivity(1, 2 * most, f"{_TWO_ENDS}, and a unit adds at most {_edges(most)}")
        if self.what == "degrees":
            return Sensitivity(2, 1, f"{_TWO_ENDS}, and a unit adds at most one")
        each = max(len(self.nodes) - 2, 1) if self.what == "triangles" else 1
        why = f"an edge is in at most {each} of them" if each > 1 else "an edge changes it by one at most"
        return Sensitivity(1, most * each, f"{why}, and a unit adds at most {_edges(most)}")

    def answer_plan(self, price: Privacy) -> AnswerPlan:
        """Noise on each number; several edges of a unit are a chain of neighbouring graphs for the degrees."""
        most, degrees = self.edges_of_a_unit, self.what == "degrees"
        to_table = partial(_numbers_table, self.nodes if degrees else None)
        if most == 1 or not degrees:
            problem = HistogramProblem(price, len(self.nodes) if degrees else 1, self.sensitivity)
            return noise_plan(problem, to_table, self.level)
        epsilon = pure_within(price)
        each = HistogramProblem(Privacy(epsilon / most), len(self.nodes), Sensitivity(2, 1, _TWO_ENDS))
        return replace(noise_plan(each, to_table, self.level), event=Pure(epsilon), sensitivity=self.sensitivity)

    def read(self) -> Any:
        """The numbers; private."""
        graph = read_graph(super().read(), len(self.nodes))
        if self.what == "degrees":
            return graph.degrees()
        number = {"edges": lambda: len(graph.tails), "components": graph.components, "triangles": graph.triangles}
        return np.array([number[self.what]()])


class CutOfGraph(_OfGraph):
    """Which nodes to take from the others so that few edges are cut."""

    recorded_as: ClassVar[str] = "CutOfGraph"
    shown_multiples: ClassVar[tuple[Any, ...]] = ()  # a plan simulates the mechanisms

    @property
    def question(self) -> str:
        asked = f"cut of few edges {self.ends}"
        return asked if self.where is None else f"{asked} where {self.where}"

    @property
    def measured_in(self) -> str:
        return "edges"

    def answer_plan(self, price: Privacy) -> AnswerPlan:
        """The way that is best on made-up graphs; a δ is not spent."""
        plan = _cut_plan(len(self.nodes), self.each_edge(price))
        notes = (plan.reason, "the error is how many edges more are cut than need be, on any graph")
        return self.drawn_plan(price, plan.mechanism, sorted, partial(_sides_table, self.nodes), notes)


class CoverOfGraph(_OfGraph):
    """An order of the nodes in which every edge is covered by whichever of its ends comes first."""

    recorded_as: ClassVar[str] = "CoverOfGraph"
    shown_multiples: ClassVar[tuple[Any, ...]] = ()  # a plan simulates the mechanisms

    @property
    def question(self) -> str:
        asked = f"order of the nodes for a small cover of the edges {self.ends}"
        return asked if self.where is None else f"{asked} where {self.where}"

    @property
    def measured_in(self) -> str:
        return "times the smallest cover"

    def answer_plan(self, price: Privacy) -> AnswerPlan:
        """The order that covers a made-up graph with fewer nodes; a δ is not spent."""
        plan = _cover_plan(len(self.nodes), self.each_edge(price))
        sizes = ", ".join(f"{size:.0f} nodes by the {name}" for name, size in plan.on_example.items())
        notes = (f"a made-up graph is covered by {sizes}", "the error is that of the worst graph")
        return self.drawn_plan(price, plan.mechanism, whole_numbers, partial(_order_table, self.nodes), notes)


def graph_question(answer: str, asked: Mapping[str, Any]) -> Query:
    """The question about a graph, from what every question by cells has."""
    if answer in _NUMBERS:
        return NumbersOfGraph(**asked, what=answer)
    return CutOfGraph(**asked) if answer == "cut" else CoverOfGraph(**asked)


@lru_cache(maxsize=64)
def _cover_plan(nodes: int, epsilon: Exact) -> CoverPlan:
    return plan_vertex_cover(epsilon, nodes)


@lru_cache(maxsize=64)
def _cut_plan(nodes: int, epsilon: Exact) -> CutPlan:
    return plan_min_cut(nodes, epsilon)


def _far(error: ErrorEstimate, level: Any) -> Any:
    """The extra weight that is not exceeded with this probability; the mechanisms state it at one level only."""
    return error.quantiles.get(level)


def _edges(count: int) -> str:
    return "one edge" if count == 1 else f"{count} edges"


def _numbers_table(nodes: tuple[Hashable, ...] | None, noise: IntegerNoise, drawn: list[int], level: Any) -> TidyTable:
    keys: dict[str, tuple[Any, ...]] = {} if nodes is None else {_NODE: nodes}
    return TidyTable({**keys, **bars_around(noise, drawn, level, tuple(keys))}, tuple(keys))


def _sides_table(nodes: tuple[Hashable, ...], drawn: list[int], _: Any) -> TidyTable:
    """For each node whether it is on the first node's side, 0, or on the other."""
    return TidyTable({_NODE: nodes, "value": tuple(int(place in drawn) for place in range(len(nodes)))}, (_NODE,))


def _order_table(nodes: tuple[Hashable, ...], drawn: list[int], _: Any) -> TidyTable:
    """For each node its place in the order, from 1 on."""
    place = {node: rank for rank, node in enumerate(drawn, start=1)}
    return TidyTable({_NODE: nodes, "value": tuple(place[node] for node in range(len(nodes)))}, (_NODE,))
