"""What is fixed at the boundary: one distribution per rainbow, private across every two regions that touch."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from fractions import Fraction
from typing import NamedTuple, TypeAlias

from leastnoise.errors import BadBoundary
from leastnoise.exact.parameters import NumberLike
from leastnoise.mechanisms.rainbow.distributions import Distribution, privacy_excess, read_distribution
from leastnoise.mechanisms.rainbow.rainbow_graph import Rainbow, RainbowGraph, read_rainbow
from leastnoise.mechanisms.rainbow.rainbow_operator import Operator

__all__ = [
    "Boundary",
    "BoundaryLike",
    "Violation",
    "homogeneous_boundary",
    "read_boundary",
    "require_valid",
    "violations",
]

Boundary: TypeAlias = dict[Rainbow, Distribution]
BoundaryLike = Mapping[Rainbow, Sequence[NumberLike] | Mapping[Hashable, NumberLike]]


class Violation(NamedTuple):
    """P(colours | one) exceeds e^ε·P(colours | other) + δ by `excess`."""

    one: Rainbow
    other: Rainbow
    colours: tuple[Hashable, ...]
    excess: Fraction


def read_boundary(boundary: BoundaryLike, rainbows: Sequence[Rainbow] | None = None) -> Boundary:
    """One distribution per rainbow, best colour of that rainbow first.

    Args:
        boundary: For each rainbow its probabilities: a list, best colour first, or {colour: probability}.
        rainbows: Those that occur; each must have its distribution.

    >>> read_boundary({("a", "b"): [0.6, 0.4], ("b", "a"): {"a": 0.3, "b": 0.7}})[("b", "a")]
    (Fraction(7, 10), Fraction(3, 10))
    """
    if not isinstance(boundary, Mapping) or not boundary:
        raise BadBoundary("the boundary is {rainbow: distribution}", given=boundary, fix="give one for every rainbow")
    colours = frozenset(next(iter(boundary)))
    read: Boundary = {}
    for preference, values in boundary.items():
        rainbow = read_rainbow(preference, colours)
        if isinstance(values, Mapping):
            unknown = next((colour for colour in values if colour not in colours), None)
            if unknown is not None:
                raise BadBoundary("a colour is in no rainbow", given=unknown, fix="use the colours of the rainbows")
            values = [values.get(colour, 0) for colour in rainbow]
        read[rainbow] = read_distribution(values, f"the boundary of {rainbow}", len(rainbow))
    missing = next((rainbow for rainbow in rainbows or () if rainbow not in read), None)
    if missing is not None:
        raise BadBoundary("a region has no boundary distribution", given=missing, fix="give one for every rainbow")
    return read


def violations(boundary: Boundary, touching: Iterable[tuple[Rainbow, Rainbow]], operator: Operator) -> list[Violation]:
    """Where two regions that touch are not (ε, δ)-close, the worst first."""
    found = []
    for pair in touching:
        for one, other in (pair, pair[::-1]):
            near = dict(zip(other, boundary[other], strict=True))
            aligned = [near[colour] for colour in one]
            excess = privacy_excess(boundary[one], aligned, operator.factor) - operator.delta
            if excess > 0:
                heavy = [p > operator.factor * q for p, q in zip(boundary[one], aligned, strict=True)]
                colours = tuple(colour for colour, is_heavy in zip(one, heavy, strict=True) if is_heavy)
                found.append(Violation(one, other, colours, excess))
    return sorted(found, key=lambda violation: violation.excess, reverse=True)


def require_valid(boundary: Boundary, touching: Iterable[tuple[Rainbow, Rainbow]], operator: Operator) -> None:
    """Refuse a boundary that is not (ε, δ)-close across every two regions that touch (Gu et al. 2024, Theorem 2).

    Raises:
        BadBoundary: Names the two regions that are furthest apart, and by how much.
    """
    broken = violations(boundary, touching, operator)
    if broken:
        worst = broken[0]
        raise BadBoundary(
            f"the boundary is not private between {worst.one} and {worst.other}",
            given=f"P({set(worst.colours)}) is too large by {worst.excess} (about {float(worst.excess):.3g})",
            fix="bring the two distributions closer together, or use best_boundary",
        )


def homogeneous_boundary(
    rainbow_graph: RainbowGraph, conditions: Mapping[Hashable, Sequence[NumberLike]]
) -> Boundary | None:
    """The distribution of each rainbow where all its boundary datasets have the same one; None where they do not.

    Args:
        rainbow_graph: The graph.
        conditions: For every boundary dataset its distribution, its own best colour first.
    """
    read: Boundary = {}
    for rainbow in rainbow_graph.rainbows:
        for dataset in rainbow_graph.boundary(rainbow):
            if dataset not in conditions:
                raise BadBoundary("a boundary dataset has no distribution", given=repr(dataset), fix="give it one")
            own = read_distribution(conditions[dataset], f"the distribution of {dataset!r}")
            if read.setdefault(rainbow, own) != own:
                return None
    return read
