"""SQL: each construct is the question that the method of a dataset makes, or is refused with what to write instead."""

from fractions import Fraction

import pytest

import leastnoise as ln
from leastnoise.errors import BadFilter, BadParameter, LeastNoiseError, UnknownColumn
from leastnoise.release.description import Description
from leastnoise.release.sql_query import read_sql

CITIES = ["Bonn", "Ulm"]
ROWS = (
    "person,city,age,day,amount,member\n1,Bonn,70,2024-01-05,10.5,true\n1,Ulm,70,2024-02-05,20,true\n"
    "2,Bonn,30,2024-01-07,1,false\n3,Ulm,,2023-01-01,,\n"
)
KINDS = {"person": "integer", "age": "integer", "day": "date", "amount": "decimal(10,2)", "member": "boolean"}


@pytest.fixture
def people(tmp_path):
    (tmp_path / "people.csv").write_text(ROWS)
    with ln.open(
        tmp_path / "people.csv",
        privacy_unit="person",
        budget=(19, "1e-3"),
        ledger=tmp_path / "ledger",
        columns=KINDS,
        groups_per_unit=3,
    ) as opened:
        yield opened


def asked(query):
    """All that tells a question from others; the views of SQL name their columns by their formulas."""
    return {"query": query.recorded_as, **query.parameters()}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "made"),
    [
        ("SELECT COUNT(*) FROM people", lambda p: p.count()),
        ("select count(*) n from whatever AS w where w.age >= 18 -- adults", lambda p: p.count(where="age >= 18")),
        ("SELECT COUNT(DISTINCT person) FROM p", lambda p: p.count(of="units")),
        ("SELECT COUNT(age) FROM p", lambda p: p.count(where="age IS NOT MISSING")),
        ("SELECT COUNT(age) FROM p WHERE member", lambda p: p.count(where="member AND age IS NOT MISSING")),
        ("SELECT SUM(CLAMP(age, 0, 100)) FROM p", lambda p: p.sum("age", (0, 100))),
        ("SELECT AVG(CLAMP(amount, 0, 2.5)) FROM p", lambda p: p.mean("amount", (0, 2.5))),
        ("SELECT VARIANCE(CLAMP(age, 0, 100)) FROM p", lambda p: p.variance("age", (0, 100))),
        ("SELECT STDDEV(CLAMP(age, 0, 100)) FROM p", lambda p: p.variance("age", (0, 100))),
        ("SELECT MEDIAN(CLAMP(age, 0, 100)) FROM p", lambda p: p.median("age", (0, 100))),
        ("SELECT QUANTILE(CLAMP(age, 0, 100), 0.9) FROM p", lambda p: p.quantile("age", 0.9, (0, 100))),
        (
            "SELECT PERCENTILE_CONT(0.25) WITHIN GROUP (ORDER BY CLAMP(age, 0, 100)) FROM p WHERE member",
            lambda p: p.quantile("age", Fraction(1, 4), (0, 100), where="member"),
        ),
        (
            "SELECT city, COUNT(*) FROM p WHERE city IN ('Bonn', 'Ulm') GROUP BY city",
            lambda p: p.count(by=["city"], keys={"city": CITIES}),
        ),
        (
            "SELECT COUNT(*), p.city FROM p WHERE age > 5 AND city IN ('Bonn', 'Ulm') AND member GROUP BY 2",
            lambda p: p.count(by=["city"], keys={"city": CITIES}, where="age > 5 AND member"),
        ),
        (
            "SELECT city, SUM(CLAMP(age, 0, 9)) FROM p WHERE city = 'Ulm' GROUP BY p.city",
            lambda p: p.sum("age", (0, 9), by=["city"], keys={"city": ["Ulm"]}),
        ),
        (
            "SELECT MEDIAN(CLAMP(age, 0, 9)), city FROM p WHERE city = 'Ulm' GROUP BY city",
            lambda p: p.median("age", (0, 9), by=["city"], keys={"city": ["Ulm"]}),
        ),
        ("SELECT member, COUNT(*) FROM p GROUP BY member", lambda p: p.count(by=["member"])),
        ("SELECT city, COUNT(*) FROM p GROUP BY city", lambda p: p.count(by=["city"])),
        ("SELECT city, COUNT(DISTINCT person) FROM p GROUP BY city", lambda p: p.count(by=["city"], of="units")),
        (
            "SELECT month(day) AS m, COUNT(*) FROM p GROUP BY m",
            lambda p: p.with_columns({"month(day)": "month(day)"}).count(by=["month(day)"], keys=range(1, 13)),
        ),
        (
            "SELECT if(age < 18, 'minor', 'adult') band, COUNT(*) FROM p GROUP BY band",
            lambda p: p.with_columns({(x := "CASE WHEN age < 18 THEN 'minor' ELSE 'adult' END"): x}).count(
                by=[x], keys=["minor", "adult"]
            ),
        ),
        (
            "SELECT AVG(CASE WHEN age >= 65 THEN 1 ELSE 0 END) FROM p",
            lambda p: p.with_columns({(x := "CASE WHEN age >= 65 THEN 1 ELSE 0 END"): x}).mean(x, (0, 1)),
        ),
        (
            "SELECT SUM(CLAMP(amount * 2, 0, 50)) FROM p",
            lambda p: p.with_columns({"(amount * 2)": "amount * 2"}).sum("(amount * 2)", (0, 50)),
        ),
        (
            "SELECT visits, COUNT(*) FROM (SELECT person, COUNT(*) AS visits FROM p WHERE member GROUP BY person) u "
            "WHERE visits IN (1, 2) GROUP BY visits",
            lambda p: p.per_unit({"visits": "count(*)"}, "member").count(by=["visits"], keys={"visits": [1, 2]}),
        ),
        (
            "SELECT AVG(CLAMP(u.spent, 0, 50)) "
            "FROM (SELECT SUM(CLAMP(amount, 0, 100)) AS spent FROM p GROUP BY person) u",
            lambda p: p.per_unit({"spent": "sum(clamp(amount, 0, 100))"}).mean("spent", (0, 50)),
        ),
    ],
)
def test_a_statement_is_the_question_that_python_makes(people, text, made):
    found = people.sql(text)
    assert [asked(query) for query in found.queries] == [asked(made(people))]
    assert found.asked is found.queries[0]


def test_several_aggregates_are_one_batch(people):
    text = """
        SELECT city AS c, COUNT(*) AS n, AVG(CLAMP(age, 0, 100)) AS age
        FROM people WHERE city IN ('Bonn', 'Ulm', 'Köln') GROUP BY city
        HAVING n > 0 OR c = 'Köln' ORDER BY COUNT(*) DESC, city LIMIT 2
    """
    question = people.sql(text)
    assert [query.recorded_as for query in question.queries] == ["Count", "Mean"]
    plan = question.plan(1)
    assert str(plan.price) == "ε = 1"
    first = question.release(12, request_id="mine")
    left = people.left.epsilon
    assert 7 <= left < 7.01
    assert first.table.names[0] == "c"
    assert first.table.names[1:4] == ("n", "n_low", "n_high")
    assert len(first.table) == 2
    numbers = dict(zip(first.releases[0].table["city"], first.releases[0].table["value"], strict=True))
    assert list(first.table["n"]) == sorted((n for c, n in numbers.items() if n > 0 or c == "Köln"), reverse=True)[:2]
    again = people.sql(text.replace("LIMIT 2", "LIMIT 1 OFFSET 1")).release(12, request_id="mine")
    assert list(again.table) == [list(first.table)[1]]
    assert people.left.epsilon == left
    assert "cost ε = 12" in str(again)
    assert again.to_dict()["request_id"] == "mine"
    assert list(again.to_pandas().columns) == list(again.table.names)


def test_a_wanted_error_has_the_price_that_the_questions_have(people):
    one = people.sql("SELECT COUNT(*) FROM p")
    assert one.price(5).price == people.count().price(5).price
    two = people.sql("SELECT COUNT(*) AS n, SUM(CLAMP(age, 0, 10)) AS s FROM p")
    assert two.price([5, 50]).price == people.batch([people.count(), people.sum("age", (0, 10))]).price([5, 50]).price
    assert two.price(50).price == two.price([50, 50]).price
    with pytest.raises(BadParameter, match="pass 2 numbers"):
        two.price([1, 2, 3])


def test_a_deviation_is_the_root_of_a_variance(people):
    found = people.sql("SELECT STDDEV(CLAMP(age, 0, 100)) AS s FROM p").release(10)
    assert found.table["s"][0] == max(found.releases[0].value, 0) ** 0.5


def test_bounds_and_keys_come_from_the_description(people):
    told = Description(bounds={"age": (0, 120)}, steps={"age": 2}, keys={"city": ("Bonn",)}, bins={"age": (0, 18, 65)})
    object.__setattr__(people, "description", told)
    found = people.sql("SELECT city, AVG(age) FROM p GROUP BY city").queries[0]
    assert asked(found) == asked(people.mean("age", (0, 120), step=2, by=["city"], keys={"city": ["Bonn"]}))
    found = people.sql("SELECT age, COUNT(*) AS n FROM p GROUP BY age HAVING age = '[0, 18)'")
    assert asked(found.queries[0]) == asked(people.count(by=["age"], bins={"age": (0, 18, 65)}))
    assert list(found.release(1).table["age"]) == ["[0, 18)"]
    found = people.sql("SELECT AVG(CLAMP(age, 0, 10)) FROM p").queries[0]
    assert asked(found) == asked(people.mean("age", (0, 10), step=2))


def test_formulas_that_differ_in_capitals_or_far_behind_are_two(people):
    """An engine may tell names apart by less than their letters; each formula keeps a column of its own."""
    long = f"coalesce(age{', 0' * 20})"
    for one, other, nobody in (
        ("CASE WHEN city = 'Bonn' THEN 1 ELSE 0 END", "CASE WHEN city = 'bonn' THEN 1 ELSE 0 END", 2),
        (f"CASE WHEN {long} > 0 THEN 1 ELSE 0 END", f"CASE WHEN {long} > 1e4 THEN 1 ELSE 0 END", 1),
    ):
        found = people.sql(f"SELECT {one} AS a, {other} AS b, COUNT(*) AS n FROM p GROUP BY a, b").queries[0]  # noqa: S608
        assert found.read().ravel().tolist() == [0, 2, 0, nobody]
        assert len({name[:60] for name in found.dataset.table.columns}) == len(found.dataset.table.columns)
        found = people.sql(f"SELECT {one} AS a, SUM({other}) AS s FROM p GROUP BY 1").queries[0]  # noqa: S608
        assert found.read().ravel().tolist() == [0, 0]


def test_a_column_that_is_called_like_a_formula_is_not_taken_for_it(tmp_path):
    """As `CREATE TABLE … AS SELECT lower(city)` makes one."""
    (tmp_path / "odd.csv").write_text("id,city,lower(city)\n1,Bonn,ulm\n2,ULM,ulm\n")
    with ln.open(tmp_path / "odd.csv", privacy_unit="id", budget=1, ledger=tmp_path / "ledger") as odd:
        text = "SELECT {0}, COUNT(*) FROM odd WHERE {0} IN ('ulm', 'bonn') GROUP BY {0}"
        for name, wanted in (("lower(city)", [1, 1]), ('"lower(city)"', [2, 0])):
            assert odd.sql(text.format(name)).queries[0].read().tolist() == wanted


def test_an_answer_has_no_two_columns_of_one_name(people):
    """`n` has its error bars in `n_low` and `n_high`, which no item may be called."""
    for text in ("COUNT(*) AS n, COUNT(age) AS n_low", "COUNT(age) AS n_high, COUNT(*) AS n"):
        with pytest.raises(BadFilter, match="one name"):
            people.sql(f"SELECT {text} FROM p")  # noqa: S608 - no database reads it


REFUSED = {
    "SELECT COUNT(*) FROM p WHERE p.nothing.age = 70": "column 40.*nothing.age",
    "SELECT COUNT(*) FROM people AS p WHERE p.city.age = 70": "column.*city.age",
    "SELECT COUNT(p.city.age) FROM p": "column.*city.age",
    "SELECT * FROM p": r"SELECT \* .*line 1, column 8",
    "SELECT city FROM p": "not in GROUP BY.*column 8",
    "SELECT age, COUNT(*) FROM p GROUP BY city": "not in GROUP BY",
    "SELECT city FROM p GROUP BY city": "nothing is counted",
    "SELECT city, AVG(CLAMP(age, 0, 9)) FROM p GROUP BY city": "not known",
    "SELECT city, day, COUNT(*) FROM p WHERE city IN ('Bonn') GROUP BY city, day": "all groups",
    "SELECT AVG(age) FROM p": "bounds are missing.*column 8.*CLAMP",
    "SELECT MIN(age) FROM p": "PERCENTILE_CONT",
    "SELECT MAX(age) FROM p": "PERCENTILE_CONT",
    "SELECT SUM(CLAMP(age, 0, 9)) / COUNT(*) FROM p": "costs nothing",
    "SELECT 1 + COUNT(*) FROM p": "costs nothing",
    "SELECT COUNT(DISTINCT city) FROM p": "COUNT\\(DISTINCT person\\)",
    "SELECT SUM(DISTINCT age) FROM p": "SUM",
    "SELECT SUM(city) FROM p": "takes numbers",
    "SELECT COUNT(*) OVER () FROM p": "across units",
    "SELECT ROW_NUMBER() OVER (PARTITION BY city ORDER BY age) FROM p": "across units",
    "SELECT COUNT(*) FROM p WHERE ROW_NUMBER() OVER () = 1": "OVER",
    "SELECT COUNT(*) FROM p WHERE age > (SELECT AVG(age) FROM p)": "SELECT.*column",
    "SELECT COUNT(*) FROM p WHERE age IN (SELECT age FROM p)": "SELECT",
    "SELECT COUNT(*) FROM p WHERE EXISTS (SELECT 1 FROM p)": "EXISTS",
    "SELECT (SELECT COUNT(*) FROM p) FROM p": "costs nothing|SELECT",
    "SELECT COUNT(*) FROM (SELECT city, COUNT(*) AS n FROM p GROUP BY city) AS x": "groups by the privacy unit",
    "SELECT COUNT(*) FROM (SELECT COUNT(*) AS n FROM p GROUP BY city) AS x": "groups by the privacy unit",
    "SELECT COUNT(*) FROM (SELECT person FROM p) AS x": "groups by the privacy unit",
    "SELECT COUNT(*) FROM (SELECT person, COUNT(*) AS n FROM p GROUP BY person ORDER BY n) AS x": "privacy unit",
    "SELECT COUNT(*) FROM (SELECT person, COUNT(*) AS n FROM p GROUP BY person LIMIT 5) AS x": "LIMIT",
    "SELECT COUNT(*) FROM (SELECT person, COUNT(*) n FROM p GROUP BY person HAVING n > 1) AS x": "privacy unit",
    "SELECT COUNT(*) FROM (SELECT person, COUNT(*) AS n FROM p GROUP BY person) AS x JOIN q ON x.n = q.b": "not joined",
    "SELECT COUNT(*) FROM p JOIN q ON p.a = q.b": "one table.*links",
    "SELECT COUNT(*) FROM p, q": "JOIN",
    "SELECT COUNT(*) FROM p NATURAL JOIN q": "NATURAL",
    "SELECT COUNT(*) FROM p CROSS JOIN q": "CROSS",
    "SELECT COUNT(*) FROM p FULL JOIN q ON p.a = q.b": "FULL",
    "SELECT COUNT(*) FROM p JOIN q ON p.a > q.b": "compare two columns",
    "SELECT COUNT(*) FROM p JOIN q ON a = b": "with their tables",
    "SELECT COUNT(*) FROM read_csv('/etc/passwd')": "functions of tables",
    "SELECT COUNT(*) FROM '/etc/passwd'": "no table",
    "SELECT COUNT(*) FROM p TABLESAMPLE (10 PERCENT)": "table",
    "SELECT COUNT(*) FROM p; DROP TABLE p": ";|one",
    "SELECT COUNT(*) FROM p UNION SELECT COUNT(*) FROM p": "UNION",
    "WITH a AS (SELECT 1) SELECT COUNT(*) FROM a": "begin with SELECT",
    "FROM p SELECT COUNT(*)": "begin with SELECT",
    "SELECT DISTINCT city FROM p": "GROUP BY",
    "SELECT COUNT(*) FROM p GROUP BY ROLLUP (city)": "ROLLUP",
    "SELECT COUNT(*) FROM p GROUP BY COUNT(*)": "COUNT|aggregates",
    "SELECT COUNT(*) FROM p GROUP BY 3": "no item",
    "SELECT lower(city) AS city, COUNT(*) FROM p GROUP BY city": "names a column of the table.*column 54.*BY 1",
    "SELECT age AS city, COUNT(*) FROM p GROUP BY city": "column of the table and another item",
    "SELECT COUNT(*) FROM p GROUP BY limit": 'column 33.*a column called limit is written "limit"',
    "SELECT COUNT(*) FROM p LIMIT age": "whole number",
    "SELECT COUNT(*) FROM p LIMIT 10%": "LIMIT|expected|whole",
    "SELECT COUNT(*) AS n FROM p HAVING age > 1": "see the answer",
    "SELECT COUNT(*) AS n FROM p HAVING n > 'x'": "one kind",
    "SELECT COUNT(*) AS n FROM p ORDER BY SUM(age)": "select it",
    "SELECT COUNT(*) AS n, COUNT(age) AS n FROM p": "one name",
    "SELECT COUNT(*) FILTER (WHERE age > 1) FROM p": "FILTER",
    "SELECT COUNT(*) INTO q FROM p": "INTO",
    "SELECT COUNT(*) FROM p FOR UPDATE": "FOR UPDATE",
    "SELECT COUNT(*) FROM p WINDOW w AS (PARTITION BY city)": "WINDOW",
    "SELECT COUNT(*) FROM p QUALIFY 1 = 1": "QUALIFY",
    "SELECT COUNT(*) FROM p WHERE pg_sleep(10) IS NULL": "such function",
    "SELECT udf(age) FROM p": "such function",
    "SELECT COUNT(*) FROM p\nWHERE city = \"Bonn\"": "line 2, column 14.*single quotes",
    "SELECT COUNT(*) FROM p WHERE x.age > 1": "no such column",
    "SELECT COUNT(*)": "FROM",
    "SELECT": "FROM|expected",
    "": "empty",
    "DELETE FROM p": "DELETE",
    "DROP TABLE p": "DROP",
    "ATTACH 'x' AS y": "ATTACH",
    "COPY p TO 'x'": "COPY",
    "PRAGMA version": "PRAGMA",
    "INSERT INTO p VALUES (1)": "INSERT",
    "SELECT COUNT(*) FROM p WHERE age = ?": "value itself",
    "SELECT COUNT(*) FROM p WHERE age = $1": r"\$",
    "SELECT COUNT(*) FROM p PIVOT (COUNT(*) FOR city IN ('a'))": "table|PIVOT|expected",
    "SELECT PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY age DESC) FROM p": "WITHIN GROUP",
    "SELECT QUANTILE(CLAMP(age, 0, 9), 'x') FROM p": "0 to 1",
    "SELECT COUNT(*) FROM (SELECT person, city, COUNT(*) AS n FROM p GROUP BY person) u": "groups by the privacy unit",
    "SELECT COUNT(*) FROM p LATERAL VIEW explode(x) t AS y": "LATERAL|expected|table",
}  # fmt: skip


SAME = [
    ("day = '2024-01-05'", "day = DATE '2024-01-05'"),
    ("CAST(day AS TIMESTAMP) < '2024-01-05'", "CAST(day AS TIMESTAMP) < TIMESTAMP '2024-01-05 00:00:00'"),
    ("age = 30.0", "age = 30"),
    ("age IN (30, 70.0)", "age in (30.0,70)"),
    ("amount > 1e1", "amount > 10.00"),
]
ENDS = [
    "",
    "HAVING n >= 0 OR k = 1 ORDER BY n DESC, k",
    "HAVING n / (n - n) > 1 OR n < 1e300 ORDER BY 1 / (n - n), CAST(k AS TEXT)",
    "ORDER BY CASE WHEN n > 1 THEN k END, m LIMIT 1 OFFSET 1",
]


@pytest.mark.slow
@pytest.mark.parametrize("end", ENDS)
@pytest.mark.parametrize("pair", SAME, ids=str)
def test_what_was_paid_for_is_answered(people, pair, end):
    """The same group in two spellings, and whatever acts on the released table, which must not fail any more."""
    item, group = (f"CASE WHEN {test} THEN 1 ELSE 0 END" for test in pair)
    select = f"SELECT COUNT(*) AS n, {item} AS k, SUM(CLAMP(age, 0, 9)) AS m FROM p GROUP BY {group} {end}"  # noqa: S608 - no database reads it
    found = people.sql(select).release(1, request_id="once").table
    assert found.keys == ("k",)
    assert set(found["k"]) <= {0, 1}


@pytest.mark.slow
@pytest.mark.parametrize("text", REFUSED)
def test_what_is_not_supported_is_refused_with_what_to_write(people, text):
    with pytest.raises((BadFilter, BadParameter, UnknownColumn), match=f"(?s){REFUSED[text]}"):
        people.sql(text)
    assert people.left.epsilon == 19


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
        "SELECT " + "(" * 50_000 + "1",
        "SELECT COUNT(*) FROM p WHERE " + "NOT " * 50_000 + "member",
        "SELECT " + "COUNT(*)," * 20_000 + "1 FROM p",
        "SELECT COUNT(*) FROM p WHERE age IN (" + "1," * 90_000 + "1)",
        "SELECT COUNT(*) FROM " + "(SELECT person FROM " * 200 + "p" + ")" * 200,
        "SELECT COUNT(*) FROM p" + " JOIN q ON p.a = q.b" * 5_000,
        "SELECT 'x" + "x" * 300_000,
        "\0",
        "SELECT COUNT(*) FROM p WHERE city = '\ud800'",
    ],
)
def test_hostile_statements_end_with_a_typed_error(people, text):
    with pytest.raises(LeastNoiseError):
        read_sql(people, text)


def test_no_text_is_no_statement(people):
    with pytest.raises(BadFilter, match="is text"):
        people.sql(5)
