"""Leakage: how much better an adversary guesses with the output than without it.

An adversary who gains g(w, x) by guessing w when the truth is x has vulnerability V_g(π) = max_w Σ_x g(w, x)·π_x before
and V_g[π ▷ C] = Σ_y max_w Σ_x g(w, x)·π_x·C_xy after the output; leakage compares the two (Alvim et al. 2012, 2020).
Logarithms are natural, as in epsilon; divide by ln 2 for bits.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from leastnoise.errors import BadParameter
from leastnoise.exact import Enclosure, Exact, enclose, ln, of_fraction
from leastnoise.model.channel import Channel
from leastnoise.model.losses import Loss, from_function
from leastnoise.model.priors import PriorLike

__all__ = ["g_leakage", "g_vulnerability", "min_entropy_leakage", "right_guess", "shannon_leakage"]

right_guess: Loss = from_function(lambda guess, truth: int(guess == truth), name="right_guess")
"""The gain of 1 for a right guess: its vulnerability is the Bayes vulnerability, the chance of guessing right."""


def g_vulnerability(prior: PriorLike, channel: Channel, gain: Loss = right_guess) -> Fraction | float:
    """What an adversary gains on average who sees the output: Σ_y max_w Σ_x g(w, x)·π_x·C_xy.

    Args:
        prior: What the adversary believes beforehand.
        channel: What the adversary sees.
        gain: A table of numbers like a loss, except that more is better.

    >>> g_vulnerability([0.5, 0.5], Channel([["3/4", "1/4"], ["1/2", "1/2"]]))
    Fraction(5, 8)
    """
    joint = channel.joint_entries(prior)
    by_guess = gain is not right_guess  # else row w of the joint distribution is what guessing w gains
    if isinstance(joint, np.ndarray):
        return float((gain.floats(channel.inputs) @ joint if by_guess else joint).max(axis=0).sum())
    gains = gain.table(channel.inputs) @ joint if by_guess else joint
    return sum((most for most, _ in gains.column_maxima()), start=Fraction(0))


def g_leakage(
    prior: PriorLike, channel: Channel, gain: Loss = right_guess, kind: str = "multiplicative"
) -> Fraction | float:
    """The vulnerability after the output, over ("multiplicative") or less ("additive") the one before.

    >>> g_leakage([0.5, 0.5], Channel.identity(2)), g_leakage([0.5, 0.5], Channel.identity(2), kind="additive")
    (Fraction(2, 1), Fraction(1, 2))
    """
    blind = Channel.deterministic(lambda _: "nothing", channel.inputs)
    before, after = g_vulnerability(prior, blind, gain), g_vulnerability(prior, channel, gain)
    if kind == "additive":
        return after - before
    if kind != "multiplicative":
        raise BadParameter("kind must be one of two words", given=kind, fix="pass 'multiplicative' or 'additive'")
    if before <= 0:
        raise BadParameter(
            "a ratio of vulnerabilities needs a positive one before", given=before, fix="pass kind='additive'"
        )
    return after / before


def min_entropy_leakage(prior: PriorLike, channel: Channel) -> Exact | float:
    """The logarithm of the multiplicative Bayes leakage, in nats; exact for an exact channel.

    >>> min_entropy_leakage([0.5, 0.5], Channel([["3/4", "1/4"], ["1/4", "3/4"]]))
    ln(3/2)
    """
    ratio = g_leakage(prior, channel)
    return ln(ratio) if isinstance(ratio, Fraction) else math.log(ratio)


def shannon_leakage(prior: PriorLike, channel: Channel, bits: int = 64) -> Enclosure | float:
    """Mutual information of input and output, Σ π_x·C_xy·ln(C_xy / p(y)), in nats.

    Args:
        prior: The distribution of the input.
        channel: An exact channel gives an `Enclosure`, a float channel a float.
        bits: How many bits of the result are certain.

    >>> shannon_leakage([0.5, 0.5], Channel.identity(2)), shannon_leakage([0.5, 0.5], Channel.uniform(2, 3))
    (Enclosure(≈ 0.693147180559945), Enclosure(0))
    """
    joint, marginal = channel.joint_entries(prior), channel.output_marginal(prior)
    masses = [marginal[output] for output in channel.outputs]
    if isinstance(joint, np.ndarray):
        happens = joint > 0
        ratios = np.divide(channel.floats(), masses, out=np.ones_like(joint), where=happens)
        return float((joint * np.log(ratios)).sum())
    terms = [
        (weight, entry / mass)
        for weights, row in zip(joint.rows, channel.rationals().rows, strict=True)
        for weight, entry, mass in zip(weights, row, masses, strict=True)
        if weight and entry != mass
    ]
    if not terms:  # else it is above zero (Gibbs), so that a relative precision can be reached
        return Enclosure(Fraction(0), Fraction(0))
    return enclose(lambda: sum((of_fraction(w) * of_fraction(r).log() for w, r in terms), start=of_fraction(0)), bits)
