"""The strategies on disk: found again, shared by processes, and harmless whatever somebody writes into them."""

import hashlib
import subprocess
import sys
from fractions import Fraction

import numpy as np
import pytest

import leastnoise as ln
from leastnoise.exact.integer_matrices import IntegerMatrix
from leastnoise.mechanisms.strategy import (
    PrefixSums,
    Ranges,
    cache,
    plan_pure_strategy,
    plan_strategy,
    planning,
    pure_planning,
)
from leastnoise.mechanisms.strategy.cache import Found, cache_folder
from leastnoise.mechanisms.strategy.search import search

CELLS = 64


def forget():
    for known in (planning._planned, pure_planning._certified, pure_planning._sums, pure_planning._candidates):
        known.cache_clear()


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("LEASTNOISE_CACHE", str(tmp_path / "kept"))
    forget()
    yield tmp_path / "kept"
    forget()


def planned(**given):
    forget()
    return plan_strategy(PrefixSums(CELLS), **given)


def only_file(folder):
    (file,) = folder.glob("*.strategy")
    return file


def test_a_plan_is_found_again_without_a_search(folder, monkeypatch):
    first, pure = planned(), plan_pure_strategy(PrefixSums(CELLS), epsilon=1)
    monkeypatch.setattr(planning, "search", None)
    monkeypatch.setattr(pure_planning, "_p_identity", None)
    again = planned()
    assert again.parts == first.parts
    assert (again.name, again.error, again.lower_bound) == (first.name, first.error, first.lower_bound)
    with pytest.raises(TypeError):
        plan_pure_strategy(PrefixSums(CELLS + 1), epsilon=1)
    assert len(list(folder.iterdir())) == 2
    assert pure.name == "cells and sums of them"
    assert folder.stat().st_mode & 0o077 == 0


def test_what_is_asked_decides_the_file(folder):
    for given in ({}, {"goal": "largest"}, {"weights": [1] * 63 + [2]}, {"groups": 2}):
        planned(**given)
    planned(rows=3)  # the same strategy, more noise
    forget()
    plan_strategy(Ranges(CELLS))
    assert len(list(folder.glob("*.strategy"))) == 5


def test_it_can_be_moved_and_switched_off(tmp_path, monkeypatch):
    for off in ("off", "", " OFF "):
        monkeypatch.setenv("LEASTNOISE_CACHE", off)
        assert cache_folder() is None
    monkeypatch.delenv("LEASTNOISE_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder() == tmp_path / "leastnoise" / "strategies"


def test_a_folder_that_can_not_be_written_costs_nothing(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("LEASTNOISE_CACHE", str(tmp_path / "file" / "below"))
    assert planned().gap < Fraction(1, 10**5)
    forget()


def test_damage_is_noticed_and_mended(folder):
    good = planned()
    file = only_file(folder)
    content = file.read_bytes()
    for damaged in (b"", content[:-1], content + b"0", content[:40] + b"x" + content[41:], b"\0" * len(content)):
        file.write_bytes(damaged)
        assert planned().parts == good.parts
        assert file.read_bytes() == content


def sealed(body):
    return hashlib.sha256(body).digest() + body


@pytest.mark.slow
def test_a_forged_file_never_makes_the_sensitivity_smaller(folder):
    """Any bytes may be other ones, with the right digest: what comes out is true of the strategy that is released."""
    planned()
    file = only_file(folder)
    body = file.read_bytes()[32:]
    rng = np.random.default_rng(1)
    end = body.index(b"\n")
    for turn in range(120):
        forged = bytearray(body)
        for _ in range(int(rng.integers(1, 4))):
            place = int(rng.integers(0, end)) if turn % 3 == 0 else int(rng.integers(end + 1, len(body)))
            forged[place] = int(rng.integers(256)) if turn % 2 else forged[place] ^ 1 << int(rng.integers(8))
        file.write_bytes(sealed(bytes(forged)))
        plan = planned()
        (part,) = plan.parts
        strategy = part.strategy.array()
        assert plan.sensitivity == max(sum(int(e) ** 2 for e in column) for column in strategy.T)
        assert plan.gap <= Fraction(1, 100)
        assert plan.name == "the best strategy for one cell per unit"
        assert part.workload == PrefixSums(CELLS)
        if turn % 20 == 0:
            assert ln.check(plan.certificate())


def test_another_good_strategy_is_released_with_its_own_sensitivity(folder):
    """One column is longer than the others: nothing of the file says so, and the noise covers it."""
    good = planned()
    longer = good.parts[0].strategy.array()
    longer[:, 5] = longer[:, 5] * 1001 // 1000
    guess = search(PrefixSums(CELLS))
    forged = planning.certified_part(PrefixSums(CELLS), None, guess, IntegerMatrix(longer))
    cache._write(only_file(folder), Found(good.name, (forged,)))
    taken = planned()
    assert taken.parts[0].strategy == forged.strategy
    assert taken.sensitivity == sum(int(e) ** 2 for e in longer[:, 5]) > good.sensitivity
    assert ln.check(taken.certificate())


def test_a_poor_strategy_or_a_strange_name_is_planned_again(folder):
    good = planned()
    file = only_file(folder)
    cells = planning.certified_part(
        PrefixSums(CELLS), None, search(PrefixSums(CELLS)), IntegerMatrix(np.eye(CELLS, dtype=int))
    )
    for forged in (Found(good.name, (cells,)), Found("<b>best</b>", good.parts)):
        cache._write(file, forged)
        assert planned().parts == good.parts


@pytest.mark.slow
def test_the_folder_stays_below_its_limit(folder, monkeypatch):
    planned()
    size = only_file(folder).stat().st_size
    monkeypatch.setattr(cache, "_LARGEST", 4 * size + 1000)
    for goal in ("total", "largest"):
        for groups in (2, 3, 4):
            planned(goal=goal, groups=groups)
    assert sum(file.stat().st_size for file in folder.iterdir()) <= 4 * size + 1000
    assert not list(folder.glob("*.part"))


_PROGRAM = """
from leastnoise.mechanisms.strategy import PrefixSums, plan_strategy
for cells in (64, 65, 66, 64):
    assert plan_strategy(PrefixSums(cells)).gap < 1e-5
"""


@pytest.mark.slow
def test_processes_at_the_same_time_do_not_disturb_each_other(folder):
    running = [subprocess.Popen([sys.executable, "-c", _PROGRAM]) for _ in range(3)]
    assert [process.wait() for process in running] == [0, 0, 0]
    assert len(list(folder.glob("*.strategy"))) == 3
    assert not list(folder.glob("*.part"))
    assert planned().gap < Fraction(1, 10**5)
