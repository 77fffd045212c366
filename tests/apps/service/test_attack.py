"""A second attack: what somebody with a token, or with none, could try beside the plain threats."""

import asyncio
import http.client
import json
import socket
import sqlite3
import threading
import time
from collections import Counter
from contextlib import closing
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
import uvicorn

from leastnoise.apps.service import guards
from leastnoise.apps.service.access import Principal
from leastnoise.apps.service.guards import PatientProtocol
from leastnoise.apps.service.pool import Pool, WorkerDied
from leastnoise.apps.service.service import Service
from leastnoise.apps.service.settings import OidcSettings, read_settings
from leastnoise.apps.service.store import Asked, ServiceStore
from leastnoise.apps.service.worker import write_held
from leastnoise.errors import BadConfiguration, BadParameter, LedgerMissing, TooManyRequests
from leastnoise.ledger import Request
from leastnoise.ledger.record import canonical
from leastnoise.model.events import Pure
from leastnoise.model.privacy import Privacy
from leastnoise.release.configuration import read_configuration
from support.serving import Server, wait_for

pytestmark = pytest.mark.slow

RELEASES = "/v1/datasets/people/releases"
COUNT = {"question": "count"}


def states(server, name, token):
    debits = server.call("GET", "/v1/datasets/people/history", token=token).json["debits"]
    return [each["state"] for each in debits if each["request_id"] == name]


# ---------------------------------------------------------------------- durations


@pytest.mark.slow
def test_nothing_tells_before_its_time_that_an_answer_is_ready(start):
    """Neither the history nor a cancellation: what was ready by the next of the times is answered then."""
    server = start(service='answer_after = "12s"')
    ada, eve = server.token("ada"), server.token("eve", "auditor")
    server.call("POST", "/v1/datasets/people/plan", {"question": COUNT, "price": {"epsilon": 1}}, ada)
    begun = time.monotonic()
    place = server.ask(ada, "timed", headers={"Prefer": "respond-async"}).headers["Location"]
    wait_for(lambda: states(server, "timed", eve) == ["answered"])
    assert time.monotonic() - begun < 11, "the machine is too slow for this test"
    assert states(server, "timed", ada) == ["reserved"]
    told = server.call("DELETE", place, token=ada).json
    assert 11.9 < time.monotonic() - begun < 23
    assert told["state"] == "done"
    assert states(server, "timed", ada) == ["answered"]
    with server.ledger() as ledger:
        assert ledger.suspensions() == []


@pytest.fixture
def service(tmp_path):
    Server(tmp_path)
    configuration = read_configuration(tmp_path / "leastnoise.toml")
    made = Service(configuration, read_settings(configuration))
    yield made
    made.store.close()
    made.ledger.close()


@pytest.mark.parametrize("steps", [1, 2, 3])
def test_a_cancellation_counts_wherever_the_request_stands(service, steps):
    """Else whether it counted would tell how far the worker was, as often as somebody likes."""
    request = Request("cut", Pure("1/10"), dataset="people", analyst="ada")
    service.ledger.grant(Privacy(1), dataset="people")
    service.ledger.reserve(request)
    if steps > 1:
        service.ledger.commit(request)
    if steps > 2:
        service.ledger.record(request, 7)
    service._settle(write_held(request), failed=False)
    assert [each.interruptions for each in service.ledger.suspensions()] == [1]


def test_long_questions_fill_neither_memory_nor_disk(service, monkeypatch):
    """What costs nothing is kept only where it is short."""
    who = Principal("ada", "analyst", None)

    async def run(order, *_, **__):
        if order["do"] == "release":
            raise BadParameter("no", fix="no")
        return {"planned": len(order["question"]["where"])}

    async def ask(length, do):
        body = {"question": {"question": "count", "where": "x" * length}, "price": {"epsilon": 1}}
        if do == "plan":
            return (await service.plan(who, "people", body))["planned"]
        with pytest.raises(BadParameter):
            await service.release(who, "people", {**body, "request_id": f"{length}"}, 10)
        return len(service.store.asked_as("ada", f"{length}").body)

    async def all_of_it():
        service.ledger.grant(Privacy(1), dataset="people")
        return [[await ask(length, do) for length in (10, 900_000)] for do in ("plan", "release")]

    monkeypatch.setattr(service.pool, "run", run)
    planned, kept = asyncio.run(all_of_it())
    assert planned == [10, 900_000]
    assert len(service._plans) == 1
    assert max(kept) < 1000


def test_plans_are_kept_for_their_asker(service, monkeypatch):
    """Else how fast a plan comes would tell whether somebody else had asked the same."""
    planned = []

    async def run(order, *_, **__):
        planned.append(order["analyst"])
        return {}

    async def ask(name):
        body = {"question": COUNT, "price": {"epsilon": 1}}
        await service.plan(Principal(name, "analyst", None), "people", body)

    monkeypatch.setattr(service.pool, "run", run)
    for name in ("ada", "ada", "ben", "ada", "ben"):
        asyncio.run(ask(name))
    assert planned == ["ada", "ben"]


# ---------------------------------------------------------------------- workers that die

DYING = """
import socket, sys
from leastnoise.apps.service.worker import read_frame, write_frame
channel = socket.socket(fileno=int(sys.argv[1]))
read_frame(channel)
channel.sendall(write_frame({"ready": 1}))
has_read = False
while (order := read_frame(channel)) is not None:
    if order["held"]:
        channel.sendall(write_frame({"told": {"held": {}}}))
    if has_read or order["dies"]:
        break
    has_read = order["reads"]
    channel.sendall(write_frame({"result": "answered"}))
"""


@pytest.mark.slow
def test_a_death_before_a_price_is_held_says_nothing_of_rows_that_were_read_before(tmp_path, monkeypatch):
    """A worker keeps memory of what it read; if that ends it, a fresh one does the order, and nobody learns of it."""
    program = tmp_path / "dying.py"
    program.write_text(DYING)
    begin = asyncio.create_subprocess_exec

    async def exec_dying(python, _m, _module, channel, *_, **options):
        return await begin(python, str(program), channel, **options)

    monkeypatch.setattr("leastnoise.apps.service.pool.asyncio.create_subprocess_exec", exec_dying)

    async def run():
        pool = Pool([], 2, 20, 10**10)
        await pool.start()

        async def ask(reads=False, held=False, dies=False):
            return await pool.run({"reads": reads, "held": held, "dies": dies}, reads=reads)

        try:
            for _ in range(3):
                assert await ask(reads=True) == "answered"
            assert [await ask() for _ in range(4)] == ["answered"] * 4
            with pytest.raises(WorkerDied):  # a fresh worker dies of it, too: the order itself is too much
                await ask(dies=True)
            for _ in range(2):  # both workers have read
                await ask(reads=True)
            with pytest.raises(WorkerDied):  # once a price is held, a death counts as it is
                await ask(reads=True, held=True)
        finally:
            await pool.stop()

    asyncio.run(run())


# ---------------------------------------------------------------------- ids of others


def test_ids_of_requests_belong_to_one_analyst(server, tokens):
    """Another's id is free to take, says nothing, and is never answered with their answer."""
    first = server.ask(tokens["ada"], "shared id", question={"question": "count", "where": "age >= 18"}).json
    other = server.ask(tokens["ben"], "shared id").json
    assert first["id"] != other["id"]
    assert other["analyst"] == "ben"
    wide = server.token("ada", datasets=("people", "secret"))
    before = server.spent("secret")  # the server is shared by all files of the service
    clash = server.ask(wide, "shared id", dataset="secret")
    assert (clash.status, clash.json["type"]) == (409, "urn:leastnoise:RequestConflict")
    assert server.spent("secret") == before


def test_lists_and_histories_hold_ones_own_only(server, tokens):
    mine = server.ask(tokens["ada"], "mine alone").json["id"]
    for path in ("/v1/releases", "/v1/releases?state=done&state=running", "/v1/approvals"):
        listed = server.call("GET", path, token=tokens["ben"]).text
        assert mine not in listed
        assert "mine alone" not in listed
    history = server.call("GET", "/v1/datasets/people/history", token=tokens["ben"]).json["debits"]
    assert {each["analyst"] for each in history} <= {"ben"}
    for path in ("", "/table", "/certificate"):
        assert server.call("GET", f"/v1/releases/{mine}{path}", token=tokens["ben"]).status == 404
    assert server.call("DELETE", f"/v1/releases/{mine}", token=tokens["ben"]).status == 404


def test_a_decision_holds_for_what_was_seen_and_once(server, tokens):
    """Cancelled and asked again at another price under a new id, an old decision decides nothing."""
    ada, dan = tokens["ada"], tokens["dan"]
    assert server.ask(ada, "first try", "9/4").status == 409
    (old,) = server.call("GET", "/v1/approvals", token=dan).json["waiting"]
    shown = server.call("GET", f"/v1/releases/{old['id']}", token=dan).json
    decision = {"approve": True, "fingerprint": shown["fingerprint"]}
    server.call("DELETE", f"/v1/releases/{old['id']}", token=ada)
    assert server.call("POST", f"/v1/approvals/{old['id']}", decision, dan).status == 409
    assert server.ask(ada, "second try", "11/5").status == 409
    (new,) = server.call("GET", "/v1/approvals", token=dan).json["waiting"]
    assert server.call("POST", f"/v1/approvals/{new['id']}", decision, dan).status == 409
    for wrong in (None, "", 0, [shown["fingerprint"]], {"a": 1}):
        body = {"approve": True, "fingerprint": wrong}
        assert server.call("POST", f"/v1/approvals/{new['id']}", body, dan).status == 409
    assert server.ask(ada, "second try", "11/5").status == 409  # it still waits
    again = server.call("GET", f"/v1/releases/{new['id']}", token=dan).json
    right = {"approve": True, "fingerprint": again["fingerprint"]}
    assert server.call("POST", f"/v1/approvals/{new['id']}", right, dan).status == 200
    assert server.call("POST", f"/v1/approvals/{new['id']}", right, dan).status == 409
    server.call("DELETE", f"/v1/releases/{new['id']}", token=ada)
    assert server.ask(ada, "second try", "11/5").status == 409  # after a cancellation it waits anew
    (last,) = server.call("GET", "/v1/approvals", token=dan).json["waiting"]
    server.call("DELETE", f"/v1/releases/{last['id']}", token=ada)


def test_a_reader_sees_nothing_that_was_not_released(server, tokens):
    assert server.ask(tokens["ada"], "not yet", "9/4").status == 409
    (waiting,) = server.call("GET", "/v1/approvals", token=tokens["dan"]).json["waiting"]
    for path in ("", "/table", "/certificate"):
        assert server.call("GET", f"/v1/releases/{waiting['id']}{path}", token=tokens["fay"]).status == 404
    assert "not yet" not in server.call("GET", "/v1/releases?state=waiting", token=tokens["fay"]).text
    assert "not yet" not in server.call("GET", "/v1/approvals", token=tokens["fay"]).text
    server.call("DELETE", f"/v1/releases/{waiting['id']}", token=tokens["ada"])


def test_a_curator_reaches_the_datasets_of_their_token_and_not_their_own_failures(server, tokens):
    own = {"dataset": "people", "analyst": "cleo"}
    assert server.call("POST", "/v1/suspensions/clear", own, tokens["cleo"]).status == 403
    assert server.call("POST", "/v1/suspensions/clear", own, tokens["dan"]).status == 200
    other = {"dataset": "secret", "analyst": "ada"}
    assert server.call("POST", "/v1/suspensions/clear", other, tokens["cleo"]).status == 404
    for dataset, status in (("secret", 404), (None, 403)):
        body = {"budget": {"epsilon": 9}, **({} if dataset is None else {"dataset": dataset})}
        assert server.call("POST", "/v1/budgets", body, tokens["cleo"]).status == status
    assert server.call("DELETE", "/v1/tokens/0000000000000000", token=tokens["cleo"]).status == 403


# ---------------------------------------------------------------------- bodies, heads and connections


@pytest.mark.parametrize(
    "raw",
    [
        b'{"question": {"question": "count"}, "price": {"epsilon": 1e400}, "request_id": "x"}',
        b'{"question": {"question": "count", "where": 1e999}, "price": {"epsilon": 1}, "request_id": "x"}',
        b'{"question": {"question": "count", "where": "\\ud800"}, "price": {"epsilon": 1}, "request_id": "x"}',
        b'{"question": {"question": "count", "\\udfff": 1}, "price": {"epsilon": 1}, "request_id": "x"}',
        b'{"question": {"question": "count", "a": {"b": 1, "b": 2}}, "price": {"epsilon": 1}, "request_id": "x"}',
        b'{"question": {"sql": ["SELECT 1"]}, "price": {"epsilon": 1}, "request_id": "x"}',
        b'{"question": {"sql": "SELECT 1", "question": "count"}, "price": {"epsilon": 1}, "request_id": "x"}',
        b'{"question": {"sql": "SELECT COUNT(*) FROM people; DROP TABLE people"}, "price": {"epsilon": 1}, '
        b'"request_id": "x"}',
        b'{"question": {"sql": "SELECT * FROM people"}, "price": {"epsilon": 1}, "request_id": "x"}',
        b'{"question": {"sql": "SELECT COUNT(*) FROM read_csv(\'/etc/passwd\')"}, "price": {"epsilon": 1}, '
        b'"request_id": "x"}',
    ],
)
def test_numbers_and_texts_that_nobody_can_write_are_refused_and_kill_no_worker(server, tokens, raw):
    before, spent = set(server.workers()), server.spent()
    for path in (RELEASES, "/v1/datasets/people/plan"):
        told = server.call("POST", path, token=tokens["ada"], raw=raw)
        assert told.status == 422, told.text
    assert before <= set(server.workers())
    assert server.spent() == spent


@pytest.mark.parametrize(
    ("raw", "problem"),
    [
        (b'{"question": {"question": "count"}, "price": {"epsilon": 9}, "price": {"epsilon": "1/10"}}', "no JSON"),
        (b'{"question": {"question": "count"}, "price": {"epsilon": "1/10"}, "confidence": 1e400}', "no JSON"),
        (
            b'{"question": {"question": "count", "by": ' + b"[" * 40 + b"]" * 40 + b'}, "price": {"epsilon": 1}}',
            "the body is nested too deeply",
        ),
    ],
)
def test_a_body_is_refused_before_anything_is_made_of_it(server, tokens, raw, problem):
    """Not because something later happens to dislike it."""
    told = server.call("POST", "/v1/datasets/people/plan", token=tokens["ada"], raw=raw)
    assert told.status == 422
    assert problem in told.json["detail"]


def raw_answer(server, request):
    with socket.create_connection(("127.0.0.1", server.port), timeout=20) as connection:
        connection.sendall(request)
        with closing(http.client.HTTPResponse(connection)) as answer:
            answer.begin()
            return answer.status, dict(answer.getheaders()), answer.read()


@pytest.mark.parametrize("host", ["evil.example", "[::1", "a b", "x" * 300, "127.0.0.1:99999999", "é".encode()])
def test_what_a_client_is_told_does_not_depend_on_the_name_it_calls_us(server, host):
    name = host if isinstance(host, bytes) else host.encode()
    for path in (b"/", b"/page/", b"/page", b"/v1/health/", b"//evil.example/%2e%2e"):
        status, headers, body = raw_answer(server, b"GET " + path + b" HTTP/1.1\r\nHost: " + name + b"\r\n\r\n")
        assert status in (303, 400, 404, 500)
        assert headers.get("location", "/page").startswith("/page")
        assert b"evil" not in body
        assert b"Traceback" not in body


def test_no_header_of_an_answer_holds_what_was_sent(server, tokens):
    sent = "x%0d%0aSet-Cookie:%20a=b"
    for path in (f"/v1/releases/{sent}", f"/v1/datasets/{sent}", f"/page/releases/{sent}", f"/{sent}"):
        told = server.call("GET", path, token=tokens["ada"])
        assert "Set-Cookie" not in told.headers
    assert server.call("GET", "/v1/datasets", token=tokens["ada"], headers={"Prefer": "x" * 8000}).status == 200


async def small_app(scope, _, send):
    if scope["type"] == "http":
        size = 50_000_000 if scope["path"] == "/large" else 2
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"%d" % size)]})
        await send({"type": "http.response.body", "body": b"x" * size})


@pytest.fixture
def impatient(monkeypatch):
    """A server whose patience lasts for a second."""
    monkeypatch.setattr(guards, "_HEAD_SECONDS", 1)
    monkeypatch.setattr(guards, "_BODY_SECONDS", 1)
    monkeypatch.setattr(guards, "_ANSWERING_SECONDS", 0)
    monkeypatch.setattr(guards, "_TAKING_SECONDS", 1)
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        config = uvicorn.Config(
            small_app, http=PatientProtocol, lifespan="off", log_level="error", timeout_keep_alive=60
        )
        running = uvicorn.Server(config)
        thread = threading.Thread(target=running.run, args=([listening],), daemon=True)
        thread.start()
        wait_for(lambda: running.started)
        yield listening.getsockname()
        running.should_exit = True
        thread.join(20)


def drained(connection):
    """How much came until the connection was closed or reset."""
    got = 0
    while True:
        try:
            chunk = connection.recv(1 << 20)
        except ConnectionError:
            return got
        if not chunk:
            return got
        got += len(chunk)


REQUEST = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"
WITH_BODY = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n"


@pytest.mark.parametrize(
    ("before", "answers"), [(b"", 0), (REQUEST, 1), (WITH_BODY, 1), (REQUEST + WITH_BODY, 2), (REQUEST * 3, 3)]
)
def test_a_slow_request_is_dropped_also_after_another(impatient, before, answers):
    """A byte now and then earns no more time, neither for a head nor for a body, also of one that was answered."""
    with socket.create_connection(impatient, timeout=20) as slow:
        slow.sendall(before)
        got = b""
        while got.count(b"\r\n\r\nxx") < answers:
            got += slow.recv(1000)
        begun, over = time.monotonic(), threading.Event()

        def drip():
            while not over.wait(0.1):
                try:
                    slow.sendall(b"G")
                except OSError:
                    return

        dripping = threading.Thread(target=drip)
        dripping.start()
        drained(slow)
        over.set()
        dripping.join()
        assert 0.5 < time.monotonic() - begun < 6


def test_a_client_that_does_not_take_its_answer_is_dropped(impatient):
    with socket.create_connection(impatient, timeout=20) as slow:
        slow.sendall(b"GET /large HTTP/1.1\r\nHost: x\r\n\r\n")
        time.sleep(2.5)
        assert drained(slow) < 50_000_000
    with socket.create_connection(impatient, timeout=20) as other:
        other.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        assert b"200" in other.recv(1000)


@pytest.mark.parametrize("begun", [False, True])
def test_what_fails_is_never_quoted_also_in_the_middle_of_an_answer(begun, caplog):
    """Neither to the client nor in the log, where uvicorn would write whatever reaches it, with its text."""

    async def app(_, __, send):
        if begun:
            await send({"type": "http.response.start", "status": 200, "headers": [(b"Cache-Control", b"public")]})
            await send({"type": "http.response.body", "body": b"first", "more_body": True})
        raise ValueError("Logville")

    sent, counted = [], Counter()

    async def send(message):
        sent.append(message)

    scope = {"type": "http", "method": "GET", "path": "/", "headers": []}
    asyncio.run(guards.Guard(app, counted)(scope, None, send))
    assert counted == {f"status {200 if begun else 500}": 1}
    headers = dict(sent[0]["headers"])
    assert {name.lower().encode() for name in guards.HEADERS} <= {name.lower() for name in headers}
    assert (b"Cache-Control" in headers) == begun
    assert sent[-1].get("more_body", False) == begun  # so that uvicorn closes the connection
    assert "Logville" not in caplog.text + str(sent)
    assert "ValueError" in caplog.text


# ---------------------------------------------------------------------- what else is told


def test_counts_over_all_datasets_are_for_tokens_of_all(server, tokens):
    some = server.call("GET", "/v1/metrics", token=tokens["eve"]).text
    assert "leastnoise_budget_used_ratio" in some
    assert "_total" not in some
    assert "secret" not in some
    every = server.call("GET", "/v1/metrics", token=server.token("all eyes", "auditor", None)).text
    assert "leastnoise_responses_total" in every
    assert "leastnoise_workers_killed_total" in every


@pytest.mark.slow
def test_an_issuer_that_does_not_answer_keeps_nobody_else_waiting(start):
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen(64)
        issuer = f"http://127.0.0.1:{silent.getsockname()[1]}"
        server = start(service=f'[service.oidc]\nissuer = "{issuer}"\naudience = "leastnoise"')
        ada = server.token("ada")
        forged = "eyJhbGciOiJSUzI1NiIsImtpZCI6IngifQ.eyJzdWIiOiJhIn0.AAAA"
        threads = [threading.Thread(target=server.call, args=("GET", "/v1/datasets", None, forged)) for _ in range(20)]
        for thread in threads:
            thread.start()
        time.sleep(0.3)
        begun = time.monotonic()
        assert server.call("GET", "/v1/datasets", token=ada).status == 200
        assert time.monotonic() - begun < 3
        for thread in threads:
            thread.join()


@pytest.mark.parametrize(
    "issuer",
    ["http://login.example.org", "http://127.0.0.1.example.org", "http://127.0.0.1@example.org", "ftp://x", ""],
)
def test_keys_of_an_issuer_never_come_in_the_clear(issuer):
    with pytest.raises(BadConfiguration):
        OidcSettings(issuer, "leastnoise")
    assert OidcSettings("http://127.0.0.1:99", "leastnoise")


@pytest.mark.slow
def test_a_release_that_nobody_works_at_any_more_goes_on(start):
    """Its server is gone and comes back under another name, as a new container does, or it lost the release."""
    server = start()
    ada = server.token("ada")
    body = {"dataset": "people", "purpose": "any", "question": COUNT, "price": {"epsilon": "1/10"}}
    store = ServiceStore(server.store_place)
    now = int(time.time())
    for name, ends in (("lost", now - 1), ("kept", now + 600)):  # another server is at the second
        asked = Asked(f"rel-{name}", "ada", name, "people", "any", canonical(body), "running", now, now, "elsewhere:1")
        assert store.begin(replace(asked, expires=ends))
    store.close()
    wait_for(lambda: server.call("GET", "/v1/releases/rel-lost", token=ada).json["state"] == "unfinished")
    assert server.ask(ada, "kept", headers={"Prefer": "respond-async"}).status == 202
    told = server.ask(ada, "lost")
    assert (told.status, told.json["id"], told.json["state"]) == (200, "rel-lost", "done")
    assert server.spent() == Fraction(1, 10)


def test_a_question_in_sql_is_planned_released_and_certified(server, tokens):
    question = {"sql": "SELECT city, COUNT(*) AS n, AVG(CLAMP(age, 0, 100)) AS a FROM people "
                       "WHERE city IN ('Lyon', 'Metz') GROUP BY city ORDER BY n DESC"}  # fmt: skip
    plan = server.call(
        "POST", "/v1/datasets/people/plan", {"question": question, "price": {"epsilon": "1/5"}}, tokens["ada"]
    ).json
    assert len(plan["plans"]) == 2
    told = server.ask(tokens["ada"], "in sql", "1/5", question).json
    assert told["result"]["columns"][:2] == ["city", "n"]
    assert {row[0] for row in told["result"]["rows"]} == {"Lyon", "Metz"}
    assert server.ask(tokens["ada"], "in sql", "1/5", question).json["result"] == told["result"]
    rows = server.call("GET", f"/v1/releases/{told['id']}/table", token=tokens["ada"]).text
    assert rows.startswith('"city","n","n_low","n_high","a","a_low","a_high"')
    found = server.call("GET", f"/v1/releases/{told['id']}/certificate", token=tokens["ada"]).json["certificates"]
    assert len(found) == 2
    assert json.loads(json.dumps(told["question"])) == question


# ---------------------------------------------------------------------- what is told to the wrong one


def test_what_is_left_to_one_is_told_to_nobody_else(server, tokens):
    """Plans are kept for everybody, and what was released is there for readers; neither is what an analyst has left."""
    poor, rich = server.token("poor"), server.token("rich")
    grant = {"dataset": "people", "analyst": "poor", "budget": {"epsilon": "1/7"}}
    assert server.call("POST", "/v1/budgets", grant, tokens["cleo"]).status == 200
    batch = {"question": "batch", "queries": [COUNT, {"question": "count", "where": "age > 17"}]}
    for question, more in ((COUNT, True), (batch, True), (batch, False)):
        body = {"question": question, "price": {"epsilon": "1/100"}, "other_prices": more}
        plans = [server.call("POST", "/v1/datasets/people/plan", body, each) for each in (poor, rich)]
        assert [each.json["left"]["epsilon"] == "1/7" for each in plans] == [True, False]
        assert "1/7" not in plans[1].text
        for each in plans:  # it is kept, and what was left when it was made is not what is left when it is shown
            assert all(part["left"] is None for part in each.json.get("plans", ()))
    for number, question in enumerate((COUNT, batch)):
        released = server.ask(poor, f"shown {number}", "1/140", question).json["id"]
        told = server.call("GET", f"/v1/releases/{released}", token=tokens["fay"]).json
        for plan in (told["plan"], told["result"]["plan"]):
            assert [each.get("left") for each in (plan, *plan.get("plans", ()))] == [None] * (1 + 2 * number)
        for each in told["result"].get("releases", [told["result"]]):
            assert each.get("left") is None
            assert each.get("plan", {}).get("left") is None


@pytest.mark.slow
def test_where_ledger_and_data_lie_is_told_to_nobody(start):
    server = start()
    ada, eve = server.token("ada"), server.token("eve", "auditor")
    assert server.ask(ada, "before").status == 200
    witness = server.folder / "team.ledger.witness"
    kept = witness.read_bytes()
    for broken in (b"{}", None):
        witness.write_bytes(broken) if broken else witness.unlink()
        told = [
            server.ask(ada, f"broken {broken}"),
            server.call("GET", "/v1/releases", token=ada),
            server.call("GET", "/v1/ledger/verification", token=eve),
        ]
        assert {each.status for each in told} == {200, 503}
        for each in told:
            assert str(server.folder) not in each.text
            assert "team.ledger" not in each.text
        witness.write_bytes(kept)


def test_the_address_of_the_ledger_is_on_no_command_line(server):
    """Everybody on the machine can read those, and the address of a database may hold its password."""
    for pid in server.workers():
        line = Path(f"/proc/{pid}/cmdline").read_bytes()
        assert b"leastnoise.apps.service.worker" in line
        assert b"ledger" not in line
        assert str(server.folder).encode() not in line


@pytest.mark.slow
def test_no_other_question_begins_where_a_timed_one_ended(start):
    """Else whoever asks a second one learns how long the first took, answered at its time or not."""
    server = start(service='answer_after = "12s"')
    ada, ben, eve = server.token("ada"), server.token("ben"), server.token("eve", "auditor")
    server.call("POST", "/v1/datasets/people/plan", {"question": COUNT, "price": {"epsilon": 1}}, ada)
    begun = time.monotonic()
    server.ask(ada, "first", headers={"Prefer": "respond-async"})
    wait_for(lambda: states(server, "first", eve))
    server.ask(ben, "second", headers={"Prefer": "respond-async"})
    wait_for(lambda: states(server, "first", eve) == ["answered"])
    assert time.monotonic() - begun < 11, "the machine is too slow for this test"
    wait_for(lambda: states(server, "second", ben))
    assert time.monotonic() - begun > 11.9


# ---------------------------------------------------------------------- who takes too much


def test_lists_hold_no_long_questions(tmp_path):
    """Hundreds of them, each as long as a body may be, would fill the memory of whoever lists them."""
    store = ServiceStore(str(tmp_path / "store"))
    body = {"dataset": "people", "purpose": "any", "price": {"epsilon": "1/1000"}}
    for number, length in enumerate((10, 900_000)):
        text = canonical({**body, "question": {"question": "count", "where": "x" * length}})
        store.begin(Asked(f"rel-{number}", "ada", f"{number}", "people", "any", text, "done", 1, 1))
    listed = store.listed(["people"])
    assert [len(each.body) < 1000 for each in listed] == [True, True]
    assert [json.loads(each.body)["price"] for each in listed] == [{"epsilon": "1/1000"}] * 2
    assert len(store.asked("rel-1").body) > 900_000
    store.close()


def test_a_price_that_a_stopped_server_did_not_give_back_is_given_back_later(service, monkeypatch):
    """And a long question that waited for nothing is not kept."""
    request = Request("held", Pure("1/10"), dataset="people", analyst="ada")
    service.ledger.grant(Privacy(1), dataset="people")
    service.ledger.reserve(request)
    now = int(time.time())
    text = canonical({"dataset": "people", "purpose": "any", "price": {}, "question": {"where": "x" * 900_000}})
    asked = Asked("rel-1", "ada", "held", "people", "any", text, "waiting", now, now, expires=now + 600)
    service.store.begin(asked)
    service.store.move("rel-1", ["waiting"], "waiting", now, held=write_held(request))
    who = Principal("ada", "analyst", None)

    def stop(_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(service.ledger, "cancel", stop)
        with pytest.raises(KeyboardInterrupt):
            asyncio.run(service.cancel(who, "rel-1"))
    assert service.store.asked("rel-1").state == "cancelled"
    asyncio.run(service._expire())
    assert service.ledger.standing(request).state == "reserved"  # somebody may just be at it
    monkeypatch.setattr("leastnoise.apps.service.store._FORGOTTEN", 0)
    asyncio.run(service._expire())
    assert service.ledger.standing(request).state == "cancelled"
    assert service.store.due(now + 10_000) == []
    assert len(service.store.asked("rel-1").body) < 1000


@pytest.mark.parametrize(
    ("table", "change"),
    [
        ("leastnoise_tokens", "DROP COLUMN purposes"),
        ("leastnoise_asked", "DROP COLUMN origin"),
        ("leastnoise_tokens", "ADD COLUMN later TEXT"),
        ("leastnoise_asked", "ADD COLUMN later TEXT"),
    ],
)
def test_a_store_of_another_version_says_what_to_do(tmp_path, table, change):
    """And is left as it was; what was spent is in the ledger."""
    place = tmp_path / "store"
    ServiceStore(str(place)).close()
    with closing(sqlite3.connect(place)) as database:
        database.execute(f"ALTER TABLE {table} {change}")
        database.commit()
        before = list(database.execute("SELECT sql FROM sqlite_master"))
        with pytest.raises(BadConfiguration, match="begin with a new store"):
            ServiceStore(str(place))
        assert list(database.execute("SELECT sql FROM sqlite_master")) == before


WORKING = """
import socket, sys, time
from leastnoise.apps.service.worker import read_frame, write_frame
channel = socket.socket(fileno=int(sys.argv[1]))
read_frame(channel)
channel.sendall(write_frame({"ready": 1}))
while (order := read_frame(channel)) is not None:
    time.sleep(0.05)
    channel.sendall(write_frame({"result": order["whose"]}))
"""


@pytest.mark.slow
def test_whoever_asks_much_keeps_others_waiting_for_little(tmp_path, monkeypatch):
    program = tmp_path / "working.py"
    program.write_text(WORKING)
    begin = asyncio.create_subprocess_exec

    async def exec_working(python, _m, _module, channel, **options):
        return await begin(python, str(program), channel, **options)

    monkeypatch.setattr("leastnoise.apps.service.pool.asyncio.create_subprocess_exec", exec_working)
    done = []

    async def run():
        pool = Pool([], 2, 20, 10**10)
        await pool.start()

        async def ask(whose):
            done.append(await pool.run({"whose": whose}, whose=whose))

        try:
            flood = [asyncio.create_task(ask("ada")) for _ in range(50)]
            await asyncio.sleep(0)
            with pytest.raises(TooManyRequests):
                await ask("ada")
            await ask("ben")
            await asyncio.gather(*flood)
        finally:
            await pool.stop()
        assert pool.waiting == 0
        assert pool._turns == {}

    asyncio.run(run())
    assert done.index("ben") <= 4  # those that are at work, and one more for each worker
    assert len(done) == 51


def test_a_new_ledger_is_never_made_where_questions_were_asked(tmp_path):
    """Whoever loses the ledger and starts the service again would begin with a full budget."""
    Server(tmp_path)
    configuration = read_configuration(tmp_path / "leastnoise.toml")
    settings = read_settings(configuration)
    store = ServiceStore(settings.store)
    store.begin(Asked("rel-1", "ada", "1", "people", "any", "{}", "done", 1, 1))
    store.close()
    with pytest.raises(LedgerMissing, match="forget what was spent"):
        Service(configuration, settings)
    assert not list(tmp_path.glob("team.ledger"))
