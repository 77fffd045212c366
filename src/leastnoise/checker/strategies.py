"""Is a strategy as good as its certificate says? Products of whole matrices and sums of fractions; no solver."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from leastnoise.checker.findings import Finding, equality
from leastnoise.model.strategies import sensitivity_of, strategy_bound, strategy_error
from leastnoise.model.strategy_certificates import MarginalsCertificate, StrategyCertificate

__all__ = ["marginals_findings", "strategy_findings"]


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
    most = (certificate.groups * rows) ** 2
    yield equality("the error", certificate.error, most * strategy.error(goal))
    yield equality("the lower bound", certificate.lower_bound, rows**2 * strategy.bound(goal))
    yield equality("the gap", certificate.gap, certificate.error - certificate.lower_bound)
