"""A question at a price: the mechanism that will answer it and how to read what it draws. Public things only."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from leastnoise.exact.enclosures import Enclosure
from leastnoise.exact.numbers import Exact
from leastnoise.ledger.record import Json
from leastnoise.mechanisms.candidates import Candidate
from leastnoise.mechanisms.numeric.integer_noise import IntegerNoise
from leastnoise.model.events import Event
from leastnoise.model.mechanism import ErrorEstimate, Mechanism, Reason
from leastnoise.model.sensitivity import Sensitivity
from leastnoise.release.tables import TidyTable

__all__ = ["Method", "half_error"]

_PARTS = 16  # ε is tried in sixteenths of itself
_MOST = 4


@dataclass(frozen=True)
class Method:
    """What a query does at some ε and δ.

    Attributes:
        mechanism: Draws the answer.
        event: What that costs.
        error: The error of each released number; None where it depends on how many rows there are.
        sensitivity: How much one unit can change the true answer.
        write: What was drawn, as JSON for the ledger.
        show: The table that such JSON stands for.
        reason: Why this mechanism.
        lower_bound: What no mechanism beats on this question; None where nothing is known or its neighbours are fewer
            than a theorem supposes. The bound of `reason` is set to it.
        options: All candidates that were compared, the best first.
        notes: What else there is to know.
        noise: What was added to each value, in steps, where that is one whole noise: for remapping.
    """

    mechanism: Mechanism
    event: Event
    error: ErrorEstimate | None
    sensitivity: Sensitivity | None
    write: Callable[[Any], Json]
    show: Callable[[Json], TidyTable]
    reason: Reason
    lower_bound: Enclosure | None = None
    options: tuple[Candidate, ...] = ()
    notes: tuple[str, ...] = ()
    noise: IntegerNoise | None = None

    def __post_init__(self) -> None:
        """No other bound than that of the question is passed on."""
        object.__setattr__(self, "reason", replace(self.reason, lower_bound=self.lower_bound))


def half_error(error_at: Callable[[Exact], Enclosure | None], epsilon: Exact) -> Exact | None:
    """The least ε, in sixteenths of the given one, at which the expected error is at most half; None beyond fourfold.

    >>> half_error(lambda e: Enclosure(1 / e, 1 / e), Fraction(1))
    Fraction(2, 1)
    """
    now = error_at(epsilon)
    if now is None:
        return None
    wanted = now.upper / 2

    def is_enough(parts: int) -> bool:
        error = error_at(epsilon * Fraction(parts, _PARTS))
        return error is not None and error.upper <= wanted

    low, high = _PARTS, _PARTS * _MOST
    if not is_enough(high):
        return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if is_enough(middle) else (middle, high)
    return epsilon * Fraction(high, _PARTS)
