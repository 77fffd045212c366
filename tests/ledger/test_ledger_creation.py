"""A ledger is made whole or not at all, wherever its maker is killed."""

import os
import signal
import sys
import time
from pathlib import Path

import pytest

from leastnoise.accounting import Ledger, PostgresStore, Pure, Request
from leastnoise.errors import LedgerDamaged, LedgerMissing, LedgerUnavailable
from leastnoise.exact import SeededSource
from leastnoise.ledger import store
from leastnoise.model.privacy import Privacy
from support.processes import Child, kill_myself

LEDGER = str(Path("leastnoise", "ledger"))
QUESTION = Request("q", Pure("1/2"), dataset="census", analyst="ada")


def make_under_a_fuse(report, place, length):
    """Make a ledger; the process is killed as the call number `length` out of the ledger's own code begins."""
    calls = 0

    def burn(frame, event, _):
        nonlocal calls
        if event == "c_call" and LEDGER in frame.f_code.co_filename:
            calls += 1
            if calls > length:
                kill_myself()

    sys.setprofile(burn)
    ledger = Ledger.create(place())
    sys.setprofile(None)
    report(calls)
    ledger.close()


def finish(place):
    """Whoever comes later opens what is there or begins anew, and can work with it."""
    try:
        ledger = Ledger.open(place())
    except LedgerMissing:
        with pytest.raises(LedgerMissing, match="there is no"):  # no ledger, and not a part of one
            Ledger.open(place())
        ledger = Ledger.create(place())
    with ledger:
        ledger.grant(Privacy(1), dataset="census")
        assert ledger.release(QUESTION, lambda: 1) == 1
        ledger.verify()
    with Ledger.open(place()) as ledger:
        assert ledger.release(QUESTION, lambda: 2) == 1


@pytest.mark.slow
def test_kill_at_every_call(tmp_path):
    length, found = 0, set()
    while True:
        folder = tmp_path / str(length)
        folder.mkdir()
        code, reports = Child(make_under_a_fuse, lambda folder=folder: folder / "a.ledger", length).join()
        found.add(((folder / "a.ledger").exists(), (folder / "a.ledger.witness").exists()))
        finish(lambda folder=folder: folder / "a.ledger")
        if code == 0:
            break
        assert code == -signal.SIGKILL
        length += 1
    assert length == reports[0] > 20, "the fuse went through every call"
    assert found == {(False, False), (True, False), (True, True)}, "and the ledger comes before its witness"


def test_kill_at_every_call_in_postgres(postgres_address):
    length = 0
    while True:
        name = f"made {length}"
        code, _ = Child(make_under_a_fuse, lambda name=name: PostgresStore(postgres_address, name), length).join()
        if length % 5 == 0 or code == 0:
            finish(lambda name=name: PostgresStore(postgres_address, name))
        if code == 0:
            break
        length += 1


def make(_, path):
    Ledger.create(path).close()


@pytest.mark.slow
def test_kill_at_any_moment(tmp_path):
    source, codes = SeededSource(5), set()
    for turn in range(60):
        path = tmp_path / f"{turn}.ledger"
        maker = Child(make, path)
        time.sleep(source.bits(15) / 1e6)
        maker.kill()
        codes.add(maker.join()[0])
        finish(lambda path=path: path)
    assert -signal.SIGKILL in codes


def test_everything_is_flushed_before_it_has_its_name(tmp_path, monkeypatch):
    """The order that a power failure needs: contents, then the name, then the folder; the ledger, then its witness."""
    steps = []
    for name in ("fsync", "link"):
        real = getattr(os, name)

        def noted(*arguments, name=name, real=real):
            target = Path(f"/proc/self/fd/{arguments[0]}").readlink() if name == "fsync" else arguments[1]
            steps.append((name, Path(target).name))
            return real(*arguments)

        monkeypatch.setattr(store.os, name, noted)
    Ledger.create(tmp_path / "a.ledger").close()
    drafts = [name for _, name in steps if name.endswith(".new")]
    assert steps == [
        ("fsync", drafts[0]),
        ("link", "a.ledger"),
        ("fsync", tmp_path.name),
        ("fsync", drafts[1]),
        ("link", "a.ledger.witness"),
        ("fsync", tmp_path.name),
    ]
    assert drafts[0].startswith(".a.ledger.")
    assert drafts[1].startswith(".a.ledger.witness.")


def test_what_a_killed_maker_left_behind_is_ignored_and_later_removed(tmp_path):
    for name in (".a.ledger.0123456789abcdef.new", ".a.ledger.witness.0123456789abcdef.new"):
        (tmp_path / name).write_bytes(b"half")
        os.utime(tmp_path / name, (time.time() - 100,) * 2)
    young, other = tmp_path / ".a.ledger.00000000000000ff.new", tmp_path / ".b.ledger.0123456789abcdef.new"
    for each in (young, other):
        each.write_bytes(b"of somebody else")
    os.utime(other, (0, 0))
    Ledger.create(tmp_path / "a.ledger").close()
    names = {file.name for file in tmp_path.iterdir()}
    assert names == {"a.ledger", "a.ledger.witness", young.name, other.name}
    os.utime(young, (0, 0))
    Ledger.open(tmp_path / "a.ledger").close()
    assert not young.exists()


def test_a_draft_that_is_tidied_away_is_written_again(tmp_path, monkeypatch):
    real, times = os.link, []

    def lose_the_first(draft, path):
        times.append(draft)
        if len(times) == 1:
            draft.unlink()
        real(draft, path)

    monkeypatch.setattr(store.os, "link", lose_the_first)
    Ledger.create(tmp_path / "a.ledger").close()
    assert len(times) == 3
    Ledger.open(tmp_path / "a.ledger").close()


def create_at_once(_, path, start):
    while time.time() < start:
        pass
    try:
        Ledger.create(path).close()
    except LedgerUnavailable as error:
        assert "already" in str(error)  # noqa: PT017
        return 0
    return 1


@pytest.mark.slow
def test_of_many_makers_one_makes_it(tmp_path):
    for turn in range(5):
        path, start = tmp_path / f"{turn}.ledger", time.time() + 0.05
        assert sum(child.result() for child in [Child(create_at_once, path, start) for _ in range(4)]) == 1
        finish(lambda path=path: path)


def test_a_ledger_with_entries_needs_its_witness(tmp_path):
    """Only one that was never used may have lost it by the death of its maker."""
    path = tmp_path / "a.ledger"
    Ledger.create(path).close()
    Path(f"{path}.witness").unlink()
    with Ledger.open(path) as ledger:
        ledger.grant(Privacy(1), dataset="census")
    Path(f"{path}.witness").unlink()
    with pytest.raises(LedgerMissing, match="--renew"):
        Ledger.open(path)


def test_what_an_older_version_left_half_made_says_what_to_do(tmp_path):
    import sqlite3

    path = tmp_path / "a.ledger"
    path.touch()
    with pytest.raises(LedgerDamaged, match="remove it and create the ledger again"):
        Ledger.open(path, renew_witness=True)
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA application_id = 0x4C4E4C47")
    connection.close()
    with pytest.raises(LedgerDamaged, match="remove it and create the ledger again"):
        Ledger.open(path, renew_witness=True)
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE entries (seq INTEGER PRIMARY KEY, request, body, hash)")
    connection.close()
    with pytest.raises(LedgerDamaged, match="remove it and create it again"):
        Ledger.open(path, renew_witness=True)


def test_no_place_for_a_ledger(tmp_path):
    with pytest.raises(LedgerUnavailable, match="choose another folder"):
        Ledger.create(tmp_path / "missing" / "a.ledger")
    assert list(tmp_path.iterdir()) == []
