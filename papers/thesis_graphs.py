"""Tóthmérész 2013 on graphs, by going through every graph on four nodes: cuts, covers, and what they cost."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import combinations, permutations

from leastnoise.checker import check
from leastnoise.exact.matrices import RationalMatrix
from leastnoise.exact.programs import Optimum, minimise
from leastnoise.mechanisms.lower_bounds import min_cut_bound, vertex_cover_bound
from leastnoise.model.channel import Channel
from leastnoise.model.graphs import DatasetGraph, from_edges
from papers.claims import Claim, all_of

__all__ = ["graph_claims"]

Edge = tuple[int, int]
Graph = frozenset[Edge]
Cut = frozenset[int]

# Found by search: between this graph on six nodes with and without an edge, for this order of raising the cut,
# Algorithm 2 at e^ε = 100 needs more than 2ε.
_WITNESS = frozenset({(0, 1), (0, 3), (0, 5), (1, 2), (1, 4), (1, 5), (2, 4), (4, 5)})
_WITNESS_EDGE = (2, 3)
_WITNESS_LADDER = (
    *((0, 4), (2, 5), (0, 2), (3, 5), (1, 3), (0, 1), (4, 5), (1, 5)),
    *((1, 4), (0, 3), (2, 4), (0, 5), (1, 2), (3, 4), (2, 3)),
)


def graph_claims() -> Iterator[Claim]:
    """In the order of the text."""
    yield _contracted_to_two()
    yield _number_of_cuts()
    yield _many_contractions()
    yield _algorithm_1()
    yield _algorithm_2()
    yield _algorithm_2_at_half()
    yield _cost_of_algorithm_2()
    yield _sum_of_proposition_2()
    yield _restarted()
    yield _cost_of_algorithm_3()
    yield _k_norm_of_cuts()
    yield _always_a_cover()
    yield _algorithm_5()
    yield _size_of_the_cover()
    yield _cut_bound()
    yield _cover_bound()


def _edges(nodes: int) -> list[Edge]:
    return list(combinations(range(nodes), 2))


def _graphs(nodes: int) -> list[Graph]:
    edges = _edges(nodes)
    return [frozenset(chosen) for size in range(len(edges) + 1) for chosen in combinations(edges, size)]


def _neighbours(nodes: int) -> DatasetGraph:
    """All graphs on so many nodes; neighbours differ by one edge."""
    return from_edges([(g, g | {edge}) for g in _graphs(nodes) for edge in _edges(nodes) if edge not in g])


def _cuts(nodes: int) -> list[Cut]:
    """One side of every cut: the one without the last node."""
    return [frozenset(side) for size in range(1, nodes) for side in combinations(range(nodes - 1), size)]


def _cost(graph: Graph, cut: Cut) -> int:
    return sum((u in cut) != (v in cut) for u, v in graph)


def _least(graph: Graph, nodes: int) -> int:
    return min(_cost(graph, cut) for cut in _cuts(nodes))


def _shares(weights: Sequence[Fraction]) -> list[Fraction]:
    total = sum(weights)
    return [weight / total for weight in weights]


def _number_of_cuts() -> Claim:
    nodes = 4
    cases = (
        (
            f"{sorted(graph)}, factor {factor}",
            sum(_cost(graph, cut) <= factor * _least(graph, nodes) for cut in _cuts(nodes)) <= nodes ** (2 * factor),
        )
        for graph in _graphs(nodes)
        if _least(graph, nodes) > 0
        for factor in (1, 2)
    )
    return all_of("Corollary 2.1", "a connected graph has at most n^2k cuts of size at most k·c", cases)


def _contracted(graph: Graph, nodes: int, most: int) -> dict[Cut, Fraction]:
    """Karger's algorithm: contract random edges until `most` nodes are left, and take one of their cuts at random."""

    def merged(parts: tuple[Cut, ...]) -> dict[Cut, Fraction]:
        if len(parts) <= most:
            sides = [frozenset().union(*some) for size in range(1, len(parts)) for some in combinations(parts, size)]
            chosen = [side for side in sides if nodes - 1 not in side]
            return dict.fromkeys(chosen, Fraction(1, len(chosen)))
        between = {
            (one, other): sum((u in one and v in other) or (u in other and v in one) for u, v in graph)
            for one, other in combinations(parts, 2)
        }
        found: dict[Cut, Fraction] = {}
        for (one, other), weight in between.items():
            if weight:
                rest = tuple(part for part in parts if part not in (one, other))
                for side, chance in merged((*rest, one | other)).items():
                    share = chance * Fraction(weight, sum(between.values()))
                    found[side] = found.get(side, Fraction(0)) + share
        return found

    return merged(tuple(frozenset({node}) for node in range(nodes)))


def _contracted_to_two() -> Claim:
    road = frozenset({(0, 1), (1, 2)})
    chance = _contracted(road, 3, 2).get(frozenset({1}), Fraction(0))
    return Claim(
        "Section 2.3.2, before Corollary 2.1",
        "Karger's algorithm gives each cut of size at most k·c with probability at least n^-2k",
        f"the path of three nodes, k = 2: its middle node alone comes out with probability {chance}",
        chance >= Fraction(1, 3**4),
        "contract to 2k nodes only, and take one of their cuts at random",
    )


def _many_contractions() -> Claim:
    """P(missed) = (1 − p)^m ≤ e^(−pm) with m = n^(2k+1), so that p ≥ n^-2k is what it takes; every cut is looked at."""
    nodes = 4
    cases = (
        (
            f"{sorted(graph)}, k = {factor}",
            all(
                _contracted(graph, nodes, 2 * factor).get(cut, 0) >= Fraction(1, nodes ** (2 * factor))
                for cut in _cuts(nodes)
                if _cost(graph, cut) <= factor * _least(graph, nodes)
            ),
        )
        for graph in _graphs(nodes)
        if _least(graph, nodes) > 0
        for factor in (1, 2)
    )
    says = "n^(2k+1) runs miss a cut of size at most k·c with probability at most e^-n (contracted to 2k nodes)"
    return all_of("Corollary 2.2", says, cases)


def _restricted(graph: Graph, base: int) -> tuple[list[Fraction], list[Fraction]]:
    """The law on all cuts, and on those of at most three times the least cost."""
    weights = [Fraction(1, base) ** _cost(graph, cut) for cut in _cuts(4)]
    few = [
        w if _cost(graph, c) <= 3 * _least(graph, 4) else Fraction(0) for w, c in zip(weights, _cuts(4), strict=True)
    ]
    return _shares(weights), _shares(few)


def _restarted() -> Claim:
    """Starting again until a listed cut comes out has the law on those cuts, and moves no event by more than the rest.

    Then it is (ε', (1 + e^ε')·η)-private where the law on all cuts is ε'-private, η the probability of the rest. For a
    constant ε that is O(1/n²), as printed.
    """

    def near(graph: Graph, base: int) -> bool:
        whole, few = _restricted(graph, base)
        rest = 1 - sum(p for p, kept in zip(whole, few, strict=True) if kept)
        return sum(max(q - p, Fraction(0)) for p, q in zip(whole, few, strict=True)) == rest

    cases = ((f"{sorted(graph)}, e^ε = {base}", near(graph, base)) for graph in _graphs(4) for base in (2, 10))
    says = "sampling among few cuts changes each event by the probability of the others at most"
    return all_of("Proposition 2.3, in its proof", says, cases)


def _cost_of_algorithm_2() -> Claim:
    """On K_n the ladder adds nothing. With ε = 2/n the cuts that halve it have nearly all the mass."""

    def ratio(nodes: int) -> float:
        epsilon, sizes = 2 / nodes, range(1, nodes)
        logs = [
            math.lgamma(nodes + 1) - math.lgamma(s + 1) - math.lgamma(nodes - s + 1) - epsilon * s * (nodes - s)
            for s in sizes
        ]
        weights = [math.exp(log - max(logs)) for log in logs]
        mean = sum(w * s * (nodes - s) for w, s in zip(weights, sizes, strict=True)) / sum(weights)
        return (mean - (nodes - 1)) * epsilon / math.log(nodes)

    ratios = {nodes: ratio(nodes) for nodes in (100, 1000, 10_000)}
    return Claim(
        "Proposition 2.2",
        "for any graph and ε < 1 the cost is at most c(G) + C·ln n/ε, with one C",
        "K_n, ε = 2/n, needs C of " + ", ".join(f"{value:.1f} at n = {nodes}" for nodes, value in ratios.items()),
        ratios[10_000] <= 2 * ratios[100],
        "for a constant ε and n − 1 > 8·ln n/ε, as the proof supposes",
    )


def _cost_of_algorithm_3() -> Claim:
    """The means of the two laws differ by the share that is left out, times the largest cost, at most."""

    def near(graph: Graph, base: int) -> bool:
        (whole, few), costs = _restricted(graph, base), [_cost(graph, cut) for cut in _cuts(4)]
        share = 1 - sum((p for p, kept in zip(whole, few, strict=True) if kept), Fraction(0))
        means = [sum((p * c for p, c in zip(law, costs, strict=True)), Fraction(0)) for law in (whole, few)]
        return abs(means[0] - means[1]) <= share * max(costs)

    cases = ((f"{sorted(graph)}, e^ε = {base}", near(graph, base)) for graph in _graphs(4) for base in (2, 10))
    says = "the expected costs of Algorithms 2 and 3 differ by P(another cut)·n² at most"
    return all_of("Proposition 2.4, in its proof", says, cases)


def _cut_channel(base: int) -> Channel:
    nodes, graphs = 4, _neighbours(4)
    rows = [_shares([Fraction(1, base) ** _cost(graph, cut) for cut in _cuts(nodes)]) for graph in _all(graphs)]
    return Channel(rows, inputs=graphs.nodes, outputs=_cuts(nodes))


def _all(graphs: DatasetGraph) -> list[Graph]:
    return [graph for graph in graphs.nodes if isinstance(graph, frozenset)]


def _algorithm_1() -> Claim:
    verdicts = [(base, check(_cut_channel(base), _neighbours(4), f"2*ln({base})")) for base in (2, 10)]
    shown = ", ".join(f"e^ε = {base}: tight {float(v.tight_epsilon) / math.log(base):.3f} ε" for base, v in verdicts)
    says = "Algorithm 1, cuts with weight e^(−ε·cost), is 2ε-private"
    return Claim("Section 2.3.2", says, shown, all(verdict.holds for _, verdict in verdicts))


def _raised(graph: Graph, nodes: int, base: int, ladder: Sequence[Edge]) -> list[Fraction]:
    """Algorithm 2: raise the cut towards 8·ln n/ε, e^(8·ln n) = n^8, then choose a cut."""
    weights, laws = [], []
    for size in range(len(ladder) + 1):
        raised = graph | set(ladder[:size])
        least = _least(raised, nodes)
        below = Fraction(base) ** least <= nodes**8
        weights.append(Fraction(base) ** least / nodes**8 if below else nodes**8 / Fraction(base) ** least)
        laws.append(_shares([Fraction(1, base) ** _cost(raised, cut) for cut in _cuts(nodes)]))
    shares = _shares(weights)
    return [sum((s * law[i] for s, law in zip(shares, laws, strict=True)), Fraction(0)) for i in range(len(laws[0]))]


def _algorithm_2() -> Claim:
    graphs = _neighbours(4)

    def private(base: int) -> bool:
        rows = [_raised(graph, 4, base, _edges(4)) for graph in _all(graphs)]
        return bool(check(Channel(rows, inputs=graphs.nodes), graphs, f"4*ln({base})"))

    cases = ((f"e^ε = {base}", private(base)) for base in (2, 100))
    return all_of("Proposition 2.1", "Algorithm 2 is 4ε-private (every graph on four nodes)", cases)


def _algorithm_2_at_half() -> Claim:
    pair = (_WITNESS, _WITNESS | {_WITNESS_EDGE})
    rows = [_raised(graph, 6, 100, _WITNESS_LADDER) for graph in pair]
    verdict = check(Channel(rows, inputs=pair), from_edges([pair]), "2*ln(100)")
    return Claim(
        "Note to Proposition 2.1",
        "Algorithm 2 is 2ε-private, as Gupta et al. have it",
        f"six nodes, e^ε = 100: tight {float(verdict.tight_epsilon) / math.log(100):.3f} ε",
        verdict.holds,
        "2ε for raising and ε for choosing: 3ε, for the costs of all cuts change in the same direction",
    )


def _sum_of_proposition_2() -> Claim:
    x, b = Fraction(1, 2), 3  # x = e^(−ε/2)
    total = (1 - x**2) * x ** (b + 1) / (1 - x)
    return Claim(
        "Proposition 2.2, the sum in its proof",
        "(1 − e^-ε)·Σ_{t>b} e^(−εt/2) = e^(−ε(b+1)/2) + e^(−ε(b+3)/2)",
        f"e^(−ε/2) = 1/2, b = 3: {total}, and printed {x ** (b + 1) + x ** (b + 3)}",
        total == x ** (b + 1) + x ** (b + 3),
        "e^(−ε(b+1)/2) + e^(−ε(b+2)/2); the bound 2/n² that follows stands",
    )


def _k_norm_of_cuts() -> Claim:
    """How many edges must change until a cut is a least one, against how much larger than the least it is."""
    graphs, cuts = _graphs(4), _cuts(4)
    best = {cut: [g for g in graphs if _cost(g, cut) == _least(g, 4)] for cut in cuts}
    pairs = [(graph, cut) for graph in graphs for cut in cuts]
    unequal = sum(
        min(len(graph ^ other) for other in best[cut]) != _cost(graph, cut) - _least(graph, 4) for graph, cut in pairs
    )
    return Claim(
        "Section 2.4",
        "for the min cut the K-norm mechanism is the exponential mechanism",
        f"the two exponents differ for {unequal} of {len(pairs)} graphs and cuts on four nodes",
        unequal == 0,
        "taking edges out of one cut also takes them out of others",
    )


def _always_a_cover() -> Claim:
    """Maximise P(at most n − 2 nodes) over all private mechanisms that always give a cover, exactly."""
    nodes, factor = 3, 2
    graphs = _graphs(nodes)
    sets = [frozenset(c) for size in range(nodes + 1) for c in combinations(range(nodes), size)]
    variables = [(g, s) for g in graphs for s in sets]
    column = {variable: i for i, variable in enumerate(variables)}
    rows: list[list[int]] = []
    right: list[int] = []
    pairs = [(g, h) for g in graphs for h in graphs if len(g ^ h) == 1]
    width = len(variables) + len(pairs) * len(sets)

    def add(entries: dict[int, int], value: int) -> None:
        rows.append([entries.get(i, 0) for i in range(width)])
        right.append(value)

    for g in graphs:
        add({column[g, s]: 1 for s in sets}, 1)
        for s in sets:
            if any(u not in s and v not in s for u, v in g):
                add({column[g, s]: 1}, 0)
    for place, (g, h) in enumerate(pairs):
        for i, s in enumerate(sets):  # p(s|g) + slack = e^ε·p(s|h)
            add({column[g, s]: 1, column[h, s]: -factor, len(variables) + place * len(sets) + i: 1}, 0)
    cost = [-1 if i < len(variables) and len(variables[i][1]) <= nodes - 2 else 0 for i in range(width)]
    found = minimise(cost, RationalMatrix(rows), right)
    most = -found.cost if isinstance(found, Optimum) else None
    return Claim(
        "Proposition 3.5",
        "a private mechanism that always gives a cover gives n − 1 nodes at least",
        f"n = 3, e^ε = 2: the largest probability of fewer, over all graphs together, is {most}",
        most == 0,
    )


def _orders(graph: Graph, nodes: int, epsilon: float) -> Iterator[tuple[tuple[int, ...], float, int]]:
    """Algorithm 5: every order of the nodes with its probability and the size of its cover, in doubles."""
    for order in permutations(range(nodes)):
        live, probability, size = set(graph), 1.0, 0
        for step, v in enumerate(order):
            left = nodes - step
            extra = 4 / epsilon * math.sqrt(nodes / left)
            degree = sum(v in edge for edge in live)
            probability *= (degree + extra) / (2 * len(live) + left * extra)
            size += degree > 0
            live = {edge for edge in live if v not in edge}
        yield order, probability, size


def _algorithm_5() -> Claim:
    """Factors of doubles against e^ε: the claim has room to spare, so their rounding does not matter."""

    def largest(epsilon: float) -> float:
        laws = {g: {order: p for order, p, _ in _orders(g, 4, epsilon)} for g in _graphs(4)}
        pairs = [(g, g | {e}) for g in laws for e in _edges(4) if e not in g]
        return max(abs(math.log(laws[g][o] / laws[h][o])) for g, h in pairs for o in laws[g])

    losses = {epsilon: largest(epsilon) for epsilon in (0.1, 1.0)}
    shown = ", ".join(f"ε = {epsilon}: at most {loss / epsilon:.3f} ε" for epsilon, loss in losses.items())
    holds = all(loss < 0.99 * epsilon for epsilon, loss in losses.items())
    return Claim("Proposition 3.6", "Algorithm 5 is ε-private (every graph on four nodes)", shown, holds)


def _size_of_the_cover() -> Claim:
    def smallest(graph: Graph) -> int:
        return min(
            size
            for size in range(5)
            for chosen in combinations(range(4), size)
            if all(u in chosen or v in chosen for u, v in graph)
        )

    def ratio(epsilon: float) -> float:
        found = ((g, sum(p * size for _, p, size in _orders(g, 4, epsilon))) for g in _graphs(4) if g)
        return max(mean / smallest(g) for g, mean in found)

    cases = ((f"ε = {epsilon}", ratio(epsilon) <= 2 + 16 / epsilon) for epsilon in (0.1, 1.0, 10.0))
    return all_of(
        "Proposition 3.7", "the cover of Algorithm 5 is expected to be at most 2 + 16/ε times too large", cases
    )


def _cut_bound() -> Claim:
    def enough(nodes: int, epsilon: Fraction) -> bool:
        return float(min_cut_bound(nodes, epsilon)) >= math.log(nodes) / (12 * float(epsilon))

    cases = (
        (f"n = {nodes}, ε = {epsilon}", enough(nodes, epsilon))
        for nodes in (1000, 10**6)
        for epsilon in (Fraction(3, 100), Fraction(1, 13))
    )
    return all_of("Theorem 4.2", "every private min cut errs by ln n/(12ε) on some graph", cases)


def _cover_bound() -> Claim:
    """The proof's last line fails, and so gives a bound, for every c below 1/(4e)."""
    cases = (
        (f"ε = {epsilon}", float(vertex_cover_bound(epsilon)) >= 1 / (4 * math.e * float(epsilon)))
        for epsilon in (Fraction(1, 100), Fraction(1, 10), Fraction(1))
    )
    return all_of(
        "Theorem 4.3", "every private order of the nodes errs by a factor c/ε on some graph, c = 1/(4e)", cases
    )
