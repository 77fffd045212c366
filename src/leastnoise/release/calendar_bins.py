"""Bins of dates and times from a few words: "months from 2026-01 to 2026-12".

The bins are public and follow the calendar: hours, days, weeks (from Monday on), months, quarters or years, from the
one that holds the first time to the one that holds the last. Each holds its beginning and not its end. A column with a
time zone is read in UTC (`leastnoise.data.columns`), and so are the bins.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from contextlib import suppress
from datetime import date, datetime, timedelta
from itertools import pairwise
from typing import Any

from leastnoise.data import Kind, TimeAxis
from leastnoise.errors import BadParameter, TooLarge
from leastnoise.model import MOST_UNEVEN

__all__ = ["read_time_axis"]

_EXAMPLE = '"months from 2026-01 to 2026-12", with hours, days, weeks, months, quarters or years'
_WORDS = re.compile(r"(hour|day|week|month|quarter|year)s? from (\S+(?: \d\S*)?) to (\S+(?: \d\S*)?)", re.IGNORECASE)
_FORMS = ("%Y", "%Y-%m", "%Y-%m-%d", "%Y-%m-%d %H", "%Y-%m-%dT%H", "%Y-%m-%d %H:%M", "%Y-%m-%dT%H:%M")


def read_time_axis(column: str, kind: Kind, bins: Any) -> TimeAxis:
    """The bins of a column of dates or times: words, or a list of edges.

    Raises:
        BadParameter: They can't be read, do not increase, or cut days of a column of dates.
        TooLarge: There are more than an engine looks through.

    >>> read_time_axis("day", Kind.DATE, "quarters from 2025 to 2025-12").labels
    ('2025-Q1', '2025-Q2', '2025-Q3', '2025-Q4')
    >>> len(read_time_axis("at", Kind.TIMESTAMP, "hours from 2026-02-28 to 2026-03-01 11"))
    36
    """
    edges, labels = _from_words(column, bins) if isinstance(bins, str) else _from_edges(column, bins)
    if kind is Kind.DATE and any((edge.hour, edge.minute, edge.second, edge.microsecond) != (0,) * 4 for edge in edges):
        raise BadParameter(f"{column!r} holds days, and the bins are finer", given=bins, fix="ask for days, or longer")
    return TimeAxis(column, edges, labels)


def _from_words(column: str, words: str) -> tuple[tuple[datetime, ...], tuple[str, ...]]:
    found = _WORDS.fullmatch(" ".join(words.split()))
    if found is None:
        raise BadParameter(f"bins of {column!r} can't be read", given=words, fix=f"write for example {_EXAMPLE}")
    step = found[1].lower()
    first, last = (_time(text, column) for text in (found[2], found[3]))
    if last < first:
        raise BadParameter(f"bins of {column!r} must increase", given=words, fix=f"write for example {_EXAMPLE}")
    edges = [_beginning(first, step)]
    while edges[-1] <= last:
        edges.append(_next(edges[-1], step, column))
        if len(edges) > MOST_UNEVEN:
            raise TooLarge(f"there may be at most {MOST_UNEVEN} bins of times", given=words, fix="take longer ones")
    return tuple(edges), tuple(_LABELS[step](edge) for edge in edges[:-1])


def _from_edges(column: str, edges: Any) -> tuple[tuple[datetime, ...], tuple[str, ...]]:
    several = None
    with suppress(TypeError):  # NumPy's point has the methods of a list, and is none
        several = iter(edges)
    if several is None:
        raise BadParameter(f"bins of {column!r} can't be read", given=edges, fix=f"write for example {_EXAMPLE}")
    found: list[datetime] = []
    for edge in several:
        found.append(_time(edge, column))
        if len(found) > MOST_UNEVEN + 1:
            raise TooLarge(f"there may be at most {MOST_UNEVEN} bins of times", fix="take longer ones")
    if len(found) < 2 or any(low >= high for low, high in pairwise(found)):
        raise BadParameter(f"bins of {column!r} must be at least two increasing edges", fix=f"or write {_EXAMPLE}")
    return tuple(found), tuple(f"[{_written(low)}, {_written(high)})" for low, high in pairwise(found))


def _time(given: Any, column: str) -> datetime:
    """A moment, from text or from a date; without a time zone, as columns are read."""
    if isinstance(given, datetime) and given.tzinfo is None and given == given:
        return given
    if isinstance(given, date) and not isinstance(given, datetime):
        return datetime(given.year, given.month, given.day)
    if isinstance(given, str):
        for form in _FORMS:
            try:
                return datetime.strptime(given, form)
            except ValueError:
                continue
    raise BadParameter(
        f"an edge of {column!r} is no date or time",
        given=given,
        fix='write 2026, "2026-01", "2026-01-31" or times in UTC',
    )


def _beginning(moment: datetime, step: str) -> datetime:
    hour = moment.replace(minute=0, second=0, microsecond=0)
    day = hour.replace(hour=0)
    if step == "week":
        return day - timedelta(days=day.weekday()) if day.toordinal() > day.weekday() else day
    month = {"month": day.month, "quarter": day.month - (day.month - 1) % 3, "year": 1}
    return hour if step == "hour" else day.replace(month=month[step], day=1) if step in month else day


def _next(moment: datetime, step: str, column: str) -> datetime:
    """The beginning of the bin after this one."""
    months = {"month": 1, "quarter": 3, "year": 12}
    try:
        if step not in months:
            return moment + timedelta(**{f"{step}s": 1})
        later = moment.month - 1 + months[step]
        return moment.replace(year=moment.year + later // 12, month=later % 12 + 1)
    except (ValueError, OverflowError):
        raise BadParameter(
            f"bins of {column!r} reach beyond the year 9999", fix="end them a bin earlier: no later time is told apart"
        ) from None


def _written(moment: datetime) -> str:
    return moment.date().isoformat() if moment == _beginning(moment, "day") else moment.isoformat(" ")


_LABELS: dict[str, Callable[[datetime], str]] = {
    "hour": lambda moment: f"{moment.date().isoformat()} {moment.hour:02}:00",
    "day": lambda moment: moment.date().isoformat(),
    "week": lambda moment: f"week of {moment.date().isoformat()}",
    "month": lambda moment: f"{moment.year:04}-{moment.month:02}",
    "quarter": lambda moment: f"{moment.year:04}-Q{(moment.month + 2) // 3}",
    "year": lambda moment: f"{moment.year:04}",
}
