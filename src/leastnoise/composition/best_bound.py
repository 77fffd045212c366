"""All accountants at once: the least of several valid bounds is valid, and it says by which theorem it holds.

These theorems let each query be chosen after the answers before it, but not how much it may cost: the list of events is
taken as fixed beforehand. Where the prices themselves are chosen on the way, use a `Filter`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction

from leastnoise.composition.advanced import advanced_bound, advanced_per_query
from leastnoise.composition.bound import Bound, basic_bound, basic_per_query, gaussian_bound
from leastnoise.composition.concentrated import concentrated_bound
from leastnoise.composition.homogeneous import homogeneous_bound, homogeneous_per_query
from leastnoise.composition.loss_accountant import loss_bound
from leastnoise.composition.normal_form import Parts, coarse, parts_of
from leastnoise.composition.renyi import renyi_bound
from leastnoise.errors import BadParameter
from leastnoise.exact import NumberLike, read_integer, read_rational
from leastnoise.model import Event, Privacy

__all__ = ["all_bounds", "compose", "per_query"]

_ACCOUNTANTS = (advanced_bound, homogeneous_bound, concentrated_bound, gaussian_bound, renyi_bound, loss_bound)
_MOST_DISTINCT = 512


def compose(events: Event | Iterable[Event], delta: NumberLike = 0) -> Bound:
    """What the events cost together at `delta`: the tightest answer of all accountants, never below the truth.

    Args:
        events: One event or many, on the same people.
        delta: The δ to spend; with 0 the prices add up.

    Raises:
        UnknownEvent: Something is not in the vocabulary.
        BadParameter: No finite ε holds at this δ, or δ is not in [0, 1).

    >>> from leastnoise.model.events import LaplaceNoise, Pure
    >>> compose([Pure("1/10")] * 10).epsilon
    Fraction(1, 1)
    >>> print(compose([LaplaceNoise("1/100")] * 1000, "1e-6"))
    ε ≤ 1.365447 at δ = 1e-06 by optimal homogeneous composition
    """
    bounds = all_bounds(events, delta)
    best = min(bounds, key=lambda bound: bound.epsilon)
    known = [bound.below for bound in bounds if bound.below is not None]
    return replace(best, below=max(known)) if known else best


def all_bounds(events: Event | Iterable[Event], delta: NumberLike = 0) -> tuple[Bound, ...]:
    """Every valid bound, for comparison; see `compose`.

    >>> from leastnoise.model.events import Pure
    >>> [bound.name for bound in all_bounds([Pure("1/10")] * 2)]
    ['basic composition']
    """
    target = read_rational(delta, "delta", at_least=0, below=1)
    parts = parts_of(events)
    if not parts.atoms and not parts.deltas:
        return (Bound("nothing happened", Fraction(0), Fraction(0), "by definition", Fraction(0)),)
    few = coarse(parts, _MOST_DISTINCT)
    found = [basic_bound(parts, target), *(accountant(few, target) for accountant in _ACCOUNTANTS)]
    bounds = tuple(bound for bound in found if bound is not None)
    if not bounds:
        raise _no_bound(parts, target)
    return bounds


def per_query(total: Privacy, queries: NumberLike) -> tuple[Privacy, str]:
    """The largest pure ε that each of `queries` queries may cost within `total`, and the theorem that allows it.

    >>> share, theorem = per_query(Privacy(1, "1e-6"), 1000)
    >>> float(share.epsilon), theorem
    (0.00749..., 'optimal homogeneous composition')
    >>> per_query(Privacy(1), 10)
    (Privacy(epsilon=1/10, delta=0), 'basic composition')
    """
    count = read_integer(queries, "queries", at_least=1)
    options = [(Privacy(basic_per_query(total, count).epsilon), "basic composition")]
    if total.delta > 0 and total.epsilon > 0 and count > 1:
        options.append((homogeneous_per_query(total, count), "optimal homogeneous composition"))
        options.append((advanced_per_query(total, count), "advanced composition"))
    return max(options, key=lambda option: option[0].epsilon)


def _no_bound(parts: Parts, delta: Fraction) -> BadParameter:
    if parts.epsilon is None and delta <= parts.delta:
        problem = "concentrated privacy has no finite epsilon without some delta of its own"
    else:
        problem = "no finite epsilon holds at this delta"
    return BadParameter(
        problem,
        given=f"delta = {delta}, of which the events take {float(parts.delta):.3g}",
        fix="ask for a delta above what the events take, or count fewer events",
    )
