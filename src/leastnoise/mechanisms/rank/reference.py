"""The expected rank error on a public reference, by which mechanisms of the same price are compared.

Worst-case bounds say little about ordinary data, and the data itself may not be asked. So the reference is: so many
rows, spread evenly over the lattice. It is public, it is stated in every plan, and it decides nothing but which of
several mechanisms with the same price is used. Numbers here are doubles, good to about three digits.

*One quantile.* The law is computed as it is. Permute-and-flip by its integral ∫₀¹ Σᵢ gapᵢ·pᵢ·Π_{j≠i} (1 − pⱼu) du.

*Several.* With ties broken evenly an exponential law on ranks is a two-sided exponential law of the rank's deviation.
The deviations of recursive quantiles are sums of such laws, by the shares that a level inherits from its borders. Those
of joint quantiles are the partial sums of m + 1 such laws, less the level's share of their sum, which the drawn total
takes up; where the number of records is public, given that they add up to zero. Densities come from the
characteristic function 1/(1 + b²t²). A deviation x counts as the distance from the wanted rank to the ranks of the
value that is answered: with w rows on each lattice point and the wanted rank anywhere among them, x²/(2w) where |x| ≤
w, and |x| − w/2 beyond. A minimum or maximum is its margin further off.
"""

from __future__ import annotations

from functools import cache, lru_cache

import numpy as np
from numpy.typing import NDArray

from leastnoise.mechanisms.rank.joint_ranks import JointRanks
from leastnoise.mechanisms.rank.rank_law import RankLaw
from leastnoise.mechanisms.rank.splitting import Splitting
from leastnoise.mechanisms.rank.tally import PlaceCounts

__all__ = ["REFERENCE_ROWS", "joint_reference", "law_reference", "splitting_reference"]

REFERENCE_ROWS = 1000  # where no other number is expected
_POINTS = 1 << 12  # of a density
_PANELS = 40  # of an integral over [0, 1], each half as wide as the next, at most
_SPARE_PANELS = 6  # narrower than one over the number of heads
_NODES = 8  # in each

Floats = NDArray[np.float64]


@lru_cache(maxsize=256)
def law_reference(law: RankLaw, rows: int) -> float:
    """The expected rank error of one quantile.

    >>> from fractions import Fraction
    >>> from leastnoise.mechanisms.rank.rank_law import RankRule
    >>> median = RankRule(Fraction(1, 2), exchange=False)
    >>> exponential = law_reference(RankLaw(median, Fraction(1, 20), 2000), 1000)
    >>> flips = law_reference(RankLaw(median, Fraction(1, 20), 2000, flips=True), 1000)
    >>> flips < exponential
    True
    """
    records = min(rows, 1 << 40)
    borders = np.arange(law.last + 2) * records // (law.last + 1)
    counts = np.diff(borders)
    places = np.flatnonzero(counts)
    runs = law.all_runs(PlaceCounts(places, counts[places]))
    held = runs.lengths > 0
    lengths, changes = runs.lengths[held].astype(np.float64), -runs.exponents[held].astype(np.float64)
    chances = np.exp(-float(law.rate) * (changes - changes.min()))
    wrong = np.maximum(changes, 0)
    if law.flips:
        mean = _flipped_mean(lengths, wrong, chances)
    else:
        mean = float((lengths * chances * wrong).sum() / (lengths * chances).sum())
    return mean * law.rule.unit / law.rule.level.denominator + abs(law.rule.margin) * (law.rule.level in (0, 1))


def _flipped_mean(lengths: Floats, wrong: Floats, chances: Floats) -> float:
    """Σᵢ wrongᵢ·P(i) for runs of so many points each."""
    live = chances > 1e-18  # the others have no share that a double could tell
    lengths, wrong, chances = lengths[live], wrong[live], chances[live]
    total, heads = 0.0, float((lengths * chances).sum())
    for u, weight in zip(*_nodes(min(_PANELS, int(np.log2(1 + heads)) + _SPARE_PANELS)), strict=True):
        tails = 1.0 - chances * u
        total += weight * (lengths * wrong * chances / tails).sum() * np.exp((lengths * np.log(tails)).sum())
    return float(total)


@cache
def _nodes(panels: int) -> tuple[Floats, Floats]:
    """Gauss–Legendre nodes and weights on [0, 1], dense near zero where many points are nearly as good as the best."""
    ends = np.concatenate([[0.0], 0.5 ** np.arange(panels - 1, -1, -1)])
    nodes, weights = np.polynomial.legendre.leggauss(_NODES)
    widths = np.diff(ends)[:, np.newaxis]
    return (ends[:-1, np.newaxis] + widths * (nodes + 1) / 2).ravel(), (widths * weights / 2).ravel()


@lru_cache(maxsize=256)
def splitting_reference(splitting: Splitting, rows_per_place: float) -> float:
    """The mean over all levels of the expected rank error, by recursive splits."""
    count, rate = len(splitting.levels), float(splitting.rate)
    shares = {-1: np.zeros(count), count: np.zeros(count)}
    for place, split in enumerate(splitting.splits()):
        level = float(split.level)
        own = np.zeros(count)
        own[place] = max(level, 1 - level) / rate
        shares[split.middle] = own + (1 - level) * shares[split.low] + level * shares[split.high]
    inside = _margins(splitting)
    return float(np.mean([_error(*_density(shares[i]), rows_per_place, inside[i]) for i in range(count)]))


@lru_cache(maxsize=256)
def joint_reference(joint: JointRanks, rows_per_place: float) -> float:
    """The mean over all levels of the expected rank error, by the joint exponential law."""
    count, scale, inside = len(joint.levels), 1 / float(joint.rate), _margins(joint)
    errors = []
    for before, level in enumerate(joint.levels, start=1):
        if joint.exchange:
            width = (count + 1) ** 0.5
            points, first = _density(np.full(before, scale), width)
            _, rest = _density(np.full(count + 1 - before, scale), width)
            density = np.maximum(first, 0) * np.maximum(rest, 0)
        else:
            share = float(level)
            points, density = _density(scale * np.repeat([1 - share, share], [before, count + 1 - before]))
        errors.append(_error(points, density, rows_per_place, inside[before - 1]))
    return float(np.mean(errors))


def _margins(law: JointRanks | Splitting) -> list[int]:
    return [0 if 0 < level < 1 else law.margin for level in law.levels]


def _density(scales: Floats, width: float | None = None) -> tuple[Floats, Floats]:
    """Points, and at each of them the density of a sum of two-sided exponential laws."""
    spread = float(np.sqrt(2 * (scales**2).sum())) if width is None else width * float(np.sqrt(2)) * float(scales[0])
    step = 30 * spread / _POINTS
    waves = 2 * np.pi * np.fft.fftfreq(_POINTS, step)
    transform = np.prod(1 / (1 + (scales[:, np.newaxis] * waves) ** 2), axis=0)
    density = np.real(np.fft.ifft(transform))
    points: Floats = step * np.fft.fftfreq(_POINTS, 1 / _POINTS).astype(np.float64)
    return points, density


def _error(points: Floats, density: Floats, rows: float, inside: int = 0) -> float:
    away = np.abs(points + inside)
    loss = np.where(away <= rows, away**2 / (2 * rows), away - rows / 2)
    return float((loss * density).sum() / density.sum())
