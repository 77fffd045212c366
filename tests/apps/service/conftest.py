"""Servers to talk to."""

import signal

import pytest

from support.serving import Server


@pytest.fixture
def start(tmp_path):
    """Start a server with settings of its own."""
    servers = []

    def run(**settings):
        servers.append(Server(tmp_path, **settings).start())
        return servers[-1]

    yield run
    for server in servers:
        server.stop(signal.SIGKILL)


@pytest.fixture(scope="package")
def server(tmp_path_factory):
    """One server for all tests that leave it as it is."""
    running = Server(tmp_path_factory.mktemp("service"), dataset='approve_above = ["2", "1e-6"]').start()
    yield running
    running.stop()


@pytest.fixture(scope="package")
def tokens(server):
    """One token for each role, and a second curator."""
    roles = {"ada": "analyst", "ben": "analyst", "cleo": "curator", "dan": "curator", "eve": "auditor", "fay": "reader"}
    return {name: server.token(name, role) for name, role in roles.items()}
