"""Each line of the threats to a service, through HTTP."""

import asyncio
import hashlib
import json
import socket
import time
from contextlib import nullcontext
from types import SimpleNamespace

import pytest

from leastnoise.apps.service.guards import read_json
from leastnoise.errors import BadParameter
from support.serving import wait_for

pytestmark = pytest.mark.slow

BODY = {"question": {"question": "count"}, "price": {"epsilon": "1/10"}, "request_id": "x"}
RELEASES = "/v1/datasets/people/releases"


@pytest.fixture
def spent(server, tokens):
    """What is spent before and after: none of these requests costs anything."""
    server.ask(tokens["ada"], "the first")
    before = server.spent()
    yield before
    assert server.spent() == before


def paths(server):
    told = server.call("GET", "/v1/openapi.json").json["paths"]
    return [(method.upper(), path) for path, methods in told.items() for method in methods]


def test_nothing_but_health_and_the_description_answers_without_a_token(server, spent):
    assert spent
    tried = 0
    for method, path in paths(server):
        if path != "/v1/health":
            filled = path.replace("{name}", "people").replace("{asked_id}", "rel-1").replace("{token_id}", "1")
            told = server.call(method, filled, BODY if method == "POST" else None)
            assert (told.status, told.json["type"]) == (401, "urn:leastnoise:NotAllowed"), path
            assert told.headers["WWW-Authenticate"] == "Bearer"
            tried += 1
    assert tried >= 20


@pytest.mark.parametrize(
    "header",
    [
        "",
        "Bearer",
        "Bearer x",
        "Basic YWRhOng=",
        "Bearer ln_0000000000000000_" + "0" * 64,
        "Bearer ln_0000000000000000_" + "0" * 63,
        "Bearer " + "x" * 20_000,
        "Bearer null",
        "Bearer ' OR 1=1 --",
        "Bearer eyJhbGciOiJub25lIn0.eyJzdWIiOiJhZGEifQ.",
    ],
)
def test_wrong_tokens_are_refused_in_one_way(server, tokens, header):
    told = server.call("GET", "/v1/datasets", headers={"Authorization": header})
    assert told.status == 401
    right = tokens["ada"]
    for wrong in (
        right[:-1] + ("0" if right[-1] != "0" else "1"),
        right.upper(),
        right + " x",
        right.replace("ln_", ""),
    ):
        again = server.call("GET", "/v1/datasets", token=wrong)
        assert (again.status, again.json["detail"]) == (401, "the token is not valid")


def test_only_hashes_of_tokens_are_kept_and_none_is_logged(server, tokens):
    kept = b"".join(
        file.read_bytes() for file in server.folder.iterdir() if file.is_file() and file.suffix != ".parquet"
    )
    for token in tokens.values():
        secret = token.rpartition("_")[2]
        assert secret.encode() not in kept
    assert hashlib.sha256(tokens["ada"].rpartition("_")[2].encode()).hexdigest().encode() in kept


def test_tokens_in_a_cookie_or_an_address_are_none(server, tokens, spent):
    """So a page of somebody else can't ask with them."""
    assert spent
    for headers in ({"Cookie": f"token={tokens['ada']}"}, {"Cookie": f"Authorization=Bearer {tokens['ada']}"}):
        assert server.call("POST", RELEASES, BODY, headers=headers).status == 401
    assert server.call("GET", f"/v1/datasets?token={tokens['ada']}").status == 401


def test_a_form_of_another_page_is_no_request(server, tokens, spent):
    assert spent
    for kind in ("application/x-www-form-urlencoded", "text/plain", "multipart/form-data", ""):
        told = server.call("POST", RELEASES, BODY, tokens["ada"], {"Content-Type": kind})
        assert told.status == 422
    preflight = server.call(
        "OPTIONS", RELEASES, headers={"Origin": "https://x.example", "Access-Control-Request-Method": "POST"}
    )
    assert preflight.status in (404, 405)
    told = server.call("GET", "/v1/datasets", token=tokens["ada"], headers={"Origin": "https://x.example"})
    assert not [name for name in told.headers if name.lower().startswith("access-control")]


@pytest.mark.parametrize(
    "name",
    [
        "secret",
        "nothing",
        "../../etc/passwd",
        "..%2f..%2fetc%2fpasswd",
        "%2e%2e/%2e%2e/secret",
        "http%3A%2F%2F127.0.0.1%2F",
        "http://127.0.0.1:80/",
        "postgresql%3A%2F%2Fx",
        "people%00",
        "people.parquet",
        "PEOPLE",
        "people%20",
        "*",
        "%F0%9F%99%82",
        "a" * 5000,
    ],
)
def test_a_dataset_is_a_name_and_others_do_not_exist(server, tokens, spent, name):
    """Whether somebody else's dataset exists can't be told from one that does not."""
    assert spent
    found = server.call("GET", f"/v1/datasets/{name}", token=tokens["ada"])
    assert (found.status, found.json["type"]) == (404, "urn:leastnoise:NotFound")
    assert server.call("POST", f"/v1/datasets/{name}/releases", BODY, tokens["ada"]).status == 404
    assert server.call("POST", f"/v1/datasets/{name}/plan", BODY, tokens["ada"]).status == 404
    known, unknown = (
        server.call("GET", f"/v1/datasets/{each}", token=tokens["ada"]).json["detail"] for each in ("secret", "sceret")
    )
    assert known == unknown


def test_ids_of_others_do_not_exist(server, tokens):
    other = server.token("mia", datasets=("secret",))
    theirs = server.ask(other, "private", dataset="secret").json["id"]
    for path in ("", "/table", "/certificate"):
        for name in ("ada", "ben", "eve", "fay", "cleo"):  # their tokens are for another dataset
            seen = server.call("GET", f"/v1/releases/{theirs}{path}", token=tokens[name])
            missing = server.call("GET", f"/v1/releases/rel-{'0' * 32}{path}", token=tokens[name])
            assert (seen.status, seen.json["detail"]) == (missing.status, missing.json["detail"])
            assert seen.status == 404
    assert server.call("DELETE", f"/v1/releases/{theirs}", token=tokens["cleo"]).status == 404
    decision = {"approve": True, "fingerprint": "0" * 64}
    assert server.call("POST", f"/v1/approvals/{theirs}", decision, tokens["cleo"]).status == 404


@pytest.mark.parametrize(
    ("raw", "status"),
    [
        (b"", 422),
        (b"{", 422),
        (b"[]", 422),
        (b"null", 422),
        (b"\xff\xfe", 422),
        (b'{"a": NaN}', 422),
        (b'{"question": {}, "question": {}}', 422),
        (b"[" * 100_000, 422),
        (b"[" * 40 + b"]" * 40, 422),
        (b'{"a":' * 20_000 + b"1" + b"}" * 20_000, 422),
        (b'{"a": ' + b"1" * 5000 + b"}", 422),
        (b'{"question": ' + b'"' + b"x" * 2_000_000 + b'"}', 413),
    ],
)
def test_oversized_deep_and_broken_bodies(server, tokens, spent, raw, status):
    assert spent
    start = time.monotonic()
    try:
        told = server.call("POST", RELEASES, token=tokens["ada"], raw=raw)
    except (BrokenPipeError, ConnectionResetError):
        assert status == 413  # dropped while it was still sending
        return
    assert told.status == status
    assert time.monotonic() - start < 10


@pytest.mark.parametrize(("levels", "taken"), [(29, True), (31, False), (500, False)])
def test_a_body_has_so_many_levels(levels, taken):
    async def chunks():
        yield b'{"a":' * levels + b"1" + b"}" * levels

    request = SimpleNamespace(headers={"content-type": "application/json"}, stream=chunks)
    with nullcontext() if taken else pytest.raises(BadParameter, match="too deeply"):
        assert asyncio.run(read_json(request, 10**6))


@pytest.mark.parametrize(
    "change",
    [
        {"question": "count"},
        {"question": {"question": "close"}},
        {"question": {"question": "__init__"}},
        {"question": {"question": "count", "where": "1; DROP TABLE people"}},
        {"question": {"question": "count", "where": "read_csv('/etc/passwd')"}},
        {"question": {"question": "count", "by": "../x"}},
        {"price": {"epsilon": "0"}},
        {"price": {"epsilon": -1}},
        {"price": {"epsilon": "1e-300"}},
        {"price": {"epsilon": 1, "rho": 1}},
        {"price": {"epsilon": 30}},
        {"price": []},
        {"request_id": ""},
        {"request_id": "x" * 500},
        {"request_id": "a\nb"},
        {"request_id": 3},
        {"purpose": "privacy unit: row"},
        {"analyst": "ben"},
        {"dataset": "secret"},
        {"approved": "x"},
        {"confidence": True},
    ],
)
def test_hostile_fields_are_refused_with_typed_errors(server, tokens, spent, change):
    assert spent
    told = server.call("POST", RELEASES, {**BODY, **change}, tokens["ada"])
    assert told.status == 422
    assert set(told.json) == {"type", "title", "status", "detail", "given", "fix"}
    assert told.headers["content-type"] == "application/problem+json"
    assert "Traceback" not in told.text
    assert str(server.folder) not in told.text


def test_every_answer_has_the_headers(server, tokens):
    for told in (
        server.call("GET", "/v1/health"),
        server.call("GET", "/nothing"),
        server.call("GET", "/v1/datasets"),
        server.call("GET", "/v1/datasets", token=tokens["ada"]),
    ):
        assert told.headers["X-Content-Type-Options"] == "nosniff"
        assert told.headers["Cache-Control"] == "no-store"
        assert "default-src 'none'" in told.headers["Content-Security-Policy"]
        assert "server" not in {name.lower() for name in told.headers}
    for path in ("/docs", "/redoc", "/openapi.json"):
        assert server.call("GET", path).status == 404


@pytest.mark.slow
def test_slow_clients_are_dropped(start):
    server = start()
    token = server.token("ada")
    with (
        socket.create_connection(("127.0.0.1", server.port)) as head,
        socket.create_connection(("127.0.0.1", server.port)) as body,
    ):
        head.sendall(b"GET /v1/health HTTP/1.1\r\nHost: x\r\nX: ")
        lines = f"POST {RELEASES} HTTP/1.1", "Host: x", f"Authorization: Bearer {token}"
        kind = "Content-Type: application/json", "Content-Length: 100", "", "{"
        body.sendall("\r\n".join((*lines, *kind)).encode())
        assert server.call("GET", "/v1/health").status == 200  # others are served meanwhile
        for slow in (head, body):
            slow.settimeout(30)
            assert b"200" not in slow.recv(1000)[:15]


@pytest.mark.slow
def test_rates_are_limited_for_each_token_and_each_address(start):
    server = start(limits=(20, 60))
    token, other = server.token("ada"), server.token("ben")
    answers = [server.call("GET", "/v1/datasets", token=token) for _ in range(30)]
    assert [each.status for each in answers].count(429) >= 8
    limited = next(each for each in answers if each.status == 429)
    assert limited.json["type"] == "urn:leastnoise:TooManyRequests"
    assert int(limited.headers["Retry-After"]) > 0
    assert server.call("GET", "/v1/datasets", token=other).status == 200
    guesses = [
        server.call("GET", "/v1/datasets", None, f"ln_{place:016x}_{0:064x}", {"X-Forwarded-For": f"10.0.0.{place}"})
        for place in range(80)
    ]
    assert [each.status for each in guesses].count(429) >= 10
    assert server.call("GET", "/v1/datasets", token=other).status == 200


@pytest.mark.slow
def test_answers_leave_at_multiples_of_a_time(start):
    """Also for whoever looks while it runs; what was answered before is there at once."""
    server = start(service='answer_after = "2s"', dataset='approve_above = "1/2"')
    token = server.token("ada")
    server.ask(token, "warm")
    for request_id, epsilon in (("a", "1/10"), ("b", "19"), ("c", "1")):  # answered, refused, waiting
        begun = time.monotonic()
        told = server.ask(token, request_id, epsilon, headers={"Prefer": "respond-async"})
        assert (told.status, told.json["progress"]) == (202, "running")
        ended = wait_for(lambda place=told.headers["Location"]: _over(server, place, token))
        assert ended - begun > 1.9
        assert (ended - begun) % 2 < 0.9
    begun = time.monotonic()
    assert server.ask(token, "a").status == 200
    assert time.monotonic() - begun < 1.5


def _over(server, place, token):
    return server.call("GET", place, token=token).json["state"] != "running" and time.monotonic()


def test_the_log_holds_no_question_no_value_and_no_token(server, tokens):
    server.ask(tokens["ada"], "logged?", question={"question": "count", "where": "city = 'Logville'"})
    assert "Logville" not in server.log.read_text()
    assert "ln_" not in server.log.read_text()


def test_names_that_look_like_markup_stay_text(server):
    name = '<script>alert("x")</script>'
    token = server.token(name)
    told = server.call("GET", "/v1/datasets/people", token=token)
    assert told.json["analyst"] == name
    assert told.headers["content-type"] == "application/json"
    done = server.ask(token, name, "1/100")
    assert json.loads(done.text)["request_id"] == name
    assert wait_for(lambda: server.call("GET", "/v1/releases", token=token).json["releases"])
