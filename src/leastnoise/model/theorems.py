"""The theorems that a certificate may appeal to, each with its statement and where it is proven.

A name never changes its meaning; an unknown one is refused.
"""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["LARGEST_CHANNEL", "THEOREMS", "Theorem"]

LARGEST_CHANNEL = 256  # nodes: on larger graphs a certificate may leave the theorem's channel out


class Theorem(NamedTuple):
    """What a theorem says and where it is proven."""

    statement: str
    source: str


THEOREMS: dict[str, Theorem] = {
    "exponential-of-distance": Theorem(
        "On a vertex-transitive graph with regular layers p(y|x) ∝ e^(−ε·d(x, y)) is ε-private and has the least "
        "expected distance of all ε-private channels under the uniform prior.",
        "Aldà and Simon, On the optimality of the exponential mechanism, CSCML 2017, Theorem 1",
    ),
    "exponential-of-distance-for-growing-losses": Theorem(
        "On a vertex-transitive graph with regular layers p(y|x) ∝ e^(−ε·d(x, y)) is ε-private and, for every loss "
        "that is a non-decreasing function of d(x, y), has the least expected loss of all ε-private channels under the "
        "uniform prior, and the least largest expected loss of an input.",
        "Aldà and Simon, On the optimality of the exponential mechanism, CSCML 2017, proof of Theorem 1",
    ),
    "truncated-geometric": Theorem(
        "On a path the truncated geometric channel with α = e^-ε is ε-private and, after the best remap, has the least "
        "expected loss of all ε-private channels for every prior and every monotone loss.",
        "Ghosh, Roughgarden and Sundararajan, Universally utility-maximizing privacy mechanisms, SIAM J. Comput. 2012",
    ),
}
