"""Text to a syntax tree: sqlglot reads, and nothing that it writes ever reaches an engine.

One grammar serves filters, expressions and SQL. sqlglot knows far more than we allow: the parser beside this file takes
the few kinds of nodes that it knows from the tree and refuses all others. So functions are left as they are written
(`exp.Anonymous`), and words such as CURRENT_DATE are names of columns like any other.

sqlglot reads by recursion, about twenty calls for a level of parentheses. The levels are counted before it begins.
"""

from __future__ import annotations

import re
import sys
import threading
from collections.abc import Collection, Sequence

from sqlglot import exp, parser
from sqlglot.dialects.dialect import Dialect
from sqlglot.errors import ParseError, TokenError
from sqlglot.tokenizer_core import Token, TokenType

from leastnoise.data.predicates.nodes import MAX_DEPTH, MAX_TEXT
from leastnoise.data.predicates.words import advice_for, one, place_in
from leastnoise.errors import BadFilter

__all__ = ["position_of", "read_tree"]

_CALLS_PER_LEVEL = 40
_PREFIXES = (TokenType.NOT, TokenType.DASH, TokenType.PLUS, TokenType.TILDE)
_SIGNS = {
    ";": "write one condition, expression or statement: leave it out",
    "`": 'quote a column\'s name with double quotes: "my column"',
    "&&": "write AND",
    "|": "write OR",
    "?": "write the value itself",
    "$": "write the value itself",
    "[": "use IN (…) with parentheses",
}
_OF_STATEMENTS = frozenset(
    ("SELECT", "FROM", "WHERE", "GROUP", "ORDER", "HAVING", "JOIN", "COUNT", "SUM", "AVG", "MIN", "MAX", "MEDIAN")
)
_UNCLOSED = {
    "'": "close the text with a second quote; write '' for a quote within",
    '"': 'close the name with a second double quote; write "" for one within',
}
_QUOTED = re.compile(r"""'(?:[^']|'')*+'|"(?:[^"]|"")*+\"""")
_reading = threading.Lock()


class LeastNoiseGrammar(Dialect):
    """SQL without the functions that sqlglot would rename, and without words that are functions."""

    class Parser(parser.Parser):
        """The parser of this grammar."""

        FUNCTIONS = {}  # noqa: RUF012 - as in the class above it
        NO_PAREN_FUNCTIONS = {}  # noqa: RUF012
        FUNCTION_PARSERS = {  # noqa: RUF012
            name: parser.Parser.FUNCTION_PARSERS[name] for name in ("CAST", "TRY_CAST", "EXTRACT")
        }
        NO_PAREN_FUNCTION_PARSERS = {  # noqa: RUF012
            "CASE": parser.Parser.NO_PAREN_FUNCTION_PARSERS["CASE"]
        }


_grammar = LeastNoiseGrammar()


def read_tree(
    text: str, what: str, into: type[exp.Expr], columns: Collection[str] = (), *, comments: bool = False
) -> exp.Expr:
    """The syntax tree of a text.

    Args:
        text: The text.
        what: What it is, for the words of errors: "filter".
        into: `exp.Condition` for an expression, `exp.Select` for a statement.
        columns: The names of columns, which are not to blame.
        comments: Whether it may have comments. An expression has none: `5--3` would be 5.

    Raises:
        BadFilter: It can't be read, is too long or nests too deep; the position is in the text.
    """
    if len(text) > MAX_TEXT:
        raise BadFilter(
            f"{one(what)} has at most {MAX_TEXT} characters", given=f"{len(text)} characters", fix="shorten it"
        )
    tokens = _tokens(text, what)
    if not tokens:
        example = "SELECT COUNT(*) FROM people" if what == "statement" else "age >= 18"
        raise BadFilter(f"the {what} is empty", fix=f"write for example {example}, or leave it out")
    _require_flat(tokens, what)
    if not comments and (noted := next((token for token in tokens if token.comments), None)):
        raise BadFilter(
            f"{one(what)} has no comments (near {place_in(text, noted.start)})",
            given=noted.comments[0][:40],
            fix="leave it out, or put a space between the signs",
        )
    found: list[exp.Expr | None] = []
    wrong: BadFilter | None = None
    try:
        found = _parsed(tokens, text, into)
    except ParseError as error:
        wrong = _unreadable(error, tokens, text, what, columns)
    except RecursionError:
        wrong = _too_deep(what)
    if wrong is not None:  # outside of `except`: sqlglot's words are not ours
        raise wrong
    if len(found) != 1 or found[0] is None:
        raise BadFilter(f"this is no {what}, or more than one", given=text[:60], fix=_SIGNS[";"])
    return found[0]


def position_of(node: exp.Expr) -> str:
    """Where a node begins, by the first name or function in it that knows its place; "" where none does."""
    for part in node.walk(bfs=False):
        if "line" in part.meta:
            column = part.meta["col"] - (part.meta["end"] - part.meta["start"])
            return f"line {part.meta['line']}" + (f", column {column}" if column > 0 else "")
    return ""


def _parsed(tokens: list[Token], text: str, into: type[exp.Expr]) -> list[exp.Expr | None]:
    """One thread at a time: the limit of recursion is the interpreter's, and is put back."""
    with _reading:
        before = sys.getrecursionlimit()
        sys.setrecursionlimit(before + _CALLS_PER_LEVEL * 2 * MAX_DEPTH)
        try:
            return _grammar.parser().parse_into(into, tokens, text)
        finally:
            sys.setrecursionlimit(before)


def _tokens(text: str, what: str) -> list[Token]:
    try:
        return _grammar.tokenize(text)
    except TokenError:
        left = _QUOTED.sub(lambda quoted: " " * len(quoted[0]), text)
    start = next((place for place, character in enumerate(left) if character in _UNCLOSED), max(left.find("/*"), 0))
    fix = _UNCLOSED.get(left[start : start + 1], "see that quotes and comments are closed")
    raise BadFilter(
        f"the {what} has something that is not closed ({place_in(text, start)})", given=text[start:][:60], fix=fix
    )


def _require_flat(tokens: Sequence[Token], what: str) -> None:
    """Refuse what nests too deep to be read by recursion: parentheses, CASE, and signs in a row."""
    depth = run = 0
    for token in tokens:
        kind = token.token_type
        run = run + 1 if kind in _PREFIXES else 0
        if kind in (TokenType.L_PAREN, TokenType.L_BRACKET, TokenType.L_BRACE, TokenType.CASE):
            depth += 1
        elif kind in (TokenType.R_PAREN, TokenType.R_BRACKET, TokenType.R_BRACE, TokenType.END):
            depth -= 1
        if depth > MAX_DEPTH or run > MAX_DEPTH:
            raise _too_deep(what)


def _too_deep(what: str) -> BadFilter:
    return BadFilter(
        f"the {what} nests more than {MAX_DEPTH} levels deep", fix="leave out parentheses and signs that do nothing"
    )


def _unreadable(
    error: ParseError, tokens: Sequence[Token], text: str, what: str, columns: Collection[str]
) -> BadFilter:
    """Our words for an error of sqlglot: where it is, and what to write instead."""
    told = error.errors[0] if error.errors else {}
    line, column = told.get("line"), told.get("col")
    place = next((i for i, token in enumerate(tokens) if (token.line, token.col) == (line, column)), len(tokens) - 1)
    before, here = tokens[max(place - 1, 0)], tokens[place]
    for token in tokens[: place + 2]:
        if token.token_type is TokenType.SEMICOLON:
            return BadFilter(
                f"{one(what)} has no ; ({place_in(text, token.start)})", given=text[token.start :][:40], fix=_SIGNS[";"]
            )
        word = token.text
        if token.token_type in (TokenType.STRING, TokenType.IDENTIFIER) or word in columns:
            continue
        if what == "statement" and word.upper() in _OF_STATEMENTS:
            continue
        if advice := advice_for(word):
            return BadFilter(
                f"{one(what)} has no {word.upper()} ({place_in(text, token.start)})", given=word, fix=advice
            )
    together = here.start == before.end + 1 and here.token_type in (TokenType.VAR, TokenType.NUMBER, TokenType.DOT)
    if before.token_type is TokenType.NUMBER and together:
        return BadFilter(
            f"this is no number ({place_in(text, before.start)})",
            given=text[before.start :][:40],
            fix="write 18, 0.5 or 1e6",
        )
    signs = {here.text, before.text, text[here.start :][:1]}
    usual = "write comparisons such as age >= 18 joined with AND, OR and NOT, and close all parentheses"
    if what == "statement" and here.text.isidentifier():
        usual = f'{usual}; a column called {here.text} is written "{here.text}"'
    return BadFilter(
        f"expected something else in the {what} at {place_in(text, here.start)}",
        given=text[here.start :][:40],
        fix=next((fix for sign, fix in _SIGNS.items() if sign in signs), usual),
    )
