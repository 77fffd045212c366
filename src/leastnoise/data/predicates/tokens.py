"""The words of the filter language; anything else is refused by its name, with what to write instead."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from leastnoise.data.predicates.limits import MAX_TEXT
from leastnoise.errors import BadFilter

__all__ = ["RESERVED", "Cursor", "Token", "refuse_word", "tokenize"]

_KEYWORDS = frozenset(
    ("AND", "OR", "NOT", "IN", "BETWEEN", "LIKE", "IS", "NULL", "MISSING", "TRUE", "FALSE", "DATE", "TIMESTAMP")
)
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
RESERVED = _KEYWORDS
"""Words that name a column only in double quotes."""
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


class Token(NamedTuple):
    """A piece of the text: its kind, its text in the form the grammar wants, and where it stands."""

    kind: str
    text: str
    place: int


def tokenize(text: str) -> Iterator[Token]:
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
        if kind == "word" and piece.upper() in _KEYWORDS:
            kind, piece = "keyword", piece.upper()
        elif kind in ("name", "text"):
            piece = piece[1:-1].replace(2 * piece[0], piece[0])
        yield Token(kind, piece, start)
        if kind == "end":
            return


def refuse_word(word: str) -> BadFilter | None:
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


class Cursor:
    """A text read token by token; `next` is the one that comes."""

    def __init__(self, text: str) -> None:
        self._tokens = tokenize(text)
        self.next = next(self._tokens)

    def take(self, kind: str, *texts: str) -> Token | None:
        """Step over the next token if it is of this kind and one of these texts; None if it is not."""
        token = self.next
        if token.kind != kind or (texts and token.text not in texts):
            return None
        if kind != "end":
            self.next = next(self._tokens)
        return token

    def need(self, kind: str, text: str | None = None) -> Token:
        """Step over the next token, which must be this one."""
        token = self.take(kind, *(() if text is None else (text,)))
        if token is None:
            raise self.surprise(text or {"text": "'text' in quotes", "number": "a number"}[kind])
        return token

    def surprise(self, wanted: str) -> BadFilter:
        """The error for a next token that does not belong here."""
        token = self.next
        known = refuse_word(token.text) if token.kind == "word" else None
        if known is not None:
            return known
        shown = "the end" if token.kind == "end" else token.text
        return BadFilter(
            f"expected {wanted} at character {token.place + 1}",
            given=shown,
            fix="write comparisons such as age >= 18 joined with AND, OR and NOT",
        )
