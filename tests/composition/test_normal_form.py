"""What groups, disjoint parts and compositions cost, against the definitions written out; and fewer distinct atoms."""

from fractions import Fraction

import pytest
from hypothesis import given, settings, strategies as st

from leastnoise.accounting import (
    Approximate,
    BoundedRange,
    Composed,
    Concentrated,
    GaussianNoise,
    GaussianPrivacy,
    Grouped,
    LaplaceNoise,
    Parallel,
    Pure,
    RandomizedResponse,
    all_bounds,
    cost_of,
)
from leastnoise.composition.normal_form import Worst, coarse, epsilon_of, mu_squared_of, parts_of, rho_of
from leastnoise.exact import exp_below, ln
from leastnoise.exact.numbers import exact_exp
from support.composition import composed, true_delta, worst_pair

odds = st.sampled_from([Fraction(11, 10), Fraction(3, 2), Fraction(2), Fraction(7, 2)])
small = st.sampled_from([Fraction(1, 10), Fraction(1, 3), Fraction(2)])
deltas = st.sampled_from([Fraction(1, 10**6), Fraction(1, 10**5)])
simple = st.one_of(
    st.builds(lambda o: Pure(ln(o)), odds),
    st.builds(lambda o, n: LaplaceNoise(ln(o), n), odds, st.integers(1, 3)),
    st.builds(lambda o: BoundedRange(ln(o)), odds),
    st.builds(lambda o, n: RandomizedResponse(ln(o), n), odds, st.integers(2, 4)),
    st.builds(lambda o, d: Approximate(ln(o), d), odds, deltas),
    st.builds(Concentrated, small),
    st.builds(GaussianNoise, small, st.integers(1, 3)),
    st.builds(GaussianPrivacy, small),
)
events = st.recursive(
    simple,
    lambda inner: st.one_of(
        st.builds(Composed, st.lists(inner, min_size=1, max_size=3)),
        st.builds(Parallel, st.lists(inner, min_size=1, max_size=3)),
        st.builds(Grouped, inner, st.integers(1, 3)),
    ),
    max_leaves=5,
)


def price(event, size=1):
    """(ε or None, δ, ρ) of an event for groups of `size`, by the definition of each kind."""
    match event:
        case Composed(parts):
            prices = [price(part, size) for part in parts]
            epsilons = [epsilon for epsilon, _, _ in prices]
            total = None if None in epsilons else sum(epsilons, start=Fraction(0))
            return total, sum(d for _, d, _ in prices), sum(r for _, _, r in prices)
        case Parallel(parts):
            prices = [price(part, size) for part in parts]
            epsilons = [epsilon for epsilon, _, _ in prices]
            return (
                None if None in epsilons else max(epsilons),
                max(d for _, d, _ in prices),
                max(r for _, _, r in prices),
            )
        case Grouped():
            return price(event.event, size * event.size)
        case Concentrated():
            return None, Fraction(0), event.rho * size**2
        case Approximate():
            grown = sum((exact_exp(event.epsilon) ** j for j in range(size)), start=Fraction(0))
            return event.epsilon * size, event.delta * grown, rho_of(Pure(event.epsilon * size))
        case BoundedRange():
            return event.epsilon * size, Fraction(0), rho_of(BoundedRange(event.epsilon * size))
    return event.epsilon * size, Fraction(0), rho_of(Pure(event.epsilon * size))


@pytest.mark.slow
@settings(max_examples=150)
@given(events)
def test_a_nested_event_costs_what_its_definition_says(event):
    cost = cost_of(event)
    assert (cost.epsilon, cost.delta, cost.rho) == price(event)


@pytest.mark.parametrize("size", [2, 3])
def test_noise_for_a_group_is_as_many_steps_and_rho_grows_with_the_square(size):
    def one(event):
        ((atom, count),) = parts_of(Grouped(event, size)).atoms
        assert count == 1
        return atom

    assert one(GaussianNoise("1/8", 5)) == GaussianNoise(Fraction(size**2, 8), 5 * size)
    assert one(GaussianPrivacy("1/8")) == GaussianPrivacy(Fraction(size**2, 8))
    assert one(Concentrated("1/8")) == Concentrated(Fraction(size**2, 8))
    assert one(LaplaceNoise("1/8", 5)) == LaplaceNoise(Fraction(size, 8), 5 * size)
    assert one(BoundedRange("1/8")) == BoundedRange(Fraction(size, 8))
    pure = Pure(Fraction(size, 8))
    assert one(RandomizedResponse("1/8", 5)) == Worst(pure.epsilon, rho_of(pure), mu_squared_of(pure))
    assert one(Pure("1/8")) == Pure(Fraction(size, 8))


def test_a_loss_law_is_kept_only_where_all_parts_agree_and_the_group_is_one_person():
    noise = GaussianNoise("1/8", 5)
    assert parts_of(Parallel([noise] * 3)).atoms == ((noise, 1),)
    assert parts_of(Composed([Parallel([noise] * 3)] * 2)).atoms == ((noise, 2),)
    assert parts_of(Parallel([noise, GaussianNoise("1/9", 5)])).atoms == ((Worst(None, Fraction(1, 8)), 1),)
    assert parts_of(Grouped(Parallel([noise] * 3), 2)).atoms == ((Worst(None, Fraction(1, 2)), 1),)
    assert parts_of(Parallel([Pure(1), Approximate(1, "1e-6")])).deltas == ((Fraction(1, 10**6), 1),)


known = st.one_of(
    st.builds(lambda o: Pure(ln(o)), odds),
    st.builds(lambda o, n: LaplaceNoise(ln(o) * n, n), odds, st.integers(1, 3)),
    st.builds(lambda o, d: Approximate(ln(o), d), odds, deltas),
)


@pytest.mark.slow
@settings(max_examples=60)
@given(st.lists(known, min_size=1, max_size=3), known, st.sampled_from([Fraction(1, 100), Fraction(1, 10**4)]))
def test_nobody_is_told_less_than_what_the_part_of_any_one_person_costs(parts, after, delta):
    """A person in any of the parts, and one more query on all: each person's true δ is within every bound."""
    for bound in all_bounds([Parallel(parts), after], delta):
        factor = exp_below(min(bound.epsilon, 60), 400)
        for part in parts:
            assert true_delta(composed([worst_pair(part), worst_pair(after)]), factor) <= delta, bound.name


@pytest.mark.slow
@settings(max_examples=60)
@given(
    st.lists(st.tuples(st.fractions(min_value=Fraction(1, 10**7), max_value=Fraction(1, 100)), st.integers(1, 4))),
    st.fractions(min_value=Fraction(1, 100), max_value=Fraction(1, 2)),
)
def test_what_is_left_of_delta_is_what_the_product_leaves(pairs, delta):
    """1 − (1 − δ')·Π(1 − δᵢ) ≤ δ, and a little more than δ' would break it."""
    parts = parts_of([Approximate(1, each) for each, count in pairs for _ in range(count)])
    kept = Fraction(1)
    for each, count in parts.deltas:
        kept *= (1 - each) ** count
    slack = parts.slack(delta)
    if slack:
        assert 1 - (1 - slack) * kept <= delta
        assert 1 - (1 - slack - Fraction(1, 2**60)) * kept > delta
    else:
        assert 1 - kept >= delta - Fraction(1, 2**60)


sizes = st.one_of(
    st.fractions(min_value=Fraction(1, 10**6), max_value=3, max_denominator=10**9),
    st.integers(2**13, 2**20).map(Fraction),
    st.fractions(min_value=2**14, max_value=2**15, max_denominator=1000),
    st.builds(lambda n, d: ln(Fraction(n, 7) + 1) / d, st.integers(1, 50), st.integers(1, 9)),
)
atoms = st.one_of(
    st.builds(Pure, sizes),
    st.builds(lambda s: LaplaceNoise(s, 3), sizes),
    st.builds(lambda s: RandomizedResponse(s, 3), sizes),
    st.builds(BoundedRange, sizes),
    st.builds(Concentrated, sizes.filter(lambda s: isinstance(s, Fraction))),
)


def parameters(parts):
    """The parameters of each kind of atom, with counts written out, from the least to the largest."""
    found = {}
    for atom, count in parts.atoms:
        value = atom.rho if isinstance(atom, Concentrated) else epsilon_of(atom)
        kind = (type(atom), getattr(atom, "steps", getattr(atom, "options", None)))
        found.setdefault(kind, []).extend([value] * count)
    return {kind: sorted(values) for kind, values in found.items()}


@pytest.mark.slow
@settings(max_examples=100)
@given(st.lists(atoms, min_size=6, max_size=20, unique=True), st.data())
def test_fewer_distinct_atoms_never_cost_less_and_hardly_more(listed, data):
    parts = parts_of(listed * 2)
    kinds = parameters(parts)
    most = data.draw(st.integers(len(kinds), len(parts.atoms) - 1))
    few = coarse(parts, most)
    before, after = kinds, parameters(few)
    assert before.keys() == after.keys()
    for kind, values in before.items():
        assert len(values) == len(after[kind])
        for value, rounded in zip(values, after[kind], strict=True):
            assert value <= rounded < 2 * value + Fraction(1, 2**100)


@settings(max_examples=100)
@given(sizes, st.booleans())
def test_a_price_of_twelve_digits_is_the_next_one_above(size, concentrated):
    """Two prices that agree in twelve digits become one, so all digits are kept: one part in 2^11 at most."""
    kind = Concentrated if concentrated and isinstance(size, Fraction) else Pure
    alike = [kind(Fraction(1, 10**9) * (1 + Fraction(1, 2**place))) for place in (30, 31)]
    few = coarse(parts_of([kind(size), *alike]), 2)
    assert len(few.atoms) == 2
    rounded = max(parameters(few)[kind, None])
    assert size <= rounded <= size * (1 + Fraction(1, 2**11)) + Fraction(1, 2**100)
