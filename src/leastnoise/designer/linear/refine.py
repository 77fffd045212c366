"""Square sparse systems over the rationals: exactly where they are small, else to as many digits as asked for.

Iterative refinement: a floating-point factorisation solves for the residual, which is computed exactly, and each round
adds about as many digits as the factorisation has right (Gleixner, Steffy and Wolter, Iterative refinement for linear
programming, INFORMS J. Comput. 2016, use the same idea on whole programs).
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from scipy.sparse import csc_array
from scipy.sparse.linalg import splu

from leastnoise.exact.matrices import RationalMatrix

__all__ = ["Entry", "solve_square"]

Entry = tuple[int, int, Fraction]

_SMALL = 160
_ROUNDS = 12


def solve_square(size: int, entries: Sequence[Entry], right: Sequence[Fraction], bits: int) -> list[Fraction] | None:
    """Solve M·x = right for a square M given by its entries (row, column, value); None if it is singular.

    Small systems are solved exactly. In others the error of x is about 2^-bits, as far as refinement converges; if the
    simplest fractions that near solve the system, then they are the solution, and it is exact, too.

    >>> solve_square(2, [(0, 0, Fraction(2)), (1, 1, Fraction(4))], [Fraction(1), Fraction(1)], 64)
    [Fraction(1, 2), Fraction(1, 4)]
    """
    if size <= _SMALL:
        return _exactly(size, entries, right)
    rows, columns = [row for row, _, _ in entries], [column for _, column, _ in entries]
    values = np.array([float(value) for _, _, value in entries])
    try:
        factors = splu(csc_array((values, (rows, columns)), shape=(size, size)))
    except RuntimeError:  # singular
        return None
    unit = 2**bits
    point = [Fraction(0)] * size
    last = float("inf")
    for _ in range(_ROUNDS):
        residual = _residual(entries, right, point)
        miss = max(map(abs, residual))
        if miss == 0 or float(miss) >= last / 2:
            break
        last = float(miss)
        step = factors.solve(np.array([float(entry / miss) for entry in residual]))
        if not np.isfinite(step).all():
            return None
        point = [
            Fraction(round((x + Fraction(dx) * miss) * unit), unit) for x, dx in zip(point, step.tolist(), strict=True)
        ]
    simple = [x.limit_denominator(2 ** (bits // 2 - 16)) for x in point]
    return point if any(_residual(entries, right, simple)) else simple


def _residual(entries: Sequence[Entry], right: Sequence[Fraction], point: Sequence[Fraction]) -> list[Fraction]:
    residual = list(right)
    for row, column, value in entries:
        residual[row] -= value * point[column]
    return residual


def _exactly(size: int, entries: Sequence[Entry], right: Sequence[Fraction]) -> list[Fraction] | None:
    table = [[Fraction(0)] * size for _ in range(size)]
    for row, column, value in entries:
        table[row][column] += value
    matrix = RationalMatrix(table, size)
    if matrix.rank() < size:
        return None
    solution = matrix.solve(RationalMatrix([[entry] for entry in right], 1))
    return None if solution is None else [value for (value,) in solution.rows]
