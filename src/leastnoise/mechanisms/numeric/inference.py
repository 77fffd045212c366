"""What a released number says about the truth: a confidence interval, and the best guess under a prior.

For each truth x let t(x) be the least error that is not exceeded with probability `level`; the interval of a release y
holds all x with |y − x| ≤ t(x), so whatever x is, it is in the interval of its release with that probability. Without
truncation t is one number t₂, two tails beyond which have mass 1 − level. Between bounds the tail on the side of a near
bound is cut off: with a and b the distances of x from the bounds, t(x) = min(t₂, max(a, b), max(min(a, b), t₁)), where
one tail beyond t₁ has mass 1 − level. Both x + t(x) and x − t(x) are non-decreasing, so the interval is one: at Y from
the low bound it starts max(0, min(Y − t₁, max(Y/2, Y − t₂))) from it, and likewise from above.

After y is seen the posterior is π_x·P(y|x) up to a factor; the best guess w minimises Σ_x ℓ(w, x)·π_x·P(y|x). For the
truncated geometric mechanism this is what makes it optimal for every prior and legal loss (Ghosh, Roughgarden and
Sundararajan 2012); it is post-processing and costs no privacy.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from fractions import Fraction
from math import lcm
from typing import NamedTuple, cast

from leastnoise.errors import BadParameter, BadPrior
from leastnoise.exact import Enclosure, NumberLike, RationalMatrix, read_integer, read_rational
from leastnoise.mechanisms.numeric.integer_noise import Geometric, IntegerNoise
from leastnoise.mechanisms.numeric.lattice_laplace import LatticeLaplace, RealLattice
from leastnoise.mechanisms.numeric.truncated_geometric import TruncatedGeometric
from leastnoise.mechanisms.numeric.truncated_laplace import TruncatedLaplace
from leastnoise.model import LEVEL, Loss, Mechanism, Prior, PriorLike, absolute, squared

__all__ = ["Guess", "Interval", "best_guess", "confidence_interval"]


class Interval(NamedTuple):
    """All answers from `low` to `high`, both included; it covers the true one with probability at least `level`."""

    low: Fraction
    high: Fraction
    level: Fraction

    def __contains__(self, truth: object) -> bool:
        """Whether an answer lies between the ends."""
        return isinstance(truth, int | float | Fraction) and self.low <= Fraction(truth) <= self.high


def confidence_interval(mechanism: Mechanism, released: NumberLike, level: NumberLike = LEVEL) -> Interval:
    """The interval for a released number; it uses nothing but the release and public parameters.

    >>> confidence_interval(Geometric("ln(2)"), 10)
    Interval(low=Fraction(6, 1), high=Fraction(14, 1), level=Fraction(19, 20))
    >>> confidence_interval(TruncatedGeometric("ln(2)", 0, 100), 4)
    Interval(low=Fraction(1, 1), high=Fraction(8, 1), level=Fraction(19, 20))
    """
    share = read_rational(level, "level", above=0, below=1)
    match mechanism:
        case IntegerNoise():
            centre, reach = read_integer(released, "released"), mechanism.quantile(share)
            return Interval(Fraction(centre - reach), Fraction(centre + reach), share)
        case TruncatedGeometric():
            return _between_bounds(mechanism, read_integer(released, "released"), share)
        case LatticeLaplace():
            places = _cells(RealLattice(mechanism.step), released)
            steps = Geometric(mechanism.epsilon, mechanism.steps).quantile(share) + Fraction(1, 2)
            return Interval((places[0] - steps) * mechanism.step, (places[-1] + steps) * mechanism.step, share)
        case TruncatedLaplace():
            return _in_cells(mechanism, released, share)
    raise BadParameter(
        "intervals are for releases of one number", given=mechanism.name, fix="pass a mechanism for one number"
    )


def _between_bounds(mechanism: TruncatedGeometric, released: int, level: Fraction) -> Interval:
    if not mechanism.low <= released <= mechanism.high:
        raise BadParameter("released must lie between the bounds", given=released, fix="pass what was released")
    noise = Geometric(mechanism.epsilon, mechanism.sensitivity)
    one, two = (noise.quantile(level, tails) for tails in (1, 2))
    first = -(-_start(Fraction(released - mechanism.low), one, two) // 1)
    last = -(-_start(Fraction(mechanism.high - released), one, two) // 1)
    return Interval(Fraction(mechanism.low + first), Fraction(mechanism.high - last), level)


def _in_cells(mechanism: TruncatedLaplace, released: NumberLike, level: Fraction) -> Interval:
    """All x for which the released cell meets [x − t(x), x + t(x)]; t₁ and t₂ are rounded up."""
    lattice = RealLattice(mechanism.step, mechanism.low + mechanism.step / 2)
    cells = _cells(lattice, released)
    if cells[0] < 0 or cells[-1] >= mechanism.cells:
        raise BadParameter("released must lie between the bounds", given=released, fix="pass what was released")
    one, two = (mechanism.reach(level, tails) for tails in (1, 2))
    below, above = cells[0] * mechanism.step, (mechanism.cells - 1 - cells[-1]) * mechanism.step
    low, high = mechanism.low + _start(below, one, two), mechanism.high - _start(above, one, two)
    return Interval(low, high, level)


def _start(distance: Fraction, one: Fraction | int, two: Fraction | int) -> Fraction:
    """How far from a bound the interval starts, for a release at this distance from it."""
    return max(Fraction(0), min(distance - one, max(distance / 2, distance - two)))


def _cells(lattice: RealLattice, released: NumberLike) -> range:
    places = lattice.places(float(read_rational(released, "released")))
    if not places:
        raise BadParameter("released must be a lattice point", given=released, fix="pass what was released")
    return places


_BITS = 192


class Guess(NamedTuple):
    """A guess, and what it costs on average under the posterior."""

    guess: Hashable
    loss: Enclosure


def _costs(loss: Loss, inputs: Sequence[Hashable], weights: Sequence[int]) -> tuple[Sequence[Fraction | int], Fraction]:
    """Σ_x ℓ(w, x)·weight_x for each guess w, and the largest |ℓ|."""
    if loss not in (absolute, squared) or not all(type(x) is int for x in inputs):
        table = loss.table(inputs)
        costs = [row[0] for row in (table @ RationalMatrix([[Fraction(entry)] for entry in weights])).rows]
        return costs, max(abs(entry) for row in table.rows for entry in row)
    # Both are polynomials in w, with coefficients that depend on which x are below it: one pass in the order of the x.
    order = sorted(range(len(inputs)), key=lambda i: cast(int, inputs[i]))
    xs, ws = [cast(int, inputs[i]) for i in order], [weights[i] for i in order]
    mass, mean = sum(ws), sum(x * w for x, w in zip(xs, ws, strict=True))
    reach = Fraction(xs[-1] - xs[0])
    if loss == squared:
        square = sum(x * x * w for x, w in zip(xs, ws, strict=True))
        return [square - 2 * cast(int, x) * mean + cast(int, x) ** 2 * mass for x in inputs], reach**2
    found, below, below_mean = [0] * len(xs), 0, 0
    for i, x, w in zip(order, xs, ws, strict=True):
        found[i] = x * (2 * below - mass) + mean - 2 * below_mean
        below, below_mean = below + w, below_mean + x * w
    return found, reach


def best_guess(mechanism: Mechanism, released: Hashable, prior: PriorLike, loss: Loss = absolute) -> Guess:
    """The guess that costs least after `released` was seen; the first of several.

    Probabilities that are irrational are enclosed to 192 bits; guesses whose losses agree to that count as equal.

    Args:
        mechanism: What released it.
        released: What was released.
        prior: The probability of each answer; a list stands for the answers 0, 1, 2, …
        loss: What a guess costs; its guesses are the prior's answers unless it has its own.

    Raises:
        BadPrior: No answer that the prior allows can have led to this release, up to 2^-192.

    >>> from leastnoise.mechanisms.numeric.truncated_geometric import TruncatedGeometric
    >>> few = [0.5, 0.3, 0.1, 0.1, 0]
    >>> best_guess(TruncatedGeometric("ln(2)", 0, 4), 4, few)
    Guess(guess=2, loss=Enclosure(24/23))
    """
    known = prior if isinstance(prior, Prior) else Prior(prior)
    masses = [mechanism.pmf(released, answer, bits=_BITS) for answer in known.labels]
    low = _whole([weight * p.lower for weight, p in zip(known.weights, masses, strict=True)])
    high = _whole([weight * p.upper for weight, p in zip(known.weights, masses, strict=True)])
    least, most = (Fraction(sum(ends), scale) for ends, scale in (low, high))
    if not least:
        raise BadPrior(
            "this prior rules out what was released, or all but does",
            given=released,
            fix="give every answer some weight",
        )
    weights, scale = low
    costs, largest = _costs(loss, known.labels, weights)
    slack = largest * (most - least)
    enough = min(costs) + slack * scale
    place = next(i for i, cost in enumerate(costs) if cost <= enough)
    cost = Fraction(costs[place]) / scale
    ends = [side / total for side in (cost - slack, cost + slack) for total in (least, most)]
    return Guess(loss.guesses_for(known.labels)[place], Enclosure(min(ends), max(ends)))


def _whole(values: Sequence[Fraction]) -> tuple[list[int], int]:
    """The values as whole numbers of a common part, and how many parts one is."""
    parts = lcm(*(value.denominator for value in values))
    return [value.numerator * (parts // value.denominator) for value in values], parts
