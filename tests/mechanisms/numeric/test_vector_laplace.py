"""Noise on vectors: sums that never wrap, linear maps, and the quantile of the ℓ1 error."""

from fractions import Fraction

import numpy as np
import pytest

from leastnoise.errors import BadParameter
from leastnoise.exact import SeededSource, read_exact
from leastnoise.exact.laplace_sums import l1_quantile
from leastnoise.mechanisms.numeric import VectorLaplace
from support.statistics import fits


@pytest.mark.parametrize("kind", [np.int8, np.uint8, np.int32, np.uint32, np.int64])
def test_every_width_of_integers_is_taken_and_given_back_as_64_bits(kind):
    limit = np.iinfo(kind)
    answer = np.array([limit.min if limit.bits < 64 else -(2**60), limit.max if limit.bits < 64 else 2**60], dtype=kind)
    drawn = VectorLaplace(1, 2).release(answer)
    assert drawn.dtype == np.int64
    assert np.abs(drawn - answer.astype(np.int64)).max() < 1000


@pytest.mark.parametrize("answer", [np.array([2**63 - 1, -(2**63)]), np.array([2**64 - 1, 0], dtype=np.uint64)])
def test_sums_at_the_edge_of_64_bits_become_whole_numbers_of_any_size(answer):
    mechanism = VectorLaplace("1/1000", 2)
    drawn = mechanism.draw(answer, size=200, source=SeededSource(5))
    assert drawn.dtype == object
    noise = drawn - np.array([int(x) for x in answer], dtype=object)
    assert 1000 < max(abs(x) for x in noise.flat) < 10**5
    assert any(y > 2**63 - 1 for y in drawn[:, 0])


def test_python_integers_are_taken_too():
    drawn = VectorLaplace(1, 2).release([10**30, 5])
    assert abs(drawn[0] - 10**30) < 1000


def test_the_answer_is_not_changed():
    answer = np.zeros(1000, dtype=np.int64)
    VectorLaplace(1, 1000).release(answer)
    assert not answer.any()


def test_coordinates_are_independent():
    mechanism = VectorLaplace("ln(3)", 2)
    drawn = mechanism.draw((0, 0), size=200_000)
    both = np.clip(drawn, -2, 2) + 2
    marginal = np.array([1 / 12, 1 / 6, 1 / 2, 1 / 6, 1 / 12])
    shares = np.outer(marginal, marginal).ravel().cumsum()
    assert fits(both[:, 0] * 5 + both[:, 1], lambda i: shares[i], 0, 23)


def test_the_sensitivity_of_a_map_is_its_largest_column():
    matrix = np.array([[1, -2, 0], [1, 1, 0], [1, 0, 1]])
    mechanism = VectorLaplace.for_linear_map(matrix, "ln(2)")
    assert (mechanism.dimension, mechanism.sensitivity) == (3, 3)
    assert mechanism.error().expected.lower <= 3 * 3 / Fraction(0.6931)


@pytest.mark.parametrize("matrix", [[[0.5]], [], [[0, 0]], [[1, "x"]], [1, 2]])
def test_maps_that_are_no_whole_matrices_are_refused(matrix):
    with pytest.raises(BadParameter, match="matrix"):
        VectorLaplace.for_linear_map(matrix, 1)


@pytest.mark.parametrize(("rate", "dimension"), [("ln(3)", 1), ("1/10", 3), ("1/10", 100), (1, 50), (8, 20)])
def test_the_quantile_of_the_sum_is_the_least_one(rate, dimension):
    """Against the law of the sum by repeated convolution, in doubles."""
    alpha = float(np.exp(-float(read_exact(rate, "rate"))))
    size = 4096
    mass = 2 * (1 - alpha) / (1 + alpha) * alpha ** np.arange(size)
    mass[0] /= 2
    total = np.fft.irfft(np.fft.rfft(np.concatenate([mass, np.zeros(size)])) ** dimension, 2 * size)
    quantile = l1_quantile(read_exact(rate, "rate"), dimension, Fraction(19, 20))
    assert quantile == np.searchsorted(total.cumsum(), 0.95)


@pytest.mark.parametrize(("rate", "dimension"), [(1, 10**6), ("1/1000", 10**5), ("1e-9", 10**7)])
def test_for_very_many_coordinates_it_is_safe_and_near(rate, dimension):
    number = float(read_exact(rate, "rate"))
    mean = dimension / np.sinh(number)
    deviation = (dimension * (0.5 / np.sinh(number / 2) ** 2 - 1 / np.sinh(number) ** 2)) ** 0.5
    quantile = l1_quantile(read_exact(rate, "rate"), dimension, Fraction(19, 20))
    assert mean + 1.6 * deviation < quantile < mean + 3 * deviation


def test_sizes_and_shapes():
    mechanism = VectorLaplace(1, 3)
    assert mechanism.draw((1, 2, 3), size=(4, 5)).shape == (4, 5, 3)
    assert mechanism.draw([1, 2, 3]).shape == (3,)
    assert VectorLaplace(1, 10**6).release(np.zeros(10**6, dtype=np.int64)).shape == (10**6,)
