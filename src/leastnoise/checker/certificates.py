"""Is everything that a certificate claims true? Recomputed from the certificate alone; no solver is believed.

Strategies are checked by products of whole matrices and sums of fractions.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import fields
from fractions import Fraction
from typing import Any

from leastnoise.checker.duality import lower_bound, multipliers_finding
from leastnoise.checker.lines import likeliest_findings, line_findings
from leastnoise.checker.pairs import Factor
from leastnoise.checker.privacy import check_channel, rows_of_nodes
from leastnoise.checker.rainbows import dominance_findings, no_optimum_findings
from leastnoise.checker.theorems import theorem_findings
from leastnoise.checker.verdict import CertificateVerdict, Finding, equality, show_privacy
from leastnoise.errors import BadCertificate, LeastNoiseError
from leastnoise.model import (
    Certificate,
    Channel,
    DominanceCertificate,
    LikeliestCertificate,
    LineCertificate,
    MarginalsCertificate,
    NoOptimumCertificate,
    OptimalityCertificate,
    Privacy,
    PrivacyCertificate,
    ProductCertificate,
    RefinementCertificate,
    StrategyCertificate,
    TheoremCertificate,
    sensitivity_of,
    show_number,
    stated_bounds,
    strategy_bound,
    strategy_error,
)
from leastnoise.model.graphs import DatasetGraph
from leastnoise.model.graphs.grids import factors_of

__all__ = ["check_certificate"]


def strategy_findings(certificate: StrategyCertificate) -> Iterator[Finding]:
    """The sensitivity, the error, the lower bound and the gap of a strategy for a linear workload."""
    parts, goal = certificate.parts, certificate.goal
    sensitivity = sensitivity_of(parts, certificate.norm, certificate.groups, certificate.rows)
    yield equality("the squared sensitivity", Fraction(certificate.sensitivity), Fraction(sensitivity))
    yield equality("the error", certificate.error, strategy_error(parts, goal, sensitivity))
    yield equality("the lower bound", certificate.lower_bound, strategy_bound(parts, goal, certificate.rows))
    yield equality("the gap", certificate.gap, certificate.error - certificate.lower_bound)


def marginals_findings(certificate: MarginalsCertificate) -> Iterator[Finding]:
    """The error, the lower bound and the gap of a strategy for marginal tables."""
    strategy, goal, rows = certificate.strategy, certificate.goal, certificate.rows
    yield equality("the error", certificate.error, strategy.error(goal, certificate.groups, rows))
    yield equality("the lower bound", certificate.lower_bound, rows**2 * strategy.bound(goal))
    yield equality("the gap", certificate.gap, certificate.error - certificate.lower_bound)


def check_certificate(certificate: Certificate) -> CertificateVerdict:
    """Check every claim of a certificate; the first that fails is the reason for a verdict that is false.

    >>> from leastnoise.model.graphs import path
    >>> flip = Channel([["3/4", "1/4"], ["1/4", "3/4"]])
    >>> bool(check_certificate(PrivacyCertificate(path(2), Privacy("ln(3)"), flip)))
    True
    >>> check_certificate(PrivacyCertificate(path(2), Privacy(1), flip)).reason
    'ε = 1 holds on path(2): the tight ε is ln(3) ≈ 1.098612289'
    """
    findings: list[Finding] = []
    try:
        for finding in _findings(_made_again(certificate)):
            findings.append(finding)
            if not finding.holds:
                break
    except LeastNoiseError as error:  # the parts of the certificate do not fit together
        findings.append(Finding("the parts fit together", False, str(error)))
    holds = bool(findings) and all(finding.holds for finding in findings)
    return CertificateVerdict(holds, certificate.claim, tuple(findings))


def _made_again(certificate: Certificate) -> Certificate:
    """The certificate with its parts checked anew: whoever handed it over may have changed them, or the checks."""
    if type(certificate) not in _KINDS:
        raise BadCertificate(
            "this kind of certificate is unknown",
            given=type(certificate).__name__,
            fix=f"known are {', '.join(kind.__name__ for kind in _KINDS)}",
        )
    parts: Any = certificate
    return type(certificate)(**{field.name: getattr(parts, field.name) for field in fields(parts)})


def _findings(certificate: Certificate) -> Iterator[Finding]:
    match certificate:
        case PrivacyCertificate():
            yield from _privacy_findings(certificate.channel, certificate.graph, certificate.privacy)
        case OptimalityCertificate():
            yield from _optimality_findings(certificate)
        case TheoremCertificate():
            yield from theorem_findings(certificate)
        case LikeliestCertificate():
            yield from likeliest_findings(certificate)
        case LineCertificate():
            yield from line_findings(certificate)
        case ProductCertificate():
            yield from _product_findings(certificate)
        case RefinementCertificate():
            yield _refinement_finding(certificate)
        case DominanceCertificate():
            yield from dominance_findings(certificate)
        case NoOptimumCertificate():
            yield from no_optimum_findings(certificate)
        case StrategyCertificate():
            yield from strategy_findings(certificate)
        case MarginalsCertificate():
            yield from marginals_findings(certificate)


_KINDS = (
    PrivacyCertificate,
    OptimalityCertificate,
    TheoremCertificate,
    LikeliestCertificate,
    LineCertificate,
    ProductCertificate,
    RefinementCertificate,
    DominanceCertificate,
    NoOptimumCertificate,
    StrategyCertificate,
    MarginalsCertificate,
)


def _privacy_findings(channel: Channel, graph: DatasetGraph, privacy: Privacy) -> Iterator[Finding]:
    strangers = [label for label in channel.inputs if label not in graph]
    yield Finding(
        "the inputs are nodes of the graph", not strangers, f"{strangers[0]!r} is not a node" if strangers else "all"
    )
    verdict = check_channel(channel, graph, privacy.epsilon, privacy.delta)
    yield Finding(
        f"{show_privacy(privacy)} holds on {graph.name}",
        verdict.holds,
        f"the tight ε is {show_number(verdict.tight_epsilon)}",
    )


def _product_findings(certificate: ProductCertificate) -> Iterator[Finding]:
    """Each factor has a part that holds for its graph, the same promise and the same objective; the numbers add up."""
    parts: Sequence[Any] = certificate.parts
    factors = factors_of(certificate.graph)
    fits = bool(factors) and len(factors) == len(certificate.uses) and max(certificate.uses) < len(parts)
    yield Finding("the graph is a Cartesian product, with a part for each factor", fits, certificate.graph.name)
    if not fits:
        return
    odd = [k for k, (one, use) in enumerate(zip(factors, certificate.uses, strict=True)) if parts[use].graph != one]
    yield Finding("each part speaks of its factor", not odd, f"not so at coordinate {odd[0]}" if odd else "all")
    promises = all(part.privacy == certificate.privacy for part in parts)
    yield Finding("all parts promise the same privacy", promises, show_privacy(certificate.privacy))
    aims = all(certificate.objective in _objectives(part) for part in parts)
    yield Finding("all parts have the same objective", aims, certificate.objective)
    for place, part in enumerate(parts):
        for finding in _findings(_made_again(part)):
            yield Finding(f"part {place}: {finding.claim}", finding.holds, finding.found)
            if not finding.holds:
                return
    bounds = [stated_bounds(part) for part in parts]
    least, value = (sum((bounds[use][end] for use in certificate.uses), start=Fraction(0)) for end in (0, 1))
    yield equality("the loss is the sum of the parts'", certificate.value, value)
    yield equality("the lower bound is the sum of the parts'", certificate.lower_bound, least)
    yield equality("the gap", certificate.gap, certificate.value - certificate.lower_bound)


def _objectives(part: Certificate) -> tuple[str, ...]:
    """What the numbers of a part speak of; where all nodes are alike, the average is also the loss of each."""
    match part:
        case OptimalityCertificate() | LineCertificate():
            return (part.objective,)
        case TheoremCertificate():
            return ("average", "worst")
    return ("average",)


def _refinement_finding(certificate: RefinementCertificate) -> Finding:
    product = certificate.fine.then(certificate.remap)
    return Finding("coarse = fine · remap", product == certificate.coarse, "multiplied exactly")


def _optimality_findings(certificate: OptimalityCertificate) -> Iterator[Finding]:
    graph, privacy, channel = certificate.graph, certificate.privacy, certificate.channel
    yield from _privacy_findings(channel, graph, privacy)
    inputs, outputs = len(channel.inputs), len(channel.outputs)
    is_prior = len(certificate.prior) == inputs and min(certificate.prior) >= 0 and sum(certificate.prior) == 1
    yield Finding("the prior is a distribution", is_prior, f"on {inputs} inputs")
    widths = [len(row) for row in certificate.loss]
    yield Finding(
        "the loss has a row per output, a column per input", widths == [inputs] * outputs, f"{len(widths)} rows"
    )
    yield equality("the loss of the channel", certificate.value, _value(certificate))
    factors = dict(certificate.factors)
    lengths = _lengths(graph)
    fit = len(factors) == len(certificate.factors) and set(factors) == set(lengths.values())
    yield Finding("one factor for each length", fit, f"{len(factors)} factors")
    low = [d for d, factor in factors.items() if Factor(privacy.epsilon * d).compare(factor) < 0]
    yield Finding(
        "no factor below e^(ε·length)", not low, f"too small for length {low[0]}" if low else "compared exactly"
    )
    known = {pair: factors[length] for pair, length in lengths.items()}
    yield multipliers_finding(certificate.multipliers, known, outputs)
    bound = lower_bound(
        certificate.prior,
        certificate.loss,
        privacy.delta,
        known,
        certificate.multipliers,
    )
    yield equality("the lower bound", certificate.lower_bound, bound)
    yield equality("the gap", certificate.gap, certificate.value - certificate.lower_bound)


def _value(certificate: OptimalityCertificate) -> Fraction:
    """The expected loss under the prior, or the largest of an input."""
    matrix = certificate.channel.matrix()[rows_of_nodes(certificate.channel, certificate.graph)]
    losses = [
        sum((p * row[x] for p, row in zip(matrix[x], certificate.loss, strict=True)), start=Fraction(0))
        for x in range(len(matrix))
    ]
    if certificate.objective == "worst":
        return max(losses)
    return sum((weight * loss for weight, loss in zip(certificate.prior, losses, strict=True)), start=Fraction(0))


def _lengths(graph: DatasetGraph) -> dict[tuple[int, int], Fraction]:
    """The length of each ordered pair of neighbours."""
    edges = graph.edges().tolist()
    lengths = graph.edge_lengths() or [Fraction(1)] * len(edges)
    return {pair: length for (x, y), length in zip(edges, lengths, strict=True) for pair in ((x, y), (y, x))}
