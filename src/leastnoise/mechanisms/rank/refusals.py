"""Why data without bounds is refused, and what even bounds cannot give.

Tóthmérész (2013, Propositions 3.1 and 3.2): if one record can move the answer by any amount K, then an ε-private
mechanism with expected error at most γ gives any bounded set of outputs with probability at most e^ε·γ/K, for every K,
hence never. Proposition 3.3: so no ε-private mechanism has a bounded expected error for the median of unbounded data.
The databases {x} and {x, x ± 2K} show the same for every other quantile and for the mean. Bounds, or a finite grid, are
therefore a public input that cannot be left out, and they never come from the data.
"""

from __future__ import annotations

import math
from fractions import Fraction

from leastnoise.errors import BadParameter, UnboundedData
from leastnoise.exact.enclosures import Enclosure, exp_enclosure
from leastnoise.exact.numbers import Exact
from leastnoise.exact.parameters import NumberLike, read_rational

__all__ = ["least_worst_error", "read_bounds", "unbounded"]


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
    for name, bound in (("lower", lower), ("upper", upper)):
        if bound is None:
            raise unbounded(f"{name} is missing")
        if isinstance(bound, float) and math.isinf(bound):
            raise unbounded(f"{name} is infinite", bound)
    least, most = read_rational(lower or 0, "lower"), read_rational(upper or 0, "upper")
    if least >= most:
        raise BadParameter(
            "lower must be below upper", given=f"lower={least}, upper={most}", fix="swap the two, or widen them"
        )
    return least, most


def least_worst_error(width: Fraction, epsilon: Exact, distance: int) -> Enclosure:
    """width/(1 + e^(distance·ε)): no mechanism has a smaller expected absolute error on every database.

    Valid where two databases `distance` records apart have their answers `width` apart. With f the share of the width
    between the first answer and the output, E f ≤ e^(distance·ε)·E' f, so E f and E'(1 − f) can't both be smaller.
    For the median of data in [a, b]: distance one where a record may change, two where it may come or go (Tóthmérész
    2013, Proposition 3.4, has (b − a)/8 for ε < 1/2).

    >>> from leastnoise.exact import ln
    >>> least_worst_error(Fraction(8), ln(3), 1)
    Enclosure(2)
    """
    factor = exp_enclosure(epsilon * distance)
    return Enclosure(width / (1 + factor.upper), width / (1 + factor.lower))
