"""Counting by generating functions: the coefficients of a polynomial as a list."""

from __future__ import annotations

__all__ = ["plus", "times_run"]


def times_run(coefficients: list[int], width: int) -> list[int]:
    """The coefficients multiplied by 1 + u + … + u^(width − 1), in linear time.

    >>> times_run([1, 2], 3)
    [1, 3, 3, 2]
    """
    found, running = [], 0
    for k in range(len(coefficients) + width - 1):
        running += coefficients[k] if k < len(coefficients) else 0
        running -= coefficients[k - width] if k >= width else 0
        found.append(running)
    return found


def plus(one: list[int], other: list[int]) -> list[int]:
    """The sum of two polynomials.

    >>> plus([1, 2, 3], [10])
    [11, 2, 3]
    """
    shorter, longer = sorted((one, other), key=len)
    return [a + b for a, b in zip(shorter, longer, strict=False)] + longer[len(shorter) :]
