"""The definition of privacy, word for word and slowly: all neighbours, all sets of outputs."""

from fractions import Fraction
from itertools import chain, combinations


def ordered_pairs(graph):
    """(x, x', length) for neighbours, both ways."""
    edges = graph.edges().tolist()
    lengths = graph.edge_lengths() or [Fraction(1)] * len(edges)
    for (i, j), length in zip(edges, lengths, strict=True):
        yield i, j, length
        yield j, i, length


def sets(count):
    return chain.from_iterable(combinations(range(count), size) for size in range(count + 1))


def largest_excess(rows, pairs, t):
    """The largest P(S|x) − t·P(S|x'), over pairs of rows and sets."""
    return max(
        (
            sum((Fraction(rows[x][y]) - t * Fraction(rows[other][y]) for y in chosen), start=Fraction(0))
            for x, other in pairs
            for chosen in sets(len(rows[0]))
        ),
        default=Fraction(0),
    )


def largest_ratio(rows, pairs):
    """The largest p(y|x)/p(y|x'); None where p(y|x') = 0 < p(y|x)."""
    entries = [(Fraction(p), Fraction(q)) for x, other in pairs for p, q in zip(rows[x], rows[other], strict=True) if p]
    if any(q == 0 for _, q in entries):
        return None
    return max((p / q for p, q in entries), default=Fraction(1))
