"""A privacy certificate for whole noise: its law on a few answers, outputs merged into cells, as an exact channel."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

from leastnoise.errors import BadParameter
from leastnoise.exact.numbers import Exact
from leastnoise.mechanisms.numeric.integer_noise import IntegerNoise
from leastnoise.model.certificate import Certificate, PrivacyCertificate
from leastnoise.model.channel import Channel
from leastnoise.model.graphs import from_edges
from leastnoise.model.privacy import Privacy

__all__ = ["certify_noise"]

_CELLS = 4  # for each step of one sensitivity


def certify_noise(mechanism: IntegerNoise, epsilon: Exact) -> Certificate:
    """That answers from 0 to twice the sensitivity are protected as claimed.

    Raises:
        BadParameter: The law is irrational.
    """
    reach, unit = mechanism.sensitivity, -(-mechanism.sensitivity // _CELLS)
    answers = range(0, 2 * reach + 1, unit)
    borders = range(-reach, 3 * reach + 1, unit)
    shares = [[_below(mechanism, border, answer) for border in borders] for answer in answers]
    masses = [[high - low for low, high in pairwise([Fraction(0), *row, Fraction(1)])] for row in shares]
    edges = [(x, y) for x in answers for y in answers if 0 < y - x <= reach]
    cells = [f"below {border}" for border in borders] + ["the rest"]
    return PrivacyCertificate(from_edges(edges), Privacy(epsilon), Channel(masses, answers, cells))


def _below(mechanism: IntegerNoise, border: int, truth: int) -> Fraction:
    share = mechanism.cdf(border - 1, truth)
    if not share.is_exact:
        raise BadParameter(
            f"the law of the {mechanism.name} is irrational at this epsilon, so no exact channel can be certified",
            fix='choose an epsilon and a sensitivity with rational e^(epsilon/sensitivity), such as "ln(3)" and 1',
        )
    return share.lower
