"""Continuous priors: π_N exactly, and bounds of the Laplace mechanism's loss against direct integration."""

from fractions import Fraction

import numpy as np
import pytest

from leastnoise.bounds import continuous_loss
from leastnoise.channels import ContinuousPrior, absolute, expected_loss, squared, zero_one
from leastnoise.errors import BadLoss, BadPrior
from leastnoise.mechanisms import TruncatedGeometric, TruncatedLaplace

EVEN = ContinuousPrior(lambda x: x)
RISING = ContinuousPrior.from_density([0, 2])
BINS = ContinuousPrior.from_histogram([0, "1/3", 1], [4, 1])


def integrated(density, epsilon, loss, points=1200):
    """The loss of the truncated Laplace mechanism by sums over midpoints, in doubles."""
    x = (np.arange(points) + 0.5) / points
    prior = density(x) / density(x).sum()
    inner = epsilon / 2 * np.exp(-epsilon * np.abs(x[:, None] - x[None, :])) / points
    ends = [np.exp(-epsilon * x) / 2, np.exp(-epsilon * (1 - x)) / 2]
    total = 0.0
    for likelihood in [*inner.T, *ends]:
        joint = prior * likelihood
        if loss is squared:
            guess = (joint * x).sum() / joint.sum()
        else:
            guess = x[np.searchsorted(np.cumsum(joint), joint.sum() / 2)]
        total += (joint * np.abs(x - guess) ** (2 if loss is squared else 1)).sum()
    return total


@pytest.mark.slow
@pytest.mark.parametrize("loss", [absolute, squared], ids=lambda loss: loss.name)
@pytest.mark.parametrize("epsilon", [1, 4])
@pytest.mark.parametrize(
    ("prior", "density"),
    [(EVEN, np.ones_like), (RISING, lambda x: 2 * x), (BINS, lambda x: np.where(x < 1 / 3, 12 / 5, 3 / 10))],
    ids=["even", "rising", "bins"],
)
def test_the_laplace_mechanism_lies_between_its_bounds(prior, density, epsilon, loss):
    direct = integrated(density, epsilon, loss)
    known = [continuous_loss(prior, epsilon, loss=loss, steps=steps) for steps in (200, 2000)]
    for bounds in known:
        assert float(bounds.least) <= direct * 1.001
        assert direct * 0.999 <= float(bounds.laplace.upper)
    spans = [float(bounds.laplace.upper - bounds.least) for bounds in known]
    assert spans[1] < spans[0] / 8


@pytest.mark.parametrize("steps", [2, 3, 5])
@pytest.mark.parametrize("prior", [EVEN, RISING, BINS], ids=["even", "rising", "bins"])
def test_the_geometric_mechanism_loses_little_less_than_the_laplace_mechanism_on_its_points(prior, steps):
    """$(π_N, L) ≤ e^(λw)·V, with L in many cells, which lose at most e^(λ/T) times as much as none."""
    cells, ratio = 24 * steps, Fraction(11, 10)  # e^(ε/T) = 11/10
    mass = prior.approximation(steps)
    laplace = TruncatedLaplace(f"{cells}*ln({ratio})", 0, 1, 1, cells)
    seen = laplace.channel(list(mass), [Fraction(2 * k + 1, 2 * cells) for k in range(cells)])
    known = continuous_loss(prior, f"{cells}*ln({ratio})", steps=steps)
    assert known.geometric.lower <= expected_loss(mass, seen, absolute)
    assert expected_loss(mass, seen, absolute) <= ratio**24 * ratio * known.geometric.upper


def test_the_geometric_loss_is_that_of_the_truncated_geometric_channel():
    channel = TruncatedGeometric("ln(2)", 0, 4).channel(range(5), range(5))
    masses = list(RISING.approximation(4).values())
    by_hand = expected_loss(masses, channel, absolute) / 4
    assert continuous_loss(RISING, "4*ln(2)", steps=4).geometric.lower == by_hand


def test_pieces_are_gathered_at_their_left_ends():
    assert list(EVEN.approximation(2).values()) == [Fraction(1, 2), Fraction(1, 2), 0]
    assert list(RISING.approximation(3).values()) == [Fraction(1, 9), Fraction(3, 9), Fraction(5, 9), 0]
    assert list(BINS.approximation(3).values()) == [Fraction(4, 5), Fraction(1, 10), Fraction(1, 10), 0]
    scaled = ContinuousPrior(lambda x: float(x) / 7, 2, 6).approximation(2)
    assert list(scaled) == [2, 4, 6]
    assert sum(scaled.values()) == 1


def test_what_is_no_prior_is_refused():
    with pytest.raises(BadPrior, match="falls"):
        ContinuousPrior(lambda x: -x).approximation(2)
    with pytest.raises(BadPrior, match="falls"):
        ContinuousPrior.from_density([1, -3]).approximation(4)
    with pytest.raises(BadPrior, match="edges"):
        ContinuousPrior.from_histogram([0, 1, 1], [1, 1])
    with pytest.raises(BadPrior, match="low"):
        ContinuousPrior(lambda x: x, 1, 1)
    with pytest.raises(BadLoss, match="absolute"):
        continuous_loss(EVEN, 1, loss=zero_one)
    with pytest.raises(BadPrior, match="ContinuousPrior"):
        continuous_loss([1], 1)
