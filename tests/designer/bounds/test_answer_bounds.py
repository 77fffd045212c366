"""Bounds for medians, linear maps, sorted lists and neighbours in general."""

from fractions import Fraction
from itertools import combinations, combinations_with_replacement

import pytest

from leastnoise.designer import bounds
from leastnoise.errors import BadParameter, UnboundedData
from leastnoise.mechanisms import Geometric, lower_bounds
from support.optimum import least_loss


@pytest.mark.parametrize("factor", [Fraction(6, 5), Fraction(2), Fraction(4)])
def test_no_private_median_is_better(factor):
    """Three records in 0..2; one may change."""
    data = list(combinations_with_replacement(range(3), 3))
    loss = [[abs(w - one[1]) for one in data] for w in range(3)]
    edges = [
        (i, j)
        for (i, one), (j, two) in combinations(enumerate(data), 2)
        if any(sorted((*one[:k], v, *one[k + 1 :])) == list(two) for k in range(3) for v in range(3))
    ]
    bound = bounds.median_bound(0, 2, f"ln({factor})")
    assert bound.lower == Fraction(2) / (1 + factor)
    assert bound.lower <= least_loss(loss, edges, factor)


def test_the_median_where_records_come_and_go():
    """Better than the (b − a)/8 of the thesis for all ε < 1/2, and for all ε < ln 4."""
    assert bounds.median_bound(-1, 1, "ln(2)", "add-remove").lower == Fraction(1, 2)
    assert bounds.median_bound(0, 8, "1/2", "add-remove").lower > 1
    with pytest.raises(BadParameter, match="add-remove"):
        bounds.median_bound(0, 1, 1, "both")


@pytest.mark.parametrize("difference", [None, float("inf")])
def test_without_bounds_there_is_no_hope_and_the_error_says_what_to_do(difference):
    with pytest.raises(UnboundedData, match="pass finite public bounds"):
        bounds.neighbours_bound(difference, 1)
    with pytest.raises(UnboundedData):
        bounds.median_bound(0, difference, 1)


@pytest.mark.parametrize("distance", [1, 2, 3])
def test_neighbours_far_apart_cost_as_much_as_on_a_path(distance):
    """A path of so many steps with the loss of its two ends only."""
    size = distance + 1
    loss = [[10 * abs(w - x) if x in (0, distance) else 0 for x in range(size)] for w in range(size)]
    loss = [[Fraction(entry, distance) for entry in row] for row in loss]
    optimum = least_loss(loss, [(x, x + 1) for x in range(distance)], 2)
    bound = bounds.neighbours_bound(10, "ln(2)", distance)
    assert bound.lower <= optimum
    if distance < 3:
        assert bound.lower == optimum


def test_linear_maps():
    """One count: every mechanism has an error of at least 1/(2ε), geometric noise about 1/ε."""
    bound = bounds.linear_map_bound(1, 2, "1/10", "l1")
    assert float(bound) == pytest.approx(5)
    assert bound.upper < Geometric("1/10").error().expected.lower
    with pytest.raises(BadParameter):
        bounds.linear_map_bound(0, 2, 1)
    with pytest.raises(BadParameter):
        bounds.linear_map_bound(2, -1, 1)


def test_sorting_contains_the_three_cases_of_the_theorem():
    """Ω(N), Ω(√(N/ε)) and Ω(r/ε), with constants that hold at once for all of them."""
    assert bounds.sorting_bound(4, "1/16").lower > Fraction(4, 8)
    for total in (10**3, 10**5, 10**7):
        assert float(bounds.sorting_bound(total, "1/16")) > 0.5 * (total * 16) ** 0.5
    for longest in (1, 10, 50):
        enough = longest * (longest + 1) * 100
        assert float(bounds.sorting_bound(enough, "1/16", longest)) > 0.8 * longest * 16


def test_those_of_the_combinatorial_mechanisms_are_the_same_numbers():
    assert bounds.min_cut_bound(50, 0.5).lower == lower_bounds.min_cut_bound(50, 0.5).lower
    assert bounds.vertex_cover_bound(0.5, 50).lower == lower_bounds.vertex_cover_bound(0.5, 50).lower
    assert bounds.sorted_counts_bound(50, 0.5, 3).lower == lower_bounds.sorted_counts_bound(50, 0.5, 3).lower
    assert "T13" in bounds.min_cut_bound(50, 0.5).citation
