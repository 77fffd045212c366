"""Words of SQL that expressions do not have, and what to write instead."""

from __future__ import annotations

__all__ = ["advice_for", "one"]

_ADVICE = {
    "an expression looks at one row: compare its columns with literals, or each other": """
        SELECT EXISTS ANY ALL SOME WITH UNION INTERSECT EXCEPT FROM WHERE JOIN OVER PARTITION ORDER GROUP HAVING WINDOW
        INSERT UPDATE DELETE DROP ATTACH COPY PRAGMA SET INSTALL LOAD CALL COUNT SUM AVG MIN MAX MEDIAN RANK ROW_NUMBER
        LAG LEAD FIRST_VALUE LAST_VALUE NTILE DENSE_RANK QUALIFY""",
    "join conditions with AND, OR and NOT": "XOR",
    "use LIKE 'start%', LIKE '%end' or LIKE '%within%'": "ILIKE SIMILAR REGEXP RLIKE GLOB REGEXP_MATCHES MATCH",
    "use IS MISSING": "ISNULL NOTNULL",
    "use + - * / and %": "SQRT POWER POW EXP LN LOG DIV",
    "write the moment as a literal: DATE '2024-01-31'": """
        NOW CURRENT_DATE CURRENT_TIMESTAMP CURRENT_TIME LOCALTIMESTAMP TODAY INTERVAL""",
    "use starts_with, ends_with or contains, which know no wildcards": "ESCAPE COLLATE",
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
