"""The stability threshold: its exact law is (ε, δ)-private on all neighbours of small cases, and one less is not."""

from fractions import Fraction
from itertools import product
from math import prod

import pytest
from hypothesis import given
from hypothesis import strategies as st

from leastnoise.checker import check
from leastnoise.errors import BadParameter, InsecureSource
from leastnoise.exact import SeededSource, ln
from leastnoise.mechanisms import Geometric
from leastnoise.mechanisms.histogram.noisy_threshold import NoisyThreshold, least_threshold
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
    if count == 0:
        return Fraction(int(cell is None))
    if cell is None:
        found = mechanism.hidden(count)
    elif cell < last:
        found = mechanism.pmf((("a", cell),), {"a": count})
    else:
        below = mechanism.noise.cdf(cell - 1, count)
        assert below.is_exact
        return 1 - below.lower
    assert found.is_exact
    return found.lower


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
    lower = NoisyThreshold(epsilon, delta, groups, rows)
    object.__setattr__(lower, "threshold", mechanism.threshold - 1)
    channel, graph = small_case(lower, keys, rows, groups)
    if len(keys) >= groups:
        assert not check(channel, graph, epsilon, delta)


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
        return 1 - (1 - noise.tail(threshold - rows, 300).upper) ** groups

    assert at(found) <= delta
    assert found == rows + 1 or at(found - 1) > delta


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
