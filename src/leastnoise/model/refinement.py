"""Refinement: whether one channel is another one with more noise, decided exactly and with a proof.

A ⊑ B ("A is refined by B") if B = A·R for a stochastic matrix R. Then B loses at least as much as A for every prior and
every loss, so B is at least as private and at most as useful. The converse holds too (Blackwell 1951; the coriaceous
theorem of McIver et al. 2014): if there is no such R, there are a prior and a loss for which B loses strictly less.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from fractions import Fraction
from math import gcd, lcm
from typing import NamedTuple

from leastnoise.errors import BadChannel
from leastnoise.exact.matrices import RationalMatrix
from leastnoise.model.channel import Channel
from leastnoise.model.losses import Loss, from_matrix
from leastnoise.model.priors import Prior, uniform
from leastnoise.model.refinement_search import Remapping, candidates

__all__ = ["Refinement", "decide_refinement"]


class Refinement(NamedTuple):
    """The answer to a ⊑ b, with its proof.

    Attributes:
        holds: Whether b = a·R for some channel R.
        remap: R, with `a.then(R) == b` exactly; None if there is none.
        prior: If it does not hold, a prior for which b loses strictly less than a under `loss`.
        loss: That loss; its guesses are the outputs of b.
    """

    holds: bool
    remap: Channel | None
    prior: Prior | None
    loss: Loss | None

    def __bool__(self) -> bool:
        """Whether the refinement holds."""
        return self.holds


def decide_refinement(a: Channel, b: Channel) -> Refinement:
    """Whether a ⊑ b, that is b = a·R; the same as `a.refines(b)`.

    Raises:
        BadChannel: A channel has floats, or rows that do not sum to exactly one.
        UnknownLabel: The two channels have different inputs.

    >>> noisy = Channel([["3/4", "1/4"], ["1/4", "3/4"]])
    >>> decide_refinement(Channel.identity(2), noisy).remap == noisy
    True
    >>> answer = decide_refinement(noisy, Channel.identity(2))
    >>> from leastnoise.model.remapping import expected_loss
    >>> losses = [expected_loss(answer.prior, channel, answer.loss) for channel in (noisy, Channel.identity(2))]
    >>> answer.holds, losses[0] > losses[1]
    (False, True)
    """
    for label in b.inputs:
        a.input_place(label)
    left, right = _exact_entries(a), _exact_entries(b.restrict(a.inputs))
    proof = next(candidate for candidate in candidates(left, right) if candidate.proves(left, right))
    if isinstance(proof, Remapping):
        return Refinement(True, Channel.of_entries(proof.matrix, a.outputs, b.outputs), None, None)
    return Refinement(False, None, uniform(a.inputs), _loss(proof.matrix, a.inputs, b.outputs))


def _exact_entries(channel: Channel) -> RationalMatrix:
    if not channel.sums_to_one:
        raise BadChannel(
            "refinement is decided exactly, and needs exact rows that sum to one",
            given=repr(channel),
            fix="write the entries as fractions, or use channel.to_exact(normalise=True)",
        )
    return channel.rationals()


def _loss(prices: RationalMatrix, inputs: Sequence[Hashable], guesses: Sequence[Hashable]) -> Loss:
    """Prices as a loss in whole numbers of at least zero.

    Under the uniform prior a factor changes nothing, and a number added to the row of an input adds the same to both
    channels' losses.
    """
    rows = [[entry - min(row) for entry in row] for row in prices.rows]
    scale = lcm(*(entry.denominator for row in rows for entry in row))
    whole = [[int(entry * scale) for entry in row] for row in rows]
    divisor = gcd(*(entry for row in whole for entry in row))
    table = [[Fraction(row[j], divisor) for row in whole] for j in range(len(guesses))]
    return from_matrix(table, guesses, inputs, name="separating")
