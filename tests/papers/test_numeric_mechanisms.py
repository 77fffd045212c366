"""Numbers from the literature on numeric answers, from the mechanisms themselves."""

import math
from fractions import Fraction

import numpy as np
import pytest

from leastnoise.checker import check
from leastnoise.exact import Enclosure, ln
from leastnoise.mechanisms.numeric import Geometric, LatticeLaplace, TruncatedGeometric, TruncatedLaplace, VectorLaplace
from leastnoise.model.channel import Channel
from leastnoise.model.graphs import path
from leastnoise.model.losses import absolute, zero_one
from leastnoise.model.priors import uniform
from leastnoise.model.remapping import expected_loss


def floats(mechanism, answers, outputs):
    return Channel(np.array([[float(mechanism.pmf(y, x)) for y in outputs] for x in answers]), answers, outputs)


def test_three_points_at_one_quarter():
    """Fernandes, McIver and Morgan 2021, section II-D."""
    channel = TruncatedGeometric("ln(4)", 0, 2).channel(range(3), range(3))
    twentieths = [[16, 3, 1], [4, 12, 4], [1, 3, 16]]
    assert channel.matrix().tolist() == [[Fraction(entry, 20) for entry in row] for row in twentieths]
    assert check(channel, path(3), "ln(4)").tight_epsilon == ln(4)


def test_five_points_at_one_half_and_three_of_their_rows():
    """Section IV-C: rows 1, 3 and 5 with a uniform prior have Bayes risk one third."""
    channel = TruncatedGeometric("ln(2)", 0, 4).channel(range(5), range(5))
    assert channel.row(0) == tuple(Fraction(entry, 24) for entry in (16, 4, 2, 1, 1))
    assert channel.row(2) == tuple(Fraction(entry, 6) for entry in (1, 1, 2, 1, 1))
    assert expected_loss(uniform([0, 2, 4]), channel.restrict([0, 2, 4]), zero_one) == Fraction(1, 3)


@pytest.mark.parametrize(
    ("size", "loss"), [(10, 0.7163109738393902), (20, 0.7836114954616783), (40, 0.8172648117811354)]
)
def test_the_optimum_on_a_path_needs_no_linear_program(size, loss):
    """Uniform prior, ε = 1, distance as loss: the truncated geometric mechanism with the best remap is the optimum."""
    channel = floats(TruncatedGeometric(1, 0, size - 1), range(size), range(size))
    assert expected_loss(uniform(size), channel, absolute) == pytest.approx(loss, rel=1e-13)


def test_the_expected_error_of_geometric_noise():
    """2α/(1 − α²), the limit of Aldà and Simon 2017 for long paths, exactly."""
    for alpha in (Fraction(1, 2), Fraction(1, 3), Fraction(9, 10)):
        expected = 2 * alpha / (1 - alpha**2)
        assert Geometric(ln(1 / alpha)).error().expected == Enclosure(expected, expected)
        assert Geometric(ln(1 / alpha)).reason().lower_bound == Enclosure(expected, expected)
    assert float(Geometric(1).error().expected) == pytest.approx(1 / math.sinh(1), rel=1e-15)


def test_geometric_and_laplace_at_four_steps():
    """Uniform prior on five points of [0, 1], ε = 2, absolute loss: 0.235195 and 0.238704."""
    points = [Fraction(k, 4) for k in range(5)]
    geometric = floats(TruncatedGeometric("1/2", 0, 4), range(5), range(5))
    best = expected_loss(uniform(5), geometric, absolute) / 4
    assert best == pytest.approx(0.235195, abs=5e-7)
    laplace = TruncatedLaplace(2, 0, 1, 1, cells=400)
    seen = floats(laplace, points, [float(Fraction(2 * j + 1, 800)) for j in range(400)])
    loss = expected_loss(uniform(points), seen, absolute)
    assert loss == pytest.approx(0.238704, abs=5e-6)
    assert best <= loss <= best + float(TruncatedLaplace(2, 0, 1, 1, cells=4).lattice_loss())


@pytest.mark.slow
def test_the_gap_to_the_geometric_mechanism_falls_with_the_square_of_the_steps():
    """The bound c·κ/N is safe; the measured gap is about 1/N²."""
    gaps = []
    for steps in (4, 8, 16):
        points = [Fraction(k, steps) for k in range(steps + 1)]
        geometric = floats(TruncatedGeometric(Fraction(2, steps), 0, steps), points_as_whole(points), range(steps + 1))
        cells = 32 * steps
        laplace = TruncatedLaplace(2, 0, 1, 1, cells)
        seen = floats(laplace, points, [float(Fraction(2 * j + 1, 2 * cells)) for j in range(cells)])
        best = expected_loss(uniform(steps + 1), geometric, absolute) / steps
        gaps.append(expected_loss(uniform(points), seen, absolute) - best)
    assert gaps[0] > gaps[1] > gaps[2] > 0
    assert 3 < gaps[0] / gaps[1] < 5
    assert 3 < gaps[1] / gaps[2] < 5


def points_as_whole(points):
    return range(len(points))


def test_the_atoms_of_the_truncated_laplace_mechanism():
    """½e^(−λ(x−a)) at a: with the printed sign, e^(+λx)/2, the mass of one cell would exceed one."""
    mechanism = TruncatedLaplace("4*ln(2)", 0, 1, 1, cells=4)
    assert mechanism.pmf(0.125, 1).lower == Fraction(1, 2) * Fraction(1, 8)  # everything below 1/4, seen from 1
    assert sum(mechanism.pmf((2 * j + 1) / 8, 1).lower for j in range(4)) == 1


def test_vector_laplace_has_no_factor_two():
    """Expected ℓ1 error dΔ/ε (Tóthmérész 2013, section 2.3.1), from below as the noise gets wide."""
    for dimension, sensitivity in ((1, 1), (10, 2), (1000, 5)):
        mechanism = VectorLaplace("1/100", dimension, sensitivity)
        continuous = dimension * sensitivity * 100
        assert mechanism.error().expected.upper < continuous
        assert float(mechanism.error().expected) == pytest.approx(continuous, rel=2e-5)


def test_a_fine_lattice_has_the_error_of_continuous_laplace_noise():
    mechanism = LatticeLaplace(1, sensitivity=1, step="1/1000")
    assert float(mechanism.error().expected) == pytest.approx(1 + 1e-6 / 12, rel=1e-9)
