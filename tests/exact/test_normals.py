"""Normal numbers: the doubles near them are as near as promised, and revealed bits only ever narrow them."""

import numpy as np
import pytest
from flint import arb, ctx

from leastnoise.errors import PrecisionExhausted
from leastnoise.exact import SeededSource, normals
from leastnoise.exact.normals import DOUBLE_ERROR, NEAR, Normals
from support.sources import ScriptedSource

CELLS = 1 << normals._CELL_BITS


def worst_error(words):
    """The largest |double − g| for p at either end of what 63 bits say about it, by a formula that inverts nothing.

    erfc(x/√2) = p at x + e with |e| ≤ |erfc(x/√2) − p|/|slope|, and the slope is steepest where |x| is least.
    """
    found = Normals(len(words), ScriptedSource(words)).doubles().tolist()
    with ctx.workprec(160):
        worst = arb(0)
        for word, double in zip(words.tolist(), found, strict=True):
            x = arb(-double if word & 1 else double)
            assert -DOUBLE_ERROR <= x < NEAR
            slope = (2 / arb.pi()).sqrt() * (-((x + 1e-9) ** 2) / 2).exp()
            for p in (word >> 1, (word >> 1) + 1):
                error = abs((x / arb(2).sqrt()).erfc() - arb(p) / 2**63) / slope
                worst = error if error > worst else worst
        return float(worst.upper())


@pytest.mark.slow
def test_doubles_keep_their_promise_at_the_ends_of_every_cell():
    starts = [
        (CELLS + j) << (octave - normals._CELL_BITS)
        for octave in range(63 - normals._OCTAVES, 63)
        for j in range(CELLS)
    ]
    first = np.array(starts, dtype=np.uint64)
    last = np.append(first[1:], np.uint64(2**63 - 1)) - np.uint64(1)
    assert worst_error(np.concatenate([first << np.uint64(1), (last << np.uint64(1)) | np.uint64(1)])) < DOUBLE_ERROR


def test_doubles_keep_their_promise_anywhere_and_where_p_rounds_to_one():
    anywhere = SeededSource(5).words(4000, 64) | np.uint64(1 << 46)
    near_one = np.uint64(2**64 - 1) - np.arange(2500, dtype=np.uint64)
    assert worst_error(np.concatenate([anywhere, near_one])) < DOUBLE_ERROR


def test_far_numbers_are_those_without_a_cell():
    words = np.array([0, 1, 2**46 - 1, 2**46, 2**64 - 1], dtype=np.uint64)
    assert Normals(5, ScriptedSource(words)).far().tolist() == [True, True, True, False, False]


def test_derivatives_follow_from_each_other():
    """Pₙ₊₁ = Pₙ′ + n·g·Pₙ."""
    assert len(normals._DERIVATIVES) == normals._DEGREE + 1
    for n, (now, following) in enumerate(zip(normals._DERIVATIVES, normals._DERIVATIVES[1:], strict=False), 1):
        expected = [0] * len(following)
        for k, c in enumerate(now):
            expected[k + 1] += n * c
            if k:
                expected[k - 1] += k * c
        assert list(following) == expected


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("DOUBLE_ERROR", DOUBLE_ERROR / 8),
        ("DOUBLE_ERROR", -DOUBLE_ERROR),
        ("_PRECISION", 40),
        ("_DERIVATIVES", ((1,), (0, 1), (1, 0, 2), (0, 7, 0, 6), (7, 0, 46, 0, 24000))),
    ],
)
def test_a_table_that_is_not_proven_is_not_built(name, value, monkeypatch):
    normals._taylor_table.cache_clear()
    monkeypatch.setattr(normals, name, value)
    with pytest.raises(PrecisionExhausted):
        normals._taylor_table()
    normals._taylor_table.cache_clear()


def test_doubles_that_are_not_near_enough_get_more_bits():
    """p has 63 bits after as many zeros as it takes to be far: the first of its doubles is not known well enough."""
    numbers = Normals(1, ScriptedSource(np.array([2**12], dtype=np.uint64)))
    assert numbers.far().all()
    near = numbers.double(0)
    assert numbers.prefix(0)[1] > 63
    with ctx.workprec(200):
        assert abs(numbers.ball(0) - near) < DOUBLE_ERROR


def test_more_bits_narrow_a_number_and_never_move_it():
    numbers = Normals(20, SeededSource(3), word_bits=8)
    for i in range(20):
        before = None
        for _ in range(12):
            now = numbers.ball(i)
            if now is not None and before is not None:
                assert before.contains(now) or float(before.rad()) < 2**-60
                assert now.rad() < before.rad()
            before = now
            numbers.reveal(i)


def test_the_ball_of_a_prefix_holds_every_number_that_begins_with_it():
    """By erfc, which falls: at the low end of the ball it is at least every p, at the high end at most."""
    source = SeededSource(8)
    for length in [8] * 40 + [16] * 40 + [64] * 40 + [64 * n for n in range(2, 8)]:
        numbers = Normals(1, source, word_bits=min(length, 64))
        while numbers.prefix(0)[1] < length - 1 or numbers.ball(0) is None:
            numbers.reveal(0)
        (word, bits), sign = numbers.prefix(0), -1 if int(numbers._words[0]) & 1 else 1
        with ctx.workprec(bits + 200):
            ball = numbers.ball(0) * sign / arb(2).sqrt()
            assert ball.lower().erfc() >= arb(word + 1) / arb(2) ** bits
            assert ball.upper().erfc() <= arb(word) / arb(2) ** bits


def test_few_numbers_have_doubles_without_a_table(monkeypatch):
    words = SeededSource(6).words(normals._FEW, 64) | np.uint64(1 << 46)
    few = Normals(len(words), ScriptedSource(words)).doubles()
    monkeypatch.setattr(normals, "_FEW", 0)
    many = Normals(len(words), ScriptedSource(words)).doubles()
    assert np.abs(few - many).max() < 2 * DOUBLE_ERROR
    assert ((few < 0) == (words & np.uint64(1)).astype(bool)).all()


def test_a_prefix_of_zeros_says_nothing_and_bits_do_not_go_on_for_ever(monkeypatch):
    numbers = Normals(1, ScriptedSource(np.array([1], dtype=np.uint64)))
    assert numbers.ball(0) is None
    monkeypatch.setattr(normals, "_MOST_BITS", 128)
    numbers.reveal(0)
    numbers.reveal(0)
    with pytest.raises(PrecisionExhausted):
        numbers.reveal(0)


def test_no_number_is_farther_than_its_bits_allow():
    """p ≥ 2^-(2^20 + 64) gives |g| ≤ √(2·ln 2·(2^20 + 64))."""
    with ctx.workprec(64):
        assert (arb(2) * arb(2).log() * (normals._MOST_BITS + 64)).sqrt() < normals.FARTHEST
