"""The ledger against bare SQLite, the accountants against dp-accounting (which has an environment of its own)."""

from __future__ import annotations

import json
import random
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from fractions import Fraction
from functools import partial
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.measure import Row, race, within
from leastnoise.accounting import GaussianPrivacy, LaplaceNoise, Ledger, Pure, Request, all_bounds, compose
from leastnoise.exact import SeededSource
from leastnoise.ledger.budgets import Scope, write_grant
from leastnoise.ledger.session import WriteContext, entry_fields
from leastnoise.model.privacy import Privacy

__all__ = ["run"]

_ENTRIES = 10**6
_PEER_HOME = Path(__file__).parents[1] / ".venvs" / "dp-accounting"
_PEER_CODE = """
import json, sys, time
from dp_accounting import dp_event, pld
def epsilon_of(mix):
    accountant = pld.PLDAccountant()
    for kind, amount, count in mix["parts"]:
        event = dp_event.LaplaceDpEvent if kind == "laplace" else dp_event.GaussianDpEvent
        accountant.compose(event(1 / amount), count)
    return accountant.get_epsilon(mix["delta"])
def account():
    accountant = pld.PLDAccountant()
    accountant.compose(dp_event.LaplaceDpEvent(noise_multiplier=100.0), 1000)
    return accountant.get_epsilon(1e-6)
account()
started = time.perf_counter()
epsilon = account()
seconds = time.perf_counter() - started
started = time.perf_counter()
mixes = [epsilon_of(mix) for mix in json.load(sys.stdin)]
mixes_seconds = time.perf_counter() - started
print(json.dumps({"epsilon": epsilon, "seconds": seconds, "mixes": mixes, "mixes_seconds": mixes_seconds}))
"""


def run() -> list[Row]:
    with tempfile.TemporaryDirectory() as folder:
        rows = _debits(Path(folder)) + _opening(Path(folder)) + _datasets(Path(folder))
    return rows + _accounting()


def _question(name: str) -> Request:
    return Request(name, Pure("1/1000"), dataset="census", analyst="ada")


def _debits(folder: Path) -> list[Row]:
    count, threads = 500, 16
    ledger = Ledger.create(folder / "one by one.ledger")
    ledger.grant(Privacy(10**6, insist=True), dataset="census")
    batches = iter([[_question(f"{batch} {number}") for number in range(count)] for batch in range(10)])
    bare = _Bare(folder / "bare.db", ledger)

    def one_by_one() -> None:
        for question in next(batches):
            ledger.debit(question)

    def together() -> None:
        questions = next(batches)
        work = [
            threading.Thread(target=lambda k=k: [ledger.debit(each) for each in questions[k::threads]])
            for k in range(threads)
        ]
        for thread in work:
            thread.start()
        for thread in work:
            thread.join()

    rows = [
        race(
            f"{count} debits, a flush to the disk each",
            one_by_one,
            "bare SQLite inserts",
            lambda: bare.insert(count),
            0.5,
        ),
        race(
            f"{count} debits, {threads} threads, group commit",
            together,
            "bare SQLite inserts",
            lambda: bare.insert(count),
            0.5,
        ),
    ]
    for row in rows:
        row["debits_per_second"] = round(count / row["ours_seconds"])
    ledger.close()
    return rows


class _Bare:
    """The same rows into the same kind of table, with the same durability, and nothing else."""

    def __init__(self, path: Path, ledger: Ledger) -> None:
        ledger.debit(_question("for its length"))
        *_, self._row = ledger.entries()
        self._connection = sqlite3.connect(path, isolation_level=None)
        self._connection.execute("PRAGMA journal_mode = WAL")
        self._connection.execute("PRAGMA synchronous = FULL")
        self._connection.execute("CREATE TABLE t (seq INTEGER PRIMARY KEY, body TEXT, hash TEXT) STRICT")
        self._count = 0

    def insert(self, count: int) -> None:
        for _ in range(count):
            self._count += 1
            self._connection.execute("BEGIN IMMEDIATE")
            self._connection.execute("INSERT INTO t VALUES (?, ?, ?)", (self._count, self._row.body, self._row.hash))
            self._connection.execute("COMMIT")


def _opening(folder: Path) -> list[Row]:
    """10^6 entries of two kinds of ledgers: debits alone, and whole releases."""
    rows = []
    for name, steps in (("debits", ("debit",)), ("releases", ("reserve", "commit", "answer"))):
        path = folder / f"{name}.ledger"
        with Ledger.create(path) as ledger:
            ledger.grant(Privacy(10**6, insist=True), dataset="census")
            ledger._session.write(partial(_fill, steps))
        started = time.perf_counter()
        with Ledger.open(path) as opened:
            middle = time.perf_counter()
            opened.verify()
        ended = time.perf_counter()
        took = f"open {middle - started:.1f} s + verify {ended - middle:.1f} s"
        rows.append(within(10, f"10^6 entries of {name}: {took}", ended - started))
        path.unlink()
    return rows


def _fill(steps: tuple[str, ...], context: WriteContext) -> None:
    for number in range(_ENTRIES // len(steps)):
        request = _question(str(number))
        for step in steps:
            more = {"answer": {"value": number}} if step == "answer" else {}
            context.append(step, entry_fields(step, step, request) | more)


def _datasets(folder: Path) -> list[Row]:
    count, path = 10**4, folder / "datasets.ledger"
    with Ledger.create(path) as ledger:

        def fill(context: WriteContext) -> None:
            for number in range(count):
                context.append("grant", write_grant(Privacy(1, "1e-6"), Scope(f"dataset {number}")))
                request = Request(str(number), Pure(Fraction(number % 97 + 1, 1000)), f"dataset {number}", "ada")
                context.append("debit", entry_fields("debit", "debit", request))

        ledger._session.write(fill)
    times = [time.perf_counter()]
    with Ledger.open(path) as opened:
        times.append(time.perf_counter())
        opened.balances()
    times.append(time.perf_counter())
    subprocess.run(
        [Path(sys.executable).with_name("leastnoise"), "budget", "--ledger", path], check=True, capture_output=True
    )
    times.append(time.perf_counter())
    names = ("open", "balances", "leastnoise budget")
    return [
        within(1, f"10^4 datasets: {name}", after - before)
        for name, (before, after) in zip(names, pairwise(times), strict=True)
    ]


def _accounting() -> list[Row]:
    source = SeededSource(1)
    mixed = [Pure(Fraction(10**6 + source.bits(30), 10**11)) for _ in range(10**5)]
    started = time.perf_counter()
    compose(mixed, "1e-6")
    rows = [within(1, "compose 10^5 different events", time.perf_counter() - started)]
    laplace = [LaplaceNoise("0.01", 1000)] * 1000
    started = time.perf_counter()
    bounds = {bound.name: bound for bound in all_bounds(laplace, "1e-6")}
    seconds = time.perf_counter() - started
    best = bounds["convolved loss distributions"]
    mixes = _random_mixes()
    peer = _peer(mixes)
    if peer is None:
        return rows
    name = f"1000 × Laplace(0.01), δ = 1e-6: ε ≤ {float(best.epsilon):.6f}, ε ≥ {float(best.below or 0):.6f}"
    row: Row = {
        "name": name,
        "ours_seconds": seconds,
        "peer": f"dp-accounting PLD: ε = {peer['epsilon']:.6f}",
        "peer_seconds": peer["seconds"],
        "ratio": peer["seconds"] / seconds,
        "target": 0.5,
        "epsilon_over_peers": float(best.epsilon) / peer["epsilon"],
    }
    return [*rows, row, _compared(mixes, peer)]


def _random_mixes(count: int = 200) -> list[dict[str, Any]]:
    """Lists of one to four kinds of Laplace or Gaussian queries, up to 29 of each, with a δ from 10^-9 to 10^-4."""
    dice = random.Random(5)

    def part() -> tuple[str, float, int]:
        return dice.choice(["laplace", "gaussian"]), dice.randrange(1, 60) / 100, dice.randrange(1, 30)

    return [
        {"parts": [part() for _ in range(dice.randrange(1, 5))], "delta": 10.0 ** -dice.randrange(4, 10)}
        for _ in range(count)
    ]


def _compared(mixes: list[dict[str, Any]], peer: dict[str, Any]) -> Row:
    """Our ε over the peer's on each mix; our bound from below must not be above theirs, which is pessimistic."""
    started, ratios = time.perf_counter(), []
    for mix, theirs in zip(mixes, peer["mixes"], strict=True):
        events = [
            event
            for kind, amount, count in mix["parts"]
            for exact in [Fraction(str(amount))]
            for event in [LaplaceNoise(exact, 10**6) if kind == "laplace" else GaussianPrivacy(exact**2)] * count
        ]
        best = compose(events, Fraction(str(mix["delta"])))
        assert best.below is None or best.below <= theirs  # noqa: S101 - a bound above the truth is a bug
        ratios.append(float(best.epsilon) / theirs)
    seconds = time.perf_counter() - started
    return {
        "name": f"{len(mixes)} random mixes, both sides",
        "ours_seconds": seconds,
        "peer": "dp-accounting PLD",
        "peer_seconds": peer["mixes_seconds"],
        "ratio": peer["mixes_seconds"] / seconds,
        "target": 0,
        "epsilon_over_peers": {"least": min(ratios), "median": median(ratios), "largest": max(ratios)},
    }


def _peer(mixes: list[dict[str, Any]]) -> dict[str, Any] | None:
    """dp-accounting's answer and time, from its own environment; None where that can't be made."""
    python = _PEER_HOME / "bin" / "python"
    try:
        if not python.exists():
            subprocess.run([sys.executable, "-m", "venv", str(_PEER_HOME)], check=True, capture_output=True)
            subprocess.run(
                [str(python), "-m", "pip", "install", "-q", "dp-accounting"], check=True, capture_output=True
            )
        command = [str(python), "-c", _PEER_CODE]
        done = subprocess.run(command, input=json.dumps(mixes), check=True, capture_output=True, text=True)
    except (OSError, subprocess.CalledProcessError):
        print("budget: dp-accounting could not be installed, so its numbers are left out")
        return None
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


if __name__ == "__main__":
    for each in run():
        print(each)
