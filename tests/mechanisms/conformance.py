"""What every mechanism must pass. A test file lists its cases and inherits the whole suite:

@pytest.mark.parametrize("case", CASES, ids=str)
class TestNumericMechanisms(Conformance):
    '''Geometric, Laplace, …'''
"""

import pickle
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from leastnoise.checker import check
from leastnoise.composition import cost_of
from leastnoise.errors import BadParameter, InsecureSource, LeastNoiseError
from leastnoise.exact import Enclosure, SeededSource, enumerate_law, exp_enclosure
from leastnoise.exact.matrices import RationalMatrix
from leastnoise.model.certificate import Certificate
from leastnoise.model.channel import Channel
from leastnoise.model.events import event_from_dict
from leastnoise.model.graphs import DatasetGraph
from leastnoise.model.mechanism import ErrorEstimate, Mechanism, Reason
from support.statistics import fits

ELSEWHERE = "elsewhere"  # the label of all outputs that a case does not list
JUST_BELOW = Fraction(1, 2**40)
BITS = 256  # enclosures of irrational laws in this suite


@dataclass(frozen=True)
class Case:
    """One mechanism at one choice of parameters, with a domain small enough to be enumerated.

    Attributes:
        parameters: What the mechanism is made from.
        make: The class, called as make(**parameters).
        answers: True answers, in the order of the graph's nodes.
        graph: Which answers are neighbours, so that the claim is epsilon (and delta) on each edge.
        outputs: The outputs to look at.
        complete: Whether they are all outputs there are; else the rest is merged into one.
        loss: loss(output, answer) as a number, the one that `error` speaks about; None if `error` is tested elsewhere.
        left_out: At most this much of the expected loss lies outside the outputs listed.
        reached: Whether the stated error is reached on one of the answers; else it is a bound and no more.
        epsilon: The claim, where the event does not say it (Concentrated); else the event's own.
        delta: The claim, in the same way.
        tight: Whether a smaller epsilon is false, as theory says.
        quantile_loss: The one that its quantiles speak about, where it is another: the error of the worst answer alone.
        least_quantiles: Whether the quantiles of `error` are the least ones, and not only safe.
        bits: Walk the tree of the sampler's bits to this depth; 0 for samplers that draw wide words, which are tested
            by `samples` draws for each of the first and last answers.
        samples: How many draws a statistical test takes.
        bad_parameters: For a parameter, values that must be refused with its name.
        bad_answers: Answers that must be refused, by an error that does not show them.
    """

    make: Callable[..., Mechanism]
    parameters: Mapping[str, Any]
    answers: Sequence[Hashable]
    graph: DatasetGraph
    outputs: Sequence[Hashable]
    complete: bool = True
    loss: Callable[[Any, Any], Any] | None = None
    quantile_loss: Callable[[Any, Any], Any] | None = None
    left_out: Fraction = Fraction(0)
    reached: bool = True
    epsilon: Any = None
    delta: Any = None
    tight: bool = True
    least_quantiles: bool = True
    bits: int = 0
    samples: int = 100_000
    bad_parameters: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    bad_answers: Sequence[Any] = ()

    def __str__(self) -> str:
        # a function by its name: its text holds an address, which differs between the processes of one run
        values = ",".join(f"{name}={getattr(value, '__name__', value)}" for name, value in self.parameters.items())
        return f"{self.make.__name__}({values})"[:80]

    @property
    def mechanism(self) -> Mechanism:
        return self.make(**self.parameters)

    def claim(self) -> tuple[Any, Any]:
        event = self.mechanism.event
        epsilon = cost_of(event).epsilon if self.epsilon is None else self.epsilon
        delta = cost_of(event).delta if self.delta is None else self.delta
        return epsilon, delta

    def law(self) -> list[list[Enclosure]]:
        """P(output | answer), a row per answer; what is left for all other outputs comes last."""
        mechanism = self.mechanism
        rows = [[mechanism.pmf(output, answer, bits=BITS) for output in self.outputs] for answer in self.answers]
        if self.complete:
            return rows
        return [[*row, Enclosure(1 - _upper(row), 1 - _lower(row))] for row in rows]

    def labels(self) -> list[Hashable]:
        return list(self.outputs) + ([] if self.complete else [ELSEWHERE])


class Conformance:
    """The suite; `case` comes from the parametrize mark of the class that inherits it."""

    def test_every_row_of_the_law_sums_to_one(self, case):
        for row in case.law():
            assert all(p.upper >= 0 and p.lower <= 1 for p in row)
            assert _lower(row) <= 1 <= _upper(row)
            assert _upper(row) - _lower(row) < JUST_BELOW

    def test_the_checker_agrees_with_the_claim(self, case):
        law, (epsilon, delta) = case.law(), case.claim()
        if all(p.is_exact for row in law for p in row):
            channel = Channel.of_entries(
                RationalMatrix([[p.lower for p in row] for row in law]), case.graph.nodes, case.labels()
            )
            assert check(channel, case.graph, epsilon, delta)
            if case.tight:
                assert not check(channel, case.graph, epsilon - JUST_BELOW, delta)
        else:
            assert not _breaks(law, case.graph, epsilon, delta)
            if case.tight:
                assert _breaks(law, case.graph, epsilon - JUST_BELOW, delta)

    def test_the_sampler_follows_the_law(self, case):
        mechanism, law, labels = case.mechanism, case.law(), case.labels()
        places = {label: place for place, label in enumerate(labels)}

        def place(drawn: Any) -> int:
            return places.get(_hashable(drawn), len(labels) - 1)

        for answer, row in [(case.answers[i], law[i]) for i in sorted({0, len(law) - 1})]:
            if case.bits:
                found = enumerate_law(lambda source, x=answer: place(mechanism.draw(x, source=source)), case.bits)
                assert found.undecided < Fraction(1, 16)
                assert all(found.agrees_with(i, p.lower, p.upper) for i, p in enumerate(row))
            else:
                drawn = [place(one) for one in mechanism.draw(answer, size=case.samples)]
                sums = np.cumsum([float(p) for p in row])
                assert fits(np.array(drawn), lambda i, sums=sums: sums[i], 0, len(row) - 2)

    def test_seeded_draws_repeat_and_have_the_size_asked_for(self, case):
        mechanism, answer = case.mechanism, case.answers[0]
        first, again = (mechanism.draw(answer, size=7, source=SeededSource(3)) for _ in range(2))
        assert len(first) == 7
        assert [_hashable(one) for one in first] == [_hashable(one) for one in again]

    def test_the_error_is_the_expectation_of_the_law(self, case):
        estimate = case.mechanism.error()
        assert isinstance(estimate, ErrorEstimate)
        if case.loss is None:
            return
        expected, law = estimate.expected, case.law()
        losses = [[Fraction(case.loss(y, x)) for y in case.outputs] for x in case.answers]
        means = [_mean(row, costs) for row, costs in zip(law, losses, strict=True)]
        highest, lowest = max(mean.upper for mean in means), min(mean.lower for mean in means)
        assert max(mean.lower for mean in means) <= expected.upper
        assert not case.reached or expected.lower <= highest + case.left_out
        if estimate.attained:
            assert expected.lower <= lowest + case.left_out + JUST_BELOW
        if case.quantile_loss is not None:
            losses = [[Fraction(case.quantile_loss(y, x)) for y in case.outputs] for x in case.answers]
        for level, error in estimate.quantiles.items():
            within = [_within(row, costs, error, strictly=False) for row, costs in zip(law, losses, strict=True)]
            assert all(share.upper >= level for share in within)
            closer = [_within(row, costs, error, strictly=True) for row, costs in zip(law, losses, strict=True)]
            assert not case.least_quantiles or any(share.lower < level for share in closer)

    def test_it_says_why(self, case):
        reason = case.mechanism.reason()
        assert isinstance(reason, Reason)
        assert reason.theorem
        assert reason.citation
        if reason.lower_bound is not None and case.mechanism.error().loss == "absolute":
            assert reason.lower_bound.lower <= case.mechanism.error().expected.upper

    def test_its_certificate_passes_the_checker(self, case):
        """Without rational masses a mechanism may have no certificate, but then it says so."""
        try:
            certificate = case.mechanism.certificate()
        except BadParameter as refusal:
            if "pure epsilon" in refusal.problem:
                assert cost_of(case.mechanism.event).delta  # no certificate speaks of a delta
                return
            assert "irrational" in refusal.problem  # noqa: PT017 - both ways are right, for different laws
            assert not all(p.is_exact for row in case.law() for p in row)
        else:
            assert check(certificate)
            assert Certificate.from_json(certificate.to_json()) == certificate

    def test_the_event_survives_writing_and_reading(self, case):
        event = case.mechanism.event
        assert event_from_dict(event.to_dict()) == event

    def test_a_copy_is_the_same_mechanism(self, case):
        mechanism = case.mechanism
        copy = pickle.loads(pickle.dumps(mechanism))  # noqa: S301 - our own bytes
        assert copy == mechanism
        assert copy.pmf(case.outputs[0], case.answers[0]) == mechanism.pmf(case.outputs[0], case.answers[0])

    def test_a_release_refuses_predictable_noise(self, case):
        mechanism, answer = case.mechanism, case.answers[-1]
        with pytest.raises(InsecureSource):
            mechanism.release(answer, source=SeededSource(1))
        released = _hashable(mechanism.release(answer))
        assert released in case.outputs or not case.complete

    def test_bad_parameters_are_refused_by_name(self, case):
        for name, values in case.bad_parameters.items():
            for value in values:
                with pytest.raises(LeastNoiseError, match=name):
                    case.make(**{**case.parameters, name: value})

    def test_a_bad_answer_is_refused_without_showing_it(self, case):
        mechanism = case.mechanism
        for answer in case.bad_answers:
            with pytest.raises(LeastNoiseError) as caught:
                mechanism.release(answer)
            errors = (caught.value, caught.value.__cause__, caught.value.__context__)
            shown = " ".join(str(error) for error in errors if error is not None)
            assert not any(text in shown for text in _texts(answer))


def _hashable(drawn: Any) -> Hashable:
    if isinstance(drawn, np.ndarray):
        return tuple(_hashable(part) for part in drawn.tolist())
    if isinstance(drawn, list):
        return tuple(_hashable(part) for part in drawn)
    return drawn.item() if isinstance(drawn, np.generic) else drawn


def _texts(answer: Any) -> list[str]:
    """The numbers of an answer as an error might print them, where they are too long to be there by chance."""
    parts = answer.ravel().tolist() if isinstance(answer, np.ndarray) else answer
    texts = [str(part) for part in parts] if isinstance(parts, list | tuple) else [str(answer)]
    return [text for text in texts if len(text) > 3 and any(sign.isdigit() for sign in text)]


def _lower(row: Sequence[Enclosure]) -> Fraction:
    return sum((p.lower for p in row), start=Fraction(0))


def _upper(row: Sequence[Enclosure]) -> Fraction:
    return sum((p.upper for p in row), start=Fraction(0))


def _mean(row: Sequence[Enclosure], costs: Sequence[Fraction]) -> Enclosure:
    """Σ cost·p over the outputs listed; an unlisted rest has no cost here."""
    pairs = list(zip(row[: len(costs)], costs, strict=True))
    return Enclosure(sum(p.lower * c for p, c in pairs), sum(p.upper * c for p, c in pairs))


def _within(row: Sequence[Enclosure], costs: Sequence[Fraction], error: Fraction, *, strictly: bool) -> Enclosure:
    chosen = [p for p, c in zip(row, costs, strict=False) if (c < error if strictly else c <= error)]
    return Enclosure(_lower(chosen), _upper(chosen))


def _breaks(law: Sequence[Sequence[Enclosure]], graph: DatasetGraph, epsilon: Any, delta: Any) -> bool:
    """Whether an irrational law surely breaks the claim on some edge; enclosures of 256 bits leave little unsure."""
    lengths = graph.edge_lengths() or [1] * len(graph.edges())
    for (i, j), length in zip(graph.edges().tolist(), lengths, strict=True):
        factor = exp_enclosure(epsilon * length, BITS).upper
        for one, other in ((law[i], law[j]), (law[j], law[i])):
            gaps = [p.lower - factor * q.upper for p, q in zip(one, other, strict=True)]
            if sum(gap for gap in gaps if gap > 0) > delta:
                return True
    return False
