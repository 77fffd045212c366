"""OpenDP 0.16, by its constructors; every scale is the least that its own privacy map admits."""

import itertools
from collections import Counter

import opendp.prelude as dp
from answering import answer

dp.enable_features("contrib")
LEAST, MOST = 18, 100
AGES = dp.vector_domain(dp.atom_domain(T=int)), dp.symmetric_distance()
COUNTS = dp.vector_domain(dp.atom_domain(T=int)), dp.l1_distance(T=int)
VOTES = dp.vector_domain(dp.atom_domain(T=int)), dp.linf_distance(T=int, monotonic=True)


def noisy_counts(counts, epsilon, changed=1):
    measure = dp.binary_search_chain(lambda s: dp.m.make_laplace(*COUNTS, scale=s), d_in=changed, d_out=epsilon)
    return lambda: measure(counts)


def tallies(keys):
    found = Counter(keys)
    return [found[key] for key in sorted(found)]


def count(given):
    draw = noisy_counts([len(given["ages"])], 0.1)
    return lambda: draw()[0]


def groups(given):
    return noisy_counts(tallies(group for _, group in given["members"]), 1.0, given["groups"])


def groups_delta(given):
    counts = tallies(group for _, group in given["members"])
    space = dp.vector_domain(dp.atom_domain(T=int)), dp.l2_distance(T=float)

    def measure(scale):
        return dp.c.make_fix_delta(dp.c.make_zCDP_to_approxDP(dp.m.make_gaussian(*space, scale=scale)), 1e-6)

    scale = dp.binary_search_param(measure, d_in=given["groups"] ** 0.5, d_out=(1.0, 1e-6))
    draw = dp.m.make_gaussian(*space, scale=scale)
    return lambda: draw(counts)


def noisy_sum(given, epsilon):
    clamped = dp.t.make_clamp(*AGES, bounds=(LEAST, MOST))
    total = clamped >> dp.t.make_sum(clamped.output_domain, clamped.output_metric)
    measure = dp.binary_search_chain(lambda s: total >> dp.m.then_laplace(scale=s), d_in=1, d_out=epsilon)
    return lambda: measure(given["ages"])


def mean(given):
    total, number = noisy_sum(given, 0.5), noisy_counts([len(given["ages"])], 0.5)
    return lambda: total() / max(number()[0], 1)


def quantile(given, level, epsilon):
    grid = [float(age) for age in range(LEAST, MOST + 1)]
    space = dp.vector_domain(dp.atom_domain(T=float, nan=False)), dp.symmetric_distance()

    def measure(scale):
        return dp.m.make_private_quantile(*space, dp.max_divergence(), candidates=grid, alpha=level, scale=scale)

    draw, ages = dp.binary_search_chain(measure, d_in=1, d_out=epsilon), [float(age) for age in given["ages"]]
    return lambda: draw(ages)


def deciles(given):
    draws = [quantile(given, level / 10, 1 / 9) for level in range(1, 10)]
    return lambda: [draw() for draw in draws]


def deciles_by_tree(given):
    """The example of OpenDP's documentation: a tree over a histogram, made consistent, then read off."""
    bins = list(range(LEAST, MOST + 2))
    found = Counter(given["ages"])
    counts = [found[age] for age in bins[:-1]]
    branching = dp.t.choose_branching_factor(size_guess=len(given["ages"]))
    tree = dp.t.make_b_ary_tree(*COUNTS, leaf_count=len(counts), branching_factor=branching)
    noisy = dp.binary_search_chain(lambda s: tree >> dp.m.then_laplace(scale=s), d_in=1, d_out=1.0)
    levels = [level / 10 for level in range(1, 10)]
    read = dp.t.make_consistent_b_ary_tree(branching_factor=branching)
    quantiles = dp.t.make_quantiles_from_counts(
        [float(edge) for edge in bins], levels, interpolation="linear", TA=float, F=float
    )
    return lambda: [min(MOST, int(age)) for age in quantiles(read(noisy(counts))[: len(counts)])]


def unknown(name, groups):
    def prepare(given):
        counts = dict(Counter(str(key) for _, key in given[name]))
        keyed = dp.map_domain(dp.atom_domain(T=str), dp.atom_domain(T=int))
        space = keyed, dp.l01inf_distance(dp.absolute_distance(T=int))
        distance = (groups, groups, 1)  # one unit adds one to at most so many counts

        def with_scale(scale, threshold=2**20):
            return dp.m.make_laplace_threshold(*space, scale=scale, threshold=threshold)

        scale = dp.binary_search(lambda s: with_scale(s).map(distance)[0] <= 1.0, bounds=(0.1, 1e3))
        threshold = dp.binary_search(lambda t: with_scale(scale, t).map(distance)[1] <= 1e-6, bounds=(1, 10**4))
        draw = with_scale(scale, threshold)
        return lambda: draw(counts)

    return prepare


def top(given):
    measure = dp.binary_search_chain(
        lambda s: dp.m.make_noisy_top_k(*VOTES, dp.max_divergence(), k=given["k"], scale=s), d_in=1, d_out=0.1
    )
    return lambda: measure(given["scores"])


def top_by_counts(given):
    draw = noisy_counts(given["scores"], 0.1)

    def chosen():
        noisy = draw()
        return sorted(range(len(noisy)), key=lambda place: -noisy[place])[: given["k"]]

    return chosen


def vote(given):
    measure = dp.binary_search_chain(
        lambda s: dp.m.make_noisy_max(*VOTES, dp.max_divergence(), scale=s), d_in=1, d_out=0.5
    )
    return lambda: measure(given["votes"])


def at_least(given):
    draw = noisy_counts([given["votes"][0]], 0.5)
    return lambda: bool(draw()[0] >= given["least"])


def truncated(given):
    space = dp.atom_domain(T=int), dp.absolute_distance(T=int)
    draw = dp.m.make_geometric(*space, scale=1.0, bounds=(0, given["size"] - 1))
    return (draw(place % given["size"]) for place in itertools.count()).__next__


answer(
    {
        "count": count,
        "histogram": lambda given: noisy_counts(tallies(given["educ"]), 1.0),
        "groups": groups,
        "groups delta": groups_delta,
        "sum": lambda given: noisy_sum(given, 1.0),
        "mean": mean,
        "median": lambda given: quantile(given, 0.5, 0.1),
        "deciles": deciles,
        "deciles, tree": deciles_by_tree,
        "unknown 1": unknown("keys 1", 1),
        "unknown 5": unknown("keys 5", 5),
        "top": top,
        "top, noisy counts": top_by_counts,
        "vote": vote,
        "at least": at_least,
        "truncated": truncated,
    }
)
