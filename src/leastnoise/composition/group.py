"""Group privacy: what a promise for one person is worth for k people at once.

An (ε, δ) promise gives P₀(S) ≤ e^ε·P₁(S) + δ ≤ e^ε(e^ε·P₂(S) + δ) + δ ≤ …, hence (kε, δ·Σ_{j<k} e^(jε)) for a group of
k. The sum is at most k·e^((k−1)ε), which is how the theorem is usually written (C-L2, Theorem 6). ρ becomes k²ρ (Bun
and Steinke 2016, Proposition 1.9) and μ becomes kμ (Dong, Roth and Su 2022, Theorem 2.14).
"""

from __future__ import annotations

from fractions import Fraction

from leastnoise.errors import BadParameter
from leastnoise.exact import Ball, Exact, NumberLike, ball_of, enclose, exact_exp, of_fraction, read_integer
from leastnoise.model import Privacy

__all__ = ["group_delta_above", "group_privacy"]

_MOST_EXACT = 64  # people, beyond which an exact sum has too many digits


def group_privacy(privacy: Privacy, size: NumberLike) -> Privacy:
    """The promise that `privacy` makes to groups of `size` people; δ is rounded up.

    Args:
        privacy: The promise to one person.
        size: How many people, at least one.

    Raises:
        BadParameter: The group is so large that nothing is promised any more.

    >>> group_privacy(Privacy("1/10"), 3)
    Privacy(epsilon=3/10, delta=0)
    >>> float(group_privacy(Privacy("ln(2)", "1/100"), 3).delta)
    0.07
    >>> group_privacy(Privacy(rho="1/10"), 3), group_privacy(Privacy(mu="1/5"), 3)
    (Privacy(rho=9/10), Privacy(mu=3/5))
    """
    size = read_integer(size, "size", at_least=1)
    if privacy.currency == "rho":
        return Privacy(rho=privacy.rho * size**2)
    if privacy.currency == "mu":
        return Privacy(mu=privacy.mu * size)
    return Privacy(privacy.epsilon * size, group_delta_above(privacy.epsilon, privacy.delta, size))


def group_delta_above(epsilon: Exact, delta: Fraction, size: int) -> Fraction:
    """A rational that is at least δ·Σ_{j<size} e^(jε) and below one."""
    if delta == 0 or size == 1:
        return delta

    odds = exact_exp(epsilon)
    if odds is not None and size <= _MOST_EXACT:
        total = delta * sum((odds**j for j in range(size)), start=Fraction(0))
    else:

        def grown() -> Ball:
            return of_fraction(delta) * (ball_of(epsilon) * size).expm1() / ball_of(epsilon).expm1()

        total = delta * size if epsilon == 0 else enclose(grown).upper
    if total >= 1:
        raise BadParameter(
            "nothing is promised to a group this large: its delta reaches one",
            given=f"{size} people at epsilon = {epsilon}, delta = {delta}",
            fix="take a smaller group, or a smaller delta for one person",
        )
    return total
