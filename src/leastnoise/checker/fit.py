"""Does a sampler follow a claimed law? A right sampler is rejected with probability at most α, at any sample size.

The events are each outcome, whatever the law leaves out, and each initial segment of the outcomes in the order given
(which finds a law that is slightly wrong everywhere). For each event the count is binomial under the claim; both of its
tails are bounded, and α is shared equally among all tails (Bonferroni).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate
from typing import Any, NamedTuple, TypeAlias

from leastnoise.checker.binomial import log_tail, tail_bound
from leastnoise.checker.outputs import Output, as_tuple, draw
from leastnoise.checker.verdict import Report
from leastnoise.errors import BadParameter
from leastnoise.exact import Enclosure, NumberLike, read_integer, read_rational
from leastnoise.model import brief

__all__ = ["Fit", "fit"]

Probability: TypeAlias = NumberLike | Enclosure


class _Event(NamedTuple):
    """A set of outcomes, its claimed probability and how often it was seen."""

    name: str
    probability: Enclosure
    seen: int

    def joined_with(self, other: _Event) -> _Event:
        """Both together."""
        total = Enclosure(
            self.probability.lower + other.probability.lower, self.probability.upper + other.probability.upper
        )
        return _Event(f"{self.name.partition(' up to ')[0]} up to {other.name}", total, self.seen + other.seen)

    def tail(self, samples: int) -> Fraction:
        """A bound on the smaller tail: a count as high, or as low, as this."""
        least, most = self.probability.lower, min(Fraction(1), self.probability.upper)
        return min(tail_bound(samples, self.seen, most), tail_bound(samples, samples - self.seen, 1 - least))

    def rough_tail(self, samples: int) -> float:
        """The logarithm of `tail` in doubles, to choose by."""
        least, most = float(self.probability.lower), float(min(Fraction(1), self.probability.upper))
        return min(log_tail(samples, self.seen, most), log_tail(samples, samples - self.seen, 1 - least))


@dataclass(frozen=True)
class Fit(Report):
    """Whether samples agree with a claimed law.

    Attributes:
        holds: Whether they do.
        p_value: Under the claim some deviation as strong as the worst one has at most this probability.
        event: The event that fits worst.
        count: How often it was seen.
        expected: How often it should be seen.
        samples: How many samples there were.
        alpha: The largest probability of rejecting a right sampler.
    """

    holds: bool
    p_value: Fraction
    event: str
    count: int
    expected: float
    samples: int
    alpha: Fraction

    def headline(self) -> str:
        """The answer in one line."""
        return f"{self.samples} samples {'agree with' if self.holds else 'contradict'} the law"

    def rows(self) -> list[tuple[str, str]]:
        """The worst event."""
        return [
            ("worst event", self.event),
            ("seen", str(self.count)),
            ("expected", f"{self.expected:.6g}"),
            ("p-value at most", brief(self.p_value)),
            ("wrong with probability at most", brief(self.alpha)),
        ]


def fit(
    sampler: Callable[..., Any] | Sequence[Any],
    pmf: Mapping[Any, Probability] | Callable[[Any], Probability],
    *,
    support: Iterable[Any] | None = None,
    samples: int = 100_000,
    alpha: NumberLike = "1/1000000",
) -> Fit:
    """Compare samples with a claimed law.

    Args:
        sampler: sampler(size) or sampler(), or the samples themselves.
        pmf: The probability of each outcome, exact or as an `Enclosure`: a mapping, or a function with `support`. What
            is missing to one belongs to "anything else".
        support: The outcomes to compare one by one; of an infinite law, those that matter.
        samples: How many to draw.
        alpha: The largest probability of rejecting a right sampler.

    >>> from leastnoise.exact.samplers.bernoulli import bernoulli
    >>> bool(fit(lambda size: bernoulli("1/3", size), {True: "1/3", False: "2/3"}))
    True
    >>> print(fit([0] * 60 + [1] * 40, {0: "1/4", 1: "3/4"}).headline())
    100 samples contradict the law
    """
    risk = read_rational(alpha, "alpha", above=0, below=1)
    law = _read_law(pmf, support)
    if callable(sampler):
        drawn = draw(sampler, (), read_integer(samples, "samples", at_least=1))
    else:
        drawn = [as_tuple(output) for output in sampler]
    if not drawn:
        raise BadParameter("there must be samples to compare with the law", given="none", fix="pass at least one")
    events = _events(law, Counter(drawn))
    worst = min(events, key=lambda event: event.rough_tail(len(drawn)))
    p_value = min(Fraction(1), 2 * len(events) * worst.tail(len(drawn)))
    return Fit(
        holds=p_value > risk,
        p_value=p_value,
        event=worst.name,
        count=worst.seen,
        expected=len(drawn) * float(worst.probability),
        samples=len(drawn),
        alpha=risk,
    )


def _read_law(
    pmf: Mapping[Any, Probability] | Callable[[Any], Probability], support: Iterable[Any] | None
) -> dict[Output, Enclosure]:
    if isinstance(pmf, Mapping):
        given = {outcome: pmf[outcome] for outcome in (pmf if support is None else support)}
    elif support is None:
        raise BadParameter(
            "a law that is a function needs to know its outcomes", given="no support", fix="pass support=range(-50, 51)"
        )
    else:
        given = {outcome: pmf(outcome) for outcome in support}
    law = {as_tuple(outcome): _read_probability(outcome, p) for outcome, p in given.items()}
    if not law or sum(p.lower for p in law.values()) > 1:
        total = float(sum(p.lower for p in law.values()))
        raise BadParameter("a law's probabilities sum to at most 1", given=f"a sum of {total}", fix="check the pmf")
    return law


def _read_probability(outcome: object, probability: Probability) -> Enclosure:
    if isinstance(probability, Enclosure):
        return probability
    exact = read_rational(probability, f"the probability of {outcome!r}", at_least=0, at_most=1)
    return Enclosure(exact, exact)


def _events(law: Mapping[Output, Enclosure], counts: Mapping[Output, int]) -> list[_Event]:
    """Each outcome, each initial segment of two or more but not all, and the rest."""
    outcomes = list(law)
    single = [_Event(_show(outcome), law[outcome], counts.get(outcome, 0)) for outcome in outcomes]
    segments = list(accumulate(single, _Event.joined_with))
    rest = Enclosure(1 - min(Fraction(1), segments[-1].probability.upper), 1 - segments[-1].probability.lower)
    missing = _Event("anything else", rest, sum(counts.values()) - segments[-1].seen)
    return [*single, *segments[1:-1], missing]


def _show(outcome: Output) -> str:
    return repr(outcome[0]) if len(outcome) == 1 else repr(outcome)
