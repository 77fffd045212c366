"""All sorted lists of few records, and their distances, by the definition."""

from itertools import zip_longest


def partitions(total, largest=None):
    """Every decreasing list of positive counts with this sum."""
    if total == 0:
        yield ()
        return
    for first in range(min(total, total if largest is None else largest), 0, -1):
        for rest in partitions(total - first, first):
            yield (first, *rest)


def up_to(total):
    return [counts for records in range(total + 1) for counts in partitions(records)]


def l1(one, other):
    return sum(abs(a - b) for a, b in zip_longest(one, other, fillvalue=0))


def one_more(counts):
    """All lists with one record more."""
    grown = [*counts, 0]
    places = [i for i in range(len(grown)) if i == 0 or grown[i - 1] > grown[i]]
    return [tuple(c + (i == place) for i, c in enumerate(grown) if c + (i == place)) for place in places]
