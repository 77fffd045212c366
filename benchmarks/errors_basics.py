"""Ordinary questions at equal privacy: ours through `ln.open`, other libraries through programs of their own.

The programs are `peers/with_*.py`. All get the same tables and the same prices, and their answers are judged here, by
the same measure of error for all. A library that has no function for a job is left out of it.
"""

from __future__ import annotations

import csv
import math
import random
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import leastnoise as ln
from benchmarks.errors import (
    CHOSEN,
    ErrorRow,
    Wanted,
    ask_peer,
    environment,
    everything,
    mean_row,
    missing_row,
    why_missing,
)

__all__ = ["JOBS", "NOTES", "PEERS", "run"]

LEVELS = [k / 10 for k in range(1, 10)]
GROUPS, OF_GROUPS, BEST, OPTIONS = 5, 20, 5, 1000

NOTES = (
    "The ages and schooling of 944 people are those of the American National Election Study of 1996, as the package "
    "statsmodels has them; the bounds of an age are 18 and 100. Groups: 1000 made-up people, each in 5 of 20 groups. "
    "Unknown keys: one key for each count from 1 to 60, or, where a person is in 5 groups, for each even count from 2 "
    "to 150. Most common: 1000 keys with 2000/(10 + i) people, each with one key.",
    "A table and its neighbour differ by one person more or less. diffprivlib is an exception for mean and sum: there "
    "one person's value changes and the number of people is public, which is a weaker promise. SmartNoise always takes "
    "a δ, 1e-6 here, and so small an ε that its own statement of the cost is within the price. Where a library finds "
    "unknown keys and counts them by two functions, each has half of ε. OpenDP's mean is a noisy sum over a noisy "
    "number, each with half of ε. Spark is slow, so Tumult's rows of groups, unknown keys and the most common are "
    "means of three releases.",
    "Errors: the distance from the true number, or its mean over the cells; for quantiles the distance in ranks; for "
    "keys how many were not shown; for the most common how much less the true counts of the chosen add up to than "
    "those of the best; for decisions how often they were wrong. Where noisy counts of all keys were sorted, the row "
    "says so. The bound of the vote is for this table and the one with the votes exchanged.",
)


class Peer(NamedTuple):
    """Another library.

    Attributes:
        name: With its version.
        requirements: What pip installs.
        program: Its file in `peers`.
        most: How often a question is asked at most.
    """

    name: str
    requirements: tuple[str, ...]
    program: str
    most: int = 10_000


PEERS = (
    Peer("OpenDP 0.16.0", ("opendp==0.16.0",), "with_opendp.py"),
    Peer("Tumult 0.21.0", ("tmlt.analytics==0.21.0",), "with_tumult.py", 200),
    Peer("PipelineDP 0.3.1", ("pipeline-dp==0.3.1",), "with_pipelinedp.py", 400),
    Peer("python-dp 1.1.5", ("python-dp==1.1.5",), "with_pydp.py"),
    Peer("diffprivlib 0.6.6", ("diffprivlib==0.6.6", "scikit-learn<1.8"), "with_diffprivlib.py"),
    Peer("SmartNoise 1.0.10", ("smartnoise-sql==1.0.10",), "with_smartnoise.py", 100),
)


class Job(NamedTuple):
    """A question, how often it is asked, and how far off an answer is."""

    title: str
    draws: int
    error: Callable[[dict[str, Any], Any], float | None]


def run(wanted: Wanted = everything) -> list[ErrorRow]:
    """All jobs, ours first."""
    given, found = _given(), list[ErrorRow]()
    titles = [title for key in JOBS for title in _titles(key)]
    ours = [key for key in JOBS if any(wanted(title, CHOSEN) for title in _titles(key))]
    found += _ours(given, ours)
    for peer in PEERS:
        asked = [key for key in JOBS if any(wanted(title, peer.name) for title in _titles(key))]
        if asked:
            found += _theirs(peer, given, asked)
    bounds = {row.job: row.bound for row in found if row.method == CHOSEN}
    found = [row._replace(bound=bounds.get(row.job) if row.bound is None else row.bound) for row in found]
    return sorted(found, key=lambda row: titles.index(row.job))


def _theirs(peer: Peer, given: dict[str, Any], asked: Sequence[str]) -> Iterator[ErrorRow]:
    """What a peer answers, or what the program saw instead."""
    python = environment(*peer.requirements)
    if python is None:
        why = why_missing(*peer.requirements)
        for key in asked:
            yield from (missing_row(title, peer.name, f"not installed: {why}") for title in _titles(key))
        return
    told = {**given, "draws": {key: min(JOBS[key].draws, peer.most) for key in asked}}
    answers = ask_peer(python, peer.program, told)
    for name, drawn in answers.items():
        key, _, variant = name.partition(", ")
        method = f"{peer.name}, {variant}" if variant else peer.name
        if isinstance(drawn, str):
            yield from (missing_row(title, method, drawn) for title in _titles(key))
        else:
            yield from _judged(key, method, given, drawn)


def _judged(key: str, method: str, given: dict[str, Any], drawn: Sequence[Any]) -> Iterator[ErrorRow]:
    """The mean error of some answers."""
    for title, error in zip(_titles(key), _measures(key), strict=True):
        errors = [each for answer in drawn if (each := error(given, answer)) is not None]
        if len(errors) > 1:
            yield mean_row(title, method, errors, _BOUNDS.get(key))


def _given() -> dict[str, Any]:
    """The tables, as every program gets them."""
    dice = random.Random(1)
    of_one = [(unit, count) for unit, count in enumerate(count for count in range(1, 61) for _ in range(count))]
    spread = (count for count in range(2, 151, 2) for _ in range(count))
    ages, educ = _election_study()
    return {
        "ages": ages,
        "educ": educ,
        "members": [(unit, group) for unit in range(1000) for group in dice.sample(range(OF_GROUPS), GROUPS)],
        "groups": GROUPS,
        "keys 1": of_one,
        "keys 5": [(place % 1140, count) for place, count in enumerate(spread)],
        "scores": [round(2000 / (i + 10)) for i in range(OPTIONS)],
        "k": BEST,
        "votes": [475, 472],
        "least": 472,
    }


def _election_study() -> tuple[list[int], list[str]]:
    """Ages and levels of schooling of 944 people, from the files of statsmodels."""
    python = environment("statsmodels==0.14.5")
    if python is None:
        raise RuntimeError(f"the public table is in statsmodels, which was {why_missing('statsmodels==0.14.5')}")
    (file,) = Path(python).parents[1].glob("lib/python*/site-packages/statsmodels/datasets/anes96/anes96.csv")
    with file.open(newline="") as lines:
        people = list(csv.DictReader(lines, delimiter="\t", quotechar="'"))
    return [int(person["age"]) for person in people], [person["educ"] for person in people]


def _ours(given: dict[str, Any], asked: Sequence[str]) -> Iterator[ErrorRow]:
    """By the law where it is known, else by releases."""
    names = [str(i) for i in range(OPTIONS)]
    with tempfile.TemporaryDirectory() as folder:

        def opened(name: str, head: list[str], rows: Iterable[Sequence[Any]], **more: Any) -> ln.Dataset:
            table = Path(folder) / f"{name}.csv"
            with table.open("w", newline="") as file:
                csv.writer(file).writerows([head, *rows])
            budget = ln.Privacy(10**6, "1/100", insist=True)
            return ln.open(table, budget=budget, ledger=Path(folder) / f"{name}.ledger", **more)

        people = opened("people", ["age", "educ"], zip(given["ages"], given["educ"], strict=True), columns=_AGE)
        limits: dict[str, Any] = {"privacy_unit": "unit", "groups_per_unit": GROUPS}
        groups = opened("groups", ["unit", "k"], given["members"], **limits).count(by="k", keys=names[:OF_GROUPS])
        best = opened("best", ["k"], ([names[i]] for i, n in enumerate(given["scores"]) for _ in range(n)))
        votes = opened("votes", ["k"], ([names[i]] for i, n in enumerate(given["votes"]) for _ in range(n)))
        few = opened("few", ["unit", "k"], given["keys 1"], privacy_unit="unit", groups_per_unit=1)
        more = opened("more", ["unit", "k"], given["keys 5"], **limits)
        queries: dict[str, tuple[ln.Query, tuple[Any, ...]]] = {
            "count": (people.count(), ("1/10",)),
            "histogram": (people.count(by="educ", keys=[str(k) for k in range(1, 8)]), (1,)),
            "groups": (groups, (1,)),
            "groups delta": (groups, (1, "1e-6")),
            "sum": (people.sum("age", bounds=(18, 100)), (1,)),
            "mean": (people.mean("age", bounds=(18, 100)), (1,)),
            "median": (people.median("age", bounds=(18, 100), step=1), ("1/10",)),
            "deciles": (people.quantile("age", [f"{k}/10" for k in range(1, 10)], bounds=(18, 100), step=1), (1,)),
            "unknown 1": (few.count(by="k"), (1, "1e-6")),
            "unknown 5": (more.count(by="k"), (1, "1e-6")),
            "top": (best.most_common(BEST, by="k", keys=names), ("1/10",)),
            "top counts": (best.count(by="k", keys=names), ("1/10",)),
            "vote": (votes.decision(by="k", keys=names[:2]), ("1/2",)),
            "at least": (votes.decision(at_least=given["least"], where="k = '0'"), ("1/2",)),
        }
        for key in asked:
            query, price = queries[key]
            if key in _EXACT:
                plan = query.plan(*price)
                bound = None if plan.lower_bound is None else float(plan.lower_bound)
                yield ErrorRow(JOBS[key].title, CHOSEN, float(plan.expected_error), 0.0, bound)
                continue
            drawn = [query.release(*price) for _ in range(min(JOBS[key].draws, _RELEASES))]
            yield from _judged(key, CHOSEN, given, [_read(key, release.value) for release in drawn])
            if key == "top":
                counted, price = queries["top counts"]
                tables = [counted.release(*price).value for _ in range(JOBS[key].draws)]
                yield from _judged(key, "ours, noisy counts", given, [_highest(_column(table)) for table in tables])


def _read(key: str, value: Any) -> Any:
    """An answer of ours in the form of the others'."""
    if key.startswith("unknown"):
        return dict(zip(value.columns["k"], value.columns["value"], strict=True))
    if key == "top":
        return [int(name) for name in _column(value)]
    if key == "vote":
        return int(value)
    return _column(value) if key == "deciles" else value


def _column(table: Any) -> list[Any]:
    return list(table.columns["value"])


def _highest(noisy: Sequence[float]) -> list[int]:
    return sorted(range(len(noisy)), key=lambda place: -noisy[place])[:BEST]


def _in_cells(true: Callable[[dict[str, Any]], list[int]]) -> Callable[[dict[str, Any], Any], float]:
    return lambda given, answer: float(np.mean(np.abs(np.subtract(answer, true(given)))))


def _tallies(keys: Iterable[Any]) -> list[int]:
    return [number for _, number in sorted(Counter(keys).items())]


def _of_members(given: dict[str, Any]) -> list[int]:
    return _tallies(group for _, group in given["members"])


def _ranks_off(levels: Sequence[float]) -> Callable[[dict[str, Any], Any], float]:
    """The mean distance from a level's rank to the ranks of its answer."""

    def error(given: dict[str, Any], answer: Any) -> float:
        ordered, wanted = np.sort(given["ages"]), np.array(levels) * len(given["ages"])
        below = np.searchsorted(ordered, np.atleast_1d(answer), side="left")
        above = np.searchsorted(ordered, np.atleast_1d(answer), side="right")
        return float(np.mean(np.maximum(np.maximum(below - wanted, wanted - above), 0.0)))

    return error


def _hidden(name: str) -> Callable[[dict[str, Any], Any], float]:
    return lambda given, answer: float(len({key for _, key in given[name]}) - len(answer))


def _shown(_: dict[str, Any], answer: dict[str, float]) -> float | None:
    """The names of these keys are their true counts."""
    return float(np.mean([abs(value - int(key)) for key, value in answer.items()])) if answer else None


def _lost(given: dict[str, Any], answer: Sequence[int]) -> float:
    return float(sum(given["scores"][:BEST]) - sum(given["scores"][place] for place in answer))


_AGE = {"age": "integer"}
_EXACT = ("count", "histogram", "groups", "groups delta", "sum")
_RELEASES = 200
_BOUNDS = {"vote": 1 / (1 + math.exp(6 * 0.5))}  # of this table and the one with the votes exchanged, six people away
JOBS = {
    "count": Job("number of 944 people, ε = 0.1", 1000, lambda given, answer: abs(answer - len(given["ages"]))),
    "histogram": Job("people by 7 levels of schooling, ε = 1", 200, _in_cells(lambda given: _tallies(given["educ"]))),
    "groups": Job("people in 20 groups, each in 5, ε = 1", 100, _in_cells(_of_members)),
    "groups delta": Job("people in 20 groups, each in 5, (1, 1e-6)", 100, _in_cells(_of_members)),
    "sum": Job("sum of 944 ages, ε = 1", 1000, lambda given, answer: abs(answer - sum(given["ages"]))),
    "mean": Job("mean of 944 ages, ε = 1", 1000, lambda given, answer: abs(answer - float(np.mean(given["ages"])))),
    "median": Job("median of 944 ages, ranks, ε = 0.1", 400, _ranks_off([0.5])),
    "deciles": Job("nine deciles of 944 ages, ranks, ε = 1", 50, _ranks_off(LEVELS)),
    "unknown 1": Job("60 unknown keys, one per person, (1, 1e-6)", 30, _hidden("keys 1")),
    "unknown 5": Job("75 unknown keys, five per person, (1, 1e-6)", 30, _hidden("keys 5")),
    "top": Job("5 most common of 1000 keys, ε = 0.1", 30, _lost),
    "vote": Job("a vote of 475 to 472, wrong winner, ε = 1/2", 1000, lambda _, answer: float(answer != 0)),
    "at least": Job("are 475 at least 472, wrong answer, ε = 1/2", 1000, lambda _, answer: float(not answer)),
}


def _titles(key: str) -> list[str]:
    """What the rows of a job are called; of unknown keys there are two errors."""
    title = JOBS[key].title
    return [f"{title}: keys not shown", f"{title}: a count"] if key.startswith("unknown") else [title]


def _measures(key: str) -> list[Callable[[dict[str, Any], Any], float | None]]:
    return [JOBS[key].error, _shown] if key.startswith("unknown") else [JOBS[key].error]
