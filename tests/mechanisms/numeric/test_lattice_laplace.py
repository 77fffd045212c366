"""Rounding to a lattice, and the noise on it."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, strategies as st

from leastnoise.errors import BadParameter
from leastnoise.exact import SeededSource
from leastnoise.mechanisms.numeric import LatticeLaplace
from leastnoise.mechanisms.numeric.lattice_laplace import RealLattice

lengths = st.fractions(Fraction(1, 50), 20, max_denominator=60)


@pytest.mark.slow
@given(lengths, lengths, st.fractions(-30, 30, max_denominator=120), st.fractions(0, 1, max_denominator=50))
def test_rounding_moves_by_at_most_the_rounded_up_quotient(step, sensitivity, x, share):
    lattice = RealLattice(step)
    moved = lattice.nearest(x + share * sensitivity) - lattice.nearest(x)
    assert 0 <= moved <= -(-sensitivity // step)


@given(lengths, lengths)
def test_some_answers_do_move_that_far(step, sensitivity):
    """From just below a half-way point; so a smaller whole sensitivity would be wrong."""
    lattice, most = RealLattice(step), -(-sensitivity // step)
    rest = sensitivity / step - (most - 1)  # what is left after most − 1 whole steps, above 0 and at most 1
    x = step * (Fraction(1, 2) - rest / 2) if rest < 1 else Fraction(0)
    assert lattice.nearest(x + sensitivity) - lattice.nearest(x) == most


def test_rounding_half_way_cases_to_even_would_need_more():
    one, other = Fraction(1, 2), Fraction(3, 2)
    assert round(other) - round(one) == 2  # Python's own rounding moves by two steps for a change of one
    assert RealLattice(Fraction(1)).nearest(other) - RealLattice(Fraction(1)).nearest(one) == 1


@pytest.mark.slow
@given(
    st.fractions(Fraction(1, 10**6), 10**6, max_denominator=10**6),
    st.fractions(-100, 100, max_denominator=1000),
    st.lists(st.integers(-(2**62), 2**62), min_size=1, max_size=5),
)
def test_doubles_are_rounded_once(step, origin, places):
    lattice = RealLattice(step, origin)
    expected = [float(origin + k * step) for k in places]
    assert lattice.doubles(np.array(places)).tolist() == expected
    assert lattice.doubles(np.array([k % 1000 for k in places])).tolist() == [
        float(origin + (k % 1000) * step) for k in places
    ]
    for k, value in zip(places, expected, strict=True):
        found = lattice.places(value)
        assert k in found
        assert lattice.double(found[0]) == value == lattice.double(found[-1])
        assert lattice.double(found[0] - 1) < value < lattice.double(found[-1] + 1)


def test_numbers_off_the_lattice_have_no_place_and_no_mass():
    assert not RealLattice(Fraction(1, 4)).places(0.3)
    assert not RealLattice(Fraction(1, 4)).places(float("inf"))
    assert LatticeLaplace(1, 1, "1/4").pmf(0.3, 0).upper == 0


def test_where_doubles_are_coarser_than_the_lattice_masses_add_up():
    mechanism, far = LatticeLaplace("ln(2)", 1, 1), 2.0**54
    places = RealLattice(Fraction(1)).places(far)
    assert len(places) > 1
    total = sum(mechanism._noise.noise_pmf(k - 2**54).lower for k in places)
    assert mechanism.pmf(far, far).lower == total
    assert all(y % 2 == 0 for y in mechanism.draw(far, size=100).tolist())


@given(st.integers(-(10**6), 10**6), st.fractions(0, 1, max_denominator=64))
def test_no_low_bit_of_the_answer_survives(place, share):
    """Whatever the answer's last bits are, every release is the double of a lattice point."""
    mechanism = LatticeLaplace("1/10", 1, "1/3")
    answer = float(place) + float(share)
    for drawn in mechanism.draw(answer, size=5, source=SeededSource(place % 97)).tolist():
        assert len(RealLattice(Fraction(1, 3)).places(drawn)) == 1


def test_the_error_is_worst_half_way_and_known_everywhere():
    mechanism = LatticeLaplace("2*ln(3)", 1, "1/2")
    points = [Fraction(k, 2) for k in range(-80, 81)]
    for answer in (0, Fraction(1, 16), Fraction(-1, 7), Fraction(1, 4), Fraction(1, 2)):
        total = sum(mechanism.pmf(y, answer).lower * abs(y - answer) for y in points)
        error = mechanism.error_at(answer).lower
        assert total <= error < total + Fraction(1, 10**12)
        assert error <= mechanism.error().expected.lower
    assert mechanism.error_at(Fraction(1, 4)) == mechanism.error().expected


@pytest.mark.parametrize("epsilon", ["1/10", 1, "ln(20)"])
@pytest.mark.parametrize("extra", ["1/10", "1/1000", "1e-9"])
def test_the_wanted_extra_loss_gives_the_coarsest_lattice(epsilon, extra):
    sensitivity, wanted = Fraction(7, 3), Fraction(extra)
    mechanism = LatticeLaplace.for_extra_loss(epsilon, sensitivity, extra)
    continuous = sensitivity / Fraction(float(mechanism.epsilon))
    slack = Fraction(1, 10**13)
    assert mechanism.error().expected.upper - continuous <= wanted + slack
    assert mechanism.steps == sensitivity / mechanism.step
    if mechanism.steps > 1:
        coarser = LatticeLaplace(epsilon, sensitivity, sensitivity / (mechanism.steps - 1))
        assert coarser.error().expected.lower - continuous > wanted - slack


def test_floats_count_as_the_numbers_they_are():
    mechanism = LatticeLaplace("ln(3)", 1, "1/10")
    below = 0.15  # the double below 15/100, so it rounds down
    assert Fraction(below) < Fraction(15, 100)
    assert mechanism.pmf(0.1, below) == mechanism.pmf(0.1, Fraction(1, 10))
    assert mechanism.pmf(0.1, Fraction(15, 100)) == mechanism.pmf(0.1, Fraction(2, 10))


def test_extreme_answers_and_parameters():
    assert LatticeLaplace(1, 1, 1).release(1e308) == float(2**1000)
    assert LatticeLaplace(1, 1, 1).release(-0.0) in [float(k) for k in range(-60, 61)]
    with pytest.raises(BadParameter, match="epsilon"):
        LatticeLaplace("1e-400", "1e100", "1e100")
