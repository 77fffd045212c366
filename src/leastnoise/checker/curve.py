"""The whole trade-off δ(ε) of a channel, as an exact piecewise linear function of t = e^ε.

δ(t) is the largest P(S|x) − t·P(S|x') over neighbours and sets S: the upper envelope of finitely many lines with
rational coefficients, from which every question about ε and δ is answered exactly.

Asking for the highest line at one t after another finds them all (Eisner and Severance, Journal of the ACM 23, 1976):
two lines of the envelope follow each other when no line is above their crossing, else that line comes between.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TypeAlias

import numpy as np

from leastnoise.checker.entries import ChannelEntries, Floats
from leastnoise.checker.excess import RatioThresholds, lasting_excess, one_of_a_kind
from leastnoise.checker.pairs import Factor, Pairs
from leastnoise.checker.privacy import largest, read_pairs
from leastnoise.exact import Enclosure, Exact, NumberLike, ln, read_exact, read_integer, read_rational
from leastnoise.model import Channel, html_table, show_number
from leastnoise.model.graphs import DatasetGraph

__all__ = ["Branch", "PrivacyCurve", "envelope", "privacy_curve"]

Coefficients: TypeAlias = tuple[Fraction, Fraction]

_SAFETY = 2.0**-48  # above the rounding of a few operations on numbers up to two


@dataclass(frozen=True)
class _Gap:
    """What is left to find between the last line of the envelope, highest at `start`, and a later one.

    Attributes:
        end: Where the later line is highest; None stands for infinity.
        pairs: The pairs that can still matter in between.
        highs: Upper bounds of their sums at `start` and at `end`.
    """

    line: Coefficients
    start: Fraction
    end: Fraction | None
    pairs: Pairs
    highs: tuple[Floats, Floats]

    def chords(self, t: Fraction) -> Floats:
        """Upper bounds of the sums at t: convex functions lie below their chords, falling ones below their start."""
        share = 0.0 if self.end is None else float((t - self.start) / (self.end - self.start))
        return self.highs[0] + (self.highs[1] - self.highs[0]) * share


def envelope(entries: ChannelEntries, pairs: Pairs) -> tuple[Coefficients, ...]:
    """(A, B) of each piece A − t·B from t = 1 on, for pairs of one length; the last piece is level, B = 0."""
    pairs = pairs.of(one_of_a_kind(entries, pairs))
    first, highs = _highest(entries, pairs, Fraction(1))
    level = lasting_excess(entries, pairs), Fraction(0)
    lines, corners = [first], [Fraction(1)]
    gaps = [_Gap(level, Fraction(1), None, pairs, (highs, np.zeros(len(pairs))))]
    while gaps:
        gap = gaps.pop()
        (a, b), (other_a, other_b) = lines[-1], gap.line
        if b == other_b:
            continue
        crossing = (a - other_a) / (b - other_b)
        height = a - crossing * b
        left = np.flatnonzero(gap.chords(crossing) >= float(height) - _SAFETY)
        between, highs = _highest(entries, gap.pairs.of(left), crossing)
        if between[0] - crossing * between[1] > height:
            pairs, (before, after) = gap.pairs.of(left), (gap.highs[0][left], gap.highs[1][left])
            gaps.append(_Gap(gap.line, crossing, gap.end, pairs, (highs, after)))
            gaps.append(_Gap(between, gap.start, crossing, pairs, (before, highs)))
            continue
        if crossing == corners[-1]:  # the last line only touches the envelope, in this corner
            lines.pop()
            corners.pop()
        lines.append(gap.line)
        corners.append(crossing)
    return tuple(lines)


def _highest(entries: ChannelEntries, pairs: Pairs, t: Fraction) -> tuple[Coefficients, Floats]:
    """The highest line at t, and upper bounds of all sums there."""
    thresholds = RatioThresholds(entries, pairs, ln(t) / pairs.lengths[pairs.length_of[0]])
    (line,) = thresholds.worst_lines()
    return (line.probability, line.neighbour_probability), thresholds.sums[1]


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
