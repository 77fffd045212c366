"""A second pair that exceeds δ by a hair where the first has just sunk to it decides the tight ε."""

from fractions import Fraction

import pytest

from leastnoise.checker import check
from leastnoise.exact import ln
from leastnoise.model.channel import Channel
from leastnoise.model.graphs import path


@pytest.mark.parametrize("digits", [10, 28, 45, 70])
def test_the_tight_epsilon_is_that_of_the_last_pair_to_sink_to_delta(digits):
    """At e^ε = 2 the first two rows are δ apart exactly; the last two meet δ a hair later, at 2 + 2^-digits."""
    delta, late = Fraction(1, 10), 2 + Fraction(1, 2**digits)
    last = Fraction(1, 5) / late
    rows = [["1/2", "1/2"], ["1/5", "4/5"], ["3/10", "7/10"], [last, 1 - last]]
    verdict = check(Channel(rows), path(4), "ln(2)", delta)
    assert verdict.tight_epsilon == ln(late)
    assert not verdict
    assert check(Channel(rows), path(4), ln(late), delta)
    assert check(Channel(rows[:3]), path(3), "ln(2)", delta).tight_epsilon == ln(2)
