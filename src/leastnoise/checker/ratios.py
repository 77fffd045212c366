"""Pure privacy: the largest p(y|x)/p(y|x'), found with doubles and settled with rationals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from operator import itemgetter

import numpy as np

from leastnoise.checker.entries import ChannelEntries, Floats, Indices, blocks
from leastnoise.checker.pairs import Pairs, TradeoffLine
from leastnoise.exact import LOG_ERROR, Exact, ln, ln_below, ln_enclosure, minus_log_of, scaled

__all__ = ["LargestRatio", "largest_ratio"]

_LN2 = float(ln_below(2, 80))
_MANY = 1 << 13
_BITS = 96
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
    """The worst pair and output of pairs that `both_ways` made; None without any (one input alone is private)."""
    if len(pairs) == 0:
        return None
    apart = _supports_apart(entries, pairs)
    if apart is not None:
        return apart
    if pairs.is_complete:
        return _over_all_pairs(entries, pairs.lengths[0])
    peaks = np.empty(len(pairs))
    edges = len(pairs) // 2  # the second half of the pairs is the first half turned round
    there, back = peaks[:edges], peaks[edges:]
    for block in blocks(edges, entries.shape[1]):
        there[block], back[block] = entries.largest_quotients(pairs.x[block], pairs.neighbour[block])
    worst = _settle(entries, pairs, peaks, _promising_lengths(peaks, pairs, entries.quotient_error))
    epsilon, place = _largest_logarithm({place: ratio for place, (ratio, _, _) in worst.items()}, pairs.lengths)
    _, pair, output = worst[place]
    return LargestRatio(_line(entries, pairs, pair, output), epsilon)


def _largest_logarithm(ratios: dict[int, Fraction], lengths: Sequence[Fraction]) -> tuple[Exact, int]:
    """The largest ln(ratio)/length and its place; enclosures leave few to be compared exactly."""
    if len(ratios) > 1:
        known = {place: scaled(ln_enclosure(ratio, _BITS), 1 / lengths[place]) for place, ratio in ratios.items()}
        low = max(enclosure.lower for enclosure in known.values())
        ratios = {place: ratio for place, ratio in ratios.items() if known[place].upper >= low}
    return max(((ln(ratio) / lengths[place], place) for place, ratio in ratios.items()), key=itemgetter(0))


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


def _settle(
    entries: ChannelEntries, pairs: Pairs, peaks: Floats, promising: Indices
) -> dict[int, tuple[Fraction, int, int]]:
    """For each promising length the exactly largest ratio, with its pair and its output."""
    most = np.full(len(pairs.lengths), np.inf)
    most[promising] = 0.0
    np.maximum.at(most, pairs.length_of, np.minimum(peaks, _LARGEST))
    thresholds = most[pairs.length_of] * (1 - 4 * entries.quotient_error)
    rows = np.flatnonzero(peaks >= thresholds)
    rows = rows[np.argsort(pairs.length_of[rows], kind="stable")]  # a length is in few blocks
    worst: dict[int, tuple[Fraction, int, int]] = {}
    for block in blocks(len(rows), entries.shape[1]):
        chosen = rows[block]
        x, neighbour, groups = pairs.x[chosen], pairs.neighbour[chosen], pairs.length_of[chosen]
        row, output = np.nonzero((entries.quotients(x, neighbour) >= thresholds[chosen, None]) & ~entries.zeros[x])
        leading = entries.leading(groups[row], x[row], neighbour[row], output)
        row, output = row[leading], output[leading]
        if len(row) > _MANY:
            first = _different(entries, groups[row], x[row], neighbour[row], output)
            row, output = row[first], output[first]
        near, far = entries.numbers(x[row], output), entries.numbers(neighbour[row], output)
        numbers = zip(groups[row].tolist(), near, far, strict=True)
        places = zip(chosen[row].tolist(), output.tolist(), strict=True)
        for (place, top, bottom), (pair, y) in dict(zip(numbers, places, strict=True)).items():
            ratio = Fraction(top) / Fraction(bottom)
            if place not in worst or ratio > worst[place][0]:
                worst[place] = ratio, pair, y
    return worst


def _different(entries: ChannelEntries, groups: Indices, x: Indices, neighbour: Indices, outputs: Indices) -> Indices:
    """The place of one ratio of each group and pair of numbers: equal numbers give equal ratios."""
    keys = entries.pair_keys(x, neighbour, outputs)
    firsts = []
    for group in np.unique(groups):
        places = np.flatnonzero(groups == group)
        firsts.append(places[np.unique(keys[places], return_index=True)[1]])
    return np.concatenate(firsts)
