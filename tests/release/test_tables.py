"""Marginal tables through the whole release: which tables, how far off, that they agree, and what is proven."""

from collections import Counter
from fractions import Fraction

import pyarrow as pa
import pytest

import leastnoise as ln
from leastnoise.errors import BadParameter, LeastNoiseError, TooLarge
from leastnoise.mechanisms import MarginalsMechanism, PureMarginalsMechanism
from leastnoise.model.privacy import Privacy
from support.people import CITIES, SURE

KEYS = {"city": CITIES, "sex": ["m", "f"], "member": [True, False]}


def by_table(release):
    """For each table the values by their keys, without the stars."""
    found = {}
    for table, city, sex, member, value, low, high in release.table:
        assert low <= value <= high
        keys = tuple(key for key in (city, sex, member) if key != "*")
        found.setdefault(table, {})[keys] = value
    return found


def test_the_tables_that_were_asked_for_come_out(open_people, people):
    rows = [
        row for row in people[1] if row["city"] in CITIES and row["sex"] in ("m", "f") and row["member"] is not None
    ]
    ways = [["sex", "city"], ["member"], []]
    found = by_table(open_people().tables(["city", "sex", "member"], ways, KEYS).release(SURE))
    assert list(found) == ["city × sex", "member", "all"]
    truth = Counter((row["city"], row["sex"]) for row in rows)
    assert found["city × sex"] == {(c, s): truth[c, s] for c in CITIES for s in ("m", "f")}
    assert found["member"] == {(m,): sum(row["member"] is m for row in rows) for m in (True, False)}
    assert found["all"] == {(): len(rows)}


@pytest.mark.parametrize("delta", [0, Fraction(1, 100)])
def test_all_sums_agree(open_people, delta):
    found = by_table(open_people().tables(keys=KEYS, ways=2).release(1, delta))
    for city in CITIES:
        sums = [
            sum(value for keys, value in found[table].items() if keys[0] == city)
            for table in ("city × sex", "city × member")
        ]
        assert sums[0] == pytest.approx(sums[1], abs=1e-9)


@pytest.mark.slow
def test_many_tables_get_gaussian_noise_with_a_certificate_and_few_get_laplace_noise(tmp_path):
    names = [f"c{i}" for i in range(12)]
    table = pa.table({name: pa.array([0, 1], pa.int64()) for name in names})
    keys = {name: range(10) for name in names}
    with ln.open(table, name="wide", budget=(1, "1e-6"), ledger=tmp_path / "ledger") as dataset:
        many = dataset.tables(names, 2, keys=keys)
        plan = many.plan(1, "1e-6")
        assert isinstance(plan.mechanism, MarginalsMechanism)
        assert any("no Gaussian noise" in note for note in plan.notes)
        few = dataset.tables(names, [["c0", "c1"]], keys=keys)
        assert isinstance(few.plan(1, "1e-6").mechanism, PureMarginalsMechanism)
        assert isinstance(many.plan(rho="1/10").mechanism, MarginalsMechanism)
        assert isinstance(many.plan(Privacy(mu="1/5")).mechanism, MarginalsMechanism)
        release = many.release(1, "1e-6")
        assert ln.check(release.certificate)
        assert len(release.table) == 66 * 100
        narrow, wide = (release.with_confidence(level).table for level in (0.5, 0.99))
        assert narrow["value"] == wide["value"] == release.table["value"]
        assert all(a < b for a, b in zip(wide["low"], narrow["low"], strict=True))
        worst = dataset.tables(names, [["c0"], ["c0", "c1", "c2"]], keys=keys, goal="largest").plan(rho=1)
        total = dataset.tables(names, [["c0"], ["c0", "c1", "c2"]], keys=keys).plan(rho=1)
        assert worst.error_within < total.error_within


def test_limits_count_the_cells_of_the_tables_and_not_their_product(tmp_path):
    names = [f"c{i}" for i in range(14)]
    table = pa.table({name: pa.array([0], pa.int64()) for name in names})
    keys = {name: range(40) for name in names}
    with ln.open(table, name="wide", budget=1, ledger=tmp_path / "ledger") as dataset:
        assert dataset.tables(names, 2, keys=keys).plan(rho="1/10").error is not None
        with pytest.raises(TooLarge, match="cells"):
            dataset.tables(names, 3, keys={name: range(60) for name in names})
        with pytest.raises(TooLarge, match="tables"):
            dataset.tables(names, 6, keys=keys)


def test_wrong_tables_are_refused(open_people):
    dataset = open_people()
    for ways in (0, 4, 1.5, "two", [["town"]], [["city"], ["city"]], [], [3], ["city"], None):
        with pytest.raises(LeastNoiseError):
            dataset.tables(["city", "sex", "member"], ways, KEYS)
    with pytest.raises(BadParameter, match="goal"):
        dataset.tables(keys=KEYS, goal="best")
    with pytest.raises(BadParameter, match="keys or bins"):
        dataset.tables()


def test_all_tables_are_read_in_one_statement(open_people, monkeypatch):
    dataset, asked = open_people(), []
    question = dataset.tables(keys=KEYS, ways=2)
    run = dataset.table._run
    monkeypatch.setattr(dataset.table, "_run", lambda query: asked.append(query) or run(query))
    question.read()
    (query,) = asked
    text, _ = dataset.table.dialect.render(query, dataset.table._relation.table)
    assert text.count("GROUPING SETS") == 1
