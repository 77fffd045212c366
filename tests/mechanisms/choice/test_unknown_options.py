"""The most common of keys that nobody listed: the law on all small databases, judged by the checker."""

from fractions import Fraction
from itertools import permutations, product

import pytest

from leastnoise.checker import check
from leastnoise.exact import SeededSource, ln
from leastnoise.mechanisms import UnknownTopK
from leastnoise.model.channel import Channel
from leastnoise.model.graphs import from_edges

MOST = 3  # what a small database has of each key


def small_case(mechanism, keys, groups, rows):
    """The law on all counts up to MOST of some keys, and who is a neighbour of whom."""
    nodes = list(product(range(MOST + 1), repeat=len(keys)))
    edges = [
        (one, other)
        for one, other in product(nodes, repeat=2)
        if one != other
        and all(0 <= b - a <= rows for a, b in zip(one, other, strict=True))
        and sum(a != b for a, b in zip(one, other, strict=True)) <= groups
    ]
    outputs = [chosen for size in range(mechanism.k + 1) for chosen in permutations(keys, size)]
    answers = [dict(zip(keys, node, strict=True)) for node in nodes]
    law = [[mechanism.pmf(output, answer).lower for output in outputs] for answer in answers]
    return Channel(law, inputs=nodes), from_edges(edges, nodes)


@pytest.mark.parametrize(
    ("keys", "k", "groups", "rows"),
    [("a", 1, 1, 1), ("ab", 1, 2, 1), ("ab", 2, 2, 1), ("abc", 1, 3, 1), ("ab", 1, 2, 2)],
)
def test_the_exact_law_is_private_and_the_threshold_the_least(keys, k, groups, rows):
    epsilon, delta = ln(2) * k * rows, Fraction(1, 12)
    mechanism = UnknownTopK(epsilon, delta, k, groups, rows)
    channel, graph = small_case(mechanism, keys, groups, rows)
    verdict = check(channel, graph, epsilon, delta)
    assert verdict
    lower = UnknownTopK(epsilon, delta, k, groups, rows)
    object.__setattr__(lower, "threshold", mechanism.threshold - 1)
    channel, graph = small_case(lower, keys, groups, rows)
    if k == 1:  # exact: an empty table, and a unit with as many keys as it may have
        ratio, weight = Fraction(2) ** rows, Fraction(2) ** mechanism.threshold
        assert verdict.tight_delta == groups * ratio / (weight + groups * ratio)
        assert not check(channel, graph, epsilon, delta)


def test_the_threshold_grows_with_the_logarithm_of_the_groups():
    found = [UnknownTopK(1, "1e-6", groups=g).threshold for g in (1, 5, 20, 100)]
    assert found == [15, 17, 18, 20]


def test_keys_that_nobody_has_are_never_listed_and_common_ones_are():
    mechanism = UnknownTopK(2, "1e-6", k=2)
    drawn = mechanism.draw({"a": 900, "b": 300, "c": 1, "d": 0}, 200, SeededSource(1))
    assert set(drawn) == {("a", "b")}
    assert UnknownTopK(1, "1e-6", k=3).draw({"a": 1}, source=SeededSource(2)) == ()
