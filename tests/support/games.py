"""The best an adaptive adversary can do against a rule of admission, by exhaustive search in rationals."""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import pairwise

from leastnoise.exact.balls import normal_cdf, normal_quantile, of_fraction
from leastnoise.exact.enclosures import enclose
from leastnoise.exact.numbers import exact_exp, ln
from leastnoise.model.events import Approximate, Event, GaussianPrivacy, Pure


@dataclass(frozen=True)
class Channel:
    """A query that the adversary may ask: its event, and the chances of each outcome under P and under Q."""

    event: Event
    outcomes: tuple[tuple[Fraction, Fraction], ...]


def response(odds):
    """Randomized response: the worst of all queries with this e^ε."""
    odds = Fraction(odds)
    truth, lie = odds / (odds + 1), 1 / (odds + 1)
    return Channel(Pure(ln(odds)), ((truth, lie), (lie, truth)))


def all_or_nothing(delta, odds=1):
    """With probability δ all is told, and otherwise a randomized response."""
    delta, odds = Fraction(delta), Fraction(odds)
    rest = ((1 - delta) * odds / (odds + 1), (1 - delta) / (odds + 1))
    return Channel(Approximate(ln(odds), delta), ((delta, Fraction(0)), (Fraction(0), delta), rest, rest[::-1]))


def binned_gaussian(mu_squared, edges):
    """Gaussian privacy told only up to a bin of its loss, in rationals that tell a little less.

    The chances b under Q and a under P of a loss above edge·μ are corners of the power curve of the tests. Corners
    below the curve Φ(Φ⁻¹(b) + μ), which is concave, make a polygon below it.
    """
    mu_squared, unit = Fraction(mu_squared), 1 << 20
    mu = math.sqrt(mu_squared)
    corners = [(Fraction(0), Fraction(0))]
    for edge in sorted(edges, reverse=True):
        under_q = Fraction(round(math.erfc((edge + mu / 2) / math.sqrt(2)) / 2 * unit), unit)

        def under_p(b=under_q):
            return normal_cdf(normal_quantile(of_fraction(b)) + of_fraction(mu_squared).sqrt())

        corners.append((Fraction(int(enclose(under_p).lower * unit), unit), under_q))
    corners.append((Fraction(1), Fraction(1)))
    pairs = [(right[0] - left[0], right[1] - left[1]) for left, right in pairwise(corners)]
    return Channel(GaussianPrivacy(mu_squared), tuple(pairs))


def best_gain(channels, admits, gain):
    """The largest expected gain over all strategies, each choice made after the outcomes before it.

    Args:
        channels: What may be asked.
        admits: Whether queries may be asked: the index of the first one, and how often each.
        gain: Of one unit of probability under Q and so much under P; and, for None, of one unit under P alone.
    """

    @cache
    def value(first, counts, ratio):
        best = gain(ratio)
        for index, channel in enumerate(channels):
            asked = (*counts[:index], counts[index] + 1, *counts[index + 1 :])
            begun = index if first is None else first
            if admissible(begun, asked):
                best = max(best, sum((_after(begun, asked, ratio, p, q) for p, q in channel.outcomes), Fraction(0)))
        return best

    def _after(first, counts, ratio, p, q):
        return q * value(first, counts, ratio * p / q) if q else ratio * p * gain(None)

    admissible = cache(admits)
    return value(None, (0,) * len(channels), Fraction(1))


def delta_gain(factor):
    """The part of δ at e^ε = factor."""
    return lambda ratio: Fraction(1) if ratio is None else max(Fraction(0), ratio - factor)


def best_delta(prices, admits, factor):
    """The largest δ at e^ε = factor that any strategy of randomized responses reaches.

    Args:
        prices: Pure ε with rational e^ε.
        admits: Whether a list of prices, in the order of `prices` with counts, may be asked.
        factor: e^ε.
    """
    channels = [response(exact_exp(price)) for price in prices]
    return best_gain(channels, lambda _, counts: admits(counts), delta_gain(factor))
