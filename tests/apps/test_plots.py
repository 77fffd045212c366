"""Pictures: real files of a plausible size, in which what they are about can be read."""

import struct
import sys
from itertools import count
from types import SimpleNamespace
from xml.etree import ElementTree

import pytest
from typer.testing import CliRunner

from leastnoise.accounting import Ledger, Pure, Request
from leastnoise.apps.cli import app
from leastnoise.apps.design_plots import plot_design, plot_frontier
from leastnoise.apps.plots import plot_burn_down, plot_channel, plot_privacy_curve, plot_simplex
from leastnoise.apps.strategy_plots import plot_strategy, plot_table_errors
from leastnoise.checker import privacy_curve
from leastnoise.designer import design
from leastnoise.designer.comparison import compare
from leastnoise.errors import BadParameter, MissingPackage, TooLarge
from leastnoise.mechanisms.strategy import MarginalsMechanism, PrefixSums, plan_marginals, plan_strategy
from leastnoise.model.certificate import RefinementCertificate
from leastnoise.model.channel import Channel
from leastnoise.model.graphs import path
from leastnoise.model.priors import uniform
from leastnoise.model.privacy import Privacy
from papers.laplace import draw_figures
from support.certificates import average
from support.channels import geometric

pytest.importorskip("matplotlib")

EVIL = "<b>$x$ & y"


def test_strategies_and_table_errors_are_drawn(tmp_path):
    plot_strategy(plan_strategy(PrefixSums(8)), tmp_path / "strategy.svg")
    assert "prefix sums of 8 cells" in (tmp_path / "strategy.svg").read_text()
    tables = plan_marginals((3, 2), [(0,), (0, 1)])
    plan = SimpleNamespace(mechanism=MarginalsMechanism(tables, 1), question="two tables")
    plot_table_errors(plan, tmp_path / "errors.svg", ["city", EVIL])
    text = (tmp_path / "errors.svg").read_text()
    assert "planned together" in text
    assert "city × &lt;b&gt;$x$ &amp; y" in text
    for wrong in ({"columns": ["one"]}, {"plan": SimpleNamespace(mechanism=None, question="q")}):
        with pytest.raises(BadParameter):
            plot_table_errors(**{"plan": plan} | wrong)
    with pytest.raises(BadParameter):
        plot_strategy(plan_strategy(PrefixSums(2), PrefixSums(2)))


FLIP = Channel([["3/4", "1/4"], ["1/4", "3/4"]], inputs=[EVIL, "no"], outputs=[EVIL, "other"])


def three_beliefs():
    return {EVIL: geometric(2, "1/4").hyper(uniform(3)), "nothing": Channel.uniform(3, 2).hyper(uniform(3))}


@pytest.fixture
def ledger(tmp_path):
    days = count(1_700_000_000, 86400)
    with Ledger.create(tmp_path / "a.ledger", clock=lambda: next(days)) as made:
        made.grant(Privacy(1), dataset="census")
        made.grant(Privacy(1), dataset=EVIL)
        made.debit(Request("q", Pure("1/4"), dataset="census", analyst="ada"))
        yield made


@pytest.fixture(
    params=[
        (
            lambda file, _: plot_privacy_curve(privacy_curve(geometric(2, "1/4"), path(3)), file),
            ("privacy on path(3)",),
        ),
        (lambda file, _: plot_channel(FLIP, file), ("3/4", "1/4", "no", "other", EVIL, "input", "output")),
        (lambda file, _: plot_simplex(three_beliefs(), file, "beliefs"), ("beliefs", "surely 0", "nothing", EVIL)),
        (lambda file, ledger: plot_burn_down(ledger, file), ("dataset 'census'", f"dataset '{EVIL}'")),
        (lambda file, _: plot_frontier(compare("path:5", [1, 2]), file), ("path(5)", "ε", "geometric", "optimal")),
        (lambda file, _: plot_design(design("path:5", "ln(2)"), file), ("path(5), ε = ln(2)", "probability")),
    ],
    ids=["curve", "channel", "simplex", "burn-down", "frontier", "design"],
)
def drawing(request, ledger):
    """What draws into a file, and the words that it should show."""
    draw, words = request.param
    return (lambda file: draw(file, ledger)), words


def texts(file):
    return [element.text for element in ElementTree.parse(file).iter("{http://www.w3.org/2000/svg}text")]  # noqa: S314


@pytest.mark.slow
def test_an_svg_shows_its_words_and_runs_nothing(drawing, tmp_path):
    draw, words = drawing
    draw(tmp_path / "a.svg")
    draw(tmp_path / "b.svg")
    assert set(words) <= set(texts(tmp_path / "a.svg"))
    content = (tmp_path / "a.svg").read_bytes()
    assert content == (tmp_path / "b.svg").read_bytes(), "the same file each time"
    assert len(content) < 200_000
    assert b"<script" not in content


@pytest.mark.slow
def test_a_png_is_a_png_on_a_transparent_page(drawing, tmp_path):
    draw, _ = drawing
    draw(tmp_path / "a.PNG")
    content = (tmp_path / "a.PNG").read_bytes()
    assert content.startswith(b"\x89PNG\r\n\x1a\n")
    width, height, _, kind = struct.unpack(">IIBB", content[16:26])
    assert 500 < width < 2000
    assert 400 < height < 2000
    assert kind == 6, "with an alpha channel"
    assert 5_000 < len(content) < 200_000


@pytest.mark.parametrize(("name", "words"), [("a.gif", "svg"), ("a", "svg"), ("none/a.svg", "no such folder")])
def test_a_file_that_can_not_be_drawn_into_is_refused(drawing, tmp_path, name, words):
    with pytest.raises(BadParameter, match=words):
        drawing[0](tmp_path / name)


def test_a_file_that_can_not_be_written_is_refused(tmp_path):
    (tmp_path / "folder.svg").mkdir()
    with pytest.raises(BadParameter, match="can't be written"):
        plot_channel(FLIP, tmp_path / "folder.svg")


def test_without_matplotlib_the_error_says_what_to_install(drawing, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(MissingPackage, match="leastnoise\\[plots\\]"):
        drawing[0](tmp_path / "a.svg")


def test_what_does_not_fit_into_a_picture_is_refused(tmp_path):
    with pytest.raises(TooLarge, match="400"):
        plot_channel(Channel.uniform(2, 401), tmp_path / "a.svg")
    two = FLIP.hyper(uniform(FLIP.inputs))
    for beliefs in ({}, {"two": two}, {**three_beliefs(), "two": two}):
        with pytest.raises(BadParameter, match="three inputs"):
            plot_simplex(beliefs, tmp_path / "a.svg")
    with Ledger.create(tmp_path / "empty.ledger") as empty, pytest.raises(BadParameter, match="no budget to draw"):
        plot_burn_down(empty, tmp_path / "a.svg")


def test_of_many_budgets_those_with_the_least_left_are_drawn(tmp_path):
    with Ledger.create(tmp_path / "many.ledger") as many:
        for place in range(10):
            many.grant(Privacy(1), dataset=f"d{place}")
        many.debit(Request("q", Pure("1/2"), dataset="d9", analyst="ada"))
        plot_burn_down(many, tmp_path / "a.svg")
    shown = texts(tmp_path / "a.svg")
    assert "dataset 'd9'" in shown
    assert sum(text.startswith("dataset") for text in shown) == 8
    assert "what is left of each budget, 2 more not shown" in shown


@pytest.mark.slow
def test_the_figure_of_the_laplace_paper(tmp_path):
    drawn = draw_figures(tmp_path / "new")
    assert {"geometric", "surely 0", "surely 1/2", "surely 1"} <= set(texts(drawn))


def run(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def test_the_budget_command_draws_what_was_left(ledger, tmp_path):
    done = run("budget", "--ledger", tmp_path / "a.ledger", "--plot", tmp_path / "left.svg")
    assert done.exit_code == 0, done.output
    assert "dataset 'census'" in texts(tmp_path / "left.svg")
    assert len(list(ledger.entries())) == 4, "drawing writes nothing"
    refused = run("budget", "--ledger", tmp_path / "a.ledger", "--plot", tmp_path / "left.exe")
    assert isinstance(refused.exception, BadParameter)


def test_the_check_command_draws_the_channel_of_a_certificate(tmp_path):
    (tmp_path / "good.json").write_text(average(path(3), 2).to_json())
    done = run("check", tmp_path / "good.json", "--plot", tmp_path / "law.svg")
    assert done.exit_code == 0, done.output
    assert "the channel of the optimality certificate" in texts(tmp_path / "law.svg")
    (tmp_path / "bare.json").write_text(RefinementCertificate(FLIP, FLIP, Channel.identity(FLIP.outputs)).to_json())
    refused = run("check", tmp_path / "bare.json", "--plot", tmp_path / "law.svg")
    assert refused.exit_code == 2
    assert "no channel to draw" in refused.output
