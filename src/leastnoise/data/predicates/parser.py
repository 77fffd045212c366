"""Read a filter from text: a small SQL-like language, and nothing beyond it.

    filter  = filter OR filter | filter AND filter | NOT filter | ( filter ) | TRUE | FALSE | boolean column
            | value (= | != | <> | < | <= | > | >=) value
            | value [NOT] IN (literal, …) | value [NOT] BETWEEN value AND value
            | value [NOT] LIKE 'start%' | '%end' | '%within%'
            | starts_with(value, 'text') | ends_with(value, 'text') | contains(value, 'text')
            | value IS [NOT] (MISSING | NULL | TRUE | FALSE)
    value   = column | "column" | literal | value (+ | - | * | /) value | column % literal | - value | ( value )
    literal = 18 | 0.5 | 1e6 | 'text' | TRUE | FALSE | DATE '2024-01-31' | TIMESTAMP '2024-01-31 12:00:00'

What is not in this list can't be said: the parser knows no functions, subqueries, casts or windows to call. A word of
SQL that filters lack is refused by its name, with what to write instead.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import date, datetime
from decimal import Decimal
from difflib import get_close_matches
from typing import NamedTuple, cast

from leastnoise.data.columns import Kind
from leastnoise.data.predicates.nodes import (
    KEYWORDS,
    MAX_DEPTH,
    MAX_TEXT,
    And,
    Calculation,
    ComparisonTest,
    Constant,
    IsIn,
    IsMissing,
    Literal,
    Name,
    Or,
    Predicate,
    Term,
    TextTest,
    read_literal,
    remainder,
)
from leastnoise.data.predicates.typecheck import typed
from leastnoise.errors import BadFilter

__all__ = ["parse"]

_COMPARISONS = {"=": "=", "==": "=", "!=": "!=", "<>": "!=", "<": "<", "<=": "<=", ">": ">", ">=": ">="}
_TEXT_TESTS = ("starts_with", "ends_with", "contains")
# What to write instead of the words of SQL that filters do not have.
_ADVICE = {
    "a filter looks at one row of one table: compare its columns with literals": """
        SELECT EXISTS ANY ALL SOME WITH UNION FROM WHERE JOIN OVER PARTITION ORDER GROUP INSERT UPDATE DELETE DROP
        ATTACH COPY PRAGMA SET INSTALL LOAD CALL COUNT SUM AVG MIN MAX MEDIAN RANK ROW_NUMBER LAG LEAD""",
    "say it with AND, OR and NOT": "CASE WHEN THEN ELSE END IF IIF XOR",
    "compare a column with a literal of its own kind": "CAST TRY_CAST CONVERT",
    "use LIKE 'start%', LIKE '%end' or LIKE '%within%'": "ILIKE SIMILAR REGEXP RLIKE GLOB REGEXP_MATCHES MATCH",
    "use IS MISSING": "COALESCE IFNULL NVL NULLIF ISNULL NOTNULL",
    "list the spellings: city IN ('Bonn', 'BONN')": "LOWER UPPER TRIM LENGTH SUBSTR SUBSTRING CONCAT",
    "use BETWEEN, + - * / and %": "ABS ROUND FLOOR CEIL SQRT POWER EXP LN LOG DIV MOD",
    "write the moment as a literal: DATE '2024-01-31'": """
        NOW CURRENT_DATE CURRENT_TIMESTAMP TODAY INTERVAL EXTRACT DATE_TRUNC YEAR""",
    "use starts_with, ends_with or contains, which know no wildcards": "ESCAPE COLLATE",
}
_REFUSED = {word: advice for advice, words in _ADVICE.items() for word in words.split()}
_SIGNS = {
    ";": "a filter is one condition: leave it out",
    "--": "a filter has no comments: leave it out, or put a space between the signs",
    "/*": "a filter has no comments: leave it out",
    "::": "compare a column with a literal of its own kind",
    "||": "list the texts: city IN ('Bonn', 'Ulm')",
    "`": 'quote a column\'s name with double quotes: "my column"',
    ".": "name the column alone, without its table",
    "[": "use IN (…) with parentheses",
    "~": "use LIKE 'start%', LIKE '%end' or LIKE '%within%'",
    "&": "write AND",
    "|": "write OR",
    "?": "write the value itself",
    "$": "write the value itself",
    "'": "close the text with a second quote; write '' for a quote within",
    '"': 'close the name with a second double quote; write "" for one within',
}
_TOKEN = re.compile(
    r"""\s*(?:(?P<bad>--|/\*|::|\|\|)
    |(?P<number>(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?)
    |(?P<word>[^\W\d]\w*)
    |(?P<name>"(?:[^"]|"")*+")
    |(?P<text>'(?:[^']|'')*+')
    |(?P<sign><=|>=|<>|!=|==|[-+*/%<>=(),])
    |(?P<end>\Z))""",
    re.VERBOSE,
)


def parse(text: str, columns: Mapping[str, Kind]) -> Predicate:
    """Read a filter and check it against a schema; no data is touched.

    >>> from leastnoise.data.columns import Kind
    >>> from leastnoise.data.predicates import holds
    >>> adult = parse("age >= 18 AND NOT city IN ('Bonn', 'Ulm')", {"age": Kind.INTEGER, "city": Kind.TEXT})
    >>> holds(adult, {"age": 30, "city": "Köln"}), holds(adult, {"age": None, "city": "Köln"})
    (True, False)
    >>> parse("aeg >= 18", {"age": Kind.INTEGER})
    Traceback (most recent call last):
    leastnoise.errors.UnknownColumn: the table has no such column; given: aeg; did you mean age?
    """
    return typed(_Reader(text).whole(), columns)


class _Token(NamedTuple):
    """A piece of the text: its kind, its text in the form the grammar wants, and where it stands."""

    kind: str
    text: str
    place: int


def _tokenize(text: str) -> Iterator[_Token]:
    """The tokens of a filter, the last one of kind "end"; one pass, in time linear in the text."""
    if not isinstance(text, str):
        raise BadFilter("a filter is text, or built with col", given=type(text).__name__, fix="write 'age >= 18'")
    if len(text) > MAX_TEXT:
        raise BadFilter(
            f"a filter has at most {MAX_TEXT} characters", given=f"{len(text)} characters", fix="shorten it"
        )
    place = 0
    while True:
        found = _TOKEN.match(text, place)
        if found is None or found.lastgroup == "bad":
            raise _unreadable(text, place)
        kind, piece = str(found.lastgroup), found[str(found.lastgroup)]
        start, place = found.start(kind), found.end()
        if kind == "number" and (place < len(text) and (text[place].isalnum() or text[place] in "_.")):
            raise BadFilter("this is no number", given=text[start : start + 40], fix="write 18, 0.5 or 1e6")
        if kind == "word" and piece.upper() in KEYWORDS:
            kind, piece = "keyword", piece.upper()
        elif kind in ("name", "text"):
            piece = piece[1:-1].replace(2 * piece[0], piece[0])
        yield _Token(kind, piece, start)
        if kind == "end":
            return


def _refuse_word(word: str) -> BadFilter | None:
    """The error for a word of SQL that filters do not have, or None for any other word."""
    advice = _REFUSED.get(word.upper())
    return None if advice is None else BadFilter(f"filters have no {word.upper()}", given=word, fix=advice)


def _unreadable(text: str, place: int) -> BadFilter:
    rest = text[place:].lstrip()
    sign = next((sign for sign in _SIGNS if rest.startswith(sign)), rest[:1])
    return BadFilter(
        f"filters have no {sign} here (character {len(text) - len(rest) + 1})",
        given=rest[:40],
        fix=_SIGNS.get(sign, "write comparisons such as age >= 18 joined with AND, OR and NOT"),
    )


class _Cursor:
    """A text read token by token; `next` is the one that comes."""

    def __init__(self, text: str) -> None:
        self._tokens = _tokenize(text)
        self.next = next(self._tokens)

    def take(self, kind: str, *texts: str) -> _Token | None:
        """Step over the next token if it is of this kind and one of these texts; None if it is not."""
        token = self.next
        if token.kind != kind or (texts and token.text not in texts):
            return None
        if kind != "end":
            self.next = next(self._tokens)
        return token

    def need(self, kind: str, text: str | None = None) -> _Token:
        """Step over the next token, which must be this one."""
        token = self.take(kind, *(() if text is None else (text,)))
        if token is None:
            raise self.surprise(text or {"text": "'text' in quotes", "number": "a number"}[kind])
        return token

    def surprise(self, wanted: str) -> BadFilter:
        """The error for a next token that does not belong here."""
        token = self.next
        known = _refuse_word(token.text) if token.kind == "word" else None
        if known is not None:
            return known
        shown = "the end" if token.kind == "end" else token.text
        return BadFilter(
            f"expected {wanted} at character {token.place + 1}",
            given=shown,
            fix="write comparisons such as age >= 18 joined with AND, OR and NOT",
        )


class _Reader(_Cursor):
    """A recursive-descent reader with one token of lookahead; it counts how deep it is."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self._depth = 0

    def whole(self) -> Predicate:
        if self.next.kind == "end":
            raise BadFilter("the filter is empty", fix="write for example age >= 18, or leave it out")
        predicate = _truth(self._either())
        if self.next.kind != "end":
            raise self.surprise("AND, OR or the end")
        return predicate

    def _either(self) -> Predicate | Term:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise BadFilter(
                f"the filter nests more than {MAX_DEPTH} levels deep", fix="leave out parentheses that do nothing"
            )
        parts = [self._both()]
        while self.take("keyword", "OR"):
            parts.append(self._both())
        self._depth -= 1
        return parts[0] if len(parts) == 1 else Or.of(*map(_truth, parts))

    def _both(self) -> Predicate | Term:
        parts = [self._negated()]
        while self.take("keyword", "AND"):
            parts.append(self._negated())
        return parts[0] if len(parts) == 1 else And.of(*map(_truth, parts))

    def _negated(self) -> Predicate | Term:
        turns = 0
        while self.take("keyword", "NOT"):
            turns += 1
        test = self._test()
        if not turns:
            return test
        return ~_truth(test) if turns % 2 else _truth(test)

    def _test(self) -> Predicate | Term:
        left = self._sum()
        sign = self.take("sign", *_COMPARISONS)
        if sign is not None:
            return ComparisonTest(_COMPARISONS[sign.text], _value(left), _value(self._sum()))
        if self.take("keyword", "IS"):
            return self._is(_value(left))
        inverted = self.take("keyword", "NOT") is not None
        word = self.take("keyword", "IN", "BETWEEN", "LIKE")
        if word is None:
            if inverted:
                raise self.surprise("IN, BETWEEN or LIKE")
            return left
        term = _value(left)
        found = {"IN": self._in, "BETWEEN": self._between, "LIKE": self._like}[word.text](term)
        return ~found if inverted else found

    def _is(self, term: Term) -> Predicate:
        inverted = self.take("keyword", "NOT") is not None
        word = self.take("keyword", "MISSING", "NULL", "TRUE", "FALSE")
        if word is None:
            raise self.surprise("MISSING, NULL, TRUE or FALSE")
        missing = word.text in ("MISSING", "NULL")
        found = IsMissing(term) if missing else ComparisonTest("=", term, Literal(word.text == "TRUE"))
        return ~found if inverted else found

    def _in(self, term: Term) -> Predicate:
        self.need("sign", "(")
        values = [self._literal()]
        while self.take("sign", ","):
            values.append(self._literal())
        self.need("sign", ")")
        return IsIn(term, tuple(values))

    def _between(self, term: Term) -> Predicate:
        low = _value(self._sum())
        self.need("keyword", "AND")
        return And.of(ComparisonTest(">=", term, low), ComparisonTest("<=", term, _value(self._sum())))

    def _like(self, term: Term) -> Predicate:
        pattern = self.need("text").text
        core = pattern.strip("%")
        if "%" in core or "_" in core:
            raise BadFilter(
                "LIKE knows 'start%', '%end' and '%within%' only",
                given=pattern,
                fix="join two with AND, or use starts_with, ends_with or contains for text that has % or _ in it",
            )
        read_literal(core)
        if not core:
            return TextTest("contains", term, "") if pattern else ComparisonTest("=", term, Literal(""))
        ends = pattern.startswith("%"), pattern.endswith("%")
        if ends == (False, False):
            return ComparisonTest("=", term, Literal(core))
        return TextTest({(True, True): "contains", (False, True): "starts_with"}.get(ends, "ends_with"), term, core)

    def _sum(self) -> Predicate | Term:
        left = self._product()
        while sign := self.take("sign", "+", "-"):
            left = Calculation(sign.text, _value(left), _value(self._product()))
        return left

    def _product(self) -> Predicate | Term:
        left = self._signed()
        while sign := self.take("sign", "*", "/", "%"):
            right = _value(self._signed())
            left = remainder(_value(left), right) if sign.text == "%" else Calculation(sign.text, _value(left), right)
        return left

    def _signed(self) -> Predicate | Term:
        minus = plus = 0
        while sign := self.take("sign", "-", "+"):
            minus += sign.text == "-"
            plus += sign.text == "+"
        if not minus and not plus:
            return self._atom()
        term = _value(self._atom())
        if isinstance(term, Literal) and isinstance(term.value, int | Decimal) and not isinstance(term.value, bool):
            return _negated(term) if minus % 2 else term
        return Calculation("-", Literal(0), term) if minus % 2 else Calculation("+", Literal(0), term)

    def _atom(self) -> Predicate | Term:
        if self.take("sign", "("):
            inner = self._either()
            self.need("sign", ")")
            return inner
        if name := self.take("name"):
            return Name(name.text)
        if self.next.kind == "word":
            return self._word()
        return self._literal()

    def _word(self) -> Predicate | Term:
        word = self.next.text
        self.take("word")
        if not self.take("sign", "("):
            refused = _refuse_word(word) if self.next.kind in ("word", "number", "text", "name") else None
            if refused is not None:
                raise refused
            return Name(word)
        test = word.lower()
        if test not in _TEXT_TESTS:
            nearest = get_close_matches(test, _TEXT_TESTS, n=1, cutoff=0.6)
            advice = f"did you mean {nearest[0]}?" if nearest else f"the functions are {', '.join(_TEXT_TESTS)}"
            raise _refuse_word(word) or BadFilter("filters do not have this function", given=f"{word}(…)", fix=advice)
        term = _value(self._sum())
        self.need("sign", ",")
        text = self.need("text").text
        self.need("sign", ")")
        read_literal(text)
        return TextTest(test, term, text)

    def _literal(self) -> Literal:
        minus = self.take("sign", "-") is not None
        if number := self.take("number"):
            if len(number.text) > 400:
                raise BadFilter("a number has at most 400 characters", given=number.text, fix="shorten it")
            return _negated(read_literal(Decimal(number.text))) if minus else read_literal(Decimal(number.text))
        if minus:
            raise self.surprise("a number")
        if text := self.take("text"):
            return read_literal(text.text)
        word = self.take("keyword", "TRUE", "FALSE", "DATE", "TIMESTAMP")
        if word is None:
            if self.take("keyword", "NULL", "MISSING"):
                raise BadFilter("nothing compares with a missing value", given="NULL", fix="write age IS MISSING")
            raise self.surprise("a column or a literal")
        if word.text in ("TRUE", "FALSE"):
            return Literal(word.text == "TRUE")
        return _moment(word.text, self.need("text").text)


def _negated(number: Literal) -> Literal:
    """The number with the other sign, exactly: minus a Decimal would round it to 28 digits."""
    value = number.value
    return Literal(value.copy_negate() if isinstance(value, Decimal) else -cast(int, value))


def _moment(word: str, text: str) -> Literal:
    try:
        return read_literal(date.fromisoformat(text) if word == "DATE" else datetime.fromisoformat(text))
    except ValueError as error:
        if isinstance(error, BadFilter):
            raise
        example = "2024-01-31" if word == "DATE" else "2024-01-31 12:00:00"
        raise BadFilter(f"this is no {word.lower()}", given=text, fix=f"write {word} '{example}'") from None


def _truth(part: Predicate | Term) -> Predicate:
    """What stands where a condition is wanted: a condition, TRUE, FALSE or a column of booleans."""
    match part:
        case Predicate():
            return part
        case Literal(value=bool() as value):
            return Constant(value)
        case Name():
            return ComparisonTest("=", part, Literal(True))
    raise BadFilter("a value stands where a condition is wanted", fix="compare it: age >= 18")


def _value(part: Predicate | Term) -> Term:
    if isinstance(part, Predicate):
        raise BadFilter("a condition stands where a value is wanted", given=str(part), fix="join conditions with AND")
    return part
