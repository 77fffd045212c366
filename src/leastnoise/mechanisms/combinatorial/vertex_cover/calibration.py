"""How much weight each vertex gets beside its degree: w = s/√l with l vertices left, and the least s that is ε-private.

For neighbours that differ in an edge, the probabilities of an order differ by at most the factors 1 + √n/s (the graph
with the edge is the likelier one) and Π_{l=2}^n (1 + 2/(s√l)) (the one without), and the second is the larger
(docs/theory/vertex_cover.md). Gupta et al. take s = 4√n/ε, which bounds the product; here s is solved for. The sum of
logarithms is bounded from above: ln(1 + b/√x) is convex, so each term beyond the first few is at most its integral from
l − ½ to l + ½, and ∫ ln(1 + b/√x) dx = x·ln(1 + b/√x) + b√x − b²·ln(√x + b).
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from math import ceil

from leastnoise.exact.balls import Ball, above, evaluate, of_fraction
from leastnoise.exact.enclosures import sqrt_above
from leastnoise.exact.numbers import Exact

__all__ = ["least_noise", "privacy_above", "textbook_noise"]

_ONE_BY_ONE = 256  # terms of the sum
_DIGITS = 24  # binary digits of s
_PRECISION = 128


def privacy_above(nodes: int, noise: Fraction) -> Fraction:
    """A rational at least Σ_{l=2}^n ln(1 + 2/(s√l)), s = `noise`.

    >>> float(privacy_above(2, Fraction(1)))
    0.881373587019543
    """
    return above(evaluate(lambda: _loss(nodes, of_fraction(2 / noise)), _PRECISION))


def textbook_noise(nodes: int, epsilon: Exact) -> Fraction:
    """4√n/ε, or a rational just above it: Gupta, Ligett, McSherry, Roth and Talwar, SODA 2010."""
    below = epsilon if isinstance(epsilon, Fraction) else Fraction(float(epsilon)) * (1 - Fraction(1, 2**40))
    return 4 * sqrt_above(nodes) / below


@lru_cache(maxsize=256)
def least_noise(nodes: int, epsilon: Exact) -> Fraction:
    """The least s of 24 binary digits for which the order of n vertices is surely ε-private.

    >>> [round(float(least_noise(n, Fraction(1)) / textbook_noise(n, Fraction(1))), 2) for n in (10, 100, 1000)]
    [0.6, 0.87, 0.96]
    """
    if nodes < 2:
        return Fraction(1)  # no edge, no secret
    high = textbook_noise(nodes, epsilon)
    unit = high / 2**_DIGITS
    low, steps = 0, 2**_DIGITS
    while steps - low > 1:
        middle = (low + steps) // 2
        if privacy_above(nodes, middle * unit) <= epsilon:
            steps = middle
        else:
            low = middle
    found = steps * unit
    digits = _DIGITS - ceil(found).bit_length()
    scale = 2 ** max(digits, 0)
    return Fraction(ceil(found * scale), scale)  # a short rational, a little above


def _loss(nodes: int, b: Ball) -> Ball:
    last = min(nodes, _ONE_BY_ONE)
    total = sum(((1 + b / of_fraction(left).sqrt()).log() for left in range(2, last + 1)), start=Ball(0))
    if nodes > last:
        half = Fraction(1, 2)
        total += _integral(of_fraction(nodes + half), b) - _integral(of_fraction(last + half), b)
    return total


def _integral(x: Ball, b: Ball) -> Ball:
    root = x.sqrt()
    return x * (1 + b / root).log() + b * root - b * b * (root + b).log()
