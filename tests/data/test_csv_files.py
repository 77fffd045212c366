"""CSV files: what is public comes from the first line and from declarations; no row changes it, or fails to be read."""

import csv
import gzip
import random
import traceback
from collections import Counter
from datetime import date, datetime
from decimal import Decimal

import duckdb
import pytest

from leastnoise.data import BinAxis, Contribution, CountRows, Kind, col, open_table
from leastnoise.data.declared import reading_of
from leastnoise.errors import BadFilter, BadParameter, BadSource, LeastNoiseError, UnknownColumn

EACH_ROW = Contribution(None)
KINDS = {
    "person": "integer",
    "age": "real",
    "pay": "decimal(6,2)",
    "born": "date",
    "seen": "timestamp",
    "member": "boolean",
}
HEADER = b"person,age,pay,born,seen,member,note\n"
ROW = b'7,36,1200.50,1988-02-29,2024-01-31T12:00:00Z,yes,"a ""b"", c"\n'
PIECES = [
    b'"', b'""', b",", b"\n", b"\r", b"\r\n", b"\0", b"\xe9", b"\xff\xfe", b"\xc3", b"\xef\xbb\xbf", b"\xed\xa0\x80",
    b" ", b"\t", b"\\", b"'", b"#", b";", b"1", b"-1", b"30.5", b"1e999", b"9" * 30, b"nan", b"infinity", b"refused",
    b"0x1f", b"1_000", b"0000-01-01", b"2024-02-30", b"9999-12-31 23:59:59-23:59", b"2024-01-01T00:00:00+99:99",
    b"true", b"\x1a",
]  # fmt: skip


def count(table):
    return table.aggregate(EACH_ROW, (), (CountRows(),))[0].item()


def outcome(file, data, opening):
    """What somebody without a budget sees of a file: whether it opens, its schema, and whether a count succeeds."""
    file.write_bytes(data)
    try:
        with opening(file) as table:
            count(table)
            return "answered", dict(table.columns), table.name
    except (LeastNoiseError, duckdb.Error) as error:
        return type(error).__name__, str(error)


def random_rows(dice, most=25):
    rows = b"".join(dice.choice(PIECES) for _ in range(dice.randrange(most)))
    return rows if dice.random() < 0.5 else ROW + rows + b"\n" + ROW


@pytest.mark.slow
def test_no_row_changes_what_is_seen_of_a_file(tmp_path):
    dice, file = random.Random(17), tmp_path / "rows.csv"

    def opened(path):
        return open_table(path, columns=KINDS)

    plain = outcome(file, HEADER, opened)
    assert plain[0] == "answered"
    assert plain[1]["age"] is Kind.REAL
    for _ in range(40):
        assert outcome(file, HEADER + random_rows(dice), opened) == plain
    for piece in PIECES:
        assert outcome(file, HEADER + 3 * ROW + b"1," + piece + b",2\n" + ROW, opened) == plain
    for data in (
        b"x" * 5_000_000,
        b'"' + b"x" * 5_000_000,
        b"1," * 100_000,
        b"\n" * 100_000,
        random.Random(1).randbytes(10**6),
    ):
        assert outcome(file, HEADER + ROW + data + b"\n" + ROW, opened) == plain


@pytest.mark.slow
def test_a_reader_that_looks_at_the_rows_is_found_out(tmp_path):
    """The same search, against DuckDB's own guesses: types from all rows, and failures on some."""
    dice, file = random.Random(17), tmp_path / "rows.csv"

    class Guessed:
        def __init__(self, path):
            self._rows = duckdb.connect().from_query(f"FROM read_csv('{path}', sample_size = -1)")
            self.columns, self.name = dict(zip(self._rows.columns, map(str, self._rows.types), strict=True)), "rows"

        def __enter__(self):
            return self

        def __exit__(self, *_):
            pass

        def aggregate(self, *_):
            return [self._rows.count("*").fetchnumpy()["count_star()"]]

    seen = {str(outcome(file, HEADER + ROW + random_rows(dice), Guessed)[:2]) for _ in range(30)}
    assert len(seen) > 3


@pytest.mark.slow
def test_a_row_without_quotes_leaves_all_other_rows_alone(tmp_path):
    dice, file = random.Random(3), tmp_path / "rows.csv"
    lines = [piece for piece in PIECES if not set(piece) & set(b'"\r\n')]

    def rows(data):
        file.write_bytes(b"a,b\n" + data)
        with open_table(file) as table:
            return table.discover(EACH_ROW, ("a", "b"))

    before, after = b'1,"two\nlines"\n', b"3,four\n5\n"
    alone = rows(before + after)
    assert alone == {("1", "two\nlines"): 1, ("3", "four"): 1, ("5", None): 1}
    for _ in range(25):
        line = b"".join(dice.choice(lines) for _ in range(dice.randrange(1, 8)))
        both = rows(before + line + b"\n" + after)
        assert sum((both[key] - number) for key, number in alone.items()) + len(both.keys() - alone.keys()) <= 1
        assert all(both[key] >= number for key, number in alone.items())


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_a_record_is_read_in_one_way_whatever_stands_before_and_after_it(tmp_path, seed):
    """Quotes in odd places included: what two files hold together is what each holds, and as Python reads a line."""
    dice, file = random.Random(seed), tmp_path / "rows.csv"

    def line():
        found = "".join(dice.choice(['"', '"', ",", ",", "a", "é", " ", "\\", "'", '""', '","']) for _ in range(9))
        closed = len(list(csv.reader([found + "\n", "\n"]))) == 2
        return found if closed else line()

    def rows(lines):
        file.write_text("a,b,c\n" + "".join(f"{line}\n" for line in lines))
        with open_table(file) as table:
            return Counter(table.discover(EACH_ROW, ("a", "b", "c")))

    lines = [line() for _ in range(400)]
    whole = rows(lines)
    assert whole == rows(lines[::2]) + rows(lines[1::2])
    expected = [[field or None for field in record[:3]] for record in csv.reader(lines) if record]
    assert whole == Counter(tuple(record + [None] * (3 - len(record))) for record in expected)


@pytest.mark.slow
def test_records_up_to_two_million_bytes_are_read(tmp_path):
    file = tmp_path / "rows.csv"
    long = {"just": "x" * 1_999_997, "over": "x" * 2_000_000, "letters": "é" * 1_000_000, "quotes": '""' * 700_000}
    for name, text in long.items():
        file.write_text(f'a,b\n1,2\n"{text}",3\n4,5\n')
        with open_table(file) as table:
            kept = table.scores(EACH_ROW, [col("b") == x for x in "235"]).tolist()
            assert kept == [1, 0 if name in ("over", "letters") else 1, 1], name


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        ("integer", {"30": 30, " -7\t": -7, "+5": 5, "30.0": 30, "30.": 30, "9223372036854775807": 2**63 - 1}),
        ("integer", dict.fromkeys(["", "30.5", "1e3", "1_000", "0x1f", "9223372036854775808", "refused", "٣"])),
        ("real", {"30": 30.0, "-.5": -0.5, "1e3": 1000.0, "5.": 5.0}),
        ("real", dict.fromkeys(["nan", "inf", "infinity", "1,5", "1_0", ".", "e5", "1e99999", "- 5"])),
        ("decimal(6,2)", {"1200.5": Decimal("1200.50"), "-0.005": Decimal("-0.01"), "1e3": Decimal(1000)}),
        ("decimal(6,2)", dict.fromkeys(["10000", "1e9999", "nan", "", "12,50"])),
        ("boolean", {"True": True, "T": True, "yes": True, "1": True, "NO": False, "f": False, "0": False}),
        ("boolean", dict.fromkeys(["2", "on", "", "truee"])),
        ("date", {"2024/02/29": date(2024, 2, 29), "2024/02/30": None, "29/02/2024": None, "2024/2/9": None}),
        ("date", {"2024-02-29": date(2024, 2, 29), "0001-01-01": date(1, 1, 1), "9999-12-31": date(9999, 12, 31)}),
        (
            "date",
            dict.fromkeys(["2023-02-29", "0000-01-01", "infinity", "epoch", "2024-1-1", "10000-01-01", "1.2.2024"]),
        ),
        ("date", dict.fromkeys(["2024-01-01 (BC)", "2024-01-01 12:00:00"])),
        (
            "timestamp",
            {
                "2024-01-31": datetime(2024, 1, 31),
                "2024-01-31 12:30": datetime(2024, 1, 31, 12, 30),
                "2024/01/31 12:30": datetime(2024, 1, 31, 12, 30),
                "2024-01-31T12:30:01.5": datetime(2024, 1, 31, 12, 30, 1, 500000),
                "2024-01-31 12:30:00Z": datetime(2024, 1, 31, 12, 30),
                "2024-01-31 12:30:00+02:00": datetime(2024, 1, 31, 10, 30),
                "2024-01-31 12:30:00-0330": datetime(2024, 1, 31, 16, 0),
                "2024-01-31 12:30:00 +01": datetime(2024, 1, 31, 11, 30),
                "2024-01-31 12:30:00.123456789": datetime(2024, 1, 31, 12, 30, 0, 123456),
            },
        ),
        ("timestamp", dict.fromkeys(["infinity", "9999-12-31 23:59:59-01", "0001-01-01 00:00+01", "2024-01-31 25:00"])),
        ("timestamp", dict.fromkeys(["2024-01-31 12:00 Europe/Paris", "2024-01-31 12", "now", ""])),
        ("text", {" a ": " a ", "": "", "NULL": "NULL"}),
    ],
)
def test_what_a_text_is_read_as(kind, values):
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE texts (x VARCHAR)")
        connection.executemany("INSERT INTO texts VALUES (?)", [[text] for text in values])
        found = connection.execute(f"FROM texts SELECT x, {reading_of('x', kind)}").fetchall()
    assert dict(found) == values


@pytest.mark.slow
def test_no_text_fails_to_be_read():
    dice = random.Random(5)
    letters = [
        "0",
        "9",
        "-",
        "+",
        ".",
        ":",
        "T",
        "Z",
        " ",
        "e",
        "E",
        "1",
        "infinity",
        "nan",
        "\x7f",
        "é",
        "\U0001f600",
        "_",
    ]
    texts = ["".join(dice.choice(letters) for _ in range(dice.randrange(40))) for _ in range(20_000)]
    days = [f"{dice.randrange(10**4):04}-{dice.randrange(20):02}-{dice.randrange(40):02}" for _ in range(5000)]
    moments = [
        f"{day}T{dice.randrange(30):02}:{dice.randrange(70):02}{dice.choice(['Z', '+99:99', '-99'])}" for day in days
    ]
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE texts AS SELECT unnest(?) AS x", [texts + days + moments])
        for kind in ("integer", "real", "decimal(38,38)", "decimal(18,9)", "date", "timestamp", "boolean"):
            column = connection.execute(f"FROM texts SELECT {reading_of('x', kind)}").fetchall()
            assert len(column) == len(texts) + 2 * len(days)
            assert {type(value) for (value,) in column} - {type(None)}


@pytest.mark.parametrize(
    ("data", "names"),
    [
        (b"a,b,c", ["a", "b", "c"]),
        (b"\xef\xbb\xbfa;b\r\n1;2\r\n", ["a", "b"]),
        (b"a|b;c|d\n", ["a", "b;c", "d"]),
        (b'"a, ""b""" , c\n', ['a, "b"', "c"]),
        (b",x,\n1,2,3\n", ["column0", "x", "column2"]),
        ("größe\trest\n".encode(), ["größe", "rest"]),
        (b"only\n5\n6", ["only"]),
        (b"a,b\r1,2\r3,4\r", ["a", "b"]),
    ],
)
def test_the_first_line_names_the_columns(tmp_path, data, names):
    (tmp_path / "x.csv").write_bytes(data)
    with open_table(tmp_path / "x.csv") as table:
        assert list(table.columns) == names
        assert set(table.columns.values()) == {Kind.TEXT}
        assert count(table) == max(len([line for line in data.splitlines() if line]) - 1, 0)


@pytest.mark.parametrize(
    "data", [b"", b"\n1,2\n", b" , \n", b"a,A\n", b"na\xefve,b\n", "a,b\n".encode("utf-16"), b'"a,b\n1,2"\n']
)
def test_first_lines_that_name_none(tmp_path, data):
    (tmp_path / "x.csv").write_bytes(data)
    with pytest.raises(BadSource, match=r"first line|one name") as caught:
        open_table(tmp_path / "x.csv")
    assert "x.csv" in str(caught.value)
    assert caught.value.__cause__ is None


def test_several_files_are_one_table(tmp_path):
    (tmp_path / "a.tsv").write_bytes(b"k\tn\nx, y\t1")
    with gzip.open(tmp_path / "b.tsv.gz", "wb") as file:
        file.write(b"k\tn\r\nz\t2\r\n")
    (tmp_path / "c.tsv").write_bytes(b"n\tk\n1\tx\n")
    with open_table(tmp_path / "b.tsv.gz", columns={"n": "integer"}) as table:
        assert table.discover(EACH_ROW, ("k", "n")) == {("z", 2): 1}
    with pytest.raises(BadSource, match="same first line"):
        open_table(tmp_path / "*.tsv")
    (tmp_path / "c.tsv").write_bytes(b"k\tn\nw\t3\n")
    with open_table(tmp_path / "*.tsv", columns={"n": "integer"}) as table:
        assert table.discover(EACH_ROW, ("k", "n")) == {("x, y", 1): 1, ("w", 3): 1}
    whole = (tmp_path / "b.tsv.gz").read_bytes()
    (tmp_path / "b.tsv.gz").write_bytes(whole[:-12])
    with pytest.raises(BadSource):
        open_table(tmp_path / "b.tsv.gz")


def test_undeclared_columns_say_what_to_do(tmp_path):
    (tmp_path / "p.csv").write_text("person,age\n1,36\n2,refused\n")
    with open_table(tmp_path / "p.csv") as table:
        for ask in (
            lambda: table.ranks(EACH_ROW, "age", range(120)),
            lambda: table.aggregate(EACH_ROW, (BinAxis("age", (0, 50)),), (CountRows(),)),
            lambda: table.aggregate(EACH_ROW, (), (CountRows(),), col("age") > 3),
        ):
            with pytest.raises((BadParameter, BadFilter), match=r'columns=\{"age": "integer"\}') as caught:
                ask()
            assert "refused" not in "".join(traceback.format_exception(caught.value)[-1:])
    with open_table(tmp_path / "p.csv", columns={"age": "integer"}) as table:
        assert table.ranks(EACH_ROW, "age", range(120)).nonzero()[0].tolist() == [36]


@pytest.mark.parametrize(
    ("columns", "error", "text"),
    [
        ({"agee": "integer"}, UnknownColumn, "age"),
        ({"age": "int"}, BadParameter, "integer"),
        ({"age": "decimal"}, BadParameter, r"decimal\(10,2\)"),
        ({"age": "decimal(39,0)"}, BadParameter, "kind"),
        ({"age": "decimal(2,3)"}, BadParameter, "kind"),
        ({"age": int}, BadParameter, "kind"),
        ({"age": "integer) FROM x; --"}, BadParameter, "kind"),
        ({3: "integer"}, UnknownColumn, "column"),
        ([("age", "integer")], BadParameter, "map"),
        ("age", BadParameter, "map"),
    ],
)
def test_declarations_that_are_none(tmp_path, columns, error, text):
    (tmp_path / "p.csv").write_text("person,age\n1,36\n")
    with pytest.raises(error, match=text):
        open_table(tmp_path / "p.csv", columns=columns)


@pytest.mark.slow
def test_a_csv_larger_than_memory_is_read_once(tmp_path):
    rows = "".join(f"{i},{i % 7},{i:040}\n" for i in range(400_000))
    (tmp_path / "x.csv").write_text("person,k,filler\n" + rows)
    spill = tmp_path / "spill"
    spill.mkdir()
    with open_table(tmp_path / "x.csv", columns={"k": "integer"}, memory_limit="30MB", temp_directory=spill) as table:
        (tmp_path / "x.csv").unlink()
        assert count(table) == 400_000
        assert not list(spill.glob("*/*.csv"))
    assert not list(spill.iterdir())
