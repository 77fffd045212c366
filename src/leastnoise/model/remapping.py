"""The rational reader: sees the output, knows prior and channel, and guesses what costs least.

$(π, C, ℓ) = Σ_y min_w Σ_x ℓ(w, x)·π_x·C_xy  (FMM 2021, equation 7). Choosing the best w for each y is called remapping.
Answers are `Fraction`s for exact channels and floats for float channels.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from leastnoise.errors import BadParameter, shown
from leastnoise.model.channel import Channel
from leastnoise.model.losses import Loss
from leastnoise.model.priors import PriorLike

__all__ = ["Remap", "WorstCase", "expected_loss", "optimal_remap", "worst_case_loss"]

_MEASURES: dict[str, Callable[[Any, Fraction], Any]] = {
    "loss": lambda mean, _: mean,
    "additive": lambda mean, least: mean - least,
    "multiplicative": lambda mean, least: mean / least,
}


class Remap(NamedTuple):
    """The best reading of each output, as a deterministic channel from outputs to guesses, and what is still lost."""

    channel: Channel
    loss: Fraction | float


class WorstCase(NamedTuple):
    """The largest expected loss over the inputs, and an input where it is reached."""

    loss: Fraction | float
    input: Hashable


def expected_loss(prior: PriorLike, channel: Channel, loss: Loss, *, remap: bool = True) -> Fraction | float:
    """What a reader loses on average.

    Args:
        prior: What the reader believes beforehand.
        channel: What the reader sees.
        loss: What a guess costs.
        remap: Whether the reader makes the best of each output; if not, the output itself is the guess.

    >>> from leastnoise.model.losses import zero_one
    >>> expected_loss([0.5, 0.5], Channel([["3/4", "1/4"], ["1/2", "1/2"]]), zero_one)
    Fraction(3, 8)
    """
    joint = channel.joint_entries(prior)
    if isinstance(joint, np.ndarray):
        if remap:
            return float((loss.floats(channel.inputs) @ joint).min(axis=0).sum())
        return float((loss.floats(channel.inputs, channel.outputs).T * joint).sum())
    if remap:
        return sum((least for least, _ in (loss.table(channel.inputs) @ joint).column_minima()), start=Fraction(0))
    costs = loss.table(channel.inputs, channel.outputs).transposed()
    pairs = zip(costs.rows, joint.rows, strict=True)
    return sum((c * p for row, masses in pairs for c, p in zip(row, masses, strict=True)), start=Fraction(0))


def optimal_remap(prior: PriorLike, channel: Channel, loss: Loss) -> Remap:
    """The guess that costs least for each output (the first one of several), and the expected loss with it.

    `channel.then(remap.channel)` is the mechanism that reports the guess itself.

    >>> from leastnoise.model.losses import absolute
    >>> remap = optimal_remap(["1/10", "8/10", "1/10"], Channel.uniform(3, "ab"), absolute)
    >>> remap.channel.outputs, remap.loss
    ((1,), Fraction(1, 5))
    """
    joint = channel.joint_entries(prior)
    if isinstance(joint, np.ndarray):
        costs = loss.floats(channel.inputs) @ joint
        total: Fraction | float = float(costs.min(axis=0).sum())
        places = costs.argmin(axis=0).tolist()
    else:
        best = (loss.table(channel.inputs) @ joint).column_minima()
        total, places = sum((least for least, _ in best), start=Fraction(0)), [place for _, place in best]
    guesses = loss.guesses_for(channel.inputs)
    choice = {output: guesses[place] for output, place in zip(channel.outputs, places, strict=True)}
    return Remap(Channel.deterministic(choice, channel.outputs), total)


def worst_case_loss(channel: Channel, loss: Loss, error: str = "loss") -> WorstCase:
    """The expected loss of the output itself, without remapping, at the input where it is worst.

    Args:
        channel: Its outputs are the guesses.
        loss: What a guess costs.
        error: What to measure. "loss": E ℓ(y, x). "additive": E ℓ(y, x) − best(x), with best(x) the least loss of any
            guess (of the loss's own guesses, else of the outputs). "multiplicative": E ℓ(y, x) / best(x), which needs
            losses above zero.

    These are the errors of a mechanism in Tóthmérész 2013, Definitions 1.6 and 1.7, for a score that is minus the loss.
    (Definition 1.5 divides the optimum by the score, which for a minimisation is upside down: it would call 1 / ratio
    the error, and the worst mechanism the best.)

    >>> from leastnoise.model.losses import from_matrix
    >>> cuts = from_matrix([[2, 5], [4, 5]], guesses="ab", inputs="xy")
    >>> worst_case_loss(Channel.uniform("xy", "ab"), cuts, error="multiplicative")
    WorstCase(loss=Fraction(3, 2), input='x')
    """
    if error not in _MEASURES:
        raise BadParameter("error must be one of three words", given=error, fix=f"pass one of {', '.join(_MEASURES)}")
    inputs = channel.inputs
    best = [least for least, _ in loss.table(inputs, loss.guesses or channel.outputs).column_minima()]
    if error == "multiplicative" and min(best) <= 0:
        place = best.index(min(best))
        raise BadParameter(
            "a multiplicative error needs losses above zero",
            given=f"{best[place]} for input {shown(inputs[place])}",
            fix="use error='additive'",
        )
    matrix = channel.matrix()
    costs = np.array(loss.table(inputs, channel.outputs).transposed().rows, dtype=object).astype(matrix.dtype)
    means = (costs * matrix).sum(axis=1).tolist()
    errors = [_MEASURES[error](mean, least) for mean, least in zip(means, best, strict=True)]
    worst = max(errors)
    return WorstCase(worst, inputs[errors.index(worst)])
