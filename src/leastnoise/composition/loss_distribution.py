"""Privacy loss distributions on a grid, with every rounding in one known direction.

The loss of an outcome y is ln(P(y)/Q(y)) for two neighbours P and Q. Independent losses add, so laws convolve, and
    δ(x) = E_P[max(0, 1 − e^(x − loss))]
is the least δ at ε = x (Sommer, Meiser and Mohammadi 2019). A law here lists masses, as integers over 2^bits,
at the losses top, top − step, top − 2·step, …. A law *above* has masses rounded up and losses moved up only, so that
its δ is never too small; a law *below* the reverse. Laws that dominate each query dominate the composition, also where
each query is chosen after the answers before it, as long as the laws were fixed (Zhu, Dong and Wang 2022, Theorem 10).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from math import ceil, floor

from leastnoise.exact import (
    Ball,
    Exact,
    LogSum,
    above,
    ball_of,
    below,
    convolve_above,
    convolve_below,
    evaluate,
    of_fraction,
    scaled_bounds,
)

__all__ = ["LossDistribution"]

_FINE = 1024  # a loss is placed to a 1024th of a step before it is split between the two nearest ones
_WEIGHT_BITS = 64


@dataclass(frozen=True)
class LossDistribution:
    """A bound on the law of a privacy loss.

    Args:
        top: The largest finite loss.
        step: How far the losses are apart.
        masses: The probability of each loss under P, from the largest loss down, over 2^bits.
        bits: The unit of the masses.
        upward: Whether this is a law above (else below).
        lost: The probability of an infinite loss, over 2^bits.
    """

    top: Exact
    step: Exact
    masses: tuple[int, ...]
    bits: int
    upward: bool
    lost: int = 0

    def compose(self, other: LossDistribution, tail: int) -> LossDistribution:
        """The law of the sum of two independent losses on the same grid, its tails of at most `tail` cut."""
        convolve = convolve_above if self.upward else convolve_below
        masses = convolve(self.masses, other.masses, self.bits)
        ours = max(sum(self.masses), 1 << self.bits)  # masses that were rounded up may sum to more than one
        lost = self.lost - (-other.lost * ours >> self.bits)
        return replace(self, top=self.top + other.top, masses=tuple(masses), lost=lost).trimmed(tail)

    def power(self, count: int, tail: int) -> LossDistribution:
        """The law of the sum of `count` independent losses, by repeated squaring."""
        square, result = self.trimmed(tail), None
        while True:
            if count & 1:
                result = square if result is None else result.compose(square, tail)
            count >>= 1
            if not count:
                break
            square = square.compose(square, tail)
        return self if result is None else result

    def trimmed(self, tail: int) -> LossDistribution:
        """Cut at most `tail` at either end: a law above moves it to an infinite loss and to the least loss it keeps."""
        first, gone = _reach(self.masses, tail)
        last, rest = _reach(self.masses[:first:-1], tail)
        if not first and not last:
            return self
        kept = list(self.masses[first : len(self.masses) - last])
        if self.upward:
            kept[-1] += rest
        lost = self.lost + gone if self.upward else self.lost
        return replace(self, top=self.top - self.step * first, masses=tuple(kept), lost=lost)

    def regridded(self, step: Fraction) -> LossDistribution:
        """The law on multiples of another step.

        Above, a mass at a loss between two multiples is split between them so that both its probability under P and
        the one under Q stay what they were: the split outcome tells more, and tells the least more that the grid
        allows (Doroshenko et al. 2022). Below, the loss is rounded down.
        """
        top, each = self._rational_place()
        common = (top / step).denominator * (each / step).denominator
        start, stride = int(top / step * common), int(each / step * common)
        highest = -(-start // common)
        lowest = (start - (len(self.masses) - 1) * stride) // common
        masses = [0] * (highest - lowest + 1)
        weights = _split_weights(step) if self.upward else ()
        for i, mass in enumerate(self.masses):
            place, rest = divmod(start - i * stride, common)
            if not self.upward or not rest:
                masses[highest - place] += mass
                continue
            low, high = weights[-(-rest * _FINE // common)]
            masses[highest - place - 1] += -(-mass * high >> _WEIGHT_BITS)
            masses[highest - place] += -(-mass * ((1 << _WEIGHT_BITS) - low) >> _WEIGHT_BITS)
        return replace(self, top=step * highest, step=step, masses=tuple(masses))

    def delta(self, epsilon: Exact) -> Fraction:
        """A bound on δ at ε, from the side of the law."""

        def reached() -> Ball:
            total, discount = of_fraction(self.lost), (ball_of(epsilon) - ball_of(self.top)).exp()
            growth = ball_of(self.step).exp()
            for mass in self.masses:
                total += mass * (1 - discount).max(of_fraction(0))
                discount *= growth
                if discount > 1:
                    break
            return total

        ball = evaluate(reached, self.bits + 64)
        bound = above(ball) if self.upward else below(ball)
        return max(bound / (1 << self.bits), Fraction(0))

    def epsilon(self, delta: Fraction) -> Fraction | None:
        """A bound on the least ε ≥ 0 at δ, from the side of the law; None where there is no finite one."""
        target = delta * (1 << self.bits) - self.lost
        if target <= 0:
            return None

        def crossing() -> Ball:
            ours = theirs = of_fraction(0)
            loss, step, goal = ball_of(self.top), ball_of(self.step), of_fraction(target)
            theirs_each, growth = (-loss).exp(), step.exp()
            for mass in self.masses:
                ours, theirs = ours + mass, theirs + mass * theirs_each
                loss, theirs_each = loss - step, theirs_each * growth
                if not loss > 0 or not ours - loss.exp() * theirs <= goal:
                    break
            else:
                loss = of_fraction(0)  # below the least loss no further term comes in
            # At the loss before this one δ is surely kept, and from there down to here these are all the terms.
            least = loss.max(of_fraction(0)) if self.upward else of_fraction(0)
            ratio = (ours - goal) / theirs if theirs > 0 else of_fraction(0)
            return least.max(ratio.log()) if ratio > 0 else least

        ball = evaluate(crossing, self.bits + 64)
        return max(above(ball) if self.upward else below(ball), Fraction(0))

    def moments(self) -> tuple[float, float]:
        """Mean and variance of the loss in doubles: for choosing a grid, they decide nothing."""
        unit = 1 << self.bits
        weights = [mass / unit for mass in self.masses]
        top, step = float(self.top), float(self.step)
        losses = [top - i * step for i in range(len(weights))]
        mean = sum(w * loss for w, loss in zip(weights, losses, strict=True))
        return mean, max(sum(w * (loss - mean) ** 2 for w, loss in zip(weights, losses, strict=True)), 0.0)

    def _rational_place(self) -> tuple[Fraction, Fraction]:
        """Rational top and step that move no loss the wrong way."""
        return _towards(self.top, self.upward), _towards(self.step, not self.upward)


def _reach(masses: tuple[int, ...], tail: int) -> tuple[int, int]:
    """How many masses from the front sum to at most `tail`, leaving at least one, and their sum."""
    total = 0
    for index, mass in enumerate(masses):
        if total + mass > tail or index == len(masses) - 1:
            return index, total
        total += mass
    return 0, 0


def _towards(number: Exact, up: bool) -> Fraction:
    if isinstance(number, LogSum):
        ball = evaluate(number.ball, 320)
        number = above(ball) if up else below(ball)
    rounded = ceil(number * (1 << 256)) if up else floor(number * (1 << 256))
    return number if number.denominator.bit_length() <= 256 else Fraction(rounded, 1 << 256)


@lru_cache(maxsize=8)
def _split_weights(step: Fraction) -> tuple[tuple[int, int], ...]:
    """Bounds over 2^64 of the share (1 − e^-f)/(1 − e^-step) that goes up, for f = 0, step/1024, …, step."""

    def share(place: int) -> tuple[int, int]:
        ball = evaluate(
            lambda: of_fraction(-step * place / _FINE).expm1() / of_fraction(-step).expm1(), 2 * _WEIGHT_BITS
        )
        low, high = scaled_bounds(ball, _WEIGHT_BITS)
        return max(low, 0), min(high, 1 << _WEIGHT_BITS)

    return tuple(share(place) for place in range(_FINE + 1))
