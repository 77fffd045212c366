"""Distributions over colours, sorted by preference: prefix sums and closeness.

A distribution p lists the probability of the best colour first. Its prefix sums s_k = p₁ + … + p_k say how likely it is
to be among the k best. Dominance compares them; closeness is what privacy asks of two neighbours.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import accumulate, pairwise

from leastnoise.errors import BadBoundary
from leastnoise.exact.parameters import NumberLike, read_rational

__all__ = [
    "Distribution",
    "from_prefix_sums",
    "prefix_sums",
    "privacy_excess",
    "read_distribution",
]

Distribution = tuple[Fraction, ...]


def read_distribution(
    values: Sequence[NumberLike], name: str = "distribution", count: int | None = None
) -> Distribution:
    """Exact probabilities, `count` of them if that is given, that sum to exactly one; 0.1 is one tenth.

    >>> read_distribution([0.9, "1/10"])
    (Fraction(9, 10), Fraction(1, 10))
    """
    if isinstance(values, str) or not hasattr(values, "__iter__"):
        raise BadBoundary(f"{name} must be a list of probabilities", given=values, fix="pass one number per colour")
    read = tuple(read_rational(value, f"{name}[{place}]", at_least=0) for place, value in enumerate(values))
    if count is not None and len(read) != count:
        raise BadBoundary(
            f"{name} must have one probability per colour", given=f"{len(read)} numbers", fix="list them best first"
        )
    if sum(read) != 1:
        raise BadBoundary(
            f"{name} must sum to one", given=f"sum {sum(read)}", fix="write fractions such as 1/3, they are exact"
        )
    return read


def prefix_sums(distribution: Sequence[Fraction]) -> Distribution:
    """s_k = p₁ + … + p_k; the last is one."""
    return tuple(accumulate(distribution))


def from_prefix_sums(sums: Sequence[Fraction]) -> Distribution:
    """The distribution with these prefix sums."""
    return tuple(high - low for low, high in pairwise((Fraction(0), *sums)))


def privacy_excess(one: Sequence[Fraction], other: Sequence[Fraction], factor: Fraction) -> Fraction:
    """The largest P(S) − factor·Q(S) over all sets S of colours: the δ that this direction needs.

    >>> privacy_excess(read_distribution([0.9, 0.1]), read_distribution([1, 0]), Fraction(6, 5))
    Fraction(1, 10)
    """
    return sum((max(Fraction(0), p - factor * q) for p, q in zip(one, other, strict=True)), start=Fraction(0))
