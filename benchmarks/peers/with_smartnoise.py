"""SmartNoise SQL 1.0: the ε of a reader is made so small that what it says a query costs is allowed."""

import warnings

import pandas as pd
from answering import answer
from snsql import Privacy, from_connection

warnings.simplefilter("ignore")
INTEGER, TEXT = {"type": "int"}, {"type": "string"}


def ask(frame, columns, statement, epsilon, delta=1e-6, **table):
    described = {"": {"": {"t": {"rows": len(frame), **table, **columns}}}}

    def reader_at(each):
        return from_connection(frame, privacy=Privacy(epsilon=each, delta=delta), metadata=described)

    charged = float(reader_at(epsilon).get_privacy_cost(statement)[0])
    reader = reader_at(epsilon * epsilon / max(charged, epsilon))
    return lambda: reader.execute(statement)[1:]


def of_ages(what, epsilon):
    def prepare(given):
        frame = pd.DataFrame({"age": given["ages"]})
        columns = {"age": {**INTEGER, "lower": 18, "upper": 100}}
        draw = ask(frame, columns, f"SELECT {what} AS n FROM t", epsilon, row_privacy=True)
        return lambda: float(draw()[0][0])

    return prepare


def histogram(given):
    frame = pd.DataFrame({"k": given["educ"]})
    draw = ask(
        frame, {"k": TEXT}, "SELECT k, COUNT(*) AS n FROM t GROUP BY k", 1.0, row_privacy=True, censor_dims=False
    )
    return lambda: [float(number) for _, number in sorted(map(tuple, draw()))]


def by_unit(name, groups, **more):
    def prepare(given):
        frame = pd.DataFrame(given[name], columns=["unit", "k"]).astype({"k": str})
        columns = {"unit": {**INTEGER, "private_id": True}, "k": TEXT}
        limits = {"max_ids": groups(given), "sample_max_ids": True, "clamp_counts": False, **more}
        draw = ask(frame, columns, "SELECT k, COUNT(DISTINCT unit) AS n FROM t GROUP BY k", 1.0, **limits)
        return lambda: {str(key): float(number) for key, number in draw()}

    return prepare


def groups(given):
    draw = by_unit("members", lambda g: g["groups"], censor_dims=False)(given)
    keys = sorted({group for _, group in given["members"]})

    def answers():
        found = draw()
        return [found[str(key)] for key in keys]

    return answers


def top_by_counts(given):
    frame = pd.DataFrame({"k": [str(place) for place, score in enumerate(given["scores"]) for _ in range(score)]})
    statement = "SELECT k, COUNT(*) AS n FROM t GROUP BY k"
    draw = ask(frame, {"k": TEXT}, statement, 0.1, row_privacy=True, censor_dims=False)

    def chosen():
        noisy = sorted(((float(number), int(key)) for key, number in draw()), reverse=True)
        return [place for _, place in noisy[: given["k"]]]

    return chosen


answer(
    {
        "count": of_ages("COUNT(*)", 0.1),
        "histogram": histogram,
        "groups": groups,
        "sum": of_ages("SUM(age)", 1.0),
        "mean": of_ages("AVG(age)", 1.0),
        "unknown 1": by_unit("keys 1", lambda given: 1),
        "unknown 5": by_unit("keys 5", lambda given: 5),
        "top, noisy counts": top_by_counts,
    }
)
