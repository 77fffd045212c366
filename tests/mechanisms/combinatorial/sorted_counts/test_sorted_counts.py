"""The exponential mechanism over sorted lists: its law, its sampler at every level, its errors, bad input."""

from fractions import Fraction
from math import exp, log

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from leastnoise.errors import BadParameter
from leastnoise.exact import SeededSource, enclose, of_fraction
from leastnoise.mechanisms.combinatorial.sorted_counts import (
    IsotonicCounts,
    SortedCounts,
    partition_weights,
    plan_sorted_counts,
    zipf_counts,
)
from leastnoise.mechanisms.combinatorial.sorted_counts.diagram import (
    Turns,
    border_of,
    distance,
    read_counts,
    turned,
)
from leastnoise.mechanisms.combinatorial.sorted_counts.numbers import Doubles
from leastnoise.mechanisms.combinatorial.sorted_counts.partition_weights import expected_distance, normaliser
from leastnoise.mechanisms.combinatorial.sorted_counts.shift_chain import LARGEST_DECAY, ShiftChain
from leastnoise.mechanisms.combinatorial.sorted_counts.sorted_counts import LEAST_EPSILON, half_decay, tight_decay
from leastnoise.mechanisms.combinatorial.sorted_counts.walk_sampler import WalkSampler, band_width
from leastnoise.model.graphs import from_edges
from mechanisms.combinatorial.sorted_counts.partitions import l1, up_to
from mechanisms.conformance import Case, Conformance
from support.statistics import fits

SMALL = up_to(4)
COUNTS = st.lists(st.integers(0, 12), max_size=8)


def case(epsilon, answers, outputs, *, top=None, bounded_range=False):
    return Case(
        SortedCounts,
        {"epsilon": epsilon, "total": 4, "top": top, "bounded_range": bounded_range},
        answers=answers,
        graph=from_edges([(x, y) for x in answers for y in answers if sum(x) < sum(y) and l1(x, y) == 1], answers),
        outputs=outputs,
        complete=False,
        tight=False,  # q has 32 digits only; that the formula is tight is tested in test_calibration
        samples=1500,
        bad_parameters={
            "epsilon": [0, -1, "one", 101, "15177/2048000", float("nan"), None, True],
            "total": [0, -1, 1.5, "x"],
            "top": [0, -1, 2.5],
            "bounded_range": [1, "yes"],
        },
        bad_answers=[[1234.5], ["12345"], [[1234, 5678], [1, 2]], 12345, [12345, None]],
    )


def pairs(total):
    """The two largest counts, with zeros."""
    return [(*counts, 0, 0)[:2] for counts in up_to(total) if len(counts) <= 2]


CASES = [
    case(2, SMALL, up_to(7)),
    case("2*ln(3)", SMALL, up_to(6), bounded_range=True),
    case(2, pairs(4), pairs(9), top=2),
]


@pytest.mark.parametrize("case", CASES, ids=str)
class TestSortedCounts(Conformance):
    """Pure, of bounded range, and the two largest counts only."""


@pytest.mark.parametrize("counts", [(), (1,), (3, 1), (2, 2, 1), (5,)], ids=str)
def test_the_normaliser_is_the_sum_over_all_lists(counts):
    decay, lists = Fraction(1, 4), up_to(22)
    total = sum(decay ** l1(counts, other) for other in lists)
    found = normaliser(border_of(*read_counts(list(counts))), decay, closed=False)
    # Of lists with n > 22 records there are fewer than 2^n, each at a distance of at least n − 5.
    rest = Fraction(1, 2) ** 23 * 2 / decay**5
    assert total <= found.upper
    assert found.lower <= total + rest


def test_a_walk_through_single_steps_agrees_with_powers_of_two():
    """The same sum by one matrix per step of the border, without runs."""
    counts, decay = [9, 9, 4, 4, 4, 1], 0.6
    steps = "".join("R" * times + "D" * drop for times, drop in [(2, 5), (3, 3), (1, 1)])
    width = 60
    shifts = np.arange(-width, width + 1)
    f = np.array([np.prod([decay**j / (1 - decay**j) for j in range(1, k + 1)]) if k >= 0 else 0.0 for k in shifts])
    for step in steps:
        moved = np.append(0.0, f[:-1]) if step == "D" else np.append(f[1:], 0.0)
        f = (f + moved) * decay ** np.abs(shifts)
    total = sum(
        f[k + width] * np.prod([decay**j / (1 - decay**j) for j in range(1, k + 1)]) / decay**k for k in range(40)
    )
    found = normaliser(border_of(*read_counts(counts)), Fraction(3, 5), closed=False)
    assert float(found) == pytest.approx(total, rel=1e-9)


def draws(counts, decay, number, *, width=None, seed=5):
    border = border_of(*read_counts(list(counts)))
    sampler = WalkSampler(border, decay, width=width)
    source = SeededSource(seed)
    return [tuple(np.repeat(*turned(border, sampler.draw(source))).tolist()) for _ in range(number)], sampler


def law_of(counts, decay, outputs):
    z = normaliser(border_of(*read_counts(list(counts))), decay, closed=False)
    return np.cumsum([float(decay ** l1(counts, y) / z.upper) for y in outputs])


@pytest.mark.slow
def test_a_narrow_band_is_widened_and_the_law_stays_exact():
    """With a band of one shift nearly every draw needs wider bands and balls; with a wrong q the test would notice."""
    counts, decay, outputs = (4, 1), Fraction(2, 5), up_to(10)
    places = {y: i for i, y in enumerate(outputs)}
    drawn, sampler = draws(counts, decay, 1200, width=1)
    assert len(sampler._levels) > 1
    cells = [places.get(y, len(outputs)) for y in drawn]
    sums, wrong = law_of(counts, decay, outputs), law_of(counts, Fraction(1, 2), outputs)
    assert fits(cells, lambda i: sums[i], 0, len(outputs) - 1)
    assert not fits(cells, lambda i: wrong[i], 0, len(outputs) - 1)


@pytest.mark.slow
def test_long_runs_have_the_expected_error():
    """Runs of thousands of steps go through powers of two and halving: the mean distance is the derivative of ln Z."""
    counts = [5000] * 3 + [700] * 40 + [1] * 3000
    mechanism = SortedCounts(1, 100_000)
    drawn = mechanism.draw(counts, size=400, source=SeededSource(2))
    distances = np.array([distance(read_counts(counts), read_counts(y)) for y in drawn])
    expected = mechanism.error_at(counts)
    assert expected.width < expected.lower / 500
    margin = 5 * distances.std() / 20
    assert expected.lower - margin < distances.mean() < expected.upper + margin
    other = SortedCounts("1/2", 100_000).error_at(counts)
    assert other.lower > distances.mean() + margin


def test_the_expected_distance_is_that_of_the_law():
    counts, decay = (3, 1), Fraction(1, 4)
    weights = {y: float(decay) ** l1(counts, y) for y in up_to(20)}
    mean = sum(w * l1(counts, y) for y, w in weights.items()) / sum(weights.values())
    found = expected_distance(border_of(*read_counts(list(counts))), decay, closed=False)
    assert float(found.lower) - 1e-4 <= mean <= float(found.upper) + 1e-4


@given(COUNTS, COUNTS)
def test_distance_and_reading_agree_with_the_definition(one, other):
    lists = [tuple(sorted((c for c in counts if c), reverse=True)) for counts in (one, other)]
    assert distance(read_counts(one), read_counts(other)) == l1(*lists)
    assert tuple(np.repeat(*read_counts(one)).tolist()) == lists[0]
    assert tuple(np.repeat(*read_counts(dict(enumerate(one)), 3)).tolist()) == lists[0][:3]


@pytest.mark.slow
@settings(max_examples=30, deadline=None)
@given(COUNTS, st.integers(0, 2**20))
def test_what_is_drawn_is_a_sorted_list(counts, seed):
    full = SortedCounts("1/3", 100).draw(counts, source=SeededSource(seed))
    top = SortedCounts("1/3", 100, top=3).draw(counts, source=SeededSource(seed))
    assert (full > 0).all()
    assert (top >= 0).all()
    assert len(top) == 3
    assert all((np.diff(y) <= 0).all() for y in (full, top))


def test_no_turn_gives_the_list_itself():
    border = border_of(*read_counts([7, 7, 2]))
    assert np.repeat(*turned(border, Turns(np.empty(0, dtype=np.int64)))).tolist() == [7, 7, 2]


def test_the_bound_for_all_lists_is_above_what_lists_have():
    mechanism = SortedCounts(1, 1000)
    lists = [zipf_counts(1000), [1000], [1] * 1000, [40, *range(43, 0, -1)]]
    bound = mechanism.error().expected.upper
    assert all(mechanism.error_at(counts).upper < bound for counts in lists)
    assert mechanism.reason().lower_bound.upper < bound


def corners(counts, top=None):
    """That can move: outer ones, and inner ones without that to the right of the last column that there may be."""
    return 2 * len(set(counts)) + (top is None or len(counts) < top)


def moved(decay):
    """What a corner adds to the error, and to the logarithm of the normaliser."""
    parts = (partition_weights._mean_size, partition_weights._log_number)
    return tuple(float(enclose(lambda part=part: part(of_fraction(decay))).upper) for part in parts)


@pytest.mark.parametrize("top", [None, 2])
@pytest.mark.parametrize("decay", [Fraction(1, 20), Fraction(1, 4), Fraction(3, 5)], ids=str)
def test_what_a_corner_adds_bounds_the_error_and_the_normaliser_of_every_list(decay, top):
    """All lists of up to eight records; the empty list attains both bounds, so neither can be lower."""
    size, ways = moved(decay)
    for counts in up_to(8):
        if top is not None and len(counts) > top:
            continue
        border, closed = border_of(*read_counts(list(counts)), columns=top), top is not None
        number = corners(counts, top)
        expected = expected_distance(border, decay, closed=closed)
        total = log(normaliser(border, decay, closed=closed))
        assert float(expected.lower) <= number * size * (1 + 1e-12)
        assert total <= number * ways + 1e-12
        if not counts and top is None:
            assert float(expected.upper) >= size * (1 - 1e-9)
            assert total == pytest.approx(ways, rel=1e-12)


@pytest.mark.parametrize("top", [None, 1, 3])
@pytest.mark.parametrize("epsilon", [1, 2, 4, 8])
def test_the_stated_error_is_above_that_of_every_list_and_near_the_largest_where_epsilon_is_large(epsilon, top):
    mechanism = SortedCounts(epsilon, 10, top)
    stated = mechanism.error().expected.upper
    worst = max(mechanism.error_at(list(counts)).lower for counts in up_to(10))
    assert worst <= stated
    if epsilon >= 4:
        assert stated <= Fraction(3, 2) * worst


@pytest.mark.parametrize(("epsilon", "factor"), [(4, "1.15"), (3, "1.4"), (2, "2.5"), (1, "3.8"), ("1/2", "3.9")])
def test_how_far_the_stated_error_is_above_the_worst_shape_that_is_known(epsilon, factor):
    """Of 200,000 records in steps of the same width and height."""
    mechanism, shapes = SortedCounts(epsilon, 200_000), []
    for step in (1, 2, 4, 6, 8, 16):
        number = int(((1 + 8 * 200_000 / step**2) ** 0.5 - 1) / 2)
        shapes.append(mechanism.error_at(np.repeat(np.arange(number, 0, -1) * step, step)).lower)
    assert max(shapes) <= mechanism.error().expected.upper <= Fraction(factor) * max(shapes)


def test_a_list_of_known_length_has_less_noise():
    """A plan that is told how many counts there are compares the law on lists of that length."""
    counts = [36, 22, 17, *range(16, 0, -1), *[1] * 58]
    free, known = (plan_sorted_counts(1, sum(counts), longest=n, example=counts) for n in (None, len(counts)))
    name = SortedCounts.name
    assert known.on_example[name] < free.on_example[name]
    assert known.at_worst[name] <= free.at_worst[name]


def test_the_quantile_holds_on_a_staircase():
    counts, mechanism = list(range(44, 0, -1)), SortedCounts(2, 1000)
    limit = mechanism.error().quantiles[Fraction(19, 20)]
    drawn = mechanism.draw(counts, size=50, source=SeededSource(3))
    assert all(distance(read_counts(counts), read_counts(y)) <= limit for y in drawn)


def test_progress_is_told_and_an_interruption_returns_nothing():
    told = []
    SortedCounts(1, 10**5).release(zipf_counts(10**5), progress=told.append)
    assert told == sorted(told)
    assert 0 <= told[0] < told[-1] <= 1

    def stop(_):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        SortedCounts(1, 10**5).release(zipf_counts(10**5), progress=stop)


def test_the_least_epsilon_keeps_all_weights_within_doubles():
    """So no list, however long, is refused: sums of products of two entries stay below 1e308 for up to 2^61 steps."""
    widest = half_decay(LEAST_EPSILON) * (1 + partition_weights._SPREAD)
    assert tight_decay(LEAST_EPSILON) <= half_decay(LEAST_EPSILON) < widest <= LARGEST_DECAY
    width = band_width(LARGEST_DECAY, 1 << 61)
    matrix, largest = ShiftChain(LARGEST_DECAY, width, Doubles()).power(0)[1], 0.0
    shifts = np.abs(np.arange(-width - 1, width + 2))
    for exponent in range(1, 21):
        matrix = matrix @ matrix
        np.fill_diagonal(matrix, float(LARGEST_DECAY) ** (shifts * 2.0**exponent))
        largest = max(largest, matrix.max())
    assert largest < 1e150
    assert largest**2 * (2 * width + 3) < 1e308
    # After 2^20 steps nothing but staying at shift 0 is left to happen, so more steps change nothing.
    assert (matrix[shifts > 0][:, shifts > 0].diagonal() == 0).all()


def test_a_huge_epsilon_gives_the_list_itself():
    assert SortedCounts(100, 10).draw([3, 1, 1]).tolist() == [3, 1, 1]


@pytest.mark.slow
@pytest.mark.parametrize("count", [2**60 - 1, 2**60, 2**63 - 1, 2**63, 2**64, 10**30])
def test_a_count_of_any_size_is_answered(count):
    drawn = SortedCounts(1, 10).draw([count, 5], source=SeededSource(1))
    assert abs(int(drawn[0]) - min(count, 2**60)) < 100
    isotonic = IsotonicCounts(1, 10, 3).draw([count, 5, -7], source=SeededSource(1))
    assert abs(int(isotonic[0]) - min(count, 2**60)) < 100


def test_a_law_without_certificate_says_so():
    with pytest.raises(BadParameter, match="irrational"):
        SortedCounts("ln(3)", 10).certificate()


def test_the_tight_weights_lower_the_error():
    counts = zipf_counts(10**5)
    tight, plain = SortedCounts(2, 10**5), SortedCounts(2, 10**5, bounded_range=True)
    assert tight.error_at(counts).upper < Fraction(3, 4) * plain.error_at(counts).lower
    assert -log(tight.decay) > 1.7
    assert float(plain.decay) == pytest.approx(exp(-1))
