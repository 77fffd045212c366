"""What a reader of the truncated geometric channel best says for each output, and what that costs: exact or enclosed.

For every output y the guess w minimises Σ_x ℓ(w, x)·π_x·α^|x − y|. Where α is irrational its powers are enclosed to 256
bits; guesses whose costs agree to that count as equal, and the enclosure of the loss allows for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

from leastnoise.exact.enclosures import Enclosure, exp_enclosure
from leastnoise.exact.matrices import RationalMatrix
from leastnoise.exact.numbers import Exact

__all__ = ["Remapping", "best_reading"]

_BITS = 256


class Remapping(NamedTuple):
    """The guess for each output, by its row of the table, what it costs at least and at most, and the total."""

    guesses: tuple[int, ...]
    costs: tuple[Enclosure, ...]
    loss: Enclosure


def best_reading(rate: Exact, table: RationalMatrix, prior: Sequence[Fraction]) -> Remapping:
    """The best guess for each output of the truncated geometric channel with α = e^-rate.

    Args:
        rate: Above zero.
        table: ℓ, a row for each guess, a column for each node along the line.
        prior: A probability for each node along the line.

    >>> from leastnoise.exact import ln
    >>> best_reading(ln(2), RationalMatrix([[0, 1, 2], [1, 0, 1], [2, 1, 0]]), [Fraction(1, 3)] * 3)[::2]
    ((0, 1, 2), Enclosure(5/9))
    """
    size, alpha = len(prior), exp_enclosure(-rate, _BITS + 64)
    least = [value for value, _ in table.column_minima()]
    weighted = _excess(table.transposed(), least).scaled_rows(prior).transposed()
    powers, unit, doubt = _powers(alpha, size)
    kernel = RationalMatrix([[powers[abs(x - y)] for y in range(size)] for x in range(size)])
    best = (weighted @ kernel).column_minima()
    spare = [doubt * total for total in weighted.row_sums()]
    costs = tuple(
        Enclosure(factor.lower * low / unit, factor.upper * (low / unit + spare[w]))
        for factor, (low, w) in zip(_factors(alpha, size), best, strict=True)
    )
    base = sum((low * weight for low, weight in zip(least, prior, strict=True)), start=Fraction(0))
    lower, upper = (sum((getattr(cost, end) for cost in costs), start=base) for end in ("lower", "upper"))
    return Remapping(tuple(w for _, w in best), costs, Enclosure(lower, upper))


def _excess(columns: RationalMatrix, least: Sequence[Fraction]) -> RationalMatrix:
    """ℓ(w, x) − min ℓ(·, x), a row for each x: no cost is then below zero, and the guesses are the same."""
    if not any(least):
        return columns
    return RationalMatrix([[entry - low for entry in row] for row, low in zip(columns.rows, least, strict=True)])


def _powers(alpha: Enclosure, size: int) -> tuple[list[int], int, Fraction]:
    """α^0 … α^(size − 1) as whole numbers of some unit, how many units are one, and by how much they may fall short."""
    if alpha.is_exact:
        top, bottom = alpha.lower.numerator, alpha.lower.denominator
        return [top**d * bottom ** (size - 1 - d) for d in range(size)], bottom ** (size - 1), Fraction(0)
    one = 1 << _BITS + 32
    powers, ratio = [one], int(alpha.lower * one)
    for _ in range(1, size):
        powers.append(powers[-1] * ratio // one)  # it loses at most 2^-(BITS + 31), fewer than 2^30 times
    return powers, one, Fraction(1, 1 << _BITS)


def _factors(alpha: Enclosure, size: int) -> list[Enclosure]:
    """(1 − α)/(1 + α) for each output between the ends, 1/(1 + α) for these."""
    end = Enclosure(1 / (1 + alpha.upper), 1 / (1 + alpha.lower))
    inner = Enclosure((1 - alpha.upper) / (1 + alpha.upper), (1 - alpha.lower) / (1 + alpha.lower))
    return [end, *[inner] * (size - 2), end]
