"""Randomized response: optimal on the complete graph, for many people at once, and undone on average."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, strategies as st

from leastnoise.checker import check
from leastnoise.errors import BadParameter, InsecureSource
from leastnoise.exact import Enclosure, SeededSource, exp_enclosure
from leastnoise.mechanisms.choice import RandomizedResponse
from leastnoise.model import events
from support.statistics import fits


def test_the_known_matrix():
    """ε = ln 3: Warner's coin for two labels, one half for four."""
    assert RandomizedResponse("ln(3)", 2).channel(range(2), range(2)).row(0) == (Fraction(3, 4), Fraction(1, 4))
    assert RandomizedResponse("ln(3)", 4).pmf(2, 2) == Enclosure(Fraction(1, 2), Fraction(1, 2))
    assert RandomizedResponse("ln(3)", 4).event == events.RandomizedResponse("ln(3)", 4)


@given(st.data(), st.integers(2, 4), st.sampled_from([2, 3]))
def test_no_private_channel_is_right_more_often(data, count, odds):
    """Any channel, made private by mixing it with its own average, which is at least a k-th of each of its rows."""
    rows = [data.draw(st.lists(st.integers(0, 5), min_size=count, max_size=count).filter(any)) for _ in range(count)]
    rows = [[Fraction(entry, sum(row)) for entry in row] for row in rows]
    average = [sum(column) / count for column in zip(*rows, strict=True)]
    share = Fraction(odds - 1, odds + count - 1)
    mixed = [[share * p + (1 - share) * q for p, q in zip(row, average, strict=True)] for row in rows]
    closest = max(mixed[x][y] / mixed[other][y] for x, other, y in product(range(count), repeat=3) if mixed[other][y])
    assert closest <= odds
    wrong = 1 - sum(mixed[x][x] for x in range(count)) / count
    best = RandomizedResponse(f"ln({odds})", count).reason().lower_bound.lower
    assert wrong >= best
    assert wrong > best or mixed == [
        [best / (count - 1) if x != y else 1 - best for y in range(count)] for x in range(count)
    ]


@pytest.mark.parametrize(("epsilon", "count"), [("ln(3)", 2), ("ln(3)", 5), (1, 3), ("1/10", 100)])
def test_the_certificate_is_the_optimality_theorem(epsilon, count):
    certificate = RandomizedResponse(epsilon, count).certificate()
    assert check(certificate)
    assert certificate.theorem == "exponential-of-distance"


def test_the_error_is_known_for_every_answer():
    estimate = RandomizedResponse(1, 3).error()
    e = exp_enclosure(1)
    assert 2 / (e.lower + 2) >= estimate.expected.lower
    assert 2 / (e.upper + 2) <= estimate.expected.upper
    assert estimate.quantiles == {Fraction(19, 20): 1}
    assert RandomizedResponse(5, 2).error().quantiles == {Fraction(19, 20): 0}
    assert estimate.attained


def test_many_people_respond_independently():
    people = ["tea"] * 20_000 + ["coffee"] * 10_000
    mechanism = RandomizedResponse("ln(3)", ["tea", "coffee", "water"])
    responses = mechanism.draw_each(people)
    for label, part in (("tea", responses[:20_000]), ("coffee", responses[20_000:])):
        masses = [float(mechanism.pmf(option, label)) for option in mechanism.options]
        places = np.array([mechanism.options.index(option) for option in part])
        sums = np.cumsum(masses)
        assert fits(places, sums.__getitem__, 0, 1)
    with pytest.raises(InsecureSource):
        mechanism.release_each(people, SeededSource(1))
    assert len(mechanism.release_each(people[:5])) == 5
    assert mechanism.draw_each([]).shape == (0,)


@given(st.lists(st.integers(0, 50), min_size=2, max_size=5))
def test_estimates_are_right_on_average(truth):
    """Linear in the counts, so the expected counts must give back the truth exactly."""
    mechanism = RandomizedResponse("ln(4)", len(truth))
    expected = [
        sum(people * mechanism.pmf(option, label).lower for label, people in enumerate(truth))
        for option in range(len(truth))
    ]
    assert mechanism.estimate(expected) == truth
    with pytest.raises(BadParameter):
        mechanism.estimate(truth[:1])
    with pytest.raises(BadParameter):
        RandomizedResponse(1, len(truth)).estimate(truth)


def test_the_noise_does_not_depend_on_the_answer():
    mechanism = RandomizedResponse(1, 7)
    shifts = [
        [(drawn - answer) % 7 for drawn in mechanism.draw(answer, size=50, source=SeededSource(2)).tolist()]
        for answer in range(7)
    ]
    assert all(shift == shifts[0] for shift in shifts)
