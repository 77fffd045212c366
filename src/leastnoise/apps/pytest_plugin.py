"""The pytest plugin: a seed that differs from run to run, is reported when a test fails, and can be given again.

    def test_my_mechanism(leastnoise_seed):
        generator = numpy.random.default_rng(leastnoise_seed)

`pytest --leastnoise-seed 7` repeats a run. Every test gets a seed of its own, from that number and the test's name.
"""

from __future__ import annotations

from collections.abc import Generator
from hashlib import sha256

import pytest

__all__: list[str] = []

_BITS = 63
_SEED = pytest.StashKey[int]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option."""
    parser.getgroup("leastnoise").addoption(
        "--leastnoise-seed", type=int, default=None, help="the seed of an earlier run, to repeat it"
    )


@pytest.fixture
def leastnoise_seed(request: pytest.FixtureRequest) -> int:
    """A seed for this test: from the run's seed and the name of the test."""
    text = f"{_run_seed(request.config)} {request.node.nodeid}"
    return int.from_bytes(sha256(text.encode()).digest()) >> (256 - _BITS)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Say how to repeat a test that failed and used a seed."""
    report = yield
    if report.failed and "leastnoise_seed" in getattr(item, "fixturenames", ()):
        report.sections.append(("leastnoise", f"repeat with --leastnoise-seed {_run_seed(item.config)}"))
    return report


def _run_seed(config: pytest.Config) -> int:
    """The seed of the run: the one that was given, else a fresh one; workers of pytest-xdist draw their own."""
    if _SEED not in config.stash:
        given = config.getoption("--leastnoise-seed")
        if given is None:
            from leastnoise.exact import system_source

            given = system_source.bits(_BITS)
        config.stash[_SEED] = given
    return config.stash[_SEED]
