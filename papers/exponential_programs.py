"""Aldà and Simon 2017: the linear programs LP[1] to LP[4] and what is derived from them, solved exactly."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import product

from leastnoise.designer.bounds import layered_path
from leastnoise.exact import exp_enclosure
from leastnoise.exact.matrices import RationalMatrix
from leastnoise.exact.programs import Optimum, minimise
from leastnoise.model.graphs import DatasetGraph, cycle, hypercube, path, sorted_histograms
from papers.claims import Claim, all_of

__all__ = ["path_claims", "program_claims", "sorting_claims"]

_HALF = Fraction(1, 2)
Rows = list[list[Fraction]]


def program_claims() -> Iterator[Claim]:
    """Sections 3 and 4."""
    yield _sorted_distance()
    yield _largest_entries()
    yield _same_sums()
    yield _division()
    yield _corollary_1()
    yield _equality()
    yield _lemma_4()
    yield _infinite()


def path_claims() -> Iterator[Claim]:
    """Section 5."""
    yield _claim_2()
    yield _inequalities()


def sorting_claims() -> Iterator[Claim]:
    """Section 6, cases 1 and 3."""
    yield _short_lists()
    yield _long_lists()


def _half_l1(one: tuple[int, ...], other: tuple[int, ...]) -> Fraction:
    return Fraction(sum(abs(a - b) for a, b in zip(one, other, strict=True)), 2)


def _unequal(graph: DatasetGraph) -> tuple[int, int]:
    """For how many pairs the distance is not ½ℓ₁, and of how many."""
    nodes, distances = list(graph.nodes), graph.distances()
    pairs = [(i, j) for i in range(len(nodes)) for j in range(i)]
    entries = [tuple(map(int, node)) for node in nodes if isinstance(node, tuple)]
    wrong = sum(int(distances[i, j]) != _half_l1(entries[i], entries[j]) for i, j in pairs)
    return wrong, len(pairs)


def _sorted_distance() -> Claim:
    cases = ((f"N = {n}, T = {t}", _unequal(sorted_histograms(n, t))[0] == 0) for n, t in ((6, 4), (8, 3), (7, 7)))
    return all_of("Example 2, all entries", "the distance of sorted histograms is ½ℓ₁", cases)


def _largest_entries() -> Claim:
    wrong, pairs = _unequal(sorted_histograms(6, 4, top=2))
    return Claim(
        "Example 2, the r largest entries",
        "the distance is ½ℓ₁ also if only the r largest entries are kept",
        f"N = 6, T = 4, r = 2: not for {wrong} of {pairs} pairs",
        wrong == 0,
        "½ℓ₁ with the number of records that are not seen as one more entry",
    )


def _optimum(graph: DatasetGraph, gamma: Fraction, sums: str) -> Fraction:
    """LP[1] ("rows"), LP[2] ("all") or LP[3] ("columns"): the least mean distance."""
    distances = graph.distances()
    size = len(distances)
    edges = [step for u, v in graph.edges().tolist() for step in ((u, v), (v, u))]
    width = size * size + len(edges) * size
    groups = {
        "rows": [[x * size + y for y in range(size)] for x in range(size)],
        "columns": [[x * size + y for x in range(size)] for y in range(size)],
        "all": [list(range(size * size))],
    }[sums]
    table = [[Fraction(int(column in set(group))) for column in range(width)] for group in groups]
    right = [len(group) // size for group in groups]
    for place, ((u, v), y) in enumerate(product(edges, range(size))):  # p(y|v) − γ·p(y|u) − slack = 0
        row = [Fraction(0)] * width
        row[v * size + y], row[u * size + y], row[size * size + place] = Fraction(1), -gamma, Fraction(-1)
        table.append(row)
        right.append(0)
    cost = [Fraction(int(distances[x, y]), size) for x in range(size) for y in range(size)]
    found = minimise(cost + [Fraction(0)] * (width - size * size), RationalMatrix(table), right)
    if not isinstance(found, Optimum):
        raise TypeError("the uniform mechanism is private")
    return found.cost


def _column(graph: DatasetGraph, y: int, gamma: Fraction) -> Fraction:
    """LP(y): the least mean distance from y of a distribution on the inputs that is private on all edges."""
    away = [int(d) for d in graph.distances()[y]]
    edges = [step for u, v in graph.edges().tolist() for step in ((u, v), (v, u))]
    size = len(away)
    table = [[Fraction(1)] * size + [Fraction(0)] * len(edges)]
    for place, (u, v) in enumerate(edges):
        row = [Fraction(0)] * (size + len(edges))
        row[v], row[u], row[size + place] = Fraction(1), -gamma, Fraction(-1)
        table.append(row)
    cost = [Fraction(d) for d in away] + [Fraction(0)] * len(edges)
    found = minimise(cost, RationalMatrix(table), [Fraction(1)] + [Fraction(0)] * len(edges))
    if not isinstance(found, Optimum):
        raise TypeError("the uniform distribution is private")
    return found.cost


def _same_sums() -> Claim:
    """Where all columns cost the same, LP[2], which may choose the cheapest ones, gains nothing by choosing."""

    def holds(graph: DatasetGraph) -> bool:
        values = {_optimum(graph, _HALF, sums) for sums in ("rows", "all", "columns")}
        return len(values) == 1

    cases = ((name, holds(graph)) for name, graph in (("cycle of 5", cycle(5)), ("square", hypercube(2))))
    return all_of("Lemma 2", "on a transitive graph the sums of all columns may be made equal at no cost", cases)


def _division() -> Claim:
    """The mechanism that always answers 0 is feasible for LP[2]: all of its other columns sum to nothing."""
    size = 5
    constant: Rows = [[Fraction(int(y == 0)) for y in range(size)] for _ in range(size)]
    sums = [sum(row[y] for row in constant) for y in range(size)]
    return Claim(
        "Lemma 2, in its proof",
        "every p(y|x) can be divided by K_y(p), the sum of its column",
        f"a mechanism that always gives the same output: K_y = {', '.join(map(str, sums))}",
        all(sums),
        "leave columns of zeros out of the average: some other one costs no more than the mean",
    )


def _corollary_1() -> Claim:
    graph, gamma = path(6), Fraction(1, 2)
    columns = [_column(graph, y, gamma) for y in range(6)]
    two, three = min(columns), sum(columns) / 6
    small = path(3)
    direct = (_optimum(small, gamma, "all"), _optimum(small, gamma, "columns"))
    agree = direct == (
        min(_column(small, y, gamma) for y in range(3)),
        sum(_column(small, y, gamma) for y in range(3)) / 3,
    )
    return Claim(
        "Corollary 1",
        "LP[2] and LP[3] have the same optimum",
        f"path of six, γ = 1/2: {float(two):.4f} and {float(three):.4f}; columns and whole programs agree: {agree}",
        two == three,
        "on graphs with a transitive group, as in Lemma 2; in general LP[2] is the least column, LP[3] their mean",
    )


def _even(graph: DatasetGraph, gamma: Fraction) -> Fraction:
    weights = [gamma ** int(d) for d in graph.distances()[0]]
    return sum((w * int(d) for w, d in zip(weights, graph.distances()[0], strict=True)), Fraction(0)) / sum(weights)


def _equality() -> Claim:
    cases = (
        (f"{name}, γ = {gamma}", _column(graph, 0, gamma) == _even(graph, gamma))
        for name, graph in (("cycle of 7", cycle(7)), ("3-cube", hypercube(3)))
        for gamma in (_HALF, Fraction(9, 10))
    )
    return all_of("Lemma 3", "transitive with regular layers: equality on all steps away is optimal", cases)


def _layer_program(sizes: list[int], gamma: Fraction, cost: list[Fraction], extra: list[Fraction] | None) -> Fraction:
    """LP[4] with any cost on (p, slacks), the mean distance fixed if `extra` says so."""
    steps = len(sizes) - 1
    table = [[Fraction(s) for s in sizes] + [Fraction(0)] * steps]
    right = [Fraction(1)]
    for d in range(steps):
        row = [Fraction(0)] * (2 * steps + 1)
        row[d + 1], row[d], row[steps + 1 + d] = Fraction(1), -gamma, Fraction(-1)
        table.append(row)
        right.append(Fraction(0))
    if extra is not None:
        table.append(extra[:-1])
        right.append(extra[-1])
    found = minimise(cost, RationalMatrix(table), right)
    if not isinstance(found, Optimum):
        raise TypeError("LP[4] is feasible")
    return found.cost


def _lemma_4() -> Claim:
    """The optimum, and among the optimal solutions the largest sum of slacks, which must be zero."""

    def holds(sizes: list[int], gamma: Fraction) -> bool:
        steps = len(sizes) - 1
        distance = [Fraction(s * d) for d, s in enumerate(sizes)] + [Fraction(0)] * steps
        best = _layer_program(sizes, gamma, distance, None)
        weights = [s * gamma**d for d, s in enumerate(sizes)]
        even = sum(d * w for d, w in enumerate(weights)) / sum(weights)
        slack = [Fraction(0)] * (steps + 1) + [Fraction(-1)] * steps
        return best == even and _layer_program(sizes, gamma, slack, [*distance, best]) == 0

    cases = (
        (f"layers {sizes}, γ = {gamma}", holds(sizes, gamma))
        for sizes in ([1, 2, 2, 1], [1, 5, 1], [1, 3, 3, 1], [1, 1, 9, 2, 4])
        for gamma in (_HALF, Fraction(9, 10))
    )
    return all_of("Lemma 4", "LP[4] has one optimum, with equality everywhere", cases)


def _infinite() -> Claim:
    """The infinite path from its end: u = γ/(1 − γ) and y_d = (d + 1)/(1 − γ) are prices that prove it by duality."""

    def holds(gamma: Fraction) -> bool:
        u = gamma / (1 - gamma)
        prices = [Fraction(d + 1) / (1 - gamma) for d in range(200)]
        first = 0 - u + gamma * prices[0] == 0
        return first and all(d - u - prices[d - 1] + gamma * prices[d] == 0 for d in range(1, 200))

    cases = ((f"γ = {gamma}, 200 layers", holds(gamma)) for gamma in (_HALF, Fraction(9, 10)))
    return all_of("Corollary 2", "with infinitely many layers equality is optimal too (the path from its end)", cases)


def _claim_2() -> Claim:
    cases = (
        (
            f"K = {nodes}, ℓ = {reach}, y = {y}",
            _column(path(nodes), y, _HALF) >= layered_path(reach, "ln(2)").upper,
        )
        for nodes in (8, 13)
        for reach in (1, 2)
        for y in range(reach, nodes - reach)
    )
    return all_of("Claim 2", "a column at least ℓ from both ends costs at least f(ℓ)", cases)


def _mechanisms(nodes: int, gamma: Fraction) -> dict[str, Rows]:
    """γ-private mechanisms on a path: constant, uniform, geometric cut at the ends, exponential with √γ = 1/2."""
    root = Fraction(1, 2)

    def shares(weights: list[Fraction]) -> list[Fraction]:
        return [w / sum(weights) for w in weights]

    def cut(x: int, y: int) -> Fraction:
        ends = 1 / (1 + gamma) if y in (0, nodes - 1) else (1 - gamma) / (1 + gamma)
        return ends * gamma ** abs(x - y)

    return {
        "constant": [[Fraction(int(y == 0)) for y in range(nodes)] for _ in range(nodes)],
        "uniform": [[Fraction(1, nodes)] * nodes for _ in range(nodes)],
        "geometric": [[cut(x, y) for y in range(nodes)] for x in range(nodes)],
        "exponential": [shares([root ** abs(x - y) for y in range(nodes)]) for x in range(nodes)],
    }


def _inequalities() -> Claim:
    """e^ε = 4; ℓ ≥ s/(1 − γ) with s = (1 − γ)ℓ, and K ≥ 4ℓ."""
    gamma = Fraction(1, 4)

    def holds(rows: Rows, nodes: int, reach: int) -> bool:
        total = [sum(row[y] for row in rows) for y in range(nodes)]
        by_column = [sum(abs(x - y) * rows[x][y] for x in range(nodes)) for y in range(nodes)]
        loss = sum(abs(x - y) * rows[x][y] for x in range(nodes) for y in range(nodes)) / nodes
        fifteen = loss == sum(total[y] / nodes * (by_column[y] / total[y]) for y in range(nodes) if total[y])
        near = [y for y in range(nodes) if min(y, nodes - 1 - y) < reach]
        share = sum(total[y] for y in near) / nodes
        limit, s = 2 * gamma / (1 - gamma**2), (1 - gamma) * reach
        sixteen = (1 - share) * layered_path(reach, "ln(4)").upper
        seventeen = (1 - share) * limit * (1 - gamma**reach - reach * gamma**reach * (1 - gamma))
        eighteen = (1 - share) * limit * (1 - (s + 1) * exp_enclosure(-s).upper)
        fourteen = (share - Fraction(4 * reach, nodes)) * reach
        return fifteen and loss >= fourteen and loss >= sixteen >= seventeen >= eighteen

    cases = (
        (f"{name}, K = {nodes}, ℓ = {reach}", holds(rows, nodes, reach))
        for nodes in (16, 24)
        for name, rows in _mechanisms(nodes, gamma).items()
        for reach in (2, 4)
    )
    return all_of("(14) to (18)", "what outputs near the ends and in the middle cost", cases)


def _two_points(apart: Fraction, epsilon: Fraction) -> Fraction:
    """What every mechanism errs by at one of two inputs whose answers are so far apart: h/(1 + e^(kε)), k = ⌈h/2⌉."""
    steps = -(-apart // 2)
    return apart / (1 + exp_enclosure(steps * epsilon).upper)


def _short_lists() -> Claim:
    """One of the values is 0 or N."""
    cases = (
        (f"ε = {epsilon}, N = {total}", _two_points(total, epsilon) >= total / 3)
        for epsilon in (Fraction(1, 8), Fraction(1, 100))
        for total in (Fraction(1), 1 + 1 / (4 * epsilon))
    )
    return all_of("Theorem 3, case 1", "for N ≤ 1 + 1/(4ε) every mechanism errs by Ω(N): N/3, from two inputs", cases)


def _long_lists() -> Claim:
    """Assouad: r values in steps of h = 1/(2ε), each of which may be h larger; their sum stays below h·r(r+1)/2."""

    def holds(epsilon: Fraction, r: int) -> bool:
        apart = 1 / (2 * epsilon)
        room = apart * r * (r + 1) / 2 <= Fraction(r * (r + 1)) / (4 * epsilon) + r
        return room and r * _two_points(apart, epsilon) >= r / (5 * epsilon)

    cases = (
        (f"ε = {epsilon}, r = {r}", holds(epsilon, r))
        for epsilon in (Fraction(1, 8), Fraction(1, 100))
        for r in (1, 2, 10)
    )
    return all_of("Theorem 3, case 3", "for N ≥ r(r + 1)/(4ε) + r every mechanism errs by Ω(r/ε): r/(5ε)", cases)
