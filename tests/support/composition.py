"""The truth about small compositions, by enumeration in rationals: nothing here knows the accountants."""

from collections import Counter
from fractions import Fraction

from leastnoise.exact.numbers import exact_exp
from leastnoise.model.events import Approximate, LaplaceNoise, RandomizedResponse


def worst_pair(event):
    """Two output distributions of neighbours, as a list of (P, Q), that nothing within the event's promise tells more.

    e^ε must be rational; for Laplace noise e^(ε/steps).
    """
    if isinstance(event, LaplaceNoise):
        alpha, n = 1 / exact_exp(event.epsilon / event.steps), event.steps

        def mass(y, centre):  # outputs below 0 and above n are merged: their ratios are all the same
            if y in (0, n):
                return alpha ** abs(y - centre) / (1 + alpha)
            return alpha ** abs(y - centre) * (1 - alpha) / (1 + alpha)

        return [(mass(y, 0), mass(y, n)) for y in range(n + 1)]
    odds = exact_exp(event.epsilon)
    options = event.options if isinstance(event, RandomizedResponse) else 2
    truth, lie = odds / (odds + options - 1), 1 / (odds + options - 1)
    pair = [(truth, lie), (lie, truth)] + [(lie, lie)] * (options - 2)
    if isinstance(event, Approximate):
        delta = event.delta
        pair = [(p * (1 - delta), q * (1 - delta)) for p, q in pair] + [(delta, Fraction(0)), (Fraction(0), delta)]
    return pair


def composed(pairs):
    """The pair of all together; outcomes with the same ratio are merged, which loses nothing."""
    total = {Fraction(1): (Fraction(1), Fraction(1))}
    for pair in pairs:
        merged = Counter(), Counter()
        for p, q in total.values():
            for left, right in pair:
                ratio = (p * left) / (q * right) if q * right else None
                merged[0][ratio] += p * left
                merged[1][ratio] += q * right
        total = {ratio: (merged[0][ratio], merged[1][ratio]) for ratio in merged[0]}
    return list(total.values())


def true_delta(pair, factor):
    """The least δ at e^ε = factor, by definition."""
    return sum((max(Fraction(0), p - factor * q) for p, q in pair), start=Fraction(0))
