"""The page in a real browser: flows of analyst and curator, hostile names, forged forms, no scripts, accessibility."""

import http.client
import re
from pathlib import Path
from urllib.parse import urlencode

import pytest

from support.chromium import chromium
from support.serving import Server

HOSTILE = '"><img src=x onerror=alert(1)><script>alert(2)</script>'


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    running = Server(tmp_path_factory.mktemp("page"), dataset='approve_above = ["2", "1e-6"]').start()
    yield running
    running.stop()


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
        page.set_default_timeout(5_000)
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


def plan(page, server, keys, amount="1/2"):
    page.goto(f"{server.url}/page/ask?dataset=people")
    page.fill("#f-by", "city")
    page.fill("#f-keys", keys)
    page.fill("#amount", amount)
    with page.expect_navigation(wait_until="load"):
        page.click("text=Plan (free)")


CHECK = (Path(__file__).parents[2] / "support" / "accessibility.js").read_text().partition("\n")[2]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_an_analyst_plans_slides_releases_and_downloads(server, visit, scheme):
    page = visit(server.token(f"ada-{scheme}"), color_scheme=scheme)
    assert page.evaluate(CHECK) == []
    spent = server.spent()
    plan(page, server, "Ashford\nBrook")
    assert page.locator("svg circle.point").count() == 5
    assert page.evaluate(CHECK) == []
    before = page.inner_text("#told")
    page.focus("#slider")
    page.keyboard.press("ArrowLeft")
    assert page.inner_text("#told") != before
    assert page.input_value("#price") == '{"epsilon": "1/4", "delta": "0"}'
    assert server.spent() == spent
    page.click("text=Release: spend this price")
    assert page.inner_text("#state") == "done"
    assert server.spent() - spent == pytest.approx(0.25)
    assert page.locator("tbody tr").count() == 2
    assert page.locator("svg .bar").count() == 2
    assert page.evaluate(CHECK) == []
    for name, begin in (("CSV", "city,value,low,high"), ("JSON", "{"), ("Certificate", '{"certificates"')):
        with page.expect_download() as got:
            page.click(f"text={name} >> nth=0")
        assert got.value.path().read_text().startswith(begin)
    assert page.noticed == []


def test_a_dear_question_is_approved_by_a_second_person(server, visit):
    asker, keeper = visit(server.token("ben")), visit(server.token("cleo", "curator"))
    plan(asker, server, "Ashford", amount="3")
    asker.click("text=Release: spend this price")
    assert asker.inner_text("#state") == "waiting"
    keeper.goto(f"{server.url}/page/keep?verify=yes")
    assert "hold together" in keeper.inner_text("#verified")
    assert keeper.evaluate(CHECK) == []
    keeper.click("h2:has-text('Waiting') + div a")
    keeper.click("button:has-text('Approve')")
    keeper.wait_for_selector("#state:has-text('approved')")
    asker.reload()
    asker.click("text=Get the answer")
    asker.wait_for_selector("#state:has-text('done')")


def test_tokens_are_made_shown_once_and_revoked(server, visit):
    keeper = visit(server.token("dora", "curator", None))
    keeper.goto(f"{server.url}/page/tokens")
    keeper.fill("#name", "gus")
    keeper.select_option("#role", "analyst")
    keeper.click("text=Make >> nth=-1")
    made = keeper.inner_text("#made")
    other = visit(made)
    assert "Datasets" in other.inner_text("h1")
    keeper.goto(f"{server.url}/page/tokens")
    assert made not in keeper.content()
    keeper.click("text=Revoke gus")
    other.reload()
    assert other.url.endswith("/page/login")


def test_hostile_names_are_text(server, visit):
    token = server.token(HOSTILE, purposes=None)
    question = {"question": "count", "by": "city", "keys": [HOSTILE]}
    asked = server.ask(token, HOSTILE, question=question).json["id"]
    page = visit(token)
    for path in ("page", f"page/releases/{asked}", f"page/ask?{urlencode({'dataset': 'people', 'kind': HOSTILE})}"):
        page.goto(f"{server.url}/{path}")
        assert page.locator("img").count() == 0
        assert page.locator("script").count() == 1
    plan(page, server, HOSTILE)
    assert page.locator("img").count() == 0
    keeper = visit(server.token("kim", "curator"))
    keeper.goto(f"{server.url}/page/keep")
    assert keeper.locator("img").count() == 0
    assert HOSTILE in keeper.inner_text("main")
    assert page.noticed == keeper.noticed == []


def test_everything_is_read_and_asked_without_scripts(server, visit):
    page = visit(server.token("nora"), java_script_enabled=False)
    plan(page, server, "Ashford")
    page.select_option("#price", index=0)
    page.click("text=Release: spend this price")
    assert page.inner_text("#state") == "done"


def post(server, path, fields, **headers):
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
    headers = {"Content-Type": "application/x-www-form-urlencoded", **headers}
    try:
        connection.request("POST", path, urlencode(fields), headers)
        answer = connection.getresponse()
        return answer.status, answer.headers, answer.read().decode()
    finally:
        connection.close()


@pytest.fixture
def session(server):
    """A session of an analyst: the cookie, and the secret of its forms."""
    status, headers, _ = post(server, "/page/login", {"token": server.token("oda")})
    assert status == 303
    flags = headers["set-cookie"]
    assert "HttpOnly" in flags
    assert "SameSite=strict" in flags
    cookie = flags.partition(";")[0]
    text = server.call("GET", "/page", headers={"Cookie": cookie}).text
    return cookie, re.search(r'name="csrf" value="([0-9a-f]{64})"', text)[1]


FORM = {
    "dataset": "people",
    "question": '{"question": "count"}',
    "price": '{"epsilon": "1/10"}',
    "request_id": "forged",
}


@pytest.mark.parametrize(
    ("secret", "headers"),
    [
        (None, {}),
        ("0" * 64, {}),
        ("ä", {}),
        ("", {"Origin": "https://evil.example"}),
        ("", {"Sec-Fetch-Site": "cross-site"}),
    ],
)
def test_a_forged_form_spends_nothing(server, session, secret, headers):
    cookie, right = session
    spent = server.spent()
    fields = FORM if secret is None else {**FORM, "csrf": secret or right}
    assert post(server, "/page/release", fields, Cookie=cookie, **headers)[0] == 403
    assert server.spent() == spent


def test_without_a_session_there_is_only_the_login(server):
    for path in ("/page", "/page/keep", "/page/tokens", "/page/ask?dataset=people", "/page/dossier?dataset=people"):
        answer = server.call("GET", path, headers={"Cookie": "leastnoise=0"})
        assert (answer.status, answer.headers["location"]) == (303, "/page/login")
    assert post(server, "/page/release", FORM)[0] == 303
    assert post(server, "/page/login", {"token": "ln_0"})[0] == 403
    assert server.call("GET", "/page/files/..%2Fpages.py").status == 404


def test_roles_and_datasets_are_those_of_the_service(server, session):
    cookie, secret = session
    for path in ("/page/keep", "/page/tokens", "/page/dossier?dataset=people"):
        assert server.call("GET", path, headers={"Cookie": cookie}).status == 403
    assert server.call("GET", "/page/ask?dataset=secret", headers={"Cookie": cookie}).status == 404
    for path, fields in (
        ("decide", {"id": "rel-0", "approve": "yes", "fingerprint": ""}),
        ("clear", {"dataset": "people", "analyst": "ada"}),
        ("tokens", {"name": "x", "role": "curator"}),
        ("revoke", {"id": "0"}),
        ("release", {**FORM, "dataset": "secret"}),
    ):
        assert post(server, f"/page/{path}", {**fields, "csrf": secret}, Cookie=cookie)[0] in (403, 404), path


def test_no_inline_script_or_style_and_a_strict_policy(server, session):
    answer = server.call("GET", "/page", headers={"Cookie": session[0]})
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert not re.search(r"<style|style=|<script(?! src=\"/page/files/page.js\")|\son\w+=", answer.text)
    status, _, text = post(server, "/page/logout", {"csrf": session[1]}, Cookie=session[0])
    assert (status, text) == (303, "")
    assert server.call("GET", "/page", headers={"Cookie": session[0]}).status == 303
