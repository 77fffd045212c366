"""Statements that people write: each is refused before anything is spent, with its place and what to write instead.

In each text the sign ‸ stands where the error says that the fault is; it is taken out before the text is read.
"""

import re

import duckdb
import pytest

import leastnoise as ln
from leastnoise.data.predicates import place_in
from leastnoise.errors import BadFilter, BadParameter, UnknownColumn

TABLES = """
CREATE TABLE customers (id INT, city TEXT, born DATE, "order" INT, "select" TEXT);
CREATE TABLE orders (id INT, customer_id INT, day DATE, amount DECIMAL(10, 2), city TEXT);
CREATE TABLE items (id INT, order_id INT, product_id INT, price DOUBLE);
CREATE TABLE products (id INT, category TEXT)
"""
LINKS = {
    "orders.customer_id": "customers.id",
    "items.order_id": "orders.id",
    "items.product_id": "products.id",
}
REFUSED = {
    "SELECT ‸* FROM orders": "name what to count: SELECT COUNT(*)",
    "SELECT o.‸* FROM orders o": "name a column",
    "SELECT ‸id FROM orders": 'add GROUP BY "orders.id", or count it:',
    "SELECT ‸city, COUNT(*) FROM orders GROUP BY day": 'add GROUP BY "orders.city", or count it:',
    "SELECT COUNT(*) FROM ‸order": "did you mean 'orders'?",
    "SELECT COUNT(*) FROM ‸products": "read them directly, or begin with a private",
    "SELECT COUNT(*) FROM orders, ‸customers": "write JOIN … ON a.x = b.y",
    "SELECT COUNT(*) FROM orders CROSS JOIN ‸customers": "use JOIN … ON or LEFT JOIN … ON",
    "SELECT COUNT(*) FROM orders o RIGHT JOIN ‸customers c ON o.customer_id = c.id": "use JOIN … ON or LEFT JOIN … ON",
    "SELECT COUNT(*) FROM orders NATURAL JOIN ‸customers": "use JOIN … ON or LEFT JOIN … ON",
    "SELECT COUNT(*) FROM orders o SEMI JOIN ‸customers c ON o.customer_id = c.id": "use JOIN … ON or LEFT JOIN … ON",
    "SELECT COUNT(*) FROM orders JOIN ‸customers": "write JOIN … ON a.x = b.y",
    "SELECT COUNT(*) FROM orders o JOIN ‸customers c ON o.id = c.id": "let ON say that c.id is the customers.id of",
    "SELECT COUNT(*) FROM orders o JOIN ‸orders p ON o.city = p.city": "let ON say that p.customer_id is the",
    "SELECT COUNT(*) FROM orders ‸o JOIN orders o ON o.id = o.id": "give it another alias",
    "SELECT COUNT(*) FROM orders o JOIN customers c ON o.‸customer_id > c.id": "compare two columns, and put the rest",
    "SELECT COUNT(*) FROM orders o JOIN customers c ON o.customer_id = c.id AND c.city = ‸'Bonn'": "write columns",
    "SELECT COUNT(*) FROM orders o JOIN customers c ON ‸customer_id = id": "write columns with their tables: a.x =",
    "SELECT COUNT(*) FROM orders JOIN ‸customers ON TRUE": "compare two columns, and put the rest in",
    "SELECT COUNT(*) FROM orders o JOIN customers c ON o.‸customer_id = c.id OR TRUE": "compare two columns, and put",
    "SELECT COUNT(*) FROM orders JOIN customers USING (‸nothing)": "the names are 'id', 'customer_id', 'day',",
    "SELECT COUNT(*) FROM orders o JOIN customers c ON o.customer_id = c.id WHERE ‸city = 'Bonn'": "write o.city or",
    "SELECT COUNT(*) FROM orders o JOIN (SELECT ‸id FROM customers) c ON o.customer_id = c.id": "join tables along",
    'SELECT COUNT(*) FROM orders WHERE city = ‸"Bonn"': "text is written in single quotes: 'Bonn';",
    "SELECT COUNT(*) FROM orders WHERE city = ‸Bonn": "the columns are 'orders.id',",
    "SELECT COUNT(*) FROM orders WHERE ‸day = 2024-01-05": "write a literal of the column's kind: 18,",
    "SELECT COUNT(*) FROM orders WHERE ‸day = '5.1.2024'": "write '2024-01-31'",
    "SELECT COUNT(*) FROM orders WHERE day >= DATE ‸'2024-02-30'": "write DATE '2024-01-31'",
    "SELECT COUNT(*) FROM orders WHERE day > ‸NOW()": "write the moment as a literal: DATE",
    "SELECT COUNT(*) FROM orders WHERE day > ‸CURRENT_DATE": "write the moment as a literal: DATE",
    "SELECT COUNT(*) FROM orders WHERE day > DATE ‸'2024-01-01' - INTERVAL 1 DAY": "write the moment as a literal:",
    "SELECT COUNT(*) FROM orders WHERE ‸amount = NULL": "write age IS MISSING",
    "SELECT COUNT(*) FROM orders WHERE amount ‸=> 3": "write comparisons such as age >= 18 joined",
    "SELECT COUNT(*) FROM orders WHERE ‸amount > '3'": "quotes make text: write 18 for a number and",
    "SELECT COUNT(*) FROM orders WHERE amount > (SELECT ‸AVG(amount) FROM orders)": "an expression looks at one row:",
    "SELECT COUNT(*) FROM orders WHERE customer_id IN (SELECT ‸id FROM customers)": "an expression looks at one row:",
    "SELECT COUNT(*) FROM orders WHERE EXISTS (SELECT ‸1 FROM customers)": "an expression looks at one row: compare",
    "SELECT COUNT(*) FROM orders WHERE ‸city ILIKE 'b%'": "use LIKE 'start%', LIKE '%end' or LIKE",
    "SELECT COUNT(*) FROM orders WHERE ‸city LIKE 'b_n'": "join two with AND, or use starts_with,",
    "SELECT COUNT(*) FROM orders WHERE ‸city LIKE city": "write for example 'Bad %'",
    "SELECT COUNT(*) FROM orders WHERE ‸city || 'x' = 'ax'": "list the texts: city IN ('Bonn', 'Ulm')",
    "SELECT COUNT(*) FROM orders WHERE ‸concat(city, 'x') = 'ax'": "list the texts: city IN ('Bonn', 'Ulm')",
    "SELECT COUNT(*) FROM orders WHERE ‸substr(city, 1, 2) = 'ab'": "take the first letters: left(zip, 2)",
    "SELECT COUNT(*) FROM orders WHERE ‸random() < 0.5": "an expression gives the same value whenever",
    "SELECT COUNT(*) FROM orders WHERE ‸mod(id, 2) = 0": "use + - * / and %",
    "SELECT COUNT(*) FROM orders WHERE ‸sqrt(amount) < 5": "use + - * / and %",
    "SELECT COUNT(*) FROM orders WHERE ‸datediff(day, day) < 5": "compare dates with literals, or take parts:",
    "SELECT COUNT(*) FROM orders WHERE CAST(‸amount AS DECIMAL(10,2)) = 3": "cast to INTEGER, REAL, TEXT, DATE or",
    "SELECT COUNT(*) FROM orders WHERE ‸amount IN ()": "give at least one literal",
    "SELECT COUNT(*) FROM orders WHERE ‸amount IN 1": "list literals in parentheses: city IN",
    "SELECT COUNT(*) FROM orders WHERE ‸amount IN (1, NULL)": "write age IS MISSING",
    "SELECT COUNT(*) FROM orders WHERE ‸amount IN (1, amount)": "write city IN ('Bonn')",
    "SELECT COUNT(*) FROM orders WHERE (‸amount, id) IN ((1, 2))": "compare one value at a time",
    "SELECT COUNT(*) FROM orders WHERE ‸amount": "compare a boolean with TRUE or FALSE",
    "SELECT COUNT(*) FROM orders WHERE ‸amont > 3": "did you mean 'orders.amount'?",
    "SELECT COUNT(*) FROM orders WHERE city = 'é🙂' AND\n  ‸amont > 3": "did you mean 'orders.amount'?",
    "SELECT COUNT(*) FROM orders WHERE o.‸amount > 3": "did you mean 'orders.amount'?",
    "SELECT COUNT(*) FROM orders WHERE ‸amount > ?": "write the value itself",
    "SELECT COUNT(*) FROM orders WHERE ‸amount > :x": "write the value itself",
    "SELECT COUNT(*) FROM orders WHERE amount > ‸$1": "write the value itself",
    "SELECT COUNT(*) FROM orders WHERE amount > 1 ‸&& id > 2": "write AND",
    "SELECT COUNT(*) FROM orders WHERE ‸amount ^ 2 > 3": "multiply: x * x",
    "SELECT COUNT(*) FROM orders WHERE ‸id % 0 = 0": "write for example id % 10 = 3",
    "SELECT COUNT(*) FROM orders WHERE ‸id % amount = 0": "write for example id % 10 = 3",
    "SELECT COUNT(*) FROM orders WHERE ‸city IS 'a'": "use = instead",
    "SELECT COUNT(*) FROM orders WHERE ‸city IS DISTINCT FROM 'a'": "write NOT (a = b OR (a IS MISSING AND b IS",
    "SELECT COUNT(*) FROM orders WHERE CASE ‸amount WHEN 1 THEN 'a' ELSE 2 END = 'a'": "quotes make text: write 18",
    "SELECT COUNT(*) FROM orders WHERE EXTRACT(dow FROM ‸day) = 1": "the parts are year, quarter, month, week,",
    "SELECT COUNT(*) FROM orders WHERE EXTRACT(hour FROM ‸day) = 1": "name a column of times",
    "SELECT COUNT(*) FROM orders WHERE ‸date_trunc('decade', day) = DATE '2020-01-01'": "the units are day, week,",
    "SELECT COUNT(*) FROM orders WHERE ‸date_trunc(month, day) = DATE '2020-01-01'": "write for example",
    "SELECT COUNT(*) FROM orders WHERE ‸lower(amount) = 'a'": "write for example lower(city)",
    "SELECT COUNT(*) FROM orders WHERE ‸round(amount, 2) = 1": "write for example round(income / 1000)",
    "SELECT COUNT(*) FROM orders WHERE ‸1e400 > amount": "use is_missing() or IS MISSING for NaN, and",
    "SELECT COUNT(*) FROM orders WHERE amount > ‸1_000": "write 18, 0.5 or 1e6",
    "SELECT COUNT(*) FROM orders WHERE amount > ‸0x10": "write 18, 0.5 or 1e6",
    "SELECT COUNT(*) FROM orders WHERE city = 'it's‸'": "close the text with a second quote; write",
    "SELECT COUNT(*) FROM orders WHERE city = ‸'open": "close the text with a second quote; write",
    "SELECT COUNT(*) FROM orders WHERE city = ‸N'a'": "write the text in single quotes",
    "SELECT COUNT(*) FROM orders WHERE city = E‸'a\n'": "write comparisons such as age >= 18 joined",
    "SELECT COUNT(*) FROM orders WHERE city = ‸'a' COLLATE nocase": "leave it out: text is compared letter by",
    "SELECT COUNT(*) FROM orders WHERE [‸1] = 3": "use IN (…) with parentheses",
    "SELECT COUNT(*) ‸/* open FROM orders": "see that quotes and comments are closed",
    "SELECT COUNT(*) FROM orders WHERE amount > 3 ‸AND": "write comparisons such as age >= 18 joined",
    "SELECT COUNT(*) FROM orders WHERE amount > 3 ‸ORDER city": "write comparisons such as age >= 18 joined",
    "SELECT COUNT(*) FROM orders‸; DROP TABLE orders": "write one condition, expression or",
    "‸DELETE FROM orders": "begin with SELECT: SELECT COUNT(*) FROM",
    "‸EXPLAIN SELECT COUNT(*) FROM orders": "begin with SELECT: SELECT COUNT(*) FROM",
    "‸SELEC COUNT(*) FROM orders": "begin with SELECT: SELECT COUNT(*) FROM",
    "‸WITH x AS (SELECT 1) SELECT COUNT(*) FROM x": "begin with SELECT: SELECT COUNT(*) FROM",
    "‸(SELECT COUNT(*) FROM orders)": "begin with SELECT: SELECT COUNT(*) FROM",
    "SELECT ‸COUNT(*)": "name the table: FROM people",
    "SELECT ‸COUNT(*) FROM orders UNION SELECT COUNT(*) FROM orders": "write one SELECT statement",
    "SELECT DISTINCT ‸city FROM orders": "name the columns in GROUP BY",
    "SELECT ‸COUNT(DISTINCT city) FROM orders": "count units: COUNT(DISTINCT customers.id),",
    "SELECT ‸COUNT(DISTINCT *) FROM orders": "count rows: COUNT(*), or units:",
    "SELECT ‸COUNT() FROM orders": "write count(*), or count(x) for the rows",
    "SELECT ‸COUNT(id, city) FROM orders": "write count(x) with the values it takes",
    "SELECT ‸SUM(amount) FROM orders": 'write sum(CLAMP("orders.amount", 0, 100))',
    "SELECT SUM(‸*) FROM orders": "name a column",
    "SELECT ‸SUM(city) FROM orders": "use COUNT",
    "SELECT ‸SUM(DISTINCT amount) FROM orders": "write sum(x) with the values it takes",
    "SELECT COUNT(*), SUM(‸CLAMP(amount, 10, 0)) FROM orders": "write for example clamp(income, 0, 1000)",
    "SELECT COUNT(*), ‸SUM(CLAMP(amount, 5, 5)) FROM orders": "pass bounds=(0, 100)",
    "SELECT ‸PERCENTILE_CONT(1.5) WITHIN GROUP (ORDER BY CLAMP(amount, 0, 10)) FROM orders": "pass for example",
    "SELECT ‸PERCENTILE_DISC(0.5) WITHIN GROUP (ORDER BY amount) FROM orders": "write PERCENTILE_CONT(0.5) WITHIN",
    "SELECT ‸MIN(amount) FROM orders": "MIN is one person's value: use",
    "SELECT ‸COUNT(*) + 1 FROM orders": "select them one by one: what is done with",
    "SELECT ‸COUNT(*) FILTER (WHERE amount > 3) FROM orders": "use WHERE, or SUM(CASE WHEN … THEN 1 ELSE 0",
    "SELECT ‸RANK() OVER (ORDER BY amount) FROM orders": "a window looks across units: use GROUP BY",
    "SELECT ‸STRING_AGG(city, ',') FROM orders": "a list of values can't be released: count",
    "SELECT city, ‸SUM(CLAMP(amount, 0, 10)) FROM orders GROUP BY city": "write WHERE orders.city IN ('a', 'b'), or",
    "SELECT city, ‸day, COUNT(*) FROM orders WHERE city IN ('a') GROUP BY city, day": "add to WHERE for example:",
    "SELECT COUNT(*) FROM orders GROUP BY ‸3": "there are 1",
    "SELECT COUNT(*) FROM orders GROUP BY ROLLUP (‸city)": "write one statement for each breakdown",
    "SELECT COUNT(*) AS n FROM orders HAVING ‸m > 3": "name one of n, or put it in WHERE",
    "SELECT COUNT(*) AS n FROM orders HAVING ‸SUM(amount) > 3": 'select it: sum("orders.amount") AS x',
    "SELECT COUNT(*) AS n FROM orders ORDER BY ‸amount": "name one of n, or put it in WHERE",
    "SELECT COUNT(*) AS n FROM orders ORDER BY ‸2": "there are 1",
    "SELECT COUNT(*) AS n FROM orders LIMIT -‸1": "write a whole number: LIMIT 10",
    "SELECT COUNT(*) AS n FROM orders LIMIT ‸n": "write a whole number: LIMIT 10",
    "SELECT COUNT(*) AS n FROM orders FETCH FIRST ‸3 ROWS ONLY": "write LIMIT 10",
    "SELECT ‸COUNT(*) AS n, COUNT(*) AS n FROM orders": "name one: COUNT(*) AS n",
    "SELECT COUNT(*) AS n_low, ‸COUNT(*) AS n FROM orders": "name one otherwise: an aggregate n has its",
    "SELECT COUNT(*) FROM customers WHERE ‸select = 'a'": "write comparisons such as age >= 18 joined",
    "SELECT COUNT(*) FROM (SELECT ‸city, COUNT(*) AS n FROM orders GROUP BY city) x": "select customers.id, COUNT(*)",
    "SELECT COUNT(*) FROM (SELECT customer_id, ‸AVG(amount) AS n FROM orders GROUP BY customer_id) x": "use a feature",
    "SELECT COUNT(*) FROM ‸orders TABLESAMPLE 10 PERCENT": "name a table that was opened, and nothing",
    "SELECT COUNT(*) FROM ‸read_csv('x.csv')": "name a table that was opened: FROM people",
    "SELECT COUNT(*) FROM orders AS ‸o(a, b)": "name the table alone: FROM orders AS o",
    "SELECT ‸COUNT(*) FROM orders QUALIFY 1 = 1": "use HAVING",
}
ACCEPTED = [
    'SELECT SUM(CLAMP("orders.amount", 0, 100)) FROM orders',
    'SELECT "orders.city", COUNT(*) FROM orders GROUP BY "orders.city"',
    "SELECT COUNT(ALL amount), COUNT(*) AS FROM FROM orders WHERE amount == 3 AND amount::int = 3;",
    "SELECT COUNT(*) FROM customers WHERE order = 3 AND \"select\" = 'a'",
    "SELECT COUNT(*) FROM (SELECT customers.id, COUNT(*) AS n FROM orders GROUP BY customers.id) x WHERE n > 1",
]


@pytest.fixture(scope="module")
def shop(tmp_path_factory):
    folder = tmp_path_factory.mktemp("shop")
    with duckdb.connect(str(folder / "shop.duckdb")) as connection:
        connection.execute(TABLES)
    declared = {"privacy_unit": "customers.id", "links": LINKS, "public": ["products"], "groups_per_unit": 3}
    with ln.open(folder / "shop.duckdb", **declared, budget=1, ledger=folder / "ledger") as opened:
        yield opened


@pytest.mark.parametrize("marked", REFUSED)
def test_a_refusal_says_where_the_fault_is_and_what_to_write(shop, marked):
    text, start = marked.replace("‸", ""), marked.index("‸")
    with pytest.raises((BadFilter, BadParameter, UnknownColumn)) as caught:
        shop.sql(text)
    problem, fix = caught.value.problem, caught.value.fix
    assert re.findall(r"line \d+, column \d+", problem) == [place_in(text, start)]
    assert fix.startswith(REFUSED[marked])
    assert shop.left.epsilon == 1


@pytest.mark.parametrize("text", ACCEPTED)
def test_what_a_refusal_advises_is_read(shop, text):
    assert shop.sql(text).queries
