"""Every certified float and every directed rounding, and that turning it round is noticed.

A check recomputes what a slack or a rounding promises, exactly. Each check passes as the code is; each change in
`TURNED` (the sign of a slack flipped, a slack left out, an upper bound taken for a lower one) must make its check fail.
"""

import sys
import threading
from fractions import Fraction
from functools import cache
from itertools import accumulate

import numpy as np
import pytest

from leastnoise import exact
from leastnoise.errors import PrecisionExhausted
from leastnoise.exact import SeededSource, SystemSource, floats, gaussian_sums, laplace_sums, ln, sources
from leastnoise.exact.enclosures import Enclosure, exp_enclosure, ln_enclosure
from leastnoise.exact.samplers import (
    bernoulli,
    categorical_exp,
    core_first,
    gaussian,
    laplace,
    laplace as geometric,
    permute_and_flip,
    pixelated_laplace,
)
from leastnoise.mechanisms.choice import best_price, exponential, selection
from leastnoise.mechanisms.numeric import discrete_gaussian, truncated_geometric

BITS = 200


def check_exp_bounds():
    points = -np.array([0.0, 1e-9, 0.3, 1.0, 20.7, 300.1, 699.9])
    low, high = floats.exp_bounds(points, points)
    for x, least, most in zip(points.tolist(), low.tolist(), high.tolist(), strict=True):
        true = exp_enclosure(Fraction(x), BITS)
        assert Fraction(least) <= true.lower
        assert true.upper <= Fraction(most)


def spied(module, monkeypatch, call):
    """Run a sampler; every pair of doubles that a coin is compared with must enclose the coin's exact chance."""
    real, seen = bernoulli.coins_between, []

    def spy(bounds, chance, source):
        for i in range(len(bounds[0])):
            low, high = chance(i)(BITS)
            seen.append(i)
            assert Fraction(float(bounds[0][i])) * 2**BITS <= high, i
            assert low <= Fraction(float(bounds[1][i])) * 2**BITS, i
        return real(bounds, chance, source)

    monkeypatch.setattr(module, "coins_between", spy)
    call(SeededSource(1))
    assert seen


def check_bernoulli_slack(monkeypatch):
    chances = [Fraction(1, 3), Fraction(2, 7), Fraction(1, 10**9 + 7), Fraction(999, 1000)]
    spied(bernoulli, monkeypatch, lambda source: exact.bernoulli(chances, source=source))


def check_bernoulli_exp_slack(monkeypatch):
    spied(bernoulli, monkeypatch, lambda source: exact.bernoulli_exp(["1/3", 1, "ln(7)", 30], source=source))


def check_sign_slack(monkeypatch):
    spied(laplace, monkeypatch, lambda source: exact.discrete_laplace([3, "1/3", 1000], source=source))


def check_gaussian_slack(monkeypatch):
    """Far proposals, where the exponent is large and its error matters most."""
    far = np.array([2000, 4100, 5200])
    monkeypatch.setattr(gaussian, "discrete_laplace", lambda *_, **__: far)
    variances = gaussian.read_array(["50000/3", "100000/7", "200000/9"], "sigma_squared")
    scale = np.floor(np.sqrt(variances.centers)).astype(np.int64) + 1

    def call(source):
        gaussian._accepted(far, scale, variances, np.arange(3), source)

    spied(gaussian, monkeypatch, call)


def check_pixel_slack(monkeypatch):
    for offset in ("1/3", "6/7", "1/1000"):
        spied(
            pixelated_laplace,
            monkeypatch,
            lambda source, offset=offset: pixelated_laplace.pixelated_laplace(offset, "1/7", 20, source),
        )


def check_core_share(monkeypatch):
    """Shares of the rest that are exactly what is claimed, so that a bound on the wrong side is one too many."""
    for many in (1, 2, 4, 6, 7):
        rest = (np.full(many, -5), np.ones(many, dtype=np.int64))
        share = Fraction(many, 32 + many)
        spied(
            core_first,
            monkeypatch,
            lambda source, rest=rest, share=share: core_first.categorical_exp_core_first(
                [0], [1], lambda: rest, share, 5, source, rate="ln(2)"
            ),
        )


def check_flip_borders():
    near, far = permute_and_flip._borders(8)
    for word in range(1, 255):
        low, high = (ln_enclosure(Fraction(256, w), BITS) for w in (word + 1, word))
        assert Fraction(float(near[word])) <= low.lower
        assert high.upper <= Fraction(float(far[word]))


def check_cumulative_sums():
    """A U a hair's breadth below or above a border is settled by its own bits, whatever the doubles say."""
    exponents = ["1/3", 0, "-1/7", -2, "2/9"]
    law = categorical_exp.ExponentialLaw(exponents, None, Fraction(1))
    for j in range(4):
        border = exact.categorical_exp_cdf(j, exponents, bits=BITS)
        for offset in (-(2**9), -3, -1, 0, 1, 3, 2**9):
            word = int(border.lower * 2**53) + offset
            for tail in (0, 2**32 - 1):
                source = Words([word << 11], tail)
                chosen = int(law.draw(1, source)[0])
                u = Fraction(word, 2**53) + Fraction(tail, 2**85)
                below = u + Fraction(1, 2**85) <= border.lower
                assert below or u >= border.upper, "the test can't tell"
                assert chosen == (j if below else j + 1)


class Words(exact.Source):
    """One prepared 64-bit word, then the same 32 bits for ever."""

    def __init__(self, words, tail):
        self.first, self.tail = list(words), tail

    def words(self, count, bits):
        assert bits in (8, 64)
        if self.first:
            return np.array([self.first.pop(0)], dtype=np.uint64)
        return np.frombuffer(self.tail.to_bytes(4, "big"), dtype=np.uint8)[:count].copy()


def check_shares_of_thresholds(monkeypatch):
    """With hardly any spare bits the enclosures are wide, and every one of them still holds the share."""
    monkeypatch.setattr(categorical_exp, "_GUARD_BITS", 0)
    exponents = ["1/3", 0, "-1/7", -2, "2/9", -1]
    law = categorical_exp.ExponentialLaw(exponents, None, Fraction(1))
    shares = [exact.categorical_exp_cdf(j, exponents, bits=BITS) for j in range(5)]
    for bits in range(3, 12):
        found = law.thresholds(bits)
        enclosed(found, shares, bits)


def enclosed(thresholds, shares, bits):
    for low, high, share in zip(thresholds.low, thresholds.high, shares, strict=True):
        assert Fraction(low, 2**bits) <= share.lower, (low, bits)
        assert share.upper <= Fraction(high, 2**bits), (high, bits)


def check_gaussian_law(monkeypatch):
    """Few spare bits, and many weights left out: what is left out has to be counted in."""
    variance = Fraction(9, 2)
    true = {x: exact.discrete_gaussian_cdf(x, variance, BITS) for x in range(-40, 40)}
    for guard in (1, 3, 8, 16):
        for bits in (5, 8, 10):
            for dropped in (
                4,
                max(4, bits + guard - 8),
                bits + guard - 2,
            ):  # the last leaves out what weighs less than ¼
                monkeypatch.setattr(gaussian, "_GUARD_BITS", guard)
                monkeypatch.setattr(gaussian, "_DROPPED_BITS", dropped)
                found = gaussian.gaussian_law(variance)(bits)
                enclosed(found, [true[found.first + j] for j in range(len(found.low))], bits)
    monkeypatch.undo()


def check_geometric_law(monkeypatch):
    for signed in (False, True):
        rate, step = Fraction(1, 3), 2
        for guard in (5, 8, 64):
            monkeypatch.setattr(geometric, "_GUARD_BITS", guard)
            for bits in (4, 9):
                found = geometric.head_law(rate, step, signed)(bits)
                enclosed(found, [head_share(found.first + j, rate, step, signed) for j in range(len(found.low))], bits)
    monkeypatch.undo()
    for bits in (3, 10, 40):
        found = geometric.remainder_law(Fraction(1, 3), 8)(bits)
        whole = exact.geometric_cdf(7, "1/3", BITS)
        ends = [exact.geometric_cdf(j - 1, "1/3", BITS) for j in range(1, 8)]
        enclosed(found, [Enclosure(e.lower / whole.upper, e.upper / whole.lower) for e in ends], bits)


@cache
def head_share(place, rate, step, signed):
    """The threshold that an outcome above `place` must pass: P(outcome ≤ place)."""
    if not signed:
        return exact.geometric_cdf(step * (place + 1) - 1, rate, BITS)
    if place < 0:  # −1 − Q with Q ≥ −1 − place: x ≤ step·(place + 1) − 1
        return exact.discrete_laplace_cdf(step * (place + 1) - 1, rate=rate, bits=BITS)
    return exact.discrete_laplace_cdf(step * (place + 1) - 1, rate=rate, bits=BITS)


def check_gaussian_tails():
    variance = 2**16 + 1
    for least in (1, 100, 256, 400, 500, 1000):
        formula, summed = (
            gaussian_sums.discrete_gaussian_tail(least, variance),
            exact.discrete_gaussian_cdf(-least, variance, 160),
        )
        assert formula.lower <= summed.lower
        assert summed.upper <= formula.upper
    mean = gaussian_sums.discrete_gaussian_moment(1, variance)
    assert mean.lower < mean.upper
    assert float(mean) == pytest.approx((2 * variance / np.pi) ** 0.5, rel=1e-4)


def widened(function, share=Fraction(1, 20)):
    """The same enclosure, but wide: a bound taken from the wrong end is then far off."""

    def wide(*arguments, **options):
        found = function(*arguments, **options)
        return Enclosure(found.lower * (1 - share), found.upper * (1 + share))

    return wide


def check_gaussian_delta(monkeypatch):
    cases = [(Fraction(1), Fraction(4), 1), (Fraction(1, 2), Fraction(30), 3), (ln(3), Fraction(2), 1)]
    true = [discrete_gaussian.gaussian_delta(*case, BITS) for case in cases]
    monkeypatch.setattr(discrete_gaussian, "discrete_gaussian_tail", widened(discrete_gaussian.discrete_gaussian_tail))
    monkeypatch.setattr(discrete_gaussian, "exp_enclosure", widened(discrete_gaussian.exp_enclosure))
    for case, delta in zip(cases, true, strict=True):
        found = discrete_gaussian.gaussian_delta(*case)
        assert found.lower <= delta.lower
        assert delta.upper <= found.upper
        assert found.lower < found.upper


def check_sums_of_geometric_numbers(monkeypatch):
    for exponent in (50, 2):  # with exponent 2 most of the enclosure is what is cut off
        monkeypatch.setattr(laplace_sums, "_TAIL_EXPONENT", exponent)
        for rate in (Fraction(1), Fraction(1, 7), ln(3)):
            laplace_sums._mean.cache_clear()
            alpha = exp_enclosure(-rate, BITS)
            found = laplace_sums.mean_absolute_sum(0, (1, -1), rate)
            low, high = (2 * a / (1 - a * a) for a in (alpha.lower, alpha.upper))
            assert found.lower <= low
            assert high <= found.upper


def check_l1_quantiles():
    level = Fraction(19, 20)
    for dimension in (1, 3):
        for rate in (Fraction(1, 2), Fraction(4, 5)):
            alpha = Fraction(int(exp_enclosure(-rate).upper * 2**40) + 1, 2**40)
            at_most = list(accumulate(masses(alpha, dimension, 40)))
            assert at_most[laplace_sums._summed(rate, dimension, level)] >= level
            for tilt in (Fraction(1, 2), Fraction(3, 4)):
                t = laplace_sums._tilted(rate, dimension, level, tilt)
                assert t >= 40 or at_most[t] >= level
                assert t >= chernoff(rate, dimension, level, tilt)


def chernoff(rate, dimension, level, tilt):
    """The least t with z^-(t+1)·E z^S ≤ 1 − level for z = e^(tilt·rate), in doubles."""
    alpha, z = np.exp(-float(rate)), np.exp(float(rate * tilt))
    mean = (1 - alpha) / (1 + alpha) * (1 + alpha * z) / (1 - alpha * z)
    return int((dimension * np.log(mean) - np.log(float(1 - level))) / np.log(z) - 1e-9)


def masses(alpha, dimension, count):
    """P(S = n) for the sum of |X_i|, by multiplying polynomials."""
    one = [(1 - alpha) / (1 + alpha) * alpha**n * (2 if n else 1) for n in range(count)]
    law = [Fraction(1)] + [Fraction(0)] * (count - 1)
    for _ in range(dimension):
        law = [sum(law[k] * one[n - k] for k in range(n + 1)) for n in range(count)]
    return law


def check_regret_quantiles(monkeypatch):
    monkeypatch.setattr(selection, "enclose", widened(selection.enclose))
    rate, level = Fraction(1, 3), Fraction(19, 20)
    gap = selection.exponential_quantile(Fraction(9), rate, level)
    missed = 9 * exp_enclosure(-rate * gap).upper
    assert missed / (1 + missed) <= 1 - level
    gap = selection.permute_and_flip_quantile(10, rate, level)
    chance = exp_enclosure(-rate * gap)
    assert 1 - (1 - (1 - chance.lower) ** 10) / (10 * chance.lower) <= 1 - level
    worst = selection.permute_and_flip_regret(2, Fraction(1))
    assert worst.lower <= exp_enclosure(-1).lower / 2 <= exp_enclosure(-1).upper / 2 <= worst.upper


def check_least_error_between_bounds(monkeypatch):
    true = truncated_geometric._least_worst_error(ln(3), 10)
    monkeypatch.setattr(truncated_geometric, "exact_exp", lambda _: None)
    monkeypatch.setattr(truncated_geometric, "exp_enclosure", widened(exp_enclosure))
    assert truncated_geometric._least_worst_error(ln(3), 10) < true


def check_linear_factor():
    for epsilon in (Fraction(1, 10), Fraction(1), Fraction(3)):
        law = exponential.ApproximateExponential(epsilon, 2, largest_score=5, monotone=True)
        assert ln(1 + law.factor) <= epsilon


def check_double_above():
    for price in (Fraction(1, 3), Fraction(2, 3), Fraction(10**20 + 1), Fraction(1, 10)):
        found = best_price._double_above(price)
        assert Fraction(found) >= price
        assert Fraction(float(np.nextafter(found, 0))) < price


CHECKS = [
    check_exp_bounds, check_bernoulli_slack, check_bernoulli_exp_slack, check_sign_slack, check_gaussian_slack,
    check_pixel_slack, check_core_share, check_flip_borders, check_cumulative_sums, check_shares_of_thresholds,
    check_gaussian_law, check_geometric_law, check_gaussian_tails, check_gaussian_delta,
    check_sums_of_geometric_numbers, check_l1_quantiles, check_regret_quantiles, check_least_error_between_bounds,
    check_linear_factor, check_double_above,
]  # fmt: skip


REMEMBERED = [permute_and_flip._borders, permute_and_flip._tables, laplace_sums._mean]


def run(check, monkeypatch):
    """One check, by tables of its own: none that others have made, and none that others will see."""
    for table in REMEMBERED:
        table.cache_clear()
    try:
        check(monkeypatch) if check.__code__.co_argcount else check()
    finally:
        for table in REMEMBERED:
            table.cache_clear()


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__[6:])
def test_what_a_slack_promises_holds(check, monkeypatch):
    run(check, monkeypatch)


def mirrored(function):
    """The same enclosure with its ends exchanged: every upper bound becomes a lower one."""

    def turned(*arguments, **options):
        found = function(*arguments, **options)
        return Enclosure(found.upper, found.lower)

    return turned


WIDENED = widened
TURNED = {
    "e^x, slack of the wrong sign": (check_exp_bounds, floats, "EXP_ERROR", -floats.EXP_ERROR),
    "coins, slack of the wrong sign": (check_bernoulli_slack, bernoulli, "RELATIVE_ERROR", -bernoulli.RELATIVE_ERROR),
    "coins e^-x, slack of the wrong sign": (check_bernoulli_exp_slack, floats, "EXP_ERROR", -floats.EXP_ERROR),
    "signs, slack of the wrong sign": (check_sign_slack, floats, "EXP_ERROR", -floats.EXP_ERROR),
    "signs, quotient": (check_sign_slack, laplace, "_QUOTIENT_SLACK", -4 * floats.EXP_ERROR),
    "Gaussian acceptance": (check_gaussian_slack, gaussian, "RELATIVE_ERROR", -8 * gaussian.RELATIVE_ERROR),
    "pixels": (check_pixel_slack, pixelated_laplace, "_ROUNDING", -pixelated_laplace._ROUNDING),
    "core and rest": (check_core_share, core_first, "_BELOW", 1.0),
    "borders of permute-and-flip": (check_flip_borders, permute_and_flip, "_DOUBT", -permute_and_flip._DOUBT),
    "cumulative sums without doubt": (check_cumulative_sums, categorical_exp.ExponentialLaw, "_doubt", 0.0),
    "tails of wide Gaussians": (check_gaussian_tails, gaussian_sums, "_REMAINDER", -gaussian_sums._REMAINDER),
    "sums, roundings": (check_sums_of_geometric_numbers, laplace_sums, "_UNIT", -laplace_sums._UNIT),
    "sums, what is cut off": (
        check_sums_of_geometric_numbers, laplace_sums, "exp_above", lambda exponent: -exact.exp_above(exponent),
    ),
    "δ(ε), mirrored tails": (
        check_gaussian_delta, sys.modules[__name__], "widened", lambda function: mirrored(WIDENED(function)),
    ),
    "ℓ1 quantile, e^x": (check_l1_quantiles, laplace_sums, "exp_above", lambda *a: exact.exp_below(*a) * 19 / 20),
    "ℓ1 quantile, z": (check_l1_quantiles, laplace_sums, "exp_below", lambda *a: 2 * exact.exp_above(*a)),
    "ℓ1 quantile, ln": (check_l1_quantiles, laplace_sums, "ln_above", lambda *a: exact.ln_below(*a) / 2),
    "quantiles of regret": (check_regret_quantiles, selection, "enclose", mirrored(widened(selection.enclose))),
    "least error between bounds": (
        check_least_error_between_bounds, truncated_geometric, "_least_worst_error",
        lambda epsilon, span, real=truncated_geometric._least_worst_error: real(epsilon / 2, span)
        if truncated_geometric.exact_exp(epsilon) is None else real(epsilon, span),
    ),
    "factor of the linear law": (check_linear_factor, exponential, "exp_below", exact.exp_above),
    "double above a price": (check_double_above, best_price, "_double_above", float),
}  # fmt: skip


@pytest.mark.parametrize("name", TURNED)
def test_turning_it_round_is_noticed(name, monkeypatch):
    check, where, what, turned = TURNED[name]
    monkeypatch.setattr(where, what, turned)
    with pytest.raises((AssertionError, PrecisionExhausted)):
        run(check, monkeypatch)


@pytest.mark.parametrize("wrong", [(np.nan, 1.0), (0.0, np.nan), (0.6, 0.5)])
def test_bounds_that_enclose_nothing_never_decide(wrong):
    low, high = np.array([0.1, wrong[0]]), np.array([0.2, wrong[1]])
    with pytest.raises(PrecisionExhausted):
        bernoulli.coins_between((low, high), lambda _: None, SeededSource(1))


@pytest.mark.parametrize("doubt", [np.nan, -1e-9])
def test_doubt_that_is_none_never_decides(doubt, monkeypatch):
    monkeypatch.setattr(categorical_exp.ExponentialLaw, "_doubt", doubt)
    with pytest.raises(PrecisionExhausted):
        exact.categorical_exp([1, 2, 3], source=SeededSource(1))


def test_a_slack_of_the_wrong_sign_stops_geometric_draws(monkeypatch):
    monkeypatch.setattr(geometric, "LOG_ERROR", -geometric.LOG_ERROR)
    with pytest.raises(PrecisionExhausted):
        exact.geometric([1, 2, 3] * 1000, source=SeededSource(1))


# Threads


def test_each_thread_has_a_key_of_its_own(monkeypatch):
    """Threads that draw at the same time: as many keys as threads, and no stream is seen twice."""
    real, keys = sources._Stream, []
    monkeypatch.setattr(sources, "_Stream", lambda key, nonce: keys.append(key) or real(key, nonce))
    source, barrier, drawn = SystemSource(), threading.Barrier(4), {}

    def draw(number):
        barrier.wait()
        first = source.words(4, 64).tolist()
        barrier.wait()
        drawn[number] = first + source.words(4, 64).tolist()

    threads = [threading.Thread(target=draw, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(keys)) == 4
    assert len({tuple(words) for words in drawn.values()}) == 4
