"""Linked tables as datasets: the same answers on every engine, one budget, one account, and nothing that tells rows."""

from fractions import Fraction

import duckdb
import psycopg
import pytest

import leastnoise.release as ln
from leastnoise.data import Source
from leastnoise.errors import (
    BadParameter,
    BadSource,
    BudgetChanged,
    Closed,
    LeastNoiseError,
    RequestConflict,
    UnsafeJoin,
)
from support.people import AMPLE, SURE
from support.postgres import in_schema

ORDERS = [(10, 1, "a"), (11, 1, "b"), (12, 2, "a"), (12, 3, "b"), (13, 9, "a")]
ITEMS = [(10, "a", 5, 1), (10, "b", 7, 2), (11, "zz", 1, 3), (12, "a", 2, 4), (13, "b", 3, 5), (99, "a", 9, 6)]
TABLES = {
    "customers": ("id bigint, city text", [(1, "Lyon"), (2, "Metz"), (3, None)]),
    "orders": ("id int, customer_id int, day text", ORDERS),
    "items": ('order_id int, product_id text, price int, "order" int', [*ITEMS, (None, "b", 8, 7)]),
    "products": ("id text, category text", [("a", "toys"), ("b", "food"), ("c", None)]),
}
LINKS = {
    "orders.customer_id": "customers.id",
    "items.order_id": "orders.id",
    "items.product_id": "products.id",
}
SHOP = {"privacy_unit": "customers.id", "links": LINKS, "public": ["products"]}
LIMITS = {"rows_per_unit": 10, "groups_per_unit": 10}


def fill(execute, tables=TABLES):
    for name, (columns, rows) in tables.items():
        execute(f"DROP TABLE IF EXISTS {name}")
        execute(f"CREATE TABLE {name} ({columns})")
        for row in rows:
            execute(f"INSERT INTO {name} VALUES ({', '.join('?' * len(row))})", list(row))  # noqa: S608


def in_duckdb(folder, _, tables=TABLES):
    file = folder / "shop.duckdb"
    with duckdb.connect(str(file)) as connection:
        fill(connection.execute, tables)
    return file


def in_postgres(_, request):
    address = in_schema(request.getfixturevalue("postgres_address"), "linked_tables")
    with psycopg.connect(address) as connection:
        fill(lambda text, values=None: connection.execute(text.replace("?", "%s"), values))
    return address


def in_spark(_, request):
    session = request.getfixturevalue("spark")
    for name, (columns, rows) in TABLES.items():
        types = columns.replace("text", "string").replace('"', "`")
        session.createDataFrame(rows, types).createOrReplaceTempView(name)
    return session


@pytest.fixture
def shop(tmp_path):
    with ln.open(in_duckdb(tmp_path, None), **SHOP, **LIMITS, budget=AMPLE, ledger=tmp_path / "ledger") as opened:
        yield opened


def value(query):
    return query.release(SURE).value


@pytest.mark.slow
@pytest.mark.parametrize("put", [in_duckdb, in_postgres, in_spark])
def test_every_engine_answers_alike(put, tmp_path, request):
    source = put(tmp_path, request)
    with ln.open(source, **SHOP, **LIMITS, budget=AMPLE, ledger=tmp_path / "ledger", name="shop") as shop:
        items, orders = shop["items"], shop["orders"]
        found = items.count(by="products.category", keys=["toys", "food", None]).release(SURE)
        assert found.table["value"] == (3, 2, 1)  # one item belongs to two people, two to nobody
        pair = (("i", "product_id"), ("p", "id"))
        joined = shop.join([Source("items", "i"), Source("products", "p", (pair,))])
        assert joined.columns["p.category"] == "text"
        assert value(joined.count(of="units")) == 4  # the customer of one order is not there, and yet it is somebody's
        if put is in_spark:
            return  # each text takes seconds there
        assert value(shop.count()) == 3
        assert value(orders.count()) == 5
        assert value(orders.count(where="customers.city = 'Lyon'")) == 2
        assert value(items.count()) == 6
        assert value(items.sum("price", bounds=(0, 10), where='"order" > 1')) == 7 + 1 + 2 + 2 + 3
        assert 3 <= value(items.median("price", bounds=(0, 10), step=1, where="orders.day = 'a'")) <= 5
        assert value(joined.count()) == 5
        units = joined.count(by="p.category", keys=["toys", "food"], of="units").release(SURE)
        assert units.table["value"] == (3, 2)


@pytest.mark.slow
def test_all_tables_share_one_budget(shop):
    before = shop.left.epsilon
    shop["items"].count().release(1)
    assert shop["orders"].left.epsilon == shop.left.epsilon == before - 1
    assert shop["items"] is shop["items"]
    assert shop["customers"] is shop
    assert shop.table_names == ("customers", "items", "orders", "products")
    assert shop.columns_of("orders") == {"id": "integer", "customer_id": "integer", "day": "text"}
    assert "shop.duckdb" in repr(shop)


@pytest.mark.slow
def test_a_request_is_bound_to_its_join(shop):
    shop["items"].count().release(1, request_id="n")
    with pytest.raises(RequestConflict):
        shop["orders"].count().release(1, request_id="n")
    with pytest.raises(RequestConflict):
        shop.join([Source("items", "items")]).count().release(1, request_id="n")
    sources = [Source("orders", "o"), Source("customers", "c", ((("o", "customer_id"), ("c", "id")),))]
    shop.join(sources).count().release(1, request_id="m")
    left = [sources[0], Source("customers", "c", sources[1].on, left=True)]
    with pytest.raises(RequestConflict):
        shop.join(left).count().release(1, request_id="m")


@pytest.mark.slow
def test_a_question_of_one_view_is_not_in_the_batch_of_another(shop):
    with pytest.raises(BadParameter, match="another dataset"):
        shop.batch([shop["items"].count(), shop["orders"].count()])
    found = shop["items"].batch([shop["items"].count(), shop["items"].sum("price", bounds=(0, 9))]).release(SURE)
    assert [release.value for release in found] == [6, 20]


@pytest.mark.slow
def test_a_table_of_the_database_is_no_second_budget(tmp_path):
    file, ledger = in_duckdb(tmp_path, None), tmp_path / "ledger"
    with ln.open(file, **SHOP, budget=1, ledger=ledger) as shop:
        shop["orders"].count().release("1/2")
    with pytest.raises(BudgetChanged, match="belong to an account already"):
        ln.open(file, table="orders", privacy_unit="customer_id", budget=1, ledger=ledger)
    with ln.open(file, **SHOP, ledger=ledger) as shop:
        assert shop.left.spent == Fraction(1, 2)


@pytest.mark.slow
def test_a_database_is_no_second_budget_for_a_table_of_it(tmp_path):
    file, ledger = in_duckdb(tmp_path, None), tmp_path / "ledger"
    with ln.open(file, table="orders", privacy_unit="customer_id", budget=1, ledger=ledger) as orders:
        orders.count().release("1/2")
    with pytest.raises(BudgetChanged, match="belong to an account already"):
        ln.open(file, **SHOP, budget=1, ledger=ledger)


@pytest.mark.slow
def test_another_way_to_the_unit_is_another_promise(tmp_path):
    file, ledger = in_duckdb(tmp_path, None), tmp_path / "ledger"
    with ln.open(file, **SHOP, budget=1, ledger=ledger) as shop:
        shop["items"].count().release("1/2")
    other = {**SHOP, "links": {**LINKS, "orders.id": "customers.id", "items.order_id": "orders.id"}}
    del other["links"]["orders.customer_id"]
    with pytest.raises(BudgetChanged, match="protects another privacy unit"):
        ln.open(file, **other, ledger=ledger)
    with pytest.raises(BudgetChanged, match="protects another privacy unit"):
        ln.open(file, table="customers", privacy_unit="id", ledger=ledger, name=str(file))


def test_nothing_can_be_asked_of_a_closed_database(tmp_path):
    with ln.open(in_duckdb(tmp_path, None), **SHOP, budget=1, ledger=tmp_path / "ledger") as shop:
        question = shop["items"].count()
    with pytest.raises(Closed):
        question.release("1/2")


@pytest.mark.slow
@pytest.mark.parametrize(
    "changed",
    [
        {"privacy_unit": None},
        {"privacy_unit": "id"},
        {"privacy_unit": 3},
        {"table": "orders"},
        {"columns": {"id": "integer"}},
        {"links": {"orders.customer_id": "customers.city"}},
        {"links": "orders.customer_id"},
        {"links": {**LINKS, "returns.order_id": "orders.id"}},
        {"public": ["orders", "products"]},
        {"public": ["nowhere"]},
    ],
)
def test_declarations_that_make_no_sense_grant_and_write_nothing(tmp_path, changed):
    file = in_duckdb(tmp_path, None)
    with pytest.raises((BadParameter, BadSource)) as refused:
        ln.open(file, **{**SHOP, **changed}, budget=1, ledger=tmp_path / "ledger")
    assert refused.value.fix
    assert not (tmp_path / "ledger").exists()


def test_a_source_of_one_table_has_no_links(tmp_path):
    file = tmp_path / "customers.csv"
    file.write_text("id,city\n1,Lyon\n")
    with pytest.raises(LeastNoiseError):
        ln.open(file, **SHOP, budget=1, ledger=tmp_path / "ledger")


def test_public_tables_are_not_asked(shop):
    with pytest.raises(UnsafeJoin, match="public"):
        shop["products"]
    with pytest.raises(BadParameter, match="did you mean 'orders'"):
        shop["order"]
    with pytest.raises(BadParameter):
        shop[0]


def seen_of(folder, tables):
    """All that an analyst sees of some questions, but for the noisy numbers."""
    folder.mkdir()
    asked = [
        lambda shop: shop["items"].count(by="products.category", keys=["toys"], where="customers.city = 'Lyon'"),
        lambda shop: shop["items"].sum("price", bounds=(0, 9)),
        lambda shop: shop["orders"].count(by="day", of="units"),
        lambda shop: shop["orders"].count(by="customers.city", keys=[1]),
        lambda shop: shop.join([Source("items", "i"), Source("orders", "o", ((("i", "price"), ("o", "id")),))]),
        lambda shop: shop["orders"].median("id", bounds=(0, 20)),
    ]
    seen = []
    source = in_duckdb(folder, None, tables)
    with ln.open(source, **SHOP, budget=(1, "1/10"), ledger=folder / "ledger", name="shop") as shop:
        for number, ask in enumerate(asked):
            try:
                query = ask(shop)
                release = query.release("1e-3", "1e-6", request_id=str(number))
                seen.append((query.question, query.parameters(), str(release.plan), str(release.cost), shop.left))
            except LeastNoiseError as refusal:
                seen.append((type(refusal).__name__, str(refusal)))
    return seen


@pytest.mark.slow
def test_neighbours_look_the_same(tmp_path):
    """Without a customer, without any row, and with rows that break every link."""
    without = {name: (columns, [row for row in rows if 1 not in row[:2]]) for name, (columns, rows) in TABLES.items()}
    nothing = {name: (columns, []) for name, (columns, _) in TABLES.items()}
    twice = {name: (columns, rows * 2) for name, (columns, rows) in TABLES.items()}
    cases = enumerate([TABLES, without, nothing, twice])
    seen = [seen_of(tmp_path / str(number), tables) for number, tables in cases]
    assert all(one == seen[0] for one in seen)
    assert [len(one) for one in seen[0]] == [5, 5, 5, 2, 2, 5]


def test_no_bound_is_printed_where_other_tables_restrict_the_rows(shop):
    assert shop.count().plan(1).lower_bound is not None
    assert shop["orders"].count(by="day", keys=["a", "b"]).plan(1).lower_bound is not None
    assert shop["orders"].count(by="customers.city", keys=["Lyon"]).plan(1).lower_bound is None
    assert shop["orders"].count(where="customer_id > 3").plan(1).lower_bound is None
    assert shop["items"].count().plan(1).lower_bound is None
    joined = shop.join([Source("orders", "o"), Source("products", "p", ((("o", "day"), ("p", "id")),))])
    assert joined.count().plan(1).lower_bound is None
