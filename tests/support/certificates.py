"""Certificates to test with: the design program and its dual solved exactly on small graphs."""

from fractions import Fraction

from leastnoise.exact.matrices import RationalMatrix
from leastnoise.exact.programs import minimise
from leastnoise.model import Multiplier, OptimalityCertificate
from leastnoise.model.channel import Channel
from leastnoise.model.privacy import Privacy
from support.privacy import ordered_pairs


class Design:
    """min Σ π_x ℓ(y, x) p(y|x), or min z with Σ_y ℓ(y, x) p(y|x) ≤ z, over private channels with given factors."""

    def __init__(self, graph, factors, loss, prior=None, delta=Fraction(0)):
        inputs, outputs = len(graph.nodes), len(loss)
        pairs = [(x, other, factors[length]) for x, other, length in ordered_pairs(graph)]
        width = 0

        def fresh(count):
            nonlocal width
            width += count
            return range(width - count, width)

        p = [fresh(outputs) for _ in range(inputs)]
        rows, right = [], []
        for x in range(inputs):
            rows.append(dict.fromkeys(p[x], 1))
            right.append(1)
        close = {}
        for x, other, factor in pairs:
            spill = fresh(outputs) if delta else None
            for y in range(outputs):
                close[x, other, y] = len(rows)
                row = {p[x][y]: 1, p[other][y]: -factor, fresh(1)[0]: 1}
                if spill:
                    row[spill[y]] = -1
                rows.append(row)
                right.append(0)
            if spill:
                rows.append({**dict.fromkeys(spill, 1), fresh(1)[0]: 1})
                right.append(delta)
        cost = {}
        limits = []
        if prior is None:
            z = fresh(1)[0]
            cost[z] = 1
            for x in range(inputs):
                limits.append(len(rows))
                rows.append({**{p[x][y]: loss[y][x] for y in range(outputs)}, z: -1, fresh(1)[0]: 1})
                right.append(0)
        else:
            cost = {p[x][y]: prior[x] * loss[y][x] for x in range(inputs) for y in range(outputs)}
        matrix = RationalMatrix([[Fraction(row.get(v, 0)) for v in range(width)] for row in rows])
        best = minimise([cost.get(v, 0) for v in range(width)], matrix, right)
        self.value = best.cost
        self.channel = Channel([[best.point[v] for v in p[x]] for x in range(inputs)], graph.nodes, None)
        self.prior = tuple(prior) if prior else tuple(-best.prices[row] for row in limits)
        self.multipliers = tuple(
            Multiplier(*place, -best.prices[row]) for place, row in close.items() if best.prices[row]
        )


def distance_loss(graph):
    return tuple(tuple(Fraction(int(d)) for d in row) for row in graph.distances())


def optimality_certificate(graph, privacy, factors, channel, dual, loss, objective, value):
    return OptimalityCertificate(
        graph,
        privacy,
        channel,
        objective,
        dual.prior,
        loss,
        value,
        dual.value,
        value - dual.value,
        tuple(sorted(factors.items())),
        dual.multipliers,
    )


def average(graph, t, delta=0, prior=None):
    """The best channel for the average distance at e^ε = t, with its proof."""
    loss = distance_loss(graph)
    size = len(graph.nodes)
    prior = prior or (Fraction(1, size),) * size
    design = Design(graph, {Fraction(1): t}, loss, prior, Fraction(delta))
    privacy = Privacy(f"ln({t})", delta)
    return optimality_certificate(
        graph, privacy, {Fraction(1): t}, design.channel, design, loss, "average", design.value
    )


def worst(graph, t, delta=0):
    """The best channel for the largest expected distance at e^ε = t, with its proof."""
    loss = distance_loss(graph)
    design = Design(graph, {Fraction(1): t}, loss, None, Fraction(delta))
    privacy = Privacy(f"ln({t})", delta)
    return optimality_certificate(graph, privacy, {Fraction(1): t}, design.channel, design, loss, "worst", design.value)
