"""Decisions: private answers to a question with a few possible answers, right with the best odds privacy allows.

The rainbow of a dataset is its right answer, then the other options in their public order; its distance t to the
boundary is the number of people who would have to change for the right answer to be another one, less one. At the
boundary the right answer is given with probability (λ + (q − 1)δ)/(λ + q − 1) and each other with (1 − δ)/(λ + q − 1),
λ = e^ε, which is the best where all regions touch; t steps inside the operator T has been applied t times. All that is
needed of the data is the right answer and the margin, never the graph. Proofs: docs/theory/decision.md.

Threshold: is a bounded sum at least k? A count is a sum of zeros and ones, and the sign of a sum is the case k = 0. One
person adds a number within [low, high]: who joins or leaves moves the sum by at most max(|low|, |high|), who changes by
at most high − low; call it B. From a sum S ≥ k it takes ⌊(S − k)/B⌋ + 1 people to get below k, from S < k it takes ⌈(k
− S)/B⌉ to get to k; the distance to the boundary is one less.

Plurality: which option has most votes, with a public order that breaks ties? One person moves a count by at most r:
joining or leaving moves the lead of one option over another by at most r, a change of vote by at most 2r. The winner is
overtaken by a later option once its lead is below zero, by an earlier one once it is zero; the distance to the boundary
is the least number of people that takes, less one.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from math import ceil, floor
from typing import Any, ClassVar, NamedTuple

import numpy as np

from leastnoise.errors import BadParameter, LeastNoiseError
from leastnoise.exact import (
    Enclosure,
    Exact,
    NumberLike,
    Size,
    Source,
    exp_above,
    in_shape,
    read_integer,
    read_rational,
    system_source,
)
from leastnoise.mechanisms.choice import Exponential, PermuteAndFlip
from leastnoise.mechanisms.rainbow.best_boundary import randomized_response
from leastnoise.mechanisms.rainbow.boundary import lines_graph
from leastnoise.mechanisms.rainbow.path_law import PathLaw
from leastnoise.mechanisms.rainbow.rainbow_graph import Rainbow
from leastnoise.mechanisms.rainbow.rainbow_mechanism import event_of, name_ranks
from leastnoise.mechanisms.rainbow.rainbow_operator import Operator
from leastnoise.model import (
    LEVEL,
    Approximate,
    Certificate,
    Channel,
    ErrorEstimate,
    Mechanism,
    Privacy,
    PrivacyCertificate,
    Pure,
    Reason,
    aligned,
    unknown_label,
)

__all__ = ["Decision", "DecisionPlan", "PlanRow", "PluralityDecision", "ThresholdDecision"]

_SHOWN = 3  # steps into each region in a certificate


class Decision(Mechanism):
    """One of a few public options; a subclass finds the right one and its distance in the private answer.

    Attributes:
        line: The law by distance, the same for every right answer.
        options: What can be answered, in the order that breaks ties and ranks the wrong ones.
        step: By how much one person can move the margin.
        everyone_touches: Whether datasets of all options can be neighbours of each other, each of each.
    """

    line: PathLaw
    options: Rainbow
    step: Fraction
    everyone_touches: bool

    @abstractmethod
    def locate(self, truth: Any) -> tuple[int, int]:
        """The place of the right option and the distance to the boundary; private, for simulations only."""

    def read_parameters(
        self, epsilon: NumberLike, delta: NumberLike, options: Sequence[Hashable], step: Fraction
    ) -> None:
        """Set what all decisions have but `everyone_touches`."""
        operator = Operator(epsilon, delta)
        event_of(operator)
        try:
            read = () if isinstance(options, str) else tuple(options)
            distinct = len(read) >= 2 and len(set(read)) == len(read)
        except TypeError:
            distinct = False
        if not distinct:
            raise BadParameter(
                "options must be at least two different names", given=options, fix='pass options=["yes", "no"]'
            )
        object.__setattr__(self, "line", PathLaw(operator, randomized_response(operator, len(read))))
        object.__setattr__(self, "options", read)
        object.__setattr__(self, "step", step)

    @property
    def epsilon(self) -> Exact:
        """The privacy of one release."""
        return self.line.operator.epsilon

    @property
    def delta(self) -> Fraction:
        """The privacy of one release."""
        return self.line.operator.delta

    @property
    def event(self) -> Pure | Approximate:
        """epsilon, and delta if there is one."""
        return event_of(self.line.operator)

    def rainbow(self, place: int) -> Rainbow:
        """The option at this place, then the others in their public order."""
        return (self.options[place], *self.options[:place], *self.options[place + 1 :])

    def draw(self, truth: Any, size: Size = None, source: Source | None = None) -> Any:
        """An option, the right one with the best odds; an array of independent ones if `size` is given."""
        place, distance = self.locate(truth)
        draw, rainbow = partial(self.line.draw, distance), self.rainbow(place)
        if size is None:
            return rainbow[int(draw(1, source or system_source)[0])]
        return name_ranks(in_shape(draw, size, source), rainbow)

    def pmf(self, output: Hashable, truth: Any, bits: int = 64) -> Enclosure:
        """P(output | truth): exact near the boundary, else within 2^-bits."""
        place, distance = self.locate(truth)
        if output not in self.options:
            raise unknown_label(output, self.options, "option")
        return self.line.chance(self.rainbow(place).index(output), distance, bits)

    def distance_at(self, margin: NumberLike, *, favoured: bool = False) -> int:
        """The distance to the boundary at a margin.

        Args:
            margin: By how much the right option leads: over the next count, or over the threshold.
            favoured: Whether a tie would go to the right option; the worse case is that it would not.
        """
        lead = read_rational(margin, "margin", at_least=0) / self.step
        return floor(lead) if favoured else max(ceil(lead) - 1, 0)

    def probability_correct(self, margin: NumberLike, *, favoured: bool = False, bits: int = 64) -> Enclosure:
        """How likely the right option is answered, from the margin alone: public, known before anything is spent.

        >>> Decision.threshold("ln(3)", at_least=100).probability_correct(2)
        Enclosure(11/12)
        """
        return self.line.chance(0, self.distance_at(margin, favoured=favoured), bits)

    def plan(self, margins: Iterable[NumberLike] = range(11)) -> DecisionPlan:
        """The probability of the right answer by margin, beside permute-and-flip and the exponential mechanism."""
        return plan_decision(self, margins)

    def error(self, level: Fraction = LEVEL) -> ErrorEstimate:
        """How often the answer is wrong, at most: where one person can change the right answer."""
        wrong = 1 - self.line.boundary[0]
        return ErrorEstimate("zero-one", Enclosure(wrong, wrong), {level: Fraction(wrong > 1 - level)}, attained=False)

    def reason(self) -> Reason:
        """Optimal inside every region, and at the boundary; the bound is for the worst dataset of any mechanism."""
        count = len(self.options) if self.everyone_touches else 2
        most, delta = exp_above(self.epsilon), self.delta
        bound = (count - 1) * (1 - delta) / (most + count - 1)
        boundary = (
            "randomized response is the best boundary where all regions touch"
            if self.everyone_touches
            else "the boundary is randomized response, as if all regions touched"
        )
        return Reason(
            f"{boundary}, and from there no private mechanism is right more often at any dataset",
            "Gu et al. 2024, Theorem 2; Kairouz, Oh and Viswanath 2014; docs/theory/decision.md",
            Enclosure(bound, bound),
        )

    def certificate(self) -> Certificate:
        """The law on the first steps from the boundary of every option, as an exact channel."""
        count = len(self.options)
        everything = frozenset((one, other) for other in range(count) for one in range(other))
        graph = lines_graph(self.options, (_SHOWN,) * count, everything)
        laws = [self.line.law(distance) for distance in range(_SHOWN + 1)]
        rows = [
            [law[self.rainbow(place).index(option)] for option in self.options]
            for place in range(count)
            for law in laws
        ]
        return PrivacyCertificate(graph, Privacy(self.epsilon, self.delta), Channel(rows, graph.nodes, self.options))

    @staticmethod
    def threshold(
        epsilon: NumberLike,
        delta: NumberLike = 0,
        *,
        at_least: NumberLike,
        contribution: NumberLike = 1,
        options: Sequence[Hashable] = (True, False),
    ) -> ThresholdDecision:
        """Is a count at least k? One person changes it by at most `contribution`, joining, leaving or changing.

        >>> Decision.threshold(1, "1e-6", at_least=20).release(400)
        True
        """
        bound = read_rational(contribution, "contribution", above=0)
        return ThresholdDecision(epsilon, delta, at_least=at_least, bounds=(0, bound), options=options)

    @staticmethod
    def sign(
        epsilon: NumberLike,
        delta: NumberLike = 0,
        *,
        bounds: tuple[NumberLike, NumberLike],
        replace: bool = False,
        options: Sequence[Hashable] = ("at least zero", "below zero"),
    ) -> ThresholdDecision:
        """Is a sum, to which each person adds a number within the bounds, at least zero?

        >>> Decision.sign(1, bounds=(-5, 10)).release(-900)
        'below zero'
        """
        return ThresholdDecision(epsilon, delta, at_least=0, bounds=bounds, replace=replace, options=options)

    @staticmethod
    def plurality(
        epsilon: NumberLike,
        delta: NumberLike = 0,
        *,
        options: Sequence[Hashable],
        contribution: NumberLike = 1,
        replace: bool = False,
    ) -> PluralityDecision:
        """Which option has most votes? Ties go to the option that is listed first.

        >>> Decision.plurality(1, "1e-6", options=["tea", "coffee", "water"]).release([120, 300, 20])
        'coffee'
        """
        return PluralityDecision(epsilon, delta, options=options, contribution=contribution, replace=replace)

    @staticmethod
    def majority(
        epsilon: NumberLike,
        delta: NumberLike = 0,
        *,
        options: Sequence[Hashable] = ("yes", "no"),
        replace: bool = False,
    ) -> PluralityDecision:
        """Which of two options has the majority? A tie goes to the first.

        >>> Decision.majority(1).release({"yes": 10, "no": 220})
        'no'
        """
        vote = Decision.plurality(epsilon, delta, options=options, replace=replace)
        if len(vote.options) != 2:
            raise BadParameter("a majority is between two options", given=options, fix="use Decision.plurality")
        return vote

    @staticmethod
    def argmax(
        epsilon: NumberLike,
        delta: NumberLike = 0,
        *,
        groups: Sequence[Hashable],
        contribution: NumberLike = 1,
        replace: bool = False,
    ) -> PluralityDecision:
        """Which of several disjoint groups has the largest count? Ties go to the group that is listed first.

        >>> Decision.argmax(1, groups=["north", "south"], contribution=3).release([800, 41])
        'north'
        """
        return Decision.plurality(epsilon, delta, options=groups, contribution=contribution, replace=replace)


@dataclass(frozen=True, init=False)
class ThresholdDecision(Decision):
    """Whether a sum is at least k; the truth is the exact sum, or count.

    Args:
        epsilon: The privacy of one release.
        delta: The same; may be zero.
        at_least: k, public.
        bounds: What one person can add to the sum: (0, 1) for a count.
        replace: Whether neighbours differ in the contribution of one person, and not in one person's being there.
        options: The two answers, that for "at least" first.

    >>> test = ThresholdDecision("ln(2)", at_least=10)
    >>> test.locate(12), test.locate(9), test.pmf(True, 12), test.pmf(True, 9)
    ((0, 2), (1, 0), Enclosure(11/12), Enclosure(1/3))
    """

    name: ClassVar[str] = "threshold test"
    line: PathLaw
    options: Rainbow
    step: Fraction
    everyone_touches: bool
    at_least: Fraction
    bounds: tuple[Fraction, Fraction]

    def __init__(
        self,
        epsilon: NumberLike,
        delta: NumberLike = 0,
        *,
        at_least: NumberLike,
        bounds: tuple[NumberLike, NumberLike] = (0, 1),
        replace: bool = False,
        options: Sequence[Hashable] = (True, False),
    ) -> None:
        low, high = _read_bounds(bounds)
        limit = read_rational(at_least, "at_least")
        if (low >= 0 and limit <= 0) or (high <= 0 and limit > 0):
            raise BadParameter(
                "at_least must be a limit that sums can miss and reach",
                given=f"at_least={limit}, bounds=({low}, {high})",
                fix="the answer is the same for all data: no mechanism is needed",
            )
        if not isinstance(replace, bool):
            raise BadParameter("replace must be True or False", given=replace, fix="leave it out if in doubt")
        step = high - low if replace else max(abs(low), abs(high))
        self.read_parameters(epsilon, delta, options, step)
        if len(self.options) != 2:
            raise BadParameter("options must be two, that for at least first", given=self.options, fix="leave it out")
        object.__setattr__(self, "everyone_touches", True)
        object.__setattr__(self, "at_least", limit)
        object.__setattr__(self, "bounds", (low, high))

    def locate(self, truth: Any) -> tuple[int, int]:
        """Which answer is right, and the distance: how many people it takes to change it, less one."""
        margin = _read_sum(truth) - self.at_least
        return int(margin < 0), self.distance_at(abs(margin), favoured=margin >= 0)


def _read_bounds(bounds: tuple[NumberLike, NumberLike]) -> tuple[Fraction, Fraction]:
    try:
        first, last = bounds
    except (TypeError, ValueError):
        raise BadParameter("bounds must be a pair", given=bounds, fix="pass bounds=(0, 1) for a count") from None
    low, high = read_rational(first, "bounds[0]"), read_rational(last, "bounds[1]")
    if low >= high:
        raise BadParameter("bounds must be increasing", given=f"({low}, {high})", fix="pass the lower one first")
    return low, high


def _read_sum(truth: Any) -> Fraction:
    """The private sum as the number it is, a float as the one the machine holds; an error does not show it."""
    try:
        if isinstance(truth, float | np.floating):
            return Fraction(float(truth))
        return read_rational(truth, "answer")
    except (LeastNoiseError, TypeError, ValueError, OverflowError):
        pass
    raise BadParameter("the truth must be a finite number", fix="map missing values before asking")


@dataclass(frozen=True, init=False)
class PluralityDecision(Decision):
    """The option with the largest count; the truth is one count per option, in their order or by name.

    Args:
        epsilon: The privacy of one release.
        delta: The same; may be zero.
        options: All options, public; the first of those that tie wins.
        contribution: The most that one person can add to any one count.
        replace: Whether neighbours differ in the votes of one person, and not in one person's being there.

    >>> vote = PluralityDecision("ln(2)", options=["red", "blue"])
    >>> vote.locate([5, 5]), vote.locate([5, 6]), vote.locate([3, 9])
    ((0, 0), (1, 0), (1, 5))
    """

    name: ClassVar[str] = "plurality vote"
    line: PathLaw
    options: Rainbow
    step: Fraction
    everyone_touches: bool

    def __init__(
        self,
        epsilon: NumberLike,
        delta: NumberLike = 0,
        *,
        options: Sequence[Hashable],
        contribution: NumberLike = 1,
        replace: bool = False,
    ) -> None:
        if not isinstance(replace, bool):
            raise BadParameter("replace must be True or False", given=replace, fix="leave it out if in doubt")
        most = read_integer(contribution, "contribution", at_least=1)
        self.read_parameters(epsilon, delta, options, Fraction(most * (2 if replace else 1)))
        # With replacement (n, n, n), (n−1, n+1, n), (n−1, n, n+1) are neighbours of each other with three winners.
        object.__setattr__(self, "everyone_touches", replace or len(self.options) == 2)

    def locate(self, truth: Any) -> tuple[int, int]:
        """The winner's place, and the distance: how many people it takes for another to win, less one."""
        counts = self._read(truth)
        winner = counts.index(max(counts))
        distances = (
            self.distance_at(counts[winner] - count, favoured=winner < place)
            for place, count in enumerate(counts)
            if place != winner
        )
        return winner, min(distances)

    def _read(self, truth: Any) -> list[int]:
        """The private counts; an error does not show them."""
        try:
            if isinstance(truth, Mapping):
                truth = [truth.get(option, 0) for option in self.options]
            counts = [read_integer(count, "count", at_least=0) for count in truth]
            if len(counts) == len(self.options) and not isinstance(truth, str | np.ma.MaskedArray):
                return counts
        except (LeastNoiseError, TypeError, ValueError):
            pass
        raise BadParameter(
            f"the truth must be {len(self.options)} whole counts of at least 0, one for each option in their order",
            fix="count people, each once",
        )


class PlanRow(NamedTuple):
    """The probability of the right answer at one margin.

    Attributes:
        margin: By how much the right option leads.
        ties_lost: By the decision, if a tie would go to another option.
        ties_won: By the decision, if a tie would go to the right one.
        permute_and_flip: By permute-and-flip, all other options level with the second: its worst case.
        exponential: By the exponential mechanism, in the same case.
        others_far: By permute-and-flip in the limit of all but two options far behind: its best case.
    """

    margin: Fraction
    ties_lost: Enclosure
    ties_won: Enclosure
    permute_and_flip: Enclosure
    exponential: Enclosure
    others_far: Enclosure


@dataclass(frozen=True)
class DecisionPlan:
    """A row per margin. The rivals are ε-private, and can't use a δ."""

    rows: tuple[PlanRow, ...]

    def __str__(self) -> str:
        """The table, in percent."""
        head = ("margin", "loses ties", "wins ties", "permute-and-flip", "exponential", "p-and-f, others far")
        rows = ((str(row.margin), *(f"{float(chance):.3%}" for chance in row[1:])) for row in self.rows)
        return aligned([head, *rows])


def plan_decision(decision: Decision, margins: Iterable[NumberLike]) -> DecisionPlan:
    """The probability of the right answer, by `decision` and by the two mechanisms that choose among scores.

    A rival's scores are the margin for the right option and zero for all others, and one person moves two scores
    against each other by at most the decision's step: the same neighbours, the same ε.

    >>> print(plan_decision(PluralityDecision("ln(2)", options=["a", "b"]), range(3)))
    margin  loses ties  wins ties  permute-and-flip  exponential  p-and-f, others far
         0     66.667%    66.667%           50.000%      50.000%              50.000%
         1     66.667%    83.333%           75.000%      66.667%              75.000%
         2     83.333%    91.667%           87.500%      80.000%              87.500%
    """
    count = len(decision.options)
    rivals = [kind(decision.epsilon, count, decision.step, monotone=True) for kind in (PermuteAndFlip, Exponential)]
    race = PermuteAndFlip(decision.epsilon, 2, decision.step, monotone=True)
    rows = []
    for margin in margins:
        lead = read_rational(margin, "margin", at_least=0)
        scores = [lead, *[Fraction(0)] * (count - 1)]
        own = [decision.probability_correct(lead, favoured=favoured) for favoured in (False, True)]
        level = [rival.pmf(0, scores) for rival in rivals]
        rows.append(PlanRow(lead, own[0], own[1], level[0], level[1], race.pmf(0, scores[:2])))
    return DecisionPlan(tuple(rows))
