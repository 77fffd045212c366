"""Does a channel dominate all others with the same fixed rows, or does none? Recomputed from the certificate alone.

A channel dominates another if at every node and for every k its sum of the k probabilities that the node ranks best is
at least as large. The largest such prefix sum over all private channels is bounded in two ways.

- By steps: for a set S of outputs and neighbours x, x', privacy asks P(S|x') ≤ e^ε·P(S|x) + δ, and the same of the rest
  of the outputs for P(S|x), which is 1 − P(S|x') ≥ (1 − P(S|x) − δ)/e^ε. Both bounds grow with P(S|x), so d steps
  from a fixed node the two, and 1, bound the sum one step after another.
- By multipliers, as in `lower_bound`: the loss is minus the prefix sum, and the rows of the fixed nodes are known.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction

from leastnoise.checker.duality import lower_bound, multipliers_finding
from leastnoise.checker.privacy import check_channel
from leastnoise.checker.verdict import Finding, show_privacy
from leastnoise.exact import exact_exp
from leastnoise.model import (
    Channel,
    DominanceCertificate,
    Multiplier,
    NoOptimumCertificate,
    PrefixProof,
    brief,
    show_number,
)

__all__ = ["dominance_findings", "no_optimum_findings"]

Rows = list[list[Fraction]]


def dominance_findings(certificate: DominanceCertificate) -> Iterator[Finding]:
    """The channel is private, and every prefix sum is as large as a bound allows."""
    yield from _until_failure(_setting_findings(certificate, {"the channel": certificate.channel}))
    yield from _until_failure(_dominance_findings(certificate))


def no_optimum_findings(certificate: NoOptimumCertificate) -> Iterator[Finding]:
    """Both channels are private, the first has the largest total, and the second a larger prefix sum."""
    channels = {"the first channel": certificate.first, "the second channel": certificate.second}
    yield from _until_failure(_setting_findings(certificate, channels))
    yield from _until_failure(_no_optimum_findings(certificate))


def _until_failure(findings: Iterator[Finding]) -> Iterator[Finding]:
    for finding in findings:
        yield finding
        if not finding.holds:
            return


def _setting_findings(
    certificate: DominanceCertificate | NoOptimumCertificate, channels: Mapping[str, Channel]
) -> Iterator[Finding]:
    graph, privacy = certificate.graph, certificate.privacy
    plain = graph.size is not None and graph.edge_lengths() is None
    yield Finding("a finite graph, every edge of length 1", plain, graph.name)
    yield Finding("e^ε is rational", exact_exp(privacy.epsilon) is not None, show_privacy(privacy))
    nodes, outputs = tuple(graph.nodes), next(iter(channels.values())).outputs
    for name, channel in channels.items():
        fits = channel.inputs == nodes and channel.outputs == outputs
        yield Finding(f"{name} has the nodes for inputs, in order", fits, f"{len(channel.inputs)} inputs")
        verdict = check_channel(channel, graph, privacy.epsilon, privacy.delta)
        claim = f"{show_privacy(privacy)} holds for {name}"
        yield Finding(claim, verdict.holds, f"the tight ε is {show_number(verdict.tight_epsilon)}")
    complete = list(range(len(outputs)))
    ranked = len(certificate.preferences) == len(nodes) and all(
        sorted(row) == complete for row in certificate.preferences
    )
    yield Finding("each node ranks all outputs", ranked, f"{len(outputs)} outputs")
    known = len(set(certificate.fixed)) == len(certificate.fixed) and all(x < len(nodes) for x in certificate.fixed)
    yield Finding("the fixed nodes are nodes", known, f"{len(certificate.fixed)} of {len(nodes)}")


def _dominance_findings(certificate: DominanceCertificate) -> Iterator[Finding]:
    rows: Rows = certificate.channel.matrix().tolist()
    proofs: dict[tuple[int, int], PrefixProof] = {(proof.place, proof.among): proof for proof in certificate.proofs}
    yield Finding("one proof for each prefix sum", len(proofs) == len(certificate.proofs), f"{len(proofs)} proofs")
    places, edges = _goals(certificate, rows), _edges(certificate)
    claim, used = "no prefix sum can be larger", set()
    for place, among in places:
        best = certificate.preferences[place][:among]
        value = sum((rows[place][y] for y in best), start=Fraction(0))
        if value == _bound_by_steps(certificate, rows, place, best):
            continue
        proof = proofs.get((place, among))
        if proof is None:
            yield Finding(claim, False, f"nothing shows it for the {among} best of node {place}")
            return
        used.add((place, among))
        yield multipliers_finding(proof.multipliers, edges, len(rows[0]))
        gain = [[Fraction(int(x == place and y in best)) for y in range(len(rows[0]))] for x in range(len(rows))]
        bound = _largest(certificate, rows, gain, proof.multipliers)
        shown = f"the {among} best of node {place}: {brief(value)}, bound {brief(bound)}"
        yield Finding(claim, value == bound, shown)
    yield Finding("no proof is spare", used == set(proofs), f"{len(used)} used")
    yield Finding(claim, True, f"{len(places)} prefix sums")


def _no_optimum_findings(certificate: NoOptimumCertificate) -> Iterator[Finding]:
    first, second = (channel.matrix().tolist() for channel in (certificate.first, certificate.second))
    same = all(first[x] == second[x] for x in certificate.fixed)
    yield Finding("both have the same rows at the fixed nodes", same, f"{len(certificate.fixed)} rows")
    yield multipliers_finding(certificate.multipliers, _edges(certificate), len(first[0]))
    last = len(first[0]) - 1
    gain = [[Fraction(last - row.index(y)) for y in range(last + 1)] for row in certificate.preferences]
    total = sum(
        (p * g for row, gains in zip(first, gain, strict=True) for p, g in zip(row, gains, strict=True)), Fraction(0)
    )
    bound = _largest(certificate, first, gain, certificate.multipliers)
    shown = f"it is {brief(total)}, the bound {brief(bound)}"
    yield Finding("no channel has a larger total of prefix sums than the first", total == bound, shown)
    known = certificate.place < len(first) and 0 < certificate.among <= last
    yield Finding("the prefix sum is one", known, f"the {certificate.among} best of node {certificate.place}")
    best = certificate.preferences[certificate.place][: certificate.among]
    sums = [sum((rows[certificate.place][y] for y in best), start=Fraction(0)) for rows in (first, second)]
    yield Finding("the second has a larger prefix sum", sums[1] > sums[0], f"{brief(sums[1])} against {brief(sums[0])}")


def _goals(certificate: DominanceCertificate, rows: Rows) -> list[tuple[int, int]]:
    free = [x for x in range(len(rows)) if x not in set(certificate.fixed)]
    return [(x, among) for x in free for among in range(1, len(rows[x]))]


def _edges(certificate: DominanceCertificate | NoOptimumCertificate) -> dict[tuple[int, int], Fraction]:
    """e^ε for each ordered pair of neighbours."""
    factor = exact_exp(certificate.privacy.epsilon) or Fraction(1)
    edges = certificate.graph.edges().tolist()
    return {pair: factor for x, y in edges for pair in ((x, y), (y, x))}


def _bound_by_steps(
    certificate: DominanceCertificate, rows: Rows, place: int, chosen: Sequence[int]
) -> Fraction | None:
    """What the probability of the chosen outputs is at most, by the distance to each fixed node."""
    factor, delta = exact_exp(certificate.privacy.epsilon) or Fraction(1), certificate.privacy.delta
    distances = certificate.graph.distances_from(certificate.graph.nodes[place]).tolist()
    bounds = []
    for fixed in certificate.fixed:
        most = sum((rows[fixed][y] for y in chosen), start=Fraction(0))
        for _ in range(distances[fixed]):
            most = min(Fraction(1), factor * most + delta, 1 - (1 - most - delta) / factor)
        bounds.append(most)
    return min(bounds, default=None)


def _largest(
    certificate: DominanceCertificate | NoOptimumCertificate,
    rows: Rows,
    gain: Sequence[Sequence[Fraction]],
    multipliers: Sequence[Multiplier],
) -> Fraction:
    """What Σ_x Σ_y gain·p(y|x) is at most, p(·|x) being as it is at the fixed nodes."""
    loss = [[-gains[y] for gains in gain] for y in range(len(rows[0]))]
    known = {x: rows[x] for x in certificate.fixed}
    weights = [Fraction(1)] * len(rows)
    return -lower_bound(weights, loss, certificate.privacy.delta, _edges(certificate), multipliers, known)
