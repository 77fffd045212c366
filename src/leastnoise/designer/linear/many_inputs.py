"""Column generation where there are many inputs and every two are bound: private columns and prices, as guesses.

The program is that of `restricted_master`, with columns that need not be powers with whole potentials. Prices are kept
in a box at first by columns that cover one row at the price of its wall (du Merle, Villeneuve, Desrosiers and Hansen
1999); the box grows where prices reach its wall and goes when the gap is small. Nothing here decides:
`many_inputs_proof` makes the mixture exactly private and the prices a bound.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from leastnoise.designer.linear.attenuated_transport import Shipment, Transport
from leastnoise.designer.linear.clock import Clock
from leastnoise.designer.linear.interior_point import mix_inside, whole_sums
from leastnoise.exact import IntArray

__all__ = ["RoughDesign", "generate_many"]

Floats = NDArray[np.float64]

_GOOD = 0.01  # the relative gap at which the search ends
_MOST_ROUNDS = 80
_TEMPERATURE = 0.05
_SEARCH = 20  # iterations of a search for a column; it begins where the last one ended
_CAREFUL_SEARCH = 60  # where a bound depends on it
_STAY = 0.3  # the weight of the best prices so far among those that are asked for columns (Wentges 1997)
_BOX = 4.0
_UNIT = 0.01  # of a column of the box
_BOX_HOLDS = 0.011  # the gap below which the box is given up
_ROUNDS_IN_THE_BOX = 40
_NEARER = 0.95  # of the goal: what sinks lack lowers the bound
_STUCK = 1 + 1e-6  # times the likely bound: less is no progress
_NEW = 1 - 1e-4  # a ratio below which a column is worth having
_MOST_COLUMNS = 6  # for each row, before those of no use are dropped
_NEGLIGIBLE = 1e-9  # a weight
_FOR_THE_END = 0.15  # of the time that is allowed


@dataclass(frozen=True)
class RoughDesign:
    """A mixture and a bound, in doubles.

    Attributes:
        law: p(y|x), rows sum to nearly one.
        loss: Its expected loss.
        prices: v of each row, scaled to be nearly a bound.
        bound: What they prove, if doubles are believed.
        shipments: For each output, what its sources send.
    """

    law: Floats
    loss: float
    prices: Floats
    bound: float
    shipments: tuple[Shipment, ...]


def generate_many(nearness: Floats, costs: Floats, homes: IntArray, clock: Clock) -> RoughDesign:
    """Private columns until the gap is small, no column is missing, or the time is up.

    Args:
        nearness: e^(−ε·d(x, s)) of inputs.
        costs: π_x·ℓ(y, x) ≥ 0, a row for each input and a column for each output.
        homes: For each output an input for which it is good.
        clock: The time there is.
    """
    search = _Search(nearness, costs, homes, clock)
    while search.go_on():
        pass
    return search.guess()


class _Search:
    def __init__(self, nearness: Floats, costs: Floats, homes: IntArray, clock: Clock) -> None:
        self._costs, self._clock = costs, clock
        self._transport = Transport(nearness, _TEMPERATURE)
        rows, outputs = costs.shape
        constant = int(costs.sum(axis=0).argmin())
        self._box = _BOX * np.maximum(costs[:, constant], costs.max(axis=1) / rows)
        total = float(costs[:, constant].sum())
        self._box = np.maximum(self._box, _BOX * total * self._row_weights())
        columns = np.hstack([nearness[:, homes], np.ones((rows, 1))])
        self._owners = np.append(np.arange(outputs), constant)
        self._columns: Floats = columns / columns.sum(axis=0)
        self._is_boxed = True
        self._rounds = 0
        self._slowest = 0.0
        self._loss = total
        self._likely: tuple[float, Floats] = (0.0, np.zeros(rows))
        self._best: tuple[float, Floats] = (0.0, np.zeros(rows))
        self._sent: tuple[Shipment, ...] = ()
        self._goal = _NEARER * _GOOD

    def _row_weights(self) -> Floats:
        """The prior, as far as costs show it."""
        highest = self._costs.max(axis=1)
        weights: Floats = highest / max(highest.sum(), 1e-300)
        return weights

    @property
    def _gap(self) -> float:
        """What the likely bound leaves, relatively."""
        return 1 - self._likely[0] / self._loss if self._loss > 0 else 0.0

    def go_on(self) -> bool:
        """One round; whether another one is worth its time."""
        clock, began = self._clock, self._clock.seconds
        clock.tick()
        prices = self._mix()[1]
        if self._likely[0] > 0:
            prices = _STAY * self._likely[1] + (1 - _STAY) * prices
        ratio, added = self._price(prices)
        likely = min(ratio, 1.0) * float(prices.sum())
        is_stuck = not added and likely <= _STUCK * self._likely[0]
        if likely > self._likely[0]:
            self._likely = likely, min(ratio, 1.0) * prices
        self._rounds += 1
        self._slowest = max(self._slowest, clock.seconds - began)
        if self._is_boxed and (self._gap < _BOX_HOLDS or self._rounds > _ROUNDS_IN_THE_BOX or is_stuck):
            self._is_boxed = False
            return self._has_time()
        is_going = self._has_time() and not is_stuck and self._rounds < _MOST_ROUNDS
        if is_going and (self._is_boxed or self._gap > self._goal):
            return True
        self.prove()
        self._goal *= _NEARER
        return is_going and 1 - self._best[0] / self._loss > _GOOD

    def _has_time(self) -> bool:
        """Whether another round, and what comes after, will be over in time."""
        left, limit = self._clock.left, self._clock.limit
        return left is None or limit is None or left > _FOR_THE_END * limit + 2 * self._slowest

    def _mix(self) -> tuple[Floats, Floats]:
        """Weights and prices of the columns there are; within the box, walls that prices reach move out."""
        cost = self._column_costs()
        tolerance = min(0.1, max(0.1 * self._gap, 1e-3))
        if not self._is_boxed:
            weights, prices = mix_inside(cost, self._columns, tolerance)
            self._loss = float(cost @ weights)
            return weights, prices
        rows = len(self._costs)
        walls = _UNIT * np.hstack([np.eye(rows), -np.eye(rows)])
        weights, prices = mix_inside(
            np.concatenate([cost, _UNIT * self._box, np.zeros(rows)]), np.hstack([self._columns, walls]), tolerance
        )
        self._loss = float(cost @ weights[: len(cost)] + _UNIT * self._box @ weights[len(cost) :][:rows])
        if self._rounds >= 2:
            self._box = np.where(prices > 0.9 * self._box, 2 * self._box, self._box)
        return weights, prices

    def _column_costs(self) -> Floats:
        costs: Floats = np.einsum("xc,xc->c", self._columns, self._costs[:, self._owners])
        return costs

    def _price(self, prices: Floats) -> tuple[float, int]:
        """Add the columns that lower the loss; the least ratio of cost to price, and how many they were."""
        found, owners, least = [], [], np.inf
        for output in range(self._costs.shape[1]):
            self._clock.tick()
            column = self._transport.column(output, self._costs[:, output], prices, _SEARCH)
            worth = 0.0 if column is None else float(prices @ column)
            if column is None or worth <= 0:
                continue
            ratio = float(self._costs[:, output] @ column) / worth
            least = min(least, ratio)
            if ratio < _NEW:
                found.append(column / column.sum())
                owners.append(output)
        if found:
            self._drop(prices)
            self._columns = np.hstack([self._columns, np.array(found).T])
            self._owners = np.concatenate([self._owners, owners])
        return least, len(found)

    def _drop(self, prices: Floats) -> None:
        """Columns that cost most beside their price, where there are very many; never the constant."""
        most = _MOST_COLUMNS * len(prices)
        if self._columns.shape[1] > most:
            reduced = self._column_costs() - prices @ self._columns
            reduced[self._costs.shape[1]] = -np.inf
            kept = np.sort(np.argpartition(reduced, most * 3 // 4)[: most * 3 // 4])
            first = np.arange(self._costs.shape[1] + 1)
            kept = np.union1d(kept, first)
            self._columns, self._owners = self._columns[:, kept], self._owners[kept]

    def prove(self) -> None:
        """What the likely prices prove: sinks lack a little, and that lowers the bound."""
        prices = self._likely[1]
        worst, sent = np.zeros(len(prices)), []
        for output in range(self._costs.shape[1]):
            self._clock.tick()
            sent.append(self._transport.shipment(output, self._costs[:, output], prices, _CAREFUL_SEARCH))
            worst = np.maximum(worst, self._lack(output, prices, sent[-1]))
        bound = float(prices.sum() - worst.sum())
        if bound > self._best[0] or not self._sent:
            self._best, self._sent = (bound, prices), tuple(sent)
        self._likely = min(self._likely[0], bound), prices

    def _lack(self, output: int, prices: Floats, sent: Shipment) -> Floats:
        gains = self._costs[:, output] - prices
        arrived = sent.amounts * self._transport.nearness[sent.sources, sent.sinks]
        got = gains + np.bincount(sent.sinks, weights=arrived, minlength=len(gains))
        return np.where(gains < 0, np.maximum(-got, 0), 0.0)

    def guess(self) -> RoughDesign:
        """The best mixture with rows of sum one, and the best bound."""
        self._is_boxed = False
        weights = self._mix()[0]
        weights = whole_sums(self._columns, np.where(weights > _NEGLIGIBLE, weights, 0.0))
        law = np.zeros(self._costs.shape)
        np.add.at(law.T, self._owners, (self._columns * weights).T)
        return RoughDesign(law, float((law * self._costs).sum()), self._best[1], self._best[0], self._sent)
