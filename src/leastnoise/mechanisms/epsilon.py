"""The range of ε in which doubles may guess: within it no float of a rate overflows, vanishes or divides by zero."""

from __future__ import annotations

from fractions import Fraction

from leastnoise.exact.numbers import Exact
from leastnoise.exact.parameters import NumberLike, read_exact

__all__ = ["read_epsilon"]

_LEAST, _MOST = Fraction(1, 10**30), 10**4


def read_epsilon(epsilon: NumberLike) -> Exact:
    """Read ε, from 1e-30 to 10,000: a smaller one answers nothing, a larger one protects nobody.

    >>> read_epsilon(0.5)
    Fraction(1, 2)
    """
    return read_exact(epsilon, "epsilon", at_least=_LEAST, at_most=_MOST)
