"""Nothing but the noise may depend on the data: neighbours get the same plans, prices, refusals, shapes and texts."""

import pyarrow as pa
import pytest

import leastnoise.release as ln
from leastnoise.data import open_table
from leastnoise.errors import LeastNoiseError
from leastnoise.release.batch import Batch
from leastnoise.release.queries.facilities import Facilities
from leastnoise.release.queries.running import Running
from leastnoise.release.queries.unknown_keys import KeyQuery

from .test_neighbours import BOUNDS, BY_KEY, KEYS, QUESTIONS, SCHEMA, SMALL, make_rows, neighbours

pytestmark = pytest.mark.slow

TINY = "1e-6"
REFUSED = {  # by what is public: the schema, the parameters, the budget
    "keys of another kind": lambda d: d.count(by="k", keys=[1, 2]),
    "a column that is not there": lambda d: d.count(by="K", keys=KEYS),
    "no numbers": lambda d: d.sum("k", bounds=(0, 1)),
    "too fine a step": lambda d: d.sum("x", bounds=(0, 1), step="1e-30"),
    "edges beyond doubles": lambda d: d.count(by="x", bins=[0, 10**309]),
    "two edges that are one double": lambda d: d.count(by="x", bins=[0, "1e-400", 1]),
    "a filter of another kind": lambda d: d.count(where="k > 3"),
    "a derived column that is taken": lambda d: d.with_columns({"k": "n + 1"}).count(),
    "a feature without bounds": lambda d: d.per_unit({"total": "sum(x)"}).count(),
    "SQL without bounds": lambda d: d.sql("SELECT SUM(x) FROM t").asked,
    "doubles as keys": lambda d: d.count(by="x", of="units"),
}


def kind_of(value):
    return "number" if isinstance(value, int | float) and not isinstance(value, bool) else type(value).__name__


def released(query, delta, name):
    """What is released: of a batch all answers, of a run its first days."""
    if isinstance(query, Running):
        return [query.release(day, TINY, delta) for day in query.days[:2]]
    found = query.release(TINY, delta, request_id=name)
    return list(found) if isinstance(query, Batch) else [found]


def outcome(dataset, ask, delta, name):
    """All that an analyst sees of a question, but for the noisy numbers."""
    try:
        query = ask(dataset)
        plan = query.plan(TINY, delta)
        seen = [repr(query), str(plan), plan.to_dict(), plan._repr_html_()]
        if not isinstance(query, Batch):
            seen += [query.question, query.parameters()]
        releases = released(query, delta, name)
    except LeastNoiseError as refusal:
        return type(refusal).__name__, str(refusal), dataset.left
    for release in releases:
        table = release.table
        keys = None if isinstance(query, KeyQuery | Facilities) else [table[key] for key in table.keys]
        drawn = None if keys is None else [[kind_of(value) for value in table[name]] for name in table.measures]
        seen += [table.names, keys, drawn, str(release.cost), release.no_certificate]
    return "answered", seen, len(releases), dataset.left


@pytest.fixture
def open_rows(tmp_path):
    """Open tables of one name, each with a ledger and a budget like every other's."""
    opened = []

    def open_it(rows, contribution):
        table = open_table(pa.Table.from_pylist(rows, schema=pa.schema({"u": pa.string(), **SCHEMA})))
        opened.append(table)
        limits = {"groups_per_unit": contribution.groups_per_unit, "rows_per_unit": contribution.rows_per_unit}
        place = tmp_path / f"ledger {len(opened)}"
        opened.append(ln.open(table, name="t", privacy_unit="u", budget=(1, "1/10"), ledger=place, **limits))
        return opened[-1]

    yield open_it
    for each in opened[::-1]:
        each.close()


def test_neighbours_look_the_same(open_rows):
    rows, contribution = make_rows(3, pa.string()), BOUNDS[1]
    datasets = [open_rows(listed, contribution) for listed in (rows, neighbours(rows, contribution)[-1], [])]
    for name, (question, delta) in QUESTIONS.items():
        if name in ("sum, Gaussian", "differences, Gaussian"):
            continue  # slow to plan, and like the others
        seen = [outcome(dataset, question, delta, name) for dataset in datasets]
        assert all(one == seen[0] for one in seen[1:]), name
        assert seen[0][0] == "answered", (name, seen[0])


def test_refusals_look_the_same(open_rows):
    rows = make_rows(4, pa.string())
    datasets = [open_rows(listed, BOUNDS[0]) for listed in (rows, [], rows[:1])]
    for name, question in REFUSED.items():
        seen = [outcome(dataset, question, SMALL, name) for dataset in datasets]
        assert all(one == seen[0] for one in seen[1:]), name
        assert len(seen[0]) == 3, name
        assert seen[0][2].used == 0


def test_a_question_beyond_the_budget_looks_the_same(open_rows):
    rows = make_rows(4, pa.string())
    seen = [
        outcome(open_rows(listed, BOUNDS[0]), lambda d: Dear(d.count(**BY_KEY)), 0, "dear") for listed in (rows, [])
    ]
    assert seen[0] == seen[1]
    assert seen[0][0] == "BudgetExceeded"


class Dear:
    """A question that is released at a price beyond the budget."""

    def __init__(self, query):
        self.query = query

    def __getattr__(self, name):
        return getattr(self.query, name)

    def release(self, *_, **options):
        return self.query.release(5, **options)
