"""How much weight a step may keep: the rational q in P(y) ∝ q^‖x − y‖₁ for which the partition mechanism is ε-private.

With q = e^-c one record changes the distance by one and the normaliser by a factor between q and 1/q, so ε(q) ≤ 2c.
The normaliser can't use all of that. For neighbours that differ in box b of the diagram, Z(x')/Z(x) = q + (1/q − q)·p
with p = P(b on the other side), and p ≤ 1 − Φ(q), Φ(q) = Π_{j≥1}(1 − q^j) (docs/theory/sorted_counts.md). Hence

    ε(q) = 2c + ln(1 − (1 − q²)·Φ(q)),

which the empty list and its neighbour attain: no smaller number will do.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from math import ceil, floor

from leastnoise.errors import BadParameter
from leastnoise.exact.balls import Ball, of_fraction
from leastnoise.exact.enclosures import Enclosure, enclose, exp_above, exp_below
from leastnoise.exact.numbers import Exact, exact_exp

__all__ = ["half_keep", "privacy_of", "tight_keep"]

_DIGITS = 32  # binary digits of q beyond its leading one, and of 1 − q
_MOST_FACTORS = 1000  # of Φ; with fewer the privacy is stated too large, never too small


def privacy_of(keep: Fraction, bits: int = 64) -> Enclosure:
    """ε(q) for q = `keep`; for q very near one the upper end is the plain 2·ln(1/q).

    >>> privacy_of(Fraction(1, 2))
    Enclosure(≈ 1.14219390065589)
    """
    least, most = _no_partition(keep, Fraction(1, 2 ** (bits + 8)))

    def loss(share: Fraction) -> Callable[[], Ball]:
        return lambda: (1 - of_fraction((1 - keep**2) * share)).log() - 2 * of_fraction(keep).log()

    return Enclosure(enclose(loss(most), bits).lower, enclose(loss(least), bits).upper)


@lru_cache(maxsize=64)
def tight_keep(epsilon: Exact) -> Fraction:
    """The least q of some 32 binary digits with ε(q) ≤ epsilon, surely.

    >>> from math import log
    >>> [round(-log(tight_keep(Fraction(e))), 4) for e in (1, 2, 4)]
    [0.5685, 1.7237, 3.963]
    """
    factor, unit = exp_below(epsilon, 96), _unit(epsilon)

    def private(steps: int) -> bool:
        keep = steps * unit
        least, _ = _no_partition(keep, unit / 2**8)
        return 1 - (1 - keep**2) * least <= keep**2 * factor

    high = half_keep(epsilon, unit) / unit
    low, steps = floor(exp_below(-epsilon, 96) / unit), ceil(high)
    while steps - low > 1:
        middle = (low + steps) // 2
        low, steps = (low, middle) if private(middle) else (middle, steps)
    return min(steps * unit, half_keep(epsilon))


@lru_cache(maxsize=64)
def half_keep(epsilon: Exact, unit: Fraction | None = None) -> Fraction:
    """e^(−ε/2), or the next number of some 32 binary digits above it: the plain calibration, of bounded range ε.

    >>> from leastnoise.exact import ln
    >>> half_keep(2 * ln(3))
    Fraction(1, 3)
    """
    known = exact_exp(-epsilon / 2)
    if known is not None:
        return known
    step = unit or _unit(epsilon)
    keep = ceil(exp_above(-epsilon / 2, 96) / step) * step
    if keep >= 1:
        raise BadParameter("epsilon is too small to be met", given=epsilon, fix="choose an epsilon above 1e-20")
    return keep


def _unit(epsilon: Exact) -> Fraction:
    size = epsilon if isinstance(epsilon, Fraction) else Fraction(float(epsilon))
    small = max(Fraction(1), 1 / exp_below(-epsilon, 32), 1 / size)
    return Fraction(1, 2 ** (_DIGITS + ceil(small).bit_length()))


def _no_partition(keep: Fraction, precision: Fraction) -> tuple[Fraction, Fraction]:
    """Bounds of Φ(q): of its first J factors, and of those times 1 − q^(J+1)/(1 − q), as Π(1 − aⱼ) ≥ 1 − Σaⱼ."""
    scale = max(precision.denominator.bit_length() + 64, 128)
    one = 1 << scale
    step_low, step_high = floor(keep * one), ceil(keep * one)
    low, high, power_low, power_high = one, one, one, one
    for _ in range(_MOST_FACTORS):
        power_low, power_high = (power_low * step_low) >> scale, ((power_high * step_high) >> scale) + 1
        low, high = (low * (one - power_high)) >> scale, ((high * (one - power_low)) >> scale) + 1
        if power_high * keep < precision * (1 - keep) * one:
            break
    rest = power_high * keep / (1 - keep) / one
    return max(Fraction(low, one) * (1 - rest), Fraction(0)), Fraction(high, one)
