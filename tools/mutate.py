"""Do the tests notice a wrong sensitivity, price, law or verdict? Apply one mutation after another and see.

Each entry of `mutations.toml` changes the meaning of one line: `old` becomes `new` in a copy of `src`, and the tests
that are named must fail. First the same tests must pass without any mutation, else their failing would show nothing.
Exit code 0: every mutation was noticed.
"""

from __future__ import annotations

import argparse
import compileall
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue

__all__ = ["Mutation", "main", "read_mutations"]

ROOT = Path(__file__).parents[1]
_SOURCE = Path("src/leastnoise")
_SECONDS = 240  # for the tests of one mutation
_SECONDS_TO_STOP = 20
_MEMORY = 6 << 30  # bytes that a process may hold: a mutation may ask for all there is
_OPTIONS = ("-x", "-q", "--no-header", "--tb=short", "--hypothesis-seed=1", "--hypothesis-profile=verdict")
_KILLED = "killed"
_VERDICTS = {0: "SURVIVED", 1: _KILLED, 5: "NO TESTS RAN"}


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
        found = subprocess.run(
            [sys.executable, "-c", "import leastnoise; print(leastnoise.__file__)"],
            env=self._environment(),
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        if not Path(found.strip()).is_relative_to(folder):
            raise RuntimeError(f"tests would import {found.strip()} and not the copy")

    def _environment(self) -> dict[str, str]:
        # Compiled files are told apart by second and length only: what is mutated must not be written or reused.
        fresh = {"PYTHONPATH": str(self._folder / "src"), "PYTHONDONTWRITEBYTECODE": "1"}
        return {**os.environ, **fresh, "HYPOTHESIS_STORAGE_DIRECTORY": str(self._folder / "hypothesis")}

    def verdict(self, mutation: Mutation) -> str:
        """What the tests say of one mutation."""
        file = self._folder / _SOURCE / mutation.file
        right = file.read_text()
        file.write_text(mutation.mutated(right))
        for compiled in (file.parent / "__pycache__").glob(f"{file.stem}.*"):
            compiled.unlink()
        try:
            code, text = self.run(mutation.arguments(), _SECONDS)
        finally:
            file.write_text(right)
            shutil.rmtree(self._folder / "hypothesis", ignore_errors=True)
        if code is None:
            return f"NO ANSWER within {_SECONDS} s"
        return _VERDICTS.get(code) or f"TESTS DID NOT START\n{text[-2000:]}"

    def run(self, tests: Sequence[str], seconds: float) -> tuple[int | None, str]:
        """The exit code of pytest and its output; None where it took too long."""
        process = subprocess.Popen(
            [sys.executable, "-m", "pytest", *_OPTIONS, *tests],
            cwd=ROOT,
            env=self._environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        try:
            text, _ = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGINT)  # so that servers which tests have started are stopped, too
            try:
                process.communicate(timeout=_SECONDS_TO_STOP)
            except subprocess.TimeoutExpired:
                process.kill()
                process.communicate()
            return None, ""
        return process.returncode, text


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the list and report; the exit code says whether every mutation was noticed."""
    options = _read(arguments)
    mutations = [each for each in read_mutations() if all(word in str(each) for word in options.only)]
    for mutation in mutations:
        mutation.mutated((ROOT / _SOURCE / mutation.file).read_text())
    if options.list:
        print("\n".join(map(str, mutations)))
        return 0
    resource.setrlimit(resource.RLIMIT_DATA, (_MEMORY, resource.getrlimit(resource.RLIMIT_DATA)[1]))
    start = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="leastnoise-mutate-") as folder, ThreadPoolExecutor(options.jobs) as pool:
        copies: SimpleQueue[_Copy] = SimpleQueue()
        for number in range(options.jobs):
            copies.put(_Copy(Path(folder, str(number))))
        if not options.trust and not _passes_unchanged(copies, pool, mutations, options.jobs):
            return 1

        def judge(mutation: Mutation) -> tuple[Mutation, str, float]:
            copy, begun = copies.get(), time.monotonic()
            try:
                return mutation, copy.verdict(mutation), time.monotonic() - begun
            finally:
                copies.put(copy)

        unnoticed = []
        try:
            for done, future in enumerate(as_completed([pool.submit(judge, each) for each in mutations]), start=1):
                mutation, verdict, seconds = future.result()
                print(f"{done:3}/{len(mutations)} {seconds:4.0f} s  {verdict:8}  {mutation}", flush=True)
                if verdict != _KILLED:
                    unnoticed.append(mutation)
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
    minutes = (time.monotonic() - start) / 60
    print(f"── {len(mutations) - len(unnoticed)} of {len(mutations)} mutations killed in {minutes:.1f} minutes")
    for mutation in unnoticed:
        print(f"   not killed: {mutation}")
    return 1 if unnoticed else 0


def _passes_unchanged(
    copies: SimpleQueue[_Copy], pool: ThreadPoolExecutor, mutations: Sequence[Mutation], jobs: int
) -> bool:
    """Whether the named tests pass without a mutation; reports what does not."""
    tests = sorted({test for mutation in mutations for test in mutation.arguments()})
    whole = {test for test in tests if "::" not in test}
    tests = [test for test in tests if test in whole or test.split("::")[0] not in whole]

    def run(part: Sequence[str]) -> tuple[int | None, str]:
        copy = copies.get()
        try:
            return copy.run(part, _SECONDS * len(part)) if part else (0, "")
        finally:
            copies.put(copy)

    for code, text in pool.map(run, [tests[number::jobs] for number in range(jobs)]):
        if code != 0:
            print(f"The tests fail without any mutation:\n{text[-4000:]}")
            return False
    print(f"── {len(tests)} test files and tests pass without a mutation", flush=True)
    return True


def _read(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", metavar="TEXT", action="append", default=[], help="files and descriptions with TEXT")
    parser.add_argument("--list", action="store_true", help="show the list and stop")
    parser.add_argument("--jobs", type=int, default=2, help="how many at a time")
    parser.add_argument("--trust", action="store_true", help="do not run the tests without a mutation first")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
