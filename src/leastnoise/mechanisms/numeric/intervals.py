"""Confidence intervals: which true answers a released number speaks for, with truncation taken into account.

For each answer x let t(x) be the least error that is not exceeded with probability `level`; the interval of a release
y holds all x with |y − x| ≤ t(x), so whatever x is, it is in the interval of its release with that probability.
Without truncation t is one number t₂, two tails beyond which have mass 1 − level. Between bounds the tail on the side
of a near bound is cut off: with a and b the distances of x from the bounds, t(x) = min(t₂, max(a, b), max(min(a, b),
t₁)), where one tail beyond t₁ has mass 1 − level. Both x + t(x) and x − t(x) are non-decreasing, so the interval is
one: at Y from the low bound it starts max(0, min(Y − t₁, max(Y/2, Y − t₂))) from it, and likewise from above.
"""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

from leastnoise.errors import BadParameter
from leastnoise.exact.parameters import NumberLike, read_integer, read_rational
from leastnoise.mechanisms.numeric.geometric import Geometric
from leastnoise.mechanisms.numeric.integer_noise import LEVEL, IntegerNoise
from leastnoise.mechanisms.numeric.lattice import Lattice
from leastnoise.mechanisms.numeric.lattice_laplace import LatticeLaplace
from leastnoise.mechanisms.numeric.truncated_geometric import TruncatedGeometric
from leastnoise.mechanisms.numeric.truncated_laplace import TruncatedLaplace
from leastnoise.model.mechanism import Mechanism

__all__ = ["Interval", "confidence_interval"]


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
            places = _cells(Lattice(mechanism.step), released)
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
    lattice = Lattice(mechanism.step, mechanism.low + mechanism.step / 2)
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


def _cells(lattice: Lattice, released: NumberLike) -> range:
    places = lattice.places(float(read_rational(released, "released")))
    if not places:
        raise BadParameter("released must be a lattice point", given=released, fix="pass what was released")
    return places
