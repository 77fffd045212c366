"""What the README says of a plain linear program: its answer is not private, and looks better than the optimum."""

import math

import numpy as np
from scipy.optimize import linprog
from scipy.sparse import csr_array

from leastnoise.checker import check
from leastnoise.designer import design
from leastnoise.model.channel import Channel
from leastnoise.model.graphs import path


def plain_optimum(nodes, epsilon):
    """The design program for the mean distance on a path, as a solver in doubles answers it."""
    near = [(x + a, x + 1 - a, y) for x in range(nodes - 1) for a in (0, 1) for y in range(nodes)]
    entries = [(row, x * nodes + y, value) for row, (one, other, y) in enumerate(near)
               for x, value in ((one, 1.0), (other, -math.exp(epsilon)))]  # fmt: skip
    rows, columns, values = zip(*entries, strict=True)
    private = csr_array((values, (rows, columns)), shape=(len(near), nodes**2))
    whole = csr_array((np.ones(nodes**2), (np.repeat(range(nodes), nodes), range(nodes**2))), shape=(nodes, nodes**2))
    cost = np.abs(np.subtract.outer(range(nodes), range(nodes))).ravel() / nodes
    found = linprog(cost, private, np.zeros(len(near)), whole, np.ones(nodes), method="highs")
    law = np.clip(found.x.reshape(nodes, nodes), 0, None)
    return found.fun, Channel(law / law.sum(axis=1, keepdims=True))


def test_the_answer_of_a_plain_solver_is_not_private_and_ours_is():
    claimed, channel = plain_optimum(30, 1)
    assert check(channel, path(30), epsilon=1).tight_epsilon == math.inf
    best = design("path:30", 1, route="lp")
    assert claimed < best.lower_bound.lower
    assert check(best.channel, path(30), epsilon=1)
