"""`leastnoise design`: the answer, the reason, the proof, the pictures; and graphs from files."""

import json
import sys
from fractions import Fraction

import networkx as nx
import pytest
import typer
from typer.testing import CliRunner

from leastnoise.apps.design import design as command
from leastnoise.apps.design_plots import heat_map_text, plot_design, plot_frontier, plot_places
from leastnoise.checker import check
from leastnoise.designer.comparison import compare
from leastnoise.designer.designer import design
from leastnoise.errors import BadGraph, BadParameter, MissingPackage, TooLarge
from leastnoise.model.certificate import Certificate, OptimalityCertificate
from leastnoise.model.graphs import from_networkx, path, read_graph

app = typer.Typer()
app.command()(command)


def run(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments], env={"COLUMNS": "100"})


def test_answer_reason_gap_and_heat_map():
    found = run("path:20", "--epsilon", "1", "--loss", "absolute", "--prior", "uniform")
    assert found.exit_code == 0
    assert "path(20), ε = 1: expected absolute loss ≈ 0.783611495462, optimal, proven" in found.output
    assert "Ghosh" in found.output
    shaded = [line for line in found.output.splitlines() if "▓▓" in line or "██" in line]
    assert len(shaded) == 20


def test_the_proof_is_written_and_holds(tmp_path):
    file = tmp_path / "mechanism.json"
    assert run("path:4", "--epsilon", "ln(2)", "--prior", "1/2,1/4,1/8,1/8", "--out", file).exit_code == 0
    certificate = Certificate.from_json(file.read_text())
    assert isinstance(certificate, OptimalityCertificate)
    assert certificate.prior[0] == Fraction(1, 2)
    assert check(certificate)


def test_numbers_as_json():
    data = json.loads(run("cycle:6", "--epsilon", "ln(2)", "--json").output)
    assert (data["loss"], data["gap"], data["route"]) == ("19/21", "0", "theorem")
    ends = json.loads(run("cycle:6", "--epsilon", "1", "--json").output)["loss"]
    assert Fraction(ends[0]) < Fraction(ends[1])


def test_a_linear_program_says_how_far_from_the_optimum_it_may_be():
    found = run("histograms:2,3", "--epsilon", "1", "--objective", "worst")
    assert "worst expected distance loss" in found.output
    assert "a linear program" in found.output


def test_losses_and_priors_from_files(tmp_path):
    (tmp_path / "loss.csv").write_text("0,1,4\n1,0,1\n4,1,0\n")
    (tmp_path / "prior.json").write_text('{"0": 0}')
    (tmp_path / "list.json").write_text("[0.5, 0.25, 0.25]")
    plain = json.loads(
        run("path:3", "--epsilon", "ln(2)", "--loss", "squared", "--prior", "0.5,0.25,0.25", "--json").output
    )
    filed = json.loads(
        run(
            *("path:3", "--epsilon", "ln(2)", "--json"),
            *("--loss", tmp_path / "loss.csv", "--prior", tmp_path / "list.json"),
        ).output
    )
    assert filed["loss"] == plain["loss"]
    assert filed["loss_name"] == "loss"
    assert run("path:3", "--epsilon", "1", "--prior", tmp_path / "prior.json").exit_code == 2


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("path:3", "--epsilon", "0"), "epsilon"),
        (("path:3", "--epsilon", "one"), "epsilon"),
        (("path:3", "--epsilon", "1", "--loss", "cubic"), "absolute"),
        (("path:3", "--epsilon", "1", "--loss", "none.csv"), "none.csv"),
        (("path:3", "--epsilon", "1", "--prior", "0.5,0.5"), "3 inputs"),
        (("path:3", "--epsilon", "1", "--prior", "0.5,0.5,0.5"), "sum"),
        (("path:3", "--epsilon", "1", "--objective", "best"), "objective"),
        (("ring:3", "--epsilon", "1"), "did you mean"),
        (("none.graphml", "--epsilon", "1"), "none.graphml"),
        (("path:3", "--epsilon", "1", "--out", "proof.txt"), ".json"),
        (("path:3", "--epsilon", "1", "--out", "no/such/folder.json"), "No such file"),
        (("path:3", "--epsilon", "1", "--plot", "law.gif"), ".png"),
        (("path:1000000", "--epsilon", "1", "--plot", "law.svg"), "400 nodes"),
    ],
)
def test_bad_input_is_one_line_and_status_2(arguments, words):
    found = run(*arguments)
    assert found.exit_code == 2
    assert found.output.startswith("error: ")
    assert words in found.output


def test_a_large_graph_is_answered_without_a_picture():
    found = run("hypercube:20", "--epsilon", "1")
    assert found.exit_code == 0
    assert "5.3788284274" in found.output
    assert "░" not in found.output


@pytest.mark.slow
@pytest.mark.parametrize("ending", ["png", "svg", "pdf"])
def test_pictures(tmp_path, ending):
    heat, frontier = tmp_path / f"heat.{ending}", tmp_path / f"frontier.{ending}"
    assert run("path:5", "--epsilon", "1", "--plot", heat).exit_code == 0
    plot_frontier(compare("path:5", [0.5, 1, 2]), frontier)
    assert heat.stat().st_size > 2000
    assert frontier.stat().st_size > 2000


def test_a_picture_is_the_same_each_time(tmp_path):
    found = design("path:5", "ln(2)")
    for name in ("one.svg", "two.svg"):
        plot_design(found, tmp_path / name)
    assert (tmp_path / "one.svg").read_bytes() == (tmp_path / "two.svg").read_bytes()
    assert heat_map_text(design("path:60", 1)) is None
    with pytest.raises(TooLarge):
        plot_design(design("path:1000", 1), tmp_path / "large.svg")
    with pytest.raises(BadParameter, match="can't be written"):
        plot_design(found, tmp_path / "none" / "x.svg")


@pytest.mark.slow
def test_a_map_of_more_places_than_a_heat_map_has_rows(tmp_path):
    """Of a design by a theorem, for speed: what a map shows is the loss of each place."""
    found = design("path:450", "ln(2)")
    plot_places(found, {str(node): (50 + node / 100, 7 + node % 9) for node in range(450)}, tmp_path / "map.svg")
    drawn = (tmp_path / "map.svg").read_text()
    assert drawn.count("<path") >= 450
    assert "km" in drawn
    with pytest.raises(TooLarge):
        plot_design(found, tmp_path / "heat.svg")


def test_without_matplotlib_the_error_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(MissingPackage, match="leastnoise\\[plots\\]"):
        plot_design(design("path:3", 1), tmp_path / "law.svg")


def test_graphml(tmp_path):
    petersen = nx.petersen_graph()
    file = tmp_path / "petersen.graphml"
    nx.write_graphml(petersen, file)
    graph = read_graph(str(file))
    assert sorted(graph.nodes) == list(range(10))
    assert len(graph.edges()) == 15
    assert from_networkx(petersen).layer_sizes(0) == graph.layer_sizes(0)
    assert "0.935524394526" in run(file, "--epsilon", "1").output


def test_edge_lists_and_json(tmp_path):
    (tmp_path / "a.csv").write_text("# a path\nx,y\n\ny,z\n")
    (tmp_path / "b.txt").write_text("1 2\n2\t3\n")
    (tmp_path / "c.json").write_text(json.dumps(path(4).to_dict()))
    assert read_graph(str(tmp_path / "a.csv")).nodes == ("x", "y", "z")
    assert read_graph(str(tmp_path / "b.txt")).nodes == (1, 2, 3)
    assert read_graph(str(tmp_path / "c.json")) == path(4)


GRAPHML = '<graphml><graph edgedefault="{}"><node id="a"/><node id="b"/><edge source="a" {}/></graph></graphml>'


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("a.csv", "a,b,3", "line 1"),
        ("a.txt", "a", "line 1"),
        ("a.json", "{", "JSON"),
        ("a.json", "[1]", "object"),
        ("a.graphml", "<graphml>", "XML"),
        ("a.graphml", "<html/>", "GraphML"),
        ("a.graphml", GRAPHML.format("directed", 'target="b"'), "direction"),
        ("a.graphml", GRAPHML.format("undirected", 'target="b" directed="true"'), "direction"),
        ("a.graphml", GRAPHML.format("undirected", ""), "target"),
        ("a.graphml", '<!DOCTYPE x [<!ENTITY e "e">]><graphml/>', "document type"),
        ("a.graphml", '<graphml><graph><node id="a"/><node id="b"/></graph></graphml>', "not connected"),
    ],
)
def test_files_that_hold_no_graph_are_refused(tmp_path, name, content, words):
    (tmp_path / name).write_text(content)
    with pytest.raises(BadGraph, match=words):
        read_graph(str(tmp_path / name))


def test_places_on_a_map(tmp_path):
    places, counts, proof, drawn = (tmp_path / name for name in ("places.csv", "counts.csv", "proof.json", "map.png"))
    places.write_text("name,latitude,longitude\nBonn,50.7374,7.0982\nUlm,48.4011,9.9876\nKiel,54.3233,10.1228\n")
    counts.write_text("name,count\nBonn,3\nUlm,1\nKiel,2\n")
    options = ("--from", places, "--epsilon", "1/100", "--prior", counts)
    found = run(*options, "--metric", "haversine", "--out", proof, "--plot", drawn)
    assert found.exit_code == 0, found.output
    certificate = Certificate.from_json(proof.read_text())
    assert check(certificate)
    assert certificate.prior == (Fraction(1, 2), Fraction(1, 6), Fraction(1, 3))
    assert drawn.read_bytes()[:4] == b"\x89PNG"
    assert run(*options, "--metric", "flat").exit_code == 2
    assert run("path:3", *options).exit_code == 2
    assert run("--epsilon", "1").exit_code == 2
    places.write_text("name,latitude\nBonn,50\n")
    assert run(*options).exit_code == 2
