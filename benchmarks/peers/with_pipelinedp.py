"""PipelineDP 0.3, on its local backend."""

import pipeline_dp
from answering import answer

METRICS, LAPLACE, GAUSSIAN = pipeline_dp.Metrics, pipeline_dp.NoiseKind.LAPLACE, pipeline_dp.NoiseKind.GAUSSIAN


def aggregate(rows, metrics, public, epsilon=1.0, delta=0.0, noise=LAPLACE, groups=1, bounds=None, **more):
    """Rows are (unit, key, value)."""
    limits = {} if bounds is None else {"min_value": bounds[0], "max_value": bounds[1]}
    parameters = pipeline_dp.AggregateParams(
        metrics=metrics,
        noise_kind=noise,
        max_partitions_contributed=groups,
        max_contributions_per_partition=1,
        **limits,
        **more,
    )
    extractors = pipeline_dp.DataExtractors(
        privacy_id_extractor=lambda row: row[0],
        partition_extractor=lambda row: row[1],
        value_extractor=lambda row: row[2],
    )

    def draw():
        budget = pipeline_dp.NaiveBudgetAccountant(total_epsilon=epsilon, total_delta=delta)
        engine = pipeline_dp.DPEngine(budget, pipeline_dp.LocalBackend())
        answers = engine.aggregate(rows, parameters, extractors, public_partitions=public)
        budget.compute_budgets()
        return dict(answers)

    return draw


def ages(given):
    return [(unit, "all", age) for unit, age in enumerate(given["ages"])]


def of_ages(metrics, epsilon=1.0, bounds=(18, 100)):
    def prepare(given):
        draw = aggregate(ages(given), metrics, ["all"], epsilon, bounds=bounds)
        return lambda: list(draw()["all"]) if len(metrics) > 1 else draw()["all"][0]

    return prepare


def by_key(rows_of, epsilon=1.0, delta=0.0, noise=LAPLACE, groups=lambda given: 1):
    def prepare(given):
        rows = rows_of(given)
        keys = sorted({key for _, key, _ in rows})
        draw = aggregate(rows, [METRICS.COUNT], keys, epsilon, delta, noise, groups(given))

        def answers():
            found = draw()
            return [found[key][0] for key in keys]

        return answers

    return prepare


def educ(given):
    return [(unit, key, 0) for unit, key in enumerate(given["educ"])]


def members(given):
    return [(unit, group, 0) for unit, group in given["members"]]


def unknown(name, groups, **more):
    def prepare(given):
        rows = [(unit, str(key), 0) for unit, key in given[name]]
        draw = aggregate(rows, [METRICS.PRIVACY_ID_COUNT], None, 1.0, 1e-6, groups=groups, **more)
        return lambda: {key: value[0] for key, value in draw().items()}

    return prepare


def top_by_counts(given):
    rows, unit = [], 0
    for place, score in enumerate(given["scores"]):
        rows += [(unit + i, place, 0) for i in range(score)]
        unit += score
    draw = aggregate(rows, [METRICS.COUNT], list(range(len(given["scores"]))), 0.1)

    def chosen():
        noisy = draw()
        return sorted(noisy, key=lambda place: -noisy[place][0])[: given["k"]]

    return chosen


DECILES = [METRICS.PERCENTILE(10 * level) for level in range(1, 10)]
answer(
    {
        "count": of_ages([METRICS.COUNT], 0.1, None),
        "histogram": by_key(educ),
        "groups": by_key(members, groups=lambda given: given["groups"]),
        "groups delta": by_key(members, 1.0, 1e-6, GAUSSIAN, lambda given: given["groups"]),
        "sum": of_ages([METRICS.SUM]),
        "mean": of_ages([METRICS.MEAN]),
        "median": of_ages([METRICS.PERCENTILE(50)], 0.1),
        "deciles": of_ages(DECILES),
        "unknown 1": unknown("keys 1", 1),
        "unknown 5": unknown("keys 5", 5),
        "unknown 1, thresholds after noise": unknown("keys 1", 1, post_aggregation_thresholding=True),
        "unknown 5, thresholds after noise": unknown("keys 5", 5, post_aggregation_thresholding=True),
        "top, noisy counts": top_by_counts,
    }
)
