"""Pure privacy: the largest p(y|x)/p(y|x'), found with doubles and settled with rationals."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from leastnoise.checker.entries import ChannelEntries, Floats, Indices, blocks
from leastnoise.checker.pairs import Pairs, TradeoffLine
from leastnoise.exact import LOG_ERROR, Exact, ln, ln_below, minus_log_of

__all__ = ["LargestRatio", "largest_ratio"]

_LN2 = float(ln_below(2, 80))
_MANY = 1000
_LARGEST = float(np.finfo(np.float64).max)


@dataclass(frozen=True)
class LargestRatio:
    """Where ln(p(y|x)/p(y|x'))/length is largest.

    Attributes:
        line: The pair and the output, as a set of one.
        epsilon: That number, the least ε for which the pairs are ε-private; None stands for infinity, which is what
            p(y|x') = 0 < p(y|x) asks for.
    """

    line: TradeoffLine
    epsilon: Exact | None


def largest_ratio(entries: ChannelEntries, pairs: Pairs) -> LargestRatio | None:
    """The worst pair and output; None without pairs (one input alone is private)."""
    if len(pairs) == 0:
        return None
    apart = _supports_apart(entries, pairs)
    if apart is not None:
        return apart
    if pairs.is_complete:
        return _over_all_pairs(entries, pairs.lengths[0])
    peaks = np.concatenate(
        [
            entries.quotients(pairs.x[block], pairs.neighbour[block]).max(axis=1)
            for block in blocks(len(pairs), entries.shape[1])
        ]
    )
    settled = [
        _settle(entries, pairs, peaks, place) for place in _promising_lengths(peaks, pairs, entries.quotient_error)
    ]
    epsilon, line = settled[0]
    for other_epsilon, other in settled[1:]:
        if other_epsilon > epsilon:
            epsilon, line = other_epsilon, other
    return LargestRatio(line, epsilon)


def _supports_apart(entries: ChannelEntries, pairs: Pairs) -> LargestRatio | None:
    """Where p(y|x) > 0 = p(y|x'), the largest such p(y|x) as the doubles see it."""
    if not entries.zeros.any():
        return None
    worst, size = None, -1.0
    for block in blocks(len(pairs), entries.shape[1]):
        x, neighbour = pairs.x[block], pairs.neighbour[block]
        masses = np.where(entries.zeros[neighbour] & ~entries.zeros[x], entries.floats[x], -1.0)
        row, output = divmod(int(masses.argmax()), entries.shape[1])
        if masses[row, output] > size:
            worst, size = (block.start + row, output), float(masses[row, output])
    return None if worst is None else LargestRatio(_line(entries, pairs, *worst), None)


def _over_all_pairs(entries: ChannelEntries, length: Fraction) -> LargestRatio:
    """With all pairs asked for, each output's worst pair is its largest against its least probability."""
    largest, least = entries.extremes()
    ratio, x, neighbour, output = max(
        (entries.value(int(i), y) / entries.value(int(j), y), int(i), int(j), y)
        for y, (i, j) in enumerate(zip(largest, least, strict=True))
        if not entries.zeros[i, y]
    )
    line = TradeoffLine(x, neighbour, length, (output,), entries.value(x, output), entries.value(neighbour, output))
    return LargestRatio(line, ln(ratio) / length)


def _line(entries: ChannelEntries, pairs: Pairs, pair: int, output: int) -> TradeoffLine:
    x, neighbour, length = int(pairs.x[pair]), int(pairs.neighbour[pair]), pairs.lengths[pairs.length_of[pair]]
    return TradeoffLine(x, neighbour, length, (output,), entries.value(x, output), entries.value(neighbour, output))


def _promising_lengths(peaks: Floats, pairs: Pairs, error: float) -> Indices:
    """The lengths that can hold the largest ln(ratio)/length, by bounds with a proven error."""
    if len(pairs.lengths) == 1:
        return np.zeros(1, dtype=np.int64)
    top = np.zeros(len(pairs.lengths))
    np.maximum.at(top, pairs.length_of, peaks)
    mantissas, exponents = np.frexp(np.minimum(top, _LARGEST))
    logs = exponents * _LN2 - minus_log_of(mantissas)
    slack = 2 * LOG_ERROR + 2 * error + np.abs(exponents) * 2.0**-50
    lengths = np.array([float(length) for length in pairs.lengths])
    low, high = (logs - slack) / lengths, (logs + slack) / lengths
    low -= np.abs(low) * 2.0**-50
    high += np.abs(high) * 2.0**-50
    high[np.isinf(top)] = np.inf
    return np.flatnonzero(high >= low.max())


def _settle(entries: ChannelEntries, pairs: Pairs, peaks: Floats, place: int) -> tuple[Exact, TradeoffLine]:
    """The exactly largest ln(ratio)/length among the pairs of one length."""
    rows = np.flatnonzero(pairs.length_of == place)
    threshold = min(peaks[rows].max(), _LARGEST) * (1 - 4 * entries.quotient_error)
    rows = rows[peaks[rows] >= threshold]
    largest, worst = Fraction(0), (-1, -1)
    for block in blocks(len(rows), entries.shape[1]):
        x, neighbour = pairs.x[rows[block]], pairs.neighbour[rows[block]]
        row, output = np.nonzero((entries.quotients(x, neighbour) >= threshold) & ~entries.zeros[x])
        if len(row) > _MANY:  # equal numbers give equal ratios: one of each is enough
            first = np.unique(entries.pair_keys(x[row], neighbour[row], output), return_index=True)[1]
            row, output = row[first], output[first]
        for pair, y in zip(row.tolist(), output.tolist(), strict=True):
            ratio = entries.value(x[pair], y) / entries.value(neighbour[pair], y)
            if ratio > largest:
                largest, worst = ratio, (int(rows[block][pair]), y)
    return ln(largest) / pairs.lengths[place], _line(entries, pairs, *worst)
