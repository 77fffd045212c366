"""Reading records: missing, infinite, huge and foreign values, the same rule for all, and nothing shown."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from leastnoise.errors import BadParameter, LeastNoiseError, UnboundedData
from leastnoise.mechanisms.rank import BoundedMean, IntervalQuantile, Quantile, SeveralQuantiles, SmoothMedian
from leastnoise.mechanisms.rank.lattice import read_grid, read_interval
from leastnoise.mechanisms.truths import read_records

NAN, INF = float("nan"), float("inf")
STRANGE = [
    [None, 1.0],
    [NAN, 1],
    [INF, -INF],
    [-0.0, 5e-324],
    [10**400, -(10**400)],
    [1.7e308, -1.7e308],
    [Fraction(1, 3), Decimal("0.25")],
    [Decimal("NaN"), Decimal("sNaN"), Decimal("Infinity")],
    np.array([2**63 + 1], dtype=np.uint64),
    np.array([1.5], dtype=np.float32),
    [],
    range(5),
]


@pytest.mark.parametrize("records", STRANGE, ids=str)
def test_strange_values_become_doubles_between_the_infinities(records):
    read = read_records(records, missing=0.5)
    assert read.dtype == np.float64
    assert len(read) == len(records)
    assert not np.isnan(read).any()


def test_what_is_missing_counts_as_the_public_constant():
    assert read_records([NAN, None, Decimal("sNaN")], missing=7.0).tolist() == [7.0] * 3


def test_the_callers_array_is_left_alone():
    values = np.array([NAN, 3.0, 1.0, 2.0])
    IntervalQuantile(1, 0, 4, missing=2).draw(values, size=3)
    assert np.isnan(values[0])
    assert values[1:].tolist() == [3.0, 1.0, 2.0]


@pytest.mark.parametrize("records", STRANGE, ids=str)
@pytest.mark.parametrize(
    "mechanism",
    [
        Quantile(1, [0, 1, 2]),
        IntervalQuantile(1, -1, 1),
        SeveralQuantiles(1, ["1/3", "2/3"], -1, 1),
        BoundedMean(1, -1, 1),
        IntervalQuantile(1, -1e300, 1e300),
        Quantile(1, [-1.7e300, 1.7e300]),
    ],
    ids=lambda mechanism: mechanism.name,
)
def test_no_value_makes_a_release_fail(mechanism, records):
    mechanism.release(records)


def test_infinite_and_missing_values_count_as_points_in_bounds():
    median = IntervalQuantile("2*ln(3)", 0, 4, step=1, records=3, missing=1)
    for point in range(5):
        assert median.pmf(point, [INF, NAN, -INF]) == median.pmf(point, [4, 1, 0])
        assert median.pmf(point, [99, None, -99]) == median.pmf(point, [4, 1, 0])


@pytest.mark.parametrize(
    "records",
    [["41x"], "4711", b"4711", [[4711]], [4711 + 1j], {"a": 4711}, [object()], [True], np.datetime64("2024", "D")],
)
def test_what_is_no_list_of_numbers_is_refused_without_being_shown(records):
    with pytest.raises(BadParameter) as caught:
        read_records(records, missing=0.0)
    assert "4711" not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None


def test_a_wrong_number_of_records_is_refused_without_being_shown():
    with pytest.raises(BadParameter, match="exactly 3 records") as caught:
        SmoothMedian(1, 0.1, 0, 1, records=3).release([1] * 4711)
    assert "4711" not in str(caught.value)


@pytest.mark.parametrize(
    "make",
    [
        lambda: Quantile(1),
        lambda: Quantile(1, [0, INF]),
        lambda: IntervalQuantile(1, 0),
        lambda: IntervalQuantile(1, None, 3),
        lambda: IntervalQuantile(1, 0, INF),
        lambda: SeveralQuantiles(1, ["1/2"], -INF, 0),
        lambda: SmoothMedian(1, 0.1, 0, np.inf, records=3),
        lambda: BoundedMean(1),
        lambda: BoundedMean(1, 0, Decimal("Infinity")),
        lambda: BoundedMean(1, np.float32("-inf"), 0),
        lambda: Quantile(1, [0, 10**400]),
    ],
)
def test_unbounded_data_is_refused_with_the_theorem_that_says_why(make):
    with pytest.raises(UnboundedData, match=r"Propositions 3\.1 to 3\.3"):
        make()


def test_a_grid_takes_the_nearest_point_and_gives_its_points_back():
    grid = read_grid([0, 10, 20])
    assert grid.places(np.array([-INF, 4.9, 5.0, 14.9, 15.0, INF])).tolist() == [0, 0, 1, 1, 2, 2]
    assert Quantile(1, range(0, 100, 7)).release([3] * 50) % 7 == 0
    assert isinstance(Quantile(1, np.linspace(0, 1, 5)).release([0.3]), float)
    assert isinstance(Quantile(1, range(5)).release([1]), int)
    assert Quantile(100, ["1/3", "1/2"]).release([0.34] * 9) == 1 / 3


def test_the_points_of_an_interval_are_rounded_once():
    """Whole doubles divided by whole doubles are the doubles nearest to the exact points; so are the slow ones."""
    for lower, upper, step in [(0, 1, "1/3"), ("1/7", "8/7", "1/1000"), (-(10**6), 10**6, "0.1"), (0, 10**9, 1000)]:
        lattice = read_interval(lower, upper, step)
        places = np.array([0, 1, lattice.last // 3, lattice.last - 1, lattice.last])
        assert lattice.points(places).tolist() == [lattice.point(int(p)) for p in places]
        assert [lattice.find(x) for x in lattice.points(places).tolist()] == places.tolist()
    wide = read_interval("1e-30", "1e30", None)
    places = np.array([0, 7, wide.last])
    assert wide.points(places).tolist() == [wide.point(int(p)) for p in places]


def test_rounding_to_the_lattice_never_changes_the_order():
    rng = np.random.default_rng(5)
    values = np.sort(np.concatenate([rng.normal(0, 1, 10_000), rng.normal(0, 1e-12, 1000), [INF, -INF]]))
    for lattice in (read_interval("-1/3", "2/3", None), read_interval(-1, 1, "1/7"), read_grid(np.linspace(-2, 2, 77))):
        places = lattice.places(values)
        assert (np.diff(places) >= 0).all()
        assert places[0] == 0
        assert places[-1] == lattice.last


@pytest.mark.parametrize("foreign", [3.14, "0", None, NAN, INF, (1,)])
def test_an_output_off_the_lattice_has_no_mass(foreign):
    for mechanism in (Quantile(1, range(3)), IntervalQuantile(1, 0, 2, step=1), SmoothMedian(1, 0.1, 0, 2, 1, step=1)):
        assert mechanism.pmf(foreign, [1]).upper == 0


def test_a_grid_too_fine_for_doubles_is_refused():
    with pytest.raises(LeastNoiseError, match="grid must increase"):
        Quantile(1, [2**60, 2**60 + 1])


@pytest.mark.parametrize("bound", ["", False, [], "nan", 10**400, "1e-2000"])
def test_what_is_no_bound_is_refused_by_name(bound):
    with pytest.raises(BadParameter, match="lower"):
        IntervalQuantile(1, bound, 1)
