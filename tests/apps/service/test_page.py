"""The page in a real browser: flows of analyst and curator, hostile names, forged forms, no scripts, accessibility."""

import json
import re
import time
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import Mock
from urllib.parse import urlencode

import pytest
from fastapi import FastAPI
from starlette.routing import Route

from leastnoise.apps.service.drawings import draw_answer
from leastnoise.apps.service.pages import _Page, _Session, add_page
from support.serving import Server, log_in, post

pytestmark = pytest.mark.slow

HOSTILE = '"><img src=x onerror=alert(1)><script>alert(2)</script>'


CONFIGURED = """approve_above = ["2", "1e-6"]
[datasets.people.keys]
city = ["Lyon", "Metz", "Nice"]
[datasets.people.bounds]
age = [0, 100]"""


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    running = Server(tmp_path_factory.mktemp("page"), dataset=CONFIGURED).start()
    yield running
    running.stop()


def plan(page, server, keys, amount="1/2"):
    page.goto(f"{server.url}/page/ask?dataset=people")
    page.fill("#f-by", "city")
    page.fill("#f-keys", keys)
    page.fill("#amount", amount)
    with page.expect_navigation(wait_until="load"):
        page.click("text=Plan (free)")


AXE = (Path(__file__).parents[2] / "support" / "axe" / "axe.min.js").read_text()


def accessible(page):
    """What axe-core finds wrong with a page, by all its rules (WCAG 2.2 A and AA, and best practices)."""
    page.evaluate(AXE)
    ran = page.evaluate("axe.run(document, {resultTypes: ['violations', 'incomplete']})")
    assert len(ran["passes"]) > 5  # it looked
    return [(each["id"], [node["html"] for node in each["nodes"]]) for each in ran["violations"]]


SQL = "SELECT city, COUNT(*) AS n, SUM(CLAMP(age, 0, 100)) AS total FROM people GROUP BY city"


def type_sql(page, server, text=SQL):
    page.goto(f"{server.url}/page/ask?dataset=people&kind=sql")
    page.fill("#f-sql", text)


@pytest.mark.slow
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_an_analyst_plans_slides_releases_and_downloads(server, visit, scheme):
    page = visit(server.token(f"ada-{scheme}"), color_scheme=scheme)
    spent = server.spent()
    plan(page, server, "Ashford\nBrook")
    assert page.locator("svg circle.point").count() == 13
    before = page.inner_text("#told")
    page.focus("#slider")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowLeft")
    assert page.inner_text("#told") != before
    assert page.input_value("#price") == '{"epsilon": "1/4", "delta": "0"}'
    assert server.spent() == spent
    page.click("text=Release: spend this price")
    page.wait_for_selector("#state:has-text('done')")
    assert server.spent() - spent == pytest.approx(0.25)
    assert page.locator("tbody tr").count() == 2
    assert page.locator("svg .bar").count() == 2
    for name, begin in (("CSV", '"city","value","low","high"'), ("JSON", "{"), ("Certificate", '{"certificates"')):
        with page.expect_download() as got:
            page.click(f"text={name} >> nth=0")
        assert got.value.path().read_text().startswith(begin)
    assert page.noticed == []


@pytest.mark.slow
def test_sql_shows_its_plan_while_it_is_typed_and_what_the_answer_will_look_like(server, visit):
    """Nothing is sent but what is typed, and nothing is spent before the last button."""
    page, spent = visit(server.token("sven")), server.spent()
    type_sql(page, server, "SELECT city, COUNT(*) AS n FROM people GROUP BY ci")
    page.wait_for_selector("#plan .problem")
    page.fill("#f-sql", SQL)
    page.wait_for_selector("#slider")
    assert page.locator("table.expected").count() == 2
    assert page.locator("table.expected >> nth=0 >> tbody tr").count() == 3
    shown, bar = page.inner_text(".within >> nth=0"), page.get_attribute("path.error >> nth=0", "d")
    page.focus("#slider")
    page.keyboard.press("End")
    assert float(page.inner_text(".within >> nth=0")[1:]) < float(shown[1:])
    assert page.get_attribute("path.error >> nth=0", "d") != bar
    page.keyboard.press("Home")
    assert float(page.inner_text(".within >> nth=0")[1:]) > float(shown[1:])
    assert server.spent() == spent
    page.click("text=Release: spend this price")
    page.wait_for_selector("#state:has-text('done')")
    assert server.spent() - spent == pytest.approx(1 / 16)
    assert page.locator("figure svg").count() == 2
    with page.expect_download() as got:
        page.click("text=CSV")
    assert got.value.path().read_text().startswith('"city","n","n_low","n_high","total"')
    assert all("422" in each for each in page.noticed)  # of the plan of half a statement


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_wrong_with_any_page(server, visit, scheme):
    page = visit(server.token(f"axe-{scheme}"), color_scheme=scheme)
    keeper = visit(server.token(f"keeper-{scheme}", "curator", None), color_scheme=scheme)
    assert accessible(page) == []
    for kind in ("count", "sql", "json", "quantile"):
        page.goto(f"{server.url}/page/ask?dataset=people&kind={kind}")
        assert accessible(page) == []
    type_sql(page, server)
    page.wait_for_selector("#slider")
    assert accessible(page) == []
    page.click("text=Release: spend this price")
    page.wait_for_selector("#state:has-text('done')")
    assert accessible(page) == []
    plan(page, server, "Lyon", amount="nonsense")
    assert accessible(page) == []
    page.fill("#amount", "3")
    page.wait_for_selector("#slider")
    page.click("text=Release: spend this price")
    page.wait_for_selector("#state:has-text('waiting')")
    assert accessible(page) == []
    keeper.goto(page.url)
    assert accessible(keeper) == []
    for path in ("page", "page/keep?verify=yes", "page/tokens", "page/nothing", "page/releases/rel-0"):
        keeper.goto(f"{server.url}/{path}")
        assert accessible(keeper) == [], path
    page.click("text=Cancel the release")
    page.wait_for_selector("#state:has-text('cancelled')")
    assert accessible(page) == []
    with page.expect_navigation(wait_until="load"):
        page.click("text=Log out")
    assert accessible(page) == []


@pytest.mark.slow
def test_axe_would_find_something(server, visit):
    page = visit(server.token("blind"))
    page.evaluate("document.querySelector('header a').textContent = ''; document.documentElement.lang = ''")
    assert {name for name, _ in accessible(page)} >= {"link-name", "html-has-lang"}


def test_the_whole_way_goes_by_keyboard(server, browser):
    """From the login to the answer with Tab, letters, arrows and Enter; the focus can always be seen."""
    context = browser.new_context()
    page = context.new_page()
    page.set_default_timeout(20_000)

    def tab_to(what):
        for _ in range(60):
            page.keyboard.press("Tab")
            if page.evaluate(f"document.activeElement.matches({what!r})"):
                assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") != "none", what
                return
        raise AssertionError(f"{what} can't be reached")

    page.goto(f"{server.url}/")
    tab_to("#token")
    page.keyboard.type(server.token("kai"))
    page.keyboard.press("Enter")
    page.wait_for_selector("h2")
    tab_to("main a[href^='/page/ask']")
    page.keyboard.press("Enter")
    page.wait_for_selector("#ask")
    tab_to("#f-by")
    page.keyboard.type("city")
    tab_to("#f-keys")
    page.keyboard.type("Lyon")
    page.wait_for_selector("#slider")
    tab_to("#slider")
    page.keyboard.press("Home")
    tab_to("#release button")
    page.keyboard.press("Enter")
    page.wait_for_selector("#state:has-text('done')")
    assert page.inner_text("tbody td") == "Lyon"
    context.close()


@pytest.mark.slow
def test_a_dear_question_is_approved_by_a_second_person(server, visit):
    asker, keeper = visit(server.token("ben")), visit(server.token("cleo", "curator"))
    plan(asker, server, "Ashford", amount="3")
    asker.click("text=Release: spend this price")
    assert asker.inner_text("#state") == "waiting"
    keeper.goto(f"{server.url}/page/keep?verify=yes")
    assert "hold together" in keeper.inner_text("#verified")
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


@pytest.mark.slow
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


SEEN = {  # what a role finds on the page: its links, and what it can send
    "analyst": ({"page", "page/ask"}, {"logout"}),
    "curator": ({"page", "page/ask", "page/keep", "page/tokens", "page/dossier"}, {"logout", "decide", "cancel"}),
    "auditor": ({"page", "page/keep", "page/dossier"}, {"logout"}),
    "reader": ({"page"}, {"logout"}),
}


@pytest.mark.slow
@pytest.mark.parametrize("scripts", [True, False])
@pytest.mark.parametrize("role", SEEN)
def test_each_role_finds_its_own_and_no_more(server, visit, role, scripts):
    """With scripts or without; what it is not shown it can't reach by its address either."""
    ada, every = server.token("asks for all roles"), server.token("sees all", "curator", None)
    done = server.ask(ada, f"done for {role} {scripts}", "1/100").json["id"]
    server.ask(ada, f"waits for {role} {scripts}", "9/4")
    listed = server.call("GET", "/v1/approvals", token=every).json["waiting"]
    (waits,) = [each["id"] for each in listed if each["request_id"] == f"waits for {role} {scripts}"]
    page = visit(server.token(f"{role} {scripts}", role, None), java_script_enabled=scripts)
    links, sent = SEEN[role]

    def found(what, name):
        """Where links or forms lead."""
        texts = [each.get_attribute(name) for each in page.locator(what).all()]
        return {each.removeprefix("/").partition("?")[0] for each in texts if each.startswith("/page")}

    assert {each for each in found("a", "href") if "releases/" not in each} == links
    for path in ("page/ask", "page/keep", "page/tokens", "page/dossier"):
        if path != "page/dossier" or path not in links:  # that one is a download
            answer = page.goto(f"{server.url}/{path}?dataset=people")
            assert answer.status == (200 if path in links else 403), path
    statuses = {each: page.goto(f"{server.url}/page/releases/{each}").status for each in (done, waits)}
    of_all = role != "analyst"
    assert statuses == {done: 200 if of_all else 404, waits: 200 if role in ("curator", "auditor") else 404}
    assert {each.removeprefix("page/") for each in found("form", "action")} == sent
    if of_all:
        page.goto(f"{server.url}/page/releases/{done}")
        assert page.locator("tbody tr").count() == 1
        assert page.locator("text=Certificate").count() == 1
    server.call("DELETE", f"/v1/releases/{waits}", token=ada)


@pytest.fixture
def session(server):
    """A session of an analyst: the cookie, and the secret of its forms."""
    flags, secret = log_in(server, server.token("oda"))
    return flags.partition(";")[0], secret


@pytest.fixture(scope="module")
def keeper(server):
    """A session of a curator, who may send every form."""
    flags, secret = log_in(server, server.token("kit", "curator", datasets=None))
    return flags.partition(";")[0], secret


FORM = {
    "dataset": "people",
    "question": '{"question": "count"}',
    "price": '{"epsilon": "1/10"}',
    "request_id": "forged",
}


def forms():
    """All paths that take a form of somebody who is logged in."""
    app = FastAPI()
    add_page(app, Mock(), Mock())
    posts = [route.path for route in app.routes if isinstance(route, Route) and "POST" in route.methods]
    return sorted(path for path in posts if path != "/page/login")


FORGED = [
    (None, {}),
    ("0" * 64, {}),
    ("ä", {}),
    ("", {"Origin": "https://evil.example"}),
    ("", {"Origin": "null"}),
    ("", {"Origin": "http://127.0.0.1:1"}),
    ("", {"Sec-Fetch-Site": "cross-site"}),
    ("", {"Sec-Fetch-Site": "same-site"}),
]


@pytest.mark.parametrize(("secret", "headers"), FORGED)
@pytest.mark.parametrize("path", forms())
def test_a_forged_form_changes_nothing(server, keeper, path, secret, headers):
    cookie, right = keeper
    before = server.spent(), server.call("GET", "/page/tokens", headers={"Cookie": cookie}).text
    fields = {**FORM, "name": "new", "role": "curator", "analyst": "ada", "id": "x", "approve": "yes", "kind": "count"}
    fields |= {} if secret is None else {"csrf": secret or right}
    assert post(server, path, fields, Cookie=cookie, **headers)[0] == 403
    assert (server.spent(), server.call("GET", "/page/tokens", headers={"Cookie": cookie}).text) == before


def test_the_same_form_from_the_page_itself_is_taken(server, session):
    """So that the refusals above show something; and each field counts once."""
    cookie, right = session
    fields = {**FORM, "request_id": "own", "csrf": right}
    own = {"Origin": f"http://127.0.0.1:{server.port}", "Sec-Fetch-Site": "same-origin", "Cookie": cookie}
    spent = server.spent()
    twice = [("csrf", "0"), *fields.items()]
    assert post(server, "/page/release", twice, **own)[0] == 422
    assert server.spent() == spent
    status, headers, _ = post(server, "/page/release", fields, **own)
    assert (status, headers["location"][:18]) == (303, "/page/releases/rel")
    assert server.spent() != spent


def test_another_site_logs_nobody_in(server):
    for headers in ({"Origin": "https://evil.example"}, {"Sec-Fetch-Site": "cross-site"}):
        status, found, _ = post(server, "/page/login", {"token": server.token("olga")}, **headers)
        assert (status, found["set-cookie"]) == (403, None)


def test_the_cookie_is_for_this_server_alone_and_ends_with_its_session(server):
    token = server.token("otto")
    flags, first = log_in(server, token)
    assert {"HttpOnly", "SameSite=strict", "Path=/", "Max-Age=28800"} <= set(flags.split("; "))
    assert "Secure" not in flags  # browsers would not send it back to this machine over HTTP
    status, found, _ = post(server, "/page/login", {"token": token}, Host="data.example")
    assert status == 303
    assert "Secure" in found["set-cookie"].split("; ")
    cookie = flags.partition(";")[0]
    other, second = log_in(server, token, Cookie=cookie)
    assert len({cookie, other.partition(";")[0], first, second}) == 4
    assert server.call("GET", "/page", headers={"Cookie": cookie}).status == 303  # the session before is over
    chosen, _ = log_in(server, token, Cookie="leastnoise=chosen")
    assert "leastnoise=chosen" not in chosen


def test_a_session_ends_in_time_and_with_its_token(server, keeper):
    page = _Page(FastAPI(), Mock(), Mock())
    for ends, is_there in ((time.monotonic() + 60, True), (time.monotonic() - 1, False)):
        page._sessions["name"] = _Session("ada", "token", "secret", ends)
        asked = SimpleNamespace(cookies={"leastnoise": "name"}, url=SimpleNamespace(hostname="127.0.0.1"))
        assert (page._session(asked) is not None) == is_there
    flags, _ = log_in(server, server.token("owen"))
    cookie, (own, secret) = flags.partition(";")[0], keeper
    assert server.call("GET", "/page", headers={"Cookie": cookie}).status == 200
    listed = server.call("GET", "/page/tokens", headers={"Cookie": own}).text
    row = next(part for part in listed.split("<tr") if "owen" in part)
    known = re.search(r'name="id" value="([^"]+)"', row)[1]
    assert post(server, "/page/revoke", {"id": known, "csrf": secret}, Cookie=own)[0] == 303
    assert server.call("GET", "/page", headers={"Cookie": cookie}).status == 303


def test_markup_in_names_keys_and_pictures_is_escaped(server):
    """In the text that leaves the server, whatever a browser would make of it."""
    token = server.token(HOSTILE + "2", purposes=None)
    flags, secret = log_in(server, token)
    cookie = flags.partition(";")[0]
    keys = [HOSTILE, "Ashford"]
    question = {"question": "count", "by": "city", "keys": keys}
    asked = server.ask(token, HOSTILE + "2", question=question).json["id"]
    texts = [
        server.call("GET", path, headers={"Cookie": cookie}).text
        for path in (
            "/page",
            f"/page/releases/{asked}",
            f"/page/ask?{urlencode({'dataset': 'people', 'kind': HOSTILE})}",
        )
    ]
    fields = {"dataset": "people", "kind": "count", "f-by": "city", "f-keys": json.dumps(keys), "csrf": secret}
    texts.append(post(server, "/page/ask", fields, Cookie=cookie)[2])
    texts += [picture for _, picture in draw_answer(["city", "value", "low", "high"], [[HOSTILE[:20], 1, 0, 2]])]
    for text in texts:
        assert "<img" not in text
        assert "<script>" not in text
        assert "&gt;&lt;img" in text


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


def test_a_cookie_for_others_than_this_machine_needs_tls_and_this_host(server):
    """Behind a proxy the browser never sends it in the clear, and no other host of the domain can set one."""
    token = server.token("pia")
    sent = {"Host": "statistics.example.org", "Origin": "https://statistics.example.org"}
    status, headers, _ = post(server, "/page/login", {"token": token}, **sent)
    assert status == 303
    name, *flags = [each.strip().lower() for each in headers["set-cookie"].split(";")]
    assert name.startswith("__host-leastnoise=")
    assert {"secure", "httponly", "samesite=strict", "path=/"} <= set(flags)
    assert not [each for each in flags if each.startswith("domain")]
    cookie = headers["set-cookie"].partition(";")[0]
    assert server.call("GET", "/page", headers={"Cookie": cookie, "Host": sent["Host"]}).status == 200
    planted = cookie.replace("__Host-", "")
    assert server.call("GET", "/page", headers={"Cookie": planted, "Host": sent["Host"]}).status == 303


def test_a_session_gets_a_new_name_and_the_old_one_ends(server, session):
    """Whoever knew or planted the name before the login knows nothing after it."""
    old, secret = session
    planted = "leastnoise=" + "0" * 64
    for before in (old, planted):
        _, headers, _ = post(server, "/page/login", {"token": server.token("quin")}, Cookie=before)
        fresh = headers["set-cookie"].partition(";")[0]
        assert fresh != before
        assert server.call("GET", "/page", headers={"Cookie": before}).status == 303
    status, headers, _ = post(server, "/page/logout", {"csrf": secret}, Cookie=fresh)
    assert status == 403  # the secret of another session
    text = server.call("GET", "/page", headers={"Cookie": fresh}).text
    right = re.search(r'name="csrf" value="([0-9a-f]{64})"', text)[1]
    status, headers, _ = post(server, "/page/logout", {"csrf": right}, Cookie=fresh)
    assert "Max-Age=0" in headers["set-cookie"]
    assert server.call("GET", "/page", headers={"Cookie": fresh}).status == 303


def test_many_logins_of_one_end_nobody_elses_session(server, session):
    token = server.token("rob")
    cookies = [post(server, "/page/login", {"token": token})[1]["set-cookie"].partition(";")[0] for _ in range(14)]
    alive = [server.call("GET", "/page", headers={"Cookie": each}).status == 200 for each in cookies]
    assert alive == [False] * 4 + [True] * 10
    assert server.call("GET", "/page", headers={"Cookie": session[0]}).status == 200


def test_a_login_from_another_site_is_none(server):
    for headers in ({"Origin": "https://evil.example"}, {"Origin": "null"}, {"Sec-Fetch-Site": "same-site"}):
        status, told, _ = post(server, "/page/login", {"token": server.token("sam")}, **headers)
        assert status == 403
        assert "set-cookie" not in told


@pytest.mark.parametrize(
    "changed",
    [
        {"question": "[" * 5000},
        {"question": "[" * 40 + "]" * 40},
        {"question": '{"question": "count", "question": "sum"}'},
        {"question": '{"question": "count", "where": "\\ud800"}'},
        {"price": '{"epsilon": 1e999}'},
        {"price": '{"epsilon": NaN}'},
        {"price": "9" * 5000},
        {"purpose": "x" * 1000},
    ],
)
def test_fields_of_a_form_are_read_as_strictly_as_bodies(server, session, changed):
    cookie, secret = session
    spent, workers = server.spent(), server.workers()
    status, headers, text = post(server, "/page/release", {**FORM, "csrf": secret, **changed}, Cookie=cookie)
    assert status == 422
    assert "text/html" in headers["content-type"]
    assert "What to do" in text
    assert server.spent() == spent
    assert set(workers) <= set(server.workers())


def test_problems_are_pages_with_the_same_policy(server, session):
    for path in ("/page/nothing", "/page/releases/rel-0", f"/page/releases/rel-0/download?what=csv&place={'9' * 5000}"):
        answer = server.call("GET", path, headers={"Cookie": session[0]})
        assert answer.status == 404
        assert "text/html" in answer.headers["content-type"]
        assert "default-src 'none'" in answer.headers["content-security-policy"]
        assert answer.headers["x-frame-options"] == "DENY"
        assert answer.headers["cache-control"] == "no-store"


@pytest.mark.slow
def test_no_inline_script_or_style_and_a_strict_policy(server, session):
    answer = server.call("GET", "/page", headers={"Cookie": session[0]})
    policy = answer.headers["content-security-policy"]
    assert {"default-src 'none'", "frame-ancestors 'none'", "form-action 'self'", "base-uri 'none'"} <= set(
        policy.split("; ")
    )
    assert "unsafe" not in policy
    assert answer.headers["cache-control"] == "no-store"
    assert not re.search(r"<style|style=|<script(?! src=\"/page/files/page.js\")|\son\w+=", answer.text)
    status, _, text = post(server, "/page/logout", {"csrf": session[1]}, Cookie=session[0])
    assert (status, text) == (303, "")
    assert server.call("GET", "/page", headers={"Cookie": session[0]}).status == 303
