"""Two names need not be two persons: whoever makes tokens could make a second name for themselves."""

from itertools import count

import pytest

pytestmark = pytest.mark.slow

RELEASES = "/v1/datasets/people/releases"
_NUMBERS = count()


@pytest.fixture
def waiting(server):
    """Ask a question that waits, and give its id and the decision that approves it; afterwards it is cancelled."""
    asked = []

    def ask(token):
        name = f"waits {next(_NUMBERS)}"
        assert server.ask(token, name, "9/4").status == 409
        found = server.call("GET", "/v1/approvals", token=token).json["waiting"]
        (one,) = [each for each in found if each["request_id"] == name]
        shown = server.call("GET", f"/v1/releases/{one['id']}", token=token).json
        asked.append((one["id"], token))
        return one["id"], {"approve": True, "fingerprint": shown["fingerprint"]}

    yield ask
    for asked_id, token in asked:
        server.call("DELETE", f"/v1/releases/{asked_id}", token=token)


def make(server, maker, name, role="analyst", **more):
    body = {"name": name, "role": role, "datasets": ["people"], **more}
    return server.call("POST", "/v1/tokens", body, maker)


def approve(server, asked, token):
    asked_id, decision = asked
    return server.call("POST", f"/v1/approvals/{asked_id}", decision, token).status


def test_a_second_name_of_the_asker_approves_nothing(server, tokens, waiting):
    cleo, dan = tokens["cleo"], tokens["dan"]
    puppet = make(server, cleo, "puppet", "curator").json["token"]
    puppets = make(server, puppet, "puppet of the puppet", "curator").json["token"]
    mine = waiting(cleo)
    assert [approve(server, mine, each) for each in (cleo, puppet, puppets)] == [403] * 3
    theirs = waiting(puppets)
    assert [approve(server, theirs, each) for each in (cleo, puppet, puppets)] == [403] * 3
    assert [approve(server, each, dan) for each in (mine, theirs)] == [200] * 2


def test_whoever_makes_a_token_approves_nothing_that_is_asked_with_it(server, tokens, waiting):
    made = make(server, tokens["cleo"], "ada of cleo").json["token"]
    asked = waiting(made)
    assert approve(server, asked, tokens["cleo"]) == 403
    assert approve(server, asked, tokens["dan"]) == 200


def test_it_counts_who_asks_now_and_not_who_asked_before(server, tokens, waiting):
    """A question that was cancelled is asked again by the same name, under a token of another origin."""
    cleo = tokens["cleo"]
    lent, own = make(server, cleo, "lent").json["token"], server.token("lent")  # whoever keeps the service may
    asked, decision = waiting(own)
    server.call("DELETE", f"/v1/releases/{asked}", token=own)
    name = server.call("GET", f"/v1/releases/{asked}", token=own).json["request_id"]
    assert server.ask(lent, name, "9/4").status == 409
    assert server.call("GET", f"/v1/releases/{asked}", token=cleo).json["fingerprint"] == decision["fingerprint"]
    assert approve(server, (asked, decision), cleo) == 403
    assert approve(server, (asked, decision), tokens["dan"]) == 200


def test_nobody_takes_the_name_of_another(server, tokens):
    """Not of a curator, whose decisions it would sign, nor of an analyst, whose budget it would spend."""
    for name in ("dan", "ada", "eve"):
        told = make(server, tokens["cleo"], name, "reader")
        assert (told.status, "token" in told.json) == (403, False), name
    mine = make(server, tokens["cleo"], "mina")
    assert mine.json["made_by"] == "cleo"
    assert make(server, tokens["cleo"], "mina").status == 200  # a new one for the same person
    assert make(server, tokens["dan"], "mina").status == 403


def test_nobody_clears_failures_of_a_second_name(server, tokens):
    cleo = tokens["cleo"]
    puppet = make(server, cleo, "second keeper", "curator").json["token"]
    make(server, cleo, "second analyst")
    for analyst, token in (("second analyst", cleo), ("second analyst", puppet), ("cleo", puppet)):
        body = {"dataset": "people", "analyst": analyst}
        assert server.call("POST", "/v1/suspensions/clear", body, token).status == 403, analyst
    body = {"dataset": "people", "analyst": "second analyst"}
    assert server.call("POST", "/v1/suspensions/clear", body, tokens["dan"]).status == 200


def test_a_token_has_no_more_purposes_than_its_makers(server):
    bound = server.token("pat", "curator", purposes=("census", "report"))
    for purposes in (None, ["any"], ["census", "any"]):
        more = {} if purposes is None else {"purposes": purposes}
        assert make(server, bound, "wide", **more).status == 403
    narrow = make(server, bound, "narrow", purposes=["census"])
    assert narrow.json["purposes"] == ["census"]
    assert server.ask(narrow.json["token"], "for any purpose").status == 403


def test_whoever_has_the_name_of_the_asker_approves_nothing(server, tokens, waiting):
    """Whoever keeps the service may give a name to two; it stays one name."""
    made = make(server, tokens["cleo"], "both", "curator").json["token"]
    asked = waiting(server.token("both"))
    assert approve(server, asked, made) == 403
    assert approve(server, asked, tokens["dan"]) == 200
