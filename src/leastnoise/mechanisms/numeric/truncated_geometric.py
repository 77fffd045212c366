"""The truncated geometric mechanism: a count between public bounds, with noise that never leaves them.

With α = e^(−ε/Δ), for low ≤ x, y ≤ high: P(y | x) = (1 − α)/(1 + α)·α^|y − x| inside, and the ends collect the tails,
P(low | x) = α^(x − low)/(1 + α), P(high | x) = α^(high − x)/(1 + α). It is the geometric mechanism followed by
clamping, so it is as private. For Δ = 1 it is, after the reader's best remap, optimal for every prior and every legal
loss: Ghosh, Roughgarden and Sundararajan (SIAM J. Comput. 2012, Theorem 3.2). For Δ > 1 it is private but not optimal.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from leastnoise.errors import BadParameter
from leastnoise.exact import (
    Enclosure,
    Exact,
    NumberLike,
    Size,
    Source,
    at_alpha,
    exact_exp,
    exp_enclosure,
    larger,
    least_whole,
    read_integer,
    read_rate,
    read_rational,
    truncated_geometric,
)
from leastnoise.mechanisms.numeric.integer_noise import Geometric, power_of
from leastnoise.mechanisms.truths import read_whole
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
    Reason,
    TheoremCertificate,
    absolute,
    expected_loss,
    uniform,
)
from leastnoise.model.graphs import from_edges, path

__all__ = ["TruncatedGeometric"]

_LARGEST_SHOWN = 24  # answers in a certificate and in the lower bound: a shorter path is no harder


@dataclass(frozen=True, init=False)
class TruncatedGeometric(Mechanism):
    """A whole number between public bounds, plus geometric noise, moved to the nearer bound where it leaves them.

    An answer outside the bounds counts as the nearer bound: clamping never raises the sensitivity, and an error would
    tell something about the answer.

    Args:
        epsilon: The privacy of one release.
        low: The least possible answer, public.
        high: The largest possible answer, public.
        sensitivity: The most that one person can change the answer.

    >>> share = TruncatedGeometric("ln(4)", 0, 2)
    >>> [str(share.pmf(y, 0).lower) for y in range(3)], share.error_at(0), share.error().expected
    (['4/5', '3/20', '1/20'], Enclosure(1/4), Enclosure(2/5))
    """

    name: ClassVar[str] = "truncated geometric mechanism"
    epsilon: Exact
    low: int
    high: int
    sensitivity: int

    def __init__(self, epsilon: NumberLike, low: NumberLike, high: NumberLike, sensitivity: NumberLike = 1) -> None:
        object.__setattr__(self, "epsilon", read_rate(epsilon, "epsilon"))
        object.__setattr__(self, "low", read_integer(low, "low"))
        object.__setattr__(self, "high", read_integer(high, "high"))
        object.__setattr__(self, "sensitivity", read_integer(sensitivity, "sensitivity", at_least=1))
        read_rate(self.rate, "epsilon/sensitivity")
        if self.low >= self.high:
            raise BadParameter(
                "low must be below high", given=f"low={self.low}, high={self.high}", fix="a known answer needs no noise"
            )

    @property
    def rate(self) -> Exact:
        """−ln α = epsilon/sensitivity."""
        return self.epsilon / self.sensitivity

    @property
    def event(self) -> LaplaceNoise:
        """That of one release."""
        return LaplaceNoise(self.epsilon, steps=self.sensitivity)

    def draw(self, truth: Any, size: Size = None, source: Source | None = None) -> Any:
        """Draw a number between the bounds."""
        return truncated_geometric(self._clamped(truth), self.low, self.high, None, size, source, rate=self.rate)

    def pmf(self, output: Hashable, truth: Any, bits: int = 64) -> Enclosure:
        """P(output | truth)."""
        y, x = read_whole(output), self._clamped(truth)
        if not self.low <= y <= self.high:
            return Enclosure(Fraction(0), Fraction(0))
        noise = Geometric(self.epsilon, self.sensitivity)
        if y in (self.low, self.high):
            return noise.cdf(self.low if y == self.low else 2 * x - self.high, x, bits)
        return noise.pmf(y, x, bits)

    def cdf(self, output: Hashable, truth: Any, bits: int = 64) -> Enclosure:
        """P(Y ≤ output | truth)."""
        y = read_whole(output)
        if y < self.low or y >= self.high:
            share = Fraction(y >= self.high)
            return Enclosure(share, share)
        return Geometric(self.epsilon, self.sensitivity).cdf(y, self._clamped(truth), bits)

    def error_at(self, truth: Any, loss: Loss = absolute, bits: int = 64) -> Enclosure:
        """The expected loss at one truth: Σ_k (k^p − (k−1)^p)·P(|Y − x| ≥ k), where each side ends at its bound.

        For p = 1 this is α/(1 − α²)·(2 − α^(x − low) − α^(high − x)).
        """
        x, order = self._clamped(truth), power_of(loss)
        sides = (x - self.low, self.high - x)
        return at_alpha(self.rate, lambda a: sum(_side(a, side, order) for side in sides), bits, max(sides) + 2)

    def worst_error(self, loss: Loss = absolute, bits: int = 64) -> Enclosure:
        """The largest expected loss over all truths.

        For the absolute error and for being wrong it is that of the middle. For the squared error let N = high − low
        and h(x) be the error at low + x. Then h(x+1) − h(x) has the sign of −2·artanh(u/N) + u·rate, u = N − 1 − 2x,
        which is concave in u and zero at u = 0: from the end to the middle h falls, or falls and then rises, or rises.
        So it is largest at an end or in the middle.
        """
        middle, end = (self.error_at(x, loss, bits) for x in ((self.low + self.high) // 2, self.low))
        return larger(middle, end)

    def quantile(self, level: NumberLike = LEVEL) -> int:
        """The least t with |Y − x| ≤ t at least as often as `level` says, whatever x is.

        Both tails matter while some x has more than t on either side, one while some x has it on one side.
        """
        rest, span = 1 - read_rational(level, "level", above=0, below=1), self.high - self.low
        noise = Geometric(self.epsilon, self.sensitivity)

        def enough(t: int) -> bool:
            return ((span > t) + (span > 2 * t + 1)) * noise.tail(t + 1, 128).upper <= rest

        return least_whole(enough)

    def error(self) -> ErrorEstimate:
        """The largest expected absolute error over all truths, and a 95 % quantile for all of them."""
        quantiles = {LEVEL: Fraction(self.quantile())}
        return ErrorEstimate("absolute", self.worst_error(), quantiles, attained=False)

    def reason(self) -> Reason:
        """Optimal for sensitivity one, with a lower bound from a uniform prior on at most 25 of the answers."""
        if self.sensitivity > 1:
            return Reason(
                "geometric noise, clamped; optimal only where one person changes the answer by one",
                "Ghosh, Roughgarden and Sundararajan, SIAM J. Comput. 2012, Definition 2.2",
            )
        bound = _least_worst_error(self.epsilon, self.high - self.low)
        return Reason(
            "after the best remap it has the least expected loss for every prior and every legal loss",
            "Ghosh, Roughgarden and Sundararajan, SIAM J. Comput. 2012, Theorem 3.2",
            Enclosure(bound, bound),
        )

    def certificate(self) -> Certificate:
        """The optimality theorem on the answers, at most 25 of them, or for sensitivity above one the privacy there.

        Raises:
            BadParameter: The sensitivity is above one and the law irrational.
        """
        steps = min(self.high - self.low, _LARGEST_SHOWN)
        small = TruncatedGeometric(self.epsilon, 0, steps, self.sensitivity)
        nodes = range(steps + 1)
        if self.sensitivity == 1:
            channel = small.channel(nodes, nodes) if exact_exp(-self.epsilon) is not None else None
            return TheoremCertificate("truncated-geometric", path(steps + 1), Privacy(self.epsilon), channel)
        edges = [(x, y) for x in nodes for y in nodes if 0 < y - x <= self.sensitivity]
        return PrivacyCertificate(from_edges(edges), Privacy(self.epsilon), small.channel(nodes, nodes))

    def _clamped(self, truth: Any) -> int:
        return min(max(read_whole(truth), self.low), self.high)


def _side(a: Any, reach: int, order: int) -> Any:
    """Σ_{k=1}^{reach} (k^p − (k−1)^p)·α^k/(1 + α): what one side adds to the expected loss.

    Σ α^k = α(1 − α^n)/(1 − α), and Σ (2k − 1)·α^k = α·(1 + α − α^n·((2n + 1) − (2n − 1)·α))/(1 − α)².
    """
    if order == 0:
        return a / (1 + a) if reach else 0 * a
    if order == 1:
        return a * (1 - a**reach) / ((1 - a) * (1 + a))
    ends = a**reach * ((2 * reach + 1) - (2 * reach - 1) * a)
    return a * (1 + a - ends) / ((1 - a) * (1 - a) * (1 + a))


def _least_worst_error(epsilon: Exact, span: int) -> Fraction:
    """What no private mechanism on 0..span can beat at its worst truth: the best for a uniform prior on some of them.

    Answers `stride` apart are a path with stride·epsilon between neighbours, where the truncated geometric is the best
    (the best guess for an absolute loss is a median, hence one of these answers). An irrational α is replaced by a
    smaller rational: that allows more mechanisms, so the bound holds all the more.
    """
    stride = max(1, min(int(1 / (4 * float(epsilon))), span // _LARGEST_SHOWN))
    steps = min(span // stride, _LARGEST_SHOWN)
    alpha, is_exact = exact_exp(-epsilon * stride), True
    if alpha is None:
        below, is_exact = exp_enclosure(-epsilon * stride).lower, False
        scale = 1 << (40 + below.denominator.bit_length() - below.numerator.bit_length())
        alpha = Fraction(int(below * scale), scale)
    rows = [
        [alpha ** abs(y - x) / (1 + alpha) * (1 if y in (0, steps) else 1 - alpha) for y in range(steps + 1)]
        for x in range(steps + 1)
    ]
    bound = stride * Fraction(expected_loss(uniform(steps + 1), Channel(rows), absolute))
    return bound if is_exact else Fraction(int(bound * 2**64), 2**64)
