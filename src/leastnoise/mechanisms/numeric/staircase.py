"""The staircase mechanism on the whole numbers: the least noise for an answer that one person changes by up to Δ.

With b = e^-ε and a number r of 1..Δ, the mass is a for |k| < r, a·b for r ≤ |k| < Δ, and falls by the factor b with
each further Δ: P(X = k) = a·b^(⌊|k|/Δ⌋ + [|k| mod Δ ≥ r]). A shift by at most Δ changes it by at most the factor e^ε.
All masses sum to one for a = (1 − b)/(2(r + b(Δ − r)) − (1 − b)). Geng and Viswanath, "The optimal noise-adding
mechanism in differential privacy", IEEE Transactions on Information Theory 62(2), 2016: some such r gives the least
expected loss of all noise, for every loss that grows with |k|. For Δ = 1 it is the geometric mechanism.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from leastnoise.errors import NumberTooLarge
from leastnoise.exact.arrays import Size
from leastnoise.exact.enclosures import Enclosure
from leastnoise.exact.formulas import at_alpha, least_whole
from leastnoise.exact.numbers import Exact
from leastnoise.exact.parameters import NumberLike, read_integer, read_rate
from leastnoise.exact.samplers.categorical_exp import categorical_exp
from leastnoise.exact.samplers.geometric import geometric
from leastnoise.exact.samplers.shaping import in_shape
from leastnoise.exact.samplers.uniform import uniform_integer
from leastnoise.exact.sources import Source
from leastnoise.mechanisms.numeric.integer_noise import IntegerNoise, certify_noise, power_of
from leastnoise.model.certificate import Certificate
from leastnoise.model.events import Pure
from leastnoise.model.losses import Loss, absolute
from leastnoise.model.mechanism import Reason

__all__ = ["Staircase"]

_WIDEST = 1 << 40  # beyond this sensitivity measure in a coarser unit; periods times it stay within 64 bits


@dataclass(frozen=True, init=False)
class Staircase(IntegerNoise):
    """A whole number plus staircase noise.

    Args:
        epsilon: The privacy of one release.
        sensitivity: Δ, the most that one person can change the answer.
        width: r, how many masses each high step has on one side; by default the best one for `loss`.
        loss: What the default width minimises.

    >>> stairs = Staircase("ln(4)", sensitivity=3)
    >>> stairs.width, [str(stairs.noise_pmf(k).lower) for k in range(5)], stairs.moment(1)
    (1, ['1/3', '1/12', '1/12', '1/12', '1/48'], Enclosure(2))
    """

    name: ClassVar[str] = "staircase mechanism"
    epsilon: Exact
    sensitivity: int
    width: int

    def __init__(
        self,
        epsilon: NumberLike,
        sensitivity: NumberLike = 1,
        width: NumberLike | None = None,
        *,
        loss: Loss = absolute,
    ) -> None:
        most = read_integer(sensitivity, "sensitivity", at_least=1)
        if most > _WIDEST:
            raise NumberTooLarge("sensitivity must be at most 2^40", given=most, fix="measure in a coarser unit")
        object.__setattr__(self, "epsilon", read_rate(epsilon, "epsilon", reach=500))
        object.__setattr__(self, "sensitivity", most)
        best = _best_width(self.epsilon, most, power_of(loss)) if width is None else width
        object.__setattr__(self, "width", read_integer(best, "width", at_least=1, at_most=most))

    @property
    def event(self) -> Pure:
        """That of one release."""
        return Pure(self.epsilon)

    def noise(self, size: Size = None, source: Source | None = None) -> Any:
        """Draw X: its period, its step, its place on the step and its sign; a zero with a minus is drawn again."""
        return in_shape(self._draw, size, source)

    def _draw(self, count: int, source: Source) -> NDArray[np.int64]:
        drawn = np.zeros(count, dtype=np.int64)
        again = np.arange(count)
        widths = np.array([self.width, self.sensitivity - self.width])
        while len(again):
            period: NDArray[np.int64] = geometric(self.epsilon, len(again), source)
            step = categorical_exp([0, -1], widths.tolist(), len(again), source, rate=self.epsilon)
            place = uniform_integer(widths[step], source=source) + step * self.width
            if (period > (1 << 62) // self.sensitivity - 1).any():
                raise NumberTooLarge(
                    "a draw does not fit into 64 bits; nothing was wrapped", fix="use a larger epsilon"
                )
            size_of = period * self.sensitivity + place
            minus = source.words(len(again), 8) < 128
            drawn[again] = np.where(minus, -size_of, size_of)
            again = again[minus & (size_of == 0)]
        return drawn

    def noise_pmf(self, noise: int, bits: int = 64) -> Enclosure:
        """a·b^(⌊|k|/Δ⌋ + [|k| mod Δ ≥ r])."""
        period, place = divmod(abs(noise), self.sensitivity)
        steps = period + (place >= self.width)
        return at_alpha(self.epsilon, lambda b: self._height(b) * b**steps, bits, power=steps + 1)

    def tail(self, least: int, bits: int = 64) -> Enclosure:
        """a·b^j·(what is left of period j, plus b/(1 − b) whole periods)."""
        period, place = divmod(least, self.sensitivity)
        high, low = max(self.width - place, 0), self.sensitivity - max(self.width, place)

        def formula(b: Any) -> Any:
            return self._height(b) * b**period * (high + b * low + self._period(b) * b / (1 - b))

        return at_alpha(self.epsilon, formula, bits, power=period + 2)

    def moment(self, order: int, bits: int = 64) -> Enclosure:
        """See `_moment`; the chance of noise at all is 1 − a."""
        return at_alpha(self.epsilon, lambda b: _moment(b, self.sensitivity, self.width, order), bits)

    def _period(self, b: Any) -> Any:
        """The mass of one side's first period, in units of a."""
        return self.width + b * (self.sensitivity - self.width)

    def _height(self, b: Any) -> Any:
        """a, the mass at zero."""
        return (1 - b) / (2 * self._period(b) - (1 - b))

    def reason(self) -> Reason:
        """The staircase is optimal among all noise; the bound is that of the best width for the absolute error."""
        return Reason(
            "of all noise that is private for this sensitivity some staircase has the least expected loss",
            "Geng and Viswanath, IEEE Transactions on Information Theory 62(2), 2016",
            Staircase(self.epsilon, self.sensitivity).moment(1),
        )

    def certificate(self) -> Certificate:
        """The law on a few answers, where e^epsilon is rational."""
        return certify_noise(self, self.epsilon)


def _moment(b: Any, sensitivity: int, width: int, order: int) -> Any:
    """E|X|^order, order 1 or 2, or P(X ≠ 0) for order 0, for b = e^-ε as a rational or a ball.

    With |X| = Δ·j + i, the weight of period j is b^j and that of place i is 1 or b. Let Mₚ = Σ i^p·weight over the
    places; Σ b^j = 1/(1−b), Σ j·b^j = b/(1−b)², Σ j²·b^j = b(1+b)/(1−b)³. So Σ |X|·weight on one side is
    M₁/(1−b) + Δ·M₀·b/(1−b)², and Σ X²·weight is M₂/(1−b) + 2Δ·M₁·b/(1−b)² + Δ²·M₀·b(1+b)/(1−b)³.
    """

    def places(power: int) -> Any:
        sums = [(n, n * (n - 1) // 2, (n - 1) * n * (2 * n - 1) // 6)[power] for n in (width, sensitivity)]
        return sums[0] + b * (sums[1] - sums[0])

    height = (1 - b) / (2 * places(0) - (1 - b))
    if order == 0:
        return 1 - height
    ones, jumps = 1 / (1 - b), b / ((1 - b) * (1 - b))
    if order == 1:
        return 2 * height * (places(1) * ones + sensitivity * places(0) * jumps)
    squares = jumps * (1 + b) * ones
    return (
        2
        * height
        * (places(2) * ones + 2 * sensitivity * places(1) * jumps + sensitivity * sensitivity * places(0) * squares)
    )


def _best_width(epsilon: Exact, sensitivity: int, order: int) -> int:
    """The r with the least moment: the first one after which a step further does not help.

    As a function of r ≥ 1 each moment is a convex polynomial over a positive linear one (for order 0 it only rises), so
    the r where it is at most some value are an interval: it falls, then rises. Moments that agree to 200 bits count as
    equal; either r is then as good.
    """

    def at(width: int) -> Enclosure:
        return at_alpha(epsilon, lambda b: _moment(b, sensitivity, width, order), bits=200)

    def is_last(width: int) -> bool:
        return width == sensitivity or at(width + 1).upper >= at(width).lower

    return least_whole(is_last, start=1)
