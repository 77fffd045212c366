"""The cheapest private column for given prices where every two inputs are bound: a transport with losses on the way.

A column q is ε-private if q_s·e^(−ε·d(x, s)) ≤ q_x for all inputs s and x. For prices v its reduced cost is
Σ_x (c_x − v_x)·q_x. Inputs with c_x < v_x want q large, the others want it small, so the best q is fixed by its values
on the sinks S = {x: c_x < v_x}: elsewhere q_x = max_s q_s·e^(−ε·d(x, s)). The dual is a transport: what a source x has
to give, c_x − v_x, is sent to sinks and arrives at s reduced by e^(−ε·d(x, s)); no column has negative reduced cost if
and only if every sink can get v_s − c_s. By the triangle inequality ways with more than one step bring less.

Both are guessed at once: source x sends to the sinks in the ratio of (q_s·e^(−ε·d(x, s)))^(1/τ) for a small temperature
τ, and q_s grows where too little arrives (Sinkhorn's iteration, Cuturi 2013): two products of a matrix and a vector.
Where a bound is wanted, a sparse linear program over the ways that are nearly best for their source ends the transport.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from leastnoise.exact import IntArray
from leastnoise.model import guess_optimum

__all__ = ["Shipment", "Transport"]

Floats = NDArray[np.float64]

_TINY = 1e-290
_FORGOTTEN = 1e-200
_LONGEST_STEP = 1e3
_NEARLY_BEST = 0.7  # of the best way of a source: the temperature blurs which one it is
_HARDLY = 1e9  # times what a source has: a way that brings nothing worth a number
_NOTHING = 1e-9  # of what a source has
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

    def shipment(self, output: int, costs: Floats, prices: Floats, rounds: int) -> Shipment:
        """What sources send so that sinks lack as little as possible, along ways that are nearly best.

        A linear program in the shares f of what a sink wants that come from a source:

            minimise  Σ_s wanted_s·lack_s   subject to   Σ_x f_xs + lack_s ≥ 1,   Σ_s f_xs·wanted_s/arriving_xs ≤ 1

        with arriving_xs = given_x·e^(−ε·d(x, s)). The prices q of the search say which ways may be used at the optimum:
        those with the largest q_s·e^(−ε·d(x, s)) of their source.
        """
        gains = costs - prices
        found = self._search(output, gains, rounds)
        nothing = np.empty(0, dtype=np.int64)
        if found is None or not len(found[2]):
            return Shipment(nothing, nothing, np.empty(0))
        sinks, powers, sources = found
        wanted, given = -gains[sinks], gains[sources]
        worth = self.nearness[np.ix_(sources, sinks)] * powers**self.temperature
        is_way = worth >= _NEARLY_BEST * worth.max(axis=1, keepdims=True)
        source, sink = np.nonzero(is_way & (given > 0)[:, None])
        part = wanted[sink] / np.maximum(given[source] * self.nearness[sources[source], sinks[sink]], _TINY)
        used = part < _HARDLY
        source, sink, part = source[used], sink[used], part[used]
        shares = _best_shares(source, sink, part, wanted)
        sent = np.maximum(shares, 0) * part
        sent /= np.maximum(np.bincount(source, weights=sent, minlength=len(sources)), 1)[source]
        kept = sent > _NOTHING
        source, sink = source[kept], sink[kept]
        return Shipment(sources[source], sinks[sink], sent[kept] * given[source])

    def _search(self, output: int, gains: Floats, rounds: int) -> tuple[IntArray, Floats, IntArray] | None:
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
        return sinks, powers, sources


def _best_shares(source: IntArray, sink: IntArray, part: Floats, wanted: Floats) -> Floats:
    """What each way brings, as a share of what its sink wants; all of that is `part` of what its source has."""
    from scipy.sparse import csc_array  # half a second to import, and seldom needed

    ways, sinks = len(part), len(wanted)
    senders, row = np.unique(source, return_inverse=True)
    rows = np.concatenate([row, len(senders) + sink, len(senders) + np.arange(sinks)])
    columns = np.concatenate([np.arange(ways), np.arange(ways + sinks)])
    matrix = csc_array((np.concatenate([part, np.ones(ways + sinks)]), (rows, columns)))
    least = np.concatenate([np.full(len(senders), -np.inf), np.ones(sinks)])
    most = np.concatenate([np.ones(len(senders)), np.full(sinks, np.inf)])
    cost = np.concatenate([np.zeros(ways), wanted / wanted.max()])
    found = guess_optimum(cost, matrix, least, most)
    return np.zeros(ways) if found is None else found.point[:ways]
