"""A ledger as a table for people and programs: JSON lines exactly as stored, or CSV."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable
from datetime import UTC, datetime
from typing import TextIO

from leastnoise.ledger.chain import Row

__all__ = ["export_csv", "export_json"]

_COLUMNS = (
    "seq",
    "time",
    "kind",
    "dataset",
    "analyst",
    "purpose",
    "request",
    "epsilon",
    "delta",
    "rho",
    "event",
    "floor",
    "unit",
    "interrupted",
    "part",
    "answer",
    "hash",
)


def export_json(rows: Iterable[Row], out: TextIO) -> None:
    """One JSON object per line: the text of the entry as it is stored, and its hash, so that anyone can check both."""
    for row in rows:
        out.write(json.dumps({"body": row.body, "hash": row.hash}) + "\n")


def export_csv(rows: Iterable[Row], out: TextIO) -> None:
    """One line per entry, and for a long answer one for each part of its text.

    A spreadsheet never takes a name for a formula: such cells begin with an apostrophe.
    """
    writer = csv.writer(out)
    writer.writerow(_COLUMNS)
    for row in rows:
        entry = json.loads(row.body)
        if "cost" in entry:
            entry["epsilon"], entry["delta"], entry["rho"] = entry["cost"]
        if "parts" in entry:
            entry["part"], entry["answer"] = f"{entry['part']} of {entry['parts']}", entry["text"]
        entry["time"] = datetime.fromtimestamp(entry["time"], UTC).isoformat()
        entry["hash"] = row.hash
        writer.writerow(_cell(entry.get(column)) for column in _COLUMNS)


def _cell(value: object) -> str:
    text = "" if value is None else value if isinstance(value, str) else json.dumps(value)
    return f"'{text}" if text[:1] in ("=", "+", "-", "@", "\t", "\r") else text
