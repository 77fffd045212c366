"""The diagonal of A^-½ from below, against eigenvalues in high precision and closed forms."""

from fractions import Fraction

import numpy as np
import pytest
from flint import arb, arb_mat, ctx

from leastnoise.errors import BadParameter
from leastnoise.exact.tridiagonal import _summed, doubles_above, doubles_below, inverse_root_diagonal

RNG = np.random.default_rng(3)


def precise_root_diagonal(diagonal, squares):
    """diag(A^-½) by Denman and Beavers' iteration with 300 bits."""
    size, before = len(diagonal), ctx.prec
    ctx.prec = 300
    try:
        beside = [arb(b).sqrt() for b in squares]
        rows = [[arb(0)] * size for _ in range(size)]
        for i in range(size):
            rows[i][i] = arb(diagonal[i])
            if i + 1 < size:
                rows[i][i + 1] = rows[i + 1][i] = beside[i]
        y, z = arb_mat(rows), arb_mat([[arb(int(i == j)) for j in range(size)] for i in range(size)])
        for _ in range(25):
            y, z = (y + z.inv()) * arb("0.5"), (z + y.inv()) * arb("0.5")
            y, z = (
                arb_mat([[e.mid() for e in row] for row in y.tolist()]),
                arb_mat([[e.mid() for e in row] for row in z.tolist()]),
            )
        return [float(z[i, i].mid()) for i in range(size)]
    finally:
        ctx.prec = before


@pytest.mark.parametrize("size", [1, 2, 3, 8, 20])
def test_it_is_below_and_near_the_true_diagonal(size):
    for _ in range(5):
        beside = RNG.uniform(0.1, 1, max(size - 1, 0))
        diagonal = 0.01 + np.abs(np.r_[0, beside])[:size] + np.abs(np.r_[beside, 0])[:size] + RNG.uniform(0, 1, size)
        squares = beside**2
        full = np.diag(diagonal) + np.diag(beside, 1) + np.diag(beside, -1)
        values = np.linalg.eigvalsh(full)
        found = inverse_root_diagonal(diagonal, squares, float(values[0]), float(values[-1]))
        exact = precise_root_diagonal(diagonal.tolist(), squares.tolist())
        for low, true in zip(found, exact, strict=True):
            assert true * (1 - 1e-6) < low <= true * (1 + 1e-15)
        for least, most in ((values[0] * 100, values[-1] * 100), (values[0] / 100, values[-1] / 50), (1.0, 1.0)):
            guess = inverse_root_diagonal(diagonal, squares, float(least), float(max(least, most)))
            assert all(low <= true * (1 + 1e-15) for low, true in zip(guess, exact, strict=True))  # never above


def exact_sums(diagonal, squares, poles, weights):
    """Σ_j w_j·diag((A + p_j·I)^-1) in fractions."""
    size, sums = len(diagonal), [Fraction(0)] * len(diagonal)
    for pole, weight in zip(poles, weights, strict=True):
        shifted = [Fraction(d) + Fraction(pole) for d in diagonal]
        forward, backward = [shifted[0]], [shifted[-1]]
        for i in range(1, size):
            forward.append(shifted[i] - Fraction(squares[i - 1]) / forward[-1])
            backward.append(shifted[-1 - i] - Fraction(squares[-i]) / backward[-1])
        for i, (ahead, behind) in enumerate(zip(forward, backward[::-1], strict=True)):
            sums[i] += Fraction(weight) / (ahead + behind - shifted[i])
    return sums


@pytest.mark.parametrize("size", [1, 2, 5])
def test_sums_of_doubles_are_rounded_down(size):
    """To the last bit: every rounding on the way goes to the safe side."""
    for _ in range(20):
        diagonal, squares = RNG.uniform(3, 4, size), RNG.uniform(0.5, 1, size - 1)
        poles, weights = RNG.uniform(0.1, 5, 3), RNG.uniform(0.1, 5, 3)
        found = _summed(diagonal, squares, poles, weights)
        for low, exact in zip(found.tolist(), exact_sums(diagonal, squares, poles, weights), strict=True):
            assert exact * (1 - Fraction(1, 10**13)) < Fraction(low) <= exact


def test_second_differences_have_a_closed_form():
    size = 300
    found = inverse_root_diagonal(np.full(size, 2.0), np.ones(size - 1), 1e-4, 4.0)
    angles = np.arange(1, size + 1) * np.pi / (size + 1)
    vectors = np.sin(np.outer(np.arange(1, size + 1), angles)) ** 2 * 2 / (size + 1)
    exact = vectors @ (1 / (2 * np.sin(angles / 2)))
    assert ((found <= exact * (1 + 1e-12)) & (found >= exact * (1 - 1e-6))).all()


def test_matrices_that_are_not_positive_or_not_finite_are_refused():
    for diagonal, squares in (([1.0, 1.0], [4.0]), ([1.0, float("nan")], [0.0]), ([float("inf"), 1.0], [0.0])):
        with pytest.raises(BadParameter):
            inverse_root_diagonal(np.array(diagonal), np.array(squares), 1e-6, 3.0)
    for least, most in ((0.0, 1.0), (2.0, 1.0), (1.0, float("inf"))):
        with pytest.raises(BadParameter):
            inverse_root_diagonal(np.ones(2), np.zeros(1), least, most)


def test_doubles_are_on_their_side():
    numbers = [Fraction(1, 3), Fraction(10**30 + 1), Fraction(1, 2)]
    for low, exact, high in zip(doubles_below(numbers), numbers, doubles_above(numbers), strict=True):
        assert Fraction(low) < exact < Fraction(high)
