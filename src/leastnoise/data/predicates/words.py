"""Words of SQL that expressions do not have, what to write instead, and places in a text."""

from __future__ import annotations

__all__ = ["advice_for", "one", "place_in"]

_ADVICE = {
    "an expression looks at one row: compare its columns with literals, or each other": """
        SELECT EXISTS ANY ALL SOME WITH UNION INTERSECT EXCEPT FROM WHERE JOIN OVER PARTITION ORDER GROUP HAVING WINDOW
        INSERT UPDATE DELETE DROP ATTACH COPY PRAGMA SET INSTALL LOAD CALL COUNT SUM AVG MIN MAX MEDIAN RANK ROW_NUMBER
        LAG LEAD FIRST_VALUE LAST_VALUE NTILE DENSE_RANK QUALIFY""",
    "join conditions with AND, OR and NOT": "XOR",
    "use LIKE 'start%', LIKE '%end' or LIKE '%within%'": "ILIKE SIMILAR REGEXP RLIKE GLOB REGEXP_MATCHES MATCH",
    "use IS MISSING": "ISNULL NOTNULL",
    "use + - * / and %": "SQRT POWER POW EXP LN LOG DIV MOD",
    "take the first letters: left(zip, 2)": "SUBSTR SUBSTRING RIGHT SPLIT_PART",
    "list the texts: city IN ('Bonn', 'Ulm')": "CONCAT CONCAT_WS REPLACE TRANSLATE REGEXP_REPLACE",
    "an expression gives the same value whenever it is asked: leave it out": "RANDOM RAND UUID",
    "compare dates with literals, or take parts: year(day)": "DATEDIFF DATE_DIFF DATE_ADD DATEADD DATE_PART",
    "write the moment as a literal: DATE '2024-01-31'": """
        NOW CURRENT_DATE CURRENT_TIMESTAMP CURRENT_TIME LOCALTIMESTAMP TODAY INTERVAL""",
    "use starts_with, ends_with or contains, which know no wildcards": "ESCAPE",
    "leave it out: text is compared letter by letter": "COLLATE",
}
_REFUSED = {word: advice for advice, words in _ADVICE.items() for word in words.split()}


def advice_for(word: str) -> str | None:
    """What to write instead of a word of SQL; None for any other word.

    >>> advice_for("ilike")
    "use LIKE 'start%', LIKE '%end' or LIKE '%within%'"
    """
    return _REFUSED.get(word.upper())


def one(what: str) -> str:
    """A thing with its article.

    >>> one("filter"), one("expression")
    ('a filter', 'an expression')
    """
    return f"{'an' if what[:1] in 'aeiou' else 'a'} {what}"


def place_in(text: str, start: int) -> str:
    r"""The line and the column of a place in a text.

    >>> place_in("SELECT\n  city", 9)
    'line 2, column 3'
    """
    return f"line {text.count(chr(10), 0, start) + 1}, column {start - text.rfind(chr(10), 0, start)}"
