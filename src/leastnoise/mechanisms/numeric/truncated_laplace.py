"""The truncated Laplace mechanism for a real answer in [a, b], seen through T equal cells.

Truncated: density λ/2·e^(−λ|z − x|), λ = ε/Δ, inside, and atoms ½e^(−λ(x − a)) at a and ½e^(−λ(b − x)) at b
(Fernandes, McIver and Morgan, LICS 2021, Definition 4, here with the signs of the exponents put right). Only the cell
of z is drawn, exactly, and released as its midpoint (their equation 12): post-processing of the continuous mechanism,
so ε-private, and even e^(ε|x − x'|/Δ)-close for any two answers. It needs no rounding of the answer.

What the cells cost: for every prior on the T + 1 cell borders and every legal loss that is κ-Lipschitz, the reader
loses at most c·κ(b − a)/T more than with the best private mechanism, c = 3/(1 − e^(−ε(b − a)/Δ))² (their Theorems 13
and 14). And for every prior and every loss of at least zero the reader loses at most e^(ε·g/Δ) times what the uncut
mechanism loses, g = (b − a)/T: the likelihoods e^(−λ|z − x|) of two z in one cell differ by no more than that factor,
so the guess that is best for one z is nearly so for the cell.
"""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from leastnoise.errors import BadParameter
from leastnoise.exact import (
    Ball,
    Enclosure,
    Exact,
    NumberLike,
    Size,
    Source,
    at_alpha,
    ball_of,
    enclose,
    exp_enclosure,
    larger,
    of_fraction,
    pixelated_laplace,
    pixelated_laplace_cdf,
    pixelated_laplace_pmf,
    read_integer,
    read_rate,
    read_rational,
    scaled,
)
from leastnoise.mechanisms.numeric.lattice_laplace import RealLattice, read_length
from leastnoise.mechanisms.truths import read_real
from leastnoise.model import (
    LEVEL,
    Certificate,
    ErrorEstimate,
    LaplaceNoise,
    Mechanism,
    Privacy,
    PrivacyCertificate,
    Reason,
)
from leastnoise.model.graphs import from_distance

__all__ = ["TruncatedLaplace"]

_STEPS = 1000
_MOST_SHOWN = 8  # cells in a certificate


@dataclass(frozen=True, init=False)
class TruncatedLaplace(Mechanism):
    """A real number in [low, high] plus Laplace noise, kept in the interval and released as the midpoint of its cell.

    Floats are taken as exactly the numbers they are. An answer outside the interval counts as the nearer end.

    Args:
        epsilon: The privacy of one release.
        low: a, public.
        high: b, public.
        sensitivity: Δ, the most that one person can change the answer.
        cells: T, into how many cells the interval is cut.

    >>> share = TruncatedLaplace("4*ln(2)", low=0, high=1, sensitivity=1, cells=4)
    >>> [str(share.pmf(y, 0).lower) for y in (0.125, 0.375, 0.625, 0.875)]
    ['3/4', '1/8', '1/16', '1/16']
    """

    name: ClassVar[str] = "truncated Laplace mechanism"
    epsilon: Exact
    low: Fraction
    high: Fraction
    sensitivity: Fraction
    cells: int

    def __init__(
        self, epsilon: NumberLike, low: NumberLike, high: NumberLike, sensitivity: NumberLike, cells: NumberLike
    ) -> None:
        object.__setattr__(self, "epsilon", read_rate(epsilon, "epsilon"))
        object.__setattr__(self, "low", read_rational(low, "low"))
        object.__setattr__(self, "high", read_rational(high, "high"))
        object.__setattr__(self, "sensitivity", read_length(sensitivity, "sensitivity"))
        object.__setattr__(self, "cells", read_integer(cells, "cells", at_least=1, at_most=1 << 60))
        if self.low >= self.high:
            raise BadParameter(
                "low must be below high", given=f"low={self.low}, high={self.high}", fix="a known answer needs no noise"
            )
        read_length(self.high - self.low, "high − low")
        read_rate(self.cell_rate, "epsilon per cell")

    @classmethod
    def for_extra_loss(
        cls,
        epsilon: NumberLike,
        low: NumberLike,
        high: NumberLike,
        sensitivity: NumberLike,
        extra_loss: NumberLike,
        lipschitz: NumberLike = 1,
    ) -> TruncatedLaplace:
        """The fewest cells for which the bound of Theorem 14 is at most `extra_loss`.

        >>> TruncatedLaplace.for_extra_loss(1, 0, 100, sensitivity=1, extra_loss=0.5).cells
        601
        """
        extra = read_rational(extra_loss, "extra_loss", above=0)
        one_cell = cls(epsilon, low, high, sensitivity, 1).lattice_loss(lipschitz)
        return cls(epsilon, low, high, sensitivity, math.ceil(one_cell.upper / extra))

    @property
    def step(self) -> Fraction:
        """The width of a cell."""
        return (self.high - self.low) / self.cells

    @property
    def cell_rate(self) -> Exact:
        """λ·g: how much privacy the width of one cell is worth."""
        return self.epsilon * (self.step / self.sensitivity)

    @property
    def event(self) -> LaplaceNoise:
        """That of one release; continuous noise may claim any number of steps, so it claims many."""
        return LaplaceNoise(self.epsilon, steps=_STEPS)

    def lattice_loss(self, lipschitz: NumberLike = 1, bits: int = 64) -> Enclosure:
        """c·κ(b − a)/T: what the cells cost at most, for a loss that changes by at most κ per unit of the answer."""
        kappa = read_rational(lipschitz, "lipschitz", above=0)
        constant = at_alpha(self.epsilon * ((self.high - self.low) / self.sensitivity), _constant, bits)
        return scaled(constant, kappa * self.step)

    def lattice_factor(self, bits: int = 64) -> Enclosure:
        """e^(ε·g/Δ): the factor by which cells can raise any reader's loss of at least zero, at most."""
        return exp_enclosure(self.cell_rate, bits)

    @property
    def _midpoints(self) -> RealLattice:
        return RealLattice(self.step, self.low + self.step / 2)

    def _place(self, truth: Any) -> Fraction:
        """Where the answer lies, in cells from the low end."""
        return (min(max(read_real(truth), self.low), self.high) - self.low) / self.step

    def draw(self, truth: Any, size: Size = None, source: Source | None = None) -> Any:
        """Draw a cell, as the double nearest to its midpoint."""
        drawn = pixelated_laplace(self._place(truth), self.cell_rate, size, source)
        if size is None:
            return self._midpoints.double(min(max(drawn, 0), self.cells - 1))
        return self._midpoints.doubles(np.clip(drawn, 0, self.cells - 1))

    def pmf(self, output: Hashable, truth: Any, bits: int = 64) -> Enclosure:
        """P(output | truth) for a double, or for any number by the double nearest to it."""
        place, found = self._place(truth), self._midpoints.places(float(read_real(output)))
        cells = range(max(found.start, 0), min(found.stop, self.cells)) if found else found
        if len(cells) == 1 and 0 < cells[0] < self.cells - 1:
            return pixelated_laplace_pmf(cells[0], place, self.cell_rate, bits)
        if not cells:
            return Enclosure(Fraction(0), Fraction(0))
        up_to, before = self._below(cells[-1] + 1, place, bits), self._below(cells[0], place, bits)
        return Enclosure(max(up_to.lower - before.upper, Fraction(0)), up_to.upper - before.lower)

    def _below(self, cell: int, place: Fraction, bits: int) -> Enclosure:
        """P(a cell below `cell` | place)."""
        if cell <= 0 or cell >= self.cells:
            share = Fraction(cell > 0)
            return Enclosure(share, share)
        return pixelated_laplace_cdf(cell - 1, place, self.cell_rate, bits)

    def error_at(self, truth: Any, bits: int = 64) -> Enclosure:
        """The expected absolute error at one answer.

        In cells, with the answer at u, midpoints j + ½ and j₀ = ⌊u + ½⌋ the first cell whose midpoint is above u:
        (j₀ + ½ − u)·P(J ≥ j₀) + Σ_{j>j₀} P(J ≥ j) + (u − j₀ + ½)·P(J < j₀) + Σ_{j<j₀} P(J < j).
        """
        place, last = self._place(truth), self.cells - 1
        first = math.floor(place + Fraction(1, 2))

        def tails(distance: Fraction, count: int) -> Ball:
            """½e^(−λ·distance) and the next, `count` of them, one cell further each."""
            rate = ball_of(self.cell_rate)
            return (-rate * of_fraction(distance)).exp() * (-rate * count).expm1() / (-rate).expm1() / 2

        def expectation() -> Ball:
            beyond, before = tails(first + 1 - place, max(last - first, 0)), tails(place - first + 1, max(first - 1, 0))
            below = self._below_ball(first, place)
            above_part = of_fraction(first + Fraction(1, 2) - place) * (1 - below)
            return above_part + of_fraction(place - first + Fraction(1, 2)) * below + beyond + before

        return scaled(enclose(expectation, bits), self.step)

    def _below_ball(self, cell: int, place: Fraction) -> Ball:
        if cell <= 0 or cell >= self.cells:
            return of_fraction(int(cell > 0))
        tail = (-ball_of(self.cell_rate) * of_fraction(abs(cell - place))).exp() / 2
        return tail if cell <= place else 1 - tail

    def error(self) -> ErrorEstimate:
        """A bound of the expected absolute error for all truths, reached if T is even, and a bound of its quantile.

        Between the midpoints of the first and last cells the error is g·f(φ) minus what truncation saves, with φ the
        distance from the nearest cell border in cells; f decreases from f(0) = ½coth(λg/2), and the saving is least in
        the middle. In the last half cell the error increases towards the end.
        """
        half, cells = self.cell_rate / 2, self.cells
        middle = at_alpha(half, lambda b: ((1 + b * b) / 2 - b**cells) / (1 - b * b), power=cells)
        end = at_alpha(half, lambda b: (1 + b * b * (1 - b ** (2 * cells - 2)) / (1 - b * b)) / 2, power=2 * cells)
        worst = scaled(larger(middle, end), self.step)
        return ErrorEstimate("absolute", worst, {LEVEL: self.quantile()}, attained=False)

    def quantile(self, level: NumberLike = LEVEL) -> Fraction:
        """An error not exceeded with this probability: that of the noise and half a cell, or the whole interval."""
        share = read_rational(level, "level", above=0, below=1)
        return min(self.reach(share) + self.step / 2, self.high - self.low - self.step / 2)

    def reach(self, level: Fraction, tails: int = 2) -> Fraction:
        """A t for which two tails of the continuous noise beyond t (or one) have at most the mass 1 − level."""
        share = Fraction(tails) / (2 * (1 - level))  # e^(ε·t/Δ) must be that
        if share <= 1:
            return Fraction(0)
        return enclose(lambda: of_fraction(share).log() * of_fraction(self.sensitivity) / ball_of(self.epsilon)).upper

    def reason(self) -> Reason:
        """Optimal among all mechanisms for real answers in an interval, up to the stated cost of the cells."""
        return Reason(
            "the truncated Laplace mechanism has the least expected loss for every continuous prior and every legal "
            "Lipschitz loss, of all mechanisms that are private in the Euclidean metric; the cells cost at most "
            "lattice_loss()",
            "Fernandes, McIver and Morgan, LICS 2021, Theorems 5 and 14",
        )

    def certificate(self) -> Certificate:
        """The law at the borders of up to eight cells, as an exact channel on the line.

        Raises:
            BadParameter: e^(ε·g/Δ) is irrational.
        """
        cells = min(self.cells, _MOST_SHOWN)
        small = TruncatedLaplace(self.epsilon, 0, self.step * cells, self.sensitivity, cells)
        borders = [self.step * i for i in range(cells + 1)]
        outputs = [self.step * (2 * i + 1) / 2 for i in range(cells)]
        line = from_distance([[abs(x - y) / self.sensitivity for y in borders] for x in borders], borders)
        return PrivacyCertificate(line, Privacy(self.epsilon), small.channel(borders, outputs))


def _constant(a: Any) -> Any:
    """3/(1 − α)², the c of Theorem 13."""
    return 3 / ((1 - a) * (1 - a))
