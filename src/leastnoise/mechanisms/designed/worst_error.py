"""The error of a designed mechanism before it is used: at the input where it is worst, from the law and the losses."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction

from leastnoise.exact.enclosures import Enclosure
from leastnoise.model.mechanism import LEVEL, ErrorEstimate

__all__ = ["quantile_of", "worst_estimate"]


def worst_estimate(loss: str, inputs: Iterable[tuple[Sequence[Enclosure], Sequence[Fraction]]]) -> ErrorEstimate:
    """The largest expected loss of an input, and a loss that at every input 95 of 100 answers stay within.

    Args:
        loss: Its name.
        inputs: For each input the probability and the loss of each output.

    >>> half = Enclosure(Fraction(1, 2), Fraction(1, 2))
    >>> worst_estimate("absolute", [([half, half], [Fraction(0), Fraction(3)])]).expected
    Enclosure(3/2)
    """
    means, quantiles = [], []
    for chances, losses in inputs:
        pairs = list(zip(chances, losses, strict=True))
        low = sum((cost * (p.lower if cost >= 0 else p.upper) for p, cost in pairs), start=Fraction(0))
        high = sum((cost * (p.upper if cost >= 0 else p.lower) for p, cost in pairs), start=Fraction(0))
        means.append(Enclosure(low, high))
        quantiles.append(quantile_of(chances, losses))
    worst = Enclosure(max(mean.lower for mean in means), max(mean.upper for mean in means))
    alike = worst.is_exact and all(mean == worst for mean in means)
    return ErrorEstimate(loss, worst, {LEVEL: max(quantiles)}, attained=alike)


def quantile_of(chances: Sequence[Enclosure], losses: Sequence[Fraction]) -> Fraction:
    """The least loss that is surely exceeded with at most one in twenty."""
    reached = Fraction(0)
    for cost, chance in sorted(zip(losses, (chance.lower for chance in chances), strict=True)):
        reached += chance
        if reached >= LEVEL:
            return cost
    return max(losses)
