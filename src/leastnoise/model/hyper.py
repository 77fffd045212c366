"""Hyper-distributions: a distribution over what a reader may come to believe.

A prior π and a channel C give, for each output y, the posterior π_x·C_xy / p(y) with probability p(y). Outputs with the
same posterior tell the same story and are merged; outputs that cannot happen are dropped. What is left is all that
matters about the channel (FMM 2021, section IV-C).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import gcd
from operator import itemgetter
from typing import Any

import numpy as np

from leastnoise.exact import RationalMatrix
from leastnoise.model.probability_input import Entries, FloatMatrix

__all__ = ["Hyper", "Posterior"]

Posterior = tuple[Any, ...]  # probabilities of the inputs, in order: all of them Fraction, or all of them float


@dataclass(frozen=True, eq=False, repr=False)
class Hyper:
    """Posteriors and how likely each is; made by `Channel.hyper`.

    Attributes:
        inputs: The labels that every posterior is about.
        posteriors: The distinct posteriors ("inners"), in order of first appearance among the outputs.
        weights: The probability of each ("outer").
    """

    inputs: tuple[Hashable, ...]
    posteriors: tuple[Posterior, ...]
    weights: tuple[Any, ...]

    @classmethod
    def of_joint(cls, inputs: Sequence[Hashable], joint: Entries) -> Hyper:
        """Read the columns of a joint distribution; two of a float channel are equal where all their doubles are."""
        read = _of_floats(joint) if isinstance(joint, np.ndarray) else _of_rationals(joint)
        return cls(tuple(inputs), *read)

    def __len__(self) -> int:
        """How many distinct posteriors there are."""
        return len(self.posteriors)

    def __iter__(self) -> Iterator[tuple[Posterior, Any]]:
        """Pairs of a posterior and its probability."""
        return iter(zip(self.posteriors, self.weights, strict=True))

    def __eq__(self, other: object) -> bool:
        """Same inputs and the same distribution over posteriors, in whatever order."""
        if not isinstance(other, Hyper):
            return NotImplemented
        return self.inputs == other.inputs and dict(iter(self)) == dict(iter(other))

    def __hash__(self) -> int:
        """Equal hypers have equal hashes."""
        return hash((self.inputs, frozenset(self)))

    def __repr__(self) -> str:
        """How large it is."""
        return f"Hyper({len(self)} posteriors over {len(self.inputs)} inputs)"

    def expected(self, function: Callable[[Posterior], Any]) -> Any:
        """The expected value of a function of the posterior: its entropy, its vulnerability, its loss.

        >>> from leastnoise.model.channel import Channel
        >>> from leastnoise.model.priors import uniform
        >>> Channel.identity(2).hyper(uniform(2)).expected(max)
        Fraction(1, 1)
        """
        return sum(weight * function(posterior) for posterior, weight in self)

    def prior(self) -> Posterior:
        """The average posterior, which is the prior again."""
        return tuple(self.expected(itemgetter(place)) for place in range(len(self.inputs)))


def _of_floats(joint: FloatMatrix) -> tuple[tuple[Posterior, ...], tuple[float, ...]]:
    sums = joint.sum(axis=0)
    happens = sums > 0
    posteriors = np.ascontiguousarray((joint[:, happens] / sums[happens]).T)
    masses: dict[bytes, float] = {}  # an array's bytes are compared faster than its numbers
    for posterior, mass in zip(posteriors, sums[happens].tolist(), strict=True):
        key = posterior.tobytes()
        masses[key] = masses.get(key, 0.0) + mass
    return tuple(tuple(np.frombuffer(key).tolist()) for key in masses), tuple(masses.values())


def _of_rationals(joint: RationalMatrix) -> tuple[tuple[Posterior, ...], tuple[Fraction, ...]]:
    """Columns are compared as whole numbers without a common divisor: much cheaper than fractions."""
    masses: dict[tuple[int, ...], Fraction] = {}
    for column, denominator in joint.transposed().whole_rows():
        divisor = gcd(*column)
        if divisor:
            ray = tuple(entry // divisor for entry in column)
            masses[ray] = masses.get(ray, Fraction(0)) + Fraction(sum(column), denominator)
    posteriors = tuple(
        tuple(Fraction(entry, total) for entry in ray) for ray, total in ((ray, sum(ray)) for ray in masses)
    )
    return posteriors, tuple(masses.values())
