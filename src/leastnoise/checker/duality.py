"""Lower bounds on the loss of every private channel, by weak duality.

The best channel for a prior π and a loss
ℓ solves

    minimise    Σ_x π_x Σ_y ℓ(y, x)·p(y|x)
    subject to  Σ_y p(y|x) = 1,   p ≥ 0,
                p(y|x) − λ·p(y|x') ≤ s(x, x', y),   s ≥ 0,   Σ_y s(x, x', y) ≤ δ      for ordered neighbours (x, x').

Take any u(x, x', y) ≥ 0 and let c(y, x) = π_x ℓ(y, x) + Σ_x' u(x, x', y) − Σ_x' λ(x', x)·u(x', x, y). Then

    Σ_x π_x Σ_y ℓ(y, x)·p(y|x) = Σ_x Σ_y c(y, x)·p(y|x) − Σ u(x, x', y)·(p(y|x) − λ·p(y|x'))
                               ≥ Σ_x min_y c(y, x)      − δ·Σ_(x, x') max_y u(x, x', y),

for p(·|x) is a distribution, and u times the difference is at most u·s. The bound holds for every λ ≥ e^ε, which only
widens the constraints; so λ is a rational on that side. A worst-case objective is at least any weighted average of the
inputs' losses: the bound for weights π is a bound for it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Iterable, Mapping, Sequence
from fractions import Fraction

from leastnoise.checker.verdict import Finding
from leastnoise.model import Multiplier

__all__ = ["lower_bound", "multipliers_finding"]


def lower_bound(
    prior: Sequence[Fraction],
    loss: Sequence[Sequence[Fraction]],
    delta: Fraction,
    factors: Mapping[tuple[int, int], Fraction],
    multipliers: Iterable[Multiplier],
    known: Mapping[int, Sequence[Fraction]] | None = None,
) -> Fraction:
    """The bound Σ_x min_y c(y, x) − δ·Σ max_y u that the multipliers u ≥ 0 prove.

    Args:
        prior: π, a weight for each input.
        loss: ℓ, a row for each output, a column for each input.
        delta: The δ of the promise.
        factors: λ of each ordered pair of neighbours.
        multipliers: u, on pairs that are keys of `factors`; the values of one place add up.
        known: The rows p(·|x) of inputs for which they are given: Σ_y c(y, x)·p(y|x) takes the place of the minimum.
    """
    costs = [[probability * row[x] for row in loss] for x, probability in enumerate(prior)]
    weights: defaultdict[tuple[int, int, int], Fraction] = defaultdict(Fraction)
    for x, neighbour, output, value in multipliers:
        weights[x, neighbour, output] += value
    steepest: defaultdict[tuple[int, int], Fraction] = defaultdict(Fraction)
    for (x, neighbour, output), value in weights.items():
        pair = x, neighbour
        costs[x][output] += value
        costs[neighbour][output] -= factors[pair] * value
        steepest[pair] = max(steepest[pair], value)
    given = {} if known is None else known
    least = (
        sum((c * p for c, p in zip(row, given[x], strict=True)), start=Fraction(0)) if x in given else min(row)
        for x, row in enumerate(costs)
    )
    return sum(least, start=-delta * sum(steepest.values()))


def multipliers_finding(multipliers: Sequence[Multiplier], pairs: Container[tuple[int, int]], outputs: int) -> Finding:
    """That each multiplier is positive and stands on an edge, and no place is named twice."""
    places = {(x, neighbour, output) for x, neighbour, output, _ in multipliers}
    are_sound = len(places) == len(multipliers) and all(
        (x, neighbour) in pairs and 0 <= output < outputs and value > 0 for x, neighbour, output, value in multipliers
    )
    return Finding("multipliers are positive, on edges", are_sound, f"{len(places)} multipliers")
