"""Graphs and boundaries to test with: random rainbow graphs, valid boundaries, and all votes of a few people."""

from fractions import Fraction
from itertools import combinations, permutations, product

from hypothesis import strategies as st

from leastnoise.model.graphs import from_edges
from leastnoise.rainbow import RainbowGraph, response_boundary, violations
from support.channels import distributions

RAINBOWS = list(permutations("abc"))


@st.composite
def rainbow_graphs(draw, largest=7, rainbows=RAINBOWS):
    """Random connected graphs with at least two rainbows."""
    size = draw(st.integers(2, largest))
    tree = {(draw(st.integers(0, node - 1)), node) for node in range(1, size)}
    more = draw(st.sets(st.sampled_from(list(combinations(range(size), 2))), max_size=4))
    numbers = draw(
        st.lists(st.integers(0, len(rainbows) - 1), min_size=size, max_size=size).filter(lambda n: len(set(n)) > 1)
    )
    return RainbowGraph(from_edges(sorted(tree | more), range(size)), {i: rainbows[n] for i, n in enumerate(numbers)})


@st.composite
def boundaries(draw, rainbows, operator):
    """Random boundaries drawn towards randomized response until they are valid between all rainbows."""
    response = (
        response_boundary(rainbows, operator.epsilon, operator.delta)
        if len({c[0] for c in rainbows}) > 1
        else {c: (Fraction(1), Fraction(0), Fraction(0)) for c in rainbows}
    )
    wild = {c: draw(distributions(3)) for c in rainbows}
    for share in (Fraction(1), Fraction(1, 2), Fraction(1, 8), Fraction(1, 64), Fraction(0)):
        mixed = {
            c: tuple((1 - share) * p + share * q for p, q in zip(response[c], wild[c], strict=True)) for c in rainbows
        }
        if not violations(mixed, list(combinations(rainbows, 2)), operator):
            return mixed
    raise AssertionError("randomized response is valid")


def votes(most, count, *, replace, contribution=1):
    """All counts up to a most; neighbours as one person may make them."""

    def near(x, y):
        moves = [b - a for a, b in zip(x, y, strict=True)]
        one_way = replace or min(moves) >= 0 or max(moves) <= 0
        return one_way and max(map(abs, moves)) <= contribution

    nodes = list(product(range(most + 1), repeat=count))
    return from_edges([pair for pair in combinations(nodes, 2) if near(*pair)], nodes)
