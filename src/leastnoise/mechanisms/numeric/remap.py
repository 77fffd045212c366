"""The reader's best guess: a released number and a prior give the answer with the least expected loss.

After y is seen the posterior is π_x·P(y|x) up to a factor; the best guess w minimises Σ_x ℓ(w, x)·π_x·P(y|x). For the
truncated geometric mechanism this is what makes it optimal for every prior and legal loss (Ghosh, Roughgarden and
Sundararajan 2012); it is post-processing and costs no privacy.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from fractions import Fraction
from typing import NamedTuple, cast

from leastnoise.errors import BadPrior
from leastnoise.exact.enclosures import Enclosure
from leastnoise.exact.matrices import RationalMatrix
from leastnoise.model.losses import Loss, absolute, squared
from leastnoise.model.mechanism import Mechanism
from leastnoise.model.priors import Prior, PriorLike

__all__ = ["Guess", "best_guess"]

_BITS = 192


class Guess(NamedTuple):
    """A guess, and what it costs on average under the posterior."""

    guess: Hashable
    loss: Enclosure


def _costs(loss: Loss, inputs: Sequence[Hashable], weights: Sequence[Fraction]) -> tuple[list[Fraction], Fraction]:
    """Σ_x ℓ(w, x)·weight_x for each guess w, and the largest |ℓ|."""
    if loss not in (absolute, squared) or not all(type(x) is int for x in inputs):
        table = loss.table(inputs)
        costs = [row[0] for row in (table @ RationalMatrix([[entry] for entry in weights])).rows]
        return costs, max(abs(entry) for row in table.rows for entry in row)
    # Both are polynomials in w, with coefficients that depend on which x are below it: one pass in the order of the x.
    order = sorted(range(len(inputs)), key=lambda i: cast(int, inputs[i]))
    xs, ws = [cast(int, inputs[i]) for i in order], [weights[i] for i in order]
    mass, mean = sum(ws, Fraction(0)), sum((x * w for x, w in zip(xs, ws, strict=True)), Fraction(0))
    reach = Fraction(xs[-1] - xs[0])
    if loss == squared:
        square = sum((x * x * w for x, w in zip(xs, ws, strict=True)), Fraction(0))
        return [square - 2 * cast(int, x) * mean + cast(int, x) ** 2 * mass for x in inputs], reach**2
    found, below, below_mean = [Fraction(0)] * len(xs), Fraction(0), Fraction(0)
    for i, x, w in zip(order, xs, ws, strict=True):
        found[i] = x * (2 * below - mass) + mean - 2 * below_mean
        below, below_mean = below + w, below_mean + x * w
    return found, reach


def best_guess(mechanism: Mechanism, released: Hashable, prior: PriorLike, loss: Loss = absolute) -> Guess:
    """The guess that costs least after `released` was seen; the first of several.

    Probabilities that are irrational are enclosed to 192 bits; guesses whose losses agree to that count as equal.

    Args:
        mechanism: What released it.
        released: What was released.
        prior: The probability of each answer; a list stands for the answers 0, 1, 2, …
        loss: What a guess costs; its guesses are the prior's answers unless it has its own.

    Raises:
        BadPrior: No answer that the prior allows can have led to this release, up to 2^-192.

    >>> from leastnoise.mechanisms.numeric.truncated_geometric import TruncatedGeometric
    >>> few = [0.5, 0.3, 0.1, 0.1, 0]
    >>> best_guess(TruncatedGeometric("ln(2)", 0, 4), 4, few)
    Guess(guess=2, loss=Enclosure(24/23))
    """
    known = prior if isinstance(prior, Prior) else Prior(prior)
    masses = [mechanism.pmf(released, answer, bits=_BITS) for answer in known.labels]
    low = [weight * p.lower for weight, p in zip(known.weights, masses, strict=True)]
    high = [weight * p.upper for weight, p in zip(known.weights, masses, strict=True)]
    if not sum(low):
        raise BadPrior(
            "this prior rules out what was released, or all but does",
            given=released,
            fix="give every answer some weight",
        )
    costs, largest = _costs(loss, known.labels, low)
    slack = largest * (sum(high) - sum(low))
    place = next(i for i, cost in enumerate(costs) if cost <= min(costs) + slack)
    ends = [cost / total for cost in (costs[place] - slack, costs[place] + slack) for total in (sum(low), sum(high))]
    return Guess(loss.guesses_for(known.labels)[place], Enclosure(min(ends), max(ends)))
