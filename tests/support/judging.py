"""The exact privacy of one release: the law of what is drawn at two true answers, judged against what was charged."""

from fractions import Fraction
from functools import cache, lru_cache
from itertools import permutations, product
from math import prod

import numpy as np

from leastnoise.checker import check
from leastnoise.composition import cost_of
from leastnoise.composition.gaussian import delta_of
from leastnoise.composition.normal_form import parts_of
from leastnoise.exact import Enclosure, exact_exp, exp_above
from leastnoise.mechanisms import (
    Gaussian,
    Geometric,
    KNorm,
    MarginalsMechanism,
    NoisyTopK,
    PureMarginalsMechanism,
    PureStrategyMechanism,
    StrategyMechanism,
    VectorLaplace,
)
from leastnoise.mechanisms.choice.top_k import TopK
from leastnoise.mechanisms.choice.unknown_options import UnknownTopK
from leastnoise.mechanisms.combinatorial.graph_input import read_graph
from leastnoise.mechanisms.combinatorial.min_cut.cut_mechanism import CutMechanism
from leastnoise.mechanisms.combinatorial.vertex_cover.cover_order import VertexCoverOrder
from leastnoise.mechanisms.combinatorial.vertex_cover.degree_order import DegreeOrder
from leastnoise.mechanisms.designed.product_mechanism import ProductMechanism
from leastnoise.mechanisms.designed.remapped_geometric import RemappedGeometric
from leastnoise.mechanisms.histogram import IndependentNoise, MappedNoise
from leastnoise.mechanisms.histogram.keys_found import KeysFound
from leastnoise.mechanisms.histogram.noisy_threshold import ThresholdedCounts
from leastnoise.mechanisms.histogram.selection_noise import SelectionNoise
from leastnoise.mechanisms.rank import QuantileTable
from leastnoise.mechanisms.rank.tally import Tally
from leastnoise.model.channel import Channel
from leastnoise.model.events import Approximate, Composed
from leastnoise.model.graphs import path


def is_private(mechanism, event, before, after, cells=None):
    """Whether a release tells the two true answers apart by no more than its event charges.

    Args:
        mechanism: What draws the answer.
        event: What is charged.
        before: The true answer, as the query reads it.
        after: That of a neighbour.
        cells: For a mechanism with noise on the cells of a histogram: the two histograms.
    """
    cost = cost_of(event)
    if isinstance(mechanism, IndependentNoise):
        noises = [block.noise for block in mechanism.blocks for _ in range(block.count)]
        return _sums_within(list(zip(noises, _difference(before, after), strict=True)), event)
    if isinstance(mechanism, NoisyTopK):  # what leaves is computed from the noisy scores
        return is_private(mechanism.noise, event, before, after)
    if isinstance(mechanism, MappedNoise):  # what leaves is computed from the noisy cells
        return _sums_within([(mechanism.noise, d) for d in _difference(*cells)], event)
    if isinstance(mechanism, VectorLaplace):
        noise = Geometric(mechanism.epsilon, mechanism.sensitivity)
        return _sums_within([(noise, d) for d in _difference(before, after)], event)
    if isinstance(mechanism, PureMarginalsMechanism):
        moved = _difference(*map(mechanism.measure, (before, after)))
        return _sums_within(list(zip(mechanism.cell_noises, moved, strict=True)), event)
    if isinstance(mechanism, PureStrategyMechanism):
        moved = _difference(*map(mechanism.measure, cells or (before, after)))
        return _sums_within([(mechanism.geometric, d) for d in moved], event)
    if isinstance(mechanism, StrategyMechanism):
        moved = _difference(*map(mechanism.measure, cells or (before, after)))
        return _mu_within(sum(Fraction(d * d) / mechanism.variance for d in moved), event)
    if isinstance(mechanism, MarginalsMechanism):
        sides = [[int(y) for part in mechanism.measure(side) for y in part.ravel()] for side in (before, after)]
        variances = [variance for block in mechanism.blocks for variance in block.variances()]
        moved = zip(_difference(*sides), variances, strict=True)
        return _mu_within(sum(Fraction(d * d) / variance for d, variance in moved), event)
    if isinstance(mechanism, KNorm):  # a norm: no output tells more than the true answer itself
        answers = [tuple(int(v) for v in side) for side in (before, after)]
        here, there = (mechanism.pmf(answers[0], side) for side in answers)
        return here.lower <= exp_above(cost.epsilon) * there.upper
    if isinstance(mechanism, DegreeOrder):  # what leaves is computed from the noisy degrees
        degrees = (read_graph(side, mechanism.nodes).degrees() for side in (before, after))
        return is_private(mechanism.noise, event, *degrees)
    if isinstance(mechanism, VertexCoverOrder):
        sides = (frozenset(map(tuple, side.tolist())) for side in (before, after))
        return _judged([_law_of_orders(mechanism, side) for side in sides], cost)
    if isinstance(mechanism, CutMechanism):
        return _judged([list(mechanism.law(side).values()) for side in (before, after)], cost)
    if isinstance(mechanism, KeysFound):
        return _found_within(mechanism, event, before, after)
    if isinstance(mechanism, UnknownTopK):
        names = {key: number for number, key in enumerate({**before, **after})}
        sides = [{names[key]: count for key, count in side.items()} for side in (before, after)]
        lists = [tuple(p) for size in range(mechanism.k + 1) for p in permutations(names.values(), size)]
        return _judged([[mechanism.pmf(output, side, 256) for output in lists] for side in sides], cost)
    if isinstance(mechanism, ThresholdedCounts):
        return _judged(_threshold_rows(mechanism, before, after), cost)
    if isinstance(mechanism, RemappedGeometric):
        return _coordinate_tight(mechanism, before, after) <= cost.epsilon
    if isinstance(mechanism, ProductMechanism):  # independent coordinates: their least ε add up
        moved = zip(mechanism.parts, before, after, strict=True)
        return sum((_coordinate_tight(*each) for each in moved), start=Fraction(0)) <= cost.epsilon
    if isinstance(mechanism, QuantileTable):
        return _groups_within(mechanism, event, before, after)
    rows = [[mechanism.pmf(output, side) for output in _outputs(mechanism)] for side in (before, after)]
    return _judged(rows, cost)


@lru_cache(maxsize=64)
def _law_of_orders(mechanism, edges):
    return [mechanism.pmf(order, list(edges)) for order in permutations(mechanism.nodes)]


def _groups_within(mechanism, event, before, after):
    """Every group has noise of its own: no more of them change than are paid for, and each part keeps its share."""
    shares = event.events if isinstance(event, Composed) and len(mechanism.parts) * mechanism.touched > 1 else (event,)
    assert len(shares) == len(mechanism.parts) * mechanism.touched
    changed = [(one, other) for one, other in zip(before, after, strict=True) if (one != other).any()]
    return len(changed) <= mechanism.touched and all(
        is_private(part, share, Tally(one), Tally(other))
        for one, other in changed
        for part, share in zip(mechanism.parts, shares, strict=False)
    )


def _difference(before, after):
    return [int(b) - int(a) for a, b in zip(np.ravel(before), np.ravel(after), strict=True)]


def _sums_within(changed, event):
    """Independent noises: their privacy losses add up, for pure privacy exactly, for Gaussian noise by their μ²."""
    changed = [(noise, abs(d)) for noise, d in changed if d]
    if not changed:
        return True
    if any(isinstance(noise, Gaussian) for noise, _ in changed):
        return _mu_within(sum(Fraction(d * d) / noise.variance for noise, d in changed), event)
    return sum((_tight(noise, d) for noise, d in changed), start=Fraction(0)) <= cost_of(event).epsilon


def _mu_within(mu_squared, event):
    if isinstance(event, Approximate):
        return not mu_squared or delta_of(mu_squared, event.epsilon).upper <= event.delta
    return mu_squared <= parts_of(event).mu_squared


@lru_cache(maxsize=4096)
def _tight(noise, d):
    """The least ε of one noisy number that changes by d, by the checker: from 2Δ + d on both sides nothing is new."""
    if isinstance(noise, Geometric) and exact_exp(noise.rate) is None:
        return noise.rate * d  # (1 − α)/(1 + α)·α^|k| falls by α^d and no more
    if exact_exp(noise.epsilon) is None:  # judged by its own tests
        return noise.epsilon * -(-d // noise.sensitivity)
    last = 2 * noise.sensitivity + d + 1
    rows = []
    for x in (0, d):
        inner = [noise.noise_pmf(k - x) for k in range(-last, last + 1)]
        rows.append([noise.tail(last + 1 + x), *inner, noise.tail(last + 1 - x)])
    assert all(p.is_exact for row in rows for p in row), "choose an ε with rational laws"
    return check(Channel([[p.lower for p in row] for row in rows]), path(2), 0).tight_epsilon


def _coordinate_tight(mechanism, before, after):
    """The least ε between two counts of a designed mechanism, by the checker."""
    outputs = list(mechanism.problem.graph.nodes)
    rows = [[mechanism.pmf(output, side).lower for output in outputs] for side in (before, after)]
    return check(Channel(rows), path(2), 0).tight_epsilon


def _threshold_rows(mechanism, before, after):
    """Keys whose counts are equal have the same law on both sides and are left out."""
    keys = [key for key in {*before, *after} if before.get(key, 0) != after.get(key, 0)]
    last = mechanism.threshold + max([*before.values(), *after.values(), 0]) + 1
    places = [None, *range(mechanism.threshold, last + 1)]

    @cache
    def chance(count, place):
        if count == 0:
            return Enclosure(*[Fraction(int(place is None))] * 2)
        if place is None:
            return mechanism.hidden(count)
        if place < last:
            return mechanism.noise.pmf(place, count)
        below = mechanism.noise.cdf(place - 1, count)
        return Enclosure(1 - below.upper, 1 - below.lower)

    def together(side, row):
        parts = [chance(side.get(key, 0), at) for key, at in zip(keys, row, strict=True)]
        return Enclosure(prod(p.lower for p in parts), prod(p.upper for p in parts))

    outputs = list(product(places, repeat=len(keys)))
    return [[together(side, row) for row in outputs] for side in (before, after)]


def _found_within(mechanism, event, before, after):
    """All changed numbers and totals within the price, and new keys shown within its δ.

    It supposes nothing of which keys show: at worst all changed numbers are seen, and all changes of totals.
    """
    event, zeros = mechanism.event if isinstance(event, Approximate) else event, (0,) * len(mechanism.noises)
    pairs = [(before.get(key, zeros), after.get(key, zeros)) for key in {*before, *after}]
    changed = [pair for pair in pairs if pair[0] != pair[1]]
    moves = [[abs(a - b) for a, b in zip(*pair, strict=True)] for pair in changed]
    moved = [(noise, d) for row in moves for noise, d in zip(mechanism.noises, row, strict=True)]
    moved += [(noise, sum(row[i] for row in moves)) for i, noise in enumerate(mechanism.rest)]
    own = [max(a[0], b[0]) for a, b in changed if not a[0] or not b[0]]
    shown = [mechanism.noises[0].cdf(mechanism.threshold - 1, count).lower for count in own]
    lost, parts = 1 - prod(shown, start=Fraction(1)), parts_of(event)
    if isinstance(mechanism.noises[0], Gaussian):
        mu_squared = sum((Fraction(d * d) / noise.variance for noise, d in moved), start=Fraction(0))
        return mu_squared <= parts.mu_squared and lost <= parts.delta
    rates = [n.epsilon if isinstance(n, SelectionNoise) else n.rate for n, _ in moved]
    pure = sum((rate * d for rate, (_, d) in zip(rates, moved, strict=True)), start=Fraction(0))
    return pure <= parts.epsilon and lost <= parts.delta


def _outputs(mechanism):
    if isinstance(mechanism, TopK):
        return list(permutations(mechanism.candidates, mechanism.k))
    if hasattr(mechanism, "lattice"):
        points = mechanism.lattice.points(np.arange(mechanism.lattice.last + 1)).tolist()
        return list(product(points, repeat=len(mechanism.levels))) if hasattr(mechanism, "levels") else points
    return list(getattr(mechanism, "options", None) or mechanism.candidates)


def _judged(rows, cost):
    """By the checker where the law is exact; else no output may surely break the promise."""
    epsilon, delta = cost.basic
    if all(getattr(p, "is_exact", True) for row in rows for p in row):
        exact = [[getattr(p, "lower", p) for p in row] for row in rows]
        whole = [[*row, 1 - sum(row)] for row in exact]
        return bool(check(Channel(whole), path(2), epsilon, delta))
    most = exp_above(epsilon)
    for one, other in (rows, rows[::-1]):
        excess = sum(max(p.lower - most * q.upper, Fraction(0)) for p, q in zip(one, other, strict=True))
        if excess > delta:
            return False
    return True
