"""Graphs whose edges are rows of a table: true answers, all neighbours with their exact laws, refusals."""

import random
from fractions import Fraction

import networkx
import pyarrow as pa
import pytest

from leastnoise.checker import check
from leastnoise.composition.cost import covers
from leastnoise.data import Contribution, open_table
from leastnoise.errors import BadParameter, LeastNoiseError
from leastnoise.exact import ln
from leastnoise.ledger import Opening
from leastnoise.model import Channel, Privacy, Pure
from leastnoise.model.graphs import path
from leastnoise.release.dataset import Dataset
from support.judging import is_private

NODES = list("abcd")
BOUNDS = [Contribution(None), Contribution("u", 1, 1), Contribution("u", 2, 1), Contribution("u", 3, 2)]
ANSWERS = ["edges", "degrees", "components", "triangles"]
TRUTHS = {
    "edges": lambda graph: [graph.number_of_edges()],
    "degrees": lambda graph: [graph.degree(node) for node in NODES],
    "components": lambda graph: [networkx.number_connected_components(graph)],
    "triangles": lambda graph: [sum(networkx.triangles(graph).values()) // 3],
}


@pytest.fixture(autouse=True)
def one_secret(monkeypatch):
    """What a unit keeps is decided by a fresh secret of the call; a change can only be seen with the same one."""
    monkeypatch.setattr("leastnoise.data.table._fresh_secret", lambda: (2024, 7))


def asked(rows, contribution):
    schema = pa.schema({"u": pa.int64(), "a": pa.string(), "b": pa.string()})
    table = open_table(pa.Table.from_pylist(rows, schema=schema))
    return Dataset(table, None, "t", "a", "p", contribution, Opening(None, contribution.privacy_unit))


def question(rows, contribution, answer):
    return asked(rows, contribution).graph(answer, "a", "b", NODES)


def rows_of(*pairs, unit=0):
    return [{"u": unit, "a": a, "b": b} for a, b in pairs]


def random_rows(seed):
    """A few units with random edges, and one that alone has a star, a triangle or a path."""
    rng = random.Random(seed)
    others = [{"u": rng.randrange(3), "a": rng.choice([*"abcd", None]), "b": rng.choice("abcdx")} for _ in range(3)]
    rows = others if seed < 3 else []
    own = [["ab", "ac", "ad"], ["ab", "bc", "ca"], ["ab", "bc", "cd"]][seed % 3]
    return rows + rows_of(*own, unit=7) + rows_of("bd", "db", unit=8) * (seed < 3)


def neighbours(rows, contribution):
    if contribution.privacy_unit is None:
        return [rows[:place] + rows[place + 1 :] for place in range(len(rows))]
    return [[row for row in rows if row["u"] != unit] for unit in sorted({row["u"] for row in rows})]


@pytest.mark.slow
@pytest.mark.parametrize("answer", ANSWERS)
@pytest.mark.parametrize("seed", range(3))
def test_what_is_read_is_the_graph_of_all_rows(answer, seed):
    rows = random_rows(seed)
    graph = networkx.Graph()
    graph.add_nodes_from(NODES)
    graph.add_edges_from((r["a"], r["b"]) for r in rows if {r["a"], r["b"]} <= set(NODES) and r["a"] != r["b"])
    assert list(question(rows, Contribution(None), answer).read()) == TRUTHS[answer](graph)


@pytest.mark.slow
@pytest.mark.parametrize("answer", ANSWERS)
@pytest.mark.parametrize("place", range(len(BOUNDS)))
def test_every_neighbour_is_within_the_sensitivity_and_the_law_within_the_price(answer, place):
    contribution, furthest = BOUNDS[place], 0
    for seed in range(6):
        rows = random_rows(seed)
        query = question(rows, contribution, answer)
        sensitivity = query.sensitivity
        epsilon = 4 * contribution.groups_per_unit * sensitivity.amount * ln(2)
        how = query.answer_plan(Privacy(epsilon))
        assert covers(Privacy(epsilon), how.event)
        truth = query.read()
        for other_rows in neighbours(rows, contribution):
            other = question(other_rows, contribution, answer).read()
            for mechanism in (how.mechanism, *(option.mechanism for option in how.options)):
                assert is_private(mechanism, Pure(epsilon), truth, other)
                assert is_private(mechanism, Pure(epsilon), other, truth)
            change = [int(one) - int(two) for one, two in zip(truth, other, strict=True)]
            assert min(change) >= 0 or max(change) <= 0
            furthest = max(furthest, Fraction(sum(map(abs, change)), sensitivity.l1))
    assert furthest <= 1
    if answer != "triangles":
        assert furthest == 1


@pytest.mark.slow
def test_degrees_of_several_edges_have_no_noise_for_two_large_changes():
    """A unit with a star changes four degrees: steps of a staircase that is made for two of them would be too many."""
    star, contribution = rows_of("ab", "ac", "ad"), Contribution("u", 3, 1)
    full, empty = (question(rows, contribution, "degrees").read() for rows in (star, []))
    for epsilon in (Fraction(1, 2), Fraction(3), 6 * ln(2)):
        how = question([], contribution, "degrees").answer_plan(Privacy(epsilon))
        assert how.event == Pure(epsilon)
        for mechanism in (how.mechanism, *(option.mechanism for option in how.options)):
            assert is_private(mechanism, Pure(epsilon), full, empty)
            assert not is_private(mechanism, Pure(epsilon * Fraction(9, 10)), full, empty)


@pytest.mark.slow
@pytest.mark.parametrize("place", range(3))
def test_the_law_of_a_cut_on_all_neighbours(place):
    contribution, tight = BOUNDS[place], False
    epsilon = contribution.groups_per_unit * ln(3)
    for seed in range(4):
        rows = random_rows(seed)
        how = question(rows, contribution, "cut").answer_plan(Privacy(epsilon))
        assert covers(Privacy(epsilon), how.event)
        assert not covers(Privacy(epsilon * Fraction(9, 10)), how.event)

        def law(listed, how=how):
            found = how.mechanism.law(question(listed, contribution, "cut").read())
            assert all(chance.lower == chance.upper for chance in found.values())
            return [chance.lower for chance in found.values()]

        for other in neighbours(rows, contribution):
            both = Channel([law(rows), law(other)])
            assert check(both, path(2), epsilon)
            tight |= not check(both, path(2), epsilon / 2)
    assert tight


@pytest.mark.parametrize("place", range(3))
def test_the_price_of_a_cover_is_that_of_one_edge_for_each(place):
    """An order is drawn at ε/g from the graph: its law at one edge more is tested with the mechanism."""
    contribution = BOUNDS[place]
    epsilon = contribution.groups_per_unit * ln(3)
    how = question([], contribution, "cover").answer_plan(Privacy(epsilon))
    assert how.mechanism.epsilon == ln(3)
    assert covers(Privacy(epsilon), how.event)
    assert not covers(Privacy(epsilon * Fraction(9, 10)), how.event)
    furthest = 0
    for seed in range(4):
        rows = random_rows(seed)
        read = {frozenset(map(int, edge)) for edge in question(rows, contribution, "cover").read()}
        for other in neighbours(rows, contribution):
            fewer = {frozenset(map(int, edge)) for edge in question(other, contribution, "cover").read()}
            loops = {edge for edge in read ^ fewer if len(edge) == 1}
            furthest = max(furthest, len((read ^ fewer) - loops))
    assert furthest == contribution.groups_per_unit


def test_an_order_covers_every_edge():
    rows = rows_of("ab", "ac", "ad", "bc")
    release = asked(rows, Contribution(None)).graph("cover", "a", "b", NODES)
    drawn = release.answer_plan(Privacy(200, insist=True))
    table = drawn.to_table(drawn.draw(release.read()), Fraction(95, 100))
    assert table["node"] == tuple(NODES)
    assert sorted(table["value"]) == [1, 2, 3, 4]
    assert table["value"][0] == 1


def test_a_release_names_the_nodes(open_people, people):
    dataset = open_people(privacy_unit="person", groups_per_unit=9)
    cities = sorted({row["city"] for row in people[1] if row["city"]})
    nodes = [*cities, "f", "m"]
    joined = {(row["city"], row["sex"]) for row in people[1]} & {(city, sex) for city in cities for sex in "fm"}
    sure = Privacy(4000, insist=True)
    degrees = dataset.graph("degrees", "city", "sex", nodes).release(sure)
    assert dict(zip(degrees.table["node"], degrees.table["value"], strict=True)) == {
        node: sum(node in pair for pair in joined) for node in nodes
    }
    cut = dataset.graph("cut", "city", "sex", [*nodes, "alone"]).release(sure)
    assert cut.table["node"] == (*nodes, "alone")
    side = dict(zip(cut.table["node"], cut.table["value"], strict=True))
    assert side[nodes[0]] == 0
    assert all(side[one] == side[other] for one, other in joined)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("diameter", "a", "b", NODES), "unknown"),
        (("edges", "a", "a", NODES), "two ends"),
        (("edges", "a", "c", NODES), "column"),
        (("edges", "a", "b", ["a"]), "two public nodes"),
        (("edges", "a", "b", ["a", "a"]), "'a'"),
        (("edges", "a", "b", 7), "nodes"),
        (("edges", "a", "u", NODES), "u"),
        (("edges", "a", "b", range(3)), "text"),
        (("edges", "a", "b", list(map(str, range(1000)))), "100000"),
    ],
)
def test_what_can_be_wrong_is_said_at_once(arguments, says):
    with pytest.raises((BadParameter, LeastNoiseError), match=says):
        asked([], Contribution(None)).graph(*arguments)


@pytest.mark.slow
def test_a_plan_says_what_is_protected():
    for answer in (*ANSWERS, "cut", "cover"):
        by_row, by_unit = (question([], BOUNDS[place], answer).answer_plan(Privacy(1)) for place in (0, 2))
        assert "edge level" in by_row.notes[0]
        assert "2 edges of each u; what the rows of others say" in by_unit.notes[0]
