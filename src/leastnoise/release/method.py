"""A question at a price: the mechanism that will answer it and how to read what it draws. Public things only."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from leastnoise.exact.enclosures import Enclosure
from leastnoise.exact.numbers import Exact
from leastnoise.ledger.record import Json
from leastnoise.mechanisms.choosing import Option
from leastnoise.mechanisms.numeric.integer_noise import IntegerNoise
from leastnoise.model.events import Event
from leastnoise.model.mechanism import ErrorEstimate, Mechanism, Reason
from leastnoise.model.sensitivity import Sensitivity
from leastnoise.release.tidy import TidyTable

__all__ = ["Method", "half_error"]

_PARTS = 16  # ε is tried in sixteenths of itself
_MOST = 4


@dataclass(frozen=True)
class Method:
    """What a query does at some ε and δ.

    Attributes:
        mechanism: Draws the answer.
        event: What that costs.
        error: The error of each released number.
        sensitivity: How much one unit can change the true answer.
        write: What was drawn, as JSON for the ledger.
        show: The table that such JSON stands for.
        reason: Why this mechanism.
        lower_bound: What no mechanism beats.
        options: All candidates that were compared, the best first.
        notes: What else there is to know.
        noise: What was added to each value, in steps, where that is one whole noise: for remapping.
    """

    mechanism: Mechanism
    event: Event
    error: ErrorEstimate
    sensitivity: Sensitivity | None
    write: Callable[[Any], Json]
    show: Callable[[Json], TidyTable]
    reason: Reason
    lower_bound: Enclosure | None = None
    options: tuple[Option, ...] = ()
    notes: tuple[str, ...] = ()
    noise: IntegerNoise | None = None


def half_error(error_at: Callable[[Exact], Enclosure], epsilon: Exact) -> Exact | None:
    """The least ε, in sixteenths of the given one, at which the expected error is at most half; None beyond fourfold.

    >>> half_error(lambda e: Enclosure(1 / e, 1 / e), Fraction(1))
    Fraction(2, 1)
    """
    wanted = error_at(epsilon).upper / 2
    low, high = _PARTS, _PARTS * _MOST
    if error_at(epsilon * _MOST).upper > wanted:
        return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if error_at(epsilon * Fraction(middle, _PARTS)).upper <= wanted else (middle, high)
    return epsilon * Fraction(high, _PARTS)
