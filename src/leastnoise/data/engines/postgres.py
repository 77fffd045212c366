"""Postgres: each query on a connection of its own, in a read-only transaction with one snapshot."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from leastnoise.data.columns import COLLATION, Column, Kind, whole_range
from leastnoise.data.dialect import LONGEST_TEXT, Dialect, Fragment, Secret, bound
from leastnoise.data.identity import Identity, database_identity
from leastnoise.data.table import Table
from leastnoise.errors import BadSource, MissingPackage

if TYPE_CHECKING:
    import psycopg

__all__ = ["POSTGRES", "PostgresTable", "postgres_tables"]

_WHOLE = {"int2": whole_range(16), "int4": whole_range(32), "int8": whole_range(64)}
_KINDS = {
    **dict.fromkeys(_WHOLE, Kind.INTEGER),
    **dict.fromkeys(("float4", "float8"), Kind.REAL),
    **dict.fromkeys(("text", "varchar", "bpchar", "name", "uuid"), Kind.TEXT),
    **dict.fromkeys(("timestamp", "timestamptz"), Kind.TIMESTAMP),
    "numeric": Kind.DECIMAL,
    "bool": Kind.BOOLEAN,
    "date": Kind.DATE,
}
# The name without a search path: `sales` and `public.sales` are one table.
_TABLES = (
    "SELECT table_schema, table_name FROM information_schema.tables "
    "WHERE table_schema NOT IN ('pg_catalog', 'information_schema') ORDER BY 1, 2"
)
_NAME = """
SELECT current_database(), nspname, relname FROM pg_catalog.pg_class
JOIN pg_catalog.pg_namespace ON pg_namespace.oid = relnamespace WHERE pg_class.oid = to_regclass(%s)
"""
_READS = """
SELECT DISTINCT space.nspname, relation.relname, other_space.nspname, other.relname FROM (
    SELECT ev_class AS reader, refobjid AS read FROM pg_catalog.pg_depend
    JOIN pg_catalog.pg_rewrite ON pg_rewrite.oid = objid
    WHERE classid = 'pg_catalog.pg_rewrite'::regclass AND refclassid = 'pg_catalog.pg_class'::regclass
    UNION ALL SELECT inhparent, inhrelid FROM pg_catalog.pg_inherits
) AS pairs
JOIN pg_catalog.pg_class AS relation ON relation.oid = reader
JOIN pg_catalog.pg_namespace AS space ON space.oid = relation.relnamespace
JOIN pg_catalog.pg_class AS other ON other.oid = read
JOIN pg_catalog.pg_namespace AS other_space ON other_space.oid = other.relnamespace
WHERE reader <> read AND space.nspname NOT IN ('pg_catalog', 'information_schema')
"""
"""Which views read which tables, and which tables have parts."""
_LOOSE = """
SELECT attname FROM pg_catalog.pg_attribute JOIN pg_catalog.pg_collation ON pg_collation.oid = attcollation
WHERE attrelid = to_regclass(%s) AND NOT collisdeterministic
"""
_TYPES = "SELECT oid, typname, typtype = 'e' FROM pg_catalog.pg_type"


class PostgresDialect(Dialect):
    """The words of Postgres.

    >>> from leastnoise.data.dialect import bound, sql
    >>> POSTGRES.render(sql("a % 2 = ") + bound(1))
    ('a %% 2 = %s', [1])
    """

    placeholder = "%s"
    wide = "NUMERIC"
    real = "DOUBLE PRECISION"
    try_cast = "CAST"
    text = "TEXT"
    any_decimal = True
    beyond_calendar = ("infinity", "-infinity", "10000-01-01", "4713-01-01 BC", "294276-12-31")

    def escape(self, text: str) -> str:
        return text.replace("%", "%%")

    def short_text(self, column: Column) -> str:
        # Before the cast, which fails on long text with padding. No other type of text holds more than 64 bytes.
        name = self.quote(column.name)
        long = column.native in ("text", "varchar", "bpchar")
        return f"CASE WHEN octet_length({name}) <= {LONGEST_TEXT} THEN {name} END" if long else name

    def not_a_number(self, expression: str) -> str:
        return f"{expression} = 'NaN'"

    def text_test(self, test: str, value: Fragment, text: str) -> Fragment:
        if test == "ends_with":
            return "right(" + value + f", {len(text)}) = CAST(" + bound(text) + " AS TEXT)"
        if test == "contains":
            return "0 < strpos(" + value + ", CAST(" + bound(text) + " AS TEXT))"
        return super().text_test(test, value, text)

    def has_shape(self, value: Fragment, shape: str) -> Fragment:
        return "(" + value + " ~ CAST(" + bound(f"^({shape})$") + " AS TEXT))"

    def first_day(self, unit: str, day: Fragment) -> Fragment:
        return f"CAST(date_trunc('{unit}', CAST(" + day + " AS TIMESTAMP)) AS DATE)"

    def trimmed(self, expression: str) -> str:
        return f"trim_scale({expression})"

    def divide(self, numerator: str, denominator: str) -> str:
        return f"div({numerator}, {denominator})"

    def listed(self, places: Mapping[str, int]) -> Fragment:
        held = {key: place for key, place in places.items() if "\0" not in key}  # no Postgres text has a zero
        return super().listed(held)

    def hash(self, words: Secret, unit: tuple[str, Kind], part: tuple[str, Kind]) -> Fragment:
        first, second = map(self.word, words)
        mixed = self._hash(*part, self._hash(*unit, first))
        return "(hashint8extended(" + mixed + ", " + second + f") & {self.number((1 << 63) - 1)})"

    def _hash(self, expression: str, kind: Kind, seed: Fragment) -> Fragment:
        """Equal values give equal hashes: decimals may differ in zeros at the end, so that they are trimmed."""
        if kind is Kind.INTEGER:
            return f"hashint8extended({expression}, " + seed + ")"
        return f'hashtextextended({self.key_text(expression, kind)} COLLATE "C", ' + seed + ")"

    def numbers(self, count: int) -> str:
        return f"generate_series(0, {count - 1}) AS numbers(place)"

    def times(self, count: str) -> str:
        return f"generate_series(CAST(1 AS BIGINT), {count})"


POSTGRES = PostgresDialect()


class PostgresTable(Table):
    """A table or view in Postgres.

    Args:
        address: "postgresql://…", as libpq reads it.
        parts: The table's name, its schema first if it has one.

    Raises:
        BadSource: No connection, or no such table.
    """

    dialect = POSTGRES

    def __init__(self, address: str, parts: Sequence[str]) -> None:
        self._address = address
        super().__init__(*self.find(parts))

    def find(self, parts: Sequence[str]) -> tuple[Identity, list[Column], str]:
        """Another table of the database."""
        source = ".".join(map(self.dialect.quote, parts))
        columns = found = None
        reads = defaultdict[tuple[str, str], list[tuple[str, str]]](list)
        try:
            with self._connect() as connection:
                found = connection.execute(_NAME, [source]).fetchone()
                columns = _columns(connection, source)
                for schema, name, *other in connection.execute(_READS).fetchall():
                    reads[schema, name].append((other[0], other[1]))
        except MissingPackage:
            raise
        except Exception:
            columns = None
        if columns is None or found is None:  # outside of `except`: the driver's words may quote the password
            raise BadSource(
                "Postgres does not answer, or has no such table that this user may read",
                given=".".join(parts),
                fix="see the address, the rights of the user and the table's name: table='schema.table'",
            )
        database, schema, table = map(str, found)
        former_places = dict.fromkeys((f"postgresql:{urlsplit(self._address).path}/", f"postgresql:/{database}/"))
        place = f"postgresql:/{database}"
        identity = database_identity(place, schema, table, former_places, ".".join(parts), reads)
        return identity, columns, ".".join(map(self.dialect.quote, (schema, table)))

    def _connect(self) -> psycopg.Connection[tuple[Any, ...]]:
        return _connected(self._address)

    def _execute(self, text: str, values: list[object]) -> Sequence[Sequence[Any]]:
        with self._connect() as connection:
            cursor = connection.execute(text, values)
            width = len(cursor.description or ())
            rows = cursor.fetchall()
        return list(zip(*rows, strict=True)) if rows else [()] * width

    def _release(self) -> None:
        """Forget the address."""
        self._address = ""


def _connected(address: str) -> psycopg.Connection[tuple[Any, ...]]:
    try:
        import psycopg
    except ImportError:
        raise MissingPackage("psycopg is not installed", fix="pip install 'leastnoise[postgres]'") from None
    connection = psycopg.connect(address, connect_timeout=10, client_encoding="utf8")
    connection.read_only = True
    connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
    connection.execute("SET LOCAL datestyle = 'ISO'")
    return connection


def postgres_tables(address: str) -> list[tuple[str, str]]:
    """The schemas and names of the tables and views that this user may read.

    Raises:
        BadSource: Postgres does not answer.
    """
    found = None
    try:
        with _connected(address) as connection:
            found = [(str(schema), str(name)) for schema, name in connection.execute(_TABLES).fetchall()]
    except MissingPackage:
        raise
    except Exception:
        found = None
    if found is None:  # outside of `except`: the driver's words may quote the password
        raise BadSource("Postgres does not answer", fix="see the address and the rights of the user")
    return found


def _columns(connection: psycopg.Connection[tuple[Any, ...]], source: str) -> list[Column]:
    types = {oid: (name, enumeration) for oid, name, enumeration in connection.execute(_TYPES).fetchall()}
    # Text in another encoding may hold what UTF-8 lacks, and fail on its way out.
    unicode = connection.execute("SHOW server_encoding").fetchall() == [("UTF8",)]
    described = connection.execute(f"TABLE {source} LIMIT 0".encode()).description
    loose = {name for (name,) in connection.execute(_LOOSE, [source]).fetchall()}
    found = []
    for column in described or ():
        name, enumeration = types[column.type_code]
        kind = Kind.TEXT if enumeration else _KINDS.get(name, Kind.OTHER)
        kind = kind if unicode or kind is not Kind.TEXT else Kind.OTHER
        fixed = kind is Kind.DECIMAL and column.precision is not None and (column.scale or 0) >= 0
        digits = (column.precision, column.scale or 0) if fixed else (None, None)
        found.append(
            Column(
                column.name,
                kind,
                name,
                limits=_WHOLE.get(name, whole_range(64)),
                is_single=name == "float4",
                any_text=name in ("text", "varchar"),
                zoned=name == "timestamptz",
                precision=digits[0],
                scale=digits[1],
                coarse=COLLATION if column.name in loose else "",
                longest=column.display_size if name == "varchar" else None,
            )
        )
    return found
