"""Facilities near to the rows of a table: what is read, all neighbours, what is said of the answer, refusals."""

from fractions import Fraction

import pyarrow as pa
import pytest

from leastnoise.composition.cost import covers
from leastnoise.data import Contribution, open_table
from leastnoise.errors import BadParameter, LeastNoiseError
from leastnoise.exact import SeededSource, ln
from leastnoise.ledger import Opening
from leastnoise.mechanisms.combinatorial import NoisyDemand
from leastnoise.model import Privacy, Pure
from leastnoise.release.dataset import Dataset
from support.judging import is_private

TOWN = {"a": (0, 0), "b": (1, 0), "c": (20, 0), "d": (21, "1/2")}
BOUNDS = [Contribution(None), Contribution("u", 1, 1), Contribution("u", 2, 1), Contribution("u", 2, 3)]
LEVEL = Fraction(95, 100)


@pytest.fixture(autouse=True)
def one_secret(monkeypatch):
    """What a unit keeps is decided by a fresh secret of the call; a change can only be seen with the same one."""
    monkeypatch.setattr("leastnoise.data.table._fresh_secret", lambda: (2024, 7))


def asked(rows, contribution=BOUNDS[0]):
    schema = pa.schema({"u": pa.int64(), "city": pa.string(), "x": pa.int64(), "y": pa.float64()})
    table = open_table(pa.Table.from_pylist(rows, schema=schema))
    return Dataset(table, None, "t", "a", "p", contribution, Opening(None, contribution.privacy_unit))


def rows_at(**how_many):
    return [{"u": len(city) + unit, "city": city} for city, many in how_many.items() for unit in range(many)]


def answered(question, price=400):
    how = question.answer_plan(Privacy(price, insist=True))
    return how.to_table(how.draw(question.read()), LEVEL)


def test_the_answer_is_a_place_for_each_facility_and_what_it_serves():
    dataset = asked([*rows_at(a=30, b=4, c=3, d=25, nowhere=90), {"u": 1, "city": None}])
    table = answered(dataset.facilities("city", 2, TOWN))
    assert (table["city"], table["value"]) == (("a", "d"), (34, 28))
    dear = answered(dataset.facilities("city", 3, TOWN, opening=700))
    assert (dear["city"], dear["value"]) == (("b",), (62,))
    each = answered(dataset.facilities("city", 3, TOWN, opening=[500, 0, 0, 500]))
    assert each["city"] == ("b", "c")


def test_the_middles_of_a_grid_are_places():
    rows = [{"u": i, "city": "a", "x": x, "y": y} for i, (x, y) in enumerate([(1, 0.5)] * 9 + [(8, 3.5)] * 7)]
    query = asked(rows).facilities(["x", "y"], 2, bins={"x": [0, 2, 4, 10], "y": [0, 1, 4]})
    assert query.places[:2] == ((1, Fraction(1, 2)), (1, Fraction(5, 2)))
    table = answered(query)
    assert table["x"] == ("[0, 2)", "[4, 10]")
    assert table["y"] == ("[0, 1)", "[1, 4]")
    assert table["value"] == (9, 7)


@pytest.mark.slow
@pytest.mark.parametrize("of", ["units", "rows"])
@pytest.mark.parametrize("place", range(len(BOUNDS)))
def test_every_neighbour_is_within_the_price(place, of):
    contribution = BOUNDS[place]
    if contribution.privacy_unit is None and of == "units":
        return
    rows = [*rows_at(a=3, b=2), *({"u": 9, "city": city} for city in "aabbccdd")]
    others = [
        [row for row in rows if row["u"] != unit] if contribution.privacy_unit else rows[:unit] + rows[unit + 1 :]
        for unit in (1, 9)
    ]
    query = asked(rows, contribution).facilities("city", 2, TOWN, of=of)
    for price in (Privacy(12 * ln(2)), Privacy(36 * ln(2))):
        how = query.answer_plan(price)
        assert covers(price, how.event)
        for other in others:
            fewer = asked(other, contribution).facilities("city", 2, TOWN, of=of).read()
            assert is_private(how.mechanism, Pure(price.epsilon), query.read(), fewer)
            assert is_private(how.mechanism, Pure(price.epsilon), fewer, query.read())
    least = query.answer_plan(Privacy(12 * ln(2))).mechanism
    fewer = asked(others[1], contribution).facilities("city", 2, TOWN, of=of).read()
    assert not is_private(least, Pure(11 * ln(2)), query.read(), fewer) or contribution.privacy_unit is None


def test_the_search_sees_the_noisy_counts_only():
    query = asked(rows_at(a=3, d=5)).facilities("city", 2, TOWN)
    how = query.answer_plan(Privacy(1))
    drawn = how.encode(how.mechanism.draw(query.read(), source=SeededSource(4)))
    town = NoisyDemand(1, 2, points=[[float(Fraction(x)) for x in place] for place in TOWN.values()])
    found = town.found(drawn)
    table = how.to_table(drawn, LEVEL)
    assert table["city"] == tuple("abcd"[place] for place in found)
    assert table["value"] == town.demand_of(found, drawn)
    assert sum(table["value"]) == sum(drawn)


def test_gaussian_noise_where_it_is_less():
    query = asked([], Contribution("u", 4, 1)).facilities("city", 2, TOWN)
    price = Privacy(1, "1e-6")
    how = query.answer_plan(price)
    assert covers(price, how.event)
    assert how.lower_bound is None


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({}, "places or bins"),
        ({"places": TOWN, "bins": [0, 1]}, "places or bins"),
        ({"places": {"a": (0, 0), "b": (1,)}}, "as many coordinates"),
        ({"places": {"a": (), "b": ()}}, "as many coordinates"),
        ({"places": {"a": (0, "x"), "b": (1, 1)}}, "coordinates"),
        ({"places": {"a": 1, "b": 2}}, "coordinates"),
        ({"places": ["a", "b"]}, "where each key is"),
        ({"places": {str(i): (i,) for i in range(3000)}}, "2048"),
        ({"places": {"a": (0, 0), "b": (0, 0)}}, "diameter"),
        ({"places": {3: (0, 0), 4: (1, 0)}}, "text"),
        ({"places": TOWN, "k": 4}, "k"),
        ({"places": TOWN, "squared": 2}, "squared"),
        ({"places": TOWN, "opening": [1, 2]}, "one for each"),
        ({"places": TOWN, "by": ["city", "x"]}, "one column"),
        ({"by": None, "places": TOWN}, "one column"),
        ({"by": "x", "bins": [0, 1, 2], "k": 5}, "k"),
        ({"by": ["x", "y"], "bins": {"x": list(range(100)), "y": list(range(100))}}, "2048"),
        ({"by": "city", "bins": [0, 1, 2]}, "city"),
    ],
)
def test_what_can_be_wrong_is_said_at_once(arguments, says):
    given = {"by": "city", "k": 1, **arguments}
    with pytest.raises((BadParameter, LeastNoiseError), match=says):
        asked([]).facilities(**given)


def test_a_release_is_bound_and_repeated(open_people):
    dataset = open_people(privacy_unit="person")
    where = {"Lyon": (0, 0), "Metz": (3, 4), "Nice": (9, 1)}
    first = dataset.facilities("city", 2, where).release(1, request_id="f")
    again = dataset.ask(dataset.facilities("city", 2, where).to_dict()).release(1, request_id="f")
    assert first.table == again.table
