"""Aldà and Simon 2017: when the exponential mechanism is optimal."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise

from leastnoise.checker import check
from leastnoise.designer.bounds import (
    exponential_share,
    exponential_upper_bound,
    layered_path,
    path_bound,
    path_optimum,
)
from leastnoise.designer.designer import design
from leastnoise.exact import exp_enclosure
from leastnoise.exact.matrices import RationalMatrix
from leastnoise.exact.programs import Optimum, minimise
from leastnoise.mechanisms import VectorLaplace
from leastnoise.model.channel import Channel
from leastnoise.model.graphs import DatasetGraph, cycle, from_edges, histograms, hypercube, path
from papers.claims import Claim, Paper, all_of
from papers.exponential_programs import path_claims, program_claims, sorting_claims

__all__ = ["PAPER"]

_PETERSEN = [
    *((i, (i + 1) % 5) for i in range(5)),
    *((i, i + 5) for i in range(5)),
    *((i + 5, (i + 2) % 5 + 5) for i in range(5)),
]
_GAMMAS = (Fraction(1, 2), Fraction(9, 10))


def claims() -> Iterator[Claim]:
    """In the order of the text."""
    yield _exponential_is_private()
    yield _distance_of_histograms()
    yield from program_claims()
    yield _optimal_on_regular_graphs()
    yield _layers()
    yield _infinite_paths()
    yield _formula_of_lemma_6()
    yield _growth_of_lemma_6()
    yield _bound_of_lemma_6()
    yield from path_claims()
    yield _path_bound()
    yield _premise_of_corollary_3()
    yield _exponential_on_a_path()
    yield _share_of_the_optimum()
    yield _sorting()
    yield from sorting_claims()


PAPER = Paper("exponential", "Aldà and Simon, On the optimality of the exponential mechanism, CSCML 2017", claims)


def _exponential(graph: DatasetGraph, gamma: Fraction) -> list[list[Fraction]]:
    """p(y|x) ∝ γ^d(x, y)."""
    weights = [[gamma ** int(d) for d in row] for row in graph.distances()]
    return [[weight / sum(row) for weight in row] for row in weights]


def _mean_distance(graph: DatasetGraph, rows: list[list[Fraction]]) -> Fraction:
    distances = graph.distances()
    total = sum(
        (p * int(d) for row, away in zip(rows, distances, strict=True) for p, d in zip(row, away, strict=True)),
        start=Fraction(0),
    )
    return total / len(rows)


def _exponential_is_private() -> Claim:
    def private(graph: DatasetGraph, base: int) -> bool:
        return bool(check(Channel(_exponential(graph, Fraction(1, base)), graph.nodes), graph, f"2*ln({base})"))

    graphs = (path(7), cycle(6), histograms(3, 3))
    cases = ((f"{graph.name}, e^ε = {base}", private(graph, base)) for graph in graphs for base in (2, 5))
    return all_of("Lemma 1", "weights e^(−ε·d) are 2ε-private", cases)


def _distance_of_histograms() -> Claim:
    graph = histograms(4, 3)
    nodes = [tuple(map(int, str(node).strip("()").split(","))) for node in graph.nodes]
    distances = graph.distances()
    pairs = [(i, j) for i in range(len(nodes)) for j in range(i)]
    equal = all(2 * int(distances[i, j]) == sum(map(abs, map(int.__sub__, nodes[i], nodes[j]))) for i, j in pairs)
    says = "in histograms of N users the distance is half of the ℓ₁ distance"
    return Claim("Example 1", says, f"N = 4, T = 3: compared on {len(pairs)} pairs", equal)


def _optimal_on_regular_graphs() -> Claim:
    """The loss of the exponential mechanism against the exact optimum of the linear program."""
    graphs = (cycle(12), hypercube(4), from_edges(_PETERSEN))
    names = ("cycle of 12", "4-cube", "Petersen graph")

    def equal(graph: DatasetGraph) -> bool:
        rows = _exponential(graph, Fraction(1, 2))
        best = design(graph, "ln(2)", route="symmetry")
        private = bool(check(Channel(rows, graph.nodes), graph, "ln(2)"))
        return private and best.is_optimal and best.loss.lower == _mean_distance(graph, rows)

    cases = ((name, equal(graph)) for name, graph in zip(names, graphs, strict=True))
    says = "vertex-transitive with regular layers: weights e^(−ε·d) are ε-private and optimal"
    return all_of("Theorem 1", says, cases)


def _layered_optimum(graph: DatasetGraph, start: int, gamma: Fraction) -> Fraction | None:
    """LP[5]: the least mean distance from a node where each step away keeps at least γ of the probability."""
    away = [int(d) for d in graph.distances()[start]]
    steps = [(u, v) if away[u] < away[v] else (v, u) for u, v in graph.edges().tolist() if away[u] != away[v]]
    size = len(away)
    rows = [[Fraction(1)] * size + [Fraction(0)] * len(steps)]
    for place, (near, far) in enumerate(steps):  # p_far − γ·p_near − slack = 0
        row = [Fraction(0)] * (size + len(steps))
        row[far], row[near], row[size + place] = Fraction(1), -gamma, Fraction(-1)
        rows.append(row)
    cost = [Fraction(d) for d in away] + [Fraction(0)] * len(steps)
    found = minimise(cost, RationalMatrix(rows), [Fraction(1)] + [Fraction(0)] * len(steps))
    return found.cost if isinstance(found, Optimum) else None


def _layers() -> Claim:
    def equal(graph: DatasetGraph, gamma: Fraction) -> bool:
        weights = [gamma ** int(d) for d in graph.distances()[0]]
        even = sum(w * int(d) for w, d in zip(weights, graph.distances()[0], strict=True)) / sum(weights)
        return _layered_optimum(graph, 0, gamma) == even

    graphs = (hypercube(3), cycle(7), from_edges(_PETERSEN))
    cases = ((f"{graph.name}, γ = {gamma}", equal(graph, gamma)) for graph in graphs for gamma in _GAMMAS)
    return all_of("Lemma 5", "with regular layers, equality everywhere solves LP[5]", cases)


def _infinite_paths() -> Claim:
    """Sums over 2000 steps, which leave out less than 10^-80."""
    far = 2000

    def near(gamma: Fraction) -> bool:
        powers = [gamma**d for d in range(far)]
        first = sum((d * p for d, p in enumerate(powers)), start=Fraction(0))
        one, two = first / sum(powers), 2 * first / (2 * sum(powers) - 1)
        small = Fraction(1, 10**60)
        return abs(one - gamma / (1 - gamma)) < small and abs(two - 2 * gamma / (1 - gamma**2)) < small

    cases = ((f"γ = {gamma}", near(gamma)) for gamma in _GAMMAS)
    return all_of("Example 3", "infinite paths: γ/(1 − γ) from an end, 2γ/(1 − γ²) from the middle", cases)


def _formula_of_lemma_6() -> Claim:
    def equal(reach: int, base: int) -> bool:
        formula = layered_path(reach, f"ln({base})")
        return formula.is_exact and formula.lower == _layered_optimum(path(2 * reach + 1), reach, Fraction(1, base))

    cases = ((f"ℓ = {reach}, γ = 1/{base}", equal(reach, base)) for reach in (1, 2, 5) for base in (2, 3))
    return all_of("Lemma 6, (11)", "f(ℓ) = 2Σγ^d·d/(1 + 2Σγ^d)", cases)


def _growth_of_lemma_6() -> Claim:
    def grows(base: int) -> bool:
        values = [layered_path(reach, f"ln({base})").lower for reach in range(1, 30)]
        return all(low < high for low, high in pairwise(values))

    return all_of("Lemma 6, 2", "f grows strictly", ((f"γ = 1/{base}", grows(base)) for base in (2, 10)))


def _bound_of_lemma_6() -> Claim:
    def above(reach: int, base: int) -> bool:
        gamma = Fraction(1, base)
        factor = 1 - gamma**reach - reach * gamma**reach * (1 - gamma)
        value = layered_path(reach, f"ln({base})").lower
        slack = reach * (1 - gamma)
        simple = 1 - (slack + 1) * exp_enclosure(-slack).lower
        limit = 2 * gamma / (1 - gamma**2)
        return limit * factor < value < limit and limit * simple < value

    cases = ((f"ℓ = {reach}, γ = 1/{base}", above(reach, base)) for reach in (1, 3, 10) for base in (2, 5))
    return all_of("Lemma 6, (12) and (13)", "2γ/(1−γ²)·(1 − γ^ℓ − ℓγ^ℓ(1−γ)) < f(ℓ) < 2γ/(1−γ²)", cases)


def _path_bound() -> Claim:
    cases = (
        (f"K = {nodes}, ε = {epsilon}", path_bound(nodes, epsilon).upper <= path_optimum(nodes, epsilon).lower)
        for nodes in (100, 1000, 10**5)
        for epsilon in ("1", "1/4")
    )
    return all_of("Theorem 2", "the optimum on a path is at least the smaller of two terms", cases)


def _premise_of_corollary_3() -> Claim:
    """Is the second term really the smaller one at the least K that the corollary allows?"""

    def second_is_smaller(gamma: Fraction, s: int) -> bool:
        reach = math.ceil(s / (1 - gamma))
        nodes = max(math.ceil(s * s * reach * (1 + gamma) / gamma), 4 * reach)
        first = 1 - Fraction(4 * s * reach, nodes)
        second = 2 * gamma / (1 + gamma) * (1 - Fraction(1, s)) * (1 - (s + 1) * exp_enclosure(-s).upper)
        return second <= first

    cases = (
        (f"γ = {gamma}, s = {s}", second_is_smaller(gamma, s))
        for gamma in (Fraction(1, 2), Fraction(7, 10), Fraction(9, 10))
        for s in (2, 3)
    )
    says = "for K ≥ s²ℓ(1 + γ)/γ and s ≥ 2 the minimum of Theorem 2 is its second term"
    return all_of(
        "Corollary 3", says, cases, "K ≥ 4s²ℓ is enough; and the bound is 2γ/(1−γ²)·(1 − 1/s)·(1 − (s+1)e^-s)"
    )


def _exponential_on_a_path() -> Claim:
    cases = (
        (
            f"K = {nodes}, γ = 1/{base}",
            _mean_distance(path(nodes), _exponential(path(nodes), Fraction(1, base)))
            < exponential_upper_bound(f"ln({base})").lower,
        )
        for nodes in (2, 10, 40)
        for base in (2, 5)
    )
    return all_of("Lemma 7", "weights e^(−ε·d) cost less than 2γ/(1 − γ²) on a path", cases)


def _share_of_the_optimum() -> Claim:
    """e^ε = 4, so that the weights e^(−ε·d/2) = 2^-d are rational."""
    nodes, s = 60, 2
    ours = _mean_distance(path(nodes), _exponential(path(nodes), Fraction(1, 2)))
    share = path_optimum(nodes, "ln(4)").lower / ours
    bound = exponential_share(nodes, "ln(4)", s).upper
    return Claim(
        "Corollary 4",
        "the optimum is at least √γ/(1 + γ)·(1 − 1/s)(1 − (s + 1)e^-s) of the exponential mechanism's loss",
        f"K = 60, e^ε = 4, s = 2: {float(share):.4f}, bound {float(bound):.4f}",
        share >= bound,
    )


def _sorting() -> Claim:
    """Only the largest value is asked for: Laplace noise 2/ε does it, whatever N is."""
    epsilon, total = Fraction(1, 8), 10**12
    noise = VectorLaplace(epsilon, 1, 2).error().expected.upper
    claimed = math.sqrt(total / float(epsilon))
    return Claim(
        "Theorem 3, case 2",
        "for N ≥ 1/(2ε) every mechanism errs by a constant times √(N/ε)",
        f"r = 1, ε = 1/8, N = 10^12: Laplace noise errs by {float(noise):.1f}, √(N/ε) = {claimed:.3g}",
        float(noise) >= claimed / 1000,
        "only for N up to about r²/(4ε); beyond that case 3, r/ε, is what holds",
    )
