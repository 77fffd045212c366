"""The privacy loss law of every atom: exactly where it has few losses, else bounded from above and from below.

- Pure ε: no ε-private query tells more than randomized response, losses ±ε with odds e^ε : 1.
- Randomized response over k options: ±ε, and 0 for the k − 2 options that neither neighbour holds.
- Laplace noise on a lattice with n steps to the sensitivity, α = e^(−ε/n): the loss is ε(1 − 2j/n) at step j, with mass
  1/(1+α), (1−α)α^j/(1+α) for 0 < j < n, and α^n/(1+α). Its δ(x) is the polygon through 1 − e^((x−ε)/2) at these
  losses, and that curve itself for continuous noise. One step is randomized response.
- Bounded range ε: losses within [t − ε, t] for an unknown t, worst for each x at t = (x + ε)/2, so that
  δ(x) = (1 − e^((x−ε)/2))²/(1 − e^-ε) for |x| ≤ ε (compare Dong, Durfee and Rogers 2020). Below: t = ε/2.
- Discrete Gaussian noise, σ² = n²/(2ρ): the loss is ρ(1 − 2y/n) with mass ∝ e^(−y²/2σ²).
- Gaussian privacy: the loss is N(μ²/2, μ²). Above: the polygon of its δ, with δ beyond the last loss lost. Below: the
  losses rounded down.

A law above a curve is the polygon through its values at evenly spaced losses: convex curves lie below their chords.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise

from leastnoise.composition.gaussian import delta_ball
from leastnoise.composition.loss_distribution import LossDistribution
from leastnoise.composition.normal_form import Atom, Worst
from leastnoise.exact import Ball, Exact, ball_of, evaluate, normal_cdf, of_fraction, scaled_bounds
from leastnoise.model import BoundedRange, GaussianNoise, GaussianPrivacy, LaplaceNoise, Pure, RandomizedResponse

__all__ = ["law_above", "law_below"]

_MOST_LOSSES = 64  # of one query, where its law has more or infinitely many
_FEW, _FEWEST_LOSSES = 256, 12  # of one of many queries, whose losses are convolved again and again
_MOST_GAUSSIAN_LOSSES = 4096
_GAUSSIAN_PIECES = 2048  # of the losses of Gaussian privacy that are kept
_MOST_GAUSSIAN_OUTCOMES = 100_000  # on either side; finer lattices are accounted for by ρ alone


def law_above(atom: Atom, bits: int, tail: int, count: int = 1) -> LossDistribution | None:
    """A law that tells at least as much as the atom, masses over 2^bits; None where there is none.

    Args:
        atom: The query.
        bits: The unit of the masses.
        tail: What may be cut off an infinite support, over 2^bits.
        count: How many such queries will be composed; the laws of many are coarser, and no less valid.

    >>> law = law_above(Pure("ln(3)"), bits=10, tail=0)
    >>> law.top, law.masses
    (ln(3), (769, 257))
    """
    return _law(atom, bits, tail, _losses(count), upward=True)


def law_below(atom: Atom, bits: int, tail: int, count: int = 1) -> LossDistribution | None:
    """A law that some query of the atom's kind tells at least; None where there is none.

    >>> law_below(BoundedRange("ln(9)"), bits=10, tail=0).masses
    (767, 255)
    """
    return _law(atom, bits, tail, _losses(count), upward=False)


def _losses(count: int) -> int:
    """How many losses one of `count` equal queries has at most: so many that they stay quick to convolve."""
    return _MOST_LOSSES if count < _FEW else _FEWEST_LOSSES


def _law(atom: Atom, bits: int, tail: int, losses: int, upward: bool) -> LossDistribution | None:
    if isinstance(atom, GaussianNoise):
        return _gaussian(atom, bits, tail, upward)
    if isinstance(atom, GaussianPrivacy):
        return _continuous_gaussian(atom, bits, tail, upward)
    if not isinstance(atom, Pure | Worst) or atom.epsilon is None or (isinstance(atom, Worst) and not upward):
        return None
    epsilon, pieces, masses = _finite(atom, atom.epsilon, losses, upward)
    return LossDistribution(epsilon, epsilon * Fraction(2, pieces), _integers(masses, bits, upward), bits, upward)


def _finite(
    atom: Pure | Worst, epsilon: Exact, losses: int, upward: bool
) -> tuple[Exact, int, Callable[[], list[Ball]]]:
    """The largest loss, into how many steps the losses from there down to its opposite are cut, and the masses."""
    if isinstance(atom, RandomizedResponse) and atom.options > 2:
        return epsilon, 2, lambda: _response(epsilon, atom.options)
    if isinstance(atom, LaplaceNoise) and 1 < atom.steps <= _MOST_LOSSES:
        return epsilon, atom.steps, lambda: _laplace(epsilon, atom.steps)
    if isinstance(atom, LaplaceNoise) and atom.steps > 1:
        if not upward:
            return epsilon, losses, lambda: _cells(epsilon, losses // 2)
        steps = atom.steps
        return epsilon, losses, lambda: _polygon(epsilon, losses, lambda place: _lattice_delta(epsilon, steps, place))
    if isinstance(atom, BoundedRange) and upward:
        return epsilon, losses, lambda: _polygon(epsilon, losses, lambda place: _range_delta(epsilon, place))
    if isinstance(atom, BoundedRange):
        return epsilon / 2, 1, lambda: _response(epsilon / 2, 2)
    return epsilon, 1, lambda: _response(epsilon, 2)


def _response(epsilon: Exact, options: int) -> list[Ball]:
    odds = ball_of(epsilon).exp()
    weight = odds + options - 1
    return [odds / weight, *([(options - 2) / weight] if options > 2 else []), 1 / weight]


def _laplace(epsilon: Exact, steps: int) -> list[Ball]:
    alpha = (-ball_of(epsilon) / steps).exp()
    inside = [(1 - alpha) * alpha**j / (1 + alpha) for j in range(1, steps)]
    return [1 / (1 + alpha), *inside, alpha**steps / (1 + alpha)]


def _cells(epsilon: Exact, cells: int) -> list[Ball]:
    """Continuous Laplace noise, told only up to a cell of its output: the loss of a cell is that of its middle."""
    edges = [(-ball_of(epsilon) * of_fraction(Fraction(j, cells))).exp() / 2 for j in range(cells + 1)]
    masses = [edges[0]]
    for left, right in pairwise(edges):
        masses += [left - right, of_fraction(0)]
    return [*masses[:-1], edges[-1]]


def _polygon(epsilon: Exact, pieces: int, delta: Callable[[Fraction], Ball]) -> list[Ball]:
    """Masses of the polygon through δ at the losses ε(1 − 2·place), place = 0, 1/pieces, …, 1.

    As a function of e^x, δ has slope 0 beyond e^ε and −1 before e^-ε; the mass under Q is the change of slope.
    """
    places = [Fraction(i, pieces) for i in range(pieces + 1)]
    factors = [(ball_of(epsilon) * of_fraction(1 - 2 * place)).exp() for place in places]
    return _changes_of_slope(factors, [delta(place) for place in places])


def _changes_of_slope(factors: list[Ball], deltas: list[Ball]) -> list[Ball]:
    """The masses under P of a polygon through δ over e^x, of slope 0 after the first point and −1 before the last."""
    chords = zip(pairwise(deltas), pairwise(factors), strict=True)
    inner = [(left - right) / (first - last) for (left, right), (first, last) in chords]
    slopes = [of_fraction(0), *inner, of_fraction(-1)]
    return [factor * (right - left) for factor, (right, left) in zip(factors, pairwise(slopes), strict=True)]


def _range_delta(epsilon: Exact, place: Fraction) -> Ball:
    """(1 − e^((x−ε)/2))²/(1 − e^-ε) at x = ε(1 − 2·place)."""
    return (-ball_of(epsilon) * of_fraction(place)).expm1() ** 2 / -(-ball_of(epsilon)).expm1()


def _lattice_delta(epsilon: Exact, steps: int, place: Fraction) -> Ball:
    """The polygon of n-step Laplace noise at x = ε(1 − 2·place): between the losses of steps j and j + 1."""
    before = place * steps // 1
    share = place * steps - before

    def value(j: int) -> Ball:
        return -(-ball_of(epsilon) * of_fraction(Fraction(j, steps))).expm1()

    if not share:
        return value(before)
    places = (Fraction(before, steps), Fraction(before + 1, steps), place)
    first, last, here = ((ball_of(epsilon) * of_fraction(1 - 2 * at)).exp() for at in places)
    weight = (first - here) / (first - last)
    return value(before) * (1 - weight) + value(before + 1) * weight


def _gaussian(atom: GaussianNoise, bits: int, tail: int, upward: bool) -> LossDistribution | None:
    """Outcomes −Y…Y. Beyond them each weight is at most the one before times the ratio at Y, a geometric sum."""
    variance = Fraction(atom.steps**2) / (2 * atom.rho)
    depth = bits - max(tail, 1).bit_length() + 2
    last = math.isqrt(int(2 * variance * depth * Fraction(7, 10)) + 1) + 2
    if last > _MOST_GAUSSIAN_OUTCOMES:
        return None
    (low, _), (high, ratio) = (_gaussian_weights(variance, last, bits + 64, up) for up in (False, True))
    unit = 1 << (bits + 64)
    beyond = -(-high[-1] * ratio // (unit - ratio))
    if upward:
        total = 2 * sum(low) - low[0]
        side = [-((-weight << bits) // total) for weight in high]
        lost = -((-beyond << bits) // total)
    else:
        total = 2 * (sum(high) + beyond) - high[0]
        side, lost = [(weight << bits) // total for weight in low], 0
    masses = [*side[:0:-1], *side]
    masses[-1] += lost  # the least losses of a law above, moved up to the least one kept
    step = 2 * atom.rho / atom.steps
    law = LossDistribution(atom.rho + step * last, step, tuple(masses), bits, upward, lost).trimmed(tail)
    return law if len(law.masses) <= _MOST_GAUSSIAN_LOSSES else law.regridded(step * (len(law.masses) // 1024))


def _continuous_gaussian(atom: GaussianPrivacy, bits: int, tail: int, upward: bool) -> LossDistribution:
    """Losses within z·μ of the mean on an even grid, where what is beyond z is about as small as the tail."""
    depth = max(bits - max(tail, 1).bit_length(), 1)
    mu = Fraction(math.sqrt(atom.mu_squared))  # any grid is valid; this one fits
    step = mu * Fraction(math.sqrt(1.4 * depth) + 1) * 2 / _GAUSSIAN_PIECES
    top = atom.rho + step * (_GAUSSIAN_PIECES // 2)
    losses = [top - step * i for i in range(_GAUSSIAN_PIECES + 1)]

    def above() -> list[Ball]:
        deltas = [delta_ball(atom.mu_squared, loss) for loss in losses]
        return [deltas[0], *_changes_of_slope([of_fraction(loss).exp() for loss in losses], deltas)]

    def below() -> list[Ball]:
        scale = of_fraction(atom.mu_squared).sqrt()
        chances = [normal_cdf(of_fraction(atom.rho - loss) / scale) for loss in losses]  # of a loss above this one
        return [of_fraction(0), chances[0], *(second - first for first, second in pairwise(chances))]

    lost, *masses = _integers(above if upward else below, bits, upward)
    return LossDistribution(top, step, tuple(masses), bits, upward, lost)


def _gaussian_weights(variance: Fraction, last: int, bits: int, up: bool) -> tuple[list[int], int]:
    """e^(−y²/2σ²)·2^bits for y = 0…last, rounded one way, and the ratio of the next weight to the last.

    The ratio from y to y + 1 is e^(−(2y+1)/2σ²), and ratios shrink by e^(−1/σ²): two products per weight.
    """

    def bound(exponent: Fraction) -> int:
        low, high = scaled_bounds(evaluate(lambda: of_fraction(exponent).exp(), bits + 32), bits)
        return high if up else low

    weight, ratio, shrink = 1 << bits, bound(-1 / (2 * variance)), bound(-1 / variance)
    weights = [weight]
    for _ in range(last):
        weight, ratio = weight * ratio, ratio * shrink
        weight, ratio = (-(-weight >> bits), -(-ratio >> bits)) if up else (weight >> bits, ratio >> bits)
        weights.append(weight)
    return weights, ratio


def _integers(masses: Callable[[], list[Ball]], bits: int, upward: bool) -> tuple[int, ...]:
    """Masses over 2^bits, rounded in the direction of the law and never below zero."""
    bounds: list[tuple[int, int]] = []

    def fill() -> Ball:
        listed = masses()
        bounds.extend(scaled_bounds(mass, bits) for mass in listed)
        return listed[0]

    evaluate(fill, 2 * bits + 64)
    return tuple(max(high if upward else low, 0) for low, high in bounds)
