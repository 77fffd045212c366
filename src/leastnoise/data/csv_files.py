"""CSV files: the header is public and says what there is; no other line can change that, or make the reading fail.

- Names and delimiter come from the first line alone: a tab in .tsv files; else a comma, or, where the first line has
  none, whichever of `;`, `|` and tab it has most of. All files of one table have the same first line.
- Fields may stand in double quotes, within which a double quote is written twice. There a field may go over several
  lines; a quote at the beginning of a field that is never closed takes up the lines after it, as it does everywhere. A
  quote anywhere else in a field is a letter like others.
- Files are UTF-8. Bytes that are not become U+FFFD, and so does NUL; every end of a line becomes a line feed.
- Missing fields at the end of a line are missing values, and fields beyond the header are left out. Empty fields are
  missing values. Empty lines are left out (unless there is but one column), and so are records of more than two million
  bytes.

A record is a function of its own lines: the engine's reader is given no quote but in the form of RFC 4180, for a stray
one can change how it reads the records after it. The rows are read once, when the table is opened, into the engine's
own memory or temporary folder.
"""

from __future__ import annotations

import csv
import gzip
import io
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, TextIO, cast

from leastnoise.data.declared import reading_of
from leastnoise.data.engines.duckdb import DUCKDB
from leastnoise.errors import BadSource

if TYPE_CHECKING:
    import duckdb

__all__ = ["load_csv", "read_header"]

_LONGEST_HEADER = 1 << 20
_LONGEST = 2_000_000  # bytes of a record
_DELIMITERS = ",;|\t"
# A line that this reader can't take is left out: whatever a row holds, the others are read and nothing fails. Lines
# are read one after another, since the engine's parallel reader guesses where a line begins.
_FIXED = (
    "auto_detect = false, header = false, quote = '\"', escape = '\"', new_line = '\\n', strict_mode = false, "
    "null_padding = true, ignore_errors = true, parallel = false, max_line_size = 2000000"
)


def read_header(files: Sequence[Path]) -> tuple[str, list[str]]:
    """The delimiter and the names of the columns, from the first line of the files and from nothing else.

    Raises:
        BadSource: A first line is missing, is not UTF-8, repeats a name, or is not that of the other files.
    """
    first = _first_line(files[0])
    for file in files[1:]:
        if _first_line(file) != first:
            raise _bad("the files of one table have the same first line", file, "open them one by one, or rewrite them")
    tabs = ".tsv" in files[0].suffixes[-2:]
    delimiter = "\t" if tabs else "," if "," in first else max(_DELIMITERS, key=first.count)
    names: list[str] = []
    try:
        names = [name.strip() for name in next(csv.reader([first], delimiter=delimiter), [])]
    except csv.Error:
        names = []
    if not any(names) or first.count('"') % 2:  # a quote that is open at the end would go on into the rows
        raise _bad(
            "the first line holds no names of columns", files[0], "begin the file with a line such as person,age"
        )
    names = [name or f"column{place}" for place, name in enumerate(names)]
    if len({name.lower() for name in names}) < len(names):
        raise _bad("two columns have one name (capitals do not count)", files[0], "give every column its own name")
    return delimiter, names


def load_csv(
    connection: duckdb.DuckDBPyConnection, folder: Path, files: Sequence[Path], delimiter: str, kinds: Mapping[str, str]
) -> None:
    """Make the table `source` from the lines after the first; `folder` is where a clean copy may lie meanwhile."""
    clean = folder / "rows.csv"
    with clean.open("w", encoding="utf-8", newline="") as out:
        for file in files:
            with _opened(file) as lines:
                lines.readline(_LONGEST_HEADER)
                out.writelines(_records(lines, delimiter, len(kinds)))
    texts = ", ".join(f"{_literal(name)}: 'VARCHAR'" for name in kinds)
    rows = f"read_csv({_literal(str(clean))}, columns = {{{texts}}}, delim = {_literal(delimiter)}, {_FIXED})"
    read = ", ".join(f"{reading_of(name, kind)} AS {DUCKDB.quote(name)}" for name, kind in kinds.items())
    connection.execute(f"CREATE TEMP TABLE source AS FROM {rows} SELECT {read}")
    clean.unlink()


def _records(text: TextIO, delimiter: str, width: int) -> Iterator[str]:
    """The records, each in a form that can be read in one way only and on its own."""
    csv.field_size_limit(max(csv.field_size_limit(), _LONGEST))
    write = csv.writer(_Echo(), delimiter=delimiter, lineterminator="\n").writerow
    rows = csv.reader(_lines(text), delimiter=delimiter)
    while True:
        try:
            for fields in rows:
                record = write(fields[:width]) if fields or width > 1 else '""\n'
                if 4 * len(record) <= _LONGEST or len(record.encode()) <= _LONGEST:
                    yield record
            return
        except csv.Error:  # a field that is longer than a record may be: the next line begins a record
            continue


def _lines(text: TextIO) -> Iterator[str]:
    """The lines, cut off where no record can be so long; a cut keeps whether the number of quotes is even."""
    while line := text.readline(_LONGEST + 1):
        rest = line
        while len(rest) > _LONGEST and rest[-1] != "\n":
            rest = text.readline(_LONGEST + 1)
            line += '"' * (rest.count('"') % 2)
        yield line.replace("\0", "\ufffd") if line[-1] == "\n" else line.replace("\0", "\ufffd") + "\n"


class _Echo:
    """A file that gives back what is written to it."""

    def write(self, text: str) -> str:
        return text


@contextmanager
def _opened(file: Path) -> Iterator[TextIO]:
    with (
        gzip.open(file) if file.suffix.lower() == ".gz" else file.open("rb") as raw,
        io.TextIOWrapper(cast("BinaryIO", raw), encoding="utf-8-sig", errors="replace", newline=None) as lines,
    ):
        yield lines


def _first_line(file: Path) -> str:
    try:
        with _opened(file) as lines:
            first = lines.readline(_LONGEST_HEADER)
    except (OSError, EOFError):
        raise _bad("the file can't be read", file, "see that it is complete and that you may read it") from None
    if len(first) == _LONGEST_HEADER or "\ufffd" in first or "\0" in first:
        raise _bad("the first line is no text in UTF-8", file, "write the file as UTF-8, with the columns' names first")
    return first.rstrip("\n")


def _bad(problem: str, file: Path, fix: str) -> BadSource:
    return BadSource(problem, given=file.name, fix=fix)


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
