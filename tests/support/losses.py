"""Privacy loss laws by definition: masses at losses as exact numbers, convolved term by term; nothing is rounded."""

from collections import Counter
from dataclasses import dataclass
from fractions import Fraction

from leastnoise.exact import exp_above, exp_below

PRECISE = 300  # bits, far beyond those of any law under test


@dataclass(frozen=True)
class ExactLaw:
    """The probability of each finite loss, and that of an infinite one."""

    masses: dict
    infinite: Fraction = Fraction(0)

    def __add__(self, other):
        """The law of the sum of two independent losses."""
        masses = Counter()
        for loss, mass in self.masses.items():
            for other_loss, other_mass in other.masses.items():
                masses[loss + other_loss] += mass * other_mass
        return ExactLaw(masses, self.infinite + (sum(self.masses.values()) if self.masses else 0) * other.infinite)

    def delta(self, x):
        """E[max(0, 1 − e^(x − loss))], from below and from above."""
        low = high = self.infinite
        for loss, mass in self.masses.items():
            low += mass * max(Fraction(0), 1 - exp_above(x - loss, PRECISE))
            high += mass * max(Fraction(0), 1 - exp_below(x - loss, PRECISE))
        return low, high


def law_of(law):
    """A `LossDistribution` taken at its word."""
    unit = Fraction(1, 1 << law.bits)
    masses = Counter()
    for place, mass in enumerate(law.masses):
        masses[law.top - law.step * place] += mass * unit
    return ExactLaw(masses, law.lost * unit)


def times(law, count):
    """The law of the sum of `count` independent losses."""
    total = law
    for _ in range(count - 1):
        total = total + law
    return total
