"""The highest lines P(S|x) − t·P(S|x') for every t ≥ 1: the upper envelope over all pairs and sets of outputs.

Asking for the highest line at one t after another finds them all (Eisner and Severance, Journal of the ACM 23, 1976):
two lines of the envelope follow each other when no line is above their crossing, else that line comes between.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from hashlib import sha256
from typing import TypeAlias

import numpy as np

from leastnoise.checker.entries import Entries, Floats, Indices, blocks
from leastnoise.checker.excess import Thresholds, lasting_excess
from leastnoise.checker.pairs import Pairs
from leastnoise.exact.numbers import ln

__all__ = ["Coefficients", "envelope"]

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


def envelope(entries: Entries, pairs: Pairs) -> tuple[Coefficients, ...]:
    """(A, B) of each piece A − t·B from t = 1 on, for pairs of one length; the last piece is level, B = 0."""
    pairs = pairs.of(_one_of_a_kind(entries, pairs))
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


def _highest(entries: Entries, pairs: Pairs, t: Fraction) -> tuple[Coefficients, Floats]:
    """The highest line at t, and upper bounds of all sums there."""
    thresholds = Thresholds(entries, pairs, ln(t) / pairs.lengths[pairs.length_of[0]])
    (line,) = thresholds.worst_lines()
    return (line.probability, line.neighbour_probability), thresholds.sums[1]


def _one_of_a_kind(entries: Entries, pairs: Pairs) -> Indices:
    """One pair for each different collection of (p(y|x), p(y|x')): the sum depends on nothing else."""
    outputs = np.arange(entries.shape[1])

    def collections() -> Iterator[bytes]:
        for block in blocks(len(pairs), entries.shape[1]):
            keys = entries.pair_keys(pairs.x[block, None], pairs.neighbour[block, None], outputs)
            yield from (sha256(row).digest() for row in np.sort(keys, axis=1))

    firsts: dict[bytes, int] = {}
    for place, kind in enumerate(collections()):
        firsts.setdefault(kind, place)
    return np.array(list(firsts.values()), dtype=np.int64)
