"""The words of Trino, BigQuery and Snowflake, prepared and never run against a server: no source reaches them.

The shared texts hold a few words that these lack. They are rewritten here, in the finished text, by sqlglot:

- `least` and `greatest` give NULL there where one value is NULL; BigQuery gives NaN where one is NaN, and some versions
  of Trino refuse it. They become CASE, which skips NULL, and a NaN in the first place: no comparison with it holds. The
  text doubles with each nesting;
- there is no COLLATE by bytes: text is compared by its code points already, which is the order of the bytes of UTF-8;
- `&`, `|` and `left` have other names in Trino; BigQuery counts the days of the week from Sunday;
- Snowflake makes capitals of names without quotes: all names are quoted as they are written. NaN equals itself there.

What a source that opens one of them has to see to: Snowflake's session settles how a date is written and read
(DATE_INPUT_FORMAT and DATE_OUTPUT_FORMAT as YYYY-MM-DD); ids of nanoseconds meet in the microseconds of the plain form
and name no unit; a row of many long texts may exceed what BigQuery and Snowflake hold in one (`LONGEST_TEXT`).

What has no form that could not fail on a row is left out: `times`, which quantiles of bounded units need, for Trino's
sequences end at 10,000 numbers, and BigQuery and Snowflake make no rows in a SELECT.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import ClassVar, cast

from leastnoise.data.columns import Column, Kind
from leastnoise.data.dialect import Dialect, Fragment, RowsOf, Secret, bound, join, no_rows
from leastnoise.errors import BadParameter

__all__ = ["BIGQUERY", "SNOWFLAKE", "TRINO"]


class PreparedDialect(Dialect):
    """What they share: texts are finished by sqlglot."""

    language: ClassVar[str]  # as sqlglot calls it

    def render(self, fragment: Fragment, rows_of: RowsOf = no_rows) -> tuple[str, list[object]]:
        # A value that is told twice is bound twice: each has a name of its own until the text is finished.
        text, values = super().render(fragment, rows_of)
        name = "bound"
        while name in text.lower():
            name += "_"
        for number, start in reversed(list(enumerate(_placeholders(text, self.language)))):
            text = f"{text[:start]}{name}{number}{text[start + 1 :]}"
        written, order = _rewritten(text, self.language), list[int]()

        def told(found: re.Match[str]) -> str:
            order.append(int(found[1]))
            return self.placeholder

        return re.sub(rf'"?{name}(\d+)"?', told, written), [values[number] for number in order]

    def not_a_number(self, expression: str) -> str:
        return f"is_nan({expression})"

    def times(self, count: str) -> str:
        raise BadParameter(
            f"the words for {self.language} count no copies of rows", given=count, fix="ask for counts or sums"
        )

    def _told(self, words: Secret, unit: tuple[str, Kind], part: tuple[str, Kind]) -> Fragment:
        """Secret, unit and part in one text; the length of the unit's text tells where it ends."""
        first, second = ("CAST(" + self.word(word) + f" AS {self.text})" for word in words)
        owner, group = (self.key_text(*value) for value in (unit, part))
        told = f", ':', CAST(length({owner}) AS {self.text}), ':', {owner}, ':', {group}, ':', "
        return "concat(" + first + told + second + ")"


class TrinoDialect(PreparedDialect):
    """The words of Trino.

    >>> from leastnoise.data.dialect import sql
    >>> TRINO.render(sql("SELECT least(a, ") + bound(7) + ") & 3 AS low FROM t")
    ('SELECT BITWISE_AND(CASE WHEN a <= ? OR ? IS NULL THEN a ELSE ? END, 3) AS low FROM t', [7, 7, 7])
    """

    language = "trino"
    wide = "DECIMAL(38, 0)"
    text = "VARCHAR"
    timestamp = "TIMESTAMP(6)"
    date_parts: ClassVar[Mapping[str, str]] = {**Dialect.date_parts, "weekday": "EXTRACT(DAY_OF_WEEK FROM"}

    def valid_text(self, text: str) -> str:
        return f"CASE WHEN from_utf8(to_utf8({text}), '') = {text} THEN {text} END"

    def in_utc(self, name: str) -> str:
        return f"CAST({name} AT TIME ZONE 'UTC' AS {self.timestamp})"

    def text_test(self, test: str, value: Fragment, text: str) -> Fragment:
        told = "CAST(" + bound(text) + " AS VARCHAR)"
        if test == "ends_with":
            start = "greatest(length(" + value + f") - {len(text) - 1}, 1)"
            return "substr(" + value + ", " + start + ") = " + told
        if test == "contains":
            return "strpos(" + value + ", " + told + ") > 0"
        return super().text_test(test, value, text)

    def has_shape(self, value: Fragment, shape: str) -> Fragment:
        return "regexp_like(" + value + ", CAST(" + bound(rf"\A({shape})\z") + " AS VARCHAR))"

    def without_spaces(self, value: Fragment) -> Fragment:
        return "trim(BOTH ' ' FROM " + value + ")"

    def first_day(self, unit: str, day: Fragment) -> Fragment:
        return f"date_trunc('{unit}', " + day + ")"

    def divide(self, numerator: str, denominator: str) -> str:
        # A quotient of decimals is rounded there, so that the remainder is taken away first.
        return f"(({numerator}) - mod({numerator}, {denominator})) / ({denominator})"

    def listed(self, places: Mapping[str, int]) -> Fragment:
        pairs = json.dumps([[key, str(place)] for key, place in places.items()])
        listed = "UNNEST(CAST(json_parse(" + bound(pairs) + ") AS ARRAY(ARRAY(VARCHAR)))) AS pairs(pair)"
        return join(" ", ["SELECT pair[1] AS key, CAST(pair[2] AS BIGINT) AS place FROM", listed])

    def hash(self, words: Secret, unit: tuple[str, Kind], part: tuple[str, Kind]) -> Fragment:
        digest = "sha256(to_utf8(" + self._told(words, unit, part) + "))"
        return "(from_big_endian_64(substr(" + digest + f", 1, 8)) & {self.number((1 << 63) - 1)})"

    def numbers(self, count: int) -> str:
        return f"UNNEST(sequence(0, {count - 1})) AS numbers(place)"

    def picked(self, texts: Sequence[str | None], place: str) -> Fragment:
        listed = "CAST(json_parse(" + bound(json.dumps(texts)) + ") AS ARRAY(VARCHAR))"
        return "element_at(" + listed + f", CAST({place} AS INTEGER))"


class BigQueryDialect(PreparedDialect):
    """The words of BigQuery, in GoogleSQL.

    Decimals and wide whole numbers are BIGNUMERIC, which holds 38 digits before the point and 38 behind it.

    >>> from leastnoise.data.dialect import sql
    >>> BIGQUERY.render(sql("SELECT greatest(`a`, ") + bound(7) + ") AS high FROM t")
    ('SELECT CASE WHEN `a` >= ? OR ? IS NULL THEN `a` ELSE ? END AS high FROM t', [7, 7, 7])
    """

    language = "bigquery"
    quote_mark = "`"
    long = "INT64"
    wide = "BIGNUMERIC"
    real = "FLOAT64"
    text = "STRING"
    try_cast = "SAFE_CAST"
    timestamp = "DATETIME"
    date_parts: ClassVar[Mapping[str, str]] = {**Dialect.date_parts, "week": "EXTRACT(ISOWEEK FROM"}

    def quote(self, identifier: str) -> str:
        escaped = identifier.replace("\\", "\\\\").replace("`", "\\`")
        return f"`{escaped}`"

    def plain_type(self, column: Column) -> str:
        return "BOOL" if column.kind is Kind.BOOLEAN else super().plain_type(column)

    def decimal(self, digits: int, scale: int) -> str:  # noqa: ARG002 - all are in it
        return self.wide

    def in_utc(self, name: str) -> str:
        return f"DATETIME({name}, 'UTC')"

    def text_test(self, test: str, value: Fragment, text: str) -> Fragment:
        if test == "contains":
            return "strpos(" + value + ", " + bound(text) + ") > 0"
        return super().text_test(test, value, text)

    def has_shape(self, value: Fragment, shape: str) -> Fragment:
        return "regexp_contains(" + value + ", " + bound(rf"\A(?:{shape})\z") + ")"

    def without_spaces(self, value: Fragment) -> Fragment:
        return "trim(" + value + ", ' ')"

    def first_day(self, unit: str, day: Fragment) -> Fragment:
        return "date_trunc(" + day + f", {'ISOWEEK' if unit == 'week' else unit.upper()})"

    def divide(self, numerator: str, denominator: str) -> str:
        return f"div({numerator}, {denominator})"

    def listed(self, places: Mapping[str, int]) -> Fragment:
        pairs = json.dumps([[key, str(place)] for key, place in places.items()])
        outputs = "json_value(pair, '$[0]') AS key, CAST(json_value(pair, '$[1]') AS INT64) AS place"
        return join(" ", ["SELECT", outputs, "FROM UNNEST(json_query_array(" + bound(pairs) + ")) AS pair"])

    def hash(self, words: Secret, unit: tuple[str, Kind], part: tuple[str, Kind]) -> Fragment:
        digest = "to_hex(sha256(" + self._told(words, unit, part) + "))"
        halves = ("CAST(concat('0x', substr(" + digest + f", {start}, 8)) AS INT64)" for start in (1, 9))
        high, low = halves  # of 32 bits each: 16 digits could be beyond an INT64
        return "(((" + high + f" & {self.number((1 << 31) - 1)}) << 32) | " + low + ")"

    def numbers(self, count: int) -> str:
        return f"(SELECT place FROM UNNEST(generate_array(0, {count - 1})) AS place) AS numbers"  # noqa: S608 - a number

    def picked(self, texts: Sequence[str | None], place: str) -> Fragment:
        return "json_value_array(" + bound(json.dumps(texts)) + f")[SAFE_ORDINAL(CAST({place} AS INT64))]"


class SnowflakeDialect(PreparedDialect):
    """The words of Snowflake, whose whole numbers are decimals of 38 digits without a point.

    Weeks begin as the session says there, so that they are counted back from the ISO day of the week. Quotients keep
    six digits behind the point; whether numerators beyond 10^32 fit has to be shown before a source opens this.

    >>> from leastnoise.data.dialect import sql
    >>> SNOWFLAKE.render(sql("SELECT least(a, ") + bound(7) + ") & 3 AS low FROM t")
    ('SELECT BITAND(CASE WHEN "a" <= ? OR ? IS NULL THEN "a" ELSE ? END, 3) AS "low" FROM "t"', [7, 7, 7])
    """

    language = "snowflake"
    wide = "DECIMAL(38, 0)"
    text = "VARCHAR"
    timestamp = "TIMESTAMP_NTZ(6)"
    text_tests: ClassVar[Mapping[str, str]] = {
        "starts_with": "startswith",
        "ends_with": "endswith",
        "contains": "contains",
    }
    date_parts: ClassVar[Mapping[str, str]] = {
        **Dialect.date_parts,
        "week": "EXTRACT(WEEKISO FROM",
        "weekday": "EXTRACT(DAYOFWEEKISO FROM",
    }

    def in_utc(self, name: str) -> str:
        return f"CAST(convert_timezone('UTC', {name}) AS {self.timestamp})"

    def not_a_number(self, expression: str) -> str:
        return f"{expression} = CAST('NaN' AS {self.real})"

    def has_shape(self, value: Fragment, shape: str) -> Fragment:
        return "regexp_like(" + value + ", " + bound(f"({shape})") + ")"  # of the whole text, always

    def without_spaces(self, value: Fragment) -> Fragment:
        return "trim(" + value + ", ' ')"

    def first_day(self, unit: str, day: Fragment) -> Fragment:
        if unit == "week":
            return "dateadd(DAY, 1 - EXTRACT(DAYOFWEEKISO FROM " + day + "), " + day + ")"
        return f"date_trunc('{unit}', " + day + ")"

    def divide(self, numerator: str, denominator: str) -> str:
        # A quotient of decimals is rounded there, so that the remainder is taken away first.
        return f"(({numerator}) - mod({numerator}, {denominator})) / ({denominator})"

    def listed(self, places: Mapping[str, int]) -> Fragment:
        pairs = json.dumps([[key, str(place)] for key, place in places.items()])
        outputs = f"CAST(VALUE[0] AS {self.text}) AS key, CAST(CAST(VALUE[1] AS {self.text}) AS {self.long}) AS place"
        return join(" ", ["SELECT", outputs, "FROM TABLE(FLATTEN(INPUT => parse_json(" + bound(pairs) + ")))"])

    def hash(self, words: Secret, unit: tuple[str, Kind], part: tuple[str, Kind]) -> Fragment:
        digest = "md5_number_lower64(" + self._told(words, unit, part) + ")"
        return "mod(" + digest + f", {self.number(1 << 63)})"

    def numbers(self, count: int) -> str:
        return f"(SELECT INDEX AS place FROM TABLE(FLATTEN(INPUT => array_generate_range(0, {count})))) AS numbers"  # noqa: S608 - a number

    def picked(self, texts: Sequence[str | None], place: str) -> Fragment:
        return "CAST(get(parse_json(" + bound(json.dumps(texts)) + f"), {place} - 1) AS {self.text})"


def _placeholders(text: str, language: str) -> list[int]:
    """Where they stand in a text."""
    from sqlglot import TokenType, tokenize

    return [token.start for token in tokenize(text, read=language) if token.token_type is TokenType.PLACEHOLDER]


def _rewritten(text: str, language: str) -> str:
    """A text in words that the engine has."""
    from sqlglot import ErrorLevel, exp, parse_one

    def changed(node: exp.Expr) -> exp.Expr:
        if isinstance(node, exp.Collate):
            return cast(exp.Expr, node.this)
        if isinstance(node, exp.Least | exp.Greatest):
            return first_of([node.this, *node.expressions], exp.LTE if isinstance(node, exp.Least) else exp.GTE)
        if isinstance(node, exp.Extract) and node.name == "ISODOW":
            return parse_one(f"1 + MOD(EXTRACT(DAYOFWEEK FROM {node.expression.sql(language)}) + 5, 7)", read=language)
        return node

    def first_of(values: list[exp.Expr], before: type[exp.Binary]) -> exp.Expr:
        """The first value that is there and comes before all later ones; where none is there, the last."""
        found = exp.case()
        for place, one in enumerate(values[:-1]):
            later = values[place + 1 :]
            tests = [exp.or_(before(this=one.copy(), expression=x.copy()), x.copy().is_(exp.null())) for x in later]
            found = found.when(exp.and_(*tests), one.copy())
        return found.else_(values[-1].copy())

    # From the leaves up: what was put in place of a node is not looked at again.
    tree = parse_one(text, read=language)
    for node in reversed(list(tree.walk(bfs=True))):
        if (new := changed(node)) is not node:
            node.replace(new)
    return tree.sql(language, unsupported_level=ErrorLevel.RAISE, identify=language == "snowflake")


TRINO = TrinoDialect()
BIGQUERY = BigQueryDialect()
SNOWFLAKE = SnowflakeDialect()
