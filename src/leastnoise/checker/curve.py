"""The whole trade-off δ(ε) of a channel, as an exact piecewise linear function of t = e^ε.

δ(t) is the largest P(S|x) − t·P(S|x') over neighbours and sets S: the upper envelope of finitely many lines with
rational coefficients, from which every question about ε and δ is answered exactly.

Asking for the highest line at one t after another finds them all (Eisner and Severance, Journal of the ACM 23, 1976):
two lines of the envelope follow each other when no line is above their crossing, else that line comes between.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import NamedTuple, TypeAlias

import numpy as np

from leastnoise.checker.entries import ChannelEntries, Floats, Indices
from leastnoise.checker.excess import RatioThreshold, lasting_excess, one_of_a_kind
from leastnoise.checker.pairs import Factor, Pairs
from leastnoise.checker.privacy import largest, read_pairs
from leastnoise.checker.ratio_order import RatioOrder
from leastnoise.exact import Enclosure, Exact, NumberLike, ln, read_exact, read_integer, read_rational
from leastnoise.model import Channel, html_table, show_number
from leastnoise.model.graphs import DatasetGraph

__all__ = ["Branch", "PrivacyCurve", "envelope", "privacy_curve"]

Coefficients: TypeAlias = tuple[Fraction, Fraction]

_MOST_AT_ONCE = 1 << 23  # ratios that are sorted at once
_SAFETY = 1 + 2.0**-40  # above the rounding of a few operations


class _Gap(NamedTuple):
    """What is left to find between two lines of the envelope.

    Attributes:
        first: The line that is highest at `start`.
        last: The line that is highest at `end`.
        end: None stands for infinity.
        pairs: Places of the pairs that can still matter in between.
        falls: By how much the sums of these are below the envelope at `start` and at `end`, at least.
    """

    first: Coefficients
    last: Coefficients
    start: Fraction
    end: Fraction | None
    pairs: Indices
    falls: tuple[Floats, Floats]

    def narrowed(self, t: Fraction, height: Fraction) -> _Gap:
        """Without the pairs whose chord is below the crossing: convex functions lie below their chords."""
        share = Fraction(0) if self.end is None else (t - self.start) / (self.end - self.start)
        chord = (1 - share) * (self.first[0] - self.start * self.first[1])
        if self.end is not None:
            chord += share * (self.last[0] - self.end * self.last[1])
        before, after = self.falls
        falls = float(1 - share) * before + float(share) * after
        left = np.flatnonzero(falls <= RatioOrder.scaled(chord - height)[0] * _SAFETY)
        return self._replace(pairs=self.pairs[left], falls=(before[left], after[left]))


def envelope(entries: ChannelEntries, pairs: Pairs) -> tuple[Coefficients, ...]:
    """(A, B) of each piece A − t·B from t = 1 on, for pairs of one length; the last piece is level, B = 0."""
    pairs = pairs.of(one_of_a_kind(entries, pairs))
    step = max(1, _MOST_AT_ONCE // entries.shape[1])
    lines: set[Coefficients] = set()
    for start in range(0, len(pairs), step):
        lines |= _touching(entries, pairs.of(np.arange(start, min(start + step, len(pairs)))))
    return _upper_hull(lines)


def _upper_hull(lines: Iterable[Coefficients]) -> tuple[Coefficients, ...]:
    """The lines that are alone the highest somewhere in t > 1, from left to right."""
    hull: list[Coefficients] = []
    for a, b in sorted(lines, key=lambda line: (-line[1], line[0])):
        while hull and (hull[-1][1] == b or (hull[-1][0] - a) / (hull[-1][1] - b) <= _left_end(hull)):
            hull.pop()
        hull.append((a, b))
    return tuple(hull)


def _left_end(hull: Sequence[Coefficients]) -> Fraction:
    """Where the last line of a hull begins to be the highest."""
    if len(hull) == 1:
        return Fraction(1)
    (a, b), (other_a, other_b) = hull[-2:]
    return (a - other_a) / (b - other_b)


def _touching(entries: ChannelEntries, pairs: Pairs) -> set[Coefficients]:
    """Lines of the envelope, the level one at its end included: all that are the highest on some stretch of t ≥ 1."""
    order, everything, one = RatioOrder(entries, pairs), np.arange(len(pairs)), Fraction(1)
    first, falls = _highest(entries, pairs, order, one, everything)
    level = lasting_excess(entries, pairs), Fraction(0)
    lines, gaps = {first, level}, [_Gap(first, level, one, None, everything, (falls, np.zeros(len(pairs))))]
    while gaps:
        gap = gaps.pop()
        (a, b), (other_a, other_b) = gap.first, gap.last
        if b == other_b:
            continue
        t = (a - other_a) / (b - other_b)
        height = a - t * b
        gap = gap.narrowed(t, height)
        between, falls = _highest(entries, pairs, order, t, gap.pairs)
        if between[0] - t * between[1] > height:
            lines.add(between)
            gaps.append(gap._replace(last=between, end=t, falls=(gap.falls[0], falls)))
            gaps.append(gap._replace(first=between, start=t, falls=(falls, gap.falls[1])))
    return lines


def _highest(
    entries: ChannelEntries, pairs: Pairs, order: RatioOrder, t: Fraction, chosen: Indices
) -> tuple[Coefficients, Floats]:
    """The highest line at t, and by how much the sums of the chosen pairs are below it at least.

    Two doubles rule out what is surely lower; the lines of what is left are compared exactly.
    """
    length = pairs.lengths[pairs.length_of[0]]
    threshold = RatioThreshold(entries, length, ln(t) / length)
    high, low, slack = order.sums(chosen, t)
    nearest = int((high + low).argmax())
    above = (high - high[nearest]) + (low - low[nearest])
    candidates = chosen[above + 2 * slack >= (above - 2 * slack).max()].tolist()
    lines = [threshold.line(int(pairs.x[pair]), int(pairs.neighbour[pair])) for pair in candidates]
    best = max(
        ((line.probability, line.neighbour_probability) for line in lines), key=lambda line: line[0] - t * line[1]
    )
    top, rest = order.scaled(best[0] - t * best[1])
    return best, np.maximum((top - high) + (rest - low) - 2 * slack, 0.0)


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
