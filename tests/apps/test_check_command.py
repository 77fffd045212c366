import json

import numpy as np
import pytest
import typer
from typer.testing import CliRunner

from leastnoise.apps.check import check as command
from leastnoise.apps.plots import plot_privacy_curve
from leastnoise.checker import privacy_curve
from leastnoise.errors import BadParameter, MissingPackage
from leastnoise.model.graphs import from_edges, path
from support.certificates import average
from support.channels import geometric

app = typer.Typer()
app.command()(command)
CHANNEL = geometric(2, "1/4")


def run(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


@pytest.fixture
def files(tmp_path):
    """The 3-point geometric channel in every format, and a certificate."""
    rows = [[str(p) for p in CHANNEL.row(x)] for x in CHANNEL.inputs]
    (tmp_path / "channel.csv").write_text("\n".join(",".join(row) for row in rows))
    (tmp_path / "channel.json").write_text(CHANNEL.to_json())
    np.save(tmp_path / "channel.npy", CHANNEL.floats())
    (tmp_path / "certificate.json").write_text(average(path(3), 2).to_json())
    return tmp_path


@pytest.mark.parametrize("name", ["channel.csv", "channel.json", "channel.npy"])
def test_status_0_if_it_holds_and_1_if_not(files, name):
    good = run(files / name, "--graph", "path:3", "--epsilon", "1.4")
    bad = run(files / name, "--graph", "path:3", "--epsilon", "1.3")
    assert (good.exit_code, bad.exit_code) == (0, 1)
    assert "holds on path(3)" in good.output
    assert "does not hold" in bad.output
    assert "too large by" in bad.output


def test_the_tight_epsilon_is_exact(files):
    good = run(files / "channel.csv", "--graph", "path:3", "--epsilon", "ln(4)")
    assert good.exit_code == 0
    assert "ln(4) ≈ 1.386294361" in good.output
    assert run(files / "channel.csv", "--graph", "path:3", "--epsilon", "ln(3.999)").exit_code == 1


def test_without_a_promise_it_measures(files):
    result = run(files / "channel.csv", "--graph", "path:3")
    assert result.exit_code == 0
    assert "ε = ln(4) holds" in result.output


def test_without_a_graph_every_two_inputs_are_neighbours(files):
    result = run(files / "channel.csv")
    assert "ln(16)" in result.output
    assert "complete(3)" in result.output


def test_delta_and_groups(files):
    assert run(files / "channel.csv", "--graph", "path:3", "--epsilon", "1", "--delta", "0.26").exit_code == 0
    assert run(files / "channel.csv", "--graph", "path:3", "--epsilon", "1", "--delta", "0.25").exit_code == 1
    assert run(files / "channel.csv", "--graph", "path:3", "--epsilon", "ln(4)", "--group", "2").exit_code == 1


def test_json_has_every_number_exact(files):
    result = run(files / "channel.csv", "--graph", "path:3", "--epsilon", "1", "--delta", "1/10", "--json")
    data = json.loads(result.stdout)
    assert result.exit_code == 1
    assert data["holds"] is False
    assert data["tight_epsilon"] == "ln(7/2)"
    assert data["worst"]["probability"] == "4/5"
    low, high = data["tight_delta"]
    assert "/" in low
    assert low != high


def test_a_certificate_is_recognised(files):
    good = run(files / "certificate.json")
    assert good.exit_code == 0
    assert "optimality certificate holds" in good.output
    text = (files / "certificate.json").read_text()
    (files / "certificate.json").write_text(text.replace('"gap": "0"', '"gap": "1"'))
    bad = run(files / "certificate.json", "--json")
    assert bad.exit_code == 1
    assert "gap" in json.loads(bad.stdout)["reason"]
    (files / "certificate.json").write_text(text.replace('"version": 1', '"version": 9', 1))
    assert run(files / "certificate.json").exit_code == 2


def test_a_graph_from_a_file(files):
    (files / "graph.json").write_text(json.dumps(from_edges([(0, 2), (2, 1)]).to_dict()))
    result = run(files / "channel.csv", "--graph", files / "graph.json", "--json")
    assert json.loads(result.stdout)["tight_epsilon"] == "ln(16)"


@pytest.mark.parametrize(
    "arguments",
    [
        ("missing.csv",),
        ("missing.json",),
        ("channel.csv", "--graph", "path:4"),
        ("channel.csv", "--graph", "pth:3"),
        ("channel.csv", "--graph", "naturals"),
        ("channel.csv", "--graph", "missing.json"),
        ("channel.csv", "--epsilon", "-1"),
        ("channel.csv", "--epsilon", "one"),
        ("channel.csv", "--delta", "2"),
        ("channel.csv", "--group", "0"),
        ("channel.csv", "--group", "x"),
        ("channel.csv", "--plot", "curve.exe"),
        ("rows.csv",),
        ("long.csv",),
        ("text.json",),
        ("deep.json",),
        (),
    ],
)
def test_bad_input_is_status_2_with_one_line(files, monkeypatch, arguments):
    monkeypatch.chdir(files)
    (files / "rows.csv").write_text("1/2,1/3\n1/2,1/2\n")
    (files / "long.csv").write_text("1,0\n" + "1" * 200_000 + ",0\n")
    (files / "text.json").write_text("{")
    (files / "deep.json").write_text("[" * 100_000)
    result = run(*arguments)
    assert result.exit_code == 2
    assert "Traceback" not in result.output


def test_names_cannot_dress_the_output(tmp_path):
    (tmp_path / "channel.csv").write_text(",\x1b[31mred,[bold]b\n[red]x,1/2,1/2\ny,1/9,8/9\n")
    result = run(tmp_path / "channel.csv", "--epsilon", "1")
    assert "\x1b[31m" not in result.output
    assert "[red]x" in result.output or "[bold]b" in result.output


@pytest.mark.slow
@pytest.mark.parametrize("suffix", ["png", "svg", "pdf"])
def test_the_curve_is_drawn(files, suffix):
    pytest.importorskip("matplotlib")
    picture = files / f"curve.{suffix}"
    assert run(files / "channel.csv", "--graph", "path:3", "--plot", picture).exit_code == 0
    assert picture.stat().st_size > 1000


def test_drawing_without_matplotlib_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "matplotlib.figure", None)
    with pytest.raises(MissingPackage, match="plots"):
        plot_privacy_curve(privacy_curve(CHANNEL, path(3)), tmp_path / "curve.png")


def test_a_place_that_cannot_be_written_is_named(tmp_path):
    pytest.importorskip("matplotlib")
    with pytest.raises(BadParameter, match="nowhere"):
        plot_privacy_curve(privacy_curve(CHANNEL, path(3)), tmp_path / "nowhere" / "curve.png")
