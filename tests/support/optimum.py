"""The least expected loss of all ε-private channels, by exact linear programming: slow, simple and independent."""

from fractions import Fraction

import numpy as np
from scipy.optimize import linprog

from leastnoise.exact.matrices import RationalMatrix
from leastnoise.exact.programs import Optimum, minimise


def least_loss(loss, edges, factor, prior=None):
    """The optimum under a prior, or of the largest loss of an input if there is none.

    Args:
        loss: A row for each output, a column for each input.
        edges: Pairs of inputs, or (input, input, factor) where each edge has its own.
        factor: e^ε, rational.
        prior: A probability for each input.
    """
    outputs, inputs = len(loss), len(loss[0])
    directed = [(x, z, *rest) for a, b, *rest in edges for x, z in ((a, b), (b, a))]
    worst = prior is None
    bounds = len(directed) * outputs
    width = inputs * outputs + bounds + (1 + inputs if worst else 0)
    rows, right = [], []

    def row(entries):
        line = [Fraction(0)] * width
        for place, value in entries:
            line[place] += value
        rows.append(line)

    for x in range(inputs):
        row([(x * outputs + y, 1) for y in range(outputs)])
        right.append(1)
    for k, (x, z, *own) in enumerate(directed):
        for y in range(outputs):
            growth = own[0] if own else factor
            slack = inputs * outputs + k * outputs + y
            row([(x * outputs + y, Fraction(1)), (z * outputs + y, -Fraction(growth)), (slack, Fraction(1))])
            right.append(0)
    cost = [Fraction(0)] * width
    if worst:
        top = inputs * outputs + bounds
        cost[top] = Fraction(1)
        for x in range(inputs):
            entries = [(x * outputs + y, Fraction(loss[y][x])) for y in range(outputs)]
            row([*entries, (top, Fraction(-1)), (top + 1 + x, Fraction(1))])
            right.append(0)
    else:
        for x in range(inputs):
            for y in range(outputs):
                cost[x * outputs + y] = Fraction(prior[x]) * Fraction(loss[y][x])
    guess = linprog(np.array(cost, float), A_eq=np.array(rows, float), b_eq=np.array(right, float), method="highs-ds")
    believed = np.argsort(-guess.x, kind="stable")[: int((guess.x > 1e-9).sum())].tolist()
    found = minimise(cost, RationalMatrix(rows), right, believed)
    assert isinstance(found, Optimum)
    return found.cost
