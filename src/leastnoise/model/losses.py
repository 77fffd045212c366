"""Losses: what it costs a reader to guess w when the truth is x, as an exact number ℓ(w, x).

A loss is *legal* (monotone) if ℓ(w, x) = m(|θ(w) − x|, x) with m increasing in its first argument: a guess that is
nearer to the truth never costs more (FMM 2021, Definition 15; Ghosh, Roughgarden and Sundararajan 2012). For those the
truncated geometric mechanism is optimal on 0..N, whatever the prior.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from leastnoise.errors import BadLoss, BadParameter
from leastnoise.exact import NumberLike, RationalMatrix, read_rational
from leastnoise.model.labels import index_labels, label_number, read_labels, unknown_label
from leastnoise.model.probability_input import FloatMatrix, check_size

__all__ = [
    "Legality",
    "Loss",
    "absolute",
    "additive",
    "from_function",
    "from_matrix",
    "is_legal",
    "lipschitz_constant",
    "squared",
    "zero_one",
]

Labels = tuple[Hashable, ...]


@dataclass(frozen=True)
class Loss:
    """ℓ(w, x) for guesses w and inputs x.

    Attributes:
        name: What it is called in reports.
        function: Gives ℓ(w, x); floats are read as the decimals they are written as.
        guesses: What a reader may guess; None stands for the inputs of the channel at hand.
        parts: For a loss that adds up over coordinates the loss of each; else none.
    """

    name: str
    function: Callable[[Any, Any], NumberLike]
    guesses: Labels | None = None
    parts: tuple[Loss, ...] = ()

    def guessing(self, guesses: Iterable[Hashable]) -> Loss:
        """The same loss for a reader who may make these guesses.

        >>> squared.guessing([0, 0.5, 1]).table((0, 1)).rows[1]
        (Fraction(1, 4), Fraction(1, 4))
        """
        return Loss(self.name, self.function, read_labels(guesses, "guesses"))

    def table(self, inputs: Sequence[Hashable], guesses: Sequence[Hashable] | None = None) -> RationalMatrix:
        """ℓ as a matrix, a row per guess and a column per input."""
        rows, columns = self.guesses_for(inputs, guesses), tuple(inputs)
        small = len(rows) * len(columns) <= _REMEMBERED_ENTRIES
        return _remembered_table(self, rows, columns) if small else _table(self, rows, columns)

    def floats(self, inputs: Sequence[Hashable], guesses: Sequence[Hashable] | None = None) -> FloatMatrix:
        """ℓ as a matrix of doubles."""
        rows, columns = self.guesses_for(inputs, guesses), tuple(inputs)
        small = len(rows) * len(columns) <= _REMEMBERED_ENTRIES
        return _remembered_floats(self, rows, columns) if small else _floats(self, rows, columns)

    def guesses_for(self, inputs: Sequence[Hashable], guesses: Sequence[Hashable] | None = None) -> Labels:
        """The guesses asked for, else the loss's own, else the inputs."""
        return tuple(guesses if guesses is not None else inputs if self.guesses is None else self.guesses)

    def __repr__(self) -> str:
        """The name."""
        return f"Loss({self.name})"


def from_function(
    function: Callable[[Any, Any], NumberLike], guesses: Iterable[Hashable] | None = None, name: str | None = None
) -> Loss:
    """The loss that function(guess, input) gives.

    >>> late = from_function(lambda guess, truth: max(0, truth - guess))
    >>> late.table((0, 1, 2)).rows[0]
    (Fraction(0, 1), Fraction(1, 1), Fraction(2, 1))
    """
    if not callable(function):
        raise BadLoss(
            "a loss is a function of guess and input", given=function, fix="pass a function, or `from_matrix`"
        )
    called = name or str(getattr(function, "__name__", "loss"))
    return Loss(called, function, None if guesses is None else read_labels(guesses, "guesses"))


def additive(*parts: Loss) -> Loss:
    """The loss of a tuple that adds up over its coordinates, for grids, tori, cubes and Hamming graphs.

    Args:
        parts: The loss of each coordinate.

    >>> additive(absolute, squared).function((1, 2), (3, 5))
    Fraction(11, 1)
    """
    if not parts or any(not isinstance(part, Loss) or part.guesses is not None for part in parts):
        raise BadLoss(
            "each coordinate has a loss, which guesses the coordinate's values", fix="pass additive(squared, squared)"
        )
    return Loss(" + ".join(part.name for part in parts), _Total(parts), None, parts)


@dataclass(frozen=True)
class _Total:
    """The sum over coordinates; a class, so that a design can be pickled."""

    parts: tuple[Loss, ...]

    def __call__(self, guess: Any, truth: Any) -> Fraction:
        each = zip(self.parts, guess, truth, strict=True)
        return sum((_number(part.function(w, x), w, x) for part, w, x in each), Fraction(0))


def from_matrix(
    matrix: Any,
    guesses: Iterable[Hashable] | None = None,
    inputs: Iterable[Hashable] | None = None,
    name: str = "matrix",
) -> Loss:
    """The loss that a matrix gives, a row per guess and a column per input; labels are 0, 1, 2, … if left out.

    >>> from_matrix([[0, 1], [5, 0]]).function(1, 0)
    Fraction(5, 1)
    """
    rows = [list(row) for row in matrix]
    if not rows or any(len(row) != len(rows[0]) for row in rows):
        raise BadLoss("a loss matrix has rows of equal length", given=f"{len(rows)} rows", fix="pass a row per guess")
    guess_labels = read_labels(guesses, "guesses", len(rows))
    input_labels = read_labels(inputs, "inputs", len(rows[0]))
    entries = {
        (guess, truth): _number(entry, guess, truth)
        for guess, row in zip(guess_labels, rows, strict=True)
        for truth, entry in zip(input_labels, row, strict=True)
    }
    return Loss(name, _Lookup(entries, guess_labels, input_labels), guess_labels)


class _Lookup:
    """A function given by its values; hashable, so that a loss made of it can be remembered."""

    def __init__(self, entries: Mapping[tuple[Hashable, Hashable], Fraction], guesses: Labels, inputs: Labels) -> None:
        self._entries, self._guesses, self._inputs = entries, guesses, inputs

    def __call__(self, guess: Hashable, truth: Hashable) -> Fraction:
        try:
            return self._entries[guess, truth]
        except KeyError:
            if guess in index_labels(self._guesses, "guesses"):
                raise unknown_label(truth, self._inputs, "input") from None
            raise unknown_label(guess, self._guesses, "guess") from None


def _absolute(guess: Hashable, truth: Hashable) -> Fraction:
    return abs(label_number(guess, "guess") - label_number(truth, "input"))


def _squared(guess: Hashable, truth: Hashable) -> Fraction:
    return _absolute(guess, truth) ** 2


def _zero_one(guess: Hashable, truth: Hashable) -> int:
    return int(guess != truth)


absolute = Loss("absolute", _absolute)
"""|w − x|; labels must be numbers."""

squared = Loss("squared", _squared)
"""(w − x)²; labels must be numbers."""

zero_one = Loss("zero_one", _zero_one)
"""1 for a wrong guess, 0 for a right one: its expected loss is the Bayes risk."""


def _table(loss: Loss, guesses: Labels, inputs: Labels) -> RationalMatrix:
    check_size(len(guesses), len(inputs))
    return RationalMatrix([[_number(loss.function(w, x), w, x) for x in inputs] for w in guesses])


def _floats(loss: Loss, guesses: Labels, inputs: Labels) -> FloatMatrix:
    floats = np.array([[float(entry) for entry in row] for row in loss.table(inputs, guesses).rows])
    floats.flags.writeable = False
    return floats


# A design asks for the same table again and again; large ones are not worth the memory.
_REMEMBERED_ENTRIES = 1 << 16
_remembered_table = lru_cache(maxsize=32)(_table)
_remembered_floats = lru_cache(maxsize=32)(_floats)


def _number(entry: NumberLike, guess: Hashable, truth: Hashable) -> Fraction:
    if type(entry) is Fraction or type(entry) is int:
        return Fraction(entry)
    try:
        return read_rational(entry, "loss")
    except BadParameter as error:
        raise BadLoss(
            f"the loss of guessing {guess!r} for {truth!r} must be a rational number",
            given=error.given,
            fix="return a number, such as 0.5 or Fraction(1, 3)",
        ) from None


class LossViolation(NamedTuple):
    """A guess that is at least as near to the input as another one, and yet costs more."""

    input: Hashable
    nearer: Hashable
    farther: Hashable


class Legality(NamedTuple):
    """Whether a loss is legal on some inputs, and if not, where it fails."""

    holds: bool
    violation: LossViolation | None

    def __bool__(self) -> bool:
        """Whether the loss is legal."""
        return self.holds


def is_legal(
    loss: Loss, inputs: Sequence[Hashable], positions: Mapping[Hashable, NumberLike] | None = None
) -> Legality:
    """Whether ℓ(w, x) = m(|θ(w) − x|, x) for an m that increases (weakly) in its first argument.

    Such an m exists if and only if, for each input x, a guess nearer to x never costs more than one farther away and
    guesses at one distance cost the same: m(·, x) is then read off the table and extended as a step function.

    Args:
        loss: The loss.
        inputs: Numbers, the inputs it is used on.
        positions: θ, where each guess lies; the guesses themselves if left out, which then must be numbers.

    >>> from leastnoise.model.losses import absolute, from_function
    >>> bool(is_legal(absolute, range(5)))
    True
    >>> is_legal(from_function(lambda w, x: -abs(w - x)), range(2)).violation
    LossViolation(input=0, nearer=0, farther=1)
    """
    guesses, table = loss.guesses_for(inputs), loss.table(inputs)
    places = [_position(guess, positions) for guess in guesses]
    for x, costs in zip(inputs, table.transposed().rows, strict=True):
        truth = label_number(x, "input")
        ranked = sorted(
            (abs(place - truth), cost, w) for w, (place, cost) in enumerate(zip(places, costs, strict=True))
        )
        for (distance, cost, w), (next_distance, next_cost, next_w) in pairwise(ranked):
            if cost > next_cost:
                return Legality(False, LossViolation(x, guesses[w], guesses[next_w]))
            if distance == next_distance and cost < next_cost:
                return Legality(False, LossViolation(x, guesses[next_w], guesses[w]))
    return Legality(True, None)


def lipschitz_constant(loss: Loss, inputs: Sequence[Hashable]) -> Fraction:
    """The least κ with |ℓ(w, x) − ℓ(w, x')| ≤ κ·|x − x'| for every guess w and all inputs x, x'.

    Between neighbours on the line is where it is steepest, so only those are compared.

    >>> from leastnoise.model.losses import squared
    >>> lipschitz_constant(squared, [0, Fraction(1, 2), 1])
    Fraction(3, 2)
    """
    numbers = [label_number(x, "input") for x in inputs]
    if len(set(numbers)) < len(numbers):
        raise BadLoss("two inputs are the same number", given=list(inputs), fix="give distinct inputs")
    order = sorted(range(len(numbers)), key=numbers.__getitem__)
    slopes = (
        abs(costs[after] - costs[before]) / (numbers[after] - numbers[before])
        for costs in loss.table(inputs).rows
        for before, after in pairwise(order)
    )
    return max(slopes, default=Fraction(0))


def _position(guess: Hashable, positions: Mapping[Hashable, NumberLike] | None) -> Fraction:
    if positions is None:
        return label_number(guess, "guess")
    if guess not in positions:
        raise unknown_label(guess, positions, "guess")
    return read_rational(positions[guess], "position")
