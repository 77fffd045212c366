"""Servers to talk to."""

import signal

import pytest

from support.chromium import chromium
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


@pytest.fixture(scope="module")
def browser():
    with chromium() as found:
        yield found


@pytest.fixture
def visit(server, browser):
    """A page of somebody who logged in; whatever a script could do wrong is noticed."""
    contexts = []

    def enter(token, **options):
        context = browser.new_context(**options)
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(20_000)
        page.noticed = []
        page.on("dialog", lambda dialog: (page.noticed.append(dialog.message), dialog.dismiss()))
        page.on("console", lambda message: message.type == "error" and page.noticed.append(message.text))
        page.goto(f"{server.url}/")
        page.fill("#token", token)
        page.click("main button")
        return page

    yield enter
    for context in contexts:
        context.close()
