"""The API as it describes itself: every route, every status, every kind of error; examples and real answers fit."""

import json
import re
from unittest.mock import Mock

import pytest
from pydantic import TypeAdapter, ValidationError

from leastnoise import errors
from leastnoise.apps.service.api import _BODIES, make_app
from leastnoise.apps.service.descriptions import ANSWERS, Problem, kinds_of, statuses
from leastnoise.apps.service.problems import status_of
from leastnoise.apps.service.service import _FIELDS, _NEEDED
from leastnoise.apps.service.settings import ServiceSettings
from leastnoise.errors import LeastNoiseError
from support.serving import Server, wait_for

pytestmark = pytest.mark.slow

SHAPES = [(name, status) for name, answers in ANSWERS.items() for status in answers]
LEAVES = [
    each
    for each in map(errors.__dict__.get, errors.__all__)
    if each is not LeastNoiseError and LeastNoiseError not in each.__bases__
]


def fits(shape, value):
    TypeAdapter(shape).validate_json(json.dumps(value), strict=True)


@pytest.fixture(scope="module")
def app():
    return make_app(Mock(settings=ServiceSettings("store")))


@pytest.fixture(scope="module")
def told(app):
    return json.loads(json.dumps(app.openapi()))


def routes(app):
    return {
        each.name: each for each in app.routes if getattr(each, "include_in_schema", False) and each.path[:3] == "/v1"
    }


def test_every_route_is_described_with_all_its_answers(app, told):
    known = {name: each for name, each in routes(app).items() if each.path != "/v1/openapi.json"}
    assert set(known) == set(ANSWERS)
    for name, each in known.items():
        (method,) = each.methods
        described = told["paths"][each.path.replace(":path", "")][method.lower()]
        problems = {str(status) for status in statuses()} if name != "health" else set()
        assert set(described["responses"]) == {str(status) for status in ANSWERS[name]} | problems, name
        for status in ANSWERS[name]:
            for kind, content in described["responses"][str(status)]["content"].items():
                assert content["schema"], (name, kind)
                assert content.get("examples") or content.get("example"), (name, kind)


@pytest.mark.parametrize(("name", "status"), SHAPES)
def test_every_example_has_the_shape_of_its_answer(name, status):
    shape, examples = ANSWERS[name][status]
    assert examples
    for value in examples.values():
        fits(shape, value)
        if shape is not str:
            with pytest.raises(ValidationError):
                fits(shape, {**value, "unknown": 1} if shape.__class__ is type(Problem) else 1)
            with pytest.raises(ValidationError):
                fits(shape, dict(list(value.items())[1:]))


@pytest.mark.parametrize("kind", LEAVES)
def test_every_kind_of_error_is_described_under_its_status(told, kind):
    status = status_of(kind("", fix=""))
    response = told["components"]["responses"][f"Problem{status}"]
    example = response["content"]["application/problem+json"]["examples"][kind.__name__]["value"]
    fits(Problem, example)
    assert (example["type"], example["status"]) == (f"urn:leastnoise:{kind.__name__}", status)


def test_every_reference_leads_somewhere(told):
    text = json.dumps(told)
    found = set(re.findall(r'"\$ref": "#/components/(\w+)/(\w+)"', text))
    assert len(found) > 20
    assert all(name in told["components"][part] for part, name in found)
    assert "HTTPValidationError" not in text


def test_examples_of_questions_have_fields_that_are_taken():
    for name, kind in (
        ("plan", "plan"),
        ("sql", "plan"),
        ("price", "price"),
        ("release", "release"),
        ("batch", "release"),
    ):
        assert set(_BODIES[name]) <= _FIELDS[kind]
        assert kind != "release" or set(_NEEDED) <= set(_BODIES[name])


CONFIGURED = """approve_above = ["2", "1e-6"]
[datasets.people.keys]
city = ["Lyon", "Metz"]
[datasets.people.bounds]
age = [0, 100]"""
BY_CITY = {"question": "count", "by": "city", "keys": ["Lyon", "Metz"]}
ASKED = (
    BY_CITY,
    {"question": "batch", "queries": [BY_CITY, {"question": "count"}]},
    {"question": "batch", "queries": [{"question": "count", "bins": {"age": [0, 50, 100]}}] * 2},
    {"sql": "SELECT city, COUNT(*) AS n, AVG(CLAMP(age, 0, 100)) AS a FROM people GROUP BY city"},
    {"question": "mean", "column": "age", "bounds": [0, 100]},
    {"question": "median", "column": "age", "bounds": [0, 100], "step": 5},
    {"question": "choose", "options": {"young": "age < 30", "old": "age >= 30"}},
    {"question": "count", "by": "city"},
)


def test_every_answer_that_comes_is_one_that_is_described(tmp_path, app):
    """Each function is called, and each answer, also of a refusal, has the shape that stands under its status."""
    server = Server(tmp_path, dataset=CONFIGURED).start()
    seen = set()
    try:
        ada, cleo, every = server.token("ada"), server.token("cleo", "curator"), server.token("dan", "curator", None)

        def call(name, token=ada, body=None, headers=(), **parts):
            each = routes(app)[name]
            (method,) = each.methods
            path = each.path.replace("{name:path}", "people").format(**parts) + parts.get("query", "")
            answer = server.call(method, path, body, token, headers)
            if answer.status < 300:
                shape = ANSWERS[name][answer.status][0]
                fits(shape, answer.text if shape is str else answer.json)
                seen.add((name, answer.status))
            else:
                fits(Problem, answer.json)
                kind = answer.json["type"].rpartition(":")[2]
                assert kind in [known.__name__ for known in kinds_of(answer.status)], (name, answer.text)
                seen.add(kind)
            return answer.json

        call("health", None)
        call("datasets")
        call("datasets", "ln_wrong")
        call("dataset")
        call("left")
        for number, question in enumerate(ASKED):
            price = {"epsilon": "1/50", "delta": "1e-8" if question == ASKED[-1] else "0"}
            for more in (False, True):
                call("plan", body={"question": question, "price": price, "other_prices": more})
            call("release", body={"question": question, "price": price, "request_id": f"{number}"})
        call("price", body={"question": BY_CITY, "error": 10})
        late = {"question": BY_CITY, "price": {"epsilon": "1/50"}, "request_id": "late"}
        one = call("release", body=late, headers={"Prefer": "respond-async"})["id"]
        call("one", asked_id=one)
        wait_for(lambda: call("one", asked_id=one)["state"] == "done")
        call("releases")
        call("table", asked_id=one)
        call("table", asked_id=one, query="?format=ndjson")
        call("table", asked_id=one, query="?place=x")
        call("certificate", asked_id=one)
        call("one", asked_id="rel-0")
        call("release", body={**late, "price": {"epsilon": "1/40"}})
        call("release", body={**late, "price": {"epsilon": 19}, "request_id": "too dear"})
        call("release", body={**late, "question": {"question": "count", "where": "x" * 2_000_000}})
        call("plan", body={"question": {"question": "nothing"}, "price": {}})
        for name in ("dear", "denied"):
            call("release", body={**late, "price": {"epsilon": "9/4"}, "request_id": name})
            (waits,) = call("approvals")["waiting"]
            shown = call("one", cleo, asked_id=waits["id"])
            decision = {"approve": name == "dear", "fingerprint": shown["fingerprint"]}
            call("decide", cleo, decision, asked_id=waits["id"])
            call("cancel", asked_id=waits["id"])
        call("history")
        call("budgets")
        call("grant", cleo, {"dataset": "people", "analyst": "ben", "budget": {"epsilon": "1/2"}})
        for name in ("entries", "verification", "witness", "suspensions", "metrics", "tokens"):
            call(name, every)
        call("tokens")
        call("clear", cleo, {"dataset": "people", "analyst": "ben"})
        made = call("make", cleo, {"name": "eve", "role": "reader", "datasets": ["people"]})
        call("revoke", every, token_id=made["id"])
    finally:
        server.stop()
    assert {each for each in seen if isinstance(each, tuple)} >= {each for each in SHAPES if each != ("one", 202)}
    assert seen >= {
        "NotAllowed",
        "NotFound",
        "BudgetExceeded",
        "RequestConflict",
        "ApprovalPending",
        "BadParameter",
        "TooLarge",
    }
