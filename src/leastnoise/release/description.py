"""What is publicly known of the columns of a dataset: bounds, steps, keys, bins, and what values are measured in.

It is written by a person, not taken from the rows. Questions that leave bounds or keys out take them from here.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from typing import Any

from leastnoise.exact import NumberLike

__all__ = ["Description"]


@dataclass(frozen=True)
class Description:
    """The public description of some columns; what it does not say is not known.

    Attributes:
        bounds: From a numeric column to its lower and upper bound.
        steps: From a numeric column to what its values are rounded to.
        keys: From a column to its public keys.
        bins: From a numeric column to public edges.
        measured_in: From a column to what its values are counted in: {"salary": "EUR"}.
    """

    bounds: Mapping[str, tuple[NumberLike, NumberLike]] = field(default_factory=dict)
    steps: Mapping[str, NumberLike] = field(default_factory=dict)
    keys: Mapping[str, tuple[Hashable, ...]] = field(default_factory=dict)
    bins: Mapping[str, tuple[NumberLike, ...]] = field(default_factory=dict)
    measured_in: Mapping[str, str] = field(default_factory=dict)

    def qualified(self, names: Mapping[str, str]) -> Description:
        """The same for columns that are called otherwise in a join: from the new names to those of the description."""

        def told(known: Mapping[str, Any]) -> dict[str, Any]:
            return {name: known[old] for name, old in names.items() if old in known}

        return Description(*map(told, (self.bounds, self.steps, self.keys, self.bins, self.measured_in)))
