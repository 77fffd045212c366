"""How much one privacy unit can change an answer, from the contribution bounds and nothing else."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

__all__ = ["Sensitivity"]


@dataclass(frozen=True)
class Sensitivity:
    """One unit, added or removed, changes at most `cells` cells, each by at most `each` steps.

    Args:
        cells: The most cells that a unit takes part in.
        each: The most that it changes one of them, in whole steps.
        why: Where the two come from.
        step: What one step is worth in the unit of the answer.

    >>> Sensitivity(2, 3, "2 groups, 3 rows in each").l1
    6
    """

    cells: int
    each: int
    why: str
    step: Fraction = Fraction(1)

    @property
    def l1(self) -> int:
        """The largest change in the ℓ₁ norm, in steps."""
        return self.cells * self.each

    def __str__(self) -> str:
        """The ℓ₁ sensitivity in the unit of the answer, and why."""
        amount = self.l1 * self.step
        shown = str(amount) if amount.denominator == 1 else f"{float(amount):.6g}"
        return f"{shown}: {self.why}"

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready, exact."""
        return {
            "cells": self.cells,
            "each": str(self.each * self.step),
            "l1": str(self.l1 * self.step),
            "why": self.why,
        }
