"""Places on the globe: distances that are never too long, and a metric."""

from fractions import Fraction
from itertools import permutations
from math import asin, cos, radians, sin, sqrt
from random import Random

import pytest

from leastnoise.errors import BadGraph, BadParameter
from leastnoise.model.graphs import from_places


def kilometres(one, other):
    """The haversine formula in doubles, good to a millimetre."""
    (a, b), (c, d) = (map(radians, map(float, place)) for place in (one, other))
    h = sin((a - c) / 2) ** 2 + cos(a) * cos(c) * sin((b - d) / 2) ** 2
    return 2 * 6371.0088 * asin(sqrt(h))


def test_distances_are_rounded_down_by_less_than_a_few_metres():
    draw = Random(7)
    places = {k: (round(draw.uniform(-89, 89), 5), round(draw.uniform(-179, 179), 5)) for k in range(12)}
    metric = from_places(places)
    for i, j in permutations(places, 2):
        short = kilometres(places[i], places[j]) - float(metric.distance(i, j))
        assert -1e-6 < short < 12e-3
        assert (metric.distance(i, j) * 1000).denominator == 1


def test_known_distances():
    quarter = from_places({"pole": (90, 0), "here": (0, 17), "there": (0, "-163.5")})
    assert quarter.distance("pole", "here") == Fraction(10_007_557, 1000)  # R·π/2 = 10 007 557.22 m
    assert from_places({"west": (0, "-179.999"), "east": (0, "179.999")}).distance("west", "east") == Fraction(
        222, 1000
    )


@pytest.mark.parametrize("latitude", [0, 90, "45.5", "1e-30", "89.999999"])
@pytest.mark.parametrize("longitude", [0, 7, "-180", "33.3"])
def test_opposite_places_are_half_way_round(latitude, longitude):
    """R·π = 20 015 114.35 m."""
    here = Fraction(latitude), Fraction(longitude)
    there = -here[0], here[1] + (180 if here[1] <= 0 else -180)
    assert from_places({"here": here, "there": there}).distance("here", "there") == Fraction(20_015_114, 1000)


def test_no_way_is_longer_than_half_way_round():
    draw = Random(3)
    for _ in range(200):
        place = Fraction(draw.randint(-89_000, 89_000), 1000), Fraction(draw.randint(1, 179_999), 1000)
        other = -place[0] + Fraction(draw.randint(-1, 1), 10**6), place[1] - 180 + Fraction(draw.randint(0, 2), 10**6)
        found = from_places({"a": place, "b": other}).distance("a", "b")
        assert Fraction(20_014_900, 1000) < found <= Fraction(20_015_114, 1000)


@pytest.mark.parametrize(
    "places",
    [
        {"a": (0, 0)},
        {"a": (90, 0), "b": (90, 50)},
        {"a": (0, 0), "b": (0, 0)},
        {"a": (0, 180), "b": (0, -180)},
        {"a": (0, 0), "b": (0, "0.000001")},
        {"a": (91, 0), "b": (0, 0)},
        {"a": (0, 181), "b": (0, 0)},
        {"a": (0,), "b": (0, 0)},
        [(0, 0), (1, 1)],
    ],
)
def test_what_are_no_places_is_refused(places):
    with pytest.raises(BadGraph):
        from_places(places)


def test_a_coordinate_is_a_number():
    with pytest.raises(BadParameter):
        from_places({"a": ("north", 0), "b": (0, 0)})
