"""Numbers of the literature about privacy that the checker reproduces exactly."""

from fractions import Fraction
from itertools import accumulate, pairwise

import pytest

from leastnoise.checker import check, privacy_curve
from leastnoise.exact.numbers import ln
from leastnoise.model.channel import Channel
from leastnoise.model.graphs import path
from support.channels import geometric

STEP = Fraction(6, 5)  # e^ε of Gu et al., section 5


def test_the_geometric_channel_on_three_points():
    """Fernandes, McIver and Morgan 2021: α = 1/4 on three points; ε = ln 4 exactly, between the first two rows."""
    channel = Channel([["4/5", "3/20", "1/20"], ["1/5", "3/5", "1/5"], ["1/20", "3/20", "4/5"]])
    assert channel == geometric(2, Fraction(1, 4))
    verdict = check(channel, path(3), "ln(4)")
    assert verdict
    assert verdict.tight_epsilon == ln(4)
    assert {verdict.worst.x, verdict.worst.neighbour} in ({0, 1}, {1, 2})
    assert check(Channel([channel.row(0), channel.row(1)]), path(2), 1).tight_epsilon == ln(4)
    assert not check(channel, path(3), ln(4) - Fraction(1, 10**50))


def test_the_geometric_channel_on_five_points():
    """The same with α = 1/2 on five points, where rows at distance d are d·ln 2 apart."""
    channel = geometric(4, Fraction(1, 2))
    assert channel.row(0) == tuple(Fraction(p) for p in ("2/3", "1/6", "1/12", "1/24", "1/24"))
    assert channel.row(2) == tuple(Fraction(p) for p in ("1/6", "1/6", "1/3", "1/6", "1/6"))
    for group in range(1, 5):
        assert check(channel, path(5), 1, group=group).tight_epsilon == group * ln(2)
    assert privacy_curve(channel, path(5)).points() == [(0, Fraction(1, 3)), (ln(2), 0)]


def published(prefix, t, delta):
    """Gu et al. 2024, equation 9."""
    return [*(min(Fraction(1), min(t * s, 1 - (1 - s) / t) + delta) for s in prefix[:-1]), Fraction(1)]


def corrected(prefix, t, delta):
    """What privacy allows: the second branch gains δ/t, not δ."""
    return [*(min(Fraction(1), t * s + delta, 1 - (1 - s - delta) / t) for s in prefix[:-1]), Fraction(1)]


def rows_of(operator, first, steps, t, delta):
    """The mechanism on a line: the boundary's distribution, then the operator again and again."""
    prefix = list(accumulate(first))
    rows = []
    for _ in range(steps + 1):
        rows.append([high - low for low, high in pairwise([Fraction(0), *prefix])])
        prefix = operator(prefix, t, delta)
    return rows


def test_the_rainbow_operator_as_published_breaks_delta_on_two_colours():
    """p = (0.9, 0.1), e^ε = 1.2, δ = 0.01: the second colour has 0.1, more than 1.2·P'(S) + δ = 0.098."""
    delta = Fraction(1, 100)
    first = [Fraction(9, 10), Fraction(1, 10)]
    verdict = check(Channel(rows_of(published, first, 1, STEP, delta)), path(2), ln(STEP), delta)
    witness = verdict.counterexample
    assert not verdict
    assert (witness.x, witness.outputs, witness.probability) == (0, (1,), Fraction(1, 10))
    assert STEP * witness.neighbour_probability + delta == Fraction(98, 1000)
    assert witness.excess == Fraction(2, 1000)
    assert verdict.tight_delta == STEP * delta
    assert check(Channel(rows_of(corrected, first, 1, STEP, delta)), path(2), ln(STEP), delta).tight_delta == delta


BOUNDARY = [Fraction(p) for p in ("0.0005", "0.0081", "0.1364", "0.2727", "0.5823")]


@pytest.mark.parametrize(
    ("operator", "needed", "prefix"),
    [
        (published, Fraction(12, 1000), (0.26268, 0.31284, 0.80550, 0.95365, 1)),
        (corrected, Fraction(10, 1000), (0.26268, 0.31284, 0.80032, 0.94558, 1)),
    ],
)
def test_the_rainbow_mechanism_on_a_line_of_five_colours(operator, needed, prefix):
    """Ten steps with δ = 1/100: as published it needs e^ε·δ = 0.012, corrected exactly δ."""
    rows = rows_of(operator, BOUNDARY, 10, STEP, Fraction(1, 100))
    assert [round(float(s), 5) for s in accumulate(rows[10])] == list(prefix)
    verdict = check(Channel(rows), path(11), ln(STEP), Fraction(1, 100))
    assert verdict.tight_delta == needed
    assert bool(verdict) is (operator is corrected)


def test_without_delta_the_published_operator_is_right():
    rows = rows_of(published, BOUNDARY, 10, STEP, Fraction(0))
    assert check(Channel(rows), path(11), ln(STEP))
    assert rows == rows_of(corrected, BOUNDARY, 10, STEP, Fraction(0))


@pytest.mark.parametrize(
    ("delta", "steps"),
    [("0", (38, 22, 7, 1, 0)), ("1/1000", (25, 20, 7, 1, 0)), ("1/100", (13, 12, 6, 1, 0))],
)
def test_the_first_steps_above_the_crossing(delta, steps):
    """The branches cross at s = (1 − δ)/(e^ε + 1)."""
    delta = Fraction(delta)
    prefixes = [list(accumulate(row)) for row in rows_of(corrected, BOUNDARY, 40, STEP, delta)]
    crossing = (1 - delta) / (STEP + 1)
    first = tuple(next(t for t, prefix in enumerate(prefixes) if prefix[k] > crossing) for k in range(5))
    assert first == steps


def test_group_privacy_of_approximate_privacy():
    """(ε, δ) for one record is (kε, k·e^((k−1)ε)·δ) for k of them, never less private than that."""
    delta = Fraction(1, 100)
    channel = Channel(rows_of(corrected, BOUNDARY, 10, STEP, delta))
    for k in range(1, 6):
        assert check(channel, path(11), k * ln(STEP), k * STEP ** (k - 1) * delta, group=k)
