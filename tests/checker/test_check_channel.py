import math
import pickle
import time
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given, strategies as st

import leastnoise as ln
from leastnoise.checker import check
from leastnoise.errors import BadChannel, BadParameter, UnknownLabel
from leastnoise.exact.enclosures import Enclosure, exp_above, exp_below
from leastnoise.exact.numbers import LogSum, ln as log
from leastnoise.model.channel import Channel
from leastnoise.model.graphs import complete, cycle, from_distance, from_edges, hypercube, integers, path
from support.channels import channels, geometric
from support.privacy import largest_excess, largest_ratio, ordered_pairs

GRAPHS = st.sampled_from([path, complete, lambda n: cycle(n) if n > 2 else path(n)])
FACTORS = st.fractions(min_value=1, max_value=8, max_denominator=12)


def rows_of(channel):
    return channel.matrix().tolist()


def pairs_of(graph):
    return [(x, other) for x, other, _ in ordered_pairs(graph)]


@given(channels(), GRAPHS)
def test_the_tight_epsilon_is_the_logarithm_of_the_largest_ratio(channel, family):
    graph = family(len(channel.inputs))
    verdict = check(channel, graph, epsilon=1)
    ratio = largest_ratio(rows_of(channel), pairs_of(graph))
    assert verdict.tight_epsilon == (math.inf if ratio is None else log(ratio))
    assert bool(verdict) == (ratio is not None and log(ratio) <= 1)


@pytest.mark.slow
@given(channels(), GRAPHS, FACTORS)
def test_the_tight_delta_is_the_largest_excess_over_all_sets(channel, family, t):
    graph = family(len(channel.inputs))
    expected = largest_excess(rows_of(channel), pairs_of(graph), t)
    verdict = check(channel, graph, log(t), Fraction(1, 7))
    assert verdict.tight_delta == expected
    assert verdict.holds == (expected <= Fraction(1, 7))
    assert check(channel, graph, log(t)).tight_delta == expected


@pytest.mark.slow
@given(channels(), GRAPHS, st.fractions(min_value=0, max_value=Fraction(9, 10), max_denominator=40))
def test_the_tight_epsilon_holds_and_nothing_below_it_does(channel, family, delta):
    graph = family(len(channel.inputs))
    tight = check(channel, graph, 1, delta).tight_epsilon
    if tight == math.inf:
        return
    assert check(channel, graph, tight, delta)
    if tight > 0:
        assert not check(channel, graph, tight * (1 - Fraction(1, 10**30)), delta)


@pytest.mark.slow
@given(channels(), GRAPHS, FACTORS, st.fractions(min_value=0, max_value=Fraction(1, 2), max_denominator=20))
def test_a_counterexample_breaks_the_promise_by_what_it_says(channel, family, t, delta):
    graph = family(len(channel.inputs))
    verdict = check(channel, graph, log(t), delta)
    witness = verdict.counterexample
    if verdict:
        assert witness is None
        return
    assert graph.distance(witness.x, witness.neighbour) == 1
    probability, other = (
        sum(channel.probability(y, x) for y in witness.outputs) for x in (witness.x, witness.neighbour)
    )
    assert (probability, other) == (witness.probability, witness.neighbour_probability)
    assert witness.excess == probability - t * other - delta > 0


def test_the_worst_of_several_edges_is_named():
    channel = Channel([["1/2", "1/2"], ["1/2", "1/2"], ["1/9", "8/9"]])
    witness = check(channel, path(3), epsilon=0).counterexample
    assert (witness.x, witness.neighbour, witness.outputs) == (1, 2, (0,))


def test_an_epsilon_with_irrational_exponential_is_decided_within_a_hair_on_both_sides():
    for bits in (64, 200, 1000):
        below, above = exp_below(1, bits), exp_above(1, bits)
        for ratio, private in ((below, True), (above, False)):
            p = 1 / (1 + ratio)
            channel = Channel([[p, 1 - p], [1 - p, p]])
            assert check(channel, path(2), epsilon=1).holds is private
            assert check(channel, path(2), epsilon=1, delta=Fraction(1, 10**400)).holds is private


@pytest.mark.parametrize("epsilon", ["ln(3)", "1/2*ln(9)", "2*ln(3) - ln(3)"])
def test_equality_is_private_however_epsilon_is_written(epsilon):
    assert check(Channel([["3/4", "1/4"], ["1/4", "3/4"]]), path(2), epsilon)


def test_a_hair_more_than_the_tight_epsilon_is_seen():
    flip = Channel([["3/4", "1/4"], ["1/4", "3/4"]])
    assert not check(flip, path(2), log(3) - Fraction(1, 10**100))
    assert check(flip, path(2), log(3) + Fraction(1, 10**100))


# Floats


@st.composite
def float_rows(draw):
    """Doubles of very different sizes in rows that sum to one, nearly."""
    width = draw(st.integers(2, 4))
    small = st.sampled_from([0.0, 5e-324, 1e-310, 2.0**-1022, 1e-200, 2.0**-500, 1e-17, 0.1, 0.1 + 2**-56, 0.3])
    rows = [[draw(small) for _ in range(width - 1)] for _ in range(draw(st.integers(2, 4)))]
    return [[*row, 1.0 - sum(row)] for row in rows]


@pytest.mark.slow
@given(
    float_rows(),
    st.sampled_from([0, Fraction(1, 10**9), Fraction(1, 4)]),
    st.sampled_from([Fraction(1), Fraction(900)]),
)
def test_floats_count_as_exactly_the_numbers_they_are(rows, delta, epsilon):
    channel = Channel(np.array(rows))
    graph = path(len(rows))
    inexact, exact = check(channel, graph, epsilon, delta), check(channel.to_exact(), graph, epsilon, delta)
    assert not channel.is_exact
    assert (inexact.holds, inexact.tight_epsilon) == (exact.holds, exact.tight_epsilon)
    assert repr(inexact.tight_delta) == repr(exact.tight_delta)
    if delta == 0:
        ratio = largest_ratio(rows, pairs_of(graph))
        assert inexact.tight_epsilon == (math.inf if ratio is None else log(ratio))


def test_the_last_bit_of_a_float_decides():
    low, high = np.nextafter(0.75, 0), np.nextafter(0.75, 1)
    for p, private in ((low, True), (0.75, True), (high, False)):
        assert check(Channel(np.array([[p, 0.25], [0.25, 0.75]])), path(2), "ln(3)").holds is private


def test_ratios_beyond_the_range_of_floats_are_told_apart():
    def tight(tiny):
        return check(Channel(np.array([[1.0, tiny], [0.5, 0.5]])), path(2), epsilon=1).tight_epsilon

    assert tight(5e-324) == 1073 * log(2)
    assert tight(1e-323) == 1072 * log(2)
    assert tight(0.0) == math.inf


def test_rationals_beyond_the_range_of_floats_are_told_apart():
    tiny = Fraction(1, 10**400)
    for factor in (1, 2, 3):
        channel = Channel([[1 - tiny * factor, tiny * factor], [1 - tiny, tiny], [1 - 2 * tiny, 2 * tiny]])
        expected = largest_ratio(rows_of(channel), pairs_of(path(3)))
        assert check(channel, path(3), epsilon=1).tight_epsilon == log(expected)


TINY = st.sampled_from(
    [Fraction(0), Fraction(1, 10**400), Fraction(1, 2**1075), Fraction(3, 2**1076), Fraction(1, 2**300)]
)


@pytest.mark.slow
@given(st.lists(st.lists(TINY, min_size=2, max_size=2), min_size=2, max_size=3), st.integers(770, 790), st.booleans())
@example([[Fraction(7, 2**297), Fraction(0)], [Fraction(3, 2**1076), Fraction(0)]], 780, True)
def test_factors_and_rationals_beyond_the_range_of_floats_meet_exactly(rows, power, pure):
    """e^ε = 2^k times a number that no double can hold, against one that it can."""
    rows = [[*row, 1 - sum(row)] for row in rows]
    channel, graph, delta = Channel(rows), path(len(rows)), 0 if pure else Fraction(1, 2**301)
    verdict = check(channel, graph, power * log(2), delta)
    assert verdict.tight_delta == largest_excess(rows, pairs_of(graph), Fraction(2) ** power)
    assert verdict.holds == (verdict.tight_delta <= delta)


def test_near_ties_are_settled_exactly():
    """Many ratios that round to the same double; one is the largest."""
    base = Fraction(1, 1000)
    rows = [[base * 2 + Fraction(k, 10**30) for k in range(10)], [base] * 10]
    channel = Channel([[*row, 1 - sum(row)] for row in rows])
    verdict = check(channel, path(2), epsilon=1)
    assert verdict.tight_epsilon == log(2 + Fraction(9, 10**27))
    assert verdict.worst.outputs == (9,)


@pytest.mark.slow
@given(st.integers(0, 2**32))
def test_differences_below_the_resolution_of_doubles_are_seen(seed):
    """Entries a and b near 3:1 that differ from each other by a fraction of a unit in the last place, in all pairs."""
    dice = np.random.default_rng(seed)
    hairs = (dice.integers(-8, 9, (4, 5))).tolist()
    bases = [Fraction(3 if x % 2 else 1, 7 * (3 + y)) for x in range(4) for y in range(5)]
    rows = [
        [bases[5 * x + y] * (1 + Fraction(hair, 2**56)) for y, hair in enumerate(row)] for x, row in enumerate(hairs)
    ]
    rows = [[*row, 1 - sum(row)] for row in rows]
    channel, graph = Channel(rows), path(4)
    assert check(channel, graph, 1).tight_epsilon == log(largest_ratio(rows, pairs_of(graph)))
    for t in (Fraction(3), Fraction(3) + Fraction(1, 2**55)):
        assert check(channel, graph, log(t)).tight_delta == largest_excess(rows, pairs_of(graph), t)


# Groups, metrics, names


def test_groups_ask_the_same_of_inputs_further_apart():
    channel = geometric(4, Fraction(1, 2))
    for group in (1, 2, 3, 4):
        assert check(channel, path(5), epsilon=1, group=group).tight_epsilon == group * log(2)
    assert not check(channel, path(5), "ln(2)", group=2)
    assert check(channel, path(5), "ln(4)", group=2)


def test_groups_include_those_who_are_nearer():
    channel = Channel([["1/2", "1/2"], ["1/9", "8/9"], ["1/2", "1/2"]])
    assert check(channel, path(3), epsilon=1, group=2).tight_epsilon == log(Fraction(9, 2))


def test_a_metric_weighs_each_pair_by_its_length():
    channel = geometric(4, Fraction(1, 2))
    line = from_distance([[abs(i - j) for j in range(5)] for i in range(5)])
    halves = from_distance([[Fraction(abs(i - j), 2) for j in range(5)] for i in range(5)])
    assert check(channel, line, "ln(2)")
    assert check(channel, line, 1).tight_epsilon == log(2)
    assert check(channel, halves, 1).tight_epsilon == log(4)


@pytest.mark.slow
@given(channels(inputs=3), FACTORS, st.fractions(min_value=0, max_value=Fraction(1, 2), max_denominator=10))
def test_a_metric_agrees_with_its_definition(channel, t, delta):
    metric = from_distance([[0, 1, 2], [1, 0, 3], [2, 3, 0]])
    verdict = check(channel, metric, log(t), delta)
    rows = rows_of(channel)
    excess = max(largest_excess(rows, [(x, other)], t ** int(length)) for x, other, length in ordered_pairs(metric))
    assert verdict.tight_delta == excess
    assert verdict.holds == (excess <= delta)
    if verdict.tight_epsilon != math.inf:
        assert check(channel, metric, verdict.tight_epsilon, delta)
        if verdict.tight_epsilon > 0:
            assert not check(channel, metric, verdict.tight_epsilon * (1 - Fraction(1, 10**20)), delta)


def test_a_metric_with_many_different_lengths():
    positions = [Fraction(k * k, 97) for k in range(12)]
    metric = from_distance([[abs(a - b) for b in positions] for a in positions])
    rows = [[Fraction(1, 24) + (Fraction(1, 2) if x == y else 0) for y in range(12)] for x in range(12)]
    verdict = check(Channel(rows), metric, epsilon=1)
    assert verdict.tight_epsilon == log(13) / (positions[1] - positions[0])


def test_inputs_are_matched_by_name_and_only_numbered_ones_by_place():
    graph = from_edges([("a", "b"), ("b", "c")])
    channel = Channel([["1/2", "1/2"], ["1/9", "8/9"], ["1/2", "1/2"]], inputs=["a", "c", "b"])
    assert check(channel, graph, epsilon=1).counterexample.neighbour == "c"
    assert check(channel.select({0: "a", 1: "c", 2: "b"}), graph, epsilon=1).counterexample.neighbour == "b"
    with pytest.raises(UnknownLabel, match="the nodes are"):
        check(Channel.uniform(["a", "b", "d"], 2), graph, epsilon=1)


def test_one_input_alone_is_private():
    verdict = check(Channel([["1/2", "1/2"]]), path(1), epsilon=0)
    assert verdict
    assert (verdict.tight_epsilon, verdict.tight_delta, verdict.worst) == (0, 0, None)
    assert check(Channel([["1/2", "1/2"]]), path(1), 0, "1/2").tight_epsilon == 0


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ((Channel.uniform(3, 2), path(4), 1), BadChannel),
        ((Channel.uniform(3, 2), integers(), 1), BadChannel),
        ((Channel.uniform(3, 2), path(3), -1), BadParameter),
        ((Channel.uniform(3, 2), path(3), float("nan")), BadParameter),
        ((Channel.uniform(3, 2), path(3), 1, 1), BadParameter),
        ((Channel.uniform(3, 2), path(3), 1, -1), BadParameter),
        ((Channel.uniform(3, 2), path(3)), BadParameter),
        (([[1]], path(1), 1), BadParameter),
    ],
)
def test_bad_input_is_refused(arguments, error):
    with pytest.raises(error):
        check(*arguments)


def test_bad_groups_are_refused():
    with pytest.raises(BadParameter, match="group"):
        check(Channel.uniform(3, 2), path(3), 1, group=0)
    with pytest.raises(BadParameter, match="metric"):
        check(Channel.uniform(2, 2), from_distance([[0, 1], [1, 0]]), 1, group=2)


# What it looks like


def test_a_verdict_is_true_or_false_and_says_why():
    channel = geometric(2, Fraction(1, 4))
    good, bad = check(channel, path(3), "ln(4)"), check(channel, path(3), 1)
    assert good
    assert not bad
    assert str(good).splitlines()[0] == "ε = ln(4) holds on path(3)"
    for part in ("does not hold", "ln(4)", "4/5", "1/5", "too large by"):
        assert part in str(bad)
    for part in ("(ε, δ) = (1, 1/10)", "tight δ at ε = 1", "tight ε at δ = 1/10"):
        assert part in str(check(channel, path(3), 1, "1/10"))


def test_labels_are_escaped_in_html():
    channel = Channel([["1/2", "1/2"], ["1/9", "8/9"]], outputs=["<script>", "b"], inputs=["<b>", "c"])
    html = check(channel, from_edges([("<b>", "c")]), epsilon=1)._repr_html_()
    assert "<script>" not in html
    assert "<b>" not in html
    assert "&lt;script&gt;" in html


def test_an_enclosed_delta_encloses():
    verdict = check(geometric(2, Fraction(1, 4)), path(3), 1)
    assert isinstance(verdict.tight_delta, Enclosure)
    assert Fraction(4, 5) - exp_above(1, 200) / 5 in verdict.tight_delta


@pytest.mark.parametrize("delta", [0, "1/10"])
def test_a_verdict_survives_the_way_to_another_process(delta):
    verdict = check(geometric(2, Fraction(1, 4)), path(3), 1, delta)
    again = pickle.loads(pickle.dumps(verdict))  # noqa: S301
    assert again == verdict
    assert repr(again.tight_delta) == repr(verdict.tight_delta)


def test_the_package_is_the_function():
    assert ln.check(geometric(2, Fraction(1, 4)), path(3), "ln(4)")
    assert ln.check(geometric(2, Fraction(1, 4)), path(3), "ln(4)")
    assert isinstance(ln.check(geometric(2, Fraction(1, 4)), path(3), 1).tight_epsilon, LogSum)


# Size


def timed(channel, graph, *promise):
    start = time.process_time()  # what others do on the machine does not count
    verdict = check(channel, graph, *promise)
    return verdict, time.process_time() - start


@pytest.mark.slow
@pytest.mark.parametrize("family", [path, cycle])
def test_two_thousand_floats_squared_take_seconds_not_minutes(family):
    n = 2000
    gaps = np.abs(np.subtract.outer(np.arange(n), np.arange(n)))
    weights = np.exp(-0.1 * (np.minimum(gaps, n - gaps) if family is cycle else gaps))
    channel = Channel(weights / weights.sum(axis=1, keepdims=True))
    for promise in ((0.25,), (0.05,), *([(0.05, 0.001)] if family is path else [])):
        verdict, seconds = timed(channel, family(n), *promise)
        assert verdict.holds == (promise == (0.25,))
        assert seconds < 20  # `make bench` measures; this guards against a wrong algorithm


def test_a_hypercube_of_two_thousand_takes_seconds_not_minutes():
    nodes = np.arange(2048)
    weights = np.exp(-0.5 * np.bitwise_count(np.bitwise_xor.outer(nodes, nodes)))
    channel = Channel(weights / weights.sum(axis=1, keepdims=True))
    verdict, seconds = timed(channel, hypercube(11), 0.5001)
    assert verdict
    assert seconds < 20  # `make bench` measures; this guards against a wrong algorithm


@pytest.mark.slow
@pytest.mark.parametrize("family", [path, complete])
def test_two_hundred_rationals_squared_take_seconds_not_minutes(family):
    numerators = np.random.default_rng(1).integers(1, 10**6, (200, 200)).tolist()
    channel = Channel([[Fraction(top, sum(row)) for top in row] for row in numerators])
    for promise in ((100,), (1,), (1, "1/100")):
        verdict, seconds = timed(channel, family(200), *promise)
        assert verdict.holds == (promise == (100,))
        assert seconds < 60


def test_all_pairs_are_settled_by_the_extremes_of_each_output():
    numerators = np.random.default_rng(2).integers(1, 50, (40, 6)).tolist()
    channel = Channel([[Fraction(top, sum(row)) for top in row] for row in numerators])
    expected = largest_ratio(rows_of(channel), pairs_of(complete(40)))
    assert check(channel, complete(40), 1).tight_epsilon == log(expected)
    assert check(Channel(channel.floats()), complete(40), 1).tight_epsilon == log(
        largest_ratio(channel.floats().tolist(), pairs_of(complete(40)))
    )
