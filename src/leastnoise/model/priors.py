"""Priors: what a reader believes about the input before the answer, as exact probabilities.

A prior sums to exactly one. Floats are read as the decimals they are written as (0.1 is one tenth), so
`[0.1, 0.2, 0.7]` is a prior and `[0.33, 0.33, 0.33]` is not, unless you ask for `normalise=True`. An array of doubles,
which somebody has computed, may miss one by what doubles round; it is divided by its exact sum.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from leastnoise.errors import BadParameter, BadPrior, TooLarge
from leastnoise.exact import NumberLike, read_rational
from leastnoise.model.labels import read_labels, unknown_label

__all__ = ["Prior", "PriorLike", "ProductPrior", "independent", "read_prior", "read_prior_floats", "uniform"]

_MOST_INPUTS = 1 << 22


class Prior(Mapping[Hashable, Fraction]):
    """A distribution over labelled inputs, immutable.

    Args:
        probabilities: Label to probability, or a list of them for the labels 0, 1, 2, …
        normalise: Divide by the sum instead of refusing one that is not exactly 1. A NumPy array of doubles that misses
            1 by rounding only, 2^-52 for each, is always divided by its sum.

    Raises:
        BadPrior: A probability is negative or no number, or they do not sum to exactly one.

    >>> Prior({"yes": 0.3, "no": 0.7})["yes"]
    Fraction(3, 10)
    >>> Prior([0.3, 0.3, 0.3])
    Traceback (most recent call last):
    leastnoise.errors.BadPrior: a prior must sum to exactly 1; given: a sum of 9/10; pass normalise=True to divide by it
    """

    __slots__ = ("_floats", "_labels", "_probabilities", "_weights")

    def __init__(
        self, probabilities: Mapping[Hashable, NumberLike] | Sequence[NumberLike], *, normalise: bool = False
    ) -> None:
        rounded = Fraction(0)
        if hasattr(probabilities, "__array__"):
            array = np.atleast_1d(np.asarray(probabilities))
            rounded = Fraction(array.size, 2**52) if array.dtype == np.float64 else rounded
            probabilities = list(array)
        if not isinstance(probabilities, Mapping | Sequence) or isinstance(probabilities, str | bytes):
            raise BadPrior(
                "a prior is a list of probabilities or a mapping of inputs to them",
                given=type(probabilities).__name__,
                fix="pass for example [0.5, 0.5]",
            )
        if len(probabilities) > _MOST_INPUTS:
            raise TooLarge(
                f"a prior names at most {_MOST_INPUTS:,} inputs", given=len(probabilities), fix="merge inputs"
            )
        pairs = probabilities if isinstance(probabilities, Mapping) else dict(enumerate(probabilities))
        read = {label: _read_probability(label, value) for label, value in pairs.items()}
        total = sum(read.values(), start=Fraction(0))
        if abs(total - 1) > rounded and not (normalise and total):
            fix = "pass normalise=True to divide by it" if total else "give some input a positive probability"
            raise BadPrior("a prior must sum to exactly 1", given=f"a sum of {total}", fix=fix)
        self._probabilities = {label: value / total for label, value in read.items()}
        self._labels, self._weights = tuple(self._probabilities), tuple(self._probabilities.values())
        self._floats = np.array(self._weights, dtype=np.float64)
        self._floats.flags.writeable = False

    @property
    def labels(self) -> tuple[Hashable, ...]:
        """The inputs, in order."""
        return self._labels

    @property
    def weights(self) -> tuple[Fraction, ...]:
        """The probability of each input, in the same order."""
        return self._weights

    def floats(self) -> NDArray[np.float64]:
        """The probabilities as doubles, in the same order."""
        return self._floats

    def __getitem__(self, label: Hashable) -> Fraction:
        """The probability of an input."""
        try:
            return self._probabilities[label]
        except (KeyError, TypeError):
            raise unknown_label(label, self, "input") from None

    def __contains__(self, label: object) -> bool:
        """Whether the prior names this input."""
        return label in self._probabilities

    def __iter__(self) -> Iterator[Hashable]:
        """The inputs, in order."""
        return iter(self._probabilities)

    def __len__(self) -> int:
        """How many inputs the prior names."""
        return len(self._probabilities)

    def __hash__(self) -> int:
        """Equal priors have equal hashes, in whichever order they name the inputs."""
        return hash(frozenset(self._probabilities.items()))

    def __repr__(self) -> str:
        """Labels and probabilities."""
        return f"Prior({{{', '.join(f'{label!r}: {value}' for label, value in self.items())}}})"


@dataclass(frozen=True)
class ProductPrior:
    """Independent coordinates, each with a prior of its own; None for a uniform one. Made by `independent`."""

    factors: tuple[PriorLike | None, ...]


def independent(*factors: PriorLike | None) -> ProductPrior:
    """The prior of a tuple whose coordinates are independent, for grids, tori, cubes and Hamming graphs.

    Args:
        factors: For each coordinate its prior; None for a uniform one.

    >>> len(independent([0.5, 0.5], None).factors)
    2
    """
    if not factors or any(isinstance(factor, ProductPrior) for factor in factors):
        raise BadPrior("a product has a prior for each coordinate", given=len(factors), fix="pass one prior for each")
    return ProductPrior(factors)


PriorLike: TypeAlias = Prior | Mapping[Hashable, NumberLike] | Sequence[NumberLike]


def uniform(labels: Iterable[Hashable] | int) -> Prior:
    """Every input equally likely; a number n stands for the inputs 0..n−1.

    >>> uniform(3)
    Prior({0: 1/3, 1: 1/3, 2: 1/3})
    """
    names = read_labels(labels, "inputs")
    return Prior(dict.fromkeys(names, Fraction(1, len(names))))


def read_prior(prior: PriorLike, inputs: Sequence[Hashable]) -> tuple[Fraction, ...]:
    """The probabilities in the order of `inputs`; by label where the prior has labels, by place where it is a list.

    Inputs that a labelled prior leaves out have probability zero.

    >>> read_prior({"b": 1}, ["a", "b"])
    (Fraction(0, 1), Fraction(1, 1))
    """
    if isinstance(prior, Mapping):
        known = prior if isinstance(prior, Prior) else Prior(prior)
        if known.labels == tuple(inputs):
            return known.weights
        places = set(inputs)
        for label in known:
            if label not in places:
                raise unknown_label(label, inputs, "input")
        return tuple(known[label] if label in known else Fraction(0) for label in inputs)
    if isinstance(prior, str) or not hasattr(prior, "__len__") or getattr(prior, "ndim", 1) != 1:
        raise BadPrior("a prior is a mapping or a list", given=type(prior).__name__, fix="pass for example uniform(3)")
    if len(prior) != len(inputs):
        raise BadPrior(
            f"a prior needs one probability for each of the {len(inputs)} inputs",
            given=f"{len(prior)} probabilities",
            fix="pass as many, or a mapping from input to probability",
        )
    return tuple(Prior(prior).values())


def read_prior_floats(prior: PriorLike, inputs: Sequence[Hashable]) -> NDArray[np.float64]:
    """The same as doubles, for channels of doubles."""
    if isinstance(prior, Prior) and prior.labels == tuple(inputs):
        return prior.floats()
    return np.array(read_prior(prior, inputs), dtype=np.float64)


def _read_probability(label: Hashable, value: NumberLike) -> Fraction:
    try:
        return read_rational(value, "probability", at_least=0)
    except BadParameter as error:
        raise BadPrior(
            f"the probability of {label!r} is no number of at least 0", given=error.given, fix="use 0.25 or '1/4'"
        ) from None
