"""Long designs: a time limit that is kept, reports while running, and an interrupt that leaves nothing behind."""

import os
import signal
import threading
import time
from fractions import Fraction
from itertools import pairwise

import networkx
import pytest

from leastnoise.checker import check
from leastnoise.designer import design
from leastnoise.model.graphs import from_networkx, path

SLOW = from_networkx(networkx.gnp_random_graph(60, 0.08, seed=4))


@pytest.mark.slow
@pytest.mark.parametrize("delta", [0, "1/1000"])
def test_a_time_limit_gives_the_best_so_far_with_an_honest_gap(delta):
    started = time.monotonic()
    best = design(SLOW, 1, delta, time_limit=0.2)
    assert time.monotonic() - started < 10  # seconds, on a busy machine; to the end it takes longer with δ
    assert best.gap > Fraction(1, 10**9)
    assert best.lower_bound.lower < best.loss.lower
    verdict = check(best.certificate)
    assert verdict, verdict.reason


def test_stages_are_reported_in_order():
    reports = []
    design(path(12), "ln(2)", prior=[Fraction(k, 78) for k in range(1, 13)], route="lp", progress=reports.append)
    stages = list(dict.fromkeys(report.stage for report in reports))
    assert stages[0] == "building the program"
    assert stages[-1] == "solving exactly"
    assert "generating columns" in stages
    assert all(one.seconds <= other.seconds for one, other in pairwise(reports))


@pytest.mark.slow
def test_an_interrupt_stops_the_solver_at_once():
    threads = threading.active_count()
    interrupted = []

    def listen(report):
        if report.stage == "solving in floating point" and not interrupted:
            interrupted.append(time.monotonic())
            os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        design(SLOW, 1, progress=listen)
    assert time.monotonic() - interrupted[0] < 5
    assert threading.active_count() == threads


@pytest.mark.slow
@pytest.mark.parametrize("delta", [0, "1/1000"])
@pytest.mark.parametrize("stage", ["generating columns", "solving in floating point"])
def test_a_design_works_after_one_that_was_interrupted_twice(stage, delta):
    interrupted = []

    def listen(report):
        if report.stage == stage and not interrupted:
            interrupted.append(threading.Timer(0.02, os.kill, (os.getpid(), signal.SIGINT)))
            interrupted[0].start()
            os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):  # noqa: PT012
        try:
            design(SLOW, 1, delta, progress=listen)
        finally:
            interrupted[0].join()
    assert design("grid:3x2", "ln(2)", delta).gap < Fraction(1, 10**9)


def test_an_error_in_the_listener_reaches_the_caller():
    def listen(report):
        raise RuntimeError(report.stage)

    with pytest.raises(RuntimeError, match="finding symmetries"):
        design(path(5), 1, route="symmetry", progress=listen)
