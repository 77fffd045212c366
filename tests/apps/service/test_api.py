"""What the API does for each role, and that it describes itself."""

import csv
import json
import re
import time
from fractions import Fraction

import pytest

from leastnoise.checker import check
from leastnoise.model.certificate import Certificate
from support.people import CITIES
from support.serving import wait_for

pytestmark = pytest.mark.slow

BY_CITY = {"question": "count", "by": "city", "keys": list(CITIES)}


def waits(server, token):
    (found,) = server.call("GET", "/v1/approvals", token=token).json["waiting"]
    return found


@pytest.fixture(scope="module")
def released(server, tokens):
    return server.ask(tokens["ada"], "for all to see", question=BY_CITY).json


def test_a_plan_is_free_and_a_price_finds_one(server, tokens):
    body = {"question": BY_CITY, "price": {"epsilon": "1/2"}, "confidence": 0.9}
    before = server.call("GET", "/v1/datasets/people/left", token=tokens["ben"]).json
    plan = server.call("POST", "/v1/datasets/people/plan", body, tokens["ben"])
    assert plan.status == 200
    assert plan.json["error"]["confidence"] == 0.9
    assert plan.json["left"] == before
    assert plan.json["other_prices"] == []
    more = server.call("POST", "/v1/datasets/people/plan", {**body, "other_prices": True}, tokens["ben"])
    assert len(more.json["other_prices"]) == 4
    wanted = {"question": BY_CITY, "error": 20}
    price = server.call("POST", "/v1/datasets/people/price", wanted, tokens["ben"]).json
    assert price["error"]["within"] <= 20
    assert server.call("GET", "/v1/datasets/people/left", token=tokens["ben"]).json == before


def test_a_retry_is_free_and_says_the_same(server, tokens):
    first = server.ask(tokens["ada"], "again", question=BY_CITY)
    spent = server.spent()
    again = server.ask(tokens["ada"], "again", question=BY_CITY)
    assert first.json == again.json
    assert server.spent() == spent
    other = server.ask(tokens["ada"], "again", question={"question": "count"})
    assert (other.status, other.json["type"]) == (409, "urn:leastnoise:RequestConflict")
    assert server.spent() == spent


def test_ids_of_two_analysts_are_two_requests(server, tokens):
    mine, theirs = (server.ask(tokens[name], "same id").json for name in ("ada", "ben"))
    assert mine["id"] != theirs["id"]


def test_a_request_without_an_id_is_refused_for_a_replay_would_cost_again(server, tokens):
    body = {"question": {"question": "count"}, "price": {"epsilon": 1}}
    refused = server.call("POST", "/v1/datasets/people/releases", body, tokens["ada"])
    assert (refused.status, "request_id" in refused.json["detail"]) == (422, True)


def test_a_batch_and_its_tables(server, tokens):
    batch = {"question": "batch", "queries": [BY_CITY, {"question": "count"}]}
    done = server.ask(tokens["ada"], "a batch", question=batch).json
    assert [len(each["rows"]) for each in done["result"]["releases"]] == [3, 1]
    rows = server.call("GET", f"/v1/releases/{done['id']}/table?place=0&format=csv", token=tokens["ada"])
    assert [row[0] for row in csv.reader(rows.text.splitlines())] == ["city", *CITIES]
    lines = server.call("GET", f"/v1/releases/{done['id']}/table?format=ndjson", token=tokens["ada"]).text
    assert [json.loads(line)["city"] for line in lines.splitlines()] == list(CITIES)
    assert server.call("GET", f"/v1/releases/{done['id']}/table?place=2", token=tokens["ada"]).status == 404


def test_a_certificate_holds_for_the_checker(server, tokens):
    question = {"question": "count"}
    done = server.ask(tokens["ada"], "with certificate", question=question).json
    (found,) = server.call("GET", f"/v1/releases/{done['id']}/certificate", token=tokens["eve"]).json["certificates"]
    assert found["certificate"] is not None or found["reason"]
    if found["certificate"] is not None:
        assert check(Certificate.from_json(json.dumps(found["certificate"])))


# who may what: a row for each call, a column for each role
CALLS = {
    ("GET", "/v1/datasets"): ("ada", "cleo", "eve", "fay"),
    ("GET", "/v1/datasets/people"): ("ada", "cleo", "eve", "fay"),
    ("POST", "/v1/datasets/people/plan"): ("ada", "cleo"),
    ("POST", "/v1/datasets/people/releases"): ("ada", "cleo"),
    ("GET", "/v1/releases"): ("ada", "cleo", "eve", "fay"),
    ("GET", "/v1/datasets/people/history"): ("ada", "cleo", "eve", "fay"),
    ("GET", "/v1/suspensions"): ("cleo", "eve"),
    ("POST", "/v1/suspensions/clear"): ("cleo",),
    ("GET", "/v1/ledger/witness"): ("cleo", "eve"),
    ("GET", "/v1/ledger/verification"): ("cleo", "eve"),
    ("POST", "/v1/budgets"): ("cleo",),
    ("GET", "/v1/metrics"): ("cleo", "eve"),
    ("POST", "/v1/tokens"): ("cleo",),
}
BODIES = {
    "/v1/datasets/people/plan": {"question": BY_CITY, "price": {"epsilon": 1}},
    "/v1/datasets/people/releases": {"question": BY_CITY, "price": {"epsilon": "1/100"}, "request_id": "a role's"},
    "/v1/suspensions/clear": {"dataset": "people", "analyst": "nobody"},
    "/v1/budgets": {"dataset": "people", "analyst": "nobody", "budget": {"epsilon": 1}},
    "/v1/tokens": {"name": "new", "role": "reader", "datasets": ["people"]},
}


@pytest.mark.parametrize(("method", "path"), CALLS)
def test_each_role_may_do_its_own(server, tokens, method, path):
    for name in ("ada", "cleo", "eve", "fay"):
        told = server.call(method, path, BODIES.get(path), tokens[name])
        assert told.status == (200 if name in CALLS[method, path] else 403), (name, told.text)


def test_the_whole_ledger_and_all_tokens_need_a_token_for_all_datasets(server, tokens):
    everything = server.token("gus", "curator", datasets=None)
    for path in ("/v1/ledger/entries", "/v1/tokens"):
        assert server.call("GET", path, token=tokens["cleo"]).status == 403
        assert server.call("GET", path, token=everything).status == 200
    lines = server.call("GET", "/v1/ledger/entries", token=everything).text.splitlines()
    assert json.loads(json.loads(lines[0])["body"])["kind"] == "open"
    assert "hash" not in server.call("GET", "/v1/tokens", token=everything).text


def test_a_token_reaches_no_further_than_its_maker(server, tokens):
    for datasets in (["secret"], ["people", "secret"], None):
        body = {"name": "wide", "role": "analyst", **({} if datasets is None else {"datasets": datasets})}
        assert server.call("POST", "/v1/tokens", body, tokens["cleo"]).status == 403


def test_tokens_end_and_can_be_revoked(server):
    everything = server.token("hal", "curator", datasets=None)
    made = server.call("POST", "/v1/tokens", {"name": "ivy", "role": "reader", "lasts": "1s"}, everything).json
    other = server.call("POST", "/v1/tokens", {"name": "jon", "role": "reader"}, everything).json
    assert server.call("GET", "/v1/datasets", token=other["token"]).status == 200
    assert server.call("DELETE", f"/v1/tokens/{other['id']}", token=everything).status == 200
    assert server.call("GET", "/v1/datasets", token=other["token"]).status == 401
    assert server.call("DELETE", f"/v1/tokens/{other['id']}", token=everything).status == 404
    wait_for(lambda: server.call("GET", "/v1/datasets", token=made["token"]).status == 401)


def test_a_reader_sees_what_was_released_and_an_analyst_their_own(server, tokens, released):
    path = f"/v1/releases/{released['id']}"
    assert server.call("GET", path, token=tokens["fay"]).json["result"] == released["result"]
    assert server.call("GET", path, token=tokens["ben"]).status == 404
    assert all(
        each["analyst"] == "ben" for each in server.call("GET", "/v1/releases", token=tokens["ben"]).json["releases"]
    )
    assert server.call("GET", "/v1/datasets/people/history", token=tokens["fay"]).json["debits"] == []


def test_budgets_bind_an_analyst_a_purpose_and_a_period(server, tokens):
    poor = server.token("kim")
    grants = (
        {"dataset": "people", "analyst": "kim", "budget": {"epsilon": "1/10"}},
        {"dataset": "people", "purpose": "report", "budget": {"epsilon": "1/5"}, "refresh": "1d"},
    )
    for grant in grants:
        assert server.call("POST", "/v1/budgets", grant, tokens["cleo"]).status == 200
    assert server.ask(poor, "within", "1/20").status == 200
    over = server.ask(poor, "over", "1/10")
    assert (over.status, over.json["type"]) == (403, "urn:leastnoise:BudgetExceeded")
    assert server.ask(tokens["ada"], "report", "3/10", purpose="report").status == 403
    assert server.ask(tokens["ada"], "report", "1/5", purpose="report").status == 200
    seen = server.call("GET", "/v1/budgets", token=poor).json["budgets"]
    assert {each["analyst"] for each in seen} == {None, "kim"}
    bound = server.token("liv", purposes=("census",))
    assert server.ask(bound, "other purpose").status == 403
    assert server.ask(bound, "own purpose", purpose="census").status == 200


def test_a_dearer_question_waits_for_a_second_person(server, tokens):
    before = server.spent()
    asked = server.ask(tokens["cleo"], "dear", "5/2", question=BY_CITY)
    assert (asked.status, asked.json["type"]) == (409, "urn:leastnoise:ApprovalPending")
    assert server.spent() == before + Fraction(5, 2)  # held
    waiting = waits(server, tokens["dan"])
    shown = server.call("GET", f"/v1/releases/{waiting['id']}", token=tokens["dan"]).json
    assert shown["plan"]["price"]["epsilon"] == "5/2"
    decision = {"approve": True, "fingerprint": shown["fingerprint"]}
    path = f"/v1/approvals/{waiting['id']}"
    assert server.call("POST", path, decision, tokens["cleo"]).status == 403  # the asker
    for name in ("ada", "eve", "fay"):
        assert server.call("POST", path, decision, tokens[name]).status in (403, 404)
    stale = server.call("POST", path, {**decision, "fingerprint": "0" * 64}, tokens["dan"])
    assert stale.status == 409
    assert server.ask(tokens["cleo"], "dear", "5/2", question=BY_CITY).status == 409  # still waits
    assert server.call("POST", path, decision, tokens["dan"]).json["state"] == "approved"
    other = server.ask(tokens["cleo"], "dear", "5/2", question={"question": "count"})
    assert other.status == 409  # what was approved is this question
    answered = server.ask(tokens["cleo"], "dear", "5/2", question=BY_CITY)
    assert answered.json["state"] == "done"
    assert answered.json["approver"] == "dan"
    assert server.spent() == before + Fraction(5, 2)


def test_a_price_in_another_currency_waits(server, tokens):
    """It can't be compared with the threshold, so it is above it."""
    body = {"question": BY_CITY, "price": {"rho": "1/1000"}, "request_id": "in rho"}
    asked = server.call("POST", "/v1/datasets/people/releases", body, tokens["ben"])
    assert (asked.status, asked.json["type"]) == (409, "urn:leastnoise:ApprovalPending")
    assert (
        server.call("DELETE", f"/v1/releases/{waits(server, tokens['ben'])['id']}", token=tokens["ben"]).status == 200
    )


def test_a_denied_question_gives_its_price_back(server, tokens):
    before = server.spent()
    assert server.ask(tokens["ada"], "too dear", "9/4").status == 409
    waiting = waits(server, tokens["dan"])
    shown = server.call("GET", f"/v1/releases/{waiting['id']}", token=tokens["dan"]).json
    body = {"approve": False, "fingerprint": shown["fingerprint"]}
    assert server.call("POST", f"/v1/approvals/{waiting['id']}", body, tokens["dan"]).json["state"] == "denied"
    assert server.spent() == before
    assert server.call("POST", f"/v1/approvals/{waiting['id']}", body, tokens["dan"]).status == 409


def test_a_waiting_question_can_be_cancelled_by_its_asker_only(server, tokens):
    before = server.spent()
    assert server.ask(tokens["ada"], "changed my mind", "9/4").status == 409
    waiting = waits(server, tokens["ada"])
    assert server.call("DELETE", f"/v1/releases/{waiting['id']}", token=tokens["ben"]).status == 404
    assert server.call("DELETE", f"/v1/releases/{waiting['id']}", token=tokens["eve"]).status == 403
    assert server.call("DELETE", f"/v1/releases/{waiting['id']}", token=tokens["ada"]).json["state"] == "cancelled"
    assert server.spent() == before
    with server.ledger() as ledger:  # nothing was looked at, so nothing is counted
        assert not [each for each in ledger.suspensions() if each.analyst == "ada"]


def test_metrics_are_prometheus_text_and_tell_no_durations(server, tokens):
    text = server.call("GET", "/v1/metrics", token=tokens["eve"]).text
    assert all(
        re.fullmatch(r'[a-z_]+(\{[a-z_]+="[^"]*"(,[a-z_]+="[^"]*")*\})? [0-9.]+', line) for line in text.splitlines()
    )
    assert 'leastnoise_budget_used_ratio{dataset="people"}' in text
    assert "seconds" not in text


def test_the_description_has_every_path_with_examples(server):
    told = server.call("GET", "/v1/openapi.json").json
    assert len(told["paths"]) >= 20
    assert told["components"]["securitySchemes"]["token"]["scheme"] == "bearer"
    for path, methods in told["paths"].items():
        for each in methods.values():
            assert "summary" in each
            assert each.get("security") == (None if path == "/v1/health" else [{"token": []}]), path
        if "post" in methods:
            assert methods["post"]["requestBody"]["content"]["application/json"]["examples"], path


def test_an_unfinished_answer_is_waited_for_as_a_job(server, tokens):
    asked = server.ask(tokens["ada"], "a job", headers={"Prefer": "respond-async"})
    assert asked.status == 202
    place = asked.headers["Location"]
    done = wait_for(lambda: (told := server.call("GET", place, token=tokens["ada"]).json)["state"] == "done" and told)
    assert done["result"]["request_id"] == "a job"
    assert time.time() - done["created"] < 60
