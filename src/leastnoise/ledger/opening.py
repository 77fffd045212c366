"""What the first request on a dataset fixes: its budget, and whom the budget protects."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from leastnoise.errors import BadParameter
from leastnoise.ledger.record import UNIT_PURPOSE, read_name
from leastnoise.model.privacy import Privacy

__all__ = ["Opening", "PrivacyUnit", "read_unit_purpose"]


@dataclass(frozen=True)
class PrivacyUnit:
    """Whom a dataset's budget protects: those whom a column names, or single rows where `column` is None.

    >>> print(PrivacyUnit("person"), PrivacyUnit(None), sep=", ")
    column 'person', single rows
    """

    column: str | None

    def __post_init__(self) -> None:
        """Check the name."""
        if self.column is not None:
            read_name(self.column, "privacy_unit")

    def __str__(self) -> str:
        """In words."""
        return "single rows" if self.column is None else f"column {self.column!r}"


@dataclass(frozen=True)
class Opening:
    """The budget and privacy unit that the first admitted request on a dataset fixes.

    Args:
        budget: What all questions together may cost; None for whatever was granted.
        unit: The column that identifies the person each row belongs to; None for single rows.
    """

    budget: Privacy | None
    unit: str | None

    def __post_init__(self) -> None:
        """Check both."""
        if not isinstance(self.budget, Privacy | None):
            raise BadParameter("budget must be a Privacy", given=type(self.budget).__name__, fix="pass Privacy(1)")
        PrivacyUnit(self.unit)


def read_unit_purpose(purpose: str) -> PrivacyUnit:
    """The unit that format 1 kept as the purpose of a grant.

    >>> read_unit_purpose("privacy unit: 'person'").column, read_unit_purpose("privacy unit: row").column
    ('person', None)
    """
    text = purpose.removeprefix(UNIT_PURPOSE)
    if text == "row":
        return PrivacyUnit(None)
    try:
        column = ast.literal_eval(text)
    except (ValueError, SyntaxError):
        column = text
    return PrivacyUnit(column if isinstance(column, str) and column else text)
