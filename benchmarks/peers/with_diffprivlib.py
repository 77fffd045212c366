"""diffprivlib 0.6, by its tools where there are some, else by its mechanisms. It knows no limit of groups per unit."""

import itertools
import warnings
from collections import Counter

import numpy as np
from answering import answer
from diffprivlib import tools
from diffprivlib.mechanisms import Geometric, GeometricTruncated, PermuteAndFlip

warnings.simplefilter("ignore")
BOUNDS = (18, 100)
LEVELS = [k / 10 for k in range(1, 10)]


def noisy_counts(counts, epsilon):
    noise = Geometric(epsilon=epsilon, sensitivity=1)
    return lambda: [noise.randomise(each) for each in counts]


def tallies(keys):
    found = Counter(keys)
    return [found[key] for key in sorted(found)]


def count(given):
    draw = noisy_counts([len(given["ages"])], 0.1)
    return lambda: draw()[0]


def of_ages(tool, **more):
    def prepare(given):
        ages = np.array(given["ages"])
        return lambda: np.asarray(tool(ages, epsilon=1.0, bounds=BOUNDS, **more), dtype=float).tolist()

    return prepare


def quantiles(levels, epsilon):
    def prepare(given):
        ages = np.array(given["ages"], dtype=float)
        return lambda: np.asarray(tools.quantile(ages, levels, epsilon=epsilon, bounds=BOUNDS)).tolist()

    return prepare


def choice(scores, epsilon):
    return PermuteAndFlip(epsilon=epsilon, sensitivity=1, monotonic=True, utility=scores).randomise()


def top(given):
    def chosen():
        left = list(range(len(given["scores"])))
        return [
            left.pop(choice([given["scores"][place] for place in left], 0.1 / given["k"])) for _ in range(given["k"])
        ]

    return chosen


def top_by_counts(given):
    draw = noisy_counts(given["scores"], 0.1)

    def chosen():
        noisy = draw()
        return sorted(range(len(noisy)), key=lambda place: -noisy[place])[: given["k"]]

    return chosen


def at_least(given):
    draw = noisy_counts([given["votes"][0]], 0.5)
    return lambda: draw()[0] >= given["least"]


def truncated(given):
    noise = GeometricTruncated(epsilon=1.0, sensitivity=1, lower=0, upper=given["size"] - 1)
    return (noise.randomise(place % given["size"]) for place in itertools.count()).__next__


answer(
    {
        "count": count,
        "histogram": lambda given: noisy_counts(tallies(given["educ"]), 1.0),
        "sum": of_ages(tools.sum),
        "mean": of_ages(tools.mean),
        "median": quantiles(0.5, 0.1),
        "deciles": quantiles(LEVELS, 1.0),
        "top": top,
        "top, noisy counts": top_by_counts,
        "vote": lambda given: lambda: choice(given["votes"], 0.5),
        "at least": at_least,
        "truncated": truncated,
    }
)
