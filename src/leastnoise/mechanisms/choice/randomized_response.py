"""Randomized response: a person's own label among k, told truly with odds e^ε against each other label.

P(y | x) = e^ε/(e^ε + k − 1) for y = x and 1/(e^ε + k − 1) for each other y. Warner 1965 for two labels; Kairouz, Oh and
Viswanath 2014 for k. Every two labels are neighbours (the complete graph), so each person protects their own answer and
no one need be trusted. No ε-private channel tells the truth more often.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from leastnoise.errors import BadParameter
from leastnoise.exact import (
    Enclosure,
    Exact,
    NumberLike,
    Size,
    Source,
    ball_of,
    categorical_exp,
    enclose,
    exact_exp,
    read_rate,
    require_secure,
)
from leastnoise.mechanisms.truths import Candidates, name_places, place_of, private_place, read_candidates
from leastnoise.model import LEVEL, Certificate, ErrorEstimate, Mechanism, Privacy, Reason, TheoremCertificate, events
from leastnoise.model.graphs import complete

__all__ = ["RandomizedResponse"]

_SHOWN = 8  # labels in a certificate


@dataclass(frozen=True, init=False)
class RandomizedResponse(Mechanism):
    """One of several labels, the true one with odds e^epsilon against each other.

    Args:
        epsilon: The privacy of one release.
        options: All labels that the truth can be, public; or how many.

    >>> vote = RandomizedResponse("ln(3)", ["yes", "no"])
    >>> vote.pmf("yes", "yes"), vote.error().expected, vote.reason().lower_bound
    (Enclosure(3/4), Enclosure(1/4), Enclosure(1/4))
    >>> len(vote.draw_each(["yes", "no", "no"]))
    3
    """

    name: ClassVar[str] = "randomized response"
    epsilon: Exact
    options: Sequence[Hashable]

    def __init__(self, epsilon: NumberLike, options: Candidates) -> None:
        object.__setattr__(self, "epsilon", read_rate(epsilon, "epsilon", reach=500))
        object.__setattr__(self, "options", read_candidates(options, "options"))
        if len(self.options) < 2:
            raise BadParameter("options must be at least two", given=len(self.options), fix="one label tells nothing")

    @property
    def event(self) -> events.RandomizedResponse:
        """epsilon, with the whole law known."""
        return events.RandomizedResponse(self.epsilon, len(self.options))

    def draw(self, truth: Any, size: Size = None, source: Source | None = None) -> Any:
        """The true label, moved on by a number of places that is zero with odds e^epsilon against each other."""
        place = private_place(truth, self.options)
        if size is None:
            return self.options[(place + self._moves(None, source)) % len(self.options)]
        return name_places((place + self._moves(size, source)) % len(self.options), self.options)

    def draw_each(self, truths: Iterable[Hashable], source: Source | None = None) -> NDArray[Any]:
        """One independent response for each of many people's labels; for tests and simulations, with any source."""
        places = np.array([private_place(truth, self.options) for truth in truths], dtype=np.int64)
        return name_places((places + self._moves(len(places), source)) % len(self.options), self.options)

    def release_each(self, truths: Iterable[Hashable], source: Source | None = None) -> NDArray[Any]:
        """One response for each of many people's labels, with unpredictable noise only; each person spends epsilon."""
        return self.draw_each(truths, require_secure(source))

    def pmf(self, output: Hashable, truth: Any, bits: int = 64) -> Enclosure:
        """P(output | truth)."""
        told = place_of(output, self.options) == private_place(truth, self.options)
        return self._at_odds(lambda odds: (odds if told else 1) / (odds + len(self.options) - 1), bits)

    def error(self) -> ErrorEstimate:
        """How often the released label is wrong: (k − 1)/(e^epsilon + k − 1), for every truth."""
        wrong = self._wrong()
        return ErrorEstimate("zero-one", wrong, {LEVEL: Fraction(wrong.upper > 1 - LEVEL)})

    def estimate(self, counts: Sequence[int]) -> list[Fraction]:
        """Unbiased estimates of how many people have each label, from how many responded with it.

        (count − n·q)/(p − q) with p and q the chances of the true and of another label; e^epsilon must be rational.
        """
        odds = exact_exp(self.epsilon)
        if odds is None or len(counts) != len(self.options):
            raise BadParameter(
                "counts must be one for each option, and e^epsilon rational",
                given=f"{len(counts)} counts",
                fix='choose an epsilon such as "ln(3)"',
            )
        total, spread = sum(counts), odds + len(self.options) - 1
        return [(count * spread - total) / (odds - 1) for count in counts]

    def reason(self) -> Reason:
        """Optimal: each P(y | x) ≥ e^-epsilon·P(y | y), so on average P(y | y) ≤ 1/(1 + (k − 1)·e^-epsilon)."""
        return Reason(
            "no private channel on the complete graph is right more often, on average over the labels or at its worst",
            "Kairouz, Oh and Viswanath, NeurIPS 2014; Aldà and Simon, CSCML 2017, Theorem 1",
            self._wrong(),
        )

    def certificate(self) -> Certificate:
        """The optimality theorem on the complete graph of at most eight labels."""
        count = min(len(self.options), _SHOWN)
        small = RandomizedResponse(self.epsilon, count)
        return TheoremCertificate(
            "exponential-of-distance",
            complete(count),
            Privacy(self.epsilon),
            small.channel(range(count), range(count)) if exact_exp(self.epsilon) is not None else None,
            loss=small.error().expected,
            generators=(tuple((place + 1) % count for place in range(count)),),
            layer_degrees=((0, count - 1), (1, 0)),
        )

    def _moves(self, size: Size, source: Source | None) -> Any:
        """How many places to move on: what is drawn does not depend on the truth."""
        exponents = np.zeros(len(self.options), dtype=np.int64)
        exponents[0] = 1
        return categorical_exp(exponents, None, size, source, rate=self.epsilon)

    def _wrong(self) -> Enclosure:
        others = len(self.options) - 1
        return self._at_odds(lambda odds: others / (odds + others), 64)

    def _at_odds(self, formula: Callable[[Any], Any], bits: int) -> Enclosure:
        odds = exact_exp(self.epsilon)
        if odds is not None:
            return Enclosure(formula(odds), formula(odds))
        return enclose(lambda: formula(ball_of(self.epsilon).exp()), bits)
