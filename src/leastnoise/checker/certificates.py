"""Is everything that a certificate claims true? Recomputed from the certificate alone; no solver is believed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from fractions import Fraction
from typing import Any

from leastnoise.checker.duality import lower_bound
from leastnoise.checker.factors import Factor
from leastnoise.checker.findings import CertificateVerdict, Finding, equality
from leastnoise.checker.privacy import check_channel, rows_of_nodes
from leastnoise.checker.report import show_number, show_privacy
from leastnoise.checker.strategies import marginals_findings, strategy_findings
from leastnoise.checker.theorems import theorem_findings
from leastnoise.errors import BadCertificate, LeastNoiseError
from leastnoise.model.certificate import (
    Certificate,
    OptimalityCertificate,
    PrivacyCertificate,
    RefinementCertificate,
    TheoremCertificate,
)
from leastnoise.model.channel import Channel
from leastnoise.model.graphs import DatasetGraph
from leastnoise.model.privacy import Privacy
from leastnoise.model.strategy_certificates import MarginalsCertificate, StrategyCertificate

__all__ = ["check_certificate"]


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
        case RefinementCertificate():
            yield _refinement_finding(certificate)
        case StrategyCertificate():
            yield from strategy_findings(certificate)
        case MarginalsCertificate():
            yield from marginals_findings(certificate)


_KINDS = (
    PrivacyCertificate,
    OptimalityCertificate,
    TheoremCertificate,
    RefinementCertificate,
    StrategyCertificate,
    MarginalsCertificate,
)


def _privacy_findings(channel: Channel, graph: DatasetGraph, privacy: Privacy) -> Iterator[Finding]:
    strangers = [label for label in channel.inputs if label not in graph]
    yield Finding(
        "the inputs are nodes of the graph", not strangers, f"{strangers[0]!r} is none" if strangers else "all"
    )
    verdict = check_channel(channel, graph, privacy.epsilon, privacy.delta)
    yield Finding(
        f"{show_privacy(privacy)} holds on {graph.name}",
        verdict.holds,
        f"the tight ε is {show_number(verdict.tight_epsilon)}",
    )


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
    places = {(x, neighbour, output) for x, neighbour, output, _ in certificate.multipliers}
    are_sound = len(places) == len(certificate.multipliers) and all(
        (x, neighbour) in lengths and 0 <= output < outputs and value > 0
        for x, neighbour, output, value in certificate.multipliers
    )
    yield Finding("multipliers are positive, on edges", are_sound, f"{len(places)} multipliers")
    bound = lower_bound(
        certificate.prior,
        certificate.loss,
        privacy.delta,
        {pair: factors[length] for pair, length in lengths.items()},
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
