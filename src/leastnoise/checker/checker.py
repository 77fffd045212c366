"""The one question: is it true? Of a channel with a promise, or of a certificate."""

from __future__ import annotations

from typing import overload

from leastnoise.checker.certificates import check_certificate
from leastnoise.checker.privacy import check_channel
from leastnoise.checker.verdict import CertificateVerdict, Verdict
from leastnoise.errors import BadParameter, shown
from leastnoise.exact import NumberLike
from leastnoise.model import Certificate, Channel
from leastnoise.model.graphs import DatasetGraph

__all__ = ["check"]


@overload
def check(subject: Certificate) -> CertificateVerdict: ...
@overload
def check(
    subject: Channel, graph: DatasetGraph, epsilon: NumberLike, delta: NumberLike = 0, *, group: int = 1
) -> Verdict: ...
def check(
    subject: Channel | Certificate,
    graph: DatasetGraph | None = None,
    epsilon: NumberLike | None = None,
    delta: NumberLike = 0,
    *,
    group: int = 1,
) -> Verdict | CertificateVerdict:
    """Decide exactly, without tolerance, whether a channel keeps its promise or a certificate tells the truth.

    A channel is (ε, δ)-private on a graph if P(S|x) ≤ e^ε·P(S|x') + δ for all neighbours x, x', both ways, and all sets
    S of outputs. On a metric every pair counts, with ε·d(x, x'). Every entry counts as exactly the number it is.

    Args:
        subject: A channel, whose inputs are the nodes of the graph (or numbered 0, 1, 2, … in node order), or a
            certificate, which brings everything it needs.
        graph: Which inputs are neighbours, or a metric.
        epsilon: The promise, exact: 0.1, "1/3", "ln(3)".
        delta: The promise, exact.
        group: Inputs up to this distance from each other count as neighbours (of a graph, not of a metric).

    Returns:
        A verdict that is true or false, with the tight ε and δ and a counterexample, or with what was found about each
        claim of the certificate.

    Raises:
        BadChannel: The inputs are not the nodes of the graph.
        BadParameter: A number is out of range, or something is missing.

    >>> from leastnoise.model.graphs import path
    >>> channel = Channel([["4/5", "3/20", "1/20"], ["1/5", "3/5", "1/5"], ["1/20", "3/20", "4/5"]])
    >>> print(check(channel, path(3), epsilon=1))
    ε = 1 does not hold on path(3)
      tight ε       ln(4) ≈ 1.386294361
      P({2} | 2)    4/5
      P({2} | 1)    1/5
      too large by  ≈ 0.2563436343
    >>> bool(check(channel, path(3), epsilon="ln(4)"))
    True
    """
    if isinstance(subject, Certificate):
        return check_certificate(subject)
    if not isinstance(subject, Channel) or not isinstance(graph, DatasetGraph) or epsilon is None:
        raise BadParameter(
            "what to check is a channel with a graph and an epsilon, or a certificate",
            given=f"{type(subject).__name__}, {type(graph).__name__}, epsilon={shown(epsilon)}",
            fix="call for example check(channel, path(5), epsilon=1)",
        )
    return check_channel(subject, graph, epsilon, delta, group=group)
