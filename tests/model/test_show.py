"""What shows itself in a notebook is escaped, light and self-contained."""

from html.parser import HTMLParser

import pytest
from hypothesis import given, strategies as st

from leastnoise.accounting import Ledger, Pure, Request
from leastnoise.checker import audit, check, privacy_curve
from leastnoise.designer import design
from leastnoise.designer.comparison import compare
from leastnoise.mechanisms import plan_for
from leastnoise.mechanisms.numeric.problems import CountProblem
from leastnoise.model.channel import Channel
from leastnoise.model.graphs import from_edges
from leastnoise.model.privacy import Privacy
from leastnoise.model.show import Cell, html_table, printable

EVIL = '<script>alert("1")</script>\n'
ALLOWED = {"table", "caption", "tr", "th", "td", "span"}


class Reader(HTMLParser):
    """Collects tags, attributes and texts, and that every tag is closed in its turn."""

    def __init__(self):
        super().__init__()
        self.open, self.tags, self.attributes, self.texts = [], [], [], []

    def handle_starttag(self, tag, attributes):
        self.open.append(tag)
        self.tags.append(tag)
        self.attributes += attributes

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)


def read(html):
    reader = Reader()
    reader.feed(html)
    reader.close()
    assert not reader.open
    return reader


FLIP = Channel([["3/4", "1/4"], ["1/4", "3/4"]], inputs=[EVIL, "b"], outputs=[EVIL, "d"])
PAIR = from_edges([(EVIL, "b")])
BEST = design("path:4", "ln(2)")


@pytest.fixture
def ledger(tmp_path):
    with Ledger.create(tmp_path / "<b>.ledger") as made:
        made.grant(Privacy(1, "1e-6"), dataset=EVIL.strip(), refresh=60)
        made.grant(Privacy("1/2"), analyst="ada")
        made.debit(Request("q", Pure("1/4"), dataset=EVIL.strip(), analyst="ada"))
        yield made


SHOWN = {
    "verdict": check(FLIP, PAIR, "ln(3)"),
    "refusal": check(FLIP, PAIR, 1),
    "certificate": check(BEST.certificate),
    "audit": audit(lambda x: EVIL if x else "b", 0, 1, epsilon=1, samples=400),
    "curve": privacy_curve(FLIP, PAIR),
    "channel": FLIP,
    "large channel": Channel.uniform(300, 200),
    "design": BEST,
    "comparison": compare("cycle:5", 1),
    "plan": plan_for(CountProblem("ln(3)", sensitivity=4, bounds=(0, 100))),
}


@pytest.fixture(params=[*SHOWN, "ledger"])
def page(request):
    return (SHOWN.get(request.param) or request.getfixturevalue("ledger"))._repr_html_()


def test_a_page_is_a_table_of_texts_and_loads_nothing(page):
    found = read(page)
    assert set(found.tags) <= ALLOWED
    assert {name for name, _ in found.attributes} <= {"style", "cellpadding"}
    assert not any("url" in value or "http" in value or "expression" in value for _, value in found.attributes)
    assert found.tags[0] == "table"
    assert len(page) < 20_000


def test_text_keeps_the_colour_of_the_page(page):
    styles = [value for name, value in read(page).attributes if name == "style"]
    fixed = [style for style in styles if "color: rgb(" in style]
    assert len(fixed) <= page.count("<caption"), "only the mark of a caption has a colour of its own"
    assert not any("background" in style and "rgba" not in style for style in styles), "fills are translucent"


def test_what_holds_is_marked():
    assert "✓" in SHOWN["verdict"]._repr_html_()
    assert "✗" in SHOWN["refusal"]._repr_html_()
    assert "optimal, proven" in BEST._repr_html_()


def test_labels_are_shown_as_they_are():
    for name in ("verdict", "channel"):
        assert any("<script>" in text for text in read(SHOWN[name]._repr_html_()).texts)


def test_a_small_channel_shows_all_and_a_large_one_says_how_much_is_missing():
    small = read(FLIP._repr_html_())
    assert small.texts.count("3/4") == 2
    large = read(SHOWN["large channel"]._repr_html_())
    assert "… 285 more" in large.texts
    assert "… 191 more" in large.texts
    assert large.tags.count("tr") == 17
    assert {"0", "299", "199"} <= set(large.texts)


def test_a_likelier_output_is_bluer():
    heats = [
        value.split("background: rgba(47, 129, 199, ")[1].split(")")[0]
        for _, value in read(Channel([["1/4", "3/4"]])._repr_html_()).attributes
        if "background" in value
    ]
    assert len(heats) == 2
    assert float(heats[0]) < float(heats[1])


def test_a_ledger_shows_its_balances_and_why_it_can_not_be_read(ledger, tmp_path):
    found = read(ledger._repr_html_())
    assert {"50.0%", "ε = 0.25 of 0.5", "never"} <= set(found.texts)
    assert any("linear-gradient(to right, rgba(214, 140, 30, 0.45) 50.0%" in value for _, value in found.attributes)
    ledger.close()
    (tmp_path / "<b>.ledger").unlink()
    assert "unreadable" in read(ledger._repr_html_()).texts
    with Ledger.create(tmp_path / "new.ledger") as empty:
        assert "no budget yet" in read(empty._repr_html_()).texts


@given(st.text(), st.text(), st.floats(), st.floats())
def test_any_text_and_any_share_make_a_table(caption, text, heat, bar):
    found = read(html_table(caption, [[text, Cell(text, heat=heat), Cell(text, bar=bar)]], ["", text, text], True))
    assert set(found.tags) == ALLOWED
    assert "".join(found.texts).count(printable(text)) >= 5 or not text
