"""Small databases, and what a quantile of them is, word for word."""

from fractions import Fraction

from leastnoise.mechanisms.rank.quantile import growing_databases
from leastnoise.model.graphs import hamming


def is_quantile(point, database, level):
    below, above = sum(x < point for x in database), sum(x > point for x in database)
    return below <= level * len(database) and above <= (1 - level) * len(database)


def neighbours(database, points, *, exchange):
    """All databases one record away, as sorted tuples."""
    fewer = {database[:i] + database[i + 1 :] for i in range(len(database))}
    if exchange:
        return {tuple(sorted((*rest, x))) for rest in fewer for x in points} - {database}
    return fewer | {tuple(sorted((*database, x))) for x in points}


def distance_to_quantile(point, database, level, points, *, exchange):
    """How many records must change until the point is a quantile, by searching all databases further and further."""
    seen = reached = {tuple(sorted(database))}
    changes = 0
    while not any(is_quantile(point, found, level) for found in reached):
        reached = {other for found in reached for other in neighbours(found, points, exchange=exchange)} - seen
        seen = seen | reached
        changes += 1
    return changes


def distance_from_quantile(point, database, level, points, *, exchange):
    """How many records must change until the point is no quantile any more."""
    seen = reached = {tuple(sorted(database))}
    changes = 0
    while all(is_quantile(point, found, level) for found in reached):
        reached = {other for found in reached for other in neighbours(found, points, exchange=exchange)} - seen
        seen = seen | reached
        changes += 1
    return changes


def exchanging(records, points):
    """All databases of so many records; nodes are tuples of points."""
    graph = hamming(records, len(points))
    return graph, [tuple(points[i] for i in node) for node in graph.nodes]


def growing(records, points):
    """All databases of at most so many records, which differ by one record more or less."""
    graph = growing_databases(records, len(points))
    return graph, [tuple(points[i] for i in node) for node in graph.nodes]


def excess(output, database, level):
    below, above = sum(x < output for x in database), sum(x > output for x in database)
    n = len(database)
    return max(Fraction(0), below - level * n, above - (1 - level) * n)
