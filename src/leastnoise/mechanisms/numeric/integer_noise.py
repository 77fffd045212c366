"""A whole number plus whole noise X whose law does not depend on it and is the same for X and −X.

Two such laws keep a pure ε when one person changes the answer by at most Δ.

**Geometric.** With α = e^(−ε/Δ), P(y | x) = (1 − α)/(1 + α)·α^|y − x|. One person changes the probability by at most
the factor α^-Δ = e^ε. Ghosh, Roughgarden and Sundararajan (SIAM J. Comput. 2012, Definition 2.2). For Δ = 1 every
output tells neighbours apart as much as ε allows, as randomized response does; for larger Δ many outputs tell less,
which composition may use.

**Staircase.** With b = e^-ε and a number r of 1..Δ, the mass is a for |k| < r, a·b for r ≤ |k| < Δ, and falls by the
factor b with each further Δ: P(X = k) = a·b^(⌊|k|/Δ⌋ + [|k| mod Δ ≥ r]). A shift by at most Δ changes it by at most the
factor e^ε. All masses sum to one for a = (1 − b)/(2(r + b(Δ − r)) − (1 − b)). Geng and Viswanath, "The optimal
noise-adding mechanism in differential privacy", IEEE Transactions on Information Theory 62(2), 2016: some such r gives
the least expected loss of all noise, for every loss that grows with |k|. For Δ = 1 it is the geometric mechanism.

A certificate is the law on a few truths as an exact channel, with outputs merged into cells.
docs/theory/geometric.md and docs/theory/staircase.md have the proofs.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from leastnoise.errors import BadLoss, BadParameter, NumberTooLarge
from leastnoise.exact import (
    Enclosure,
    Exact,
    NumberLike,
    Size,
    Source,
    at_alpha,
    categorical_exp,
    discrete_laplace,
    geometric,
    in_shape,
    least_whole,
    read_integer,
    read_rate,
    read_rational,
    uniform_integer,
)
from leastnoise.mechanisms.truths import add_noise, read_whole
from leastnoise.model import (
    LEVEL,
    Certificate,
    Channel,
    ErrorEstimate,
    LaplaceNoise,
    Loss,
    Mechanism,
    Privacy,
    PrivacyCertificate,
    Pure,
    Reason,
    absolute,
    squared,
    zero_one,
)
from leastnoise.model.graphs import from_edges

__all__ = ["Geometric", "IntegerNoise", "Staircase", "certify_noise", "power_of"]


def power_of(loss: Loss) -> int:
    """The p for which a loss is |w − x|^p, with 0 for the chance of being wrong.

    Raises:
        BadLoss: The loss is none of the three.
    """
    powers = {zero_one: 0, absolute: 1, squared: 2}
    if loss not in powers:
        raise BadLoss("the loss must be absolute, squared or zero_one", given=loss, fix="pass losses.absolute")
    return powers[loss]


class IntegerNoise(Mechanism):
    """What all of them share; a subclass gives the law of X, by its mass, tail and moments, and draws it."""

    sensitivity: int

    @abstractmethod
    def noise(self, size: Size = None, source: Source | None = None) -> Any:
        """Draw X."""

    @abstractmethod
    def noise_pmf(self, noise: int, bits: int = 64) -> Enclosure:
        """P(X = noise)."""

    @abstractmethod
    def tail(self, least: int, bits: int = 64) -> Enclosure:
        """P(X ≥ least) for least ≥ 1."""

    @abstractmethod
    def moment(self, order: int, bits: int = 64) -> Enclosure:
        """E|X|^order for order 1 and 2, and P(X ≠ 0) for order 0."""

    def draw(self, truth: Any, size: Size = None, source: Source | None = None) -> Any:
        """The answer plus noise."""
        true = read_whole(truth)
        if size is None:
            return true + self.noise(source=source)
        return add_noise(np.array(true, dtype=object), self.noise(size, source))

    def pmf(self, output: Hashable, truth: Any, bits: int = 64) -> Enclosure:
        """P(output | truth)."""
        return self.noise_pmf(read_whole(output) - read_whole(truth), bits)

    def cdf(self, output: Hashable, truth: Any, bits: int = 64) -> Enclosure:
        """P(Y ≤ output | truth)."""
        noise = read_whole(output) - read_whole(truth)
        if noise < 0:
            return self.tail(-noise, bits)
        above = self.tail(noise + 1, bits)
        return Enclosure(1 - above.upper, 1 - above.lower)

    def expected_loss(self, loss: Loss = absolute, bits: int = 64) -> Enclosure:
        """What the released number costs on average, the same for every truth."""
        return self.moment(power_of(loss), bits)

    def quantile(self, level: NumberLike = LEVEL, tails: int = 2) -> int:
        """The least t for which two tails beyond t (or one) have at most the mass 1 − level."""
        return _quantile(self, 1 - read_rational(level, "level", above=0, below=1), tails)

    def error(self, level: Fraction = LEVEL) -> ErrorEstimate:
        """The expected absolute error and its quantile, for every truth."""
        return ErrorEstimate("absolute", self.moment(1), {level: Fraction(self.quantile(level))})


@lru_cache(maxsize=1024)  # a plan, its release and its intervals ask for the same one
def _quantile(noise: IntegerNoise, rest: Fraction, tails: int) -> int:
    return least_whole(lambda t: tails * noise.tail(t + 1, 128).upper <= rest)


_CELLS = 4  # for each step of one sensitivity


def certify_noise(mechanism: IntegerNoise, epsilon: Exact) -> Certificate:
    """That answers from 0 to twice the sensitivity are protected as claimed.

    Raises:
        BadParameter: The law is irrational.
    """
    reach, unit = mechanism.sensitivity, -(-mechanism.sensitivity // _CELLS)
    answers = range(0, 2 * reach + 1, unit)
    borders = range(-reach, 3 * reach + 1, unit)
    shares = [[_below(mechanism, border, answer) for border in borders] for answer in answers]
    masses = [[high - low for low, high in pairwise([Fraction(0), *row, Fraction(1)])] for row in shares]
    edges = [(x, y) for x in answers for y in answers if 0 < y - x <= reach]
    cells = [f"below {border}" for border in borders] + ["the rest"]
    return PrivacyCertificate(from_edges(edges), Privacy(epsilon), Channel(masses, answers, cells))


def _below(mechanism: IntegerNoise, border: int, truth: int) -> Fraction:
    share = mechanism.cdf(border - 1, truth)
    if not share.is_exact:
        raise BadParameter(
            f"the law of the {mechanism.name} is irrational at this epsilon, so no exact channel can be certified",
            fix='choose an epsilon and a sensitivity with rational e^(epsilon/sensitivity), such as "ln(3)" and 1',
        )
    return share.lower


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


@dataclass(frozen=True, init=False)
class Geometric(IntegerNoise):
    """A whole number plus noise with P(X = k) = (1 − α)/(1 + α)·α^|k|, α = e^(−epsilon/sensitivity).

    Args:
        epsilon: The privacy of one release.
        sensitivity: The most that one person can change the answer.

    >>> count = Geometric("ln(3)")
    >>> count.pmf(11, 10), count.error().expected, count.error().quantiles
    (Enclosure(1/6), Enclosure(3/4), {Fraction(19, 20): Fraction(3, 1)})
    """

    name: ClassVar[str] = "geometric mechanism"
    epsilon: Exact
    sensitivity: int

    def __init__(self, epsilon: NumberLike, sensitivity: NumberLike = 1) -> None:
        object.__setattr__(self, "epsilon", read_rate(epsilon, "epsilon"))
        object.__setattr__(self, "sensitivity", read_integer(sensitivity, "sensitivity", at_least=1))
        read_rate(self.rate, "epsilon/sensitivity")

    @property
    def rate(self) -> Exact:
        """−ln α = epsilon/sensitivity."""
        return self.epsilon / self.sensitivity

    @property
    def event(self) -> LaplaceNoise:
        """That of one release."""
        return LaplaceNoise(self.epsilon, steps=self.sensitivity)

    def noise(self, size: Size = None, source: Source | None = None) -> Any:
        """Draw X."""
        return discrete_laplace(rate=self.rate, size=size, source=source)

    def noise_pmf(self, noise: int, bits: int = 64) -> Enclosure:
        """(1 − α)/(1 + α)·α^|noise|."""
        distance = abs(noise)
        return at_alpha(self.rate, lambda a: (1 - a) / (1 + a) * a**distance, bits, power=distance + 1)

    def tail(self, least: int, bits: int = 64) -> Enclosure:
        """α^least/(1 + α)."""
        return at_alpha(self.rate, lambda a: a**least / (1 + a), bits, power=least)

    def moment(self, order: int, bits: int = 64) -> Enclosure:
        """2α/(1 + α), 2α/(1 − α²) and 2α/(1 − α)² for orders 0, 1 and 2."""
        return at_alpha(self.rate, lambda a: 2 * a / ((1 + a), (1 - a * a), (1 - a) * (1 - a))[order], bits)

    def reason(self) -> Reason:
        """Optimal for sensitivity one; beyond that the staircase is better, and is the lower bound."""
        if self.sensitivity == 1:
            return Reason(
                "no private mechanism for a count has a smaller expected absolute error at its worst answer",
                "Aldà and Simon, CSCML 2017, section 5, with Ghosh, Roughgarden and Sundararajan, SIAM J. Comput. 2012",
                self.moment(1),
            )
        return Reason(
            "the simplest whole noise; the staircase with the same sensitivity has the least expected absolute error",
            "Geng and Viswanath, IEEE Transactions on Information Theory 62(2), 2016",
            Staircase(self.epsilon, self.sensitivity).moment(1),
        )

    def certificate(self) -> Certificate:
        """The law on a few answers, where α is rational."""
        return certify_noise(self, self.epsilon)
