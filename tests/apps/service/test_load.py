"""A race for one budget, with kills of workers and of the server: a small one here, the large one in the benchmark."""

import asyncio
import signal
from fractions import Fraction

from benchmarks.service_load import judge, race, resources
from support.serving import Server


def test_analysts_race_for_one_budget_and_never_overspend(tmp_path):
    budget, price = Fraction(1), Fraction(1, 50)
    server = Server(tmp_path, budget=str(budget), delta="0").start()
    try:
        found = {**asyncio.run(race(server, 12, 8, price, kills=3, seconds=240)), "price": price}
        spent = judge(server, found, budget)
    finally:
        server.stop(signal.SIGKILL)
    assert not found["gave_up"]
    assert 0 < len(found["answered"]) <= 50
    assert found["refused"].get("BudgetExceeded", 0) + found["refused"].get("DatasetSuspended", 0) > 0
    assert spent > Fraction(1, 2)


def test_many_requests_leave_nothing_open(server, tokens):
    for number in range(20):
        server.ask(tokens["ben"], f"open {number}", "1/1000")
    before = resources(server)
    for number in range(200):
        server.ask(tokens["ben"], f"open {number % 20}", "1/1000")
        server.call("GET", "/v1/datasets")
    after = resources(server)
    assert after[0] < before[0] + 20
    assert after[1] <= before[1] + 3
