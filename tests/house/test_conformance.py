"""Every concrete mechanism lives in its room and passes the suite that all mechanisms share."""

import importlib
import importlib.util
import inspect
import pkgutil
from pathlib import Path

import pytest

import leastnoise
from leastnoise.mechanisms.choice import NoisyTopK
from leastnoise.mechanisms.combinatorial import DegreeOrder, IsotonicCounts, NoisyDemand
from leastnoise.mechanisms.strategy.running_totals import RunningDay
from leastnoise.model.mechanism import Mechanism
from mechanisms.conformance import Conformance

TESTS = Path(__file__).parents[1]
SUITES = sorted(file for file in TESTS.rglob("test_*.py") if "(Conformance):" in file.read_text())


def concrete():
    """All mechanisms that can be made."""
    for _, name, _ in pkgutil.walk_packages(leastnoise.__path__, "leastnoise."):
        importlib.import_module(name)
    found, rest = set(), [Mechanism]
    while rest:
        kind = rest.pop()
        rest += kind.__subclasses__()
        if not inspect.isabstract(kind) and hasattr(kind, "name") and kind.__module__.startswith("leastnoise."):
            found.add(kind)
    return found


def covered():
    """All mechanisms that a case of a conformance suite makes."""
    found = set()
    for number, file in enumerate(SUITES):
        spec = importlib.util.spec_from_file_location(f"suite_{number}", file)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        suites = [kind for kind in vars(module).values() if isinstance(kind, type) and issubclass(kind, Conformance)]
        marks = [mark for suite in suites if suite is not Conformance for mark in suite.pytestmark]
        found |= {type(case.mechanism) for mark in marks for case in mark.args[1]}
    return found


@pytest.mark.slow
def test_every_concrete_mechanism_passes_the_conformance_suite():
    after_noise = {
        DegreeOrder,
        IsotonicCounts,
        NoisyDemand,
        NoisyTopK,
    }  # their laws have no formula; that of the noise is there
    part_of_a_run = {RunningDay}  # what a day costs is a statement about all days so far: tests/release/test_running.py
    missing = concrete() - covered() - after_noise - part_of_a_run
    assert not sorted(kind.__name__ for kind in missing)


def test_every_concrete_mechanism_lives_in_the_room_of_mechanisms():
    strangers = {kind for kind in concrete() if not kind.__module__.startswith("leastnoise.mechanisms.")}
    assert not sorted(f"{kind.__module__}.{kind.__name__}" for kind in strangers)


def test_the_private_truth_is_called_truth():
    """And never an answer: an answer is what was released, and the two must not be confused."""
    named = {"draw": "truth", "release": "truth", "pmf": "truth", "draw_each": "truths", "release_each": "truths"}
    strangers = []
    for kind in concrete():
        for method, word in named.items():
            found = getattr(kind, method, None)
            place = 2 if method == "pmf" else 1
            if found is not None and list(inspect.signature(found).parameters)[place] != word:
                strangers.append(f"{kind.__name__}.{method}")
    assert not strangers
