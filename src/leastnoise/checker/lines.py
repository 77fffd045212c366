"""Is the reading of a truncated geometric channel as good as claimed, and is nothing better?

The theorem needs a line of evenly spaced nodes, δ = 0 and a legal loss. For these the least loss under a prior is that
of the best reading. The largest loss of an input is at least the least loss under any weights. Both numbers are
computed anew; see `leastnoise.model.line_reading` for their bounds.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from fractions import Fraction
from itertools import accumulate

from leastnoise.checker.verdict import Finding, equality
from leastnoise.exact import Enclosure, exp_enclosure, scaled
from leastnoise.model import (
    LikeliestCertificate,
    LineCertificate,
    LineLoss,
    Move,
    best_line_reading,
    from_matrix,
    is_legal,
    line_loss,
    line_table,
    worst_line_loss,
)
from leastnoise.model.graphs.path_cycle_complete import Complete, EvenLine, find_line
from leastnoise.model.uniform_count import uniform_count

__all__ = ["likeliest_findings", "line_findings"]


def line_findings(certificate: LineCertificate) -> Iterator[Finding]:
    """The conditions of the theorem, what the reading costs and what the best one does, up to the first that fails."""
    for finding in _all_findings(certificate):
        yield finding
        if not finding.holds:
            return


def _all_findings(certificate: LineCertificate) -> Iterator[Finding]:
    graph, privacy = certificate.graph, certificate.privacy
    line = find_line(graph)
    yield Finding("the nodes lie evenly on a line", line is not None, graph.name)
    yield Finding("ε > 0 and δ = 0", privacy.is_pure and privacy.epsilon > 0, str(privacy))
    if line is None:
        return
    size = len(line.order)
    prior = certificate.prior
    is_prior = prior is None or (len(prior) == size and min(prior) >= 0 and sum(prior) == 1)
    yield Finding("the prior is a distribution", is_prior, f"on {size} nodes")
    yield _legal_finding(certificate, line)
    yield _remap_finding(certificate, size)
    losses = _losses(certificate, line)
    yield Finding("the remap is the best one known", losses is not None, "compared with the closed form")
    if losses is None:
        return
    least, cost = losses
    yield equality("the loss of the mechanism", certificate.value, cost.upper)
    yield equality("the lower bound", certificate.lower_bound, least.lower)
    yield equality("the gap", certificate.gap, certificate.value - certificate.lower_bound)


def likeliest_findings(certificate: LikeliestCertificate) -> Iterator[Finding]:
    """A complete graph, a prior, and the formula with bounds of e^-ε on the side that makes each claim safe.

    Both quotients fall as e^-ε grows: the mechanism's loss is taken at an upper bound, the least loss at a lower one.
    """
    graph, privacy, prior, kept = certificate.graph, certificate.privacy, certificate.prior, certificate.kept
    yield Finding("all nodes are neighbours", isinstance(graph, Complete), graph.name)
    yield Finding("ε > 0 and δ = 0", privacy.is_pure and privacy.epsilon > 0, str(privacy))
    is_prior = len(prior) == graph.size and min(prior, default=-1) >= 0 and sum(prior) == 1
    yield Finding("the prior is a distribution", is_prior, f"on {graph.size} labels")
    are_labels = bool(kept) and len(set(kept)) == len(kept) and max(kept) < len(prior)
    yield Finding("the labels kept are labels", are_labels, f"{len(kept)} of them")
    if not is_prior or not are_labels:
        return
    gamma = exp_enclosure(-privacy.epsilon, 64)
    won = sum(prior[place] for place in kept) / (1 + (len(kept) - 1) * gamma.upper)
    sums = accumulate(sorted(prior, reverse=True))
    most = max(total / (1 + others * gamma.lower) for others, total in enumerate(sums))
    yield equality("how often it is wrong", certificate.value, 1 - won)
    yield equality("the lower bound", certificate.lower_bound, 1 - most)
    yield equality("the gap", certificate.gap, certificate.value - certificate.lower_bound)


def _legal_finding(certificate: LineCertificate, line: EvenLine) -> Finding:
    """Guesses have places along the line, so the nodes are compared by theirs, and not in the order of the graph."""
    claim, size = "a guess nearer to the truth never costs more", len(line.order)
    if isinstance(certificate.loss, str):
        return Finding(claim, True, f"by the formula of {certificate.loss}")
    if not certificate.loss or certificate.guesses is None or any(len(row) != size for row in certificate.loss):
        return Finding(claim, False, "the loss must have a column for each node")
    along = [[row[node] for node in line.order] for row in certificate.loss]
    loss = from_matrix(along, range(len(along)), range(size))
    legal = is_legal(loss, range(size), dict(enumerate(certificate.guesses)))
    return Finding(claim, legal.holds, "compared" if legal.holds else f"not so at {legal.violation}")


def _remap_finding(certificate: LineCertificate, size: int) -> Finding:
    outputs = size if isinstance(certificate.loss, str) else len(certificate.loss)
    shares: defaultdict[int, Fraction] = defaultdict(Fraction)
    for place, guess, probability in certificate.remap:
        if place >= size or guess >= outputs or probability <= 0:
            return Finding("the remap is a channel", False, f"not so at place {place}")
        shares[place] += probability
    complete = isinstance(certificate.loss, str) or len(shares) == size
    sums = complete and all(share == 1 for share in shares.values())
    return Finding("the remap is a channel", sums, f"{len(shares)} outputs are said as something else")


def _losses(certificate: LineCertificate, line: EvenLine) -> tuple[Enclosure, Enclosure] | None:
    """Bounds of the least loss, and of the mechanism's; None if it is not the mechanism of the closed form."""
    size, rate, loss = len(line.order), certificate.privacy.epsilon * line.gap, certificate.loss
    scale = line.gap if loss == "distance" else Fraction(1)
    if certificate.prior is None and loss == "distance" and certificate.objective == "average":
        known = uniform_count(rate, size)
        moves = {Move(place, guess, Fraction(1)) for place, guess in known.moved.items()}
        least = scaled(known.loss, scale)
        return (least, least) if moves == set(certificate.remap) else None
    weights = (Fraction(1, size),) * size if certificate.prior is None else certificate.prior
    prior = [weights[node] for node in line.order]
    costs: LineLoss = loss if isinstance(loss, str) else [[row[node] for node in line.order] for row in loss]
    least = best_line_reading(rate, costs, prior).loss
    if certificate.objective == "average":
        cost = line_loss(rate, costs, prior, certificate.remap)
    else:
        cost = worst_line_loss(rate, line_table(costs, size), size, certificate.remap)
    return scaled(least, scale), scaled(cost, scale)
