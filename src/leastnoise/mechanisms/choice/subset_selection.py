"""Subset selection: d of k labels, the person's own among them with odds e^ε, for the frequencies of all labels.

Each set S of d labels has P(S | x) ∝ e^ε if x ∈ S and ∝ 1 else. Any two labels are neighbours, so each person protects
their own answer. From the responses the count of every label is estimated without bias. d = 1 is randomized response.
With the best d, next to k/(e^ε + 1), no unbiased estimate from any ε-private responses has a smaller mean squared
error, whatever the number of people: docs/theory/subset_selection.md has the proof.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, pairwise
from math import comb, prod
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from leastnoise.errors import BadParameter, TooLarge
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
    exp_enclosure,
    permutation,
    read_integer,
    read_rate,
    require_secure,
    shape_of,
)
from leastnoise.mechanisms.truths import Candidates, name_places, place_of, private_place, read_candidates
from leastnoise.model import Certificate, ErrorEstimate, Mechanism, Privacy, PrivacyCertificate, Pure, Reason
from leastnoise.model.graphs import complete

__all__ = ["FrequencyPlan", "SubsetSelection", "plan_frequencies"]

_SHOWN = 6  # labels in a certificate
_BLOCK = 1 << 22  # places that are shuffled at once
_MOST_OPTIONS = 1 << 24  # all other places are shuffled for each response
_MOST_OUTPUTS = 10**6
_BITS = 128  # of what an estimate is made from


@dataclass(frozen=True, init=False)
class SubsetSelection(Mechanism):
    """Some of the labels, the true one among them with odds e^epsilon.

    Args:
        epsilon: The privacy of one person's response.
        options: All labels that the truth can be, public; or how many.
        chosen: How many labels a response names; if left out, as many as make the estimates best.

    >>> survey = SubsetSelection("ln(3)", ["tea", "coffee", "water", "milk", "juice", "beer"])
    >>> survey.chosen, survey.pmf(("tea", "milk"), "milk"), survey.error().expected
    (2, Enclosure(3/25), Enclosure(195/16))
    >>> responses = survey.draw_each(["tea"] * 600 + ["milk"] * 400)
    >>> responses.shape, len(survey.estimate(responses))
    ((1000, 2), 6)
    """

    name: ClassVar[str] = "subset selection"
    epsilon: Exact
    options: Sequence[Hashable]
    chosen: int

    def __init__(self, epsilon: NumberLike, options: Candidates, chosen: NumberLike | None = None) -> None:
        object.__setattr__(self, "epsilon", read_rate(epsilon, "epsilon", reach=500))
        object.__setattr__(self, "options", read_candidates(options, "options"))
        count = len(self.options)
        if count < 2:
            raise BadParameter("options must be at least two", given=count, fix="one label tells nothing")
        if count > _MOST_OPTIONS:
            raise TooLarge(
                f"options of a response are at most {_MOST_OPTIONS}", given=count, fix="use RandomizedResponse"
            )
        read = None if chosen is None else read_integer(chosen, "chosen", at_least=1, at_most=count - 1)
        object.__setattr__(self, "chosen", _best(self.epsilon, count)[0] if read is None else read)

    @property
    def event(self) -> Pure:
        """A pure epsilon."""
        return Pure(self.epsilon)

    def draw(self, truth: Any, size: Size = None, source: Source | None = None) -> Any:
        """The labels of a response in their public order; with `size` an array with one more axis for them."""
        place = private_place(truth, self.options)
        shape = shape_of(size)
        places = self._near(np.full(prod(shape), place, dtype=np.int64), source)
        if size is None:
            return tuple(self.options[place] for place in places[0].tolist())
        return name_places(places.reshape((*shape, self.chosen)), self.options)

    def draw_each(self, truths: Iterable[Hashable], source: Source | None = None) -> NDArray[Any]:
        """A row with an independent response for each of many people's labels; for tests, with any source."""
        places = np.array([private_place(truth, self.options) for truth in truths], dtype=np.int64)
        return name_places(self._near(places, source), self.options)

    def release_each(self, truths: Iterable[Hashable], source: Source | None = None) -> NDArray[Any]:
        """A response for each of many people's labels, with unpredictable noise only; each person spends epsilon."""
        return self.draw_each(truths, require_secure(source))

    def pmf(self, output: Hashable, truth: Any, bits: int = 64) -> Enclosure:
        """P(output | truth), for a tuple of labels in their public order."""
        place = private_place(truth, self.options)
        places = [place_of(label, self.options) for label in output] if isinstance(output, tuple) else []
        if len(places) != self.chosen or any(one >= other for one, other in pairwise(places)):
            return Enclosure(Fraction(0), Fraction(0))
        others = len(self.options) - 1
        with_it, without = comb(others, self.chosen - 1), comb(others, self.chosen)
        told = place in places
        return _at_odds(self.epsilon, lambda odds: (odds if told else 1) / (odds * with_it + without), bits)

    def error(self) -> ErrorEstimate:
        """The squared error of the estimate from one response, summed over the labels: the same for every truth.

        For n people the counts are off by n times that, the shares by an n-th of it.
        """
        return ErrorEstimate("squared", _one_response(self.epsilon, len(self.options), self.chosen))

    def estimate(self, responses: Iterable[Iterable[Hashable]]) -> list[Enclosure]:
        """Unbiased estimates of how many people have each label; exact where e^epsilon is rational.

        (count − n·q)/(p − q), for a label that is named by `count` of n responses, with p and q the chances that a
        response names the true label and another one.

        >>> SubsetSelection("ln(3)", ["yes", "no"]).estimate([("yes",), ("yes",), ("no",)])
        [Enclosure(5/2), Enclosure(1/2)]
        """
        k, d = len(self.options), self.chosen
        people, named = 0, Counter[int]()
        for response in responses:
            places = {place_of(label, self.options) for label in response}
            if len(places) != d:
                raise BadParameter(
                    f"each response must name {d} different options",
                    given=len(places),
                    fix="pass responses of a mechanism with the same `chosen`",
                )
            people += 1
            named.update(places)

        def estimated(count: int) -> Enclosure:
            return _at_odds(
                self.epsilon,
                lambda odds: (
                    (count * (k - 1) * (d * odds + k - d) - people * d * ((d - 1) * odds + k - d))
                    / (d * (k - d) * (odds - 1))
                ),
                _BITS,
            )

        known = {count: estimated(count) for count in {named[place] for place in range(k)}}
        return [known[named[place]] for place in range(k)]

    def reason(self) -> Reason:
        """No unbiased estimate from private responses is better than that of the best size."""
        return Reason(
            "no unbiased estimate of the counts from private responses has a smaller mean squared error, on average "
            "over the truths or at its worst, than that from the best number of labels",
            "Ye and Barg, IEEE Transactions on Information Theory 2018; Pan 2026; docs/theory/subset_selection.md",
            _best(self.epsilon, len(self.options))[1],
        )

    def certificate(self) -> Certificate:
        """The law on at most six of the labels, as an exact channel.

        Raises:
            BadParameter: e^epsilon is irrational.
        """
        count = min(len(self.options), _SHOWN)
        small = SubsetSelection(self.epsilon, count, min(self.chosen, count - 1))
        channel = small.channel(range(count), small.outputs())
        return PrivacyCertificate(complete(count), Privacy(self.epsilon), channel)

    def outputs(self) -> list[tuple[Hashable, ...]]:
        """All responses; for few labels.

        >>> SubsetSelection(1, 3, chosen=2).outputs()
        [(0, 1), (0, 2), (1, 2)]
        """
        if comb(len(self.options), self.chosen) > _MOST_OUTPUTS:
            raise TooLarge("there are too many responses to list", given=f"{len(self.options)} options", fix="use pmf")
        return list(combinations(self.options, self.chosen))

    def _near(self, places: NDArray[np.int64], source: Source | None) -> NDArray[np.int64]:
        """A sorted row of chosen places for each place."""
        rows = max(_BLOCK // len(self.options), 1)
        blocks = [self._moves(len(places[i : i + rows]), source) for i in range(0, len(places), rows)]
        moves = np.concatenate(blocks) if blocks else np.empty((0, self.chosen), dtype=np.int64)
        near: NDArray[np.int64] = np.sort((places[:, np.newaxis] + moves) % len(self.options), axis=1)
        return near

    def _moves(self, count: int, source: Source | None) -> NDArray[np.int64]:
        """How far each chosen place is from the true one: what is drawn does not depend on the truth.

        d of the other places in random order; with the chance that the truth is told it takes the place of the last.
        """
        k, d = len(self.options), self.chosen
        moves = permutation(k - 1, size=count, source=source)[:, :d] + 1
        told = np.asarray(categorical_exp([1, 0], [d, k - d], count, source, rate=self.epsilon)) == 0
        moves[told, -1] = 0
        return moves


@dataclass(frozen=True)
class FrequencyPlan:
    """What each way of asking costs.

    Attributes:
        mechanism: The best one.
        errors: By name, the expected squared error of the shares, summed over the labels, the largest over all truths.
    """

    mechanism: SubsetSelection
    errors: Mapping[str, Enclosure]

    def __str__(self) -> str:
        """A line for each way."""
        return "\n".join(f"{name}: {float(error):.6g}" for name, error in self.errors.items())


def plan_frequencies(epsilon: NumberLike, options: Candidates, people: NumberLike = 1) -> FrequencyPlan:
    """The best way for people who trust nobody to say how frequent each label is, beside the known other ones.

    All errors are exact, those of unbiased estimates. Subset selection has the least, by a theorem.

    Args:
        epsilon: The privacy of each person's response.
        options: All labels, public; or how many.
        people: How many respond.

    >>> print(plan_frequencies(1, 100, people=10_000))
    subset selection, 27 of 100 labels: 0.0359953
    symmetric unary encoding: 0.039177
    optimised unary encoding: 0.0369269
    Hadamard response: 0.0467269
    randomized response: 0.346833
    """
    best = SubsetSelection(epsilon, options)
    k, count = len(best.options), read_integer(people, "people", at_least=1)
    formulas: dict[str, tuple[Exact, Callable[[Any], Any]]] = {
        # Wang, Blocki, Li and Jha, USENIX Security 2017: a bit for each label, told with odds e^(ε/2), or the own bit
        # by a fair coin and the others with odds e^ε.
        "symmetric unary encoding": (best.epsilon / 2, lambda root: k * root / (root - 1) ** 2),
        "optimised unary encoding": (
            best.epsilon,
            lambda odds: (4 * (k - 1) * odds + (odds + 1) ** 2) / (odds - 1) ** 2,
        ),
        # Acharya, Sun and Zhang, AISTATS 2019, with as many responses as a Hadamard matrix of more than k rows has.
        "Hadamard response": (best.epsilon, lambda odds: ((k - 1) * (odds + 1) ** 2 + 4 * odds) / (odds - 1) ** 2),
    }
    errors = {f"{best.name}, {best.chosen} of {k} labels": best.error().expected}
    errors |= {name: _at_odds(rate, formula, 64) for name, (rate, formula) in formulas.items()}
    errors["randomized response"] = _one_response(best.epsilon, k, 1)
    return FrequencyPlan(
        best, {name: Enclosure(error.lower / count, error.upper / count) for name, error in errors.items()}
    )


def _one_response(epsilon: Exact, k: int, d: int) -> Enclosure:
    """(k − 1)/k · ((k − 1)(d·e^ε + k − d)²/(d(k − d)(e^ε − 1)²) − 1), with d·e^ε + k − d = d(e^ε − 1) + k."""

    def formula(odds: Any) -> Any:
        return ((k - 1) * (d * odds + k - d) ** 2 / (d * (k - d) * (odds - 1) ** 2) - 1) * (k - 1) / k

    return _at_odds(epsilon, formula, 64)


def _best(epsilon: Exact, k: int) -> tuple[int, Enclosure]:
    """The best number of labels and the least error. The error falls before k/(e^ε + 1) and rises after it."""
    odds = exp_enclosure(epsilon)
    low, high = int(k / (odds.upper + 1)), int(k / (odds.lower + 1)) + 1
    sizes = range(min(max(low, 1), k - 1), min(high, k - 1) + 1)
    errors = {d: _one_response(epsilon, k, d) for d in sizes}
    best = min(errors, key=lambda d: errors[d].lower + errors[d].upper)
    # Where two cannot be told apart, the bound must not be above either.
    return best, Enclosure(min(error.lower for error in errors.values()), errors[best].upper)


def _at_odds(epsilon: Exact, formula: Callable[[Any], Any], bits: int) -> Enclosure:
    odds = exact_exp(epsilon)
    if odds is not None:
        return Enclosure(formula(odds), formula(odds))
    return enclose(lambda: formula(ball_of(epsilon).exp()), bits)
