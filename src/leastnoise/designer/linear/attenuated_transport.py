"""The cheapest private column for given prices where every two inputs are bound: a transport with losses on the way.

A column q is ε-private if q_s·e^(−ε·d(x, s)) ≤ q_x for all inputs s and x. For prices v its reduced cost is
Σ_x (c_x − v_x)·q_x. Inputs with c_x < v_x want q large, the others want it small, so the best q is fixed by its values
on the sinks S = {x: c_x < v_x}: elsewhere q_x = max_s q_s·e^(−ε·d(x, s)). The dual is a transport: what a source x has
to give, c_x − v_x, is sent to sinks and arrives at s reduced by e^(−ε·d(x, s)); no column has negative reduced cost if
and only if every sink can get v_s − c_s. By the triangle inequality ways with more than one step bring less.

Both are guessed at once: source x sends to the sinks in the ratio of (q_s·e^(−ε·d(x, s)))^(1/τ) for a small temperature
τ, and q_s grows where too little arrives (Sinkhorn's iteration, Cuturi 2013): two products of a matrix and a vector. At
the end sinks that got too much give it back to the sources, who send it to those that lack.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from leastnoise.exact import IntArray

__all__ = ["Shipment", "Transport"]

Floats = NDArray[np.float64]

_TINY = 1e-290
_FORGOTTEN = 1e-200
_LONGEST_STEP = 1e3
_REFILLS = 12
_DEEPEST = 600.0  # powers of e that a double holds, with room


class Shipment(NamedTuple):
    """What one source sends to one sink, entry by entry."""

    sources: IntArray
    sinks: IntArray
    amounts: Floats


@dataclass
class Transport:
    """Prices the columns of all outputs; what was found for an output is where the next search begins.

    Attributes:
        nearness: e^(−ε·d(x, s)).
        temperature: τ.
    """

    nearness: Floats
    temperature: float
    _sharp: Floats = field(init=False)
    _arriving: Floats = field(init=False)
    _known: dict[int, Floats] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Take the powers once."""
        deepest = float(-np.log(self.nearness.min()))
        self.temperature = max(self.temperature, deepest / _DEEPEST)
        self._sharp = self.nearness ** (1 / self.temperature)
        self._arriving = self._sharp * self.nearness

    def column(self, output: int, costs: Floats, prices: Floats, rounds: int) -> Floats | None:
        """A private column with a low ratio of cost to price, its largest entry 1; None where nothing is wanted."""
        found = self._search(output, costs - prices, rounds)
        if found is None:
            return None
        sinks, powers = found[0], found[1]
        column: Floats = (self.nearness[:, sinks] * powers**self.temperature).max(axis=1)
        column /= column.max()
        return column

    def shipment(self, output: int, costs: Floats, prices: Floats, rounds: int, least: float) -> Shipment:
        """What sources send so that sinks get what they want, as nearly as was found.

        Shares of what a source has are left out below `least`.
        """
        gains = costs - prices
        found = self._search(output, gains, rounds)
        if found is None:
            nothing = np.empty(0, dtype=np.int64)
            return Shipment(nothing, nothing, np.empty(0))
        sinks, powers, sources, total = found
        wanted, given = -gains[sinks], gains[sources]
        nearness, sharp = self.nearness[np.ix_(sources, sinks)], self._sharp[np.ix_(sources, sinks)]
        sent = sharp * powers * (given / total)[:, None]
        for _ in range(_REFILLS):
            got = (sent * nearness).sum(axis=0)
            sent *= np.minimum(1, wanted / np.maximum(got, _TINY))
            lacking = np.flatnonzero(got < wanted)
            if not len(lacking):
                break
            ways = sharp[:, lacking] * powers[lacking]
            left = np.maximum(given - sent.sum(axis=1), 0)
            sent[:, lacking] += ways * (left / np.maximum(ways.sum(axis=1), _TINY))[:, None]
        sent[sent < least * given[:, None]] = 0
        source, sink = np.nonzero(sent)
        return Shipment(sources[source], sinks[sink], sent[source, sink])

    def _search(self, output: int, gains: Floats, rounds: int) -> tuple[IntArray, Floats, IntArray, Floats] | None:
        wants = gains < 0
        if not wants.any():
            return None
        sinks, sources = np.flatnonzero(wants), np.flatnonzero(~wants)
        wanted, given = -gains[sinks], gains[sources]
        sharp, arriving = self._sharp[np.ix_(sources, sinks)], self._arriving[np.ix_(sources, sinks)].T.copy()
        known = self._known.get(output)
        powers = np.ones(len(sinks)) if known is None else known[sinks]
        powers = np.maximum(powers / max(powers.max(), _FORGOTTEN), 1e-30)
        for _ in range(rounds):
            got = powers * (arriving @ (given / np.maximum(sharp @ powers, _TINY)))
            lack = wanted / np.maximum(got, _TINY)
            worth = powers**self.temperature * wanted
            powers *= np.clip(lack * worth.sum() / (lack @ worth), 1 / _LONGEST_STEP, _LONGEST_STEP)
            powers = np.maximum(powers / powers.max(), _FORGOTTEN)
        kept = np.zeros(len(gains))
        kept[sinks] = powers
        self._known[output] = kept
        return sinks, powers, sources, np.maximum(sharp @ powers, _TINY)
