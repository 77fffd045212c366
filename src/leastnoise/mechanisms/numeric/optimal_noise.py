"""The least (ε, δ)-private noise for a whole number that one person changes by up to Δ, with finitely many values.

Noise X with the law p is private for the sensitivity Δ if Σ_i max(0, p(i) − e^ε·p(i + s)) ≤ δ for s = ±1 … ±Δ. The mean
of p and its mirror image is as private and costs the same, so p is symmetric.

Δ = 1. With a = (e^ε − 1 + 2δ)/(e^ε + 1) and the largest K with a·e^(−εK) ≥ δ,

    p(i) = a·e^(−ε|i|) for |i| ≤ K,   p(±(K + 1)) = (a·e^(−εK) − δ)/(e^ε − 1),   and nothing further out.

It has the least expected loss of all laws, for every loss that does not fall with |i|; docs/theory/optimal_noise.md has
the proof.

Δ > 1. A linear program over the masses of 0 … K guesses p. Its dual solution is made exact and bounds every law on the
whole numbers: with 0 ≤ μ_s(i) ≤ ν_s, the mean loss is at least min_i (m(i) + Σ_s (μ_s(i) − λ·μ_s(i − s))) − δ·Σ_s ν_s.

Masses are rationals for a rational λ ≤ e^ε. Whether they keep the promise is computed without any rounding
when the mechanism is made; a law that does not is never handed out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from leastnoise.errors import BadParameter, LeastNoiseError
from leastnoise.exact import (
    Enclosure,
    Exact,
    NumberLike,
    Size,
    Source,
    categorical,
    exact_exp,
    exp_enclosure,
    read_integer,
    read_rate,
    read_rational,
)
from leastnoise.mechanisms.numeric.integer_noise import IntegerNoise, power_of
from leastnoise.model import (
    Approximate,
    Certificate,
    Channel,
    FloatGuess,
    Loss,
    Privacy,
    PrivacyCertificate,
    Reason,
    absolute,
    guess_optimum,
)
from leastnoise.model.graphs import from_edges

__all__ = ["OptimalNoise", "needed_delta"]

_BITS = 256
_ONE = 1 << _BITS
_LONGEST = 2048  # bits of a mass; longer ones are put on the grid of 2^-256
_LESS = (1e-9, 1e-7, 1e-5, 1e-3)  # of δ, left free for what the solver rounds
_LEAST_DELTA = Fraction(1, 1 << 60)
_MOST_VALUES = 5_000  # on one side
_MOST_CELLS = 4_000  # of the program: values on one side times Δ
_MOST_BITS = 1000  # between the largest and the least mass of the program, which are doubles
_SHOWN = 40  # values on one side for which the certificate holds the whole law


def needed_delta(masses: Sequence[Fraction], growth: Fraction, sensitivity: int) -> Fraction:
    """The least δ for which the symmetric law with these masses at 0, 1, 2, … is private, at e^ε = growth, exactly.

    >>> needed_delta([Fraction(1, 2), Fraction(1, 4)], Fraction(2), 1)
    Fraction(1, 4)
    """
    last = len(masses) - 1
    worst = Fraction(0)
    for step in range(1, sensitivity + 1):
        excess = Fraction(0)
        for i in range(-last, last + 1):
            far = abs(i + step)
            more = masses[abs(i)] - (growth * masses[far] if far <= last else 0)
            if more > 0:
                excess += more
        worst = max(worst, excess)
    return worst


@dataclass(frozen=True, init=False)
class OptimalNoise(IntegerNoise):
    """A whole number plus the least noise for (epsilon, delta).

    Args:
        epsilon: The privacy of one release.
        delta: From 2^-60 to below 1.
        sensitivity: Δ, the most that one person can change the answer.
        loss: What is least, absolute, squared or zero_one; for Δ = 1 the same noise is the best for all of them.

    Raises:
        BadParameter: There would be too many values, or the program for Δ > 1 has no answer that can be made exact.

    >>> noise = OptimalNoise("ln(2)", "1/12")
    >>> [str(noise.noise_pmf(k).lower) for k in range(2)], float(noise.moment(1))
    (['7/18', '7/36'], 0.8611111111111112)
    """

    name: ClassVar[str] = "optimal noise"
    epsilon: Exact
    delta: Fraction
    sensitivity: int
    masses: tuple[Fraction, ...]
    bound: Enclosure

    def __init__(
        self, epsilon: NumberLike, delta: NumberLike, sensitivity: NumberLike = 1, loss: Loss = absolute
    ) -> None:
        rate, order = read_rate(epsilon, "epsilon"), power_of(loss)
        allowed = read_rational(delta, "delta", at_least=_LEAST_DELTA, below=1)
        change = read_integer(sensitivity, "sensitivity", at_least=1)
        exact = exact_exp(rate)
        near = exp_enclosure(rate, 64)
        low, high = (near.lower, near.upper) if exact is None else (exact, exact)
        if change == 1:
            masses = _truncated(low, allowed)
            best = _truncated_loss(high, allowed, order)
        else:
            masses, best = _by_program(low, high, allowed, change, order)
        total = sum(masses[1:], start=Fraction(0)) * 2 + masses[0]
        if min(masses) < 0 or total != 1 or needed_delta(masses, low, change) > allowed:
            raise LeastNoiseError("a law that is not private was found", fix="report this")
        object.__setattr__(self, "epsilon", rate)
        object.__setattr__(self, "delta", allowed)
        object.__setattr__(self, "sensitivity", change)
        object.__setattr__(self, "masses", masses)
        own = 2 * sum((i**order * mass for i, mass in enumerate(masses) if i), start=Fraction(0))
        object.__setattr__(self, "bound", Enclosure(min(best, own), own))

    @property
    def event(self) -> Approximate:
        """That of one release."""
        return Approximate(self.epsilon, self.delta)

    def noise(self, size: Size = None, source: Source | None = None) -> Any:
        """Draw X by its exact masses."""
        drawn = categorical(self._weights, size, source)
        return int(drawn) - len(self.masses) + 1 if size is None else np.asarray(drawn) - (len(self.masses) - 1)

    @property
    def _weights(self) -> list[Fraction]:
        return [*reversed(self.masses[1:]), *self.masses]

    def noise_pmf(self, noise: int, bits: int = 64) -> Enclosure:  # noqa: ARG002 - exact at any precision
        """P(X = noise), exactly."""
        mass = self.masses[abs(noise)] if abs(noise) < len(self.masses) else Fraction(0)
        return Enclosure(mass, mass)

    def tail(self, least: int, bits: int = 64) -> Enclosure:  # noqa: ARG002 - exact at any precision
        """P(X ≥ least), exactly."""
        mass = sum(self.masses[least:], start=Fraction(0))
        return Enclosure(mass, mass)

    def moment(self, order: int, bits: int = 64) -> Enclosure:  # noqa: ARG002 - exact at any precision
        """E|X|^order, and P(X ≠ 0) for order 0, exactly."""
        mean = 2 * sum((i**order * mass for i, mass in enumerate(self.masses) if i), start=Fraction(0))
        return Enclosure(mean, mean)

    def reason(self) -> Reason:
        """Optimal among all noise with this privacy."""
        return Reason(
            "of all noise on the whole numbers with this (ε, δ) and sensitivity none has a smaller expected loss than "
            "the bound, which the dual of the program proves",
            "Geng, Ding, Guo and Kumar, Tight analysis of privacy and utility tradeoff in approximate differential "
            "privacy, AISTATS 2020, for the question; the proof is on docs/theory/optimal_noise.md",
            Enclosure(self.bound.lower, self.bound.lower),
        )

    def certificate(self) -> Certificate:
        """The law on answers from 0 to twice the sensitivity, outputs far out merged: private, by an exact channel."""
        reach, last = self.sensitivity, len(self.masses) - 1
        answers = range(2 * reach + 1)
        shown = min(last, _SHOWN + reach)
        outputs = range(-shown, 2 * reach + shown + 1)
        edges = [(x, y) for x in answers for y in answers if 0 < y - x <= reach]
        rows = []
        for x in answers:
            inside = [self.noise_pmf(y - x).lower for y in outputs]
            below = self.tail(x - outputs[0] + 1).lower
            rows.append([below, *inside, 1 - below - sum(inside, start=Fraction(0))])
        names = ["below", *outputs, "above"]
        return PrivacyCertificate(from_edges(edges), Privacy(self.epsilon, self.delta), Channel(rows, answers, names))


def _closed_form(growth: Fraction, delta: Fraction) -> tuple[list[Fraction], bool]:
    """p(0) … p(K + 1) for Δ = 1, exactly or rounded down, and which of the two.

    Any K gives masses whose mean loss is what its dual solution proves; the K that is taken makes them a law.
    """
    top = (growth - 1 + 2 * delta) / (growth + 1)
    masses = [top]
    exact = True
    while masses[-1] >= delta * growth:  # the next one is no less than δ
        following = masses[-1] / growth
        if following.denominator.bit_length() > _LONGEST:
            following, exact = Fraction(int(following * _ONE), _ONE), False
        masses.append(following)
        if len(masses) > _MOST_VALUES:
            raise BadParameter(
                f"the noise would have more than {_MOST_VALUES:,} values on one side",
                given=f"delta={float(delta):.3g}",
                fix="use a larger epsilon or delta, or Geometric, which needs no delta",
            )
    rest = (masses[-1] - delta) / (growth - 1)
    return [*masses, rest if exact else Fraction(int(rest * _ONE) - 1, _ONE)], exact


def _truncated(growth: Fraction, delta: Fraction) -> tuple[Fraction, ...]:
    """The law for Δ = 1: exact where the fractions are short, else on the grid of 2^-256.

    There δ is taken smaller by 2^-50 of itself, each mass is at most λ times the next, and what is missing to one goes
    to zero noise.
    """
    masses, exact = _closed_form(growth, delta)
    if not exact:
        masses, _ = _closed_form(growth, delta * (1 - Fraction(1, 1 << 50)))
        for i in range(len(masses) - 3, -1, -1):
            masses[i] = Fraction(int(growth * masses[i + 1] * _ONE), _ONE)
        masses[-1] = max(masses[-1], Fraction(0))
        masses[0] += 1 - masses[0] - 2 * sum(masses[1:], start=Fraction(0))
    return tuple(masses if masses[-1] else masses[:-1])


def _truncated_loss(growth: Fraction, delta: Fraction, order: int) -> Fraction:
    """What no noise for Δ = 1 beats where e^ε ≤ growth: the mean loss of the masses, which are not rounded up."""
    masses, _ = _closed_form(growth, delta)
    return 2 * sum((i**order * mass for i, mass in enumerate(masses) if i), start=Fraction(0))


def _by_program(
    low: Fraction, high: Fraction, delta: Fraction, change: int, order: int
) -> tuple[tuple[Fraction, ...], Fraction]:
    """A law for Δ > 1 that is private at e^ε = low, and what no noise beats where e^ε ≤ high."""
    if change**2 > _MOST_CELLS:
        raise _too_large(change)
    blocks = len(_closed_form(low, delta / change)[0])
    power = (low.numerator // low.denominator).bit_length() - 1  # e^ε is 2^power at least
    if power * (blocks + 1) > _MOST_BITS:
        raise BadParameter(
            "the program for this noise would need numbers that no double holds",
            given=f"e^epsilon above 2^{power}",
            fix="use a smaller epsilon, or Staircase",
        )
    program = _Program(float(low), change, change * (blocks + 1), order)
    for less in _LESS:
        guess = program.solve(float(delta) * (1 - less))
        if guess is None:
            continue
        masses = program.law(guess.point)
        if masses[0] >= 0 and needed_delta(masses, low, change) <= delta:
            return masses, program.bound(guess.prices, high, delta)
    raise BadParameter(
        "the program for this noise could not be made exact",
        given=f"delta={float(delta):.3g}, sensitivity={change}",
        fix="use a larger delta, or Staircase, which needs none",
    )


def _too_large(change: int) -> BadParameter:
    return BadParameter(
        "the program for this noise would be too large",
        given=f"sensitivity={change}",
        fix="use a larger epsilon, a coarser unit, or Staircase",
    )


class _Program:
    """min Σ m(|i|)·p(|i|) over masses p(0) … p(K) and slacks u_s(i): p(|i|) − λ·p(|i + s|) ≤ u_s(i), Σ_i u_s(i) ≤ δ.

    All unknowns and rows are in units of what they are expected to be, e^(−ε|i|/Δ): far out doubles see them as well.
    """

    def __init__(self, growth: float, change: int, last: int, order: int) -> None:
        if last * change > _MOST_CELLS:
            raise _too_large(change)
        self.growth, self.change, self.last, self.order = growth, change, last, order
        self.units = growth ** (-np.arange(last + 1) / change)
        self.cells = [(s, i) for s in range(1, change + 1) for i in range(-last, last + 1)]

    def solve(self, delta: float) -> FloatGuess | None:
        from scipy.sparse import csc_array

        count, width = len(self.cells), self.last + 1
        rows, columns, values = [], [], []
        for row, (s, i) in enumerate(self.cells):
            near, far, unit = abs(i), abs(i + s), self.units[abs(i)]
            entries = [(near, 1.0), (width + row, -1.0)]
            if far <= self.last:
                entries.append((far, -self.growth * self.units[far] / unit))
            for column, value in entries:
                rows.append(row)
                columns.append(column)
                values.append(value)
            rows.append(count + s - 1)
            columns.append(width + row)
            values.append(unit / delta)
        sides = np.where(np.arange(width) > 0, 2.0, 1.0) * self.units
        cost = np.zeros(width + count)
        cost[1:width] = (np.arange(width) ** self.order * sides)[1:]
        rows.extend([count + self.change] * width)
        columns.extend(range(width))
        values.extend(sides.tolist())
        matrix = csc_array((values, (rows, columns)), shape=(count + self.change + 1, width + count))
        most = np.concatenate([np.zeros(count), np.ones(self.change + 1)])
        least = np.append(np.full(count + self.change, -np.inf), 1.0)
        return guess_optimum(cost, matrix, least, most)

    def law(self, point: Any) -> tuple[Fraction, ...]:
        """The masses on the grid; zero noise takes what is left."""
        floats = np.maximum(point[: self.last + 1], 0.0) * self.units
        whole = [int(Fraction(mass) * _ONE) if mass > 1e-30 else 0 for mass in floats.tolist()]
        while len(whole) > 1 and not whole[-1]:
            whole.pop()
        whole[0] = _ONE - 2 * sum(whole[1:])
        return tuple(Fraction(mass, _ONE) for mass in whole)

    def bound(self, prices: Any, growth: Fraction, delta: Fraction) -> Fraction:
        """What the solver's prices prove of every law: taken for shifts in both directions, half each.

        Beyond K to the right a multiplier is as large as its shift's largest one, to the left it is zero; from K + Δ on
        the terms grow with i.
        """
        unit, last = 1 << 80, self.last
        held: dict[tuple[int, int], Fraction] = {}
        most = dict.fromkeys(range(1, self.change + 1), Fraction(0))
        for (s, i), price in zip(self.cells, prices.tolist(), strict=False):
            held[s, i] = Fraction(int(max(0.0, -price) / self.units[abs(i)] * unit), unit)
            most[s] = max(most[s], held[s, i])

        def at(s: int, i: int) -> Fraction:
            return held[s, i] if -last <= i <= last else most[s] if i > last else Fraction(0)

        def term(i: int) -> Fraction:
            return sum((at(s, i) - growth * at(s, i - s) for s in most), start=Fraction(0))

        costs = (
            (Fraction(i**self.order) if i else Fraction(0)) + (term(i) + term(-i)) / 2
            for i in range(last + self.change + 2)
        )
        return min(costs) - delta * sum(most.values())
