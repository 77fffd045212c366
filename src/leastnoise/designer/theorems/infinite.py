"""The infinite paths: geometric noise on the whole numbers, and clamped at zero on the natural ones.

No input is like a first one, so there is no uniform prior; what is meant is the average over longer and longer
stretches, or the worst input. For both the least expected loss is that of geometric noise, 2α/(1 − α²) for the
distance: on a stretch of n nodes with a uniform prior the truncated geometric mechanism is optimal (Ghosh, Roughgarden
and Sundararajan, SIAM J. Comput. 2012), and all but a vanishing share of its outputs are best read as they are and cost
that much. (Aldà and Simon 2017, Example 3, state 2α/(1 − α²) and, for the end of the one-sided path alone, α/(1 − α).)
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from leastnoise.designer.problem import Problem
from leastnoise.designer.result import Design
from leastnoise.exact.arrays import Size
from leastnoise.exact.enclosures import Enclosure
from leastnoise.exact.numbers import Exact
from leastnoise.exact.sources import Source
from leastnoise.mechanisms.numeric.answers import whole_answer
from leastnoise.mechanisms.numeric.geometric import Geometric
from leastnoise.mechanisms.numeric.truncated_geometric import TruncatedGeometric
from leastnoise.model.certificate import Certificate
from leastnoise.model.events import LaplaceNoise
from leastnoise.model.graphs import naturals
from leastnoise.model.graphs.infinite import InfinitePath
from leastnoise.model.losses import absolute, squared, zero_one
from leastnoise.model.mechanism import ErrorEstimate, Mechanism, Reason

__all__ = ["ClampedGeometric", "recognise_infinite"]

_SHOWN = 24  # steps of the path in the certificate: the theorem is the same for all
_LOSSES = (absolute, squared, zero_one)


@dataclass(frozen=True)
class ClampedGeometric(Mechanism):
    """A natural number plus geometric noise, and zero where that is negative.

    >>> ClampedGeometric(Geometric("ln(2)").epsilon).pmf(0, 1)
    Enclosure(1/3)
    """

    name: ClassVar[str] = "geometric mechanism, clamped at zero"
    epsilon: Exact

    @property
    def privacy(self) -> LaplaceNoise:
        """That of one release."""
        return LaplaceNoise(self.epsilon)

    def draw(self, answer: Any, size: Size = None, source: Source | None = None) -> Any:
        """Draw a natural number; an answer below zero counts as zero."""
        drawn = self._noise.draw(self._clamped(answer), size, source)
        return max(0, drawn) if size is None else np.maximum(drawn, 0)

    def pmf(self, output: Hashable, answer: Any, bits: int = 64) -> Enclosure:
        """P(output | answer)."""
        if output == 0:
            return self._noise.cdf(0, self._clamped(answer), bits)
        if output not in naturals():
            return Enclosure(Fraction(0), Fraction(0))
        return self._noise.pmf(output, self._clamped(answer), bits)

    def error(self) -> ErrorEstimate:
        """That of the noise, an upper bound near zero."""
        noise = self._noise.error()
        return ErrorEstimate(noise.loss, noise.expected, noise.quantiles, attained=False)

    def why(self) -> Reason:
        """No mechanism does better far from zero."""
        return self._noise.why()

    def certificate(self) -> Certificate:
        """The optimality theorem on a stretch of the path."""
        return TruncatedGeometric(self.epsilon, 0, _SHOWN).certificate()

    @property
    def _noise(self) -> Geometric:
        return Geometric(self.epsilon)

    @staticmethod
    def _clamped(answer: Any) -> int:
        return max(0, whole_answer(answer))


def recognise_infinite(problem: Problem) -> Design | None:
    """The optimal mechanism on an infinite path; None elsewhere, and for losses other than |y − x|^p and zero-one.

    >>> from leastnoise.designer.problem import read_problem
    >>> recognise_infinite(read_problem("integers", "ln(3)", objective="worst")).loss
    Enclosure(3/4)
    """
    graph = problem.graph
    if not isinstance(graph, InfinitePath) or not problem.privacy.is_pure or problem.outputs is not None:
        return None
    if problem.loss is not None and problem.loss not in _LOSSES:
        return None
    epsilon = problem.privacy.epsilon
    noise = Geometric(epsilon)
    loss = noise.expected_loss(problem.loss or absolute, bits=128)
    mechanism: Mechanism = noise if graph.two_sided else ClampedGeometric(epsilon)
    reason = Reason(
        "on an infinite path no private mechanism costs less than geometric noise, on average over long stretches or "
        "at its worst input",
        "Ghosh, Roughgarden and Sundararajan, SIAM J. Comput. 2012; Aldà and Simon, CSCML 2017, Example 3",
        loss,
    )

    def prove() -> Certificate:
        return TruncatedGeometric(epsilon, 0, _SHOWN).certificate()

    return Design(problem, mechanism, loss, loss, Fraction(0), reason, "theorem", lambda: None, prove)
