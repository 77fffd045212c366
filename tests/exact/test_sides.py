"""Bounds that samplers decide by are on their side of the true number, and what they leave open is never decided."""

import threading
from fractions import Fraction
from itertools import accumulate

import numpy as np
import pytest

import leastnoise.exact as exact
from leastnoise.exact import sources
from leastnoise.exact.samplers.categorical_exp import ExponentialLaw
from leastnoise.exact.samplers.gaussian import gaussian_law
from leastnoise.exact.samplers.laplace import GeometricTables
from support.sources import ScriptedSource


def test_every_thread_has_a_key_of_its_own(monkeypatch):
    keys, make = [], sources._Stream

    def remember(key, nonce):
        keys.append(key)
        return make(key, nonce)

    monkeypatch.setattr(sources, "_Stream", remember)
    source = sources.SystemSource()
    threads = [threading.Thread(target=source.words, args=(1, 8)) for _ in range(5)]
    for thread in threads:
        thread.start()
        thread.join()
    source.words(1, 8)
    source.words(1, 8)
    assert len(set(keys)) == len(keys) == 6


class Fixed:
    """A table that gives out known numbers."""

    def __init__(self, numbers):
        self.numbers = np.array(numbers, dtype=np.int64)

    def draw(self, count, _source):
        assert count == len(self.numbers)
        return self.numbers


def test_a_wide_draw_is_put_together_from_its_digits_on_both_sides_of_zero():
    """G = m·q + r, and below zero −1 − G with the same q and r: the law is that of |x|, so r counts away from zero."""
    pairs = [(q, r) for q in range(4) for r in range(64)]
    digits = ((0, Fixed([r % 8 for _, r in pairs])), (3, Fixed([r // 8 for _, r in pairs])))
    up = GeometricTables(Fixed([q for q, _ in pairs]), digits, 6).draw(len(pairs), None)
    down = GeometricTables(Fixed([-1 - q for q, _ in pairs]), digits, 6).draw(len(pairs), None)
    assert up.tolist() == [64 * q + r for q, r in pairs]
    assert down.tolist() == [-1 - 64 * q - r for q, r in pairs]


WEIGHTS = [[1, 2, 4], [7, 1, 1, 5], [1] * 3, [10**9, 1], [1, 10**9]]


@pytest.mark.parametrize("bits", [3, 8, 53])
@pytest.mark.parametrize("weights", WEIGHTS, ids=str)
def test_shares_of_candidates_are_enclosed_at_every_precision(weights, bits):
    law = ExponentialLaw([exact.ln(weight) for weight in weights], None, Fraction(1))
    found = law.thresholds(bits)
    shares = [Fraction(part, sum(weights)) * 2**bits for part in accumulate(weights)][:-1]
    for low, share, high in zip(found.low, shares, found.high, strict=True):
        assert low <= share <= high
        assert high - low <= 2


@pytest.mark.parametrize("weights", WEIGHTS, ids=str)
@pytest.mark.parametrize("as_array", [False, True])
def test_a_word_that_holds_a_threshold_is_not_decided_by_itself(weights, as_array):
    """The choice is that of the U revealed, all of it between the two thresholds of the choice."""
    exponents = [exact.ln(weight) for weight in weights]
    base = None
    if as_array:
        exponents, base = np.zeros(len(weights)), weights
    borders = [Fraction(part, sum(weights)) for part in accumulate(weights, initial=0)]
    for border in borders[1:-1]:
        for near in range(int(border * 2**53) - 2, int(border * 2**53) + 3):
            source = ScriptedSource([near << 11])
            chosen = int(exact.categorical_exp(exponents, base, source=source))
            revealed, bits = near, 53
            for given_bits, words in source.given[1:]:
                for word in words:
                    revealed, bits = (revealed << given_bits) | int(word), bits + given_bits
            assert borders[chosen] * 2**bits <= revealed
            assert revealed + 1 <= borders[chosen + 1] * 2**bits


@pytest.mark.slow
@pytest.mark.parametrize("bits", [8, 24])
@pytest.mark.parametrize("variance", [Fraction(1, 3), Fraction(4), Fraction(20)])
def test_thresholds_of_the_discrete_gaussian_enclose_its_tails(variance, bits):
    """All of them, the first and the last too: what lies beyond the listed weights counts."""
    found = gaussian_law(variance)(bits)
    last = 3 * len(found.low)
    low, high = (
        {k: bound(-Fraction(k**2) / (2 * variance), bits + 200) for k in range(-last, last + 1)}
        for bound in (exact.exp_below, exact.exp_above)
    )
    least, most = sum(low.values()), sum(high.values()) * (1 + Fraction(1, 2 ** (bits + 100)))
    for place, (below, above) in enumerate(zip(found.low, found.high, strict=True)):
        start = found.first + place  # P(X ≤ start)
        assert below <= sum(high[k] for k in range(-last, start + 1)) * 2**bits / least * (1 + Fraction(1, 2**90))
        assert above >= sum(low[k] for k in range(-last, start + 1)) * 2**bits / most
    beyond = exact.discrete_gaussian_cdf(found.first - 1, variance, bits)
    assert beyond.lower == 0 < beyond.upper
