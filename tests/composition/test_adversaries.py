"""Adaptive adversaries against the filters: every strategy on small exact channels, by exhaustive search.

The adversary sees each outcome before the next query, and stops when it likes. What it reaches is exact.
"""

from fractions import Fraction
from functools import cache

import pytest
from hypothesis import given, settings, strategies as st

from leastnoise.accounting import Approximate, Limits, cost_of
from leastnoise.composition.filter import Account
from leastnoise.composition.gaussian import delta_of, mu_squared_within
from leastnoise.exact import exp_above, ln
from leastnoise.model.privacy import Privacy
from support.games import all_or_nothing, best_gain, binned_gaussian, delta_gain, response

MOST = 4  # queries on a path, so that the search stays small


def filtered(limits, channels, most=MOST):
    """Whether an account with these limits admits so many of each, after the first."""
    costs = [cost_of(channel.event) for channel in channels]

    def admits(first, counts):
        if sum(counts) > most:
            return False
        account = Account(limits)
        order = [first, *(i for i, count in enumerate(counts) for _ in range(count - (i == first)))]
        for index in order:
            if not account.admits(costs[index]):
                return False
            account.add(costs[index])
        return True

    return admits


def moving_share(budget, channels, most=MOST):
    """NOT a filter: the share of δ for the queries' own δ is found on the way, Σδ + δ(Σμ²) ≤ δ."""
    costs = [cost_of(channel.event) for channel in channels]

    @cache
    def spent(mu_squared):
        return delta_of(mu_squared, budget.epsilon).upper if mu_squared else Fraction(0)

    def admits(_, counts):
        total = sum((cost.mu_squared * count for cost, count in zip(costs, counts, strict=True)), Fraction(0))
        own = sum((cost.delta * count for cost, count in zip(costs, counts, strict=True)), Fraction(0))
        return sum(counts) <= most and own + spent(total) <= budget.delta

    return admits


EDGES = [Fraction(x, 4) for x in (-4, -1, 2, 4, 6, 7, 8, 9, 10, 12)]  # finest where the loss is large


def game():
    """Two Gaussian queries fill the budget; or one of them, and the δ that is then left."""
    epsilon, delta = ln(Fraction(3, 2)), Fraction(1, 20)
    mu_squared = mu_squared_within(epsilon, delta) / 2
    gaussian = binned_gaussian(mu_squared, EDGES)
    rest = delta - delta_of(mu_squared, epsilon).upper
    return Privacy(epsilon, delta), [gaussian, all_or_nothing(Fraction(int(rest * 2**20), 2**20))]


def test_a_moving_share_of_delta_is_beaten():
    """Spend δ where the loss is low and the rest of μ² where it is high: both add up."""
    budget, channels = game()
    reached = best_gain(channels, moving_share(budget, channels), delta_gain(Fraction(3, 2)))
    assert reached > budget.delta * Fraction(6, 5)


@pytest.mark.parametrize("share", [None, 0, "1/100", "1/40", "1/20"])
@pytest.mark.parametrize("composition", [None, "basic", "concentrated", "gaussian"])
def test_the_same_game_does_not_beat_the_filter(composition, share):
    budget, channels = game()
    limits = Limits(budget, share, composition)
    reached = best_gain(channels, filtered(limits, channels), delta_gain(Fraction(3, 2)))
    assert reached <= budget.delta


def test_the_search_comes_near_the_promise():
    """So that it would notice a filter that admits a little too much: Gaussian queries alone reach most of δ."""
    budget, channels = game()
    reached = best_gain(channels, filtered(Limits(budget, 0, "gaussian"), channels), delta_gain(Fraction(3, 2)))
    assert reached >= budget.delta * Fraction(9, 10)
    three = best_gain(channels[:1], lambda _, counts: sum(counts) <= 3, delta_gain(Fraction(3, 2)))
    assert three > budget.delta * Fraction(6, 5)


odds = st.sampled_from([Fraction(11, 10), Fraction(5, 4), Fraction(3, 2), Fraction(2)])
channels = st.lists(
    st.one_of(
        st.builds(response, odds),
        st.builds(
            binned_gaussian,
            st.sampled_from([Fraction(1, 50), Fraction(1, 10), Fraction(1, 4), Fraction(1)]),
            st.sampled_from([EDGES[:5:2], EDGES[1:8:3], EDGES[:6]]),
        ),
        st.builds(all_or_nothing, st.sampled_from([Fraction(1, 1000), Fraction(1, 50), Fraction(1, 20)]), odds),
        st.builds(all_or_nothing, st.sampled_from([Fraction(1, 100), Fraction(1, 30)])),
    ),
    min_size=1,
    max_size=3,
)


@pytest.mark.slow
@settings(max_examples=200, deadline=None)
@given(
    channels,
    st.sampled_from([Fraction(6, 5), Fraction(3, 2), Fraction(2), Fraction(3)]),
    st.sampled_from([Fraction(1, 100), Fraction(1, 20), Fraction(1, 5)]),
    st.sampled_from([None, 0, Fraction(1, 4), 1]),
    st.sampled_from([None, None, "basic", "concentrated", "gaussian"]),
)
def test_no_adversary_exceeds_delta_at_epsilon(channels, factor, delta, share, composition):
    limits = Limits(Privacy(ln(factor), delta), None if share is None else share * delta, composition)
    assert best_gain(channels, filtered(limits, channels, 3), delta_gain(factor)) <= delta


@pytest.mark.slow
@settings(max_examples=100, deadline=None)
@given(
    channels, st.sampled_from([Fraction(1, 5), Fraction(1, 2), Fraction(1)]), st.sampled_from([1, 2, Fraction(5, 4)])
)
def test_no_adversary_exceeds_a_budget_in_mu(channels, mu, factor):
    """At every ε the δ of the interaction is at most that of μ-Gaussian privacy."""
    factor = Fraction(factor)
    reached = best_gain(channels, filtered(Limits(Privacy(mu=mu)), channels, 3), delta_gain(factor))
    assert reached <= delta_of(mu**2, ln(factor)).upper


@pytest.mark.slow
@settings(max_examples=100, deadline=None)
@given(channels, st.sampled_from([Fraction(1, 50), Fraction(1, 10), Fraction(1, 2)]))
def test_no_adversary_exceeds_a_budget_in_rho(channels, rho):
    """The divergence of order two: E_Q[(P/Q)²] ≤ e^(2ρ)."""
    for channel in channels:
        if isinstance(channel.event, Approximate):
            assert not Account(Limits(Privacy(rho=rho))).admits(cost_of(channel.event))
    pure = [channel for channel in channels if not isinstance(channel.event, Approximate)]
    if pure:
        reached = best_gain(pure, filtered(Limits(Privacy(rho=rho)), pure, 3), lambda ratio: ratio**2)
        assert reached <= exp_above(2 * rho)


def test_the_binned_gaussian_is_a_gaussian_told_less_of():
    channel = binned_gaussian(Fraction(1, 4), EDGES)
    assert sum(p for p, _ in channel.outcomes) == sum(q for _, q in channel.outcomes) == 1
    assert all(p > 0 and q > 0 for p, q in channel.outcomes)
    for x in range(-4, 12):
        factor = exp_above(Fraction(x, 4))
        told = sum((max(p - factor * q, Fraction(0)) for p, q in channel.outcomes), Fraction(0))
        truth = delta_of(Fraction(1, 4), Fraction(x, 4)) if x >= 0 else None
        assert truth is None or truth.upper * Fraction(4, 5) - Fraction(1, 1000) <= told <= truth.upper
