"""T^t at once: each prefix sum grows along λ·s + δ until its switch time, then its complement shrinks.

With ρ = δ/(λ − 1), c = (1 − δ)/(λ + 1) and τ the first t with s^t ≥ c:

    s^t = λ^t·(s⁰ + ρ) − ρ                                 for t ≤ τ,
    s^t = min{1, 1 + ρ − λ^(τ−t)·(1 + ρ − s^τ)}            for t ≥ τ,
    τ = ⌈ln((c + ρ)/(s⁰ + ρ)) / ln λ⌉, or 0 if s⁰ ≥ c.

This puts right (21) and (22) of Gu et al. 2024, whose second line has λρ in place of ρ; for δ = 0 it is their (18) and
(19). For λ = 1 both lines are min{1, s⁰ + t·δ}. Proof: docs/theory/rainbow_operator.md.

Answers may also be numbers in [0, 1], smaller ones preferred. The proof for finitely many colours carries over word for
word to distribution functions F on [0, 1]:

    (TF)(x) = min{1, λ·F(x) + δ, 1 − (1 − F(x) − δ)/λ}    for 0 ≤ x ≤ 1

is (ε, δ)-close to F both ways, lies above every distribution function that is, and keeps the order
(docs/theory/continuous_rainbow.md). A δ > 0 puts an atom at 0, the best answer. On piecewise-linear F it is exact: T is
piecewise linear in F, so new corners appear only where F passes (1 − δ)/(λ + 1) and 1 − δ.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from math import ceil
from typing import NamedTuple

from leastnoise.errors import BadBoundary, TooLarge
from leastnoise.exact import (
    Ball,
    Enclosure,
    NumberLike,
    above,
    below,
    evaluate,
    of_fraction,
    read_integer,
    read_rational,
    refine,
    scaled_bounds,
)
from leastnoise.mechanisms.rainbow.rainbow_operator import (
    Distribution,
    Operator,
    from_prefix_sums,
    prefix_sums,
    read_distribution,
)

__all__ = [
    "Phases",
    "PiecewiseLinearLaw",
    "after",
    "phases",
    "prefix_sum_after",
    "raise_law",
    "switch_time",
    "switch_times",
]

_CHEAP_BITS = 1 << 12  # of a power of λ: below it exact arithmetic costs no more than balls
_MOST_BITS = 1 << 26  # beyond it a power of λ is not written out
_ZERO, _ONE = Fraction(0), Fraction(1)


class Phases(NamedTuple):
    """When one colour's probability changes its ways; None is never.

    Before `first_ends` its own prefix sum and the one before it both grow exponentially; until `second_ends` the one
    before still grows while the complement of its own shrinks; afterwards both complements shrink.
    """

    first_ends: int | None
    second_ends: int | None


@lru_cache(maxsize=4096)
def switch_time(operator: Operator, prefix_sum: Fraction) -> int | None:
    """τ, the first number of steps after which the prefix sum has reached the crossing; None is never.

    >>> switch_time(Operator("ln(6/5)", "1/1000"), Fraction("0.0005"))
    25
    """
    operator.require_corrected()
    factor, delta, goal = operator.factor, operator.delta, operator.crossing
    if prefix_sum >= goal:
        return 0
    if factor == 1:
        return ceil((goal - prefix_sum) / delta) if delta else None
    drift = delta / (factor - 1)
    if prefix_sum + drift == 0:
        return None
    ratio = (goal + drift) / (prefix_sum + drift)
    for ball in refine(lambda: of_fraction(ratio).log() / of_fraction(factor).log()):
        least, most = ceil(below(ball)), ceil(above(ball))
        if least == most:
            return most
        if most == least + 1 and _is_power(ratio, factor, least):
            return least
    raise AssertionError("refine either yields or raises")


def _is_power(ratio: Fraction, factor: Fraction, exponent: int) -> bool:
    """Whether ratio = factor^exponent; a power that is longer than the ratio is not computed."""
    if exponent * (factor.numerator.bit_length() - 1) > ratio.numerator.bit_length():
        return False
    return factor**exponent == ratio


def switch_times(operator: Operator, distribution: Sequence[NumberLike]) -> tuple[int | None, ...]:
    """τ_k for every colour, best first; they do not increase, and the last is 0.

    >>> switch_times(Operator("ln(6/5)"), ["0.0005", "0.0081", "0.1364", "0.2727", "0.5823"])
    (38, 22, 7, 1, 0)
    """
    return tuple(switch_time(operator, s) for s in prefix_sums(read_distribution(distribution)))


def phases(operator: Operator, distribution: Sequence[NumberLike]) -> tuple[Phases, ...]:
    """The three phases of each colour's probability s_k − s_{k−1}; the first colour has no third, the last no first.

    >>> phases(Operator("ln(6/5)"), ["0.1364", "0.8636"])
    (Phases(first_ends=7, second_ends=None), Phases(first_ends=0, second_ends=7))
    """
    times = switch_times(operator, distribution)
    return tuple(Phases(own, before) for own, before in zip(times, (None, *times), strict=False))


def after(operator: Operator, distribution: Sequence[NumberLike], steps: NumberLike) -> Distribution:
    """T^steps of a distribution, exactly.

    Raises:
        TooLarge: The exact rationals would be too long to write out; `prefix_sum_after` encloses them.

    >>> after(Operator("ln(2)"), ["1/8", "7/8"], 3)
    (Fraction(3, 4), Fraction(1, 4))
    """
    count = read_integer(steps, "steps", at_least=0)
    sums = prefix_sums(read_distribution(distribution))
    return from_prefix_sums([_exactly(operator, s, *_split(operator, s, count)) for s in sums])


def prefix_sum_after(operator: Operator, prefix_sum: Fraction, steps: int, bits: int = 64) -> Enclosure:
    """One prefix sum after any number of steps: exact if that is cheap, else within 2^-bits.

    >>> prefix_sum_after(Operator(1), Fraction(1, 3), 10**9).lower > 1 - Fraction(1, 10**18)
    True
    """
    growing, shrinking = _split(operator, prefix_sum, steps)
    if prefix_sum == 1 or (growing + shrinking) * _length(operator.factor) <= _CHEAP_BITS:
        value = _exactly(operator, prefix_sum, growing, shrinking)
        return Enclosure(value, value)
    precision = bits + steps.bit_length() + 32
    while True:
        gap = evaluate(lambda: _gap_ball(operator, prefix_sum, growing, shrinking), precision)
        low, high = scaled_bounds(gap, bits + 2)
        if high - low <= 4:
            break
        precision *= 2
    whole = 1 << (bits + 2)
    return Enclosure(Fraction(whole - max(high, 0), whole), Fraction(whole - max(low, 0), whole))


def _split(operator: Operator, prefix_sum: Fraction, steps: int) -> tuple[int, int]:
    """How many steps the prefix sum grows, and for how many its complement shrinks."""
    switch = switch_time(operator, prefix_sum)
    growing = steps if switch is None else min(steps, switch)
    return growing, steps - growing


def _exactly(operator: Operator, prefix_sum: Fraction, growing: int, shrinking: int) -> Fraction:
    factor, delta = operator.factor, operator.delta
    if prefix_sum == 1:
        return _ONE
    if (growing + shrinking) * _length(factor) > _MOST_BITS:
        raise TooLarge(
            "the exact probabilities after so many steps are too long to be written out",
            given=f"{growing + shrinking} steps",
            fix="ask for prefix_sum_after, which encloses them",
        )
    up, down = factor**growing, 1 / factor**shrinking
    reached = up * prefix_sum + delta * (growing if factor == 1 else (up - 1) / (factor - 1))
    gap = down * (1 - reached) - delta * (shrinking if factor == 1 else (1 - down) / (factor - 1))
    return 1 - max(_ZERO, gap)


def _gap_ball(operator: Operator, prefix_sum: Fraction, growing: int, shrinking: int) -> Ball:
    """1 − s^t, or a negative number where s^t = 1; λ > 1, for one step of λ = 1 is always cheap."""
    drift = of_fraction(operator.delta / (operator.factor - 1))
    factor, start = of_fraction(operator.factor), of_fraction(prefix_sum)
    reached = factor**growing * (start + drift) - drift
    return (1 - reached + drift) / factor**shrinking - drift


def _length(factor: Fraction) -> int:
    return 0 if factor == 1 else max(factor.numerator.bit_length(), factor.denominator.bit_length())


Corner = tuple[Fraction, Fraction]


@dataclass(frozen=True, init=False)
class PiecewiseLinearLaw:
    """A law on [0, 1] by the corners of its distribution function; two corners above each other are an atom.

    Args:
        corners: Points (x, F) from x = 0 to x = 1, neither falling, the last with F = 1. An atom at 0 is where the
            first corner has F > 0.

    >>> uniform = PiecewiseLinearLaw([(0, 0), (1, 1)])
    >>> uniform("1/3"), PiecewiseLinearLaw([(0, "1/2"), (1, 1)]).atom(0)
    (Fraction(1, 3), Fraction(1, 2))
    """

    corners: tuple[Corner, ...]

    def __init__(self, corners: Iterable[tuple[NumberLike, NumberLike]]) -> None:
        read = [
            (read_rational(x, "x", at_least=0, at_most=1), read_rational(height, "F", at_least=0, at_most=1))
            for x, height in corners
        ]
        rising = all(a[0] <= b[0] and a[1] <= b[1] for a, b in pairwise(read))
        if len(read) < 2 or not rising or read[0][0] != 0 or min(read[-1]) != 1:
            raise BadBoundary(
                "corners must rise from x = 0 to (1, 1)", given=f"{len(read)} corners", fix="pass [(0, 0), (1, 1)]"
            )
        object.__setattr__(self, "corners", _without_idle(read))

    def __call__(self, x: NumberLike) -> Fraction:
        """F(x) = P(answer ≤ x)."""
        return self._ends(read_rational(x, "x"))[1]

    def atom(self, x: NumberLike) -> Fraction:
        """P(answer = x)."""
        low, high = self._ends(read_rational(x, "x"))
        return high - low

    def mass(self, low: NumberLike, high: NumberLike) -> Fraction:
        """P(low < answer ≤ high)."""
        return self(high) - self(low)

    def dominates(self, other: PiecewiseLinearLaw) -> bool:
        """Whether F(x) ≥ G(x) everywhere: answers are smaller in the sense of first-order dominance."""
        places = {x for x, _ in (*self.corners, *other.corners)}
        return all(a >= b for x in places for a, b in zip(self._ends(x), other._ends(x), strict=True))

    def _ends(self, x: Fraction) -> tuple[Fraction, Fraction]:
        """F(x−) and F(x)."""
        if x < 0:
            return Fraction(0), Fraction(0)
        if x > 1:
            return Fraction(1), Fraction(1)
        at = [height for place, height in self.corners if place == x]
        if at:
            return (Fraction(0) if x == 0 else at[0]), at[-1]
        (a, low), (b, high) = next((p, q) for p, q in pairwise(self.corners) if p[0] < x < q[0])
        height = low + (high - low) * (x - a) / (b - a)
        return height, height


def raise_law(operator: Operator, law: PiecewiseLinearLaw, steps: NumberLike = 1) -> PiecewiseLinearLaw:
    """T^steps of a piecewise-linear law, exactly.

    >>> raised = raise_law(Operator("ln(2)", "1/10"), PiecewiseLinearLaw([(0, 0), (1, 1)]))
    >>> raised.atom(0), raised("3/10"), raised("9/10")
    (Fraction(1, 10), Fraction(7, 10), Fraction(1, 1))
    """
    kinks = (operator.crossing, 1 - operator.delta)
    corners = law.corners
    for _ in range(read_integer(steps, "steps", at_least=0)):
        fine = [corners[0], *(corner for pair in pairwise(corners) for corner in _cut(*pair, kinks))]
        corners = PiecewiseLinearLaw([(x, operator.raise_sum(height)) for x, height in fine]).corners
    return PiecewiseLinearLaw(corners)


def _cut(start: Corner, end: Corner, heights: tuple[Fraction, ...]) -> list[Corner]:
    """The corners after `start` up to `end`, with one more at each of the heights that lies strictly between."""
    (a, low), (b, high) = start, end
    between = sorted(height for height in heights if low < height < high)
    return [*((a + (b - a) * (height - low) / (high - low), height) for height in between), end]


def _without_idle(corners: list[Corner]) -> tuple[Corner, ...]:
    """Leave out repeated corners and those on the straight line between their neighbours."""
    kept: list[Corner] = []
    for corner in corners:
        if kept and kept[-1] == corner:
            continue
        if len(kept) > 1 and _straight(kept[-2], kept[-1], corner):
            kept.pop()
        kept.append(corner)
    return tuple(kept)


def _straight(a: Corner, b: Corner, c: Corner) -> bool:
    return (b[0] - a[0]) * (c[1] - b[1]) == (c[0] - b[0]) * (b[1] - a[1])
