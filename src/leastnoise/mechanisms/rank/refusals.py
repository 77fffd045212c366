"""Why data without bounds is refused, and what even bounds cannot give.

Tóthmérész (2013, Propositions 3.1 and 3.2): if one record can move the answer by any amount K, then an ε-private
mechanism with expected error at most γ gives any bounded set of outputs with probability at most e^ε·γ/K, for every K,
hence never. Proposition 3.3: so no ε-private mechanism has a bounded expected error for the median of unbounded data.
The databases {x} and {x, x ± 2K} show the same for every other quantile and for the mean. Bounds, or a finite grid, are
therefore a public input that cannot be left out, and they never come from the data.
"""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np

from leastnoise.errors import BadParameter, UnboundedData
from leastnoise.exact.enclosures import Enclosure, exp_enclosure
from leastnoise.exact.numbers import Exact
from leastnoise.exact.parameters import NumberLike, read_rational

__all__ = ["LARGEST", "least_worst_error", "read_bounds", "unbounded"]

LARGEST = 2**1000  # bounds, and widths between them, are then doubles


def unbounded(what: str, given: object = None) -> UnboundedData:
    """The refusal of unbounded data, with its reason.

    >>> raise unbounded("upper is missing")
    Traceback (most recent call last):
    leastnoise.errors.UnboundedData: upper is missing: one record could then move the answer without limit, and no ...
    """
    return UnboundedData(
        f"{what}: one record could then move the answer without limit, and no differentially private mechanism has a "
        "bounded expected error (Tóthmérész 2013, Propositions 3.1 to 3.3)",
        given=given,
        fix="pass finite public bounds, not taken from the data; values outside are clamped to them",
    )


def read_bounds(lower: NumberLike | None, upper: NumberLike | None) -> tuple[Fraction, Fraction]:
    """Read the public bounds of the data.

    Raises:
        UnboundedData: A bound is missing or infinite.
        BadParameter: A bound is no number, or the lower one is not below the upper one.

    >>> read_bounds(0, "1e6")
    (Fraction(0, 1), Fraction(1000000, 1))
    """
    least, most = _read_bound(lower, "lower"), _read_bound(upper, "upper")
    if least >= most:
        raise BadParameter(
            "lower must be below upper", given=f"lower={least}, upper={most}", fix="swap the two, or widen them"
        )
    return least, most


def _read_bound(bound: NumberLike | None, name: str) -> Fraction:
    if bound is None:
        raise unbounded(f"{name} is missing")
    if isinstance(bound, float | np.floating | Decimal) and math.isinf(bound):
        raise unbounded(f"{name} is infinite", bound)
    return read_rational(bound, name, at_least=-LARGEST, at_most=LARGEST)


def least_worst_error(width: Fraction, epsilon: Exact, distance: int) -> Enclosure:
    """width/(e^(⌊d/2⌋·ε) + e^(⌈d/2⌉·ε)): no mechanism has a smaller expected absolute error on every database.

    Valid where two databases d records apart have their answers `width` apart. Let f be the share of the width between
    the first answer and the output. Half-way between the two databases E f or E(1 − f) is at least ½, and so at one of
    the two it is at least ½e^(−(d/2)·ε). For odd d the two databases in the middle have E f ≥ 1/(1 + e^ε) at the one or
    E(1 − f) ≥ 1/(1 + e^ε) at the other.

    For the median of data in [a, b] d is one where a record may change and two where it may come or go, which gives
    (b − a)/(1 + e^ε) and (b − a)/(2e^ε); Tóthmérész (2013, Proposition 3.4) has (b − a)/8 for ε < 1/2.

    >>> from leastnoise.exact import ln
    >>> least_worst_error(Fraction(8), ln(3), 1), least_worst_error(Fraction(6), ln(3), 2)
    (Enclosure(2), Enclosure(1))
    """
    near, far = exp_enclosure(epsilon * (distance // 2)), exp_enclosure(epsilon * (distance - distance // 2))
    return Enclosure(width / (near.upper + far.upper), width / (near.lower + far.lower))
