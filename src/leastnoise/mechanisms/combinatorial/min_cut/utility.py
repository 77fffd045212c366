"""How much heavier than the minimum cut a private cut is, as a number, from public parameters only.

Karger (SODA 1993): at most n^(2α) cuts weigh at most α times the minimum cut c. So for P(C) ∝ e^(−rate·W(C)) and
x = 2·ln n/(rate·c) < 1
    P[W > c + b] ≤ n²/(1 − x)·e^(−rate·(1−x)·b),      E[W − c] ≤ (2·ln n − ln(1 − x) + 1)/(rate·(1 − x)).
Whatever c is, no law on 2^(n−1) − 1 candidates of this kind loses more than W(2^(n−1)/e)/rate (Lambert's W). How
both are put together: docs/theory/min_cut.md, which follows Tóthmérész 2013, Proposition 2.2, with its constants.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import exp, log

from leastnoise.exact import Ball, Enclosure, Exact, ball_of, enclose, ln, of_fraction
from leastnoise.mechanisms.choice.selection import exponential_quantile, exponential_regret

__all__ = ["RaisedUtility", "all_cuts"]

_TRIES = 200
_LARGEST_EXPONENT = 300.0


def all_cuts(nodes: int) -> Fraction:
    """How many cuts there are besides the best one."""
    return Fraction(2 ** (nodes - 1) - 2)


@dataclass(frozen=True)
class RaisedUtility:
    """The two phases: a target is met up to `slack` from `amounts` candidates at `first_rate`, then a cut is drawn.

    All in steps of the weights.
    """

    nodes: int
    amounts: int
    target: int
    slack: Fraction
    first_rate: Exact
    second_rate: Exact

    def expected(self) -> Enclosure:
        """At most target + slack + E[regret of phase 1] + E[regret of phase 2], for a graph with any minimum cut.

        The second regret is that of a minimum cut of at least target − h, plus the chance of a lower one, which is at
        most amounts·e^(−rate·(h − slack)), times the regret among all cuts. Any h gives a bound.
        """
        first = exponential_regret(Fraction(self.amounts - 1), self.first_rate).upper
        everything = exponential_regret(all_cuts(self.nodes), self.second_rate).upper
        distance = self._distance(float(everything))
        second = everything
        if distance is not None:

            def regret() -> Ball:
                x, spread = self._spread(distance)
                chance = ball_of(self.first_rate * (self.slack - distance)).exp() * self.amounts
                near = (2 * of_fraction(self.nodes).log() - (1 - x).log() + 1) / spread
                return near + chance * of_fraction(everything)

            second = min(second, enclose(regret).upper)
        bound = self.target + self.slack + first + second
        return Enclosure(bound, bound)

    def quantile(self, level: Fraction) -> Fraction:
        """An extra weight that is exceeded with probability 1 − level at most: half of it for each phase."""
        miss = (1 - level) / 2
        far = enclose(lambda: of_fraction(self.amounts / miss).log() / ball_of(self.first_rate)).upper + self.slack
        second = exponential_quantile(all_cuts(self.nodes), self.second_rate, 1 - miss)
        if self._is_near(far):

            def beyond() -> Ball:
                x, spread = self._spread(far)
                return (2 * of_fraction(self.nodes).log() - ((1 - x) * of_fraction(miss)).log()) / spread

            second = min(second, enclose(beyond).upper)
        return self.target + far + second

    def _spread(self, distance: Fraction) -> tuple[Ball, Ball]:
        """The numbers x and rate·(1 − x) for a minimum cut at this distance below the target."""
        rate = ball_of(self.second_rate)
        x = 2 * of_fraction(self.nodes).log() / (rate * of_fraction(self.target - distance))
        return x, rate * (1 - x)

    def _is_near(self, distance: Fraction) -> bool:
        """Whether x < 1 at this distance."""
        return distance < self.target and bool(self.second_rate * (self.target - distance) > 2 * ln(self.nodes))

    def _distance(self, everything: float) -> Fraction | None:
        """A good h, found in doubles."""

        def cost(h: float) -> float:
            x = 2 * log(self.nodes) / (float(self.second_rate) * (self.target - h))
            near = (2 * log(self.nodes) - log(1 - x) + 1) / (float(self.second_rate) * (1 - x))
            far = min(float(self.first_rate) * (float(self.slack) - h), _LARGEST_EXPONENT)
            return near + everything * self.amounts * exp(far)

        tries = [Fraction(self.target * i, _TRIES) for i in range(_TRIES)]
        return min((h for h in tries if self._is_near(h)), key=lambda h: cost(float(h)), default=None)
