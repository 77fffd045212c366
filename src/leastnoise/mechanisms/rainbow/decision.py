"""Decisions: private answers to a question with a few possible answers, right with the best odds privacy allows.

The rainbow of a dataset is its right answer, then the other options in their public order; its distance t to the
boundary is the number of people who would have to change for the right answer to be another one, less one. At the
boundary the right answer is given with probability (λ + (q − 1)δ)/(λ + q − 1) and each other with (1 − δ)/(λ + q − 1),
λ = e^ε, which is the best where all regions touch; t steps inside the operator T has been applied t times. All that is
needed of the data is the right answer and the margin, never the graph. Proofs: docs/theory/decision.md.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable, Iterable, Sequence
from fractions import Fraction
from functools import partial
from math import ceil, floor
from typing import TYPE_CHECKING, Any

from leastnoise.errors import BadParameter
from leastnoise.exact.arrays import Size
from leastnoise.exact.enclosures import Enclosure, exp_above
from leastnoise.exact.numbers import Exact
from leastnoise.exact.parameters import NumberLike, read_rational
from leastnoise.exact.samplers.shaping import in_shape
from leastnoise.exact.sources import Source, system_source
from leastnoise.mechanisms.rainbow.best_boundary import randomized_response
from leastnoise.mechanisms.rainbow.boundary_graph import lines_graph
from leastnoise.mechanisms.rainbow.line import Line
from leastnoise.mechanisms.rainbow.rainbow_graph import Rainbow
from leastnoise.mechanisms.rainbow.rainbow_mechanism import event_of, name_ranks
from leastnoise.mechanisms.rainbow.rainbow_operator import Operator
from leastnoise.model.certificate import Certificate, PrivacyCertificate
from leastnoise.model.channel import Channel
from leastnoise.model.events import Approximate, Pure
from leastnoise.model.labels import unknown_label
from leastnoise.model.mechanism import LEVEL, ErrorEstimate, Mechanism, Reason
from leastnoise.model.privacy import Privacy

if TYPE_CHECKING:
    from leastnoise.mechanisms.rainbow.decision_plan import DecisionPlan
    from leastnoise.mechanisms.rainbow.plurality import Plurality
    from leastnoise.mechanisms.rainbow.threshold import Threshold

__all__ = ["Decision"]

_SHOWN = 3  # steps into each region in a certificate


class Decision(Mechanism):
    """One of a few public options; a subclass finds the right one and its distance in the private answer.

    Attributes:
        line: The law by distance, the same for every right answer.
        options: What can be answered, in the order that breaks ties and ranks the wrong ones.
        step: By how much one person can move the margin.
        everyone_touches: Whether datasets of all options can be neighbours of each other, each of each.
    """

    line: Line
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
        object.__setattr__(self, "line", Line(operator, randomized_response(operator, len(read))))
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
        from leastnoise.mechanisms.rainbow.decision_plan import plan_decision  # it asks decisions, so it imports this

        return plan_decision(self, margins)

    def error(self) -> ErrorEstimate:
        """How often the answer is wrong, at most: where one person can change the right answer."""
        wrong = 1 - self.line.boundary[0]
        return ErrorEstimate("zero-one", Enclosure(wrong, wrong), {LEVEL: Fraction(wrong > 1 - LEVEL)}, attained=False)

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
    ) -> Threshold:
        """Is a count at least k? One person changes it by at most `contribution`, joining, leaving or changing.

        >>> Decision.threshold(1, "1e-6", at_least=20).release(400)
        True
        """
        from leastnoise.mechanisms.rainbow.threshold import Threshold

        bound = read_rational(contribution, "contribution", above=0)
        return Threshold(epsilon, delta, at_least=at_least, bounds=(0, bound), options=options)

    @staticmethod
    def sign(
        epsilon: NumberLike,
        delta: NumberLike = 0,
        *,
        bounds: tuple[NumberLike, NumberLike],
        replace: bool = False,
        options: Sequence[Hashable] = ("at least zero", "below zero"),
    ) -> Threshold:
        """Is a sum, to which each person adds a number within the bounds, at least zero?

        >>> Decision.sign(1, bounds=(-5, 10)).release(-900)
        'below zero'
        """
        from leastnoise.mechanisms.rainbow.threshold import Threshold

        return Threshold(epsilon, delta, at_least=0, bounds=bounds, replace=replace, options=options)

    @staticmethod
    def plurality(
        epsilon: NumberLike,
        delta: NumberLike = 0,
        *,
        options: Sequence[Hashable],
        contribution: NumberLike = 1,
        replace: bool = False,
    ) -> Plurality:
        """Which option has most votes? Ties go to the option that is listed first.

        >>> Decision.plurality(1, "1e-6", options=["tea", "coffee", "water"]).release([120, 300, 20])
        'coffee'
        """
        from leastnoise.mechanisms.rainbow.plurality import Plurality

        return Plurality(epsilon, delta, options=options, contribution=contribution, replace=replace)

    @staticmethod
    def majority(
        epsilon: NumberLike,
        delta: NumberLike = 0,
        *,
        options: Sequence[Hashable] = ("yes", "no"),
        replace: bool = False,
    ) -> Plurality:
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
    ) -> Plurality:
        """Which of several disjoint groups has the largest count? Ties go to the group that is listed first.

        >>> Decision.argmax(1, groups=["north", "south"], contribution=3).release([800, 41])
        'north'
        """
        return Decision.plurality(epsilon, delta, options=groups, contribution=contribution, replace=replace)
