"""Convolution of two lists of integers in fixed point, with the direction of the one rounding in the name.

The product itself is exact (FLINT multiplies polynomials over the integers), so no rounding of a fast Fourier transform
enters, and small entries beside large ones keep all their digits.
"""

from __future__ import annotations

from collections.abc import Sequence

from flint import fmpz_poly

__all__ = ["convolve_above", "convolve_below"]


def convolve_above(left: Sequence[int], right: Sequence[int], bits: int) -> list[int]:
    """Each entry is Σ left[i]·right[j]/2^bits over i + j = k, rounded up.

    >>> convolve_above([1, 3], [2, 2], 1)
    [1, 4, 3]
    >>> convolve_above([1, 1], [1, 0], 1)
    [1, 1, 0]
    """
    return [-(-entry >> bits) for entry in _product(left, right)]


def convolve_below(left: Sequence[int], right: Sequence[int], bits: int) -> list[int]:
    """Each entry is Σ left[i]·right[j]/2^bits over i + j = k, rounded down.

    >>> convolve_below([1, 3], [2, 2], 1), convolve_below([1, 1], [1, 1], 1)
    ([1, 4, 3], [0, 1, 0])
    """
    return [entry >> bits for entry in _product(left, right)]


def _product(left: Sequence[int], right: Sequence[int]) -> list[int]:
    first = fmpz_poly(list(left))
    product = first * (first if right is left else fmpz_poly(list(right)))  # a square takes half the time
    coefficients = [int(entry) for entry in product.coeffs()]
    # A polynomial drops its leading zeros; the list keeps its length.
    return coefficients + [0] * (len(left) + len(right) - 1 - len(coefficients))
