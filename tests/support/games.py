"""The best an adaptive adversary can do against a rule of admission, by exhaustive search in rationals."""

from fractions import Fraction
from functools import cache

from leastnoise.exact.numbers import exact_exp


def best_delta(prices, admits, factor):
    """The largest δ at e^ε = factor that any strategy reaches.

    The adversary asks randomized responses, choosing each price after the answers before, or stops.

    Args:
        prices: Pure ε with rational e^ε.
        admits: Whether a list of prices, in the order of `prices` with counts, may be asked.
        factor: e^ε.
    """
    chances = [(odds / (odds + 1), 1 / (odds + 1)) for odds in map(exact_exp, prices)]

    @cache
    def value(counts, ratio):
        """For one unit of probability under Q, and `ratio` as much under P."""
        best = max(Fraction(0), ratio - factor)
        for index, (truth, lie) in enumerate(chances):
            asked = (*counts[:index], counts[index] + 1, *counts[index + 1 :])
            if admissible(asked):
                best = max(best, lie * value(asked, ratio * truth / lie) + truth * value(asked, ratio * lie / truth))
        return best

    admissible = cache(admits)
    return value((0,) * len(prices), Fraction(1))
