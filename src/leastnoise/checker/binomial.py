"""Binomial tails and confidence bounds that surely hold.

P(K ≥ k) for K ~ Bin(n, p) is at most P(K = k)/(1 − r) with r = (n − k)p/((k + 1)(1 − p)), if r < 1: from one term to
the next the probabilities shrink by r or more. Against the tail itself this loses a few percent of it where it matters
(k some standard deviations above np), which moves a confidence bound by next to nothing.
"""

from __future__ import annotations

import math
from fractions import Fraction

from leastnoise.exact import Ball, enclose, of_fraction

__all__ = ["log_tail", "probability_above", "probability_below", "tail_bound"]

_GRID = 2**64
_HALVINGS = 60


def tail_bound(trials: int, successes: int, p: Fraction) -> Fraction:
    """A rational that is at least P(K ≥ successes), K ~ Bin(trials, p).

    >>> tail_bound(10, 9, Fraction(1, 2)) >= Fraction(11, 1024), float(tail_bound(10, 9, Fraction(1, 2)))
    (True, 0.0108506944444444...)
    """
    if successes <= 0 or p == 1:
        return Fraction(1)
    if p == 0:
        return Fraction(0)
    shrink = (trials - successes) * p / ((successes + 1) * (1 - p))
    if shrink >= 1:
        return Fraction(1)

    def probability() -> Ball:
        ways = _log_factorial(trials) - _log_factorial(successes) - _log_factorial(trials - successes)
        return (ways + successes * of_fraction(p).log() + (trials - successes) * of_fraction(1 - p).log()).exp()

    return min(Fraction(1), enclose(probability).upper / (1 - shrink))


def log_tail(trials: int, successes: int, p: float) -> float:
    """The logarithm of `tail_bound` in doubles: for searching, it decides nothing."""
    if successes <= 0 or p >= 1:
        return 0.0
    if p <= 0:
        return -math.inf
    shrink = (trials - successes) * p / ((successes + 1) * (1 - p))
    if shrink >= 1:
        return 0.0
    ways = math.lgamma(trials + 1) - math.lgamma(successes + 1) - math.lgamma(trials - successes + 1)
    likelihood = ways + successes * math.log(p) + (trials - successes) * math.log1p(-p)
    return min(0.0, likelihood - math.log1p(-shrink))


def probability_below(trials: int, successes: int, alpha: Fraction) -> Fraction:
    """A lower confidence bound for the probability of a success (Clopper and Pearson 1934).

    It is some p with P(K ≥ successes) ≤ α under p. Whatever the true probability, the bound exceeds it with probability
    at most α: with k the least number of successes whose bound does, that takes at least k successes, which have a
    probability of at most α even under the larger bound.

    >>> float(probability_below(1000, 500, Fraction(1, 10**6)))
    0.42...
    """
    low, high = 0.0, successes / trials
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if log_tail(trials, successes, middle) <= math.log(alpha):
            low = middle
        else:
            high = middle
    bound, step = Fraction(int(low * _GRID), _GRID), Fraction(1, 2**40)
    while bound > 0 and tail_bound(trials, successes, bound) > alpha:
        bound, step = max(Fraction(0), bound - step), 2 * step
    return bound


def probability_above(trials: int, successes: int, alpha: Fraction) -> Fraction:
    """An upper confidence bound for the probability of a success: below it with probability at most α."""
    return 1 - probability_below(trials, trials - successes, alpha)


def _log_factorial(n: int) -> Ball:
    return of_fraction(n + 1).lgamma()
