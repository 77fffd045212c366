"""Gu et al. 2024: what is best, against linear programs solved exactly, and an answer to section 6.3's question."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from fractions import Fraction
from itertools import accumulate, pairwise, product

from leastnoise.checker import check
from leastnoise.mechanisms.rainbow.private_program import PrivateProgram, ProgramEntry
from leastnoise.model.channel import Channel
from leastnoise.model.graphs import cycle, grid, path
from leastnoise.rainbow import (
    BestMechanism,
    NoBestMechanism,
    Operator,
    RainbowGraph,
    boundary_morphism,
    boundary_rainbow_graph,
    dominates,
    find_best,
    optimal_mechanism,
    switch_times,
)
from papers.claims import Claim, all_of

__all__ = ["optimality_claims"]

Law = tuple[Fraction, ...]
Boundary = dict[tuple[Hashable, ...], list[Fraction]]


def optimality_claims() -> Iterator[Claim]:
    """In the order of the text."""
    yield _pullback()
    yield _best_of_all()
    yield _boundary_graph()
    yield _order_is_kept()
    yield _closed_form_without_delta()
    yield _switch_time_with_delta()
    yield _one_step_too_many()
    yield _lexicographic_only()


def _laws(parts: int, colours: int) -> list[Law]:
    """Every distribution in steps of 1/parts."""
    counts = (c for c in product(range(parts + 1), repeat=colours) if sum(c) == parts)
    return [tuple(Fraction(n, parts) for n in c) for c in counts]


def _pullback() -> Claim:
    """A walk on six datasets is folded in every way onto three."""
    small = Channel([["9/16", "7/16"], ["3/8", "5/8"], ["1/4", "3/4"]])
    folds = [fold for fold in product(range(3), repeat=4) if all(abs(a - b) <= 1 for a, b in pairwise(fold))]
    kept = bool(check(small, path(3), "ln(3/2)"))
    cases = (
        (f"g = {fold}", kept and bool(check(small.select(dict(enumerate(fold))), path(4), "ln(3/2)"))) for fold in folds
    )
    return all_of("Theorem 1", "pulled back along a morphism, a private mechanism is private (a path of four)", cases)


def _regions() -> Iterator[tuple[str, RainbowGraph, Boundary]]:
    """Rainbow graphs with a homogeneous boundary, three colours: on a path, a cycle and a grid."""
    first, second = ("a", "b", "c"), ("a", "c", "b")
    boundary = [Fraction(1, 5), Fraction(3, 10), Fraction(1, 2)]
    swapped = [Fraction(1, 5), Fraction(1, 2), Fraction(3, 10)]
    graphs = {
        "a path of six": RainbowGraph(path(6), lambda n: first if n < 4 else second),
        "a cycle of six": RainbowGraph(cycle(6), lambda n: first if n < 4 else second),
        "a 3 × 3 grid": RainbowGraph(grid(3, 3), lambda n: second if n == (0, 0) else first),
    }
    for name, graph in graphs.items():
        yield name, graph, {first: boundary, second: swapped}


def _best_of_all() -> Claim:
    """Fixed at the boundary only, the program looks among all private mechanisms."""

    def equal(graph: RainbowGraph, boundary: Boundary, delta: str) -> bool:
        fixed = {d: boundary[c] for c in graph.rainbows for d in graph.boundary(c)}
        found = find_best(graph, fixed, "ln(2)", delta)
        ours = optimal_mechanism(graph, boundary, "ln(2)", delta).channel()
        same = isinstance(found, BestMechanism) and all(
            found.channel.row(node) == ours.row(node) for node in graph.graph.nodes
        )
        return same and bool(check(ours, graph.graph, "ln(2)", delta))

    cases = (
        (f"{name}, e^ε = 2, δ = {delta}", equal(graph, boundary, delta))
        for name, graph, boundary in _regions()
        for delta in ("0", "1/50")
    )
    says = "with the operator put right, T^t of the boundary is the one best mechanism (linear programs, three colours)"
    return all_of("Theorem 2, optimality", says, cases)


def _boundary_graph() -> Claim:
    def equal(graph: RainbowGraph, boundary: Boundary) -> bool:
        lines, morphism = boundary_rainbow_graph(graph), boundary_morphism(graph)
        small = optimal_mechanism(lines, boundary, "ln(2)").channel()
        whole = optimal_mechanism(graph, boundary, "ln(2)").channel()
        return all(whole.row(d) == small.row(morphism(d)) for d in graph.graph.nodes)

    cases = ((name, equal(graph, boundary)) for name, graph, boundary in _regions())
    return all_of("Theorem 3", "the best mechanism is the one of the boundary rainbow graph, pulled back", cases)


def _order_is_kept() -> Claim:
    laws = _laws(6, 3)

    def kept(delta: str) -> bool:
        operator = Operator("ln(2)", delta)
        after = {law: operator(law) for law in laws}
        return all(dominates(after[p], after[q]) for p in laws for q in laws if dominates(p, q))

    cases = ((f"δ = {delta}, sixths", kept(delta)) for delta in ("0", "1/20"))
    return all_of("Lemma 2", "T keeps the dominance order (all distributions of three colours in sixths)", cases)


def _prefix_sums(factor: int, delta: Fraction, start: Fraction, steps: int) -> list[Fraction]:
    """The operator put right, step by step, for one prefix sum."""

    def step(s: Fraction, _: int) -> Fraction:
        return min(Fraction(1), factor * s + delta, 1 - (1 - s - delta) / factor)

    return list(accumulate(range(steps), step, initial=start))


def _starts() -> list[Fraction]:
    return [Fraction(1, n) for n in (2, 3, 4, 7, 27, 100)]


def _closed_form_without_delta() -> Claim:
    """(18): the first time at 1/(e^ε + 1) or above; (19): growth by e^ε until then, decay of the rest after it."""

    def holds(factor: int, start: Fraction) -> bool:
        sums = _prefix_sums(factor, Fraction(0), start, 12)
        tau = next(t for t, s in enumerate(sums) if s >= Fraction(1, factor + 1))
        (found,) = switch_times(Operator(f"ln({factor})"), [start, 1 - start])[:1]
        grown = all(sums[t] == Fraction(factor) ** t * start for t in range(tau + 1))
        fallen = all(1 - s == (1 - sums[tau]) / Fraction(factor) ** (t - tau) for t, s in enumerate(sums) if t > tau)
        return found == tau and grown and fallen

    cases = ((f"e^ε = {factor}, s = {start}", holds(factor, start)) for factor in (2, 3) for start in _starts())
    return all_of("(18) and (19)", "δ = 0: the switch time, and the prefix sum before and after it", cases)


def _printed_switch(factor: int, delta: Fraction, start: Fraction) -> int:
    """(20) and (21): ⌈log_λ((1/(λ + 1) + ρ)/(s + ρ))⌉ or 0, with ρ = δ/(λ − 1)."""
    rho = delta / (factor - 1)
    ratio = (Fraction(1, factor + 1) + rho) / (start + rho)
    return next(t for t in range(100) if Fraction(factor) ** t >= ratio)


def _switch_time_with_delta() -> Claim:
    """The first branch alone, up to 1/(λ + 1), where the text switches."""

    def holds(factor: int, delta: Fraction, start: Fraction) -> bool:
        tau = _printed_switch(factor, delta, start)
        sums = list(accumulate(range(tau), lambda s, _: factor * s + delta, initial=start))
        return sums[-1] >= Fraction(1, factor + 1) and all(s < Fraction(1, factor + 1) for s in sums[:-1])

    cases = (
        (f"e^ε = {factor}, δ = {delta}, s = {start}", holds(factor, delta, start))
        for factor in (2, 3)
        for delta in (Fraction(1, 1000), Fraction(1, 50))
        for start in _starts()
    )
    return all_of("(20) and (21)", "e^ε·s + δ first reaches 1/(e^ε + 1) at the time τ", cases)


def _one_step_too_many() -> Claim:
    """The times that (21) gives; s at time τ itself is above 1/(e^ε + 1) wherever the two are not equal."""
    factor, delta = 2, Fraction(1, 1000)

    def below(start: Fraction) -> bool:
        tau = _printed_switch(factor, delta, start)
        sums = list(accumulate(range(tau), lambda s, _: factor * s + delta, initial=start))
        return all(s <= Fraction(1, factor + 1) for s in sums)

    cases = ((f"e^ε = 2, δ = 1/1000, s = {start}", below(start)) for start in _starts())
    says = "s ≤ 1/(e^ε + 1) for t ≤ τ, and > for t ≥ τ + 1"
    return all_of("Section 5.2", says, cases, "s ≤ 1/(e^ε + 1) for t ≤ τ − 1, and ≥ for t ≥ τ, as in section 5.1")


def _largest_in_order(graph: RainbowGraph, fixed: dict[Hashable, Law], operator: Operator, dataset: int) -> Law:
    """The lexicographically largest law at a dataset over all private mechanisms: one program per colour."""
    program = PrivateProgram()
    names: dict[Hashable, Sequence[ProgramEntry]] = {
        node: fixed[node] if node in fixed else [(node, rank) for rank in range(len(graph.colours))]
        for node in graph.graph.nodes
    }
    for law in names.values():
        program.distribution(law)
    by_colour = {
        node: [law[graph.rainbow(node).index(colour)] for colour in graph.colours] for node, law in names.items()
    }
    nodes = graph.graph.nodes
    for i, j in graph.graph.edges().tolist():
        program.close(by_colour[nodes[i]], by_colour[nodes[j]], operator)
    largest: list[Fraction] = []
    for entry in names[dataset]:
        if not isinstance(entry, tuple):
            raise TypeError("the dataset is fixed")
        found = program.maximise([(1, entry)])
        if found is None:
            raise ValueError("no private mechanism has these distributions")
        largest.append(found[entry])
        program.equal([(1, entry)], found[entry])
    return tuple(largest)


def _lexicographic_only() -> Claim:
    """A path of six; the inner four prefer 1234, the ends 1243; the first two and the last two are fixed."""
    graph = RainbowGraph(path(6), lambda n: (1, 2, 4, 3) if n in (0, 5) else (1, 2, 3, 4))
    low = tuple(Fraction(n, 20) for n in (3, 1, 8, 8))
    high = tuple(Fraction(n, 12) for n in (4, 6, 1, 1))
    fixed: dict[Hashable, Law] = {0: low, 1: low, 4: high, 5: high}
    operator = Operator("ln(3)", "1/20")
    best: dict[Hashable, Law] = {dataset: _largest_in_order(graph, fixed, operator, dataset) for dataset in (2, 3)}
    laws: dict[Hashable, Law] = {**fixed, **best}
    rows = [[laws[n][graph.rainbow(n).index(colour)] for colour in graph.colours] for n in range(6)]
    together = bool(check(Channel(rows), path(6), "ln(3)", "1/20"))
    none = isinstance(find_best(graph, fixed, "ln(3)", "1/20"), NoBestMechanism)
    shown = "; ".join(" ".join(map(str, law)) for law in best.values())
    return Claim(
        "Section 6.3",
        "no scenario is known with a lexicographic optimum and no dominance optimum",
        f"six datasets, e^ε = 3, δ = 1/20: largest in order {shown}; both at once: {together}; a best one: {not none}",
        not (together and none),
        "there is one for δ > 0: both laws are reached at once, and another mechanism has a larger third prefix sum",
    )
