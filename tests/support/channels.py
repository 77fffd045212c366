"""Channels to test with: random exact ones, and the two mechanisms of the literature."""

from fractions import Fraction
from itertools import pairwise

from hypothesis import strategies as st

from leastnoise.model.channel import Channel


@st.composite
def distributions(draw, size):
    """Rationals with small numerators, zeros among them, that sum to one."""
    weights = draw(st.lists(st.integers(0, 6), min_size=size, max_size=size).filter(any))
    return [Fraction(weight, sum(weights)) for weight in weights]


@st.composite
def channels(draw, inputs=None, outputs=None):
    """Exact channels of at most 5 × 6."""
    height = inputs or draw(st.integers(1, 5))
    width = outputs or draw(st.integers(1, 6))
    return Channel([draw(distributions(width)) for _ in range(height)])


def geometric(steps, alpha, labels=None):
    """The geometric mechanism on 0..steps, truncated: the ends collect the tails (FMM 2021, section II-D)."""
    alpha = Fraction(alpha)
    ends = (0, steps)
    rows = [
        [alpha ** abs(x - y) / (1 + alpha) * (1 if y in ends else 1 - alpha) for y in range(steps + 1)]
        for x in range(steps + 1)
    ]
    return Channel(rows, labels, labels)


def pixelated_laplace(steps, cells, decay):
    """The truncated Laplace mechanism on [0, 1] for inputs k/steps, outputs merged to the cells [j/cells, (j+1)/cells).

    `decay` is e^(−ε/(steps·cells)), so that every mass is a difference of powers of it. The atoms ½e^(−εx) at 0 and
    ½e^(−ε(1−x)) at 1 go to the first and the last cell (FMM 2021, Definition 4 with the signs of the exponents put
    right, and equation 12).
    """
    decay = Fraction(decay)
    grid = steps * cells

    def below(point, x):
        """The distribution function of the untruncated law at point/grid for the input x/grid."""
        return decay ** (x - point) / 2 if point <= x else 1 - decay ** (point - x) / 2

    rows = []
    for x in range(0, grid + 1, cells):
        borders = [Fraction(0), *(below(j * steps, x) for j in range(1, cells)), Fraction(1)]
        rows.append([high - low for low, high in pairwise(borders)])
    inputs = [Fraction(k, steps) for k in range(steps + 1)]
    return Channel(rows, inputs, [Fraction(j, cells) for j in range(cells)])
