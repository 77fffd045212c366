"""How much one privacy unit can change what is released, before noise."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

from leastnoise.model.show import number

__all__ = ["Norm", "Sensitivity"]

Norm = Literal["l1", "l∞"]


@dataclass(frozen=True)
class Sensitivity:
    """One unit, added or removed, changes at most `cells` cells, each by at most `each` steps.

    A cell may hold several numbers; `each` then bounds the sum of their absolute changes.

    Args:
        cells: The most cells that a unit takes part in.
        each: The most that it changes one of them, in whole steps.
        reason: Where the two come from.
        step: What one step is worth in the unit of the answer.
        norm: The norm that the mechanism is calibrated to: "l1" for noise on each number, "l∞" where only the largest
            single change matters (choices, votes, ranks).
        monotone: Whether one unit moves all cells the same way.

    >>> both = Sensitivity(2, 3, "2 groups, 3 rows in each")
    >>> both.l1, both.l2_squared, both.amount
    (6, 18, 6)
    """

    cells: int
    each: int
    reason: str
    step: Fraction = Fraction(1)
    norm: Norm = "l1"
    monotone: bool = True

    @property
    def l1(self) -> int:
        """The largest change in the ℓ₁ norm, in steps."""
        return self.cells * self.each

    @property
    def l2_squared(self) -> int:
        """The square of the largest change in the ℓ₂ norm, in steps."""
        return self.cells * self.each**2

    @property
    def amount(self) -> int:
        """The largest change in the norm that the mechanism uses, in steps."""
        return self.l1 if self.norm == "l1" else self.each

    def __str__(self) -> str:
        """The sensitivity in the unit of the answer, and why."""
        return f"{number(self.amount * self.step)}: {self.reason}"

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready, exact."""
        return {
            "cells": self.cells,
            "each": str(self.each * self.step),
            "l1": str(self.l1 * self.step),
            "norm": self.norm,
            "amount": str(self.amount * self.step),
            "why": self.reason,
        }
