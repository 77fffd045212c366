"""Composition by convolving privacy loss laws: the tightest general bound, with a bound from below beside it.

Equal queries are convolved on their own grid, exactly but for the last unit. Different ones meet on a common grid, to
which each group of equal queries is moved once, after its own composition, so that the grid costs next to nothing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from heapq import heapify, heappop, heappush

from leastnoise.composition.bound import Bound
from leastnoise.composition.loss_distribution import LossDistribution
from leastnoise.composition.loss_laws import law_above, law_below
from leastnoise.composition.normal_form import Atom, Parts, coarse

__all__ = ["composed_law", "loss_bound"]

NAME = "convolved loss distributions"
CITATION = "Sommer, Meiser and Mohammadi 2019; Zhu, Dong and Wang 2022, Theorem 10; Doroshenko et al. 2022"
_MOST_GROUPS = 64
_MOST_QUERIES = 10**9
_MOST_GROUPS_BELOW = 8


def loss_bound(parts: Parts, delta: Fraction) -> Bound | None:
    """The least ε that the loss laws allow at δ; None where an event has no law, no δ is left, or μ² says it all."""
    slack = parts.slack(delta)
    if slack <= 0 or parts.is_gaussian or parts.queries > _MOST_QUERIES:
        return None
    law = composed_law(coarse(parts, _MOST_GROUPS).atoms, slack, upward=True)
    epsilon = None if law is None else law.epsilon(slack)
    return None if epsilon is None else Bound(NAME, epsilon, delta, CITATION, below=_below(parts, delta))


def composed_law(atoms: Sequence[tuple[Atom, int]], delta: Fraction, upward: bool) -> LossDistribution | None:
    """The law of all atoms together, accurate far below δ; None where an atom has no law of that side."""
    queries = sum(count for _, count in atoms)
    bits = 44 + math.ceil(1 / delta).bit_length() + queries.bit_length()
    tail = max(int(delta * (1 << bits) / (queries << 24)), 1)
    laws = []
    for atom, count in atoms:
        law = (law_above if upward else law_below)(atom, bits, tail, count)
        if law is None:
            return None
        laws.append(law.power(count, tail))
    if len(laws) == 1:
        return laws[0]
    step = _common_step(laws, delta)
    placed = [law.regridded(step).trimmed(tail) for law in laws]
    heap = [(len(law.masses), index, law) for index, law in enumerate(placed)]
    heapify(heap)
    while len(heap) > 1:  # short ones first
        (_, index, left), (_, _, right) = heappop(heap), heappop(heap)
        law = left.compose(right, tail)
        heappush(heap, (len(law.masses), index, law))
    return heap[0][2]


def _common_step(laws: list[LossDistribution], delta: Fraction) -> Fraction:
    """A power of two that cuts the losses that matter into some thousand steps, and all of them into not too many."""
    variance = sum(law.moments()[1] for law in laws)
    log_delta = math.log(delta.denominator) - math.log(delta.numerator)
    width = 2 * math.sqrt(variance) * (math.sqrt(2 * log_delta) + 2)
    span = sum(float(law.step) * len(law.masses) for law in laws)
    step = max(
        width / (16384 if len(laws) <= 8 else 4096), span / 2**18, sum(abs(float(law.top)) for law in laws) / 2**40
    )
    return Fraction(2) ** math.floor(math.log2(step))


def _below(parts: Parts, delta: Fraction) -> Fraction | None:
    """What no accountant can go under, where that is quickly found: the laws below, with every δ ignored."""
    if len(parts.atoms) > _MOST_GROUPS_BELOW:
        return None
    law = composed_law(parts.atoms, delta, upward=False)
    return None if law is None else law.epsilon(delta)
