"""Workers and servers that are killed, stopped and cancelled: no answer without a debit, no budget in doubt."""

import os
import signal
import threading
import time
from fractions import Fraction
from types import SimpleNamespace

import duckdb
import pytest

from support.postgres import postgres_server
from support.serving import Server, is_alive, wait_for

pytestmark = pytest.mark.slow

COLUMNS = [f"a{place}" for place in range(10)]
SLOW = {
    "question": "tables",
    "by": COLUMNS,
    "ways": 2,
    "keys": {name: [0, 1, 2, 3] for name in COLUMNS},
    "groups_per_unit": 3,
}
COUNT = {"question": "count"}


def write_large(folder):
    """A table on which `SLOW` takes seconds."""
    values = ", ".join(f"(hash(i, {place}) % 4)::INTEGER AS {name}" for place, name in enumerate(COLUMNS))
    rows = f"SELECT i % 100000 AS person, {values} FROM range(300000) r(i)"  # noqa: S608 - own words
    with duckdb.connect() as engine:
        engine.sql(rows).write_parquet(str(folder / "people.parquet"))


@pytest.fixture
def large(tmp_path):
    """A server with a large table."""
    write_large(tmp_path)
    servers = []

    def run(**settings):
        servers.append(Server(tmp_path, **settings).start())
        return servers[-1]

    yield run
    for server in servers:
        server.stop(signal.SIGKILL)


def begin(server, token, request_id, question=SLOW, epsilon="1/2"):
    """A release that runs as a job, once it reads private rows."""
    asked = server.ask(token, request_id, epsilon, question, headers={"Prefer": "respond-async"}).json
    place = f"/v1/releases/{asked['id']}"
    wait_for(lambda: server.call("GET", place, token=token).json["progress"] == "reading")
    return place


def state(server, place, token):
    return server.call("GET", place, token=token).json["state"]


def ended(server, place, token):
    return wait_for(lambda: (found := state(server, place, token)) != "running" and found, 60)


@pytest.mark.slow
def test_a_worker_that_dies_or_takes_too_long_is_a_failure(large):
    """It may have died of the data: charged, and suspended until a curator clears it."""
    server = large(service='time_limit = "20s"', budget="3")
    ada, ben, curator = server.token("ada"), server.token("ben"), server.token("cleo", "curator")
    server.ask(ben, "warm up", question=COUNT)
    spent = server.spent()
    place = begin(server, ada, "too long", epsilon="1/50")
    for pid in server.workers():
        os.kill(pid, signal.SIGSTOP)
    assert ended(server, place, ada) == "failed"
    for pid in server.workers():
        os.kill(pid, signal.SIGCONT)
    assert server.spent() == spent + Fraction(1, 10)  # at least that much for a failure
    assert server.ask(ada, "too long", "1/50", SLOW).status == 500  # the same error, and nothing is read
    refused = server.ask(ada, "next", question=COUNT)
    assert (refused.status, refused.json["type"]) == (423, "urn:leastnoise:DatasetSuspended")
    assert server.ask(ben, "another analyst", question=COUNT).status == 200
    assert server.call("GET", "/v1/suspensions", token=curator).json["suspensions"][0]["analyst"] == "ada"
    body = {"dataset": "people", "analyst": "ada"}
    assert server.call("POST", "/v1/suspensions/clear", body, ada).status == 403
    assert server.call("POST", "/v1/suspensions/clear", body, curator).status == 200
    assert server.ask(ada, "next", question=COUNT).status == 200
    before = server.spent()
    place = begin(server, ada, "killed")
    for pid in server.workers():
        os.kill(pid, signal.SIGKILL)
    assert ended(server, place, ada) == "failed"
    assert server.spent() == before + Fraction(1, 2)
    assert server.ask(ben, "goes on", question=COUNT).status == 200


@pytest.mark.slow
def test_a_plan_that_takes_too_long_costs_nothing(large):
    server = large(service='time_limit = "100ms"')
    ada = server.token("ada")
    told = server.ask(ada, "slow plan", "1/2", SLOW)
    assert told.status == 503
    with server.ledger() as ledger:
        assert ledger.debits("people") == []
        assert ledger.suspensions() == []


@pytest.mark.slow
def test_a_worker_that_takes_too_much_memory_is_killed(large):
    server = large(service='memory_limit = "150MB"')
    ada = server.token("ada")
    told = server.ask(ada, "much memory", "1/2", SLOW)
    assert told.status in (500, 503)
    assert "result" not in told.json
    with server.ledger() as ledger:
        assert all(debit.state == "failed" for debit in ledger.debits("people"))


@pytest.mark.slow
def test_a_cancelled_job_gives_its_price_back_and_is_counted(large):
    server = large()
    ada = server.token("ada")
    server.ask(ada, "warm up", question=COUNT)
    spent = server.spent()
    for number in range(3):
        place = begin(server, ada, f"cancelled {number}")
        assert server.spent() == spent + Fraction(1, 2)
        assert server.call("DELETE", place, token=ada).json["state"] == "cancelled"
        assert server.spent() == spent
    refused = server.ask(ada, "a fourth", question=COUNT)
    assert refused.status == 423  # three interruptions
    with server.ledger() as ledger:
        assert [each.interruptions for each in ledger.suspensions()] == [3]


@pytest.mark.slow
def test_a_killed_server_leaves_what_the_same_id_goes_on_from(large):
    server = large()
    ada = server.token("ada")
    place = begin(server, ada, "cut off")
    workers = server.workers()
    server.stop(signal.SIGKILL)
    wait_for(lambda: not any(is_alive(pid) for pid in workers))
    assert server.spent() == Fraction(1, 2)  # held
    server.start()
    assert state(server, place, ada) == "unfinished"
    again = server.ask(ada, "cut off", "1/2", SLOW).json
    place = f"/v1/releases/{again['id']}"
    assert ended(server, place, ada) == "done"
    assert server.spent() == Fraction(1, 2)


@pytest.mark.slow
def test_a_server_that_is_told_to_stop_lets_releases_end(start):
    server = start()
    ada = server.token("ada")
    done = []
    asking = threading.Thread(target=lambda: done.append(server.ask(ada, "while it stops", question=COUNT).status))
    asking.start()
    time.sleep(0.2)
    server.stop(signal.SIGTERM)
    asking.join(30)
    assert server.process.returncode in (0, -signal.SIGTERM)
    assert done == [200] or not done  # answered, or the connection was refused


@pytest.mark.slow
def test_an_approval_that_comes_too_late_gives_the_price_back(start):
    server = start(service='approval_lasts = "2s"', dataset='approve_above = "1/4"')
    ada, cleo = server.token("ada"), server.token("cleo", "curator")
    assert server.ask(ada, "late", "1/2").status == 409
    (waiting,) = server.call("GET", "/v1/approvals", token=cleo).json["waiting"]
    shown = server.call("GET", f"/v1/releases/{waiting['id']}", token=cleo).json
    assert server.spent() == Fraction(1, 2)
    time.sleep(2.1)
    decision = {"approve": True, "fingerprint": shown["fingerprint"]}
    assert server.call("POST", f"/v1/approvals/{waiting['id']}", decision, cleo).status == 409
    wait_for(lambda: server.spent() == 0)
    assert state(server, f"/v1/releases/{waiting['id']}", ada) == "expired"
    other, same = (server.ask(ada, "late", epsilon).json["type"] for epsilon in ("1/4", "1/2"))
    assert (other, same) == ("urn:leastnoise:RequestConflict", "urn:leastnoise:ApprovalPending")


@pytest.mark.engine
def test_two_servers_on_postgres_share_one_budget(tmp_path):
    psycopg = pytest.importorskip("psycopg")
    with postgres_server() as address:
        folders = [tmp_path / name for name in ("one", "two")]
        servers = []
        try:
            for folder in folders:
                folder.mkdir()
                servers.append(Server(folder, ledger=address, store=address, budget="1", limits=(10**6, 10**6)))
            starting = [threading.Thread(target=server.start) for server in servers]
            for each in starting:  # both make the tables and the ledger
                each.start()
            for each in starting:
                each.join()
            ada, cleo = servers[0].token("ada"), servers[1].token("cleo", "curator")
            answers, lock = [], threading.Lock()

            def ask(number):
                told = servers[number % 2].ask(ada, f"race {number}", "1/8", COUNT)
                with lock:
                    answers.append(SimpleNamespace(number=number, status=told.status, json=told.json))

            threads = [threading.Thread(target=ask, args=[number]) for number in range(16)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            answered = [each for each in answers if each.status == 200]
            assert len(answered) == 8
            assert {each.json["type"] for each in answers if each.status != 200} == {"urn:leastnoise:BudgetExceeded"}
            again = servers[1 - answered[0].number % 2].ask(ada, f"race {answered[0].number}", "1/8", COUNT)
            assert again.json["result"] == answered[0].json["result"]  # the other server has it, too
            assert servers[0].call("GET", "/v1/ledger/verification", token=cleo).status == 200
            servers[0].stop(signal.SIGKILL)
            with psycopg.connect(address) as database:  # somebody cleared it away, and the store is still there
                database.execute("DROP TABLE leastnoise_entries, leastnoise_ledgers CASCADE")
            with pytest.raises(AssertionError, match="its ledger is gone"):
                servers[0].start()
        finally:
            for server in servers:
                server.stop(signal.SIGKILL)
