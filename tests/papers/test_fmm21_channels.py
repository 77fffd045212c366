"""Numbers and statements of Fernandes, McIver and Morgan, "The Laplace mechanism has optimal utility" (LICS 2021)."""

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest

from leastnoise.exact.enclosures import exp_enclosure
from leastnoise.model.channel import Channel
from leastnoise.model.kantorovich import earth_mover, kantorovich
from leastnoise.model.losses import absolute, is_legal, lipschitz_constant, squared, zero_one
from leastnoise.model.priors import Prior, uniform
from leastnoise.model.remapping import expected_loss
from support.channels import geometric, pixelated_laplace


def grid(steps):
    return [Fraction(k, steps) for k in range(steps + 1)]


def fractions(text):
    return [[Fraction(entry) for entry in line.split()] for line in text.split(",")]


def test_three_points():
    """Section VII: α = 1/4 on the inputs 0, 1/2, 1."""
    assert geometric(2, "1/4").matrix().tolist() == fractions("4/5 3/20 1/20, 1/5 3/5 1/5, 1/20 3/20 4/5")


def test_five_points():
    """Section VII: α = 1/2 on the inputs 0, 1/4, …, 1."""
    assert geometric(4, "1/2").matrix().tolist() == fractions(
        "2/3 1/6 1/12 1/24 1/24, 1/3 1/3 1/6 1/12 1/12, 1/6 1/6 1/3 1/6 1/6,"
        "1/12 1/12 1/6 1/3 1/3, 1/24 1/24 1/12 1/6 2/3"
    )


def test_the_rest_of_the_geometric_law():
    """Section II-D: what is not left in place has mass 2α/(1+α) (printed as 2α/(1−α))."""
    alpha = Fraction(1, 3)
    stays = geometric(2, alpha).probability(1, given=1)
    assert 1 - stays == 2 * alpha / (1 + alpha) != 2 * alpha / (1 - alpha)


def test_bayes_risk_of_rows_one_three_five():
    """Section IV-C: the channel M, the loss br and the uniform prior give 1/3; rows one and two differ by ln 4."""
    channel = geometric(4, "1/2").restrict([0, 2, 4])
    assert expected_loss(uniform([0, 2, 4]), channel, zero_one) == Fraction(1, 3)
    ratios = [p / q for p, q in zip(channel.row(0), channel.row(2), strict=True)]
    assert max(max(ratios), 1 / min(ratios)) == 4


@pytest.mark.parametrize("sign", [-1, 1])
def test_the_atoms_of_the_truncated_laplace(sign):
    """Definition 4: with e^(−εx)/2 and e^(−ε(1−x))/2 the masses sum to one; with the printed signs they do not."""
    epsilon, x = 2, Fraction(1, 4)
    left, right = (exp_enclosure(sign * epsilon * distance).lower / 2 for distance in (x, 1 - x))
    inside = 1 - (exp_enclosure(-epsilon * x).lower + exp_enclosure(-epsilon * (1 - x)).lower) / 2
    assert (abs(left + inside + right - 1) < Fraction(1, 10**15)) == (sign == -1)


@pytest.mark.parametrize("steps", [1, 2, 3, 4])
@pytest.mark.parametrize("cells", [1, 2, 3, 4, 6, 8, 12])
def test_lemma_11_the_pixelated_laplace_refines_the_geometric(steps, cells):
    decay = Fraction(9, 10)
    coarse = geometric(steps, decay**cells, grid(steps))
    laplace = pixelated_laplace(steps, cells, decay)
    refinement = coarse.refines(laplace)
    assert refinement.holds
    assert coarse.then(refinement.remap) == laplace


def test_lemma_11_is_strict():
    """The geometric is not a post-processing of the Laplace: a prior and a loss say so."""
    coarse, laplace = geometric(2, Fraction(1, 2) ** 8, grid(2)), pixelated_laplace(2, 8, "1/2")
    refinement = laplace.refines(coarse)
    assert not refinement
    losses = [expected_loss(refinement.prior, channel, refinement.loss) for channel in (coarse, laplace)]
    assert losses[0] < losses[1]


def test_theorem_12_finer_cells_tell_more():
    """The chain … ⊑ ⁸L ⊑ ⁴L ⊑ ²L ⊑ ¹L: cells of twice the width are a post-processing."""
    whole = Fraction(1, 2)
    chain = [pixelated_laplace(3, cells, whole ** (24 // (3 * cells))) for cells in (8, 4, 2, 1)]
    for fine, coarse in pairwise(chain):
        assert fine.refines(coarse)
        assert not coarse.refines(fine)


@pytest.mark.parametrize("steps", [2, 4, 6])
@pytest.mark.parametrize("decay", ["1/2", "9/10", "99/100"])
def test_theorem_13_the_bound(steps, decay):
    """$(L) − $(G) ≤ κ·W ≤ cκ/N with c = 3/(1 − e^-ε)², exactly, for cells that N divides and three priors."""
    cells = 2 * steps
    decay = Fraction(decay)
    coarse, laplace = geometric(steps, decay**cells, grid(steps)), pixelated_laplace(steps, cells, decay)
    c = 3 / (1 - decay ** (steps * cells)) ** 2
    peaked = Prior({x: 1 + 3 * (x == 0) for x in grid(steps)}, normalise=True)
    ends = Prior({Fraction(0): "1/2", Fraction(1): "1/2"})
    for prior in (uniform(grid(steps)), peaked, ends):
        for loss in (absolute, squared):
            assert is_legal(loss, grid(steps))
            gap = expected_loss(prior, laplace, loss) - expected_loss(prior, coarse, loss)
            assert 0 <= gap <= c * lipschitz_constant(loss, grid(steps)) / steps
    even = uniform(grid(steps))
    work = kantorovich(coarse.hyper(even), laplace.hyper(even), earth_mover(grid(steps)))
    gap = expected_loss(even, laplace, absolute) - expected_loss(even, coarse, absolute)
    assert gap <= work.lower <= work.upper <= c / steps


def float_geometric(steps, epsilon, labels=None):
    alpha = math.exp(-epsilon)
    x, y = np.arange(steps + 1)[:, None], np.arange(steps + 1)[None, :]
    inner = np.where((y == 0) | (y == steps), 1, 1 - alpha)
    return Channel(alpha ** np.abs(x - y) / (1 + alpha) * inner, labels, labels)


def float_laplace(steps, cells, epsilon):
    """Masses of the cells by the distribution function."""
    x, border = np.arange(steps + 1)[:, None] / steps, np.arange(1, cells)[None, :] / cells
    below = np.where(border <= x, np.exp(-epsilon * (x - border)) / 2, 1 - np.exp(-epsilon * (border - x)) / 2)
    borders = np.hstack([np.zeros_like(x), below, np.ones_like(x)])
    return Channel(np.diff(borders, axis=1), grid(steps))


def test_the_two_losses_of_the_worked_example():
    """Uniform prior, ε = 2, N = 4, absolute loss: geometric 0.235195, Laplace 0.238704 (its cells made fine)."""
    prior = uniform(grid(4))
    best = expected_loss(prior, float_geometric(4, 2 / 4, grid(4)), absolute)
    assert best == pytest.approx(0.235195, abs=5e-7)
    by_cells = [expected_loss(prior, float_laplace(4, cells, 2), absolute) for cells in (4, 64, 1024, 16384)]
    assert sorted(by_cells, reverse=True) == by_cells
    assert by_cells[-1] == pytest.approx(0.238704, abs=5e-7)
    assert by_cells[-1] - best <= 3 / (1 - math.exp(-2)) ** 2 / 4


@pytest.mark.parametrize(
    ("nodes", "loss"), [(10, 0.7163109738393902), (20, 0.7836114954616783), (40, 0.8172648117811354)]
)
def test_the_optimum_on_a_path(nodes, loss):
    """Ghosh, Roughgarden and Sundararajan 2012: ε = 1, uniform prior, absolute loss, after the best remap."""
    assert expected_loss(uniform(nodes), float_geometric(nodes - 1, 1), absolute) == pytest.approx(loss, rel=1e-13)
