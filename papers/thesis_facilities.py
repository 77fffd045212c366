"""Tóthmérész 2013 on k-median: swaps that improve, and the privacy of Algorithm 4, by going through small cases."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import combinations, product

from leastnoise.checker import check
from leastnoise.model.channel import Channel
from leastnoise.model.graphs import hypercube
from papers.claims import Claim, all_of

__all__ = ["facility_claims"]

Point = tuple[int, int]


def facility_claims() -> Iterator[Claim]:
    """In the order of the text."""
    yield _swaps()
    yield _one_swap()
    yield _algorithm_4()


def _distance(one: Point, other: Point) -> int:
    return abs(one[0] - other[0]) + abs(one[1] - other[1])


def _cost(facilities: Sequence[Point], demand: Sequence[Point]) -> int:
    return sum(min(_distance(point, facility) for facility in facilities) for point in demand)


def _towns() -> Iterator[tuple[str, list[Point], list[Point], int]]:
    """Blocks of a city with demand at some of them, and a number of facilities."""
    blocks = list(product(range(3), range(3)))
    demands = {"everywhere": blocks, "at the corners": [(0, 0), (0, 2), (2, 0), (2, 2)], "on a line": blocks[:4]}
    for (name, demand), k in product(demands.items(), (1, 2, 3)):
        yield f"demand {name}, k = {k}", blocks, demand, k


def _gains(blocks: Sequence[Point], demand: Sequence[Point], facilities: Sequence[Point]) -> list[list[int]]:
    """For each facility, what each swap of it gains."""
    before = _cost(facilities, demand)
    others = [block for block in blocks if block not in facilities]
    return [[before - _cost([*(f for f in facilities if f != x), y], demand) for y in others] for x in facilities]


def _holds_everywhere(blocks: list[Point], demand: list[Point], k: int, *, single: bool) -> bool:
    least = min(_cost(chosen, demand) for chosen in combinations(blocks, k))
    for facilities in combinations(blocks, k):
        wanted = _cost(facilities, demand) - 5 * least
        gains = sorted((gain for swaps in _gains(blocks, demand, facilities) for gain in swaps), reverse=True)
        # The theorem's k swaps may repeat a facility: the k best of all are no worse than any k.
        enough = k * gains[0] >= wanted if single else sum(gains[:k]) >= wanted
        if not enough:
            return False
    return True


def _swaps() -> Claim:
    says = "some k swaps gain cost(F) − 5·OPT together, for every F (nine blocks of a city)"
    cases = ((name, _holds_everywhere(blocks, demand, k, single=False)) for name, blocks, demand, k in _towns())
    return all_of("Theorem 2.3", says, cases)


def _one_swap() -> Claim:
    cases = ((name, _holds_everywhere(blocks, demand, k, single=True)) for name, blocks, demand, k in _towns())
    return all_of("Corollary 2.3", "some swap gains a k-th of cost(F) − 5·OPT", cases)


def _search_law(places: Sequence[int], demand: Sequence[int], steps: int, base: int) -> list[Fraction]:
    """Algorithm 4 for one facility on a line: the law of its output, with e^ε' = base."""

    def weight(place: int) -> Fraction:
        return Fraction(1, base) ** sum(abs(place - one) for one in demand)

    law = dict.fromkeys(places, Fraction(0))
    walks: dict[tuple[int, ...], Fraction] = {(places[0],): Fraction(1)}
    for _ in range(steps):
        longer: dict[tuple[int, ...], Fraction] = {}
        for walk, chance in walks.items():
            others = [place for place in places if place != walk[-1]]
            total = sum((weight(place) for place in others), start=Fraction(0))
            for place in others:
                longer[*walk, place] = chance * weight(place) / total
        walks = longer
    for walk, chance in walks.items():
        seen = walk[:steps]
        total = sum((weight(place) for place in seen), start=Fraction(0))
        for place in seen:
            law[place] += chance * weight(place) / total
    return list(law.values())


def _algorithm_4() -> Claim:
    places, graph = (0, 1, 2), hypercube(3)  # one bit for each place: whether there is demand

    def private(steps: int, base: int) -> bool:
        rows = [
            _search_law(places, [place for place, bit in zip(places, bits, strict=True) if bit], steps, base)
            for bits in product((0, 1), repeat=3)
        ]
        spread = 2 * max(places) * (steps + 1)
        return bool(check(Channel(rows, inputs=graph.nodes), graph, f"{spread}*ln({base})"))

    cases = ((f"T = {steps}, e^ε' = {base}", private(steps, base)) for steps in (1, 3) for base in (2, 5))
    return all_of("Proposition 2.5", "Algorithm 4 is ε-private (one facility, three places)", cases)
