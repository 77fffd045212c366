"""A real server in a process of its own, on a free port of this machine, with a table of people."""

import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import urlencode

from leastnoise.apps.service.access import new_token
from leastnoise.apps.service.store import ServiceStore
from leastnoise.ledger import Ledger, Scope
from support.people import write_people

CONFIGURATION = """
ledger = "{ledger}"
[datasets.people]
source = "people.parquet"
unit = "person"
budget = ["{budget}", "{delta}"]
rows_per_unit = 3
{dataset}
[datasets.secret]
source = "people.parquet"
unit = "person"
budget = 1
[service]
requests_per_minute = {limits[0]}
failures_per_minute = {limits[1]}
{service}
"""


def free_port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


class Server:
    """The server, and how to talk to it."""

    def __init__(
        self,
        folder,
        *,
        service="",
        dataset="",
        budget="15",
        delta="1e-6",
        ledger="team.ledger",
        store=None,
        limits=(10**6, 10**6),
    ):
        self.folder, self.port, self.process = Path(folder), free_port(), None
        self.place = ledger if "://" in ledger else str(self.folder / ledger)
        self.store_place = store or f"{self.place}.service"
        more = f'store = "{store}"\n{service}' if store else service
        text = CONFIGURATION.format(
            ledger=ledger, service=more, dataset=dataset, budget=budget, delta=delta, limits=limits
        )
        (self.folder / "leastnoise.toml").write_text(text)
        if not (self.folder / "people.parquet").exists():
            write_people(self.folder / "people.parquet")
        self.log = self.folder / "log"
        self.url = f"http://127.0.0.1:{self.port}"

    def start(self):
        command = [sys.executable, "-m", "leastnoise", "serve", str(self.folder / "leastnoise.toml"), "--port"]
        with self.log.open("ab") as log:
            self.process = subprocess.Popen([*command, str(self.port)], stdout=log, stderr=log, cwd=self.folder)
        end = time.monotonic() + 60
        while time.monotonic() < end:
            try:
                if self.call("GET", "/v1/health").status == 200:
                    return self
            except OSError:
                time.sleep(0.05)
            assert self.process.poll() is None, self.log.read_text()
        raise AssertionError(self.log.read_text())

    def stop(self, how=signal.SIGTERM):
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(how)
            self.process.wait(60)

    def token(self, name, role="analyst", datasets=("people",), **more):
        store = ServiceStore(self.store_place)
        try:
            return new_token(store, name, role, None if datasets is None else tuple(datasets), **more)[0]
        finally:
            store.close()

    def call(self, method, path, body=None, token=None, headers=(), raw=None):
        """A request; the answer with its status, headers, text and JSON."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        sent = dict(headers)
        if token is not None:
            sent.setdefault("Authorization", f"Bearer {token}")
        content = raw if raw is not None else None if body is None else json.dumps(body)
        if content is not None:
            sent.setdefault("Content-Type", "application/json")
        try:
            connection.request(method, path, content, sent)
            response = connection.getresponse()
            text = response.read().decode()
        finally:
            connection.close()
        kind = response.headers.get("content-type", "")
        told = json.loads(text) if kind.split(";")[0].endswith("json") and "ndjson" not in kind else None
        return SimpleNamespace(status=response.status, headers=response.headers, text=text, json=told)

    def ask(self, token, request_id, epsilon="1/10", question=None, dataset="people", **more):
        body = {"question": question or {"question": "count"}, "price": {"epsilon": epsilon}, "request_id": request_id}
        sent = more.pop("headers", ())
        return self.call("POST", f"/v1/datasets/{dataset}/releases", {**body, **more}, token, sent)

    def workers(self):
        """The processes that the server started."""
        found = []
        for entry in Path("/proc").iterdir():
            if entry.name.isdigit():
                try:
                    parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
                except (OSError, IndexError):
                    continue
                if parent == self.process.pid:
                    found.append(int(entry.name))
        return found

    @contextmanager
    def ledger(self):
        with Ledger.open(self.place) as opened:
            yield opened

    def spent(self, dataset="people"):
        with self.ledger() as ledger:
            found = [each for each in ledger.balances(dataset) if each.scope == Scope(dataset)]
            return found[0].spent.basic[0] if found else 0


def post(server, path, fields, **headers):
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
    headers = {"Content-Type": "application/x-www-form-urlencoded", **headers}
    try:
        connection.request("POST", path, urlencode(fields), headers)
        answer = connection.getresponse()
        return answer.status, answer.headers, answer.read().decode()
    finally:
        connection.close()


def log_in(server, token, **headers):
    """The cookie with its flags, and the secret of the session's forms."""
    status, found, _ = post(server, "/page/login", {"token": token}, **headers)
    assert status == 303
    flags = found["set-cookie"]
    text = server.call("GET", "/page", headers={"Cookie": flags.partition(";")[0]}).text
    return flags, re.search(r'name="csrf" value="([0-9a-f]{64})"', text)[1]


def wait_for(what, seconds=30):
    """What a function gives once it gives something."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found = what()
        if found:
            return found
        time.sleep(0.02)
    raise AssertionError("it did not happen")


def is_alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
