"""The loss law of every atom against its definition, with so few bits and such long tails that each rounding shows."""

from fractions import Fraction
from functools import cache
from itertools import pairwise

import pytest

from leastnoise.accounting import BoundedRange, GaussianNoise, LaplaceNoise, Pure, RandomizedResponse
from leastnoise.composition.loss_accountant import composed_law
from leastnoise.composition.loss_laws import law_above, law_below
from leastnoise.composition.normal_form import Worst
from leastnoise.exact import exp_above, exp_below, ln
from support.composition import worst_pair
from support.losses import PRECISE, ExactLaw, law_of, times

TINY = Fraction(1, 2**60)
PLACES = [Fraction(place, 4) for place in (-12, -5, 0, 1, 3, 10, 20, 33, 48, 80)]


def exact_law(event):
    """The law of a pair of distributions whose ratios are rational."""
    masses = {}
    for p, q in worst_pair(event):
        masses[ln(p / q)] = masses.get(ln(p / q), Fraction(0)) + p
    return ExactLaw(masses)


@cache
def gaussian_laws(rho, steps):
    """Masses of the discrete Gaussian rounded down, and rounded up; all but 2^-200 of it."""
    variance = Fraction(steps**2) / (2 * rho)
    last = int(float(variance) ** 0.5 * 17) + 2
    low = {y: exp_below(-(y**2) / (2 * variance), PRECISE) for y in range(-last, last + 1)}
    high = {y: exp_above(-(y**2) / (2 * variance), PRECISE) for y in range(-last, last + 1)}
    beyond = Fraction(1, 2**200)

    def losses(weights, total):
        return {rho * (1 - Fraction(2 * y, steps)): weight / total for y, weight in weights.items()}

    return (
        ExactLaw(losses(low, sum(high.values()) + beyond)),
        ExactLaw(losses(high, sum(low.values())), beyond / sum(low.values())),
    )


RATIONAL = [
    Pure(ln(2)),
    Pure(ln(Fraction(11, 10))),
    RandomizedResponse(ln(3), 2),
    RandomizedResponse(ln(3), 5),
    LaplaceNoise(ln(2), 1),
    LaplaceNoise(ln(Fraction(3, 2)) * 4, 4),
    LaplaceNoise(ln(Fraction(11, 10)) * 64, 64),
    Worst(ln(3), Fraction(1)),
]


@pytest.mark.parametrize("bits", [6, 20])
@pytest.mark.parametrize("atom", RATIONAL, ids=str)
def test_laws_with_rational_odds_are_rounded_once_to_their_side(atom, bits):
    truth = exact_law(Pure(atom.epsilon) if isinstance(atom, Worst) else atom)
    above, below = law_above(atom, bits, 0), law_below(atom, bits, 0)
    assert (below is None) == isinstance(atom, Worst), "what is known by ε and ρ only has no law below"
    slack = Fraction(len(above.masses), 2**bits) + TINY
    for x in PLACES:
        low, high = truth.delta(x)
        assert low <= above.delta(x) <= high + slack
        assert below is None or low - slack <= below.delta(x) <= high
    assert sum(above.masses) + above.lost >= 1 << bits
    assert below is None or sum(below.masses) <= 1 << bits


@pytest.mark.slow
@pytest.mark.parametrize("tail_bits", [0, 20, 30])
@pytest.mark.parametrize(("rho", "steps"), [(Fraction(8), 20), (Fraction(2), 9), (Fraction(1, 8), 3), (Fraction(1), 1)])
def test_gaussian_laws_keep_what_they_cut_off(rho, steps, tail_bits):
    """With a tail of up to a thousandth what is cut off is material: above it counts as lost, below not at all."""
    atom, bits, tail = GaussianNoise(rho, steps), 40, 1 << tail_bits
    low, high = gaussian_laws(rho, steps)
    above, below = law_above(atom, bits, tail), law_below(atom, bits, tail)
    slack = Fraction(4 * tail + len(above.masses), 1 << bits) + TINY
    for x in PLACES:
        assert low.delta(x)[0] <= above.delta(x) <= high.delta(x)[1] + slack
        assert low.delta(x)[0] - slack <= below.delta(x) <= high.delta(x)[1]
    assert sum(above.masses) + above.lost >= 1 << bits
    assert sum(below.masses) <= 1 << bits
    assert below.lost == 0


@pytest.mark.slow
@pytest.mark.parametrize("tail_bits", [20, 34])
def test_several_gaussians_keep_what_they_cut_off(tail_bits):
    atom, bits, tail = GaussianNoise(Fraction(2), 3), 40, 1 << tail_bits
    low, high = (times(law, 3) for law in gaussian_laws(Fraction(2), 3))
    above, below = law_above(atom, bits, tail).power(3, tail), law_below(atom, bits, tail).power(3, tail)
    for x in PLACES:
        assert low.delta(x)[0] <= above.delta(x)
        assert below.delta(x) <= high.delta(x)[1]


def lattice_delta(epsilon, steps, x):
    """δ of Laplace noise on a lattice by its definition, from below and from above."""
    low = high = Fraction(0)
    down, up = exp_below(-epsilon / steps, PRECISE), exp_above(-epsilon / steps, PRECISE)
    for j in range(steps + 1):
        ends = j in (0, steps)
        loss = epsilon * (1 - Fraction(2 * j, steps))
        mass_low, mass_high = (
            alpha**j * (1 if ends else 1 - other) / (1 + other) for alpha, other in ((down, up), (up, down))
        )
        low += mass_low * max(Fraction(0), 1 - exp_above(x - loss, PRECISE))
        high += mass_high * max(Fraction(0), 1 - exp_below(x - loss, PRECISE))
    return low, high


@pytest.mark.slow
@pytest.mark.parametrize("steps", [65, 97])
def test_fine_lattices_lie_between_their_laws(steps):
    epsilon = Fraction(5)
    atom = LaplaceNoise(epsilon, steps)
    above, below = law_above(atom, 80, 0), law_below(atom, 80, 0)
    for x in (Fraction(place, 3) for place in range(-14, 17, 7)):
        low, high = lattice_delta(epsilon, steps, x)
        assert low <= above.delta(x) <= high + Fraction(1, 100)
        assert low - Fraction(1, 40) <= below.delta(x) <= high


@pytest.mark.parametrize("epsilon", [Fraction(1, 2), Fraction(4)])
def test_a_bounded_range_lies_below_its_law_and_the_law_is_a_polygon_of_it(epsilon):
    """δ(x) = (1 − e^((x−ε)/2))²/(1 − e^-ε), reached at the corners and nowhere passed."""
    above = law_above(BoundedRange(epsilon), 80, 0)
    for place in range(-32, 33, 4):
        x = epsilon * Fraction(place, 32)
        truth = (1 - exp_above((x - epsilon) / 2, PRECISE)) ** 2 / (1 - exp_below(-epsilon, PRECISE))
        assert truth <= above.delta(x) <= truth + Fraction(1, 2**60)
        between = x + epsilon / 64
        inside = (1 - exp_above((between - epsilon) / 2, PRECISE)) ** 2 / (1 - exp_below(-epsilon, PRECISE))
        assert place == 32 or inside <= above.delta(between)


def test_masses_of_laws_above_and_below_are_two_units_apart_at_most():
    for atom in RATIONAL[:-1]:
        high, low = law_above(atom, 50, 0).masses, law_below(atom, 50, 0).masses
        assert all(0 <= more - less <= 2 for more, less in zip(high, low, strict=True))


@pytest.mark.parametrize("delta", [Fraction(1, 10), Fraction(1, 10**5)])
def test_mixed_laws_on_a_common_grid_enclose_the_exact_composition(delta):
    """Different queries meet on one grid: above stays above, below stays below, and they are close."""
    listed = [(Pure(ln(2)), 2), (LaplaceNoise(ln(Fraction(3, 2)) * 3, 3), 2), (RandomizedResponse(ln(3), 4), 1)]
    truth = None
    for atom, count in listed:
        law = times(exact_law(atom), count)
        truth = law if truth is None else truth + law
    above, below = (composed_law(listed, delta, upward) for upward in (True, False))
    for x in PLACES[2:]:
        low, high = truth.delta(x)
        assert low <= above.delta(x) <= high + Fraction(1, 1000)
        assert low - Fraction(1, 100) <= below.delta(x) <= high


def test_the_gaussian_reference_is_the_definition():
    low, high = gaussian_laws(Fraction(1, 8), 3)
    assert 0 < sum(high.masses.values()) - sum(low.masses.values()) < Fraction(1, 2**190)
    losses = sorted(low.masses)
    assert {b - a for a, b in pairwise(losses)} == {Fraction(1, 12)}
    assert low.masses[Fraction(1, 8)] == max(low.masses.values())
    assert law_of(law_above(GaussianNoise("1/8", 3), 60, 1)).masses.keys() <= low.masses.keys()
