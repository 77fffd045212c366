"""The operator T: of all distributions that are (ε, δ)-close to a given one, the best.

With prefix sums s_k of p, best colour first, and λ = e^ε:

    s'_k = min{1, λ·s_k + δ, 1 − (1 − s_k − δ)/λ}

T(p) is close to p both ways, dominates whatever else is, and keeps dominance; so t steps into a region T^t of the
boundary's distribution is the best that privacy allows (docs/theory/rainbow_operator.md). Gu et al., "Generalized
rainbow differential privacy" (2024), Theorem 4, prints min{1, min{λ·s_k, 1 − (1 − s_k)/λ} + δ}: the same where δ = 0,
but not (ε, δ)-close for δ > 0, see docs/errata.md.

A distribution p lists the probability of the best colour first. Its prefix sums s_k = p₁ + … + p_k say how likely it is
to be among the k best. Dominance compares them; closeness is what privacy asks of two neighbours.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import accumulate, pairwise

from leastnoise.errors import BadBoundary, BadParameter
from leastnoise.exact import Exact, NumberLike, exact_exp, exp_enclosure, read_exact, read_integer, read_rational

__all__ = ["Distribution", "Operator", "from_prefix_sums", "prefix_sums", "privacy_excess", "read_distribution"]

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


_ONE = Fraction(1)
_LEAST_BITS = 56


@dataclass(frozen=True, init=False)
class Operator:
    """T for one ε and δ, in exact rationals.

    Where e^epsilon is irrational, T uses a rational just below it: never less private than asked.

    Args:
        epsilon: Zero or more.
        delta: From zero up to, not including, one.
        published: The operator as printed by Gu et al., for comparison; it is not private for delta > 0.

    >>> T = Operator("ln(6/5)", 0.01)
    >>> [str(p) for p in T([0.9, 0.1])], [str(p) for p in T([0.2, 0.8])]
    (['37/40', '3/40'], ['1/4', '3/4'])
    """

    epsilon: Exact
    delta: Fraction
    published: bool

    def __init__(self, epsilon: NumberLike, delta: NumberLike = 0, *, published: bool = False) -> None:
        if not isinstance(published, bool):
            raise BadParameter("published must be True or False", given=published, fix="leave it out")
        object.__setattr__(self, "epsilon", read_exact(epsilon, "epsilon", at_least=0))
        object.__setattr__(self, "delta", read_rational(delta, "delta", at_least=0, below=1))
        object.__setattr__(self, "published", published)

    @cached_property
    def factor(self) -> Fraction:
        """λ: e^epsilon, or a rational below it with λ − 1 right to 56 bits, however small epsilon is."""
        bits = 64
        while (found := exp_enclosure(self.epsilon, bits)).width * 2**_LEAST_BITS > found.lower - 1:
            bits *= 2
        return found.lower

    @property
    def is_exact(self) -> bool:
        """Whether `factor` is e^epsilon itself."""
        return exact_exp(self.epsilon) is not None

    @cached_property
    def crossing(self) -> Fraction:
        """The prefix sum (1 − δ)/(λ + 1), where the second bound takes over from the first."""
        return (1 if self.published else 1 - self.delta) / (self.factor + 1)

    def require_corrected(self) -> None:
        """Refuse the published operator, where a closed form or a mechanism is asked for."""
        if self.published:
            raise BadParameter("this is for the corrected operator only", fix="leave out published, or use iterate")

    def raise_sum(self, prefix_sum: Fraction) -> Fraction:
        """The map s ↦ s', the most that one prefix sum can grow to in one step."""
        growing, falling = self.factor * prefix_sum, 1 - prefix_sum
        if self.published:
            return min(_ONE, min(growing, 1 - falling / self.factor) + self.delta)
        return min(_ONE, growing + self.delta, 1 - (falling - self.delta) / self.factor)

    def __call__(self, distribution: Sequence[NumberLike]) -> Distribution:
        """T(p)."""
        return self.iterate(distribution, 1)

    def iterate(self, distribution: Sequence[NumberLike], steps: NumberLike) -> Distribution:
        """T applied step by step; `closed_form.after` gets there at once."""
        sums = prefix_sums(read_distribution(distribution))
        for _ in range(read_integer(steps, "steps", at_least=0)):
            sums = tuple(map(self.raise_sum, sums))
        return from_prefix_sums(sums)
