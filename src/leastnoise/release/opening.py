"""Opening a dataset: a table where it lies, the unit to protect, and the budget that all questions share."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from leastnoise.data import Contribution, Table, linked_names, open_table
from leastnoise.data.joined_table import JoinedTable
from leastnoise.data.linked_tables import link_tables
from leastnoise.data.links import ColumnPlace, read_place
from leastnoise.errors import BadParameter, BudgetChanged, LedgerMissing, LedgerUnavailable, UncoveredDebit, shown
from leastnoise.exact import NumberLike, read_integer
from leastnoise.ledger import Ledger, Opening
from leastnoise.ledger.record import read_name, read_purpose
from leastnoise.ledger.store import Store
from leastnoise.model import Privacy
from leastnoise.release.arguments import require_column
from leastnoise.release.configuration import read_amount, read_configuration
from leastnoise.release.database import Database
from leastnoise.release.dataset import Dataset

__all__ = ["open"]

BudgetLike = NumberLike | tuple[NumberLike, NumberLike] | Privacy | None
Place = str | Path | Store | Ledger | None

_DEFAULT_LEDGER = "leastnoise.ledger"
_ANYONE = "anyone"


def open(  # noqa: A001 - it shadows the builtin only as ln.open
    source: Any,
    *,
    privacy_unit: str | None = None,
    budget: BudgetLike = None,
    table: str | None = None,
    links: Mapping[str, str] | None = None,
    public: Collection[str] | None = None,
    columns: Mapping[str, str] | None = None,
    ledger: Place = None,
    name: str | None = None,
    analyst: str | None = None,
    purpose: str = "any",
    groups_per_unit: NumberLike = 1,
    rows_per_unit: NumberLike = 1,
    memory_limit: str | None = None,
    temp_directory: str | Path | None = None,
) -> Dataset:
    r"""Open a table for private questions. The data stays in its engine.

    Args:
        source: Parquet, CSV or Arrow files, a DuckDB file, "postgresql://…", a Spark or data frame, or a `Table`; or
            "leastnoise.toml", which says where the data is, whose rows they are and what is publicly known of them.
        privacy_unit: The column that identifies the person each row belongs to; None protects single rows.
        budget: What all questions together may cost: ε, or (ε, δ), or a `Privacy`. Opening grants nothing: the first
            question that is admitted fixes the budget and the privacy unit for good. Later the budget may be left out,
            and another one is refused.
        table: Which table, where the source has several.
        links: How the tables of a database lead to the unit: {"orders.customer_id": "customers.id"}, with
            privacy_unit="customers.id". What comes back is then a `Database`: `shop["orders"]` is a dataset, and all of
            them share one budget. Links may lead to public tables, too.
        public: The tables of such a database that hold nothing private.
        columns: What the columns of a CSV hold, or Python objects in pandas: {"age": "integer", "born": "date"}. Kinds
            are text (where none is declared), integer, real, decimal(p,s), boolean, date and timestamp. A field that is
            no such value is missing.
        ledger: Where the budget is kept: a file, "postgresql://…", or a `Ledger`; $LEASTNOISE_LEDGER or
            ./leastnoise.ledger if left out. A file is made on first use when a budget is given.
        name: What the ledger calls the dataset. The same name is the same account. If left out, where the table lies:
            the path of a file without links, or database, schema and table. A frame has no name of its own.
        analyst: Who asks; $LEASTNOISE_ANALYST or "anyone" if left out.
        purpose: What for.
        groups_per_unit: The most groups one unit may count in, unless a query says otherwise.
        rows_per_unit: The most rows one unit may count with in each.
        memory_limit: For the embedded engine, for example "4GB".
        temp_directory: Where the embedded engine may spill.

    Raises:
        BudgetChanged: The dataset was granted another budget before, or protects another privacy unit, or its account
            may be the one that version 0.1 kept under another name.
        UncoveredDebit: No budget was ever granted, and none is given.

    >>> import tempfile
    >>> from leastnoise.release import open as open_dataset
    >>> folder = tempfile.TemporaryDirectory()
    >>> where = Path(folder.name)
    >>> _ = (where / "visits.csv").write_text("person,city\n1,Lyon\n2,Metz\n2,Lyon\n")
    >>> with open_dataset(where / "visits.csv", privacy_unit="person", budget=1, ledger=where / "ledger") as visits:
    ...     release = visits.count(by="city", keys=["Lyon", "Metz", "Nice"]).release(epsilon=0.5)
    ...     release.table["city"], visits.left.epsilon
    (('Lyon', 'Metz', 'Nice'), Fraction(1, 2))
    >>> folder.cleanup()
    """
    if isinstance(source, str | Path) and str(source).endswith(".toml"):
        fixed = {"privacy_unit": privacy_unit, "table": table, "links": links, "public": public, "columns": columns}
        return _open_described(
            Path(source), name, fixed, budget, ledger or None, analyst, purpose, memory_limit, temp_directory
        )
    wanted = _read_budget(budget)
    read_purpose(purpose)
    several = links is not None or public is not None
    unit = _read_unit(source, privacy_unit, table) if several else None
    table = unit.table if unit is not None else table
    opened = (
        source
        if isinstance(source, Table)
        else open_table(
            source,
            table=table,
            columns=columns,
            privacy_unit=privacy_unit,
            memory_limit=memory_limit,
            temp_directory=temp_directory,
        )
    )
    try:
        opened.require_ready()
        linked = None if unit is None else link_tables(opened, unit, links or {}, public or ())
        asked = opened if linked is None else linked.view(linked.shape.unit.table)
        called = privacy_unit if not isinstance(asked, JoinedTable) else asked.unit
        contribution = read_contribution(asked, called, groups_per_unit, rows_per_unit)
        dataset_name(asked, name)
        who = read_name(_analyst() if analyst is None else analyst, "analyst")
        opening = Opening(wanted, contribution.privacy_unit if linked is None else linked.shape.protected)
        kept, account = _open_account(ledger, asked, name, opening)
    except BaseException:
        if opened is not source:
            opened.close()
        raise
    made = partial(
        Dataset if linked is None else partial(Database, linked=linked),
        table=asked,
        ledger=kept,
        name=account,
        analyst=who,
        purpose=purpose,
        contribution=contribution,
        opening=opening,
        owns_table=opened is not source,
        owns_ledger=kept is not ledger,
    )
    return made()


def _open_described(
    file: Path,
    name: str | None,
    fixed: Mapping[str, object],
    budget: BudgetLike,
    ledger: Place,
    analyst: str | None,
    purpose: str,
    memory_limit: str | None,
    temp_directory: str | Path | None,
) -> Dataset:
    """A dataset of a configuration file, with what the file says about it.

    Raises:
        BadConfiguration: The file can't be read.
        BadParameter: It has no such dataset, or something is given that it fixes.
    """
    configuration = read_configuration(file)
    known = configuration.datasets
    if name is None and len(known) == 1:
        (name,) = known
    if name is None or name not in known:
        raise BadParameter(
            f"{file} has no such dataset", given=name, fix=f"pass name=…: one of {', '.join(known) or '(none yet)'}"
        )
    settings = known[name]
    for what, value in fixed.items():
        if value is not None:
            raise BadParameter(f"{file} says what {what} is", given=shown(value), fix=f"leave {what}= out")
    if budget is not None and settings.budget is not None:
        raise BadParameter(f"{file} fixes the budget", given=shown(budget), fix="leave budget= out")
    if settings.unit is None:
        raise BadParameter(
            f"{file} does not say whose rows these are",
            given=name,
            fix='write unit = "person_id", the column that identifies a person, or unit = "row"',
        )
    several = {"links": settings.links, "public": settings.public} if settings.links or settings.public else {}
    dataset = open(
        settings.source,
        privacy_unit=None if settings.unit == "row" else settings.unit,
        budget=read_amount(settings.budget) if budget is None else budget,
        table=settings.table,
        columns=settings.columns or None,
        ledger=configuration.ledger if ledger is None else ledger,
        name=name,
        analyst=configuration.analyst if analyst is None else analyst,
        purpose=purpose,
        groups_per_unit=settings.groups_per_unit,
        rows_per_unit=settings.rows_per_unit,
        memory_limit=memory_limit,
        temp_directory=temp_directory,
        **several,  # type: ignore[arg-type]
    )
    try:
        return replace(dataset, description=settings.description(dataset))
    except BaseException:
        dataset.close()
        raise


def _read_unit(source: object, privacy_unit: str | None, table: str | None) -> ColumnPlace:
    """The unit of several tables: a table and its column."""
    if table is not None or isinstance(source, Table):
        raise BadParameter(
            "links and public tables are for a whole database",
            given=table,
            fix='pass the database itself, and the table of the unit in privacy_unit="customers.id"',
        )
    return read_place(privacy_unit, "privacy_unit")


def read_contribution(
    table: Table, privacy_unit: str | None, groups_per_unit: NumberLike, rows_per_unit: NumberLike
) -> Contribution:
    """What one unit may add; a row that is a unit of its own adds itself, once."""
    groups = read_integer(groups_per_unit, "groups_per_unit", at_least=1, at_most=10**6)
    rows = read_integer(rows_per_unit, "rows_per_unit", at_least=1, at_most=10**9)
    if privacy_unit is None:
        if groups > 1 or rows > 1:
            raise BadParameter(
                "bounds per unit need a unit",
                given=f"groups_per_unit={groups}, rows_per_unit={rows}",
                fix='name the column that identifies the person each row belongs to: privacy_unit="person_id"',
            )
        return Contribution(None)
    return Contribution(require_column(table, privacy_unit), groups, rows)


def _analyst() -> str:
    return os.environ.get("LEASTNOISE_ANALYST") or _ANYONE


def _read_budget(budget: BudgetLike) -> Privacy | None:
    if budget is None:
        return None
    if isinstance(budget, Privacy):
        return budget.require_sensible()
    if isinstance(budget, tuple | list):
        if len(budget) != 2:
            raise BadParameter("budget must be ε or a pair (ε, δ)", given=budget, fix='pass budget=(1, "1e-6")')
        return Privacy(*budget).require_sensible()
    return Privacy(budget).require_sensible()


def _open_account(place: Place, table: Table, name: str | None, opening: Opening) -> tuple[Ledger, str]:
    """The ledger and the name of the account; a file is made where there is none and a budget is given.

    Only one process at a time makes a ledger. It grants nothing.
    """
    if isinstance(place, Ledger):
        return place, _account(place, table, name, opening)
    where = (os.environ.get("LEASTNOISE_LEDGER") or _DEFAULT_LEDGER) if place is None else place
    known = isinstance(where, str | Path) or callable(getattr(where, "transaction", None))  # a `Store` of any kind
    if not known or (isinstance(where, str) and not where.strip()):
        raise BadParameter(
            "a ledger is a file, a database or a `Ledger`", given=place, fix='pass for example ledger="census.ledger"'
        )
    file = Path(where) if isinstance(where, Path) or (isinstance(where, str) and "://" not in where) else None
    if file is not None:
        _require_file_name(file)
    may_make = file is not None and opening.budget is not None
    with _alone(file) if file is not None and may_make else nullcontext():
        ledger = Ledger.create(file) if file is not None and may_make and not file.exists() else None
        try:
            ledger = ledger or _open_ledger(where, file)
            return ledger, _account(ledger, table, name, opening)
        except BaseException:
            if ledger is not None:
                ledger.close()
            raise


def _require_file_name(file: Path) -> None:
    """Refuse what no file can be called; whether there is one does not matter."""
    try:
        file.lstat()
    except (FileNotFoundError, NotADirectoryError):
        pass
    except (OSError, ValueError):  # too long, a NUL, half a character, no rights
        raise BadParameter(
            "no ledger can be kept under this name", given=str(file), fix='pass for example ledger="census.ledger"'
        ) from None


def _open_ledger(where: str | Path | Store, file: Path | None) -> Ledger:
    if file is not None and not file.exists() and not Path(f"{file}.witness").exists():
        raise LedgerMissing(
            "there is no ledger here, and no budget to begin one with",
            given=str(file),
            fix="pass budget=1 to grant a budget, or ledger=… to say where it is kept",
        )
    return Ledger.open(where)


@contextmanager
def _alone(file: Path) -> Iterator[None]:
    """Wait until no other process is here, by a lock on the folder of the ledger."""
    try:
        handle = os.open(file.parent, os.O_RDONLY)
    except OSError as error:
        raise LedgerUnavailable(
            "the folder of the ledger can't be opened", given=str(file.parent), fix=f"{error.strerror}"
        ) from None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def _account(ledger: Ledger, table: Table, name: str | None, opening: Opening) -> str:
    """The name of the account; another budget or privacy unit than the recorded ones is refused. Nothing is written.

    The ledger asks the same again with the first request, when another process may have been faster.
    """
    account = account_name(ledger, table, name)
    if opening.budget is None and ledger.budget_of(account) is None:
        raise UncoveredDebit(
            "the dataset has no budget yet", given=account, fix='pass one: budget=1, or budget=(1, "1e-6")'
        )
    ledger.check_opening(account, opening)
    return account


def dataset_name(table: Table, name: str | None) -> str:
    """What somebody calls the table, or else the table's own name.

    Raises:
        BadParameter: It has none: two frames can't be told apart, and must not share a budget by mistake.
    """
    if name is None and table.identity is None:
        raise BadParameter(
            "a frame has no name of its own, and a budget belongs to a name",
            fix='pass one that is always the same for the same data: name="visits" '
            '(version 0.1 called every frame "frame")',
        )
    return read_name(table.name if name is None else name, "name")


def account_name(ledger: Ledger, table: Table, name: str | None) -> str:
    """The account of a table: that of its name, or, where there is none yet, the one that version 0.1 began for it.

    So an old ledger goes on, and no table gets a fresh budget because it is called otherwise now. Files of one name in
    two folders had one account in version 0.1; where that account is there, they go on sharing it.

    Raises:
        BudgetChanged: Version 0.1 began several accounts for it, or other tables that hold its rows have accounts (the
            files of a folder, the folder of a file, its views, another link of the file), and which one goes on is for
            people to say.
    """
    called = dataset_name(table, name)
    held = {balance.scope.dataset for balance in ledger.balances()}
    if name is not None or called in held:
        return called
    former = {text.casefold() for text in table.former_names}
    found = sorted(dataset for dataset in held if dataset is not None and dataset.casefold() in former)
    if len(found) > 1:
        raise BudgetChanged(
            "version 0.1 of this program began several accounts for this table",
            given=", ".join(found),
            fix=f"pass the one that goes on, for example name={found[0]!r}",
        )
    own = [called, *(each for each in table.overlapping if each != table.place)]
    linked = linked_names(own, [each for each in held if each is not None])
    overlapping = sorted(held.intersection(table.overlapping) | linked, key=str)
    if overlapping and not found:
        raise BudgetChanged(
            "some of these rows belong to an account already, and a second one would be a second budget for them",
            given=", ".join(map(str, overlapping)),
            fix=f"go on with that account, name={overlapping[0]!r}, or say that this is another dataset: name=…",
        )
    return found[0] if found else called
