"""Every rounding in the composition room has a side. Each check holds, and fails once that rounding is turned round."""

import math
from fractions import Fraction
from itertools import product
from math import ceil, floor
from types import SimpleNamespace

import pytest

from leastnoise.accounting import Approximate, BoundedRange, Concentrated, LaplaceNoise, Pure
from leastnoise.composition import (
    advanced,
    concentrated,
    cost,
    filter as filters,
    group,
    homogeneous,
    loss_distribution,
    loss_laws,
    normal_form,
    renyi,
)
from leastnoise.exact import exp_above, exp_below, ln, numbers
from leastnoise.exact.balls import above, below, of_fraction, scaled_bounds
from leastnoise.exact.convolution import convolve_above, convolve_below
from leastnoise.exact.enclosures import Enclosure, enclose
from leastnoise.exact.numbers import LogSum, ball_of
from leastnoise.model.privacy import Privacy
from support.composition import composed, true_delta, worst_pair
from support.losses import law_of

PRECISE = 400
THIRDS = [ln(Fraction(n, 7) + 1) / d for n, d in product(range(1, 9), (1, 3, 7))]
LARGE = [number * 2**150 for number in THIRDS[:3]]  # so large that the end of a ball is coarser than the grid
PRIMES = [p for p in range(3, 900) if all(p % d for d in range(2, int(p**0.5) + 1))]


def sharp(expression):
    """The number to 400 bits."""
    return enclose(expression, PRECISE)


def law(upward, bits=12):
    return loss_distribution.LossDistribution(ln(2) * 2, ln(2), (900, 1501, 700, 995), bits, upward)


def check_convolution_above():
    together = law(True).compose(law(True), 0)
    assert all(
        together.delta(ln(2) * x) >= (law_of(law(True)) + law_of(law(True))).delta(ln(2) * x)[0] for x in range(4)
    )


def check_convolution_below():
    together = law(False).compose(law(False), 0)
    exact = law_of(law(False)) + law_of(law(False))
    assert all(together.delta(ln(2) * x) <= exact.delta(ln(2) * x)[1] for x in range(4))


def check_the_delta_of_laws():
    for x in (Fraction(1, 3), Fraction(2, 7), Fraction(1)):
        assert law(True).delta(x) >= law_of(law(True)).delta(x)[0]
        assert law(False).delta(x) <= law_of(law(False)).delta(x)[1]


def check_the_epsilon_of_laws():
    for delta in (Fraction(1, 9), Fraction(1, 30), Fraction(1, 3)):
        assert law_of(law(True)).delta(law(True).epsilon(delta))[1] <= delta
        assert law_of(law(False)).delta(law(False).epsilon(delta))[0] >= delta


def check_rational_places():
    for number in (*THIRDS, *LARGE, -ln(3), Fraction(1, 3**200), -Fraction(1, 3**200)):
        assert loss_distribution._towards(number, up=False) <= number <= loss_distribution._towards(number, up=True)


def check_split_weights():
    step = Fraction(1, 2)
    for place, (low, high) in enumerate(loss_distribution._split_weights(step)):
        share = sharp(lambda at=place: of_fraction(-step * at / 1024).expm1() / of_fraction(-step).expm1())
        assert low <= share.upper * 2**64
        assert share.lower * 2**64 <= high


def check_masses_of_laws():
    for atom, bits in product((Pure("ln(3)"), LaplaceNoise(ln(5) * 3, 3)), (5, 9)):
        truth = {ln(p / q): p for p, q in worst_pair(atom)}
        for upward, bound_law in (
            (True, loss_laws.law_above(atom, bits, 0)),
            (False, loss_laws.law_below(atom, bits, 0)),
        ):
            for loss, mass in law_of(bound_law).masses.items():
                assert mass >= truth[loss] if upward else mass <= truth[loss]


def check_gaussian_weights():
    variance, bits = Fraction(7, 3), 20
    for up in (True, False):
        weights, ratio = loss_laws._gaussian_weights(variance, 6, bits, up)
        for y, weight in enumerate(weights):
            exact = sharp(lambda at=y: of_fraction(-(at**2) / (2 * variance)).exp() * 2**bits)
            assert weight >= exact.lower if up else weight <= exact.upper
        step = sharp(lambda: of_fraction(-13 / (2 * variance)).exp() * 2**bits)
        assert ratio >= step.lower if up else ratio <= step.upper


def check_what_is_left_of_delta():
    for each, count in product((Fraction(1, 300), Fraction(1, 7001)), (1, 3, 11)):
        slack = normal_form.parts_of([Approximate(1, each)] * count).slack(Fraction(1, 10))
        assert 1 - (1 - slack) * (1 - each) ** count <= Fraction(1, 10)


def check_coarse_prices():
    few = normal_form.coarse(normal_form.parts_of([Pure(number) for number in THIRDS]), 23)
    assert sum(count for _, count in few.atoms) == len(THIRDS)
    pairs = zip(sorted(THIRDS), sorted(atom.epsilon for atom, count in few.atoms for _ in range(count)), strict=True)
    assert all(number <= rounded for number, rounded in pairs)


def orders(check):
    """Run a check with orders given, so that the formula can be compared at the same order."""
    for order in (Fraction(7, 5), Fraction(3), Fraction(20)):
        with pytest.MonkeyPatch.context() as patch:
            for module in (concentrated, renyi):
                patch.setattr(module, "good_order", lambda _, at=order: at)
            check(order)


def conversion(order, delta):
    alpha = of_fraction(order)
    return -(of_fraction(delta).log() + alpha.log()) / (alpha - 1) + (-1 / alpha).log1p()


def check_concentrated_epsilon():
    def at(order):
        for rho, delta in product((Fraction(1, 7), Fraction(3)), (Fraction(1, 10**6), Fraction(1, 90))):
            exact = sharp(lambda r=rho, d=delta: of_fraction(order * r) + conversion(order, d))
            assert concentrated.concentrated_epsilon(rho, delta) >= max(exact.lower, Fraction(0))

    orders(at)


def check_rho_within():
    def at(order):
        for epsilon, delta in product(
            (Fraction(10), ln(3) * 50, Fraction(10**6)), (Fraction(1, 10**6), Fraction(1, 90))
        ):
            exact = sharp(lambda e=epsilon, d=delta: (ball_of(e) - conversion(order, d)) / of_fraction(order))
            assert concentrated.rho_within(epsilon, delta) <= max(exact.upper, Fraction(0))

    orders(at)


def check_renyi():
    def at(order):
        for odds, count in product((Fraction(3), Fraction(7, 5)), (1, 4)):
            truth, lie = odds / (odds + 1), 1 / (odds + 1)

            def total(truth=truth, lie=lie, count=count):
                rate = of_fraction(order - 1)
                up = of_fraction(truth) * (rate * of_fraction(truth / lie).log()).exp()
                down = of_fraction(lie) * (rate * of_fraction(lie / truth).log()).exp()
                by_rho = of_fraction(order * normal_form.rho_of(Pure(ln(truth / lie))))
                each = (up + down).log() / rate
                return count * (each if each < by_rho else by_rho) + conversion(order, Fraction(1, 10**5))

            found = renyi.renyi_bound(normal_form.parts_of([Pure(ln(odds))] * count), Fraction(1, 10**5))
            assert found.epsilon >= max(sharp(total).lower, Fraction(0))

    orders(at)


def check_renyi_of_rho():
    def at(order):
        found = renyi.renyi_bound(normal_form.parts_of([Concentrated("1/7")] * 3), Fraction(1, 10**5))
        exact = sharp(lambda: of_fraction(3 * order / 7) + conversion(order, Fraction(1, 10**5)))
        assert found.epsilon >= max(exact.lower, Fraction(0))

    orders(at)


def check_renyi_of_a_bounded_range():
    """Losses 0.9ε and −0.1ε are within the range, and tell more at a high order than ±ε/2."""

    def at(order):
        epsilon = Fraction(6)
        high, low = epsilon * Fraction(9, 10), -epsilon / 10

        def divergence():
            up, down, rate = of_fraction(high).exp(), of_fraction(low).exp(), of_fraction(order - 1)
            theirs = (1 - down) / (up - down)
            moment = (
                theirs * up * (rate * of_fraction(high)).exp() + (1 - theirs) * down * (rate * of_fraction(low)).exp()
            )
            return moment.log() / rate + conversion(order, Fraction(1, 10**5))

        found = renyi.renyi_bound(normal_form.parts_of(BoundedRange(epsilon)), Fraction(1, 10**5))
        assert found.epsilon >= sharp(divergence).lower

    orders(at)


def check_homogeneous_epsilon():
    for odds, count in product((Fraction(2), Fraction(7, 5)), (3, 8)):
        truth = composed([worst_pair(Pure(ln(odds)))] * count)
        found = homogeneous.homogeneous_epsilon(ln(odds), count, "1/1000")
        assert true_delta(truth, exp_below(found, PRECISE)) <= Fraction(1, 1000)


def check_homogeneous_delta():
    for odds, total in product((Fraction(2), Fraction(7, 5)), (Fraction(1, 3), Fraction(1))):
        truth = composed([worst_pair(Pure(ln(odds)))] * 8)
        assert homogeneous.homogeneous_delta(ln(odds), 8, total) >= true_delta(truth, exp_above(total, PRECISE))


def check_advanced():
    for epsilon, count in product((Fraction(1, 7), ln(3)), (1, 9)):

        def formula(epsilon=epsilon, count=count):
            each = ball_of(epsilon)
            return each * (-2 * count * of_fraction(Fraction(1, 900)).log()).sqrt() + count * each * each.expm1()

        found = advanced.advanced_bound(normal_form.parts_of([Pure(epsilon)] * count), Fraction(1, 900))
        assert found.epsilon >= sharp(formula).lower


def check_corollary():
    for epsilon, count in product((Fraction(1, 7), Fraction(9, 10)), (3, 90)):

        def share(epsilon=epsilon, count=count):
            return ball_of(epsilon) / (-8 * count * of_fraction(Fraction(1, 900)).log()).sqrt()

        found = advanced.corollary_per_query(Privacy(epsilon, "1/900"), count).epsilon
        assert found <= sharp(share).upper


def check_group_delta():
    for epsilon, size in product((Fraction(1, 7), Fraction(1)), (2, 5)):
        sums_there = sum((exp_below(epsilon * j, PRECISE) for j in range(size)), start=Fraction(0))
        assert group.group_delta_above(epsilon, Fraction(1, 10**6), size) >= sums_there / 10**6


def check_rho_of_pure():
    for epsilon in (Fraction(1, 7), Fraction(3), ln(3), Fraction(10**5), Fraction(10**6, 3), ln(7) * 10**5):
        normal_form.rho_of.cache_clear()
        exact = sharp(lambda e=epsilon: ball_of(e) * (ball_of(e) / 2).tanh())
        assert normal_form.rho_of(Pure(epsilon)) >= exact.lower
    normal_form.rho_of.cache_clear()


def check_rho_of_a_bounded_range():
    for epsilon in THIRDS:
        normal_form.rho_of.cache_clear()
        tight, eighth = (
            sharp(f)
            for f in (lambda e=epsilon: ball_of(e) * (ball_of(e) / 2).tanh(), lambda e=epsilon: ball_of(e) ** 2 / 8)
        )
        assert normal_form.rho_of(BoundedRange(epsilon)) >= min(tight.lower, eighth.lower)
    normal_form.rho_of.cache_clear()


def check_round_up():
    assert all(
        numbers.round_up(number, bits) >= number for number in (*THIRDS, *LARGE, Fraction(1, 3)) for bits in (3, 128)
    )


def check_long_sums():
    exact = sum((Fraction(1, p) for p in PRIMES), start=Fraction(0))
    assert numbers.sum_above((Fraction(1, p), 1) for p in PRIMES) >= exact
    logs = [ln(p) for p in PRIMES[:20]]
    assert numbers.sum_above((log, 1) for log in logs) >= sum(logs, start=Fraction(0))


def check_long_tallies():
    total = numbers.RunningTotal()
    for p in PRIMES:
        total.add(Fraction(1, p))
    assert total.value >= sum((Fraction(1, p) for p in PRIMES), start=Fraction(0))


def check_tallies_of_logarithms():
    total = numbers.RunningTotal()
    for p in PRIMES[:20]:
        total.add(ln(p))
    assert total.value >= sum((ln(p) for p in PRIMES[:20]), start=Fraction(0))


def check_rough_costs():
    for epsilon in (Fraction(1, 3), Fraction(2, 3), Fraction(1, 10), Fraction(7, 5)):
        rough = cost.Cost(epsilon, epsilon / 7, epsilon / 9, epsilon / 11, (epsilon / 2, epsilon / 3)).rough
        exact = {
            "basic": (epsilon / 2, epsilon / 3),
            "concentrated": (epsilon, epsilon / 7, epsilon / 9),
            "gaussian": (epsilon, epsilon / 7, epsilon / 11),
        }
        for kind, parts in exact.items():
            assert all(Fraction(near) >= part for near, part in zip(rough[kind], parts, strict=False))


def check_rough_limits():
    """A million debits that fit as doubles fit exactly: the rough limits leave room for the roundings."""
    budget = Privacy("1/3", "1/30")
    for kind in ("concentrated", "gaussian"):
        account = filters.Account(cost.Limits(budget, composition=kind))
        account.add(cost.cost_of(Pure("1/10")))
        exact = (account.rule.epsilon, account.rule.event_delta, account.rule.amount)
        near = zip(account._rough_limits, exact, strict=True)
        assert all(Fraction(rough) * (1 + Fraction(1, 2**21)) <= limit for rough, limit in near)


def outside_in(expression, bits=64):
    """An enclosure with its ends swapped."""
    found = enclose(expression, bits)
    return Enclosure(found.upper, found.lower)


def swapped_bounds(ball, bits):
    return scaled_bounds(ball, bits)[::-1]


def round_down(number, bits=128):
    if isinstance(number, LogSum):
        number = enclose(number.ball, bits + 64).lower
    return Fraction(floor(number * (1 << bits)), 1 << bits)


def rational_below(number):
    return round_down(number) if isinstance(number, LogSum) else number


add_above = numbers.add_above


def long_sums_below(total, term):
    rounded = add_above(total, term)
    return rounded if rounded == total + term else round_down(total + term)


upside_down = SimpleNamespace(
    **{**vars(math), "floor": math.ceil, "nextafter": lambda x, _: math.nextafter(x, -math.inf)}
)

TURNS = [
    (loss_distribution, "convolve_above", convolve_below, check_convolution_above),
    (loss_distribution, "convolve_below", convolve_above, check_convolution_below),
    (loss_distribution, "above", below, check_the_delta_of_laws),
    (loss_distribution, "below", above, check_the_delta_of_laws),
    (loss_distribution, "above", below, check_the_epsilon_of_laws),
    (loss_distribution, "below", above, check_the_epsilon_of_laws),
    (loss_distribution, "above", below, check_rational_places),
    (loss_distribution, "below", above, check_rational_places),
    (loss_distribution, "ceil", floor, check_rational_places),
    (loss_distribution, "floor", ceil, check_rational_places),
    (loss_distribution, "scaled_bounds", swapped_bounds, check_split_weights),
    (loss_laws, "scaled_bounds", swapped_bounds, check_masses_of_laws),
    (loss_laws, "scaled_bounds", swapped_bounds, check_gaussian_weights),
    (normal_form, "enclose", outside_in, check_what_is_left_of_delta),
    (normal_form, "_cut", lambda mantissa, exponent, _: (mantissa - 1, exponent), check_coarse_prices),
    (concentrated, "enclose", outside_in, check_concentrated_epsilon),
    (concentrated, "enclose", outside_in, check_rho_within),
    (concentrated, "math", upside_down, check_rho_within),
    (renyi, "enclose", outside_in, check_renyi),
    (renyi, "enclose", outside_in, check_renyi_of_rho),
    (renyi, "law_above", loss_laws.law_below, check_renyi_of_a_bounded_range),
    (homogeneous, "above", below, check_homogeneous_epsilon),
    (homogeneous, "above", below, check_homogeneous_delta),
    (advanced, "enclose", outside_in, check_advanced),
    (advanced, "enclose", outside_in, check_corollary),
    (group, "enclose", outside_in, check_group_delta),
    (normal_form, "enclose", outside_in, check_rho_of_pure),
    (normal_form, "round_up", round_down, check_rho_of_pure),
    (normal_form, "rational_above", rational_below, check_rho_of_a_bounded_range),
    (numbers, "above", below, check_round_up),
    (numbers, "ceil", floor, check_round_up),
    (numbers, "round_up", round_down, check_long_sums),
    (numbers, "round_up", round_down, check_long_tallies),
    (numbers, "add_above", long_sums_below, check_tallies_of_logarithms),
    (cost, "math", upside_down, check_rough_costs),
    (filters, "_SURELY", 1.0, check_rough_limits),
]


@pytest.mark.parametrize(
    ("module", "name", "turned", "check"),
    TURNS,
    ids=[f"{module.__name__.split('.')[-1]}.{name}-{check.__name__}" for module, name, _, check in TURNS],
)
def test_a_rounding_that_is_turned_round_is_noticed(module, name, turned, check, monkeypatch):
    loss_distribution._split_weights.cache_clear()
    check()
    loss_distribution._split_weights.cache_clear()
    monkeypatch.setattr(module, name, turned)
    try:
        with pytest.raises(AssertionError):
            check()
    finally:
        loss_distribution._split_weights.cache_clear()
        normal_form.rho_of.cache_clear()
