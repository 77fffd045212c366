"""Whatever is passed to a public function, it answers or refuses with a typed error, and a refusal leaves no trace."""

import itertools
import signal
from datetime import date
from decimal import Decimal
from fractions import Fraction
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import leastnoise as ln
from leastnoise.errors import LeastNoiseError
from leastnoise.ledger import Ledger, Request
from leastnoise.mechanisms import Geometric
from leastnoise.model.channel import Channel
from leastnoise.model.events import Pure
from leastnoise.model.graphs import path as path_graph


def _endless():
    return itertools.repeat("Lyon")


def _deep():
    nested = []
    for _ in range(10**5):
        nested = [nested]
    return nested


def _recursive():
    nested = ["Lyon"]
    nested.append(nested)
    return nested


def _recursive_dict():
    nested = {}
    nested["city"] = nested
    return nested


class Unprintable:
    """An object that can't be shown, and compares with nothing."""

    __hash__ = None

    def __repr__(self):
        raise RuntimeError

    def __eq__(self, other):
        raise RuntimeError


DEEP = _deep()
HUGE = "x" * 10**6
WHOLE = 10**5000  # Python refuses to print it in decimal

# Each is made anew for every call: some of them can be read only once.
HOSTILE = {
    "none": lambda: None,
    "true": lambda: True,
    "zero": lambda: 0,
    "three": lambda: 3,
    "negative": lambda: -1,
    "whole": lambda: WHOLE,
    "nan": lambda: float("nan"),
    "infinite": lambda: float("inf"),
    "tiny": lambda: 5e-324,
    "complex": lambda: 1j,
    "signalling": lambda: Decimal("sNaN"),
    "quiet": lambda: Decimal("NaN"),
    "wide decimal": lambda: Decimal("1e999999"),
    "fraction": lambda: Fraction(1, 3),
    "empty text": lambda: "",
    "text": lambda: "x",
    "column": lambda: "age",
    "surrogate": lambda: "\ud800",
    "nul": lambda: "a\0b",
    "newline": lambda: "a\nb",
    "huge text": lambda: HUGE,
    "open parentheses": lambda: "(" * 10**5,
    "bytes": lambda: b"age",
    "empty bytes": lambda: b"",
    "object": object,
    "unprintable": Unprintable,
    "type": lambda: int,
    "function": lambda: len,
    "path": lambda: Path("age"),
    "date": lambda: date(2024, 2, 29),
    "missing": lambda: pd.NA,
    "no time": lambda: pd.NaT,
    "numpy scalar": lambda: np.int64(3),
    "numpy bool": lambda: np.bool_(True),
    "numpy nan": lambda: np.float32("nan"),
    "numpy time": lambda: np.datetime64("NaT"),
    "numpy array": lambda: np.array([1.0, 2.0]),
    "numpy matrix": lambda: np.array([["x"]]),
    "numpy point": lambda: np.array(3),
    "numpy objects": lambda: np.array([object()], dtype=object),
    "series": lambda: pd.Series(["age"]),
    "frame": lambda: pd.DataFrame({"age": [1]}),
    "empty list": list,
    "empty dict": dict,
    "empty tuple": tuple,
    "set": lambda: {"age"},
    "list of none": lambda: [None],
    "list of lists": lambda: [["x"]],
    "list of dicts": lambda: [{}],
    "list of signalling": lambda: [Decimal("sNaN")],
    "list of nan": lambda: [float("nan"), 1],
    "list of missing": lambda: [pd.NA, pd.NaT],
    "list of surrogates": lambda: ["\ud800"],
    "list of nul": lambda: ["a\0b"],
    "list of wholes": lambda: [WHOLE, WHOLE + 1],
    "list of objects": lambda: [object(), Unprintable()],
    "list of bools": lambda: [False, True],
    "list of huge texts": lambda: [HUGE],
    "number to list": lambda: {3: ["Lyon"]},
    "missing to list": lambda: {pd.NA: ["Lyon"]},
    "column to number": lambda: {"city": 3, "age": 3},
    "column to object": lambda: {"city": object()},
    "column to endless": lambda: {"city": _endless()},
    "recursive dict": _recursive_dict,
    "recursive": _recursive,
    "deep": lambda: DEEP,
    "endless": _endless,
    "endless numbers": itertools.count,
    "endless pairs": lambda: ([i, i] for i in itertools.count()),
}

CITY = {"by": "city", "keys": ["Lyon", "Metz"]}
AGE = {"column": "age", "bounds": (0, 100)}
INTERVAL = {"interval_share": "1/2", "interval_confidence": 0.9}
ENDS = {"tail": "city", "head": "sex", "nodes": ["Lyon", "f"]}
REST = {"where": "age > 3", "groups_per_unit": 1, "rows_per_unit": 1}

# A call that is in order, for every method; each of its arguments in turn is replaced by every hostile value.
QUESTIONS = {
    "count": {**CITY, "bins": None, **REST, "of": "rows"},
    "workload": {
        "matrix": [[1, 0], [1, 1]],
        **CITY,
        "bins": None,
        **REST,
        "of": "rows",
        "names": ["a", "b"],
        "weights": None,
        "goal": "total",
        "targets": None,
    },
    "hierarchy": {
        "levels": ["land", "city"],
        "tree": {"x": ["Lyon"], "y": ["Metz"]},
        **REST,
        "of": "rows",
        "weights": {"land": 2},
        "goal": "total",
    },
    "tables": {
        "by": ["city", "sex"],
        "ways": [["city"], ["city", "sex"]],
        "goal": "total",
        "keys": {"city": ["Lyon", "Metz"], "sex": ["f", "m"]},
        "bins": None,
        **REST,
        "of": "rows",
    },
    "sum": {**AGE, "step": 1, **CITY, "bins": None, **REST},
    "mean": {**AGE, "step": 1, **CITY, "bins": None, **REST, "expected_rows": 10},
    "variance": {**AGE, "step": 1, **CITY, "bins": None, **REST, "expected_rows": 10},
    "deviation": {**AGE, "step": 1, **CITY, "bins": None, **REST, "expected_rows": 10},
    "proportion": {"condition": "age > 3", **CITY, "bins": None, **REST, "expected_rows": 10},
    "ratio": {
        "numerator": "age",
        "denominator": "weight",
        "bounds": {"age": (0, 9), "weight": (0, 9)},
        "step": {"age": 1},
        **CITY,
        "bins": None,
        **REST,
    },
    "count_distinct": {"column": "city", "where": None, "groups_per_unit": 2},
    "median": {**AGE, "step": 1, "grid": None, **CITY, "bins": None, **REST, "expected_rows": 10, **INTERVAL},
    "quantile": {**AGE, "levels": [0.25, 0.5], "step": 1, "grid": None, **CITY, "bins": None, **REST, **INTERVAL},
    "most_common": {"k": 1, **CITY, "bins": None, "where": None, "of": "rows", "rows_per_unit": 1},
    "choose": {"options": ["age < 18", "age >= 18"], "where": None, "rows_per_unit": 1},
    "decision": {"at_least": 10, "where": None, "of": "rows", "rows_per_unit": 1},
    "design": {**CITY, "bins": None, "at_most": 3, "prior": [1, 2, 3, 4], "loss": "squared", **REST, "of": "rows"},
    "graph": {"answer": "edges", **ENDS, "where": None, "groups_per_unit": 1},
    "sorted_counts": {"by": "city", "total": 100, "top": 10, "where": None},
}
OTHER_QUESTIONS = [
    ("graph", {"answer": "cut", **ENDS, "where": None, "groups_per_unit": 1}),
    ("count", {"by": "age", "bins": [0, 50, 100]}),
    ("count", {"by": "day", "bins": "months from 2026-01 to 2026-02"}),
    ("choose", {**CITY, "bins": None, "sum_of": "age", "bounds": (0, 100), "step": 1}),
    ("decision", {**CITY, "bins": None}),
    ("median", {"column": "age", "grid": [1, 2, 3]}),
]


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """A small table, opened once."""
    file = tmp_path_factory.mktemp("hostile") / "people.csv"
    file.write_text("person,city,sex,age,weight,day\n1,Lyon,f,30,5,2026-01-31\n2,Metz,m,40,6,\n")
    with ln.data.open_table(file, columns={"age": "integer", "weight": "integer", "day": "date"}) as opened:
        yield opened


@pytest.fixture
def dataset(table, tmp_path):
    """A dataset whose ledger has its first entries, so that a refusal has something to leave alone."""
    with ln.open(table, privacy_unit="person", budget=(1, "1e-6"), ledger=tmp_path / "ledger") as opened:
        yield opened


def wrong(call):
    """What a call raises that is no error of ours, or None; no call may take long."""
    signal.setitimer(signal.ITIMER_PROF, 30)  # of all threads; a hang takes longer on any machine
    try:
        call()
    except LeastNoiseError as error:
        try:
            str(error).encode()
        except UnicodeEncodeError:
            return "a text that can't be printed"
        return None if len(str(error)) < 1500 else f"a text of {len(str(error))} characters"
    except Exception as error:  # whatever it is, it is reported
        return f"{type(error).__name__}: {str(error)[:80]}"
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    return None


@pytest.fixture(autouse=True)
def _no_hang():
    def stop(*_):
        raise TimeoutError

    former = signal.signal(signal.SIGPROF, stop)
    yield
    signal.signal(signal.SIGPROF, former)


def failures(name, function, valid):
    """Every hostile value for every argument that ends in anything but an answer or a typed error."""
    function(**valid)
    found = []
    for argument, (label, make) in itertools.product(valid, HOSTILE.items()):
        given = {**valid, argument: make()}
        problem = wrong(lambda given=given: function(**given))
        if problem is not None:
            found.append(f"{name}({argument}=<{label}>): {problem}")
    return found


def guarded(ledger, function):
    """The function, with a look at the ledger: a refusal must not have changed it."""

    def call(**given):
        before = list(ledger.entries())
        try:
            function(**given)
        except LeastNoiseError:
            assert list(ledger.entries()) == before, "a refusal left a trace"
            raise

    return call


@pytest.mark.slow
@pytest.mark.parametrize(
    ("method", "valid"), [*QUESTIONS.items(), *OTHER_QUESTIONS], ids=lambda value: value if type(value) is str else ""
)
def test_a_question_is_put_or_refused(dataset, method, valid):
    def ask(**given):
        made = getattr(dataset, method)(**given)
        for query in made.queries if isinstance(made, ln.release.Batch) else (made,):
            assert isinstance(query.question, str)
            assert Request("q", Pure(1), "d", "a", parameters=query.parameters()).fingerprint
            query.check()

    before = list(dataset.ledger.entries())
    assert failures(method, ask, valid) == []
    assert list(dataset.ledger.entries()) == before


def test_a_price_is_paid_or_refused(dataset):
    query = dataset.count(**CITY)
    price = {"epsilon": "1/100", "delta": 0}
    assert failures("plan", guarded(dataset.ledger, query.plan), price) == []
    release = guarded(dataset.ledger, query.release)
    assert failures("release", release, {**price, "request_id": "first"}) == []


def test_a_table_is_opened_or_refused(table, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "people.csv"
    file.write_text("person,age\n1,30\n")
    names = {"privacy_unit": "person", "budget": 1, "name": "people", "analyst": "ada", "purpose": "any"}
    bounds = {"groups_per_unit": 1, "rows_per_unit": 1}
    places = {"table": None, "columns": None, "memory_limit": None, "temp_directory": None}
    with Ledger.create(tmp_path / "ledger") as ledger:
        before = list(ledger.entries())

        def opening(**given):
            ln.open(**{"source": file, "ledger": ledger, "budget": 1, **given}).close()

        assert failures("open", lambda **given: opening(source=table, **given), names | bounds) == []
        assert failures("open", opening, places) == []
        assert failures("open", opening, {"source": file}) == []
        assert failures("open", lambda **given: opening(source=table, **given), {"ledger": ledger}) == []
        assert list(ledger.entries()) == before


def test_a_grant_and_a_debit_are_written_or_refused(tmp_path):
    grant = {"budget": ln.Privacy(1), "dataset": "d", "analyst": "a", "purpose": "p", "refresh": 60, "event_delta": 0}
    debit = {"id": "q", "event": Pure("1e-9"), "dataset": "d", "analyst": "a", "purpose": "p", "parameters": {"x": 1}}
    with Ledger.create(tmp_path / "ledger") as ledger:
        ledger.grant(ln.Privacy(10), "d")
        assert failures("grant", guarded(ledger, ledger.grant), grant) == []
        assert failures("Request", guarded(ledger, lambda **given: ledger.debit(Request(**given))), debit) == []
        assert failures("debit", guarded(ledger, ledger.debit), {"request": Request(**debit)}) == []
        assert ledger.verify()


def test_a_design_is_made_or_refused():
    words = {"prior": None, "loss": None, "outputs": None, "objective": "average", "reader": "rational"}
    limits = {"time_limit": 1, "progress": None, "route": None}
    valid = {"graph": "path:3", "epsilon": "ln(2)", "delta": 0}
    assert failures("design", ln.design, {**valid, **words, **limits}) == []


def test_a_claim_is_checked_or_refused():
    rows = {"subject": Channel([["2/3", "1/3"], ["1/3", "2/3"]]), "graph": path_graph(2)}
    assert failures("check", ln.check, {**rows, "epsilon": "ln(2)", "delta": 0, "group": 1}) == []
    assert failures("Privacy", ln.Privacy, {"epsilon": 1, "delta": 0}) == []


def test_a_channel_is_made_or_refused():
    valid = {"matrix": [["2/3", "1/3"], ["1/3", "2/3"]], "inputs": ["a", "b"], "outputs": ["c", "d"]}
    assert failures("Channel", Channel, valid) == []
    assert failures("Channel", lambda entry: Channel([[entry]]), {"entry": 1}) == []


def test_a_mechanism_is_released_or_refused(tmp_path):
    with Ledger.create(tmp_path / "ledger") as ledger:
        ledger.grant(ln.Privacy(1000, "1/10", insist=True), "d")
        charge = {"ledger": ledger, "dataset": "d", "analyst": "a", "purpose": "any", "request_id": None}
        price = {"epsilon": "1/100", "delta": 0}
        asked = {
            "mechanism": (ln.release_mechanism, {"mechanism": Geometric("1/100"), "parameters": None}, {"truth": 1}),
            "min cut": (ln.combinatorial.min_cut, {"nodes": 3, "weights": None, **price}, {"graph": [(0, 1)]}),
            "cover": (ln.combinatorial.vertex_cover, {"nodes": 3, "epsilon": "1/100"}, {"graph": [(0, 1)]}),
            "facilities": (
                ln.combinatorial.k_median,
                {"points_or_metric": [[0.0], [1.0], [2.0]], "k": 1, "steps": 1, **price},
                {"demand": [0]},
            ),
            "counts": (
                ln.combinatorial.sorted_counts,
                {"total": 10, "top": 2, "example": None},
                {"counts": [3], "epsilon": 1},
            ),
        }
        found = []
        for name, (function, public, private) in asked.items():
            fixed, varied = ({}, charge) if name == "mechanism" else (charge, {})
            found += failures(name, guarded(ledger, partial(function, **private, **fixed)), {**public, **varied})
        assert found == []
