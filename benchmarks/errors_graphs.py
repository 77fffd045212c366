"""Errors of cuts, covers, degrees, sorted lists and facilities on public graphs, beside every other way to them."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import combinations
from math import comb
from typing import Any

import networkx as nx
import numpy as np
from numpy.typing import NDArray
from scipy.optimize import Bounds, LinearConstraint, milp

from benchmarks.errors import CHOSEN, ErrorRow, environment, mean_row, missing_row, why_missing
from leastnoise.exact import SeededSource
from leastnoise.mechanisms.combinatorial import (
    DegreeOrder,
    ExponentialCut,
    IsotonicCounts,
    KMedian,
    NodeCut,
    NoisyDemand,
    PerfectCut,
    RaisedCut,
    SortedCounts,
    StoppedCut,
    VertexCoverOrder,
    decode,
    plan_k_median,
    plan_min_cut,
    plan_sorted_counts,
    plan_vertex_cover,
    zipf_counts,
)
from leastnoise.mechanisms.combinatorial.min_cut.contraction import minimum_cut
from leastnoise.mechanisms.combinatorial.min_cut.cut_mechanism import CutMechanism, weight_between
from leastnoise.mechanisms.combinatorial.min_cut.exponential_cut import MOST_NODES
from leastnoise.mechanisms.combinatorial.sorted_counts.diagram import distance, read_counts
from leastnoise.mechanisms.numeric import VectorLaplace
from leastnoise.model import Mechanism

__all__ = ["NOTES", "covers", "cuts", "degrees", "facilities", "run", "sorted_lists"]

Integers = NDArray[np.int64]
OPENDP = "opendp==0.16.0"
PEER = "OpenDP 0.16.0"
DRAWS = 200
DEMAND = 2000
NOTES = (
    "Zachary's karate club has 34 nodes and 78 edges, the characters of Les Misérables 77 and 254 (who meets whom, "
    "however often), the Florentine families 15 and 20; all from networkx. A neighbour has one edge more or less. "
    "What is chosen for a cut, a cover or facilities is what the planner takes when that public graph or demand is its "
    "example.",
    "Errors: for cuts the weight above that of the lightest one; for covers the number of nodes, beside the smallest "
    "cover; for degrees the mean distance of a degree from the true one; for sorted lists the distance of the whole "
    "list in ℓ₁; for facilities the cost divided by the least cost. Perfect cuts of two K50 take a time "
    "that depends on the graph. Means are of 200 draws, of cuts and facilities of 10; where all draws had the same "
    "error, the row says exact too.",
    "No other library here has cuts, covers, sorted lists or facilities. OpenDP's rows are what its user would put "
    "together: its noisy minimum of the degrees; an order by its noisy degrees; its noisy counts, sorted; its noisy "
    "counts with those below zero left out, and then the same local search as ours.",
)


def run() -> list[ErrorRow]:
    """All rows, with OpenDP where it installs."""
    peer = environment(OPENDP)
    return [row for part in (cuts, covers, degrees, sorted_lists, facilities) for row in part(peer)]


def public_graphs() -> dict[str, nx.Graph]:
    """Three graphs that everybody has, without weights, on nodes with numbers."""
    found = {
        "karate club": nx.karate_club_graph(),
        "Les Misérables": nx.les_miserables_graph(),
        "Florentine families": nx.florentine_families_graph(),
    }
    return {name: nx.convert_node_labels_to_integers(nx.Graph(graph.edges)) for name, graph in found.items()}


def cuts(peer: str | None, draws: int = DRAWS) -> Iterator[ErrorRow]:
    """The extra weight of a cut; choosing one node has a known law, and so have all cuts of few nodes."""
    graphs = {**public_graphs(), "two K50 with a bridge": nx.barbell_graph(50, 0)}
    for name, graph in graphs.items():
        job, nodes = f"cut of the {name}, ε = 1, extra weight", len(graph)
        edges, loads = list(graph.edges), np.array([load for _, load in sorted(graph.degree)])
        ways: list[CutMechanism] = [NodeCut(1, nodes), RaisedCut(1, nodes), StoppedCut(1, nodes)]
        ways.append(ExponentialCut(1, nodes) if nodes <= MOST_NODES else PerfectCut(1, nodes))
        plan = plan_min_cut(nodes, 1, example=edges)
        found = {way.name: _cut_row(job, way, edges, draws) for way in ways}
        yield found[plan.mechanism.name]._replace(method=CHOSEN)
        yield from found.values()
        least = minimum_cut(ways[0].matrix(edges))

        def extra(node: int, loads: Integers = loads, least: int = least) -> float:
            return float(loads[node]) - least

        yield _beside(peer, job, ", least noisy degree", "least", loads, draws, extra)


def _cut_row(job: str, way: CutMechanism, edges: Sequence[Any], draws: int) -> ErrorRow:
    matrix = way.matrix(edges)
    least = minimum_cut(matrix)
    if len(way.nodes) <= 15 and not isinstance(way, RaisedCut):
        chances = way.chances(matrix, 64)
        extras = [weight_between(matrix, side) - least for side in way.divisions()]
        exact = sum(float(chance.lower) * extra for chance, extra in zip(chances, extras, strict=True))
        return ErrorRow(job, way.name, exact, 0.0, None)
    number = draws if isinstance(way, NodeCut) else max(draws // 20, 2)
    sides = way.sides(matrix, number, SeededSource(1), None)
    return mean_row(job, way.name, [float(weight_between(matrix, side) - least) for side in sides])


def covers(peer: str | None, draws: int = DRAWS) -> Iterator[ErrorRow]:
    """How many nodes cover all edges."""
    for name, graph in public_graphs().items():
        job, nodes, edges = f"cover of the {name}, ε = 1, nodes", len(graph), list(graph.edges)
        smallest = float(_smallest_cover(graph))
        plan = plan_vertex_cover(1, nodes, example=edges)
        found = {}
        for way in (DegreeOrder(1, nodes), VertexCoverOrder(1, nodes)):
            sizes = [float(len(decode(order, edges))) for order in way.draw(edges, size=draws, source=SeededSource(1))]
            found[way.name] = mean_row(job, way.name, sizes)
        yield found[plan.mechanism.name]._replace(method=CHOSEN, bound=smallest)
        yield from found.values()
        loads = np.array([load for _, load in sorted(graph.degree)])

        def size(noisy: Sequence[int], edges: Sequence[Any] = edges) -> float:
            return float(len(decode(np.argsort(-np.array(noisy), kind="stable"), edges)))

        yield _beside(peer, job, ", noisy degrees", "counts", loads, draws, size, changed=2)


def _smallest_cover(graph: nx.Graph) -> int:
    rows = np.zeros((graph.number_of_edges(), len(graph)))
    for row, edge in enumerate(graph.edges):
        rows[row, list(edge)] = 1
    ones = np.ones(len(graph))
    return round(_least(ones, [LinearConstraint(rows, 1)], ones))


def _least(costs: NDArray[np.float64], rules: list[LinearConstraint], whole: NDArray[np.float64]) -> float:
    """The least cost of numbers between 0 and 1, those that are marked being whole."""
    found = milp(costs, constraints=rules, bounds=Bounds(0, 1), integrality=whole.astype(np.int64))
    if found.fun is None:
        raise RuntimeError(found.message)
    return float(found.fun)


def degrees(peer: str | None, draws: int = DRAWS) -> Iterator[ErrorRow]:
    """How far the degree of a node is off: an edge changes two of them."""
    for name, graph in public_graphs().items():
        job, loads = f"degrees of the {name}, ε = 1", np.array([load for _, load in sorted(graph.degree)])
        each = float(VectorLaplace(1, len(loads), 2).error().expected) / len(loads)
        yield ErrorRow(job, CHOSEN, each, 0.0, None)

        def off(noisy: Sequence[int], loads: Integers = loads) -> float:
            return float(np.abs(np.array(noisy) - loads).mean())

        yield _beside(peer, job, "", "counts", loads, draws, off, changed=2)


def sorted_lists(peer: str | None, draws: int = DRAWS) -> Iterator[ErrorRow]:
    """How often the most frequent one occurs, the next, and so on: the distance in ℓ₁."""
    loads = sorted((load for _, load in public_graphs()["Les Misérables"].degree), reverse=True)
    lists: dict[str, tuple[Sequence[int], int | None]] = {
        "meetings of 77 characters": (loads, None),
        "10,000 records by Zipf's law": (zipf_counts(10_000).tolist(), None),
        "its 10 largest counts": (zipf_counts(10_000).tolist(), 10),
        "200,000 counts": (zipf_counts(2_000_000, "4/5", 200_000).tolist(), None),
    }
    for (name, (counts, top)), epsilon in [(each, e) for each in lists.items() for e in ("1", "1/10")]:
        job, total = f"sorted list, {name}, ε = {Fraction(epsilon)}", sum(counts)
        longest = top or len(counts)
        plan = plan_sorted_counts(epsilon, total, top, longest=longest, example=counts)
        exact = SortedCounts(epsilon, total, longest)
        noisy = IsotonicCounts(epsilon, total, longest)
        few = max(min(draws, 10**6 // longest), 5)
        found = {
            exact.name: ErrorRow(job, exact.name, float(exact.error_at(counts)), 0.0, None),
            noisy.name: mean_row(job, noisy.name, _distances(noisy, counts, few, longest)),
        }
        yield found[plan.mechanism.name]._replace(method=CHOSEN)
        yield from found.values()

        def off(answer: Sequence[int], counts: Sequence[int] = counts, longest: int = longest) -> float:
            true = np.array(counts[:longest])
            return float(np.abs(np.sort(np.maximum(answer, 0))[::-1] - true).sum())

        yield _beside(peer, job, ", counts sorted", "counts", np.array(counts[:longest]), few, off, epsilon=epsilon)


def _distances(way: Mechanism, counts: Sequence[int], draws: int, longest: int) -> list[float]:
    true = read_counts(counts, longest)
    drawn = way.draw(counts, size=draws, source=SeededSource(1))
    return [float(distance(true, read_counts(each))) for each in drawn]


def facilities(peer: str | None, draws: int = DRAWS) -> Iterator[ErrorRow]:
    """What facilities cost, as a multiple of the least cost."""
    for where, k, epsilon in ((_karate, 3, "1"), (_karate, 3, "1/10"), (_town, 5, "1"), (_town, 5, "1/10")):
        name, matrix, demand = where()
        job = f"{k} facilities, {name}, demand of {DEMAND}, ε = {Fraction(epsilon)}, cost"
        counts, told = dict(enumerate(demand.tolist())), {"matrix": matrix.tolist()}
        plan = plan_k_median(epsilon, k, example=counts, **told)
        least = _least_cost(matrix, demand, k)

        def ratio(places: Sequence[int], m: NDArray[Any] = matrix, d: Integers = demand, c: float = least) -> float:
            return float(d @ m[:, list(places)].min(axis=1)) / c

        found, number = {}, max(draws // 20, 2)
        for way in (NoisyDemand(epsilon, k, **told), KMedian(epsilon, k, **told)):
            drawn = way.draw(counts, number, SeededSource(1)).tolist()
            found[way.name] = mean_row(job, way.name, [ratio(places) for places in drawn])
        search = NoisyDemand(epsilon, k, **told)
        yield found[plan.mechanism.name]._replace(method=CHOSEN, bound=1.0)
        yield from found.values()

        def searched(noisy: Sequence[int], s: NoisyDemand = search, r: Callable[..., float] = ratio) -> float:
            return r(s.found(np.maximum(noisy, 0)))

        text = ", counts at least zero, then a search"
        yield _beside(peer, job, text, "counts", demand, number, searched, epsilon=epsilon)


def _karate() -> tuple[str, NDArray[Any], Integers]:
    """The 34 members, in steps from one to another, with demand in proportion to 1/rank."""
    graph = public_graphs()["karate club"]
    shares = 1 / np.arange(1.0, len(graph) + 1)
    steps = np.asarray(nx.floyd_warshall_numpy(graph, nodelist=sorted(graph)), dtype=np.float64)
    return "karate club", steps, np.rint(DEMAND * shares / shares.sum()).astype(np.int64)


def _town() -> tuple[str, NDArray[Any], Integers]:
    """A square of 10 × 10 places with demand around five of them."""
    places = np.array([(x, y) for x in range(10) for y in range(10)], dtype=np.float64)
    apart = np.sqrt(((places[:, None] - places[None]) ** 2).sum(axis=2))
    shares = np.exp(-(apart[:, [12, 17, 44, 71, 88]].min(axis=1) ** 2)) + 0.01
    return "10 × 10 places", apart, np.rint(DEMAND * shares / shares.sum()).astype(np.int64)


def _least_cost(matrix: NDArray[Any], demand: Integers, k: int) -> float:
    """By all sets of facilities if they are few, else by a whole program: who is served where, and what is open."""
    count = len(matrix)
    if comb(count, k) <= 10**4:
        return min(float(demand @ matrix[:, places].min(axis=1)) for places in combinations(range(count), k))
    served = np.kron(np.eye(count), np.ones(count))
    open_only = np.hstack([np.eye(count * count), -np.tile(np.eye(count), (count, 1))])
    rules = [
        LinearConstraint(np.hstack([served, np.zeros((count, count))]), 1, 1),
        LinearConstraint(open_only, ub=0),
        LinearConstraint(np.append(np.zeros(count * count), np.ones(count)), k, k),
    ]
    costs = np.append((demand[:, None] * matrix).ravel(), np.zeros(count))
    whole = np.append(np.zeros(count * count), np.ones(count))
    return _least(costs, rules, whole)


_PROGRAM = """
import json, sys
import opendp.prelude as dp
dp.enable_features("contrib")
asked = json.load(sys.stdin)
cells = dp.vector_domain(dp.atom_domain(T=int))
def counts(scale):
    return dp.m.make_laplace(cells, dp.l1_distance(T=int), scale=scale)
def least(scale):
    space = cells, dp.linf_distance(T=int, monotonic=True), dp.max_divergence()
    return dp.m.make_noisy_max(*space, scale=scale, negate=True)
way = {"counts": counts, "least": least}[asked["what"]]
draw = dp.binary_search_chain(way, d_in=asked["changed"], d_out=asked["epsilon"])
json.dump([draw(asked["values"]) for _ in range(asked["draws"])], sys.stdout)
"""


def _beside(
    python: str | None,
    job: str,
    how: str,
    what: str,
    values: Integers,
    draws: int,
    error: Callable[[Any], float],
    *,
    changed: int = 1,
    epsilon: str = "1",
) -> ErrorRow:
    """OpenDP's errors at the same privacy, from its own environment."""
    if python is None:
        return missing_row(job, f"{PEER}{how}", why_missing(OPENDP))
    asked: Mapping[str, Any] = {
        "what": what,
        "values": values.tolist(),
        "changed": changed,
        "epsilon": float(Fraction(epsilon)),
        "draws": draws,
    }
    done = subprocess.run([python, "-c", _PROGRAM], input=json.dumps(asked), capture_output=True, text=True)
    if done.returncode:
        return missing_row(job, f"{PEER}{how}", done.stderr.strip().splitlines()[-1])
    return mean_row(job, f"{PEER}{how}", [error(answer) for answer in json.loads(done.stdout)])
