"""Views of a dataset: one account, requests bound to how columns are made, no false bound, closed together."""

import duckdb
import pytest

import leastnoise as ln
from leastnoise.errors import BadFilter, BadParameter, Closed, RequestConflict

from .test_database import LIMITS, SHOP, in_duckdb


@pytest.fixture
def people(tmp_path):
    with duckdb.connect(str(tmp_path / "t.duckdb")) as connection:
        connection.execute("CREATE TABLE t AS SELECT i % 7 AS person, i % 5 AS n, i AS x FROM range(40) AS r(i)")
    file = tmp_path / "t.duckdb"
    with ln.open(file, table="t", privacy_unit="person", budget=10, ledger=tmp_path / "ledger") as opened:
        yield opened


@pytest.mark.slow
def test_a_request_is_bound_to_how_its_columns_are_made(people):
    def asked(text):
        return people.with_columns({"y": text}).count(by="y", keys=[0, 1])

    first = asked("n % 2").release(1, request_id="mine")
    assert asked("n % 2").release(1, request_id="mine").recorded == first.recorded
    left = people.left.epsilon
    for other in ("n % 3", "x % 2"):
        with pytest.raises(RequestConflict):
            asked(other).release(1, request_id="mine")
    with pytest.raises(RequestConflict):
        people.count(by="n", keys=[0, 1]).release(1, request_id="mine")
    units = people.per_unit({"y": "count(*)"})
    first = units.count(by="y", keys=[5]).release(1, request_id="other")
    for features, where in (
        ({"y": "count(n)"}, None),
        ({"y": "count(*)"}, "n > 1"),
        ({"y": "count(*)", "z": "max(n)"}, None),
    ):
        with pytest.raises(RequestConflict):
            people.per_unit(features, where).count(by="y", keys=[5]).release(1, request_id="other")
    assert people.left.epsilon == left - 1


def test_views_share_the_account_and_close_with_their_dataset(people):
    view = people.with_columns({"y": "n + 1"}).with_columns({"z": "y * 2"})
    assert view.columns == {"person": "integer", "n": "integer", "x": "integer", "y": "real", "z": "real"}
    view.sum("z", (0, 10)).release(1)
    assert people.left.epsilon == 9
    units = view.per_unit({"m": "max(z)"})
    assert (units.contribution.groups_per_unit, units.contribution.rows_per_unit) == (1, 1)
    view.close()
    assert people.count().release(1).value is not None  # the table is open still
    question = units.count()
    with pytest.raises(Closed):
        question.release(1)
    other = people.with_columns({"y": "n + 1"})
    people.close()
    with pytest.raises(Closed):
        other.count().release(1)


def test_a_batch_keeps_to_one_view(people):
    one, other = people.with_columns({"y": "n % 2"}), people.with_columns({"y": "n % 3"})
    with pytest.raises(BadParameter, match="another dataset"):
        one.batch([one.count(), other.count()])


def test_no_bound_is_printed_for_derived_columns(people):
    """A formula may not reach every value: `y` is never 5."""
    assert people.count(by="n", keys=[1, 5]).plan(1).lower_bound is not None
    view = people.with_columns({"y": "n % 2"})
    assert view.count(by="y", keys=[1, 5]).plan(1).lower_bound is None
    assert view.count(by="n", keys=[1, 5]).plan(1).lower_bound is not None
    assert view.count(where="y = 1").plan(1).lower_bound is None
    assert view.sum("y", (0, 5)).plan(1).lower_bound is None
    assert people.per_unit({"y": "count(*)"}).count(by="y", keys=[1]).plan(1).lower_bound is None


def test_features_need_a_unit(tmp_path):
    with duckdb.connect(str(tmp_path / "t.duckdb")) as connection:
        connection.execute("CREATE TABLE t AS SELECT 1 AS n")
    with (
        ln.open(tmp_path / "t.duckdb", table="t", budget=1, ledger=tmp_path / "ledger") as rows,
        pytest.raises(BadParameter, match="unit of its own"),
    ):
        rows.per_unit({"y": "count(*)"})


@pytest.mark.slow
def test_sql_joins_linked_tables(tmp_path):
    file = in_duckdb(tmp_path, None)
    with ln.open(file, **SHOP, **LIMITS, budget=19, ledger=tmp_path / "ledger") as shop:
        text = """
            SELECT p.category AS c, COUNT(*) AS n, SUM(CLAMP(price, 0, 10)) AS total
            FROM items i JOIN orders AS o ON i.order_id = o.id LEFT JOIN products p ON p.id = i.product_id
            WHERE o.day IN ('a', 'b') AND category IN ('toys', 'food') GROUP BY c
        """
        found = shop.sql(text)
        joined = shop.join(_sources())
        where = "\"o.day\" IN ('a', 'b')"
        keys = {"by": ["p.category"], "keys": {"p.category": ["toys", "food"]}}
        wanted = [joined.count(where=where, **keys), joined.sum("i.price", (0, 10), where=where, **keys)]
        assert [query.parameters() for query in found.queries] == [query.parameters() for query in wanted]
        assert list(found.release(18).table["c"]) == ["toys", "food"]
        assert shop.sql("SELECT COUNT(*) FROM orders").queries[0].contribution.privacy_unit == "customers.id"
        with pytest.raises(BadFilter, match="several tables"):
            shop.sql("SELECT COUNT(*) FROM customers c JOIN orders o ON c.id = o.customer_id WHERE id = 1")


def test_using_names_the_first_of_the_columns_that_are_one(tmp_path):
    """Somebody without an order keeps her note: the second LEFT JOIN does not hang on the first one."""
    with duckdb.connect(str(tmp_path / "t.duckdb")) as connection:
        connection.execute("CREATE TABLE people AS SELECT * FROM (VALUES (1, 'a'), (2, 'b')) AS v(id, city)")
        connection.execute("CREATE TABLE orders AS SELECT * FROM (VALUES (1, 5)) AS v(id, price)")
        connection.execute("CREATE TABLE notes AS SELECT * FROM (VALUES (1, 'x'), (2, 'y')) AS v(id, word)")
    links = {"orders.id": "people.id", "notes.id": "people.id"}
    with ln.open(
        tmp_path / "t.duckdb", privacy_unit="people.id", links=links, budget=1, ledger=tmp_path / "ledger"
    ) as shop:
        text = "SELECT COUNT(n.word) FROM people p LEFT JOIN orders o USING (id) LEFT JOIN notes n USING (id)"
        assert shop.sql(text).queries[0].read().tolist() == [2]
        text = "SELECT COUNT(*) FROM people p JOIN orders o ON o.id = p.id JOIN notes n USING (id)"
        with pytest.raises(BadFilter, match=r"several tables have this column.*line 1.*p\.id = n\.id or o\.id = n\.id"):
            shop.sql(text)


def _sources():
    from leastnoise.data import Source

    return [
        Source("items", "i"),
        Source("orders", "o", ((("i", "order_id"), ("o", "id")),)),
        Source("products", "p", ((("p", "id"), ("i", "product_id")),), True),
    ]
