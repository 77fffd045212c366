"""What Aldà and Simon (CSCML 2017, sections 4 and 5) prove about paths, with the conditions corrected; γ = e^-ε.

The loss is the distance, the prior uniform. The optimum itself is known too (`path_optimum`); the bounds show how close
the paper's argument comes, and what the exponential mechanism loses.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from leastnoise.designer.bounds.bound import Bound
from leastnoise.designer.theorems.uniform_count import uniform_count
from leastnoise.errors import BadParameter
from leastnoise.exact.balls import of_fraction
from leastnoise.exact.enclosures import Enclosure, enclose, exp_enclosure
from leastnoise.exact.formulas import at_alpha
from leastnoise.exact.numbers import Exact, ball_of
from leastnoise.exact.parameters import NumberLike, read_exact, read_integer, read_rational
from leastnoise.mechanisms.lower_bounds import count_bound

__all__ = [
    "exponential_share",
    "exponential_upper_bound",
    "layered_path",
    "long_path_bound",
    "path_bound",
    "path_optimum",
    "worst_path_bound",
]

_PAPER = "Aldà and Simon, CSCML 2017"
_SLACKS = [Fraction(k, 8) for k in range(9, 200)]


def path_optimum(nodes: NumberLike, epsilon: NumberLike) -> Bound:
    """The least expected distance on a path under the uniform prior, itself.

    >>> path_optimum(40, 1)
    Bound(≈ 0.817264811781135)
    """
    size, rate = read_integer(nodes, "nodes", at_least=2), read_exact(epsilon, "epsilon", above=0)
    return Bound.of(
        uniform_count(rate, size).loss,
        f"no ε-private mechanism on a path of {size} nodes has a smaller expected distance under the uniform prior",
        "Ghosh, Roughgarden and Sundararajan, SIAM J. Comput. 2012, Theorem 3.2",
    )


def worst_path_bound(nodes: NumberLike, epsilon: NumberLike) -> Bound:
    """What every mechanism on a path costs at its worst node: 2kγ/((1 + γ)(k + 1 − (k − 1)γ)) for k + 1 nodes.

    >>> worst_path_bound(2, "ln(3)")
    Bound(1/4)
    """
    size = read_integer(nodes, "nodes", at_least=2)
    return Bound.of(
        count_bound(size - 1, epsilon),
        f"every ε-private mechanism on a path of {size} nodes has at least this expected distance at some node",
        "Ghosh, Roughgarden and Sundararajan, SIAM J. Comput. 2012, with a prior that needs no remap",
    )


def layered_path(steps: NumberLike, epsilon: NumberLike) -> Bound:
    """Lemma 6: f(ℓ) = 2Σγ^d·d/(1 + 2Σγ^d) over d = 1..ℓ, the least mean distance to the middle of 2ℓ + 1 nodes.

    It grows with ℓ towards 2γ/(1 − γ²) and is above 2γ/(1 − γ²)·(1 − γ^ℓ − ℓγ^ℓ(1 − γ)).

    >>> layered_path(1, "ln(2)")
    Bound(1/2)
    """
    reach, rate = read_integer(steps, "steps", at_least=1), read_exact(epsilon, "epsilon", above=0)
    return Bound.of(
        at_alpha(rate, lambda a: _layered(a, reach), power=2 * reach + 4),
        f"the least mean distance to the middle of a path of {2 * reach + 1} nodes where each step away from it keeps "
        "at least e^-ε of the probability",
        f"{_PAPER}, Lemma 6",
    )


def path_bound(nodes: NumberLike, epsilon: NumberLike, slack: NumberLike | None = None) -> Bound:
    """Theorem 2: the optimum is at least min{1 − 4sℓ/K, 2γ/(1 + γ)·(1 − 1/s)(1 − (s + 1)e^-s)}/(1 − γ) on K nodes.

    Args:
        nodes: K, at least 4ℓ with ℓ = ⌈s/(1 − γ)⌉.
        epsilon: The privacy.
        slack: s ≥ 1; the best of many if left out.

    Raises:
        BadParameter: There are fewer nodes than the theorem needs.

    >>> path_bound(1000, 1)
    Bound(≈ 0.7...)
    """
    size, rate = read_integer(nodes, "nodes", at_least=2), read_exact(epsilon, "epsilon", above=0)
    given = None if slack is None else read_rational(slack, "slack", at_least=1)
    choices = [s for s in (_SLACKS if given is None else [given]) if size >= 4 * _reach(rate, s)]
    if not choices:
        raise _too_short(size, 4 * _reach(rate, _SLACKS[0] if given is None else given))
    s = max(choices, key=lambda s: min(map(float, _terms(rate, size, s))))
    first, second = _terms(rate, size, s)
    return Bound.of(
        Enclosure(min(first.lower, second.lower), min(first.upper, second.upper)),
        f"no ε-private mechanism on a path of {size} nodes has a smaller expected distance (s = {s})",
        f"{_PAPER}, Theorem 2",
    )


def long_path_bound(nodes: NumberLike, epsilon: NumberLike, slack: NumberLike) -> Bound:
    """Corollary 3: the optimum is at least 2γ/(1 − γ²)·(1 − 1/s)(1 − (s + 1)e^-s) if K ≥ 4s²ℓ, ℓ = ⌈s/(1 − γ)⌉, s ≥ 2.

    The paper has K ≥ s²ℓ(1 + γ)/γ, under which the first of Theorem 2's two terms can still be the smaller one, and a
    bracket that closes too late; with K ≥ 4s²ℓ the first term is at least 1 − 1/s, and the second is not more.

    >>> long_path_bound(10**4, "ln(2)", 3)
    Bound(≈ 0.711868201358706)
    """
    size, rate = read_integer(nodes, "nodes", at_least=2), read_exact(epsilon, "epsilon", above=0)
    s = read_rational(slack, "slack", at_least=2)
    least = math.ceil(4 * s * s * _reach(rate, s))
    if size < least:
        raise _too_short(size, least)
    return Bound.of(
        _terms(rate, size, s)[1],
        f"no ε-private mechanism on a path of at least {least} nodes has a smaller expected distance (s = {s})",
        f"{_PAPER}, Corollary 3, corrected",
    )


def exponential_upper_bound(epsilon: NumberLike) -> Bound:
    """Lemma 7: p(y|x) ∝ γ^d(x, y), which is only 2ε-private on a path, costs less than 2γ/(1 − γ²) there.

    >>> exponential_upper_bound("ln(3)")
    Bound(3/4)
    """
    rate = read_exact(epsilon, "epsilon", above=0)
    return Bound.of(
        at_alpha(rate, lambda a: 2 * a / (1 - a * a)),
        "the exponential mechanism with weights e^(−ε·d), which is 2ε-private, has a smaller expected loss on paths",
        f"{_PAPER}, Lemma 7",
    )


def exponential_share(nodes: NumberLike, epsilon: NumberLike, slack: NumberLike) -> Bound:
    """Corollary 4: optimum / loss of the ε-private exponential mechanism ≥ √γ/(1 + γ)·(1 − 1/s)(1 − (s + 1)e^-s).

    The conditions are those of Corollary 3; the mechanism has the weights e^(−ε·d/2).

    >>> exponential_share(10**4, "ln(2)", 3)
    Bound(≈ 0.251683416245906)
    """
    size, rate = read_integer(nodes, "nodes", at_least=2), read_exact(epsilon, "epsilon", above=0)
    s = read_rational(slack, "slack", at_least=2)
    bound = long_path_bound(size, epsilon, s)
    above = exponential_upper_bound(str(rate / 2))
    return Bound.of(
        Enclosure(bound.lower / above.upper, bound.upper / above.lower),
        f"the optimum is at least this share of what the exponential mechanism costs (s = {s})",
        f"{_PAPER}, Corollary 4, with the conditions of Corollary 3 corrected",
    )


def _layered(a: Any, reach: int) -> Any:
    """Σ d·a^d = a(1 − (ℓ + 1)a^ℓ + ℓ·a^(ℓ+1))/(1 − a)² and 1 + 2Σ a^d = (1 + a − 2a^(ℓ+1))/(1 − a)."""
    ends = a**reach
    return 2 * a * (1 - (reach + 1) * ends + reach * ends * a) / ((1 - a) * (1 + a - 2 * ends * a))


def _reach(rate: Exact, s: Fraction) -> int:
    """⌈s/(1 − γ)⌉, or one more where γ is too close to tell."""
    return math.ceil(s / (1 - exp_enclosure(-rate).upper))


def _terms(rate: Exact, size: int, s: Fraction) -> tuple[Enclosure, Enclosure]:
    """The two terms of Theorem 2, divided by 1 − γ."""
    share = 1 - 4 * s * _reach(rate, s) / Fraction(size)
    gamma = exp_enclosure(-rate, 128)
    ends = [share / (1 - gamma.lower), share / (1 - gamma.upper)]

    def second() -> Any:
        a, slack = (-ball_of(rate)).exp(), of_fraction(s)
        return 2 * a / (1 - a * a) * (1 - 1 / slack) * (1 - (slack + 1) * (-slack).exp())

    later = enclose(second) if s > 1 else Enclosure(Fraction(0), Fraction(0))
    return Enclosure(min(ends), max(ends)), later


def _too_short(size: int, least: int) -> BadParameter:
    return BadParameter(
        f"the path must have at least {least} nodes for this bound",
        given=size,
        fix="use path_optimum, which holds for every path",
    )
