"""Attacks on queries, budget and noise that a library must withstand, replayed through HTTP: a case for each row.

Two datasets differ by one person, whose values are the worst that a file can hold. Whatever is asked, through the
service both are answered alike, or refused alike: the same status, the same words, the same columns and rows' keys.
"""

import csv
import json
import re
from decimal import Decimal
from fractions import Fraction

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from support.serving import Server

pytestmark = pytest.mark.slow

MORE = """
[datasets.rows_1]
source = "rows_1.parquet"
unit = "person"
budget = ["20", "1e-3"]
[datasets.rows_0]
source = "rows_0.parquet"
unit = "person"
budget = ["20", "1e-3"]
[datasets.csv_1]
source = "rows_1.csv"
unit = "person"
budget = 20
[datasets.csv_0]
source = "rows_0.csv"
unit = "person"
budget = 20
"""
BROKEN = b"\xff\xfe(a+)+b"


def texts(values):
    """Texts as somebody else's program writes them: not all of them are UTF-8."""
    ends = [0]
    for each in values:
        ends.append(ends[-1] + len(each))
    offsets = pa.array(ends, pa.int32()).buffers()[1]
    return pa.StringArray.from_buffers(len(values), offsets, pa.py_buffer(b"".join(values)))


def table(rows):
    return pa.table(
        {
            "person": pa.array([row[0] for row in rows], pa.int64()),
            "n": pa.array([row[1] for row in rows], pa.int64()),
            "amount": pa.array([Decimal(row[2]) for row in rows], pa.decimal128(18, 2)),
            "wide": pa.array([Decimal(row[3]) for row in rows], pa.decimal128(38, 18)),
            "x": pa.array([row[4] for row in rows], pa.float64()),
            "time": pa.array([row[5] for row in rows], pa.timestamp("us")),
            "name": texts([row[6] for row in rows]),
        }
    )


USUAL = [(number, number % 50, "12.50", "1.5", 0.5, 1_700_000_000_000_000, b"alice") for number in range(200)]
WORST = (7777, 2**63 - 1, "9999999999999999.99", "99999999999999999999.5", float("nan"), -(2**63), BROKEN)


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    folder = tmp_path_factory.mktemp("replayed")
    for name, rows in (("rows_1", [*USUAL, WORST]), ("rows_0", USUAL)):
        pq.write_table(table(rows), folder / f"{name}.parquet")
        with (folder / f"{name}.csv").open("w", newline="") as file:
            ages = [["refused" if row is WORST else row[1]] for row in rows]
            csv.writer(file).writerows(
                [["person", "age"], *([row[0], *age] for row, age in zip(rows, ages, strict=True))]
            )
    server = Server(folder, service=MORE).start()
    names = ("rows_1", "rows_0", "csv_1", "csv_0", "people")
    yield server, server.token("ada", datasets=names)
    server.stop()


HUGE = 10**39
ASKED = {  # row of the review, or line of the threats: a question
    "1: an edge beyond its column": {"question": "count", "bins": {"n": [0, 10, HUGE]}},
    "1: such an edge of a decimal": {"question": "count", "bins": {"amount": [0, 10, HUGE]}},
    "2: a decimal that leaves its width": {"question": "sum", "column": "amount", "bounds": [0, 100]},
    "2: its square": {"question": "variance", "column": "amount", "bounds": [0, 100], "expected_rows": 200},
    "2: its mean": {"question": "mean", "column": "wide", "bounds": [0, "1e19"], "expected_rows": 200},
    "3: an edge with more digits than a decimal": {"question": "count", "bins": {"wide": [0, "1e-18", 10**19]}},
    "3: a grid of them": {"question": "median", "column": "wide", "bounds": [0, "1e-17"], "step": "1e-18"},
    "4: bounds smaller than a step": {"question": "sum", "column": "n", "bounds": [0, "1e-18"]},
    "4: their mean": {"question": "mean", "column": "n", "bounds": [0, "7e-15"], "expected_rows": 200},
    "5: a time beyond the engine's": {"question": "count", "where": "time > '2020-01-01'"},
    "5: bins of times": {"question": "count", "bins": {"time": ["1970-01-01", "2020-01-01", "9999-01-01"]}},
    "5: text that is no UTF-8": {"question": "count", "by": "name", "keys": ["alice", "bob"]},
    "5: keys that are found": {"question": "count", "by": "name"},
    "10: a choice among all": {"question": "choose", "options": {"low": "n < 10", "high": "n >= 10"}},
    "10: a median": {"question": "median", "column": "n", "bounds": [0, 100], "step": 1},
    "not a number": {"question": "sum", "column": "x", "bounds": [0, 1]},
    "a filter that divides by zero": {"question": "count", "where": "1 / n > 0"},
    "a filter that overflows": {"question": "count", "where": "n * n * n > 5"},
    "a filter that overflows in a decimal": {"question": "count", "where": "amount * amount > 5"},
    "a filter that casts": {"question": "count", "where": "CAST(name AS INTEGER) > 5"},
    "a filter that matches for ever": {"question": "count", "where": "name LIKE '%a%a%a%a%a%a%a%a%b'"},
    "a regular expression": {"question": "count", "where": "name ~ '(a+)+$'"},
    "rows seen across": {"question": "count", "where": "n > (SELECT AVG(n) FROM t)"},
    "a function with effects": {"question": "count", "where": "read_csv('/etc/passwd') = name"},
    "in SQL: a cast": {"sql": "SELECT COUNT(*) AS c FROM {} WHERE CAST(name AS REAL) > 1"},
    "in SQL: a sum of products": {"sql": "SELECT SUM(CLAMP(n * n, 0, 10)) AS s FROM {}"},
    "in SQL: a division": {"sql": "SELECT SUM(CLAMP(1 / n, 0, 10)) AS s FROM {}"},
    "in SQL: an edge": {"sql": "SELECT COUNT(*) AS c FROM {} WHERE n < 1" + "0" * 39},
}
CSV = {
    "11: a column that one row makes text": {"question": "sum", "column": "age", "bounds": [0, 100]},
    "11: a filter on it": {"question": "count", "where": "age > 3"},
}


def shape(answer):
    """What is public of an answer or refusal: all but the numbers that noise decided, and when it was."""
    if answer.status != 200:
        return answer.status, {name: text for name, text in answer.json.items() if name != "given"}
    result = answer.json["result"]
    tables = result.get("releases", [result])
    found = any(each["question"].get("by") == "name" and "keys" not in each["question"] for each in [answer.json])
    rows = None if found else [[row[: len(each["keys"])] for row in each["rows"]] for each in tables]
    return answer.status, [each["columns"] for each in tables], rows, answer.json["plan"]


def both(served, question, names, price, request_id):
    """What the service says of both datasets, with their names taken out."""
    server, token = served
    answers = []
    for name in names:
        asked = {"question": json.loads(json.dumps(question).replace("{}", name)), "price": price}
        path = f"/v1/datasets/{name}"
        plan = server.call("POST", f"{path}/plan", asked, token)
        answer = server.call("POST", f"{path}/releases", {**asked, "request_id": f"{request_id} {name}"}, token)
        assert (plan.status == 200) == (answer.status == 200), (plan.text, answer.text)
        answers.append(json.loads(re.sub(rf"\b{name}\b", "NAME", json.dumps(shape(answer)))))
    return answers


@pytest.mark.parametrize("row", [*ASKED, *CSV])
def test_one_person_more_is_answered_or_refused_alike(served, row):
    question, names = (ASKED[row], ("rows_1", "rows_0")) if row in ASKED else (CSV[row], ("csv_1", "csv_0"))
    price = {"epsilon": "1/10", "delta": "1e-8" if row.endswith("are found") else "0"}
    mine, other = both(served, question, names, price, row)
    assert mine == other
    assert mine[0] in (200, 422)
    server, token = served
    left = [server.call("GET", f"/v1/datasets/{name}/left", token=token).json["spent"] for name in names]
    assert left[0] == left[1]
    for name in names:  # and nothing failed on the data
        assert server.call("GET", f"/v1/datasets/{name}/history", token=token).json["debits"] is not None
        states = {
            each["state"] for each in server.call("GET", f"/v1/datasets/{name}/history", token=token).json["debits"]
        }
        assert states <= {"answered"}


def test_most_of_these_questions_are_answered(served):
    """Else refusing everything would pass."""
    server, token = served
    price = {"epsilon": "1/10", "delta": "0"}
    answered = 0
    for number, question in enumerate(ASKED.values()):
        asked = json.loads(json.dumps(question).replace("{}", "rows_1"))
        body = {"question": asked, "price": price, "request_id": f"again {number}"}
        answered += server.call("POST", "/v1/datasets/rows_1/releases", body, token).status == 200
    assert answered >= 15


@pytest.mark.parametrize(
    "price",
    [
        {"epsilon": 0}, {"epsilon": -1}, {"epsilon": "-1/2"}, {"epsilon": "nan"}, {"epsilon": "inf"},
        {"epsilon": "1e-300"}, {"epsilon": "1e300"}, {"epsilon": True}, {"epsilon": None}, {"epsilon": []},
        {"epsilon": "1/0"}, {"epsilon": ""},
        {"epsilon": "1" * 5000}, {"epsilon": "1e999999999"}, {"epsilon": 1, "delta": 1},
        {"epsilon": 1, "delta": -1},
        {"epsilon": 1, "delta": "nan"}, {"rho": 0}, {"rho": "inf"}, {"mu": -1}, {"mu": "1e-300"},
        {"mu": 1, "rho": 1}, {},
        {"epsilon": "__import__('os')"}, {"epsilon": "ln(0)"}, {"epsilon": "ln(1)"}, {"cost": 1},
    ],
)  # fmt: skip
def test_no_price_is_free_or_none(served, price):
    server, token = served
    before = server.spent("people")
    body = {"question": {"question": "count"}, "price": price, "request_id": "free?"}
    told = server.call("POST", "/v1/datasets/people/releases", body, token)
    assert told.status in (403, 409, 422), told.text
    assert server.spent("people") == before


def test_a_price_is_taken_exactly_and_its_answer_is_drawn_once(served):
    """0.1 + 0.2 is not 0.3 in doubles; and whoever repeats a request gets the noise that was drawn."""
    server, token = served
    before = server.spent("people")
    for number, price in enumerate(("0.1", 0.2, "1e-1", "2/10")):
        server.ask(token, f"exact {number}", price)
    assert server.spent("people") - before == Fraction(6, 10)
    answers = {server.ask(token, "once", "1/10").text for _ in range(5)}
    assert len(answers) == 1
    fresh = {json.dumps(server.ask(token, f"fresh {n}", "1/10").json["result"]["rows"]) for n in range(8)}
    assert len(fresh) > 1
    assert server.spent("people") - before == Fraction(15, 10)


def test_a_long_answer_is_stored_whole_and_repeated(served):
    """Row 7: it was charged, refused for its length, and drawn anew under the same id."""
    server, token = served
    question = {"question": "count", "bins": {"n": list(range(301)), "x": [number / 100 for number in range(301)]}}
    body = {"question": question, "price": {"epsilon": "1/10"}, "request_id": "long"}
    first = server.call("POST", "/v1/datasets/rows_1/releases", body, token)
    assert first.status == 200, first.text[:500]
    assert len(first.json["result"]["rows"]) == 90_000
    assert server.call("POST", "/v1/datasets/rows_1/releases", body, token).text == first.text
    lines = server.call("GET", f"/v1/releases/{first.json['id']}/table?format=ndjson", token=token).text.splitlines()
    assert len(lines) == 90_000
