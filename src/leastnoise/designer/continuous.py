"""How good the truncated Laplace mechanism is for a continuous prior, and how good any private mechanism can be.

Fernandes, McIver and Morgan, LICS 2021. Let w = (b − a)/N be the width of a step, λ = ε/Δ, ℓ the loss, κ-Lipschitz in
the answer, and V the loss of the geometric mechanism G_N under π_N with its best reading, which a design on a path
gives. Then

- V is what G_N loses under π itself, with the answer and the loss taken at the left end of its step (Lemma 8).
- No private K loses less than e^(−λw)·V − κw − r under π (Lemmas 9 and 10). κw is what the loss changes within a step,
  and r what a reader gains who may guess between the points: nothing for the absolute error, whose best guess is a
  median, and w²/4 for the squared error, whose best guess is a mean.
- The Laplace mechanism loses at most e^(2λw)·V + κw under π. One factor is Lemma 9. The other: an output z of L within
  t = w/2 of the point k has the likelihoods of the output k of G_N up to e^(λt), and L gives such outputs a measure of
  at most e^(λt) times the weight of k in G_N, for (λt)·coth(λt) ≤ 1 + λt inside and (1 + λt)(1 + e^(−2λt))/2 ≤ 1 + λt
  at the ends. So whoever reads z as G_N's nearest point loses at most e^(λw)·V on the grid.

The two bounds meet as N grows. That is their Theorem 5, in numbers.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from leastnoise.designer.designer import design
from leastnoise.errors import BadLoss, BadPrior
from leastnoise.exact import Enclosure, NumberLike, exp_above, exp_below, read_integer, read_rate, read_rational
from leastnoise.model import ContinuousPrior, Loss, absolute, squared
from leastnoise.model.graphs import path

__all__ = ["ContinuousLoss", "continuous_loss"]


@dataclass(frozen=True)
class ContinuousLoss:
    """What the reader of a real answer loses on average, who knows the prior and reads as well as possible.

    Attributes:
        steps: N.
        geometric: The loss of the geometric mechanism in N steps, which sees the left end of the step of the answer.
        laplace: The loss of the truncated Laplace mechanism, enclosed.
        least: No private mechanism loses less.
    """

    steps: int
    geometric: Enclosure
    laplace: Enclosure
    least: Fraction

    def __str__(self) -> str:
        """The two numbers."""
        low, high = float(self.laplace.lower), float(self.laplace.upper)
        return f"truncated Laplace: {low:.6g} to {high:.6g}; nobody below {float(self.least):.6g}"


def continuous_loss(
    prior: ContinuousPrior,
    epsilon: NumberLike,
    sensitivity: NumberLike = 1,
    loss: Loss = absolute,
    steps: NumberLike = 1000,
) -> ContinuousLoss:
    """The expected loss of the truncated Laplace mechanism under a continuous prior, and what nobody can beat.

    Args:
        prior: On the interval of possible answers.
        epsilon: The privacy of one release.
        sensitivity: Δ, the most that one person can change the answer.
        loss: `channels.absolute` or `channels.squared`.
        steps: N. More steps make the bounds closer, as 1/N.

    >>> known = continuous_loss(ContinuousPrior(lambda x: x), epsilon=3, steps=2000)
    >>> print(known)
    truncated Laplace: 0.185517 to 0.187356; nobody below 0.185517
    """
    if not isinstance(prior, ContinuousPrior):
        raise BadPrior("prior must be a ContinuousPrior", given=type(prior).__name__, fix="make one from a cdf")
    if loss not in (absolute, squared):
        raise BadLoss("the loss must be absolute or squared", given=loss, fix="pass channels.absolute")
    rate = read_rate(epsilon, "epsilon") / read_rational(sensitivity, "sensitivity", above=0)
    count = read_integer(steps, "steps", at_least=1)
    length = prior.high - prior.low
    width = length / count
    found = design(path(count + 1), rate * width, prior=list(prior.approximation(count).values()), loss=loss).loss
    unit = width if loss is absolute else width**2
    value = Enclosure(found.lower * unit, found.upper * unit)
    within = width if loss is absolute else 2 * length * width  # κw
    between = Fraction(0) if loss is absolute else width**2 / 4
    least = max(exp_below(-(rate * width)) * value.lower - within - between, Fraction(0))
    most = exp_above(2 * rate * width) * value.upper + within
    return ContinuousLoss(count, value, Enclosure(least, most), least)
