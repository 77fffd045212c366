"""Questions with one number as the answer, each with the mechanisms that can answer it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction

from leastnoise.errors import BadParameter
from leastnoise.exact import Enclosure, Exact, NumberLike, read_integer, read_rate, read_rational
from leastnoise.mechanisms.numeric.discrete_gaussian import DiscreteGaussian
from leastnoise.mechanisms.numeric.integer_noise import Geometric, IntegerNoise, Staircase, power_of
from leastnoise.mechanisms.numeric.lattice_laplace import LatticeLaplace
from leastnoise.mechanisms.numeric.optimal_noise import OptimalNoise
from leastnoise.mechanisms.numeric.truncated_geometric import TruncatedGeometric
from leastnoise.mechanisms.numeric.truncated_laplace import TruncatedLaplace
from leastnoise.model import Loss, Mechanism, absolute

__all__ = ["CountProblem", "RealProblem"]

Bounds = tuple[NumberLike, NumberLike]


@dataclass(frozen=True, init=False)
class CountProblem:
    """A whole number is asked for.

    Args:
        epsilon: The privacy of one release.
        delta: How much may go wrong; above zero it lets Gaussian noise in.
        sensitivity: The most that one person can change the answer.
        bounds: The least and the largest possible answer, if both are known publicly.
        loss: absolute, squared or zero_one: what the released number costs, at the answer where that is worst.
    """

    epsilon: Exact
    delta: Fraction
    sensitivity: int
    bounds: tuple[int, int] | None
    loss: Loss

    def __init__(
        self,
        epsilon: NumberLike,
        delta: NumberLike = 0,
        sensitivity: NumberLike = 1,
        bounds: Bounds | None = None,
        loss: Loss = absolute,
    ) -> None:
        object.__setattr__(self, "epsilon", read_rate(epsilon, "epsilon"))
        object.__setattr__(self, "delta", read_rational(delta, "delta", at_least=0, below=1))
        object.__setattr__(self, "sensitivity", read_integer(sensitivity, "sensitivity", at_least=1))
        ends = None if bounds is None else (read_integer(bounds[0], "low"), read_integer(bounds[1], "high"))
        object.__setattr__(self, "bounds", ends)
        power_of(loss)  # refuses what has no closed form
        object.__setattr__(self, "loss", loss)

    def candidates(self) -> Iterator[Mechanism]:
        """Every mechanism of this folder that keeps the promise."""
        if self.bounds is not None:
            yield TruncatedGeometric(self.epsilon, *self.bounds, self.sensitivity)
        yield Geometric(self.epsilon, self.sensitivity)
        if self.sensitivity > 1:
            yield Staircase(self.epsilon, self.sensitivity, loss=self.loss)
        if self.delta:
            yield DiscreteGaussian.for_privacy(self.epsilon, self.delta, self.sensitivity)
            with suppress(BadParameter):  # out of the reach of its program
                yield OptimalNoise(self.epsilon, self.delta, self.sensitivity, self.loss)

    def expected_loss(self, mechanism: Mechanism) -> Enclosure:
        """What the released number costs on average at the worst answer."""
        match mechanism:
            case TruncatedGeometric():
                return mechanism.worst_error(self.loss)
            case IntegerNoise():
                return mechanism.expected_loss(self.loss)
        raise _not_a_candidate(mechanism)


@dataclass(frozen=True, init=False)
class RealProblem:
    """A real number is asked for; what it costs is the absolute error.

    Args:
        epsilon: The privacy of one release.
        sensitivity: The most that one person can change the answer.
        extra_loss: How much more than continuous noise the lattice may cost.
        bounds: The least and the largest possible answer, if both are known publicly.
    """

    epsilon: Exact
    sensitivity: Fraction
    extra_loss: Fraction
    bounds: tuple[Fraction, Fraction] | None

    def __init__(
        self, epsilon: NumberLike, sensitivity: NumberLike, extra_loss: NumberLike, bounds: Bounds | None = None
    ) -> None:
        object.__setattr__(self, "epsilon", read_rate(epsilon, "epsilon"))
        object.__setattr__(self, "sensitivity", read_rational(sensitivity, "sensitivity", above=0))
        object.__setattr__(self, "extra_loss", read_rational(extra_loss, "extra_loss", above=0))
        ends = None if bounds is None else (read_rational(bounds[0], "low"), read_rational(bounds[1], "high"))
        object.__setattr__(self, "bounds", ends)

    def candidates(self) -> Iterator[Mechanism]:
        """Every mechanism of this folder that keeps the promise."""
        if self.bounds is not None:
            yield TruncatedLaplace.for_extra_loss(self.epsilon, *self.bounds, self.sensitivity, self.extra_loss)
        yield LatticeLaplace.for_extra_loss(self.epsilon, self.sensitivity, self.extra_loss)

    def expected_loss(self, mechanism: Mechanism) -> Enclosure:
        """The expected absolute error at the worst answer."""
        return mechanism.error().expected


def _not_a_candidate(mechanism: Mechanism) -> BadParameter:
    return BadParameter("this mechanism answers another question", given=mechanism.name, fix="pass one of candidates()")
