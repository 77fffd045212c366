"""A race for one budget, with kills of workers and of the server: a small one here, the large one in the benchmark."""

import asyncio
import signal
from fractions import Fraction

import pytest

from benchmarks.service_load import judge, race, soak
from support.serving import Server

pytestmark = pytest.mark.slow


@pytest.mark.slow
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


@pytest.mark.slow
def test_a_mixed_load_leaves_nothing_open(start):
    """The ten minutes of the benchmark, in seconds: descriptors and threads stay, memory does not run away."""
    server = start(limits=(10**6, 10**6))
    told = asyncio.run(soak(server, server.token("ben"), 8, connections=4))
    assert len(told) >= 2
    (_, memory, descriptors, threads, _), (_, *after, _) = told[0], told[-1]
    assert after[0] < memory + 20
    assert after[1] <= descriptors + 3
    assert after[2] <= max(threads, 16)  # the pool of threads has so many
