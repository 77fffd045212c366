"""A real Postgres server for tests: started in a temporary folder, on loopback only, and stopped afterwards."""

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from contextlib import contextmanager
from pathlib import Path

import pytest


def _run(*command, user=None, **more):
    return subprocess.run(command, check=True, capture_output=True, text=True, user=user, cwd="/", **more)


def _programs():
    """The folder with initdb and pg_ctl: LEASTNOISE_POSTGRES, or the system's, installed if need be."""
    if "LEASTNOISE_POSTGRES" in os.environ:
        return Path(os.environ["LEASTNOISE_POSTGRES"])
    for _ in range(2):
        homes = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda home: int(home.parent.name))
        found = shutil.which("initdb")
        if homes or found:
            return homes[-1] if homes else Path(found).parent
        apt = shutil.which("apt-get")
        if os.geteuid() or not apt:
            break
        quiet = {"capture_output": True, "check": False, "env": {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}}
        subprocess.run([apt, "update"], **quiet)
        if subprocess.run([apt, "install", "-y", "--no-install-recommends", "postgresql"], **quiet).returncode:
            break
    pytest.skip("Postgres is not installed here, and its package can't be installed (apt-get as root is needed)")
    return None


@contextmanager
def postgres_server():
    """The address of a fresh server; it refuses to run as root, so root starts it as the user postgres."""
    pytest.importorskip("psycopg", reason="the package psycopg is not installed")
    programs = _programs()
    user = None
    if not os.geteuid():
        try:
            user = pwd.getpwnam("postgres").pw_name
        except KeyError:
            pytest.skip("Postgres does not run as root, and there is no user postgres")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    folder = Path(tempfile.mkdtemp(prefix="pg"))
    try:
        if user:
            shutil.chown(folder, user)
        data = folder / "data"
        _run(programs / "initdb", "-D", data, "-U", "tester", "-A", "trust", "--no-instructions", user=user)
        options = f"-p {port} -c listen_addresses=127.0.0.1 -k {folder} -c max_connections=64"
        start = (programs / "pg_ctl", "-D", data, "-l", folder / "log", "-o", options, "-w")
        _run(*start, "start", user=user)
        try:
            yield f"postgresql://tester@127.0.0.1:{port}/postgres"
        finally:
            _run(*start, "-m", "immediate", "stop", user=user)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def has_loose_collations(connection):
    """Whether the server can call different texts equal: builds without ICU, as PyPI has them, can't."""
    return bool(connection.execute("SELECT 1 FROM pg_collation WHERE collname = 'und-x-icu'").fetchall())


def in_schema(address, name):
    """The address of a schema of its own, so that tables of different tests do not meet."""
    import psycopg

    with psycopg.connect(address) as connection:
        connection.execute(f"CREATE SCHEMA IF NOT EXISTS {name}")
    return f"{address}?options=-csearch_path%3D{name}"
