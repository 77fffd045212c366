"""The whole trade-off δ(ε) of a channel, as an exact piecewise linear function of t = e^ε.

δ(t) is the largest P(S|x) − t·P(S|x') over neighbours and sets S: the upper envelope of finitely many lines with
rational coefficients, from which every question about ε and δ is answered exactly.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np

from leastnoise.checker.envelope import Coefficients, envelope
from leastnoise.checker.factors import Factor
from leastnoise.checker.privacy import largest, read_pairs
from leastnoise.checker.report import show_number
from leastnoise.exact.enclosures import Enclosure
from leastnoise.exact.numbers import Exact, ln
from leastnoise.exact.parameters import NumberLike, read_exact, read_integer, read_rational
from leastnoise.model.channel import Channel
from leastnoise.model.graphs import DatasetGraph
from leastnoise.model.notebook import html_table

__all__ = ["Branch", "PrivacyCurve", "privacy_curve"]

_MOST_SHOWN = 12


@dataclass(frozen=True)
class Branch:
    """δ as a function of t = e^(ε·length) for the pairs of one length.

    Attributes:
        length: d(x, x') of these pairs.
        lines: (A, B) for each piece A − t·B, from t = 1 on; B falls to 0.
    """

    length: Fraction
    lines: tuple[Coefficients, ...]

    @cached_property
    def corners(self) -> tuple[Fraction, ...]:
        """The t at which one piece gives way to the next."""
        pieces = zip(self.lines, self.lines[1:], strict=False)
        return tuple((a - other_a) / (b - other_b) for (a, b), (other_a, other_b) in pieces)

    def at(self, factor: Factor) -> Fraction | Enclosure:
        """The value at t."""
        first, last = 0, len(self.corners)
        while first < last:
            middle = (first + last) // 2
            if factor.compare(self.corners[middle]) < 0:
                first = middle + 1
            else:
                last = middle
        return factor.excess(*self.lines[first])

    def reaches(self, delta: Fraction) -> Fraction | None:
        """The least t ≥ 1 with a value of at most δ; None if the value stays above it."""
        at_one, level = self.lines[0][0] - self.lines[0][1], self.lines[-1][0]
        if at_one <= delta:
            return Fraction(1)
        if level > delta:
            return None
        a, b = next(
            line for line, corner in zip(self.lines, self.corners, strict=False) if line[0] - corner * line[1] <= delta
        )
        return (a - delta) / b


@dataclass(frozen=True)
class PrivacyCurve:
    """The least δ for every ε ≥ 0, and the least ε for every δ, exactly.

    Attributes:
        graph: The name of the dataset graph.
        branches: One piecewise linear function for each length of pairs; just one on a graph, where all are 1.
    """

    graph: str
    branches: tuple[Branch, ...]

    def delta(self, epsilon: NumberLike) -> Fraction | Enclosure:
        """The least δ at ε: exact where e^ε is rational, else enclosed."""
        exponent = read_exact(epsilon, "epsilon", at_least=0)
        values = [branch.at(Factor(exponent * branch.length)) for branch in self.branches]
        return largest(values)

    def epsilon(self, delta: NumberLike) -> Exact | float:
        """The least ε at δ; `math.inf` if there is none."""
        bound = read_rational(delta, "delta", at_least=0, at_most=1)
        least: Exact = Fraction(0)
        for branch in self.branches:
            t = branch.reaches(bound)
            if t is None:
                return math.inf
            least = max(least, ln(t) / branch.length)
        return least

    def points(self) -> list[tuple[Exact, Fraction | Enclosure]]:
        """(ε, δ) at ε = 0 and at every corner, from left to right."""
        corners = {ln(t) / branch.length for branch in self.branches for t in branch.corners}
        return [(epsilon, self.delta(epsilon)) for epsilon in sorted({Fraction(0), *corners})]

    def __str__(self) -> str:
        """The corners, or some of them, as a table."""
        title, rows = self._shown()
        return "\n".join([title, f"  {'ε':<32}  δ", *(f"  {epsilon:<32}  {delta}" for epsilon, delta in rows)])

    def _repr_html_(self) -> str:
        title, rows = self._shown()
        return html_table(title, rows, ("ε", "δ"))

    def _shown(self) -> tuple[str, list[tuple[str, str]]]:
        points = self.points()
        step = -(-len(points) // _MOST_SHOWN)
        rows = [(show_number(epsilon), show_number(delta)) for epsilon, delta in [*points[:-1:step], points[-1]]]
        return f"δ(ε) on {self.graph}, points: {len(points)}", rows


def privacy_curve(channel: Channel, graph: DatasetGraph, *, group: int = 1) -> PrivacyCurve:
    """The curve δ(ε) of a channel on a dataset graph.

    Args:
        channel: Its inputs are the nodes of the graph; inputs that are only numbered are taken in node order.
        graph: Each edge is a pair of neighbours; of a metric every pair counts, at ε·d(x, x').
        group: Inputs up to this distance from each other count as neighbours.

    >>> from leastnoise.model.graphs import path
    >>> curve = privacy_curve(Channel([["3/4", "1/4"], ["1/4", "3/4"]]), path(2))
    >>> curve.delta(0), curve.delta("ln(2)"), curve.epsilon(0), curve.epsilon("1/8")
    (Fraction(1, 2), Fraction(1, 4), ln(3), ln(5/2))
    """
    entries, pairs = read_pairs(channel, graph, read_integer(group, "group", at_least=1))
    places = np.unique(pairs.length_of)
    branches = tuple(
        Branch(pairs.lengths[place], envelope(entries, pairs.of(pairs.length_of == place))) for place in places
    )
    return PrivacyCurve(graph.name, branches)
