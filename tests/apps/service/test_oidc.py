"""Tokens of an issuer, against a real issuer process: what is accepted, and every way to forge one that is not."""

import base64
import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from urllib.request import Request, urlopen

import pytest

from support.serving import Server, free_port, wait_for

pytestmark = pytest.mark.slow

HELPER = Path(__file__).parents[2] / "support" / "oidc_issuer.py"


class Issuer:
    def __init__(self):
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.process = subprocess.Popen([sys.executable, str(HELPER), str(self.port)])
        wait_for(self.answers)

    def answers(self):
        try:
            return self.get("/keys")
        except OSError:
            return None

    def get(self, path):
        with urlopen(self.url + path) as response:  # noqa: S310 - this machine
            return json.loads(response.read())

    def token(self, claims=None, without=(), **more):
        full = {
            "iss": self.url,
            "aud": "leastnoise",
            "sub": "ada",
            "exp": int(time.time()) + 600,
            "roles": ["analyst"],
            "datasets": ["people"],
            **(claims or {}),
        }
        body = json.dumps({"claims": {k: v for k, v in full.items() if k not in without}, **more}).encode()
        with urlopen(Request(self.url, body, method="POST")) as response:  # noqa: S310 - this machine
            return json.loads(response.read())["token"]


@pytest.fixture(scope="module")
def issuer():
    running = Issuer()
    yield running
    running.process.kill()
    running.process.wait()


@pytest.fixture(scope="module")
def server(issuer, tmp_path_factory):
    oidc = f'[service.oidc]\nissuer = "{issuer.url}"\naudience = "leastnoise"'
    running = Server(tmp_path_factory.mktemp("oidc"), service=oidc).start()
    yield running
    running.stop(signal.SIGKILL)


@pytest.mark.parametrize("key", ["rsa", "curve"])
def test_a_signed_token_is_somebody(server, issuer, key):
    told = server.call("GET", "/v1/datasets/people", token=issuer.token(key=key))
    assert (told.status, told.json["analyst"], told.json["role"]) == (200, "oidc:ada", "analyst")


def test_claims_say_role_and_datasets_and_nothing_means_nothing(server, issuer):
    assert server.call("GET", "/v1/datasets", token=issuer.token(without=["roles"])).status == 401
    assert server.call("GET", "/v1/datasets", token=issuer.token({"roles": ["root"]})).status == 401
    nothing = issuer.token(without=["datasets"])
    assert server.call("GET", "/v1/datasets", token=nothing).json["datasets"] == []
    assert server.call("GET", "/v1/datasets/secret", token=issuer.token()).status == 404
    reader = issuer.token({"roles": "reader"})
    assert server.call("GET", "/v1/suspensions", token=reader).status == 403


FORGED = {
    "over": {"claims": {"exp": int(time.time()) - 3600}},
    "no end": {"without": ["exp"]},
    "not yet": {"claims": {"nbf": int(time.time()) + 3600}},
    "another audience": {"claims": {"aud": "payroll"}},
    "no audience": {"without": ["aud"]},
    "another issuer": {"claims": {"iss": "https://evil.example"}},
    "no issuer": {"without": ["iss"]},
    "no subject": {"without": ["sub"]},
    "a name that is none": {"claims": {"sub": "a\nb"}},
    "a stranger's key under a known id": {"key": "stranger", "kid": "rsa"},
    "a stranger's key under its own id": {"key": "stranger"},
    "the key of another algorithm": {"key": "rsa", "kid": "curve"},
    "an id that is a path": {"kid": "../../../dev/null"},
    "an id that is SQL": {"kid": "x' UNION SELECT 'secret"},
    "keys of its own": {
        "key": "stranger",
        "kid": "rsa",
        "headers": {"jku": "http://127.0.0.1:1/keys", "x5u": "http://x"},
    },
    "the public key as a secret": {"confused": True},
    "an extension that has to be understood": {"headers": {"crit": ["leastnoise"], "leastnoise": 1}},
}


@pytest.mark.parametrize("how", FORGED)
def test_forged_tokens_are_refused(server, issuer, how):
    told = server.call("GET", "/v1/datasets", token=issuer.token(**FORGED[how]))
    assert told.status in (401, 422), told.text
    assert "datasets" not in told.json


@pytest.mark.parametrize("algorithm", ["none", "None", "HS256", "RS256"])
def test_a_token_without_a_signature_is_none(server, issuer, algorithm):
    _, body, _ = issuer.token().split(".")
    head = base64.urlsafe_b64encode(json.dumps({"alg": algorithm, "kid": "rsa"}).encode()).decode().rstrip("=")
    for text in (f"{head}.{body}.", f"{head}.{body}.AAAA", f"{head}..", ".."):
        assert server.call("GET", "/v1/datasets", token=text).status == 401


def test_a_changed_body_does_not_fit_the_signature(server, issuer):
    head, body, mark = issuer.token().split(".")
    claims = json.loads(base64.urlsafe_b64decode(body + "=="))
    claims["roles"] = ["curator"]
    forged = base64.urlsafe_b64encode(json.dumps(claims).encode()).decode().rstrip("=")
    assert server.call("GET", "/v1/datasets", token=f"{head}.{forged}.{mark}").status == 401


def test_a_token_of_our_own_can_not_take_the_name_of_an_issuers(server):
    with pytest.raises(ValueError, match="colon"):
        server.token("oidc:ada")


@pytest.mark.slow
def test_new_keys_are_found_after_a_while(server, issuer):
    token = issuer.token(key="new")
    assert server.call("GET", "/v1/datasets", token=token).status == 401
    issuer.get("/publish")
    wait_for(lambda: server.call("GET", "/v1/datasets", token=token).status == 200, 40)
