"""What is answered, refused, charged and said is the same on neighbouring tables, except what is drawn."""

import datetime
import itertools
import json
import math

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import leastnoise.release as ln
from leastnoise.accounting import Ledger
from leastnoise.data import open_table
from leastnoise.errors import (
    BadParameter,
    Closed,
    EngineFailure,
    LeastNoiseError,
    LedgerUnavailable,
    RequestConflict,
    TooLarge,
)
from leastnoise.model.privacy import Privacy

pytestmark = pytest.mark.slow

KEYS = ["Lyon", "Metz"]
SCHEMA = pa.schema(
    [
        ("who", pa.string()),
        ("city", pa.string()),
        ("age", pa.int64()),
        ("pay", pa.float64()),
        ("fee", pa.decimal128(10, 2)),
        ("born", pa.date32()),
        ("member", pa.bool_()),
    ]
)
PLAIN = ("a", "Lyon", 30, 1.5, 1, datetime.date(2000, 1, 1), True)
ODD = {
    "plain": ("b", "Metz", 31, 2.5, 2, datetime.date(2001, 1, 1), False),
    "nothing": (None,) * 7,
    "no unit": (None, *PLAIN[1:]),
    "largest": ("Z" * 300, "", 2**63 - 1, math.inf, 99999999, datetime.date(9999, 12, 31), True),
    "smallest": ("", "\N{GRINNING FACE}", -(2**63), -math.inf, -99999999, datetime.date(1, 1, 1), None),
    "no number": ("nan", "nan", 0, math.nan, 0, datetime.date(1970, 1, 1), None),
}

QUESTIONS = {
    "count": lambda d: d.count().release("1/2"),
    "filtered": lambda d: d.count(where="age / pay > 1 AND city LIKE 'L%' OR fee * 2 > age").release("1/2"),
    "by keys": lambda d: d.count(by="city", keys=KEYS, of="units").release("1/2"),
    "by bins": lambda d: d.count(by="pay", bins=[0, 1, 2]).release("1/2"),
    "sum": lambda d: d.sum("age", bounds=(-5, 100)).release("1/2"),
    "sum of decimals": lambda d: d.sum("fee", bounds=(0, 10), step="1/4", by="city", keys=KEYS).release("1/2"),
    "mean": lambda d: d.mean("pay", bounds=(0, 10), step=1).release("1/2"),
    "variance": lambda d: d.variance("age", bounds=(0, 100)).release("1/2"),
    "tables": lambda d: d.tables(by=["city", "member"], keys={"city": KEYS, "member": [True, False]}).release(1),
    "many prefix sums": lambda d: d.workload("prefix sums", by="age", bins=range(0, 101, 2)).release("1/2"),
    "hierarchy": lambda d: d.hierarchy(["land", "city"], {"x": KEYS}).release("1/2", "1e-6"),
    "workload": lambda d: d.workload("prefix sums", by="age", bins=[0, 20, 40, 60]).release("1/2"),
    "median": lambda d: d.median("age", bounds=(0, 100), step=10).release("1/2"),
    "choice": lambda d: d.choose(["age > 5", "pay > 1"]).release("1/2"),
    "most common": lambda d: d.most_common(by="city", keys=KEYS).release("1/2"),
    "sorted": lambda d: d.sorted_counts(by="city", total=10, top=3).release("1/2"),
    "unknown keys": lambda d: d.count(by="city", of="units", rest=True).release("1/2", "1e-6"),
    "sum by unknown keys": lambda d: d.sum("fee", bounds=(0, 10), step=1, by=["city", "born"]).release("1/2", "1e-6"),
    "mean by unknown keys": lambda d: d.mean("pay", bounds=(0, 10), step=1, by="age").release("1/2", "1e-6"),
    "common unknown keys": lambda d: d.most_common(2, by="city").release("1/2", "1e-6"),
    "private bounds": lambda d: d.sum("age", bounds="private").release("1/2"),
    "repeated id": lambda d: [d.count().release("1/2", request_id="q"), d.count().release("1/2", request_id="q")][1],
    "another question under an id": lambda d: d.count(of="units").release("1/2", request_id="q"),
    "keys of another kind": lambda d: d.count(by="age", keys=KEYS).release("1/2"),
    "no such column": lambda d: d.count(by="town", keys=KEYS).release("1/2"),
    "no such δ": lambda d: d.count(by="city").release("1/2"),
    "more than the budget": lambda d: d.count().release(Privacy(10**9, insist=True)),
}


def write(path, rows):
    columns = [list(column) for column in zip(*rows, strict=True)] if rows else [[] for _ in SCHEMA]
    pq.write_table(pa.table(dict(zip(SCHEMA.names, columns, strict=True)), schema=SCHEMA), path)
    return path


def outcomes(path, place, questions, sabotage=None, **options):
    """Of each question: what came of it, in which words and which form, what it cost, and what the ledger wrote."""
    found = {}
    with open_table(path, privacy_unit=options.get("privacy_unit")) as table, Ledger.create(place) as ledger:
        if sabotage is not None:
            sabotage(table)
        with ln.open(table, name="t", budget=(20, "1/10"), ledger=ledger, **options) as dataset:
            for name, ask in questions.items():
                seen = len(list(ledger.entries()))
                try:
                    release = ask(dataset)
                    shape = {key: release.table[key] for key in release.table.keys}
                    said = ("answered", str(release.plan), release.table.names, repr(shape), len(list(release.table)))
                except LeastNoiseError as error:
                    said = (type(error).__name__, str(error), repr(error.__cause__), repr(error.__context__))
                written = [entry_form(json.loads(row.body)) for row in itertools.islice(ledger.entries(), seen, None)]
                found[name] = (said, written, str(dataset.left))
        ledger.verify()
    return found


def entry_form(entry):
    """An entry without what differs from one release to the next: names, times and what was drawn."""
    answer = entry.get("answer")
    answer = answer["estimates"] if isinstance(answer, dict) and "estimates" in answer else answer
    drawn = {"answer": len(answer)} if isinstance(answer, list) else {}
    return {key: value for key, value in entry.items() if key not in ("time", "request", "answer", "hash")} | drawn


@pytest.mark.parametrize(
    ("rows", "unit", "added"),
    [
        ([PLAIN, PLAIN], "who", ["plain", "no unit", "largest"]),
        ([], None, ["largest", "nothing"]),
        ([], "pay", ["no number", "smallest"]),
    ],
    ids=["persons", "rows", "odd units"],
)
def test_neighbours_differ_in_what_is_drawn_and_nothing_else(tmp_path, rows, unit, added):
    options = {} if unit is None else {"privacy_unit": unit, "groups_per_unit": 2, "rows_per_unit": 2}
    expected = outcomes(write(tmp_path / "t.parquet", rows), tmp_path / "ledger", QUESTIONS, **options)
    assert [said[0] for said, *_ in expected.values()][:22] == ["answered"] * 22
    assert not any("answered" in said for said, *_ in list(expected.values())[22:])
    for name in added:
        path = write(tmp_path / "t.parquet", [*rows, ODD[name]])
        assert outcomes(path, tmp_path / f"ledger {name}", QUESTIONS, **options) == expected


def test_no_private_row_is_read_before_the_price_is_held(tmp_path):
    written = []

    def watch(table):
        execute, private = table._execute, "".join(table.private_rows(()).parts)

        def executed(text, values):
            if private in text:
                with Ledger.open(tmp_path / "ledger") as ledger:
                    written.append([json.loads(row.body)["kind"] for row in ledger.entries()][-1])
            return execute(text, values)

        table._execute = executed

    options = {"privacy_unit": "who", "groups_per_unit": 2}
    outcomes(write(tmp_path / "t.parquet", [PLAIN]), tmp_path / "ledger", QUESTIONS, watch, **options)
    assert len(written) >= 20
    assert set(written) == {"reserve"}


def failing_on_made_up_rows(table):
    """An engine that fails on extremes, none of which is in the table."""
    execute, private = table._execute, "".join(table.private_rows(()).parts)

    def executed(text, values):
        if private not in text and not text.startswith("CREATE"):
            raise ValueError
        return execute(text, values)

    table._execute = executed


def test_a_question_that_fails_on_made_up_rows_is_refused_and_costs_nothing(tmp_path):
    asked = {"count": QUESTIONS["count"], "median": QUESTIONS["median"]}
    found = outcomes(write(tmp_path / "t.parquet", [PLAIN]), tmp_path / "ledger", asked, failing_on_made_up_rows)
    assert {said[0] for said, *_ in found.values()} == {"UnsafeQuestion"}
    assert [written for _, written, _ in found.values()] == [[], []]


WORDS = "there are 42 rows of Ada"
RAISED = [
    ValueError(WORDS),
    MemoryError(WORDS),
    RecursionError(WORDS),
    *(kind(WORDS, fix=WORDS) for kind in (BadParameter, TooLarge, Closed, RequestConflict, LedgerUnavailable)),
    EngineFailure(WORDS, given=WORDS, fix=WORDS),
]


def failing_on_ada(error):
    """An engine with an unknown hole: it fails iff Ada is there, and says what it likes."""

    def sabotage(table):
        execute, private = table._execute, "".join(table.private_rows(()).parts)

        def executed(text, values):
            found = execute(text, values)
            if private in text and len(found[0]) and int(found[-1][0]) > 0:
                raise error
            return found

        table._execute = executed

    return sabotage


def test_a_hole_in_an_engine_tells_one_bit_and_then_a_person_looks(tmp_path):
    ada = {f"q{i}": lambda d: d.count(where="who = 'Ada'").release("1e-9") for i in range(5)}
    with_ada, without = ("Ada", *PLAIN[1:]), ("Eve", *PLAIN[1:])
    outcome = None
    for number, error in enumerate(RAISED):
        place = tmp_path / f"ledger {number}"
        found = outcomes(write(tmp_path / "t.parquet", [with_ada]), place, ada, failing_on_ada(error))
        (first, written, left), *later = found.values()
        assert first[0] == "EngineFailure"
        assert WORDS not in repr(found)
        assert written[-1]["kind"] == "fail"
        assert "ε = 19.9 " in left  # at least the floor, though the question cost next to nothing
        assert {(said[0], len(entries)) for said, entries, _ in later} == {("DatasetSuspended", 0)}
        later_texts = {said[1].split(" since ")[0] for said, *_ in later}
        outcome = outcome or (first, written, left, later_texts)
        assert (first, written, left, later_texts) == outcome  # whatever the engine said
    quiet = outcomes(write(tmp_path / "t.parquet", [without]), tmp_path / "quiet", ada, failing_on_ada(RAISED[0]))
    assert {said[0] for said, *_ in quiet.values()} == {"answered"}
