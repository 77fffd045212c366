"""Geometric noise on the natural numbers: P(y | x) = G(y | x) for y > 0, and all mass below zero at 0.

Clamping is post-processing, so it is as private as the noise. Why it is optimal: docs/theory/optimal_path.md.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from leastnoise.exact.arrays import Size
from leastnoise.exact.enclosures import Enclosure
from leastnoise.exact.numbers import Exact
from leastnoise.exact.sources import Source
from leastnoise.mechanisms.numeric.geometric import Geometric
from leastnoise.mechanisms.numeric.truncated_geometric import TruncatedGeometric
from leastnoise.mechanisms.truths import read_whole
from leastnoise.model.certificate import Certificate
from leastnoise.model.events import LaplaceNoise
from leastnoise.model.graphs import naturals
from leastnoise.model.mechanism import ErrorEstimate, Mechanism, Reason

__all__ = ["ClampedGeometric"]

_SHOWN = 24  # steps of the path in the certificate: the theorem is the same for all


@dataclass(frozen=True)
class ClampedGeometric(Mechanism):
    """A natural number plus geometric noise, and zero where that is negative.

    >>> ClampedGeometric(Geometric("ln(2)").epsilon).pmf(0, 1)
    Enclosure(1/3)
    """

    name: ClassVar[str] = "geometric mechanism, clamped at zero"
    epsilon: Exact

    @property
    def event(self) -> LaplaceNoise:
        """That of one release."""
        return LaplaceNoise(self.epsilon)

    def draw(self, truth: Any, size: Size = None, source: Source | None = None) -> Any:
        """Draw a natural number; an answer below zero counts as zero."""
        drawn = self._noise.draw(self._clamped(truth), size, source)
        return max(0, drawn) if size is None else np.maximum(drawn, 0)

    def pmf(self, output: Hashable, truth: Any, bits: int = 64) -> Enclosure:
        """P(output | truth)."""
        if output == 0:
            return self._noise.cdf(0, self._clamped(truth), bits)
        if output not in naturals():
            return Enclosure(Fraction(0), Fraction(0))
        return self._noise.pmf(output, self._clamped(truth), bits)

    def error(self) -> ErrorEstimate:
        """That of the noise, an upper bound near zero."""
        noise = self._noise.error()
        return ErrorEstimate(noise.loss, noise.expected, noise.quantiles, attained=False)

    def reason(self) -> Reason:
        """No mechanism does better far from zero."""
        return self._noise.reason()

    def certificate(self) -> Certificate:
        """The optimality theorem on a stretch of the path."""
        return TruncatedGeometric(self.epsilon, 0, _SHOWN).certificate()

    @property
    def _noise(self) -> Geometric:
        return Geometric(self.epsilon)

    @staticmethod
    def _clamped(truth: Any) -> int:
        return max(0, read_whole(truth))
