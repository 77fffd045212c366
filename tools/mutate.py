"""Do the tests notice a wrong sensitivity, price, law or verdict? Apply one mutation after another and see.

Each entry of `mutations.toml` changes the meaning of one line: `old` becomes `new` in a copy of `src`, and the tests
that are named must fail. First the same tests must pass without any mutation, else their failing would show nothing.
Exit code 0: every mutation was noticed.

Each run of tests is a fork of a process that has loaded the libraries but nothing of leastnoise.
"""

from __future__ import annotations

import argparse
import atexit
import compileall
import contextlib
import importlib
import multiprocessing
import os
import resource
import shutil
import signal
import sys
import tempfile
import time
import tomllib
from collections import defaultdict
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from functools import cache
from pathlib import Path

__all__ = ["Mutation", "main", "read_mutations"]

ROOT = Path(__file__).parents[1]
_SOURCE = Path("src/leastnoise")
_SECONDS = 240  # for the tests of one mutation
_SECONDS_TO_STOP = 20
_MEMORY = 6 << 30  # bytes that a process may hold: a mutation may ask for all there is
_LIBRARIES = "numpy scipy.optimize scipy.sparse.csgraph scipy.stats flint highspy duckdb pyarrow.parquet pandas sqlglot"
_LIBRARIES += " psycopg pytest hypothesis.strategies networkx rich.console typer.testing fastapi uvicorn"
_FORK = multiprocessing.get_context("fork")
_OPTIONS = ["-x", "-q", "--no-header", "--tb=line", "--hypothesis-seed=1", "--hypothesis-profile=verdict"]
_OPTIONS += ["--assert=plain"]  # what failed is not shown, and rewriting takes half of the time
_KILLED = "killed"
_PYTEST = 10  # added to its exit codes, so that another failure is not taken for that of a test
_VERDICTS = {_PYTEST: "SURVIVED", _PYTEST + 1: _KILLED, _PYTEST + 5: "NO TESTS RAN"}


@dataclass(frozen=True)
class Mutation:
    """A wrong line, and the tests that must notice it.

    Args:
        file: Below src/leastnoise.
        old: The right text; it is in the file exactly once.
        new: The wrong text.
        wrong: What goes wrong, in one line.
        tests: Files below tests, or tests in them as in `exact/test_samplers.py::test_shapes_and_types`.
    """

    file: str
    old: str
    new: str
    wrong: str
    tests: tuple[str, ...]

    def __str__(self) -> str:
        """The file and what goes wrong in it."""
        return f"{self.file}: {self.wrong}"

    def mutated(self, text: str) -> str:
        """The text of the file with the wrong line.

        Raises:
            ValueError: The old text is not there exactly once.
        """
        count = text.count(self.old)
        if count != 1:
            raise ValueError(f"{self}: the old text is there {count} times: {self.old!r}")
        return text.replace(self.old, self.new)

    def arguments(self) -> list[str]:
        """The tests as arguments of pytest."""
        return [f"tests/{test}" for test in self.tests]


def read_mutations() -> list[Mutation]:
    """All entries of the list."""
    entries = tomllib.loads((ROOT / "tools" / "mutations.toml").read_text())["mutation"]
    return [Mutation(**{**entry, "tests": tuple(entry["tests"])}) for entry in entries]


class _Copy:
    """A copy of `src` that tests import instead of the original."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        shutil.copytree(ROOT / "src", folder / "src", ignore=shutil.ignore_patterns("__pycache__", "*.egg-info"))
        compileall.compile_dir(folder / "src", quiet=1)

    def verdict(self, mutation: Mutation) -> str:
        """What the tests say of one mutation."""
        file = self._folder / _SOURCE / mutation.file
        right = file.read_text()
        file.write_text(mutation.mutated(right))
        # Compiled files are told apart by second and length only: what is mutated must not be written or reused.
        for compiled in (file.parent / "__pycache__").glob(f"{file.stem}.*"):
            compiled.unlink()
        try:
            code, text = self.run(mutation.arguments())
        finally:
            file.write_text(right)
        if code is None:
            return f"NO ANSWER within {_SECONDS} s"
        return _VERDICTS.get(code) or f"TESTS DID NOT START\n{text[-2000:]}"

    def run(self, tests: Sequence[str]) -> tuple[int | None, str]:
        """The exit code of pytest, moved by `_PYTEST`, and its output; None where it took too long."""
        output = self._folder / "output"
        process = _FORK.Process(target=self._test, args=(tests, output))
        process.start()
        process.join(_SECONDS)
        code = process.exitcode
        if code is None:
            os.kill(process.pid or 0, signal.SIGINT)  # so that servers which tests have started are stopped, too
            process.join(_SECONDS_TO_STOP)
            process.kill()
        shutil.rmtree(self._folder / "hypothesis", ignore_errors=True)
        return code, output.read_text(errors="replace")

    def _test(self, tests: Sequence[str], output: Path) -> None:
        import pytest

        source = str(self._folder / "src")
        os.environ |= {"PYTHONPATH": source, "PYTHONDONTWRITEBYTECODE": "1"}
        os.environ["HYPOTHESIS_STORAGE_DIRECTORY"] = str(self._folder / "hypothesis")
        sys.dont_write_bytecode = True
        sys.path[0] = source
        signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell in the background switches it off
        with output.open("w") as file:
            os.dup2(file.fileno(), 1)
            os.dup2(file.fileno(), 2)
        code = int(pytest.main([*_OPTIONS, *tests]))
        found = str(importlib.import_module("leastnoise").__file__)
        if not Path(found).is_relative_to(source):
            raise RuntimeError(f"the tests imported {found} and not the copy")
        atexit._run_exitfuncs()
        sys.exit(_PYTEST + code)


_copy = cache(_Copy)


def _judge(folder: Path, log: Path, trust: bool, mutations: Sequence[Mutation]) -> list[Mutation]:
    """Those not noticed of mutations that name the same tests, which must first pass without any."""
    copy = _copy(folder / str(os.getpid()))
    code, text = (_PYTEST, "") if trust else copy.run(mutations[0].arguments())
    unnoticed = []
    for mutation in mutations:
        begun = time.monotonic()
        verdict = copy.verdict(mutation) if code == _PYTEST else f"FAILS WITHOUT IT\n{text[-2000:]}\n"
        line = f"{time.monotonic() - begun:4.0f} s  {verdict:8}  {mutation}"
        print(line, flush=True)
        with log.open("a") as file:
            file.write(line + "\n")
        if verdict != _KILLED:
            unnoticed.append(mutation)
    return unnoticed


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the list and report; the exit code says whether every mutation was noticed."""
    options = _read(arguments)
    mutations = [each for each in read_mutations() if all(word in str(each) for word in options.only)]
    if options.log.exists():
        known = {line.partition(f" s  {_KILLED}")[2].strip() for line in options.log.read_text().splitlines()}
        mutations = [each for each in mutations if str(each) not in known]
    groups: dict[tuple[str, ...], list[Mutation]] = defaultdict(list)
    for mutation in mutations:
        mutation.mutated((ROOT / _SOURCE / mutation.file).read_text())
        groups[mutation.tests].append(mutation)
    if options.list:
        print("\n".join(map(str, mutations)))
        return 0
    resource.setrlimit(resource.RLIMIT_DATA, (_MEMORY, resource.getrlimit(resource.RLIMIT_DATA)[1]))
    os.chdir(ROOT)
    for library in _LIBRARIES.split():
        with contextlib.suppress(ImportError):
            importlib.import_module(library)
    start = time.monotonic()
    folder = Path(tempfile.mkdtemp(prefix="leastnoise-mutate-"))
    try:
        with ProcessPoolExecutor(options.jobs, _FORK) as pool:
            futures = [pool.submit(_judge, folder, options.log, options.trust, group) for group in groups.values()]
            try:
                unnoticed = [mutation for future in as_completed(futures) for mutation in future.result()]
            except BaseException:
                pool.shutdown(cancel_futures=True)
                raise
    finally:
        shutil.rmtree(folder)
    minutes = (time.monotonic() - start) / 60
    print(f"── {len(mutations) - len(unnoticed)} of {len(mutations)} mutations killed in {minutes:.1f} minutes")
    for mutation in unnoticed:
        print(f"   not killed: {mutation}")
    return 1 if unnoticed else 0


def _read(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", metavar="TEXT", action="append", default=[], help="files and descriptions with TEXT")
    parser.add_argument("--list", action="store_true", help="show the list and stop")
    parser.add_argument("--jobs", type=int, default=2, help="how many at a time")
    parser.add_argument("--trust", action="store_true", help="do not run the tests without a mutation first")
    parser.add_argument(
        "--log",
        type=Path,
        default=Path(os.devnull),
        help="write verdicts to this file, and leave out what it says is killed, as by a run that was cut off",
    )
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
