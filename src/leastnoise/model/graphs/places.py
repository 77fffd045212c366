"""Places on the globe as a metric: great-circle distances, rounded to the private side.

With φ the latitudes and λ the longitudes, h = sin²((φ − φ')/2) + cos φ·cos φ'·sin²((λ − λ')/2) and the distance is
2·R·atan(√(h/(1 − h))) with R = 6371.0088 km, the mean radius (the haversine formula). Metric privacy promises
e^(ε·d) between places at distance d, so a *smaller* d promises more. Each distance is therefore rounded down, to whole
metres, from an enclosure that surely holds it. Rounding may break the triangle inequality by a metre; the shortest way
over other places takes the place of a longer direct one, which only lowers distances again.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from fractions import Fraction
from itertools import combinations
from math import floor
from typing import Any

import numpy as np

from leastnoise.errors import BadGraph, TooLarge, shown
from leastnoise.exact import NumberLike, ball_of, enclose, read_rational
from leastnoise.model.graphs.base import DatasetGraph
from leastnoise.model.graphs.metric import from_distance

__all__ = ["from_places"]

_RADIUS = Fraction(63_710_088, 10)  # metres
_MOST_PLACES = 2_000


def from_places(places: Mapping[Any, tuple[NumberLike, NumberLike]]) -> DatasetGraph:
    """The metric of some places, in kilometres, each distance rounded down to a metre: the promise only grows.

    Args:
        places: From name to latitude and longitude in degrees, read exactly.

    Raises:
        BadGraph: A latitude is not within ±90, a longitude not within ±180, or two places are nearer than a metre.

    >>> cities = from_places({"Bonn": (50.7374, 7.0982), "Ulm": (48.4011, 9.9876)})
    >>> cities.distance("Bonn", "Ulm")
    Fraction(332967, 1000)
    """
    if not isinstance(places, Mapping) or len(places) < 2:
        raise BadGraph("places are a mapping of two names at least", fix='pass {"Bonn": (50.74, 7.1), …}')
    if len(places) > _MOST_PLACES:
        raise TooLarge(f"there may be at most {_MOST_PLACES} places", given=len(places), fix="merge places")
    names = tuple(places)
    points = [_read(name, place) for name, place in places.items()]
    whole = np.zeros((len(names), len(names)), dtype=np.int64)  # at most 20 015 116: sums of two are far from 2^63
    for i, j in combinations(range(len(names)), 2):
        whole[i, j] = whole[j, i] = _metres(points[i], points[j])
        if whole[i, j] == 0:
            raise BadGraph("two places are nearer than a metre", given=shown((names[i], names[j])), fix="merge them")
    for middle in range(len(names)):
        np.minimum(whole, whole[:, middle, None] + whole[None, middle, :], out=whole)
    return from_distance([[Fraction(int(metres), 1000) for metres in row] for row in whole], names)


def _read(name: Hashable, place: tuple[NumberLike, NumberLike]) -> tuple[Fraction, Fraction]:
    if not isinstance(place, tuple | list) or len(place) != 2:
        raise BadGraph("a place is a latitude and a longitude", given=shown(name), fix="pass (50.74, 7.1)")
    latitude, longitude = read_rational(place[0], "latitude"), read_rational(place[1], "longitude")
    if abs(latitude) > 90 or abs(longitude) > 180:
        raise BadGraph("a place is not on the globe", given=shown(name), fix="latitude within ±90, longitude ±180")
    return latitude, longitude


def _metres(one: tuple[Fraction, Fraction], other: tuple[Fraction, Fraction]) -> int:
    """The distance, rounded down."""
    across, along, middle = (angle / 360 for angle in (one[1] - other[1], one[0] - other[0], one[0] + other[0]))

    def distance() -> Any:
        # Both are sums of squares, and exactly zero where they vanish: opposite places are no failure.
        near = (ball_of(along).cos_pi() * ball_of(across).cos_pi()) ** 2
        near += (ball_of(middle).sin_pi() * ball_of(across).sin_pi()) ** 2
        far = (ball_of(along).sin_pi() * ball_of(across).cos_pi()) ** 2
        far += (ball_of(middle).cos_pi() * ball_of(across).sin_pi()) ** 2
        return 2 * ball_of(_RADIUS) * type(far).atan2(far.sqrt(), near.sqrt())

    return floor(enclose(distance).lower)
