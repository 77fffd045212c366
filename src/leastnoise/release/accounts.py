"""Which account of a ledger belongs to a table: one table, one account, however the table is spelled."""

from __future__ import annotations

from leastnoise.data import Table
from leastnoise.errors import BadParameter, BudgetChanged
from leastnoise.ledger import Ledger
from leastnoise.ledger.record import read_name

__all__ = ["account_name", "dataset_name"]


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
        BudgetChanged: Version 0.1 began several accounts for it, or a folder has files with an account of their own (or
            a file a folder with one), and which one goes on is for people to say.
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
    overlapping = sorted(held.intersection(table.overlapping), key=str)
    if overlapping and not found:
        raise BudgetChanged(
            "some of these rows belong to an account already, and a second one would be a second budget for them",
            given=", ".join(map(str, overlapping)),
            fix=f"go on with that account, name={overlapping[0]!r}, or say that this is another dataset: name=…",
        )
    return found[0] if found else called
