"""Google's library through python-dp 1.1."""

from collections import Counter

from answering import answer
from pydp.algorithms.laplacian import BoundedMean, BoundedSum, Count, Percentile
from pydp.algorithms.partition_selection import create_truncated_geometric_partition_strategy

LIMITS = {"lower_bound": 18, "upper_bound": 100, "dtype": "int"}


def noisy_count(number, epsilon, groups=1):
    return Count(epsilon=epsilon, l0_sensitivity=groups, dtype="int").quick_result([1] * number)


def tallies(keys):
    found = Counter(keys)
    return [found[key] for key in sorted(found)]


def counts(numbers, epsilon, groups=1):
    return lambda: [noisy_count(number, epsilon, groups) for number in numbers]


def percentile(given, level, epsilon):
    asked = {"epsilon": epsilon, "percentile": level, "lower_bound": 18.0, "upper_bound": 100.0, "dtype": "float"}
    return Percentile(**asked).quick_result([float(age) for age in given["ages"]])


def unknown(name, groups):
    def prepare(given):
        found = Counter(str(key) for _, key in given[name])
        strategy = create_truncated_geometric_partition_strategy(0.5, 1e-6, groups)
        return lambda: {
            key: noisy_count(number, 0.5, groups) for key, number in found.items() if strategy.should_keep(number)
        }

    return prepare


def top_by_counts(given):
    def chosen():
        noisy = [noisy_count(number, 0.1) for number in given["scores"]]
        return sorted(range(len(noisy)), key=lambda place: -noisy[place])[: given["k"]]

    return chosen


def vote_by_counts(given):
    return lambda: max((0, 1), key=[noisy_count(number, 0.5) for number in given["votes"]].__getitem__)


answer(
    {
        "count": lambda given: lambda: noisy_count(len(given["ages"]), 0.1),
        "histogram": lambda given: counts(tallies(given["educ"]), 1.0),
        "groups": lambda given: counts(tallies(group for _, group in given["members"]), 1.0, given["groups"]),
        "sum": lambda given: lambda: BoundedSum(epsilon=1.0, **LIMITS).quick_result(given["ages"]),
        "mean": lambda given: lambda: BoundedMean(epsilon=1.0, **LIMITS).quick_result(given["ages"]),
        "median": lambda given: lambda: percentile(given, 0.5, 0.1),
        "deciles": lambda given: lambda: [percentile(given, level / 10, 1 / 9) for level in range(1, 10)],
        "unknown 1": unknown("keys 1", 1),
        "unknown 5": unknown("keys 5", 5),
        "top, noisy counts": top_by_counts,
        "vote, noisy counts": vote_by_counts,
        "at least": lambda given: lambda: noisy_count(given["votes"][0], 0.5) >= given["least"],
    }
)
