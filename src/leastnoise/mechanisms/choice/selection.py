"""Choosing one of several candidates by a private score: what all such mechanisms share.

The true answer is a list of scores q(x, r), one per candidate r, and a record moves each of them by at most the
sensitivity Δ. What counts is by how much a record moves two scores against each other: at most 2Δ, and at most Δ if
every record moves all scores the same way (monotone scores, such as counts when a record is added or removed). Hence a
mechanism that uses the scores only through e^(rate·q) takes rate = ε/(2Δ), or ε/Δ for monotone scores.

How much score a choice gives up at worst: with n candidates let one be the best, and let b(s) be the chance that it is
not chosen when all others lie s/rate below it. For the exponential mechanism and for permute-and-flip no scores are
worse than these (for the exponential mechanism since −w·ln w is concave; for permute-and-flip see
docs/theory/permute_and_flip.md), so the largest expected gap is max_s s·b(s)/rate, and a gap above s/rate is never more
likely than b(s).
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Hashable, Sequence
from fractions import Fraction
from functools import cached_property, partial
from itertools import combinations, product
from math import floor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from leastnoise.errors import BadParameter
from leastnoise.exact import (
    Ball,
    Enclosure,
    Exact,
    LogSum,
    NumberLike,
    Numbers,
    Scores,
    Size,
    Source,
    ball_of,
    double_of,
    enclose,
    evaluate,
    in_shape,
    ln,
    of_fraction,
    read_exact,
    read_integer,
    read_rate,
    read_rational,
    system_source,
)
from leastnoise.mechanisms.truths import Candidates, name_places, place_of, read_candidates, read_scores
from leastnoise.model import LEVEL, Certificate, ErrorEstimate, Mechanism, Privacy, PrivacyCertificate
from leastnoise.model.graphs import from_edges

__all__ = [
    "LOSS",
    "RatedSelection",
    "Selection",
    "exponential_quantile",
    "exponential_regret",
    "least_regret",
    "permute_and_flip_quantile",
    "permute_and_flip_regret",
    "utility_gap",
]

_ZERO = Enclosure(Fraction(0), Fraction(0))


def exponential_regret(odds: Fraction, rate: Exact, bits: int = 64) -> Enclosure:
    """The largest expected gap of the exponential mechanism: W(odds/e)/rate, W Lambert's function.

    `odds` is how much base weight the others have for each unit of the best's: n − 1 without a base measure. Then
    b(s) = odds·e^-s/(1 + odds·e^-s), and s·b(s) is largest where odds·e^-s = W(odds/e) = s − 1.

    >>> exponential_regret(Fraction(1), Fraction(1))
    Enclosure(≈ 0.278464542761074)
    """
    return (
        enclose(lambda: (of_fraction(odds) / of_fraction(1).exp()).lambertw() / ball_of(rate), bits) if odds else _ZERO
    )


def exponential_quantile(odds: Fraction, rate: Exact, level: Fraction) -> Fraction:
    """A gap that is not exceeded with probability `level`, whatever the scores: b(s) = 1 − level solved for s/rate."""
    ratio = odds * level / (1 - level)
    return enclose(lambda: ball_of(ln(ratio)) / ball_of(rate)).upper if ratio > 1 else Fraction(0)


def permute_and_flip_regret(count: int, rate: Exact, bits: int = 64) -> Enclosure:
    """The largest expected gap of permute-and-flip among `count` candidates.

    The maximum of s·b(s) is found by bisection on the sign of its derivative, which changes once (ln b is concave).

    >>> permute_and_flip_regret(2, Fraction(1))
    Enclosure(≈ 0.183939720585721)
    """
    if count == 1:
        return _ZERO

    def rises(s: Fraction) -> bool:
        return bool(evaluate(lambda: _slope(of_fraction(s), count), 4 * bits + 64) > 0)

    low, high = _bisect(rises, count, bits)
    return Enclosure(
        enclose(lambda: of_fraction(low) * _missed(of_fraction(low), count) / ball_of(rate), bits).lower,
        enclose(lambda: of_fraction(high) * _missed(of_fraction(low), count) / ball_of(rate), bits).upper,
    )


def permute_and_flip_quantile(count: int, rate: Exact, level: Fraction) -> Fraction:
    """A gap that is not exceeded with probability `level`, whatever the scores: b(s) = 1 − level solved for s/rate."""
    if 1 - Fraction(1, count) <= 1 - level:
        return Fraction(0)

    def missed_too_often(s: Fraction) -> bool:
        return not evaluate(lambda: _missed(of_fraction(s), count), 256) < of_fraction(1 - level)

    extra = level.denominator.bit_length()
    high = _bisect(missed_too_often, count << extra, 64)[1]
    return enclose(lambda: of_fraction(high) / ball_of(rate)).upper


def least_regret(count: int, epsilon: Exact, sensitivity: Fraction, monotone: bool) -> Enclosure:
    """What no ε-private choice can beat at its worst scores: max_d d·Δ·m·e^(−cεd)/(1 + m·e^(−cεd)), m = count − 1.

    Let x_i give candidate i the score d·Δ and the others 0. x_i and x_j are c·d records apart, c = 1, or 2 for monotone
    scores. So P(j | x_i) ≥ e^(−cεd)·P(j | x_j), and some i has P(i | x_i) ≤ 1/(1 + m·e^(−cεd)). Any d gives a bound.

    >>> least_regret(1001, Fraction(1), Fraction(1), False)
    Enclosure(≈ 4.35383377521312)
    """
    others, factor = count - 1, 2 if monotone else 1
    if others == 0:
        return _ZERO
    guess = (1 + float(exponential_regret(Fraction(others), Fraction(1)))) / (factor * double_of(epsilon))
    steps = [max(floor(guess), 1), max(floor(guess), 1) + 1]

    def bound(d: int) -> Enclosure:
        def value() -> Ball:
            share = (-ball_of(epsilon * (factor * d))).exp() * others
            return of_fraction(sensitivity * d) * share / (1 + share)

        return enclose(value)

    return max((bound(d) for d in steps), key=lambda enclosure: enclosure.lower)


def utility_gap(odds: Fraction, rate: Exact, t: Exact) -> Enclosure:
    """(ln(odds) + t)/rate: the exponential mechanism is this far below the best with chance e^-t at most."""
    return enclose(lambda: (ball_of(ln(odds)) + ball_of(t)) / ball_of(rate))


def _missed(s: Ball, count: int) -> Ball:
    """b(s) = 1 − (1 − (1 − p)^n)/(n·p), p = e^-s, of permute-and-flip."""
    p = (-s).exp()
    return 1 - (1 - (1 - p) ** count) / (p * count)


def _slope(s: Ball, count: int) -> Ball:
    """The derivative of s·b(s)."""
    p = (-s).exp()
    missed = _missed(s, count)
    return missed - s * (1 - missed - (1 - p) ** (count - 1))


def _bisect(is_left: Callable[[Fraction], bool], count: int, bits: int) -> tuple[Fraction, Fraction]:
    """Narrow down where `is_left` turns false, between 0 and a number that is surely beyond."""
    low, high = Fraction(0), Fraction(2 * count.bit_length() + 4)
    for _ in range(bits + high.numerator.bit_length()):
        middle = (low + high) / 2
        low, high = (middle, high) if is_left(middle) else (low, middle)
    return low, high


LOSS = "score below the best"
_SHOWN = 3  # candidates, and levels of their scores, in a certificate


class Selection(Mechanism):
    """One of several candidates, better ones more likely; a subclass says how much more.

    Attributes:
        epsilon: The privacy of one release.
        candidates: What can be chosen, public.
        sensitivity: The most that one record can move a score.
        monotone: Whether a record moves all scores the same way, none up while another goes down.
    """

    epsilon: Exact
    candidates: Sequence[Hashable]
    sensitivity: Fraction
    monotone: bool

    @abstractmethod
    def choose(self, scores: Numbers, count: int, source: Source) -> NDArray[np.int64]:
        """`count` independent choices, as places among the candidates."""

    @abstractmethod
    def chance(self, place: int, scores: Numbers, bits: int, /) -> Enclosure:
        """P(the candidate at this place is chosen)."""

    @abstractmethod
    def expected_gap(self, scores: Numbers, bits: int, /) -> Enclosure:
        """E[best score − score of the choice]."""

    @abstractmethod
    def worst_gap(self, bits: int = 64) -> Enclosure:
        """The largest `expected_gap` over all scores."""

    @abstractmethod
    def quantile(self, level: NumberLike = LEVEL) -> Fraction:
        """A gap that is not exceeded with at least this probability, whatever the scores."""

    @abstractmethod
    def representative(self, count: int) -> Selection:
        """The same mechanism with candidates 0..count − 1 and plain scores as its answer."""

    def read_parameters(
        self, epsilon: NumberLike, candidates: Candidates, sensitivity: NumberLike, monotone: bool
    ) -> None:
        """Set what all selections have."""
        if not isinstance(monotone, bool):
            raise BadParameter("monotone must be True or False", given=monotone, fix="leave it out if in doubt")
        object.__setattr__(self, "epsilon", read_rate(epsilon, "epsilon"))
        object.__setattr__(self, "candidates", read_candidates(candidates))
        object.__setattr__(self, "sensitivity", read_rational(sensitivity, "sensitivity", above=0))
        object.__setattr__(self, "monotone", monotone)

    def scores_of(self, truth: Any) -> Numbers:
        """The scores of the candidates, from the private answer."""
        return read_scores(truth, len(self.candidates))

    def draw(self, truth: Any, size: Size = None, source: Source | None = None) -> Any:
        """Choose a candidate by the scores; an array of independent choices if `size` is given."""
        scores = self.scores_of(truth)
        if size is None:
            return self.candidates[int(self.choose(scores, 1, source or system_source)[0])]
        return name_places(in_shape(partial(self.choose, scores), size, source), self.candidates)

    def pmf(self, output: Hashable, truth: Any, bits: int = 64) -> Enclosure:
        """P(output | scores)."""
        return self.chance(place_of(output, self.candidates), self.scores_of(truth), bits)

    def error(self, level: Fraction = LEVEL) -> ErrorEstimate:
        """How far below the best score the choice is: the largest expectation over all scores, and a quantile."""
        return ErrorEstimate(LOSS, self.worst_gap(), {level: self.quantile(level)}, attained=False)

    def error_at(self, truth: Any, bits: int = 64) -> Enclosure:
        """E[best score − score of the choice] at these scores: private, for simulations only."""
        return self.expected_gap(self.scores_of(truth), bits)

    def expected_score(self, truth: Any, bits: int = 64) -> Enclosure:
        """E[score of the choice] at these scores: private, for simulations only."""
        scores = self.scores_of(truth)
        best, gap = self.best_of(scores), self.expected_gap(scores, bits)
        high = Enclosure(best, best) if not isinstance(best, LogSum) else enclose(lambda: ball_of(best), bits)
        return Enclosure(high.lower - gap.upper, high.upper - gap.lower)

    def best_of(self, scores: Numbers) -> Exact:
        """The score that the choice is measured against."""
        return Scores(scores, "scores").largest()

    def certificate(self) -> Certificate:
        """Privacy on all scores 0, Δ, 2Δ of at most three candidates, as an exact channel.

        Raises:
            BadParameter: The law is irrational.
        """
        small = self.representative(min(len(self.candidates), _SHOWN))
        nodes = list(product([self.sensitivity * level for level in range(_SHOWN)], repeat=len(small.candidates)))
        edges = [(x, y) for x, y in combinations(nodes, 2) if self.are_neighbours(x, y)]
        channel = small.channel(nodes, small.candidates)
        return PrivacyCertificate(from_edges(edges, nodes), Privacy(self.epsilon), channel)

    def are_neighbours(self, x: Sequence[Fraction], y: Sequence[Fraction]) -> bool:
        """Whether one record can turn the scores x into y, or y into x."""
        moves = [b - a for a, b in zip(x, y, strict=True)]
        one_way = not self.monotone or min(moves) >= 0 or max(moves) <= 0
        return one_way and max(map(abs, moves)) <= self.sensitivity


class RatedSelection(Selection):
    """A selection that sees the scores only through e^(rate·score)."""

    @cached_property
    def rate(self) -> Exact:
        """The factor of the scores: epsilon/(2·sensitivity), twice that for monotone scores."""
        return self.epsilon / (self.sensitivity * (1 if self.monotone else 2))

    def utility_bound(self, t: NumberLike, optimal: int = 1) -> Enclosure:
        """A gap that is reached with probability e^-t at most: (ln(n/optimal) + t)/rate.

        Tóthmérész 2013, Theorem 2.2, for the exponential mechanism, if at least `optimal` of the n candidates are best.
        """
        best = read_integer(optimal, "optimal", at_least=1, at_most=len(self.candidates))
        return utility_gap(Fraction(len(self.candidates), best), self.rate, read_exact(t, "t", at_least=0))

    def least_regret(self) -> Enclosure:
        """What no private choice can beat at its worst scores."""
        return least_regret(len(self.candidates), self.epsilon, self.sensitivity, self.monotone)
