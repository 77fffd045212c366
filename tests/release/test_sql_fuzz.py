"""Random statements: each becomes the questions of a dataset, or is refused by a typed error that says where and what.

Statements that make sense are changed by a word or a letter, others are words in any order. What is accepted is read
again from other spaces as the same questions, and its texts run in the engine without a failure.
"""

import random
import re
from datetime import date

import pytest

import leastnoise as ln
from leastnoise.errors import InputError, LimitError
from support.postgres import in_schema

pytestmark = pytest.mark.slow

WORDS = """
SELECT FROM WHERE GROUP BY HAVING ORDER LIMIT OFFSET AS JOIN LEFT ON AND OR NOT IN IS NULL MISSING BETWEEN LIKE CASE
WHEN THEN ELSE END CAST EXTRACT DATE TIMESTAMP INTERVAL DISTINCT ALL EXISTS UNION WITH OVER PARTITION WINDOW FILTER
WITHIN COUNT(*) COUNT( SUM( AVG( MEDIAN( MIN( PERCENTILE_CONT( VARIANCE( CLAMP( lower( left( coalesce( nullif( abs(
round( year( date_trunc( if( starts_with( ( ) , , , ) ( * + - / % = != < > <= >= || :: . ; [ ] { } @ $ ? : ~ ^ & | \\ `
" ' customers orders products o c id age city day price customer_id o.id c.age o.day o.price o.customer_id customers.id
orders.customer_id "order" order select 1 0 0.5 1e6 1e400 -3 'a' 'k' '2026-01-01' TRUE FALSE n x INTEGER TEXT REAL
ARRAY STRUCT LATERAL UNNEST TABLE VALUES USING NATURAL CROSS PIVOT QUALIFY -- /* */ é 日本 0x1F 1_000 .5 5. e'a' x'00'
N'a' INTO FOR UPDATE TOP ESCAPE COLLATE ROLLUP CUBE DESC NULLS FIRST FETCH
99999999999999999999999999999999999999999
""".split()  # noqa: SIM905
LETTERS = [0, 9, 34, 39, 40, 41, 42, 45, 46, 47, 92, 96, 0x3A9, 0x1F600, 0xD800, 0xFEFF, 0x200B, 0x202E]
STATEMENTS = [
    "SELECT c.city, COUNT(*) AS n FROM orders o JOIN customers c ON o.customer_id = c.id WHERE "
    "o.day >= DATE '2026-01-01' AND c.city IN ('a') GROUP BY c.city HAVING n > 3 ORDER BY n DESC LIMIT 5",
    "SELECT city, COUNT(*) AS n, AVG(CLAMP(age, 0, 100)) AS a FROM customers WHERE city IN ('a','b') GROUP BY city "
    "ORDER BY 2",
    "SELECT month(day) AS m, SUM(CLAMP(price, 0, 10)) FROM orders WHERE flag AND price / 2 < 7 GROUP BY month(day)",
    "SELECT COUNT(*) FROM (SELECT customers.id, COUNT(*) AS k, SUM(CLAMP(price, 0, 9)) AS s FROM orders "
    "WHERE price > 1 GROUP BY customers.id) u WHERE k > 2",
    "SELECT PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY CLAMP(age, 0, 10)) FROM customers WHERE CASE WHEN age < 3 THEN "
    '1 ELSE 2 END = 1 AND CAST(city AS INTEGER) IS MISSING',
    'SELECT COUNT(*) FROM orders WHERE "order" LIKE \'k%\' AND day BETWEEN DATE \'2026-01-01\' AND DATE \'2026-02-01\'',
]  # fmt: skip
OPTIONS = {
    "privacy_unit": "customers.id",
    "links": {"orders.customer_id": "customers.id"},
    "public": ["products"],
    "budget": 1,
}


def fill(execute):
    execute("CREATE TABLE customers (id bigint, city varchar, age int)")
    execute("INSERT INTO customers VALUES (1, 'a', 20), (2, 'b', NULL), (3, NULL, -5)")
    execute(
        'CREATE TABLE orders (id bigint, customer_id int, day date, price decimal(8, 2), "order" varchar, flag boolean)'
    )
    execute(
        "INSERT INTO orders VALUES (1, 1, DATE '2026-01-01', 1.5, 'k', TRUE), (2, 2, DATE '9999-12-31', 0, '12', NULL)"
    )
    execute("CREATE TABLE products (code varchar, category varchar)")


@pytest.fixture
def shop(tmp_path):
    duckdb = pytest.importorskip("duckdb")
    with duckdb.connect(str(tmp_path / "shop.duckdb")) as connection:
        fill(connection.execute)
    with ln.open(tmp_path / "shop.duckdb", **OPTIONS, ledger=tmp_path / "ledger") as opened:
        yield opened


def changed(dice):
    """A statement with a few words or letters changed, or words in any order."""
    if dice.random() < 0.2:
        return " ".join(["SELECT", *(dice.choice(WORDS) for _ in range(dice.randint(1, 14)))])
    words = dice.choice(STATEMENTS).split(" ")
    for _ in range(dice.choice([1, 1, 2, 3])):
        place, shape = dice.randrange(len(words)), dice.randrange(5)
        if shape == 0:
            words[place] = dice.choice(WORDS)
        elif shape == 1:
            words.insert(place, dice.choice(WORDS))
        elif shape == 2 and len(words) > 1:
            del words[place]
        elif shape == 3:
            other = dice.randrange(len(words))
            words[place], words[other] = words[other], words[place]
        else:
            word, cut = words[place], dice.randrange(len(words[place]) + 1)
            words[place] = word[:cut] + chr(dice.choice([*LETTERS, dice.randrange(32, 127)])) + word[cut:]
    return " ".join(words)


def read(shop, text):
    """The questions; None where the statement is refused as it should be. Anything else is raised."""
    refusal = None
    try:
        return shop.sql(text)
    except (InputError, LimitError) as error:
        refusal = error
    assert re.search(r"line \d+, column \d+", str(refusal)), (text, str(refusal))
    assert refusal.fix, text
    return None


def asked(query):
    return [each.to_dict() for each in query.queries]


def search(shop, count, seed, ran):
    dice, accepted, refused = random.Random(seed), 0, 0
    for _ in range(count):
        text = changed(dice)
        query = read(shop, text)
        if query is None:
            refused += 1
            continue
        accepted += 1
        if accepted <= ran:
            again = read(shop, f"  {text}\n")
            assert again is not None, text
            assert asked(again) == asked(query), text
            for each in query.queries:
                each.read()  # rehearsed first; an engine that fails would raise
    return accepted, refused


def test_statements_are_answered_or_refused_with_their_place(shop):
    accepted, refused = search(shop, 4000, 1, ran=40)
    assert accepted > 40
    assert refused > 2000


@pytest.mark.engine
def test_postgres_answers_what_was_accepted(postgres_address, tmp_path):
    import psycopg

    address = in_schema(postgres_address, "fuzzed_statements")
    with psycopg.connect(address) as connection:
        fill(connection.execute)
    with ln.open(address, **OPTIONS, ledger=tmp_path / "ledger") as shop:
        assert search(shop, 1500, 2, ran=20)[0] >= 20


@pytest.mark.engine
def test_spark_answers_what_was_accepted(spark, tmp_path):
    rows = {
        "customers": ([(1, "a", 20), (2, "b", None), (3, None, -5)], "id bigint, city string, age int"),
        "orders": (
            [(1, 1, date(2026, 1, 1), None, "k", True)],
            "id bigint, customer_id int, day date, price decimal(8, 2), `order` string, flag boolean",
        ),
        "products": ([("k", "c")], "code string, category string"),
    }
    for name, (values, types) in rows.items():
        spark.createDataFrame(values, types).createOrReplaceTempView(name)
    with ln.open(spark, **OPTIONS, ledger=tmp_path / "ledger") as shop:
        assert search(shop, 400, 3, ran=4)[0] >= 4
