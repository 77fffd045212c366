"""The privacy of the weights q^‖x−y‖ on all pairs of neighbouring lists, against the formula ε(q)."""

from fractions import Fraction

import pytest

from leastnoise.checker import check
from leastnoise.errors import BadParameter
from leastnoise.exact import Enclosure, exp_enclosure, ln, ln_enclosure, read_exact
from leastnoise.mechanisms.combinatorial.sorted_counts.diagram import border_of, read_counts
from leastnoise.mechanisms.combinatorial.sorted_counts.partition_weights import normaliser
from leastnoise.mechanisms.combinatorial.sorted_counts.sorted_counts import half_decay, privacy_of, tight_decay
from leastnoise.model.channel import Channel
from leastnoise.model.graphs import from_edges
from mechanisms.combinatorial.sorted_counts.partitions import l1, one_more, up_to

BITS = 40


def normalisers(decay, lists, *, top=None):
    found = {}
    for counts in lists:
        border = border_of(*read_counts(list(counts), top), columns=top)
        found[counts] = normaliser(border, decay, closed=top is not None, bits=BITS)
    return found


def losses(decay, lists):
    """ln(1/q) + |ln Z − ln Z'| for all neighbours, from below; some y attains it: those nearer to the smaller Z."""
    sums = normalisers(decay, [*lists, *{more for counts in lists for more in one_more(counts)}])
    return {
        (counts, more): ln_enclosure(
            max(sums[more].lower / sums[counts].upper, sums[counts].lower / sums[more].upper) / decay
        ).lower
        for counts in lists
        for more in one_more(counts)
    }


@pytest.mark.slow
@pytest.mark.parametrize(("decay", "total"), [(Fraction(1, 4), 8), (Fraction(1, 2), 13), (Fraction(3, 5), 8)], ids=str)
def test_no_pair_of_small_lists_loses_more_than_the_formula_says(decay, total):
    """All neighbours of at most 14 records; the first record of all attains the formula, so nothing less will do."""
    found, claim = losses(decay, up_to(total)), privacy_of(decay)
    assert max(found.values()) <= claim.upper < 2 * ln_enclosure(1 / decay).lower
    assert found[(), (1,)] == max(found.values()) > claim.lower - Fraction(1, 2**30)


def test_a_large_rectangle_nearly_attains_the_formula():
    decay, side = Fraction(1, 2), 24
    full, chipped = (side,) * side, (*(side,) * (side - 1), side - 1)
    sums = normalisers(decay, [full, chipped])
    loss = ln_enclosure(max(sums[full].lower / sums[chipped].upper, sums[chipped].lower / sums[full].upper) / decay)
    assert privacy_of(decay).lower - Fraction(1, 10**6) < loss.lower < privacy_of(decay).upper


@pytest.mark.slow
def test_lists_of_at_most_two_counts_lose_no_more():
    decay, top = Fraction(1, 2), 2
    lists = [counts for counts in up_to(12) if len(counts) <= top]
    sums = normalisers(decay, lists, top=top)
    pairs = [(sums[c], sums[more]) for c in lists for more in one_more(c) if more in sums]
    worst = max(max(a.upper / b.lower, b.upper / a.lower) for a, b in pairs)
    assert ln_enclosure(worst / decay).upper <= privacy_of(decay).upper


@pytest.mark.parametrize("epsilon", [8, 4, 2, 1, "1/2", 0.1, 0.01, "2*ln(3)"])
def test_the_weights_chosen_are_private_and_nearly_the_least_that_are(epsilon):
    number = read_exact(epsilon, "epsilon")
    decay = tight_decay(number)
    assert privacy_of(decay).upper <= number
    assert privacy_of(decay * (1 - Fraction(1, 2**20))).lower > number or decay == half_decay(number)
    assert exp_enclosure(-number).upper < decay <= half_decay(number)
    assert half_decay(number) >= exp_enclosure(-number / 2).lower


def test_an_epsilon_beyond_reach_is_refused():
    with pytest.raises(BadParameter, match="epsilon"):
        half_decay(Fraction(1, 10**400))


def test_the_checker_passes_the_whole_law_cut_to_lists_in_a_box():
    """Lists within a 2 × 3 box: the proof holds there too, and all probabilities are rational."""
    decay = Fraction(1, 3)
    lists = [counts for counts in up_to(6) if len(counts) <= 2 and max(counts, default=0) <= 3]
    weights = [[decay ** l1(x, y) for y in lists] for x in lists]
    channel = Channel([[w / sum(row) for w in row] for row in weights], inputs=lists, outputs=lists)
    graph = from_edges([(x, more) for x in lists for more in one_more(x) if more in lists], lists)
    assert check(channel, graph, privacy_of(decay).upper)
    assert not check(channel, graph, privacy_of(decay).lower * Fraction(9, 10))


def test_exact_weights_are_kept():
    assert half_decay(2 * ln(2)) == Fraction(1, 2)
    assert isinstance(privacy_of(Fraction(1, 2)), Enclosure)
