from itertools import pairwise

import pytest

from leastnoise.exact import SeededSource, read_exact
from leastnoise.exact.inversion import InverseTable, Thresholds, is_below
from leastnoise.exact.samplers.gaussian import gaussian_law
from leastnoise.exact.samplers.laplace import head_law, remainder_law
from leastnoise.exact.samplers.rounded_gaussian import rounded_gaussian_law
from support.sources import ScriptedSource


@pytest.mark.parametrize(
    "law",
    [
        head_law(read_exact(1, "rate"), 1, signed=True),
        head_law(read_exact("1/100", "rate"), 1, signed=True),
        head_law(read_exact("ln(2)", "rate"), 4, signed=False),
        head_law(read_exact(10**6, "rate"), 1, signed=True),
        remainder_law(read_exact("1e-9", "rate"), 512),
        gaussian_law(read_exact("1/100", "s")),
        gaussian_law(read_exact(10**4, "s")),
        rounded_gaussian_law(read_exact("1/100", "s")),
        rounded_gaussian_law(read_exact(10**4, "s")),
    ],
)
@pytest.mark.parametrize("bits", [16, 48, 80, 200])
def test_enclosures_are_ordered_tight_and_nested(law, bits):
    now, finer = law(bits), law(bits + 64)
    for bounds in (now.low, now.high):
        assert all(a <= b for a, b in pairwise(bounds))
    # A threshold that is itself a multiple of 2^-b has an integer on either side.
    assert all(0 <= low <= high <= min(low + 2, 1 << bits) for low, high in zip(now.low, now.high, strict=True))
    shift = now.first - finer.first
    for j, (low, high) in enumerate(zip(now.low, now.high, strict=True)):
        assert (low << 64) <= finer.high[j + shift]
        assert finer.low[j + shift] <= (high << 64)


def test_a_word_on_a_threshold_is_undecided_and_beside_it_decided():
    thresholds = Thresholds(5, low=[10, 20], high=[11, 20])
    assert [thresholds.decide(word) for word in (9, 10, 11, 19, 20)] == [5, None, 6, 6, 7]


def test_outside_the_listed_thresholds_an_endless_law_is_undecided():
    thresholds = Thresholds(0, [10], [11], endless_below=True, endless_above=True)
    assert [thresholds.decide(word) for word in (3, 12)] == [None, None]


@pytest.mark.parametrize("tail", [0, 2**32 - 1])
def test_a_tie_on_the_table_is_settled_by_further_bits_on_the_right_side(tail):
    """Thresholds at exactly 1/2 + 2^-60: the 48-bit prefix of 1/2 leaves it open, the next bits decide."""

    def law(bits):
        exact = (1 << bits) + ((1 << bits) >> 59)
        return Thresholds(0, [exact // 2], [-(-((1 << bits) * ((1 << 59) + 1)) // (1 << 60))])

    source = ScriptedSource([1 << 15], [0], [tail >> shift & 255 for shift in (24, 16, 8, 0)])
    assert InverseTable(law).draw(1, source).tolist() == [int(tail > 0)]


def test_a_draw_far_in_the_tail_is_settled_by_its_bits():
    law = head_law(read_exact("1/128", "rate"), 1, signed=False)
    far = (1 << 32) - 1
    source = ScriptedSource([65535], [far], [255] * 4, [255] * 4, [255] * 4, [255] * 4, [255] * 4, [0] * 4)
    drawn = InverseTable(law).draw(1, source)
    # U starts with 208 ones and a zero: 2^-209 ≤ 1 − U ≤ 2^-208, and G = ⌊−ln(1 − U)·128⌋.
    assert drawn[0] >= int(208 * 0.6931 * 128) - 1
    assert drawn[0] <= 209 * 0.6932 * 128


def test_is_below_follows_the_bits():
    third = lambda bits: ((1 << bits) // 3, (1 << bits) // 3 + 1)  # noqa: E731
    assert is_below(0b00, 2, third, SeededSource(1))
    assert not is_below(0b10, 2, third, SeededSource(1))
    low, high = ScriptedSource([0] * 4), ScriptedSource([255] * 4)
    assert is_below(0b01, 2, third, low)
    assert not is_below(0b01, 2, third, high)
