"""Which losses the optimality theorems speak about: legal (monotone) ones, and how steep they are."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import NamedTuple

from leastnoise.errors import BadLoss
from leastnoise.exact.parameters import NumberLike, read_rational
from leastnoise.model.labels import label_number, unknown_label
from leastnoise.model.losses import Loss

__all__ = ["Legality", "Violation", "is_legal", "lipschitz_constant"]


class Violation(NamedTuple):
    """A guess that is at least as near to the input as another one, and yet costs more."""

    input: Hashable
    nearer: Hashable
    farther: Hashable


class Legality(NamedTuple):
    """Whether a loss is legal on some inputs, and if not, where it fails."""

    holds: bool
    violation: Violation | None

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
    Violation(input=0, nearer=0, farther=1)
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
                return Legality(False, Violation(x, guesses[w], guesses[next_w]))
            if distance == next_distance and cost < next_cost:
                return Legality(False, Violation(x, guesses[next_w], guesses[w]))
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
