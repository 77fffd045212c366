"""Unknown keys: the exact laws are (ε, δ)-private on all neighbours of small cases, and with one less they are not."""

from fractions import Fraction
from functools import cache
from itertools import product
from math import prod

import pytest
from hypothesis import given, strategies as st

from leastnoise.checker import check
from leastnoise.errors import BadParameter, InsecureSource
from leastnoise.exact import Enclosure, SeededSource, exp_enclosure, ln
from leastnoise.mechanisms import Geometric, plan_for
from leastnoise.mechanisms.histogram.noisy_threshold import (
    GaussianThreshold,
    NoisyThreshold,
    SelectionThreshold,
    UnknownKeys,
    least_threshold,
)
from leastnoise.model.channel import Channel
from leastnoise.model.graphs import from_edges
from support.statistics import fits

MOST = 4  # units that a small case has of each key


def small_case(mechanism, keys, rows, groups):
    """The channel on all counts 0..MOST of some keys, and the graph of neighbours: one unit more, on ≤ groups keys.

    A shown count is merged into "at least the last one" from some value on: a post-processing that loses nothing here,
    because beyond it the ratio of two laws no longer changes.
    """
    last = mechanism.threshold + MOST + 1
    nodes = list(product(range(MOST + 1), repeat=len(keys)))
    changes = [
        change
        for change in product(range(rows + 1), repeat=len(keys))
        if any(change) and sum(step > 0 for step in change) <= groups
    ]
    edges = {
        (node, tuple(a + b for a, b in zip(node, change, strict=True)))
        for node in nodes
        for change in changes
        if all(a + b <= MOST for a, b in zip(node, change, strict=True))
    }
    cells = [None, *range(mechanism.threshold, last + 1)]
    table = [[chance(mechanism, count, cell, last) for cell in cells] for count in range(MOST + 1)]
    outputs = list(product(range(len(cells)), repeat=len(keys)))
    rows_of = [
        [prod(table[count][i] for count, i in zip(node, places, strict=True)) for places in outputs] for node in nodes
    ]
    return Channel(rows_of, inputs=nodes), from_edges(sorted(edges), nodes)


def chance(mechanism, count, cell, last):
    """The exact probability that a key with this count is hidden (None), shown as `cell`, or as the last or more."""
    found = enclosed(mechanism, count, cell, last)
    assert found.is_exact
    return found.lower


@cache
def enclosed(mechanism, count, cell, last):
    if count == 0:
        return Enclosure(*[Fraction(int(cell is None))] * 2)
    if cell is None:
        return mechanism.hidden(count, 128)
    if cell < last:
        return mechanism.pmf((("a", cell),), {"a": count}, 128)
    below = mechanism.noise.cdf(cell - 1, count, 128)
    return Enclosure(1 - below.upper, 1 - below.lower)


@pytest.mark.parametrize(
    ("groups", "rows", "keys"), [(1, 1, "a"), (1, 1, "ab"), (2, 1, "ab"), (1, 2, "a"), (2, 2, "ab")]
)
def test_the_exact_law_is_private_and_the_threshold_is_the_least(groups, rows, keys):
    rate = ln(2)
    epsilon, delta = rate * groups * rows, Fraction(1, 12)
    mechanism = NoisyThreshold(epsilon, delta, groups, rows)
    channel, graph = small_case(mechanism, keys, rows, groups)
    verdict = check(channel, graph, epsilon, delta)
    assert verdict
    shown = mechanism.noise.tail(mechanism.threshold - rows).lower
    assert verdict.tight_delta == 1 - (1 - shown) ** min(groups, len(keys))
    if groups == 1:  # else the sum over the keys, which composes, is a little more than the tight δ
        channel, graph = small_case(with_less(mechanism), keys, rows, groups)
        assert not check(channel, graph, epsilon, delta)


def with_less(mechanism):
    """The same noise, with a threshold that is lower by one."""
    lower = type(mechanism)(mechanism.epsilon, mechanism.delta, mechanism.groups, mechanism.rows)
    object.__setattr__(lower, "threshold", mechanism.threshold - 1)
    return lower


@pytest.mark.parametrize(("epsilon", "delta"), [(ln(2), "1/12"), (ln(3), "1/1000"), (ln(2), "1/100")])
def test_the_best_selection_with_counts_is_private_and_no_threshold_is_lower(epsilon, delta):
    mechanism = SelectionThreshold(epsilon, delta)
    channel, graph = small_case(mechanism, "a", 1, 1)
    verdict = check(channel, graph, epsilon, Fraction(delta))
    assert verdict
    assert 0 <= Fraction(delta) - verdict.tight_delta < Fraction(1, 2**200)
    channel, graph = small_case(with_less(mechanism), "a", 1, 1)
    assert not check(channel, graph, epsilon, Fraction(delta))
    for keys in ("ab", "a"):
        both = SelectionThreshold(epsilon * 2, delta, 2)
        channel, graph = small_case(both, keys, 1, 2)
        assert check(channel, graph, epsilon * 2, Fraction(delta))


@given(st.fractions(min_value=Fraction(1, 50), max_value=4, max_denominator=60), st.integers(1, 9))
def test_keys_show_as_often_as_the_recursion_allows_and_never_more_often(epsilon, digits):
    delta = Fraction(3, 10**digits)
    mechanism, shown, ratio = SelectionThreshold(epsilon, delta), Fraction(0), exp_enclosure(epsilon, 512)
    for count in range(1, 12):
        shown = min(ratio.upper * shown + delta, 1 - (1 - shown - delta) / ratio.upper, Fraction(1))
        found = 1 - mechanism.hidden(count).lower
        assert found <= shown
        assert shown - found < Fraction(1, 2**200)
        shown = found


def private(mechanism, keys, epsilon, delta):
    """Whether the law of a small case, enclosed, keeps the promise on all neighbours; None where that is unsure."""
    groups, rows = mechanism.groups, mechanism.rows
    last, most, unsure = mechanism.threshold + MOST + 40, exp_enclosure(epsilon, 128), False
    cells = [None, *range(mechanism.threshold, last + 1)]
    nodes = [node for node in product(range(MOST + 1), repeat=len(keys)) if max(node) <= rows or len(keys) == 1]
    for one, other in product(nodes, repeat=2):
        changes = [abs(a - b) for a, b in zip(one, other, strict=True)]
        same_way = all(a <= b for a, b in zip(one, other, strict=True)) or all(
            a >= b for a, b in zip(one, other, strict=True)
        )
        if not any(changes) or max(changes) > rows or sum(map(bool, changes)) > groups or not same_way:
            continue
        surely = possibly = Fraction(0)
        for places in product(cells, repeat=len(keys)):
            p, q = (
                [enclosed(mechanism, count, cell, last) for count, cell in zip(side, places, strict=True)]
                for side in (one, other)
            )
            surely += max(prod(x.lower for x in p) - most.upper * prod(x.upper for x in q), 0)
            possibly += max(prod(x.upper for x in p) - most.lower * prod(x.lower for x in q), 0)
        if surely > delta:
            return False
        unsure |= possibly > delta
    return None if unsure else True


@pytest.mark.slow
@pytest.mark.parametrize(("groups", "rows", "keys"), [(1, 1, "a"), (1, 3, "a"), (2, 1, "ab")])
def test_the_gaussian_law_is_private_and_one_less_is_not(groups, rows, keys):
    epsilon, delta = Fraction(2), Fraction(1, 20)
    mechanism = GaussianThreshold(epsilon, delta, groups, rows)
    assert private(mechanism, keys, epsilon, delta)
    assert private(with_less(mechanism), keys, epsilon, delta) is False


@pytest.mark.slow
def test_the_bars_of_unknown_keys():
    found = {g: plan_for(UnknownKeys(Fraction(1), Fraction(1, 10**6), g)).best for g in (1, 5, 20, 100)}
    assert {g: best.half_shown for g, best in found.items()} == {1: 14, 5: 50, 20: 103, 100: 239}
    assert all(
        float(best.hidden(best.half_shown)) <= 0.5 < float(best.hidden(best.half_shown - 1)) for best in found.values()
    )
    assert plan_for(UnknownKeys(Fraction(1, 10**7), Fraction(1, 10**9), 1)).options  # too fine for the best selection
    rows = plan_for(UnknownKeys(Fraction(1), Fraction(1, 10**6), 2, rows=3))
    assert {type(option.mechanism) for option in rows.options} == {GaussianThreshold, NoisyThreshold}
    with pytest.raises(BadParameter, match="count once"):
        SelectionThreshold(1, "1e-6", rows=2)


@given(
    st.fractions(min_value=Fraction(1, 20), max_value=5, max_denominator=50),
    st.integers(2, 12),
    st.integers(1, 5),
    st.integers(1, 4),
)
def test_the_threshold_is_the_least_one(epsilon, digits, groups, rows):
    noise, delta = Geometric(epsilon, groups * rows), Fraction(1, 10**digits)
    found = least_threshold(noise, delta, groups, rows)

    def at(threshold):
        return groups * noise.tail(threshold - rows, 300).upper

    assert at(found) <= delta
    assert found == rows + 1 or at(found - 1) > delta


@pytest.mark.slow
def test_the_released_law():
    mechanism = NoisyThreshold("ln(2)", "1/20")
    counts = {"few": mechanism.threshold - 1, "many": mechanism.threshold + 20}
    drawn = [dict(each) for each in mechanism.draw(counts, 40_000, SeededSource(7))]
    hidden = sum("few" not in each for each in drawn)
    p = mechanism.hidden(counts["few"]).lower
    assert fits([int("few" not in each) for each in drawn], lambda x: 1 - p if x == 0 else 1, 0, 0)
    assert not fits(
        [int("few" not in each) for each in drawn], lambda x: 1 - p - Fraction(1, 25) if x == 0 else 1, 0, 0
    )
    assert 0 < hidden < len(drawn)
    noise = [each["few"] - counts["few"] for each in drawn if "few" in each]
    beyond = mechanism.noise.tail(1).lower
    assert fits(noise, lambda x: 1 - mechanism.noise.tail(x + 1).lower / beyond, 1, 8)


def test_keys_that_nobody_has_never_show_and_the_order_depends_on_names_only():
    mechanism = NoisyThreshold(1, "1/100")
    one = mechanism.draw({"b": 500, "a": 500, "zero": 0}, source=SeededSource(1))
    other = mechanism.draw({"a": 500, "zero": 0, "b": 500}, source=SeededSource(2))
    assert [key for key, _ in one] == [key for key, _ in other] == ["a", "b"]


def test_refusals():
    with pytest.raises(BadParameter, match="delta above zero"):
        NoisyThreshold(1, 0)
    with pytest.raises(InsecureSource):
        NoisyThreshold(1, "1/100").release({"a": 5}, SeededSource(1))
    with pytest.raises(BadParameter) as caught:
        NoisyThreshold(1, "1/100").release({"Ada": 41.5})
    assert "Ada" not in str(caught.value)
    assert "41.5" not in str(caught.value)
