"""The continuous extension: answers in [0, 1], smaller ones preferred, first-order dominance.

The proof for finitely many colours carries over word for word to distribution functions F on [0, 1]:

    (TF)(x) = min{1, λ·F(x) + δ, 1 − (1 − F(x) − δ)/λ}    for 0 ≤ x ≤ 1

is (ε, δ)-close to F both ways, lies above every distribution function that is, and keeps the order
(docs/theory/continuous_rainbow.md). A δ > 0 puts an atom at 0, the best answer. On piecewise-linear F it is exact: T is
piecewise linear in F, so new corners appear only where F passes (1 − δ)/(λ + 1) and 1 − δ.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from leastnoise.errors import BadBoundary
from leastnoise.exact.parameters import NumberLike, read_integer, read_rational
from leastnoise.mechanisms.rainbow.rainbow_operator import Operator

__all__ = ["PiecewiseLinearLaw", "raise_law"]

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
