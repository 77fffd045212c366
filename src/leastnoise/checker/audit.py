"""Black-box audit: outputs of a mechanism in, a lower bound on its real ε out, wrong with probability at most α.

One half of the outputs chooses a set S and a direction; the other half, which knows nothing of the choice, bounds the
two probabilities of S (Clopper and Pearson 1934, at α/2 each). If both bounds hold, then
P(S|x) ≤ e^ε·P(S|x') + δ forces ε ≥ ln((lower bound of P(S|x) − δ)/(upper bound of P(S|x'))). So a mechanism that is
(ε, δ)-private is refuted with probability at most α, whatever S was chosen.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from leastnoise.checker.binomial import probability_above, probability_below
from leastnoise.checker.entries import Floats
from leastnoise.checker.outputs import Output, OutputBins, candidate_cells, draw
from leastnoise.checker.verdict import Report, show_privacy
from leastnoise.exact import NumberLike, ln_below, read_integer, read_rational
from leastnoise.model import Privacy, brief

__all__ = ["Audit", "audit"]

_MOST_SHOWN = 5


@dataclass(frozen=True)
class Audit(Report):
    """What the outputs of a mechanism say about its promise.

    Attributes:
        holds: Whether the promise may be true; not proof that it is.
        claimed: The promise.
        epsilon_lower_bound: The real ε at this δ is at least this, with confidence 1 − α.
        x: The input that makes the event more likely.
        neighbour: The other one.
        event: The set of outputs, in words.
        counts: How many of the tested outputs of `x`, and of `neighbour`, were in the set.
        tested: How many outputs of each were tested.
        alpha: The probability with which the bound may be wrong.
    """

    holds: bool
    claimed: Privacy
    epsilon_lower_bound: Fraction
    x: Hashable
    neighbour: Hashable
    event: str
    counts: tuple[int, int]
    tested: int
    alpha: Fraction

    @property
    def refuted(self) -> bool:
        """Whether the outputs show that the promise is false."""
        return not self.holds

    def headline(self) -> str:
        """The answer in one line."""
        bound = f"ε ≥ {float(self.epsilon_lower_bound):.4g} at δ = {brief(self.claimed.delta)}"
        return (
            f"{show_privacy(self.claimed)} is {'refuted' if self.refuted else 'not refuted'}: the outputs show {bound}"
        )

    def rows(self) -> list[tuple[str, str]]:
        """The event and its counts."""
        first, second = self.counts
        return [
            ("event", self.event),
            (f"seen for {self.x!r}", f"{first} of {self.tested}"),
            (f"seen for {self.neighbour!r}", f"{second} of {self.tested}"),
            ("wrong with probability at most", brief(self.alpha)),
        ]


def audit(
    sampler: Callable[..., Any],
    x: Any,
    x_neighbour: Any,
    epsilon: NumberLike,
    delta: NumberLike = 0,
    *,
    alpha: NumberLike = "1/1000000",
    samples: int = 100_000,
) -> Audit:
    """Try to refute that a sampler is (ε, δ)-private on two neighbouring inputs.

    Args:
        sampler: sampler(x, size) gives `size` independent outputs, or sampler(x) one; any hashable outputs will do,
            also lists of them.
        x: An input.
        x_neighbour: A neighbour of it.
        epsilon: The claimed ε.
        delta: The claimed δ.
        alpha: The largest probability of a wrong accusation.
        samples: How many outputs to draw for each of the two inputs.

    >>> from leastnoise.exact.samplers.bernoulli import bernoulli
    >>> flip = lambda x, size: bernoulli("9/10" if x else "1/10", size)
    >>> audit(flip, 0, 1, epsilon=1).refuted, audit(flip, 0, 1, epsilon="ln(9)").refuted
    (True, False)
    """
    claimed = Privacy(epsilon, delta)
    risk = read_rational(alpha, "alpha", above=0, below=1)
    half = read_integer(samples, "samples", at_least=8) // 4 * 2
    first, second = (draw(sampler, (given,), 2 * half) for given in (x, x_neighbour))
    choice = _choose(first[:half], second[:half], claimed.delta, risk)
    inputs, tests = (x, x_neighbour), (first[half:], second[half:])
    if choice.is_reversed:
        inputs, tests = inputs[::-1], tests[::-1]
    more, less = (choice.count(outputs) for outputs in tests)
    likely = probability_below(half, more, risk / 2) - claimed.delta
    unlikely = probability_above(half, less, risk / 2)
    bound = max(Fraction(0), ln_below(likely / unlikely)) if likely > 0 else Fraction(0)
    return Audit(
        holds=bool(bound <= claimed.epsilon),
        claimed=claimed,
        epsilon_lower_bound=bound,
        x=inputs[0],
        neighbour=inputs[1],
        event=str(choice),
        counts=(more, less),
        tested=half,
        alpha=risk,
    )


@dataclass(frozen=True)
class _Choice:
    """A set of outputs that looks much likelier for one input than for the other."""

    cells: OutputBins
    members: frozenset[tuple[int, ...]]
    is_reversed: bool
    score: float

    def count(self, outputs: Sequence[Output]) -> int:
        """How many outputs are in the set."""
        return sum(self.cells.cell(output) in self.members for output in outputs)

    def __str__(self) -> str:
        """The set, or some of it."""
        parts = self.cells.show(self.members)
        more = len(parts) - _MOST_SHOWN
        return ", or ".join(parts[:_MOST_SHOWN]) + (f", or {more} more" if more > 0 else "")


def _choose(first: Sequence[Output], second: Sequence[Output], delta: Fraction, alpha: Fraction) -> _Choice:
    """The set that promises the largest bound, among those cut off by a ratio of counts or, of numbers, by a threshold.

    The best sets are cut off by the likelihood ratio (Neyman and Pearson 1933), which for most mechanisms grows or
    falls along the line. Half of the outputs order the cells, the other half judge: chance is not taken for merit.
    """
    half = len(first) // 2
    choices = []
    for cells in candidate_cells([*first[:half], *second[:half]]):
        counts = [cells.count(outputs) for outputs in (first[:half], second[:half], first[half:], second[half:])]
        known = sorted(set().union(*counts))
        seen = np.array([[count[cell] for cell in known] for count in counts], dtype=np.float64)
        upwards = np.arange(len(known))
        for more, less in ((0, 1), (1, 0)):
            by_ratio = np.argsort(-(seen[more] + 1) / (seen[less] + 1), kind="stable")
            for order in (by_ratio, upwards, upwards[::-1]):
                likely, unlikely = np.cumsum(seen[2 + more][order]), np.cumsum(seen[2 + less][order])
                gains = np.maximum(_rough_bound(likely, half, alpha, -1) - float(delta), 0.0)
                scores = gains / _rough_bound(unlikely, half, alpha, 1)
                best = int(scores.argmax())
                members = frozenset(known[place] for place in order[: best + 1])
                choices.append(_Choice(cells, members, more == 1, float(scores[best])))
    return max(choices, key=lambda choice: choice.score)


def _rough_bound(successes: Floats, trials: int, alpha: Fraction, sign: int) -> Floats:
    """An end of Wilson's interval, good enough to choose by."""
    squared = 2 * math.log(2 / alpha)
    spread = np.sqrt(successes * (trials - successes) / trials + squared / 4) * math.sqrt(squared)
    bound: Floats = (successes + squared / 2 + sign * spread) / (trials + squared)
    return bound
