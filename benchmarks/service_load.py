"""The service under load, on this machine: plans, repeated releases, a race for one budget with kills, and a soak.

    python -m benchmarks.service_load [--seconds 10] [--race 200x50] [--soak 60]

The load generator, the server and its workers share the cores, perhaps with others: beside each rate stand the
processor time of a request (of server and workers) and, from the same run, a bare FastAPI endpoint that answers its
body. A race asks for far more than the budget holds while
workers and the server are killed; afterwards the ledger is verified, and every answer must have its debit.
"""

import argparse
import asyncio
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from fractions import Fraction
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from support.serving import Server, free_port

COUNT = {"question": "count", "by": "city", "keys": ["Lyon", "Metz", "Nice"]}


def require(holds, what):
    """Stop the run where a promise does not hold."""
    if not holds:
        raise SystemExit(f"broken: {what}")


class Caller:
    """One connection that is kept open."""

    def __init__(self, server, token):
        self._server, self._token = server, token
        self._reader = self._writer = None

    async def post(self, path, body):
        """Status and JSON; a lost connection is status 0."""
        text = json.dumps(body).encode()
        head = (
            f"POST {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {self._token}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(text)}\r\n\r\n"
        )
        try:
            if self._writer is None:
                self._reader, self._writer = await asyncio.open_connection("127.0.0.1", self._server.port)
            self._writer.write(head.encode() + text)
            told = await self._reader.readuntil(b"\r\n\r\n")
            length = next(int(line[15:]) for line in told.lower().split(b"\r\n") if line.startswith(b"content-length:"))
            content = await self._reader.readexactly(length)
            return int(told[9:12]), json.loads(content)
        except (OSError, EOFError, asyncio.LimitOverrunError):
            self.close()
            return 0, None

    def close(self):
        """Let go of it."""
        if self._writer is not None:
            self._writer.close()
        self._reader = self._writer = None


async def measure(server, token, path, body_at, seconds, connections=16):
    """Requests a second, and the median and 95 % time."""
    times, end, number = [], time.monotonic() + seconds, iter(range(10**9))

    async def ask():
        caller = Caller(server, token)
        while time.monotonic() < end:
            begun = time.monotonic()
            status, told = await caller.post(path, body_at(next(number)))
            require(status == 200, told)
            times.append(time.monotonic() - begun)
        caller.close()

    begun = time.monotonic()
    await asyncio.gather(*(ask() for _ in range(connections)))
    times.sort()
    rate = len(times) / (time.monotonic() - begun)
    return rate, 1000 * times[len(times) // 2], 1000 * times[int(0.95 * len(times))]


def spent_time(server):
    """Seconds of processor time that the server and its workers took so far."""
    ticks = 0
    for pid in (server.process.pid, *server.workers()):
        with suppress(OSError):
            ticks += sum(map(int, Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:13]))
    return ticks / os.sysconf("SC_CLK_TCK")


BARE = """
import sys, uvicorn
from fastapi import FastAPI, Request
app = FastAPI()
@app.post("/echo")
async def echo(request: Request):
    return await request.json()
@app.get("/v1/health")
async def health():
    return {}
uvicorn.run(app, port=int(sys.argv[1]), http="h11", log_level="warning", access_log=False)
"""


class BareServer(Server):
    """What FastAPI, uvicorn and this load generator can do at all."""

    def __init__(self):
        self.port, self.process = free_port(), None

    def start(self):
        """Start it, and wait until it answers."""
        self.process = subprocess.Popen([sys.executable, "-c", BARE, str(self.port)])
        while True:
            with suppress(OSError):
                if self.call("GET", "/v1/health").status == 200:
                    return self
            time.sleep(0.05)


async def race(server, analysts, each, price, kills=12, seconds=900):
    """All analysts ask at once under one budget, and again after lost connections, while processes are killed."""
    tokens = {f"analyst {number}": server.token(f"analyst {number}") for number in range(analysts)}
    answered, refused, gave_up, over = {}, {}, [], time.monotonic() + seconds
    done = asyncio.Event()

    async def ask(name, token):
        caller = Caller(server, token)
        for number in range(each):
            body = {"question": COUNT, "price": {"epsilon": str(price)}, "request_id": f"{name} {number}"}
            while time.monotonic() < over:
                status, told = await caller.post("/v1/datasets/people/releases", body)
                if status == 200:
                    answered[name, f"{name} {number}"] = told["result"]["rows"]
                    break
                if status not in (0, 202, 503):
                    kind = told["type"].rpartition(":")[2]
                    refused[kind] = refused.get(kind, 0) + 1
                    break
                await asyncio.sleep(random.uniform(0.05, 0.5))
            else:
                gave_up.append((name, number))
        caller.close()

    async def kill():
        """After every so many answers or refusals a worker is killed, every fourth time the server."""
        for count in range(1, kills + 1):
            while len(answered) + sum(refused.values()) < count * analysts * each // (kills + 1):
                if done.is_set():
                    return
                await asyncio.sleep(0.01)
            if count % 4 == 2:
                server.stop(signal.SIGKILL)
                await asyncio.to_thread(server.start)
            else:
                with suppress(ProcessLookupError, IndexError):
                    os.kill(random.choice(server.workers()), signal.SIGKILL)

    killing = asyncio.create_task(kill())
    begun = time.monotonic()
    await asyncio.gather(*(ask(name, token) for name, token in tokens.items()))
    done.set()
    await killing
    return {
        "seconds": time.monotonic() - begun,
        "answered": answered,
        "refused": refused,
        "gave_up": gave_up,
        "tokens": tokens,
    }


def judge(server, found, budget):
    """Never one too many, and none lost: what was answered is in the ledger, once, and is answered again the same."""
    with server.ledger() as ledger:
        ledger.verify()
        debits = {(each.analyst, each.request): each for each in ledger.debits("people") if each.floor is None}
    spent = server.spent()
    require(spent <= budget, spent)
    for key in found["answered"]:
        require(debits[key].state == "answered", key)
    for key in random.sample(sorted(found["answered"]), min(10, len(found["answered"]))):
        body = {"question": COUNT, "price": {"epsilon": str(found["price"])}, "request_id": key[1]}
        again = server.call("POST", "/v1/datasets/people/releases", body, found["tokens"][key[0]])
        require(again.json["result"]["rows"] == found["answered"][key], key)
    return spent


def resources(server):
    """Memory in megabytes, descriptors and threads of the server, and the memory of its workers."""
    home = Path(f"/proc/{server.process.pid}")
    memory, threads = _status(home)
    workers = sum(_status(Path(f"/proc/{pid}"))[0] for pid in server.workers())
    return memory, len(list((home / "fd").iterdir())), threads, workers


def _status(home):
    status = dict(line.split(":", 1) for line in (home / "status").read_text().splitlines())
    return int(status["VmRSS"].split()[0]) / 1000, int(status["Threads"])


async def soak(server, token, seconds, connections=8):
    """A long mixed load: plans, releases old and new, wrong tokens, lists; says what the server holds on the way."""
    path = "/v1/datasets/people"

    def body(number):
        return {"question": COUNT, "price": {"epsilon": "1/10000"}, "request_id": f"soak {number % 500}"}

    def plan(number):
        return {"question": COUNT, "price": {"epsilon": f"{1 + number}/10000000"}}

    told, number = [], iter(range(10**9))
    for place, one in ((f"{path}/releases", body), (f"{path}/plan", plan)):  # all that is kept is there before
        await measure(server, token, place, one, min(15, seconds / 4), connections)
    begun = time.monotonic()
    while True:
        told.append((time.monotonic() - begun, *resources(server)))
        print("soak {:5.0f} s: {:.0f} MB, {} descriptors, {} threads; workers {:.0f} MB".format(*told[-1]), flush=True)
        if time.monotonic() - begun >= seconds:
            return told
        start = next(number) * 100_000
        for place, one in ((f"{path}/releases", body), (f"{path}/plan", plan)):
            await measure(
                server, token, place, lambda n, one=one, start=start: one(start + n), min(5, seconds / 8), connections
            )
        for method, where in (("GET", "/v1/releases"), ("GET", f"{path}/history"), ("GET", "/page"), ("GET", "/none")):
            for given in (token, "ln_wrong"):
                await asyncio.to_thread(server.call, method, where, token=given)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--race", default="200x50")
    parser.add_argument("--soak", type=float, default=60)
    given = parser.parse_args()
    print(f"load of this machine before: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    with tempfile.TemporaryDirectory() as folder:
        server = Server(Path(folder), budget="19").start()
        token = server.token("ada")
        path = "/v1/datasets/people"

        def plan(_):
            return {"question": COUNT, "price": {"epsilon": "1/2"}}

        def fresh(number):
            return {"question": COUNT, "price": {"epsilon": f"{1 + number}/100000"}}

        def release(number):
            return {"question": COUNT, "price": {"epsilon": "1/100"}, "request_id": f"cached {number % 20}"}

        bare = BareServer().start()

        async def run():
            for name, asked, place, body in (
                ("bare FastAPI", bare, "/echo", plan),
                ("plans, the same", server, f"{path}/plan", plan),
                ("plans, each another", server, f"{path}/plan", fresh),
                ("releases, repeated", server, f"{path}/releases", release),
                ("bare FastAPI", bare, "/echo", plan),
            ):
                await measure(asked, token, place, body, 2)
                before = spent_time(asked)
                rate, middle, late = await measure(asked, token, place, body, given.seconds)
                each = 1000 * (spent_time(asked) - before) / (rate * given.seconds)
                print(f"{name:22} {rate:7.0f} a second, median {middle:5.1f} ms, 95 % within {late:5.1f} ms, "
                      f"{each:.2f} ms of processor time each", flush=True)  # fmt: skip
            bare.stop(signal.SIGKILL)
            await soak(server, token, given.soak)

        asyncio.run(run())
        server.stop()
    analysts, each = map(int, given.race.split("x"))
    with tempfile.TemporaryDirectory() as folder:
        budget, price = Fraction(10), Fraction(1, 100)
        server = Server(Path(folder), budget=str(budget), delta="0").start()
        found = {**asyncio.run(race(server, analysts, each, price)), "price": price}
        spent = judge(server, found, budget)
        print(f"race of {analysts} × {each}: {len(found['answered'])} answered, refused {found['refused']}, spent "
              f"{float(spent):.2f} of {budget}, {found['seconds']:.0f} s, gave up {len(found['gave_up'])}")  # fmt: skip
        server.stop(signal.SIGKILL)
    print(f"load of this machine after: {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
