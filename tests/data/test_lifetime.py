"""From opening to closing: forks, interruptions, kills, and what is left behind."""

import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import duckdb
import psycopg
import pyarrow as pa
import pytest

from leastnoise.data import Contribution, CountRows, KeyAxis, col, open_table
from leastnoise.data.dialect import sql
from leastnoise.data.engines.duckdb import EmbeddedTable
from leastnoise.errors import Closed, ForeignProcess
from support.processes import Child, kill_myself

EACH_ROW = Contribution(None)
QUESTIONS = [
    lambda table: table.require_ready(),
    lambda table: table.aggregate(EACH_ROW, (), (CountRows(),)),
    lambda table: table.aggregate(EACH_ROW, (KeyAxis("n", (1, 2)),), (CountRows(),)),
    lambda table: table.discover(EACH_ROW, ("n",)),
    lambda table: table.ranks(EACH_ROW, "n", [0, 1]),
    lambda table: table.scores(EACH_ROW, [col("n") == 1]),
]


def count(table):
    return table.aggregate(EACH_ROW, (), (CountRows(),))[0].item()


@pytest.fixture(params=["file", "frame", "postgres", "spark"])
def table(request, tmp_path):
    if request.param == "file":
        (tmp_path / "x.csv").write_text("n\n1\n2\n")
        opened = open_table(tmp_path / "x.csv", columns={"n": "integer"})
    elif request.param == "frame":
        opened = open_table(pa.table({"n": [1, 2]}))
    elif request.param == "postgres":
        address = request.getfixturevalue("postgres_address")
        with psycopg.connect(address) as connection:
            connection.execute("CREATE TABLE IF NOT EXISTS alive AS SELECT * FROM generate_series(1, 2) AS t(n)")
        opened = open_table(address, table="alive")
    else:
        opened = open_table(request.getfixturevalue("spark").createDataFrame([(1,), (2,)], "n int"))
    with opened:
        yield opened


def test_a_closed_table_refuses_every_question_without_its_engine(table, monkeypatch):
    assert count(table) == 2
    table.close()
    table.close()
    monkeypatch.setattr(type(table), "_execute", lambda *_: pytest.fail("the engine was asked"))
    for ask in QUESTIONS:
        with pytest.raises(Closed, match="open it again"):
            ask(table)


def test_a_forked_child_is_refused_and_the_parent_goes_on(table):
    def refused(_):
        found = []
        for ask in QUESTIONS:
            try:
                ask(table)
            except ForeignProcess:
                found.append(True)
        table.close()
        return found

    assert count(table) == 2
    assert Child(refused).result() == [True] * len(QUESTIONS)
    assert count(table) == 2


FORK = """
import multiprocessing, os, sys
import pyarrow as pa
from leastnoise.data import Contribution, CountRows, open_table
from leastnoise.errors import ForeignProcess

def count(table):
    return table.aggregate(Contribution(None), (), (CountRows(),))[0].item()

def refused(table):
    try:
        count(table)
    except ForeignProcess:
        sys.exit(7)

if __name__ == "__main__":
    table, other = (open_table(pa.table({"n": range(300_000)})) for _ in range(2))
    other.close()
    assert count(table) == 300_000
    child = os.fork()
    if not child:
        if sys.argv[1] == "drop":
            del table
        elif sys.argv[1] == "open another":
            with open_table(pa.table({"n": [1]})) as own:
                assert count(own) == 1
        elif sys.argv[1] == "ask":
            refused(table)
        elif sys.argv[1] == "end by an error":
            raise SystemExit("a last word")
        sys.exit(7)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == (1 if sys.argv[1] == "end by an error" else 7)
    worker = multiprocessing.get_context("fork").Process(target=refused, args=(table,))
    worker.start()
    worker.join()
    assert worker.exitcode == 7, worker.exitcode
    assert count(table) == 300_000
    print("well")
"""


@pytest.mark.slow
@pytest.mark.parametrize("end", ["at once", "ask", "drop", "open another", "end by an error"])
def test_a_child_that_inherited_a_table_ends_cleanly(end):
    done = subprocess.run([sys.executable, "-c", FORK, end], capture_output=True, text=True, check=False)
    words = "a last word\n" if end == "end by an error" else ""
    assert (done.stdout, done.stderr, done.returncode) == ("well\n", words, 0)


@pytest.mark.slow
def test_a_pool_of_forked_processes_may_open_tables_of_its_own(tmp_path):
    (tmp_path / "x.csv").write_text("n\n1\n2\n")
    with open_table(tmp_path / "x.csv"), multiprocessing.get_context("fork").Pool(2) as pool:
        assert pool.map(_count_file, [tmp_path / "x.csv"] * 4) == [2] * 4


def _count_file(file):
    with open_table(file) as table:
        return count(table)


def test_an_interruption_while_a_source_is_opened_is_one():
    """DuckDB tells of it by an error of its own, which is no fault of the source."""

    def interrupted(*_):
        raise duckdb.InterruptException

    with pytest.raises(KeyboardInterrupt):
        EmbeddedTable("people.csv", interrupted)


SLOW = {
    "frame": "SELECT sum(a.n * b.n) AS x FROM source AS a, source AS b, source AS c, source AS d",  # one long task
    "postgres": "SELECT pg_sleep(60)",
}


@pytest.mark.parametrize("engine", ["frame", "postgres"])
def test_an_interruption_is_one(engine, request):
    if engine == "frame":
        opened = open_table(pa.table({"n": range(3000)}))
    else:
        address = request.getfixturevalue("postgres_address")
        with psycopg.connect(address) as connection:
            connection.execute("CREATE TABLE IF NOT EXISTS alive AS SELECT * FROM generate_series(1, 2) AS t(n)")
        opened = open_table(address, table="alive")
    with opened:
        before = signal.signal(signal.SIGINT, signal.default_int_handler)
        timer = threading.Timer(0.5, signal.pthread_kill, [threading.main_thread().ident, signal.SIGINT])
        started = time.monotonic()
        try:
            timer.start()
            with pytest.raises(KeyboardInterrupt):
                opened._run(sql(SLOW[engine]))
        finally:
            timer.join()
            signal.signal(signal.SIGINT, before)
        assert time.monotonic() - started < 20
        assert count(opened) > 0


@pytest.mark.slow
def test_folders_of_dead_processes_are_removed_and_no_others(tmp_path):
    frame = pa.table({"n": [1]})

    def dies(report):
        table = open_table(frame, temp_directory=tmp_path)
        report(count(table))
        kill_myself()

    def lives(report):
        with open_table(frame, temp_directory=tmp_path):
            report(True)
            time.sleep(60)

    with open_table(frame, temp_directory=tmp_path) as table:
        (mine,) = tmp_path.iterdir()
        code, _ = Child(dies).join()
        assert code == -signal.SIGKILL
        (dead,) = set(tmp_path.iterdir()) - {mine}
        (dead / "spilled").write_text("rows")
        other = Child(lives)
        while len(set(tmp_path.iterdir()) - {mine, dead}) < 1 or dead.exists():
            time.sleep(0.01)
        left = {tmp_path / "leastnoise-from-0.1", tmp_path / "something"}
        for folder in left:
            folder.mkdir()
        (tmp_path / "leastnoise-table-link").symlink_to(tmp_path / "something")
        with open_table(frame, temp_directory=tmp_path) as third:
            assert count(third) == 1
            assert mine.exists()
            assert len(list(tmp_path.iterdir())) == 6  # three tables, what is not ours, and a link
        other.kill()
        other.join()
        assert count(table) == 1
    with open_table(frame, temp_directory=tmp_path):
        assert len(list(tmp_path.iterdir())) == 4
    assert left < set(tmp_path.iterdir())


def test_folders_of_other_users_are_left_alone(tmp_path, monkeypatch):
    (tmp_path / "leastnoise-table-x").mkdir()
    with monkeypatch.context() as patch:
        patch.setattr(os, "getuid", lambda: Path(tmp_path).stat().st_uid + 1)
        open_table(pa.table({"n": [1]}), temp_directory=tmp_path).close()
        assert (tmp_path / "leastnoise-table-x").exists()
    open_table(pa.table({"n": [1]}), temp_directory=tmp_path).close()
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_many_processes_open_and_die_beside_each_other(tmp_path):
    """Nobody loses a folder that is in use, whatever the others clean up meanwhile."""

    def busy(_, number):
        for turn in range(4):
            with open_table(pa.table({"n": [1]}), temp_directory=tmp_path) as table:
                assert len(list(tmp_path.glob("leastnoise-table-*"))) >= 1
                assert count(table) == 1
                if number == 0 and turn == 3:
                    kill_myself()
        return True

    children = [Child(busy, number) for number in range(4)]
    assert [child.join()[0] for child in children] == [-signal.SIGKILL, 0, 0, 0]
    open_table(pa.table({"n": [1]}), temp_directory=tmp_path).close()
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
def test_the_engine_does_not_show_how_far_it_is(tmp_path):
    (tmp_path / "x.csv").write_text("n\n1\n")
    # Without a file behind `__main__` DuckDB takes the process for a notebook and turns its progress bar on.
    code = "import sys; from leastnoise.data import open_table as at; print(at(sys.argv[1])._execute(sys.argv[2], []))"
    asked = "SELECT count(*) FROM duckdb_settings() WHERE name = 'enable_progress_bar' AND value = 'false'"
    command = [sys.executable, "-c", code, str(tmp_path / "x.csv"), asked]
    shown = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    assert shown.stdout.strip() == "[array([1])]"
