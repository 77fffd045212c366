"""Do the conditions of a theorem hold on a graph, and is the channel the one it speaks of?"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import Any

from leastnoise.checker.verdict import Finding
from leastnoise.exact import Enclosure, at_alpha, exact_exp
from leastnoise.model import LARGEST_CHANNEL, TheoremCertificate, brief
from leastnoise.model.graphs import DatasetGraph
from leastnoise.model.graphs.closed_form import ClosedForm

__all__ = ["theorem_findings"]

_BITS = 256

Rows = list[list[Fraction]]


def theorem_findings(certificate: TheoremCertificate) -> Iterator[Finding]:
    """The conditions of the theorem and the consequences that are claimed, one by one, up to the first that fails."""
    for finding in _conditions(certificate):
        yield finding
        if not finding.holds:
            return


def _conditions(certificate: TheoremCertificate) -> Iterator[Finding]:
    graph = certificate.graph
    is_finite_graph = graph.size is not None and graph.edge_lengths() is None
    yield Finding("a finite graph, every edge of length 1", is_finite_graph, graph.name)
    yield Finding("δ = 0", certificate.privacy.is_pure, f"δ = {brief(certificate.privacy.delta)}")
    yield from _OF_THEOREM[certificate.theorem](certificate)


def _exponential_of_distance(certificate: TheoremCertificate) -> Iterator[Finding]:
    """Aldà and Simon 2017, Theorem 1, with the expected distance."""
    yield from _growing_losses(certificate)
    sizes = certificate.graph.layer_sizes(certificate.graph.nodes[0])
    yield _loss_finding(certificate.loss, certificate, list(sizes.values()))


def _exponential_for_growing_losses(certificate: TheoremCertificate) -> Iterator[Finding]:
    """Aldà and Simon 2017, Theorem 1, whatever the loss: none is claimed."""
    spare = certificate.loss is not None
    yield Finding("no loss, for the theorem speaks of many", not spare, "one is given" if spare else "none")
    yield from _growing_losses(certificate)


def _growing_losses(certificate: TheoremCertificate) -> Iterator[Finding]:
    """A transitive automorphism group and regular layers from (hence) every node, shown or known of the family."""
    graph, generators = certificate.graph, certificate.generators
    if not generators and not certificate.layer_degrees:
        yield Finding("a graph of a family", isinstance(graph, ClosedForm), f"{graph.name} has no witnesses")
        yield Finding("the family is vertex-transitive", graph.is_vertex_transitive(), "by formula")
        yield Finding("its layers are regular", graph.has_regular_layers(), "by formula")
        left_out = certificate.channel is None
        yield Finding("no channel, for there are too many nodes", left_out, "left out" if left_out else "one is given")
        return
    odd = [place for place, generator in enumerate(generators) if not graph.is_automorphism(generator)]
    found = f"generator {odd[0]} does not" if odd else f"all {len(generators)} keep every edge"
    yield Finding("the generators are automorphisms", not odd, found)
    reached = _reached(generators, 0)
    found = f"{len(reached)} of {graph.size} nodes reached"
    yield Finding("they move the first node to every node", len(reached) == graph.size, found)
    degrees = graph.layer_degrees(graph.nodes[0])
    layers = set(zip(degrees.distance.tolist(), degrees.nearer.tolist(), degrees.further.tolist(), strict=True))
    claimed = {(distance, *pair) for distance, pair in enumerate(certificate.layer_degrees)}
    yield Finding(
        "layers are regular with these degrees", layers == claimed, f"{len(claimed)} layers from the first node"
    )
    yield _channel_finding(certificate, _exponential)


def _truncated_geometric(certificate: TheoremCertificate) -> Iterator[Finding]:
    """Ghosh, Roughgarden and Sundararajan 2012: a path, and nothing else to be shown."""
    graph = certificate.graph
    steps = [[place, place + 1] for place in range(len(graph.nodes) - 1)]
    yield Finding("the graph is a path in node order", bool(steps) and graph.edges().tolist() == steps, graph.name)
    spare = certificate.loss is not None or bool(certificate.generators) or bool(certificate.layer_degrees)
    yield Finding("no evidence that the theorem does not ask for", not spare, "spare evidence" if spare else "none")
    yield _channel_finding(certificate, _geometric)


_OF_THEOREM: dict[str, Callable[[TheoremCertificate], Iterator[Finding]]] = {
    "exponential-of-distance": _exponential_of_distance,
    "exponential-of-distance-for-growing-losses": _exponential_for_growing_losses,
    "truncated-geometric": _truncated_geometric,
}


def _reached(generators: Sequence[Sequence[int]], start: int) -> set[int]:
    reached, waiting = {start}, [start]
    while waiting:
        node = waiting.pop()
        fresh = {generator[node] for generator in generators} - reached
        reached |= fresh
        waiting += fresh
    return reached


def _channel_finding(certificate: TheoremCertificate, law: Callable[[DatasetGraph, Fraction], Rows]) -> Finding:
    """The channel has exactly the law's entries; where e^-ε is not rational there can be no such channel."""
    claim, graph, channel = "the channel is the theorem's", certificate.graph, certificate.channel
    alpha = exact_exp(-certificate.privacy.epsilon)
    if channel is None and len(graph.nodes) > LARGEST_CHANNEL:
        return Finding(claim, True, f"left out, there are more than {LARGEST_CHANNEL} nodes")
    if alpha is None or channel is None:
        fits = alpha is None and channel is None
        return Finding(claim, fits, "left out, e^ε is irrational" if fits else "given if and only if e^ε is rational")
    nodes = tuple(graph.nodes)
    if channel.inputs != nodes or channel.outputs != nodes:
        return Finding(claim, False, "its inputs and outputs must be the nodes in their order")
    fits = channel.matrix().tolist() == law(graph, alpha)
    return Finding(
        claim, fits, f"e^-ε = {brief(alpha)}" if fits else f"it differs from the law at e^-ε = {brief(alpha)}"
    )


def _exponential(graph: DatasetGraph, alpha: Fraction) -> Rows:
    weights = [[alpha**distance for distance in row] for row in graph.distances().tolist()]
    return [[weight / sum(row) for weight in row] for row in weights]


def _geometric(graph: DatasetGraph, alpha: Fraction) -> Rows:
    last = len(graph.nodes) - 1
    inside = (1 - alpha) / (1 + alpha)
    return [
        [alpha ** abs(y - x) * (inside if 0 < y < last else 1 / (1 + alpha)) for y in range(last + 1)]
        for x in range(last + 1)
    ]


def _loss_finding(loss: Enclosure | None, certificate: TheoremCertificate, sizes: list[int]) -> Finding:
    """The expected distance Σ d·k_d·γ^d / Σ k_d·γ^d, k_d the layer sizes, γ = e^-ε, lies within the bounds."""
    claim = "the expected distance"
    if loss is None:
        return Finding(claim, False, "missing")
    weights = [distance * size for distance, size in enumerate(sizes)]
    mean = at_alpha(
        certificate.privacy.epsilon, lambda a: _polynomial(weights, a) / _polynomial(sizes, a), _BITS, 2 * len(sizes)
    )
    return Finding(claim, loss.lower <= mean.lower and mean.upper <= loss.upper, f"≈ {float(mean):.12g}")


def _polynomial(coefficients: list[int], a: Any) -> Any:
    """Σ coefficient_d·a^d, for a fraction or a ball."""
    total = 0 * a
    for coefficient in reversed(coefficients):
        total = total * a + coefficient
    return total
