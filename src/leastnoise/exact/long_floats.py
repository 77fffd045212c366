"""Floating-point numbers of as many bits as are asked for: for guesses that doubles are too short for, not for proofs.

They are FLINT's balls without their radii: every result is rounded, and nothing says by how much.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from fractions import Fraction
from typing import Any

from flint import arb, arb_mat, ctx, fmpq

__all__ = ["LongFloat", "LongMatrix", "long_fraction", "long_precision", "rounded_long", "solve_long"]

LongFloat = arb
LongMatrix = arb_mat


def long_precision(bits: int) -> AbstractContextManager[Any]:
    """Within it results have so many bits.

    >>> with long_precision(200):
    ...     third = rounded_long(Fraction(1, 3))
    >>> abs(long_fraction(third) - Fraction(1, 3)) < Fraction(1, 2**200)
    True
    """
    context: AbstractContextManager[Any] = ctx.workprec(bits)
    return context


def rounded_long(number: Fraction) -> LongFloat:
    """The nearest such number, nearly."""
    return (arb(fmpq(number.numerator, number.denominator))).mid()


def long_fraction(number: LongFloat) -> Fraction:
    """The number itself."""
    mantissa, exponent = number.mid().man_exp()
    return Fraction(int(mantissa)) * Fraction(2) ** int(exponent)


def solve_long(matrix: LongMatrix, right: Sequence[Sequence[LongFloat]]) -> list[list[LongFloat]] | None:
    """X with matrix·X = right, nearly; None where the matrix seems to be singular."""
    try:
        solved = matrix.solve(arb_mat([list(row) for row in right]), algorithm="approx")
    except ZeroDivisionError:
        return None
    table: list[list[LongFloat]] = solved.tolist()
    return table
