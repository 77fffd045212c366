"""One table, one name, however it is spelled: what a ledger calls it unless somebody gives it another name.

| source | name |
|---|---|
| one file | its path without links: "/data/visits.csv" |
| several files | the folder that holds them all, and their ending: "/data/visits/*.parquet" |
| a table in a DuckDB file | the file, the schema and the table: "/data/shop.duckdb/main.sales" |
| a table in Postgres | the database, the schema and the table: "postgresql:/shop/public.sales" |
| a table in Spark | the catalog, the schema and the table: "spark:spark_catalog.default.sales" |
| linked tables | the database: "/data/shop.duckdb", "postgresql:/shop", "spark:spark_catalog.default.*" |
| a frame | none: two frames can't be told apart by their looks |

The name of files depends on nothing but the files that a path or a pattern stands for. Several files share the account
of their folder, so that one more file next month is no new budget for the rows of last month. A file that is moved
gets another name; whoever moves data passes `name=…`. The tables of a database that are opened together share one
account, and a table of it that is opened by itself, before or after, is no silent second budget: it is refused until
somebody says which account goes on. The same holds for a view and a table that it reads, for two views of one table,
and for two hard links of one file.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

__all__ = [
    "Identity",
    "database_identity",
    "file_identity",
    "fitting",
    "frame_identity",
    "joined_identity",
    "linked_names",
    "quoted_parts",
    "shared_rows",
    "table_parts",
]

_LONGEST = 200  # what a ledger takes as a name
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


@dataclass(frozen=True)
class Identity:
    """What a table is called.

    Args:
        name: Its public name.
        known: Whether the name tells it from every other table; that of a frame does not.
        former_names: What version 0.1 called it, or may have called it.
        overlapping: What tables are called that hold rows of this one: the files of a folder, the folders of a file,
            the database of a table, its views and what they read.
        place: What the database of a table is called, with all its tables together; "" where it is in none.
    """

    name: str
    known: bool = True
    former_names: tuple[str, ...] = ()
    overlapping: tuple[str, ...] = ()
    place: str = ""


def file_identity(given: Path, files: Sequence[Path], suffix: str) -> Identity:
    """The identity of files without links; `given` is the path or pattern that was written.

    >>> found = file_identity(Path("visits.csv"), [Path("/data/visits.csv")], ".csv")
    >>> found.name, found.former_names, found.overlapping
    ('/data/visits.csv', ('visits',), ('/data/*.csv', '/*.csv'))
    >>> file_identity(Path("[ab].csv"), [Path("/data/b.csv"), Path("/data/a.csv")], ".csv").name
    '/data/*.csv'
    """
    if len(files) == 1:
        return Identity(fitting(str(files[0])), True, _former(given, files[0]), _holding(files[0].parents, suffix))
    folder = Path(os.path.commonpath([file.parent for file in files]))
    inside = dict.fromkeys(parent for file in files for parent in file.parents if folder in parent.parents)
    overlapping = (*map(fitting, map(str, files)), *_holding([*inside, *folder.parents], suffix))
    return Identity(fitting(f"{folder}/*{suffix}"), True, _former(given, folder), overlapping)


def database_identity(
    place: str,
    schema: str,
    table: str,
    former_places: Iterable[str],
    written: str,
    reads: Mapping[tuple[str, str], Iterable[tuple[str, str]]] | None = None,
) -> Identity:
    """The identity of a table in a database; `written` is how its name was written, `reads` what its views read.

    >>> database_identity("/data/shop.duckdb", "main", "sales", ["shop."], '"sales"').name
    '/data/shop.duckdb/main.sales'
    """
    spellings = (table, f"{schema}.{table}", f'"{table}"', f'"{schema}"."{table}"', written)
    former = tuple(dict.fromkeys(f"{before}{spelling}" for before in former_places for spelling in spellings))
    whole = fitting(place)
    name = fitting(f"{place}/{quoted_parts((schema, table))}")
    others = (fitting(f"{place}/{quoted_parts(other)}") for other in shared_rows((schema, table), reads or {}))
    return Identity(name, former_names=former, overlapping=(whole, *others), place=whole)


def shared_rows(
    table: tuple[str, str], reads: Mapping[tuple[str, str], Iterable[tuple[str, str]]]
) -> list[tuple[str, str]]:
    """All tables and views, each a schema and a name, that may hold rows of this one: they read something in common.

    >>> shared_rows(("main", "sales"), {("main", "v"): [("main", "sales")], ("main", "w"): [("main", "v")]})
    [('main', 'v'), ('main', 'w')]
    """

    def all_read(start: tuple[str, str]) -> set[tuple[str, str]]:
        found, waiting = {start}, [start]
        while waiting:
            new = {*reads.get(waiting.pop(), ())} - found
            found |= new
            waiting += new
        return found

    own, known = all_read(table), {*reads, *(other for listed in reads.values() for other in listed)}
    return sorted(other for other in known - {table} if own & all_read(other))


def joined_identity(place: str, private: Iterable[Identity]) -> Identity:
    """The identity of several tables of a database: that of the database, whichever of its tables are asked.

    >>> joined_identity("/data/shop.duckdb", [Identity("/data/shop.duckdb/main.sales")]).overlapping
    ('/data/shop.duckdb/main.sales',)
    """
    names = (name for table in private for name in (table.name, table.place, *table.overlapping))
    others = dict.fromkeys(name for name in names if name not in ("", place))
    return Identity(place, overlapping=tuple(others), place=place)


def linked_names(own: Iterable[str], others: Iterable[str]) -> set[str]:
    """The other names that tell of hard links of the own files: of a file, of a table in it, of a folder that has one.

    >>> linked_names(["/data/visits.csv"], ["/data/copies/*.csv", "shop"])
    set()
    """

    def links(name: str) -> list[tuple[int, int, str]]:
        return [(file.stat().st_dev, file.stat().st_ino, inside) for file, inside in _linked_files(name)]

    mine = {link for name in own if "/*" not in name for link in links(name)}  # a folder's files are listed beside it
    whole = {(*file, "") for *file, _ in mine}
    return {
        name
        for name in (others if mine else ())
        if any(link in mine | whole or (*link[:2], "") in mine for link in links(name))
    }


def _linked_files(name: str) -> list[tuple[Path, str]]:
    """The files with several links that a name tells of, and what comes after the file: a table in a database."""
    folder, star, suffix = name.rpartition("/*")
    path = Path(name)
    if not name.startswith("/"):
        return []
    try:
        places = Path(folder).rglob(f"*{suffix}") if star else [path, *path.parents]
        there = [place for place in places if place.is_file() and place.stat().st_nlink > 1]
    except (OSError, ValueError):
        return []
    return [(place, "" if star else name.removeprefix(str(place))) for place in there]


def frame_identity(name: str | None) -> Identity:
    """A frame has the name that somebody gives it, or none."""
    return Identity("frame", known=False) if name is None else Identity(name)


def quoted_parts(parts: Iterable[str]) -> str:
    """A dotted name, in quotes where a part is no plain word.

    >>> quoted_parts(["main", "a.b"])
    'main."a.b"'
    """
    return ".".join(part if _PLAIN.fullmatch(part) else '"' + part.replace('"', '""') + '"' for part in parts)


def table_parts(name: str) -> list[str] | None:
    """The parts of a dotted name; double quotes keep dots and other characters together. None: it is no name.

    >>> table_parts('shop."a.b"')
    ['shop', 'a.b']
    """
    part = r'(?:"(?:[^"]|"")+"|[^".]+)'
    if not re.fullmatch(rf"{part}(?:\.{part})*", name):
        return None
    return [found[1:-1].replace('""', '"') if found.startswith('"') else found for found in re.findall(part, name)]


def _holding(folders: Iterable[Path], suffix: str) -> tuple[str, ...]:
    return tuple(fitting(f"{str(folder).rstrip('/')}/*{suffix}") for folder in folders)


def _former(*paths: Path) -> tuple[str, ...]:
    return tuple(dict.fromkeys(path.stem if path.suffix else path.name for path in paths))


def fitting(name: str) -> str:
    """The name, or, where it is too long or can't be printed, its end and a digest of the whole."""
    if len(name) <= _LONGEST and name.isprintable() and name == name.strip():
        return name
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:32]
    end = "".join(letter if letter.isprintable() else "?" for letter in name[-120:]).strip()
    return f"…{end} ({digest})"
