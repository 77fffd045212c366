"""The page under attack in a real browser: by other sites, by those who ask, by whoever sits down after the logout."""

import csv
import html
import http.server
import json
import re
import shutil
import threading
from contextlib import contextmanager, suppress
from types import SimpleNamespace

import pytest

from leastnoise.apps.service.drawings import draw_answer
from leastnoise.apps.service.pages import _expected, _moment, _seen_as_it_is, _written
from leastnoise.apps.service.store import ServiceStore
from support.serving import Server, log_in, post

pytestmark = pytest.mark.slow

Error = pytest.importorskip("playwright.sync_api", reason="the package playwright is not installed").Error

CONFIGURED = 'approve_above = ["2", "1e-6"]\n[datasets.people.keys]\ncity = ["Lyon", "Metz", "Nice"]'


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    running = Server(tmp_path_factory.mktemp("attacked"), dataset=CONFIGURED).start()
    yield running
    running.stop()


# ---------------------------------------------------------------------- other sites

EVIL = """<!doctype html><title>evil</title>
<form id="spend" method="post" action="{page}/release" target="shown"><input name="dataset" value="people">
<input name="question" value='{{"question": "count"}}'><input name="price" value='{{"epsilon": "1/10"}}'>
<input name="request_id" value="evil"><input name="csrf" value="{secret}"></form>
<form id="enter" method="post" action="{page}/login" target="shown"><input name="token" value="{token}"></form>
<iframe name="shown"></iframe><iframe name="framed" src="{page}"></iframe>
<script>
window.read = [];
const keep = (what) => (found) => window.read.push([what, String(found)]);
const wrong = (what) => () => window.read.push([what, "refused"]);
window.attack = async () => {{
  const mine = {{ credentials: "include" }};
  await fetch("{page}", mine).then((answer) => answer.text()).then(keep("fetch")).catch(wrong("fetch"));
  const body = new URLSearchParams(new FormData(document.getElementById("spend")));
  await fetch("{page}/release", {{ ...mine, method: "POST", mode: "no-cors", body }})
    .then(keep("blind")).catch(wrong("blind"));
  const parts = [["script", "releases/{release}/download?what=csv"], ["script", "files/page.js"], ["img", ""]];
  for (const [kind, place] of parts) {{
    const part = document.createElement(kind);
    await new Promise((done) => {{
      part.onload = () => done(keep(kind)("loaded"));
      part.onerror = () => done(wrong(kind)());
      part.src = `{page}/${{place}}`;
      document.body.append(part);
    }});
  }}
  const other = window.open("{page}");
  await new Promise((done) => setTimeout(done, 1500));
  try {{ keep("window")(other.document.body.textContent); }} catch {{ wrong("window")(); }}
  document.getElementById("spend").submit();
  await new Promise((done) => setTimeout(done, 1000));
  document.getElementById("enter").submit();
  await new Promise((done) => setTimeout(done, 1000));
}};
</script>"""


@contextmanager
def evil_site(text):
    """A site of somebody else on this machine."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.end_headers()
            self.wfile.write(text.encode())

        def log_message(self, *_):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as serving:
        thread = threading.Thread(target=serving.serve_forever, daemon=True)
        thread.start()
        yield serving.server_address[1]
        serving.shutdown()


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_another_site_neither_reads_nor_spends_nor_logs_in(server, visit, host):
    """On this host, where the cookie is sent along, and on another one; even if it knew the secret of the session."""
    ada = server.token("ada")
    page = visit(ada)
    release = server.ask(ada, f"seen by {host}", "1/100").json["id"]
    page.goto(f"{server.url}/page/ask?dataset=people")
    secret = page.get_attribute("input[name=csrf] >> nth=0", "value")
    spent, session = server.spent(), page.context.cookies()
    text = EVIL.format(page=f"{server.url}/page", secret=secret, token=server.token("mallory"), release=release)
    with evil_site(text) as port:
        other = page.context.new_page()
        answers = []
        other.on("response", lambda each: answers.append((each.request.method, each.url, each.status)))
        other.goto(f"http://{host}:{port}/")
        other.evaluate("attack()")
        read = other.evaluate("read")
        framed = [each for each in other.frames if each.name == "framed"]
        assert [each.url for each in framed] == ["chrome-error://chromewebdata/"]
    assert {what for what, _ in read} == {"fetch", "blind", "script", "img", "window"}
    assert [found for _, found in read] == ["refused"] * len(read)
    sent = {(url.rpartition("/page")[2], status) for method, url, status in answers if method == "POST"}
    assert sent == {("/release", 403 if host == "127.0.0.1" else 303), ("/login", 403)}  # elsewhere there is no cookie
    assert server.spent() == spent
    assert page.context.cookies() == session
    page.reload()
    assert "ada" in page.inner_text("header span")


@pytest.mark.parametrize(
    "origin",
    [
        "http://[::1",
        "null",
        "",
        "file://{own}",
        "ftp://{own}",
        "http://x@{own}",
        "http://{own}/",
        "{own}",
        "http://{own}0",
    ],
)
def test_only_this_servers_own_address_is_an_origin(server, origin):
    flags, secret = log_in(server, server.token("ori"))
    sent = {"Cookie": flags.partition(";")[0], "Origin": origin.format(own=f"127.0.0.1:{server.port}")}
    fields = {"dataset": "people", "kind": "count", "csrf": secret}
    assert post(server, "/page/ask", fields, **sent)[0] == 403
    assert post(server, "/page/login", {"token": server.token("ori")}, Origin=sent["Origin"])[0] == 403


def test_behind_a_proxy_a_page_without_tls_is_another_site(server):
    token, host = server.token("tess"), "statistics.example.org"
    for scheme, status in (("http", 403), ("https", 303)):
        assert post(server, "/page/login", {"token": token}, Host=host, Origin=f"{scheme}://{host}")[0] == status


# ---------------------------------------------------------------------- whoever sits down next


@pytest.mark.parametrize(("ended", "scripts"), [("by logout", True), ("by logout", False), ("by its token", True)])
def test_after_a_session_no_page_comes_back(server, browser, ended, scripts):
    """Also where the browser keeps pages as they were, to go back to them."""
    usual = browser.browser_type.launch(
        executable_path=shutil.which("chromium"),
        args=["--no-sandbox"],
        ignore_default_args=["--disable-back-forward-cache"],
    )
    try:
        page = usual.new_context(java_script_enabled=scripts).new_page()
        token = server.token("wanda")
        page.goto(f"{server.url}/page/login")
        page.fill("#token", token)
        page.click("main button")
        page.click("text=Ask people")
        page.goto(f"{server.url}/page")
        assert "wanda" in page.inner_text("header")
        if ended == "by logout":
            page.click("text=Log out")
        else:
            store = ServiceStore(server.store_place)
            store.revoke(token.split("_")[1], 1)
            store.close()
            page.goto(f"{server.url}/page")
        page.wait_for_selector("#token")
        for _ in range(3):
            with suppress(Error):  # it waits for an event that does not come where a page was kept
                page.go_back(wait_until="commit", timeout=2000)
            page.wait_for_timeout(1000)
            assert page.url.endswith(("/page/login", "about:blank"))
            assert "wanda" not in page.content()
    finally:
        usual.close()


def test_many_tokens_of_one_person_have_ten_sessions_together(server):
    """Else whoever gets a new token from an issuer with every login could end the sessions of all others."""
    tokens = [server.token("many") for _ in range(3)]
    cookies = [log_in(server, tokens[number % 3])[0].partition(";")[0] for number in range(12)]
    alive = [server.call("GET", "/page", headers={"Cookie": each}).status == 200 for each in cookies]
    assert alive == [False] * 2 + [True] * 10


# ---------------------------------------------------------------------- those who ask

TURNED = "Lyon\u202e\u200b\u2066"
LINES = "SELECT COUNT(*) AS n FROM people -- of adults only\nWHERE city = 'Lyon'"


def test_whoever_approves_sees_what_will_be_asked(server, visit):
    """No sign that is not seen, or that turns others round; and a comment ends where its line does."""
    ada = server.token("ada")
    question = {"question": "count", "where": f"city = '{TURNED}'"}
    assert server.ask(ada, "turned", "9/4", question).status == 409
    assert server.ask(ada, "in lines", "9/4", {"sql": LINES}).status == 409
    keeper = visit(server.token("cleo", "curator"))
    waiting = server.call("GET", "/v1/approvals", token=ada).json["waiting"]
    for name, shown in (("turned", "Lyon\\u202e\\u200b\\u2066"), ("in lines", LINES)):
        (found,) = [each["id"] for each in waiting if each["request_id"] == name]
        keeper.goto(f"{server.url}/page/releases/{found}")
        text = keeper.inner_text("main")
        assert shown in text
        assert not re.search("[\u200b-\u200f\u202a-\u202e\u2060-\u2069]", text)
        server.call("DELETE", f"/v1/releases/{found}", token=ada)


def test_what_is_shown_otherwise_is_sent_as_it_was(server, visit):
    """The question that is released is the one that was typed, sign by sign."""
    page = visit(server.token("uma"))
    page.goto(f"{server.url}/page/ask?dataset=people&kind=json")
    question = {"question": "count", "by": "city", "keys": [TURNED, "\nMetz", "N\u00a0ice"]}
    typed = json.dumps(question, ensure_ascii=False)
    page.fill("#f-json", typed)
    with page.expect_navigation(wait_until="load"):
        page.click("text=Plan (free)")
    assert page.input_value("#f-json") == typed
    page.wait_for_selector("#slider")
    assert "\\u202e" in page.inner_text("table.expected")
    page.click("text=Release: spend this price")
    page.wait_for_selector("#state:has-text('done')")
    found = server.call("GET", f"/v1/releases/{page.url.rpartition('/')[2]}", token=server.token("uma")).json
    assert found["question"] == question
    assert not re.search("[\u200b-\u200f\u202a-\u202e\u2060-\u2069]", page.inner_text("main"))
    assert page.noticed == []


def test_nothing_is_released_but_the_plan_that_is_shown(server, visit):
    """From the first key on until there is a plan of what was typed, and where none can be had."""
    page = visit(server.token("sue"))
    page.goto(f"{server.url}/page/ask?dataset=people&kind=sql")
    page.fill("#f-sql", "SELECT COUNT(*) AS n FROM people WHERE city = 'Lyon'")
    page.wait_for_selector("#release button:enabled")
    page.fill("#f-sql", "SELECT COUNT(*) AS n FROM people WHERE city = 'Metz'")
    assert page.locator("#release button").is_disabled()
    page.wait_for_selector("#release button:enabled")
    assert "Metz" in page.input_value("#release input[name=question]")
    page.route("**/page/ask", lambda route: route.abort())
    page.fill("#f-sql", "SELECT COUNT(*) AS n FROM people WHERE city = 'Nice'")
    page.wait_for_selector("#plan:has-text('no plan now')")
    assert page.locator("#release").count() == 0


def test_no_file_of_a_release_is_run_or_reckoned_with(server):
    """By a browser, or by a spreadsheet, whichever sign parts its cells."""
    ada = server.token("ada")
    keys = ["=1+1", "x;=1+1", "x\t=1+1", 'x"', "\n=1", "＝1", "Lyon"]
    done = server.ask(ada, "formulas", "1/100", {"question": "count", "by": "city", "keys": keys}).json["id"]
    text = server.call("GET", f"/v1/releases/{done}/table", token=ada).text
    read = list(csv.reader(text.splitlines(keepends=True)))
    assert [row[0] for row in read[1:]] == ["'=1+1", *keys[1:4], "'\n=1", "'＝1", "Lyon"]
    for parts in ";\t":  # a spreadsheet that takes another sign between cells takes the quotes as they are
        for row in csv.reader(text.splitlines(keepends=True), delimiter=parts):
            assert not [cell for cell in row[:1] if cell.startswith("=")]
            assert all(not cell.startswith("=") for cell in row)
    flags, _ = log_in(server, ada)
    for what in ("csv", "json", "certificate"):
        got = server.call(
            "GET", f"/page/releases/{done}/download?what={what}", headers={"Cookie": flags.partition(";")[0]}
        )
        assert got.headers["content-disposition"].startswith("attachment;")
        assert got.headers["x-content-type-options"] == "nosniff"
        assert got.headers["content-security-policy"].startswith("default-src 'none'")


# ---------------------------------------------------------------------- what would break a page for all


@pytest.mark.parametrize("lasts", ["999999999w", "36501d", "0x1d", "1e9d"])
def test_no_token_ends_beyond_all_dates(server, lasts):
    """A date that can't be shown would take the list of tokens, with what revokes them, from every curator."""
    keeper = server.token("kit", "curator", datasets=None)
    refused = server.call("POST", "/v1/tokens", {"name": "far", "role": "reader", "lasts": lasts}, keeper)
    assert (refused.status, refused.json["type"]) == (422, "urn:leastnoise:BadConfiguration")
    server.token("kept from before", lasts=10**15)
    flags, _ = log_in(server, keeper)
    shown = server.call("GET", "/page/tokens", headers={"Cookie": flags.partition(";")[0]})
    assert shown.status == 200
    assert "9999-12-31" in shown.text


def test_dates_and_texts_are_shown_whatever_they_are():
    assert _moment(10**18) == "9999-12-31 23:59 UTC"
    assert _seen_as_it_is("a\u202eb\x00\n") == "a\\u202eb\\x00\\n"
    assert _seen_as_it_is(3) == 3
    assert _written("<a>\r\nb\rc") == "&lt;a&gt;\nb\\rc"
    ((_, picture),) = draw_answer(["city", "value", "low", "high"], [["<\u202e", 1, 0, 2]])
    assert "&lt;\\u202e" in picture
    assert html.unescape(picture).isprintable()


def test_a_price_at_which_no_error_is_known_leaves_the_others():
    known = {"expected": 1.0, "within": 2.0}
    choices = [{"errors": [None], "here": False}, {"errors": [known], "here": True}]
    ((shown),) = _expected({"rows": [{"columns": ["city"], "rows": [["Lyon"]]}], "choices": choices})
    assert (shown["within"], shown["widest"]) == (2.0, 2.0)
    assert isinstance(SimpleNamespace(**shown).bar, str)
