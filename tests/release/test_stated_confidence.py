"""Every question that states intervals: each of its numbers is held as often as is said, by draws beside the truth."""

from fractions import Fraction

import pytest
from scipy.stats import binom

from leastnoise.model.privacy import Privacy
from leastnoise.release import Dataset
from leastnoise.release.calls import questions_of
from support.people import CITIES, SURE
from support.statistics import ALPHA

pytestmark = pytest.mark.slow

DRAWS, LEVEL = 300, Fraction(9, 10)
PRICE, FINDING = Privacy("1/2"), Privacy("1/2", "1e-6")
BINS = {"age": [0, 20, 40, 60, 80, 100]}
TREE = {"North": ["Lyon", "Metz"], "South": ["Nice"]}
STATED = {
    "count": lambda d: d.count(),
    "count by city": lambda d: d.count(by="city", keys=CITIES),
    "count by unknown city": lambda d: d.count(by="city"),
    "sum": lambda d: d.sum("income", bounds=(0, 1000), by="city", keys=CITIES),
    "sum by unknown city": lambda d: d.sum("income", bounds=(0, 1000), by="city", rest=True),
    "mean": lambda d: d.mean("income", bounds=(0, 1000), by="city", keys=CITIES),
    "mean by unknown city": lambda d: d.mean("income", bounds=(0, 1000), by="city", rest=True),
    "mean of booleans": lambda d: d.mean("member"),
    "proportion": lambda d: d.proportion("age >= 65", by="city", keys=CITIES),
    "ratio": lambda d: d.ratio("income", "age", bounds={"income": (0, 1000), "age": (0, 100)}),
    "variance": lambda d: d.variance("age", bounds=(0, 100)),
    "deviation": lambda d: d.deviation("age", bounds=(0, 100)),
    "count_distinct": lambda d: d.count_distinct("age"),
    "median": lambda d: d.median("age", bounds=(0, 100), interval_share="1/2", interval_confidence=LEVEL),
    "quantile": lambda d: d.quantile(
        "income", ["1/4", "3/4"], bounds=(0, 1000), interval_share="1/2", interval_confidence=LEVEL
    ),
    "workload prefix sums": lambda d: d.workload("prefix sums", bins=BINS),
    "workload ranges": lambda d: d.workload("ranges", bins=BINS),
    "tables": lambda d: d.tables(keys={"city": CITIES, "sex": ["m", "f"], "member": [True, False]}),
    "hierarchy": lambda d: d.hierarchy(["part", "city"], TREE),
}
WITHOUT = {  # questions whose answers have no interval, and why
    "batch": "its answers are those of its questions",
    "choose": "an option is no number",
    "most_common": "keys are no numbers",
    "decision": "yes or no; how sure it is is said",
    "design": "tests/release/test_designed.py holds its intervals on every count",
    "facilities": "what leaves are places; what is stated is a cost",
    "graph": "its error is that of the whole graph; tests/mechanisms holds it",
    "min": "what is stated is an error in rows, for every table",
    "max": "what is stated is an error in rows, for every table",
    "sorted_counts": "its error is that of the whole list",
}


def test_every_question_is_here():
    assert {name.split()[0] for name in STATED} | set(WITHOUT) == set(questions_of(Dataset))


def cells(table):
    """The value and the bars of each cell."""
    keys = list(zip(*(table[name] for name in table.keys), strict=True)) or [()]
    return dict(zip(keys, zip(table["value"], table["low"], table["high"], strict=True), strict=True))


def held(query, price, level):
    """How often the true value of each cell lies within its interval, and how many intervals it had."""
    truth = {key: value for key, (value, *_) in cells(query.release(true_price(price), confidence=LEVEL).table).items()}
    how, private = query.answer_plan(price), query.read()
    found = {key: [0, 0] for key in truth}
    for _ in range(DRAWS):
        for key, (_, low, high) in cells(how.to_table(how.draw(private), level)).items():
            if key in found:
                found[key][0] += bool(low <= truth[key] + 1e-9 and truth[key] - 1e-9 <= high)
                found[key][1] += 1
    return found


def true_price(price):
    return SURE if not price.delta else Privacy(4000, "1e-6", insist=True)


@pytest.mark.parametrize("name", STATED)
def test_intervals_hold_as_often_as_they_say(open_people, name):
    query = STATED[name](open_people())
    found = held(query, FINDING if "unknown" in name else PRICE, LEVEL)
    assert found
    for key, (inside, shown) in found.items():
        assert shown == DRAWS, key
        assert binom.cdf(inside, shown, float(LEVEL)) > ALPHA / len(found), (key, inside)


def test_intervals_of_a_lower_confidence_would_be_caught(open_people):
    for name in ("count by city", "sum", "proportion"):
        found = held(STATED[name](open_people()), PRICE, Fraction(1, 2))
        assert min(binom.cdf(inside, shown, float(LEVEL)) for inside, shown in found.values()) < ALPHA / len(found)
