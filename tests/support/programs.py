"""The design problem as one plain linear program for the exact simplex: slow, and independent of the designer."""

from fractions import Fraction

from leastnoise.exact.matrices import RationalMatrix
from leastnoise.exact.programs import minimise


def least_loss(graph, factor, losses, delta=0, prior=None):
    """The least expected loss of an (ε, δ)-private channel with e^ε = factor; without a prior, the least worst loss.

    Unknowns are p(y|x), a slack per privacy constraint, the parts of each edge's excess and what is left of δ, the
    worst loss and a slack per input. Losses are moved to start at zero, as unknowns may not be negative.
    """
    least = min(min(row) for row in losses)
    inputs, outputs = len(graph.nodes), len(losses)
    edges = [pair for x, y in graph.edges().tolist() for pair in ((x, y), (y, x))]
    names = [("p", x, y) for x in range(inputs) for y in range(outputs)]
    names += [(kind, e, y) for kind in ("slack", "excess") for e in range(len(edges)) for y in range(outputs)]
    names += [("left", e) for e in range(len(edges))] + [("worst",)] + [("room", x) for x in range(inputs)]
    place = {name: i for i, name in enumerate(names)}
    rows, right = [], []

    def require(entries, value):
        row = [Fraction(0)] * len(names)
        for name, entry in entries.items():
            row[place[name]] += entry
        rows.append(row)
        right.append(Fraction(value))

    for x in range(inputs):
        require({("p", x, y): 1 for y in range(outputs)}, 1)
        costs = {("p", x, y): losses[y][x] - least for y in range(outputs)}
        require({**costs, ("worst",): -1, ("room", x): 1}, 0)
    for e, (x, other) in enumerate(edges):
        for y in range(outputs):
            excess = {("excess", e, y): -1}
            require({("p", x, y): 1, ("p", other, y): -factor, ("slack", e, y): 1, **excess}, 0)
        require({**{("excess", e, y): 1 for y in range(outputs)}, ("left", e): 1}, delta)
    cost = [Fraction(0)] * len(names)
    if prior is None:
        cost[place["worst",]] = Fraction(1)
    else:
        for x, y in ((x, y) for x in range(inputs) for y in range(outputs)):
            cost[place["p", x, y]] = prior[x] * (losses[y][x] - least)
    return minimise(cost, RationalMatrix(rows), right).cost + least
