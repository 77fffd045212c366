"""From a linear workload to the best strategy: guessed in doubles, rounded to whole numbers, then judged exactly.

Candidates are the best strategy for one unit in one cell, noise on the cells, noise on the answers, a binary tree
over the cells, and mixtures of the first two. They are compared for the cells and rows that a unit may really have;
the winner is written in whole numbers, and its error, its bound and its privacy are computed from these
(docs/theory/strategy.md).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, lru_cache
from math import ceil, log2, prod

import numpy as np
from numpy.typing import NDArray

from leastnoise.errors import BadParameter, TooLarge
from leastnoise.exact import IntegerMatrix, NumberLike, read_integer
from leastnoise.mechanisms.strategy.cache import Found, kept
from leastnoise.mechanisms.strategy.search import SearchResult, search
from leastnoise.model import (
    GOALS,
    MOST_CELLS,
    MOST_GROUPS,
    MOST_ROWS_PER_UNIT,
    LinearWorkload,
    Precision,
    StrategyCertificate,
    StrategyPart,
    Weights,
    sensitivity_of,
    squared_sensitivity,
    strategy_bound,
    strategy_error,
)

__all__ = ["Strategy", "certified_part", "guessed", "inverse_of", "plan_strategy"]

Floats = NDArray[np.float64]
_MOST_BITS = 24  # of an entry of the strategy
_WORD_BITS, _DOUBLE_BITS = 60, 53
_MULTIPLIER_BITS = 40
_DUAL_BITS = 46
_SMALLEST_WEIGHT = 1e-9  # in the search, relative to the largest: the strategy has to answer everything
_BEST, _ON_CELLS, _ON_ANSWERS = "the best strategy for one cell per unit", "noise on the cells", "noise on the answers"
_MIXTURES = {share: f"a mixture, {share:.0%} noise on the cells" for share in (0.25, 0.5, 0.75)}
_TREE = "a binary tree"
_NAMES = frozenset({_BEST, _ON_CELLS, _ON_ANSWERS, _TREE, *_MIXTURES.values()})
_MOST_GAP = Fraction(1, 100)
_CLOSE, _LARGE, _CLOSE_ENOUGH = 36, 64, 12  # bits to which an inverse is refined, up to so many rows, and at least
_MOST_ENTRIES = 1 << 16  # of a workload that is written out to look for its worst answer
_MOST_CLOSE, _MOST_TURNS = 200, 4


@dataclass(frozen=True)
class Strategy:
    """A strategy in whole numbers, for units in up to `groups` cells with up to `rows` rows in each.

    Attributes:
        parts: One for each factor of a Kronecker product.
        goal: "total" or "largest".
        groups: The most cells that one unit is in.
        rows: The most that it adds to one of them.
        name: Which candidate it is.
        norm: "l2" for Gaussian noise, "l1" for Laplace noise.
    """

    parts: tuple[StrategyPart, ...]
    goal: str
    groups: int
    rows: int
    name: str
    norm: str = "l2"

    @cached_property
    def sensitivity(self) -> int:
        """The square of the largest change of what is measured."""
        return sensitivity_of(self.parts, self.norm, self.groups, self.rows)

    @cached_property
    def error(self) -> Fraction:
        """The squared error of the goal at μ = 1, rounded up."""
        return strategy_error(self.parts, self.goal, self.sensitivity)

    @cached_property
    def lower_bound(self) -> Fraction:
        """What no strategy beats."""
        return strategy_bound(self.parts, self.goal, self.rows)

    @property
    def gap(self) -> Fraction:
        """error/lower_bound − 1."""
        return self.error / self.lower_bound - 1

    @property
    def answers(self) -> int:
        """How many answers there are."""
        return prod(part.workload.answers for part in self.parts)

    def certificate(self) -> StrategyCertificate:
        """The claim with its proof."""
        return StrategyCertificate(
            self.parts,
            self.goal,
            self.norm,
            self.groups,
            self.rows,
            self.sensitivity,
            self.error,
            self.lower_bound,
            self.error - self.lower_bound,
        )


def plan_strategy(
    *workloads: LinearWorkload,
    weights: Sequence[NumberLike] | None = None,
    goal: str = "total",
    groups: int = 1,
    rows: int = 1,
) -> Strategy:
    """The best strategy found for a workload, or for the Kronecker product of several.

    Args:
        workloads: What is asked; several for all products of their answers.
        weights: How much the squared error of each answer counts, for a single workload; None for ones.
        goal: "total" for the least sum of the weighted squared errors, "largest" for the least largest one.
        groups: The most cells that one unit is in.
        rows: The most that it adds to one of them.

    Returns:
        The strategy, with its exact error and the bound that no strategy beats.

    Raises:
        BadParameter: The goal is unknown, or a number is out of range.
        TooLarge: The product has too many cells.

    >>> from leastnoise.model.linear_workloads import PrefixSums
    >>> plan = plan_strategy(PrefixSums(8))
    >>> round(float(plan.error / 8) ** 0.5, 4), plan.gap < Fraction(1, 10**6)
    (1.4944, True)
    """
    if goal not in GOALS:
        raise BadParameter("unknown goal", given=goal, fix='pass "total" or "largest"')
    if not workloads or (len(workloads) > 1 and weights is not None):
        raise BadParameter("name a workload; weights are for a single one", fix="pass for example PrefixSums(100)")
    if prod(workload.cells for workload in workloads) > MOST_CELLS:
        raise TooLarge(f"the product has more than {MOST_CELLS} cells", fix="use fewer or wider bins")
    groups = read_integer(groups, "groups", at_least=1, at_most=MOST_GROUPS)
    rows = read_integer(rows, "rows", at_least=1, at_most=MOST_ROWS_PER_UNIT)
    cells = min(groups, prod(workload.cells for workload in workloads))
    read = tuple(workload.read_weights(weights) for workload in workloads)
    return _planned(workloads, read, goal, cells, rows)


@lru_cache(maxsize=8)
def _planned(
    workloads: tuple[LinearWorkload, ...], read: tuple[Weights | None, ...], goal: str, cells: int, rows: int
) -> Strategy:
    """The plan; many prices ask for the same one."""
    asked = {"goal": goal, "groups": cells, "noise": "Gaussian"}

    def is_good(found: Found) -> bool:
        """A file that was forged may hold a poor strategy; for one cell per unit the bound tells."""
        plan = Strategy(found.parts, goal, cells, rows, found.name)
        return found.name in _NAMES and (cells > 1 or plan.gap <= _MOST_GAP)

    found = kept(asked, workloads, read, lambda: _found(workloads, read, goal, cells), is_good)
    return Strategy(found.parts, goal, cells, rows, found.name)


def _found(workloads: tuple[LinearWorkload, ...], read: tuple[Weights | None, ...], goal: str, cells: int) -> Found:
    guesses = [guessed(workload, one, goal) for workload, one in zip(workloads, read, strict=True)]
    name, chosen = _best(workloads, read, guesses, goal, cells)
    parts = tuple(
        _exact_part(workload, one, guess, matrix)
        for workload, one, guess, matrix in zip(workloads, read, guesses, chosen, strict=True)
    )
    return Found(name, parts)


def guessed(workload: LinearWorkload, weights: Weights | None, goal: str) -> SearchResult:
    """The best strategy for one cell per unit, in doubles."""
    if weights is None:
        return search(workload, largest=goal == "largest")
    rough = np.array([float(weight) for weight in weights])
    clipped = np.maximum(rough, rough.max() * _SMALLEST_WEIGHT)
    # three diagonals prove nothing for answers that do not count
    return search(workload, clipped, largest=goal == "largest", banded=min(weights) > 0)


def _best(
    workloads: Sequence[LinearWorkload],
    weights: Sequence[Weights | None],
    guesses: Sequence[SearchResult],
    goal: str,
    groups: int,
) -> tuple[str, list[Floats]]:
    """The candidate with the least error in doubles; for one cell per unit the search has found it."""
    name, chosen = _BEST, [guess.matrix for guess in guesses]
    if groups == 1:
        return name, chosen
    ranked = []
    sets = [dict(_candidates(workload, guess)) for workload, guess in zip(workloads, guesses, strict=True)]
    for name in set.intersection(*(set(names) for names in sets)):
        chosen = [names[name] for names in sets]
        cost = prod(_cost(w, one, m, goal) for w, one, m in zip(workloads, weights, chosen, strict=True))
        ranked.append((cost * _rough_sensitivity(workloads, chosen, groups), name, chosen))
    _, name, chosen = min(ranked, key=lambda one: (one[0], one[1]))
    return name, chosen


def _candidates(workload: LinearWorkload, guess: SearchResult) -> Iterator[tuple[str, Floats]]:
    """Matrices Z = TᵀT, scaled so that no cell has more than one."""
    size = workload.rank
    basis = np.eye(size) if workload.basis is None else workload.basis.array().astype(float)
    cells = np.linalg.inv(basis @ basis.T)
    gram = workload.weigh(np.ones(workload.answers)) / workload.below**2
    yield _BEST, guess.matrix
    yield _ON_CELLS, cells
    yield _ON_ANSWERS, _scaled(basis, gram)
    for share, name in _MIXTURES.items():
        yield name, _scaled(basis, (1 - share) * guess.matrix + share * cells)
    if workload.basis is None and size > 2:
        yield _TREE, _scaled(basis, _tree(size))


def _scaled(basis: Floats, matrix: Floats) -> Floats:
    """Z over its largest f_jᵀ·Z·f_j."""
    scaled: Floats = matrix / np.max(np.sum(basis * (matrix @ basis), axis=0))
    return scaled


def _tree(size: int) -> Floats:
    """Equal noise on all nodes of a binary tree over the cells."""
    total, width = np.zeros((size, size)), 1
    while width < 2 * size:
        blocks = np.arange(size) // width
        total += blocks[:, None] == blocks
        width *= 2
    return total


def _cost(workload: LinearWorkload, weights: Weights | None, matrix: Floats, goal: str) -> float:
    """The error at σ = 1, in doubles."""
    inverse = np.linalg.inv(matrix)
    forms = workload.forms(inverse) / workload.below**2
    ones = np.ones(workload.answers) if weights is None else np.array([float(weight) for weight in weights])
    return float(np.max(ones * forms) if goal == "largest" else ones @ forms)


def _rough_sensitivity(workloads: Sequence[LinearWorkload], matrices: Sequence[Floats], groups: int) -> float:
    """`squared_sensitivity` of doubles, times a power of two."""
    parts = [
        (workload, IntegerMatrix(np.rint(np.ldexp(matrix, 40)).astype(np.int64)))
        for workload, matrix in zip(workloads, matrices, strict=True)
    ]
    return float(squared_sensitivity(parts, groups)) / 2.0 ** (40 * len(parts))


def _exact_part(workload: LinearWorkload, weights: Weights | None, guess: SearchResult, matrix: Floats) -> StrategyPart:
    """The whole strategy nearest to a guess."""
    root = np.linalg.cholesky(matrix[::-1, ::-1])[::-1, ::-1].T  # lower: row i needs no cell after i
    bits = min(_MOST_BITS, (_DOUBLE_BITS - len(root).bit_length()) // 2)  # so that doubles hold sums of squares exactly
    scale = 2.0**bits if workload.basis is None else 2.0 ** (bits - np.floor(np.log2(np.abs(root).max())))
    return certified_part(workload, weights, guess, IntegerMatrix(np.rint(root * scale).astype(np.int64)))


def certified_part(
    workload: LinearWorkload, weights: Weights | None, guess: SearchResult, strategy: IntegerMatrix
) -> StrategyPart:
    """A whole strategy with what proves its error and, from the search, what no strategy beats."""
    gram = strategy.transposed() @ strategy
    precision = inverse_of(gram)
    shares: Weights = ()
    top = 1.0
    if guess.weights is not None:
        top = float(guess.weights.max())
        shares = tuple(Fraction(max(int(weight * 2.0**40 / top), 1), 2**40) for weight in guess.weights)
    multipliers: tuple[int, ...] = ()
    dual = None
    if guess.dual is None:
        relative = guess.multipliers / guess.multipliers.max()
        multipliers = tuple(max(int(u * 2.0**_MULTIPLIER_BITS), 1) for u in relative)
    else:
        bits = _DUAL_BITS - int(np.ceil(np.log2(np.abs(guess.dual).max())))
        dual = IntegerMatrix(np.rint(np.ldexp(guess.dual, bits)).astype(np.int64))
        if workload.basis is not None:
            factor = 2.0 ** (2 * bits) / top * float(_denominator(workload, weights, shares))
            multipliers = tuple(int(Fraction(float(u) * factor)) for u in guess.multipliers)
    part = StrategyPart(
        workload,
        weights,
        strategy,
        precision.inverse,
        precision.denominator,
        precision.closeness,
        dual=dual,
        multipliers=multipliers,
        answer_weights=shares,
    )
    part = _worst_alone(part) if shares and workload.basis is None else part
    part.__dict__.update(gram=gram, precision=precision)  # computed from the same numbers just now
    return part


def _worst_alone(part: StrategyPart) -> StrategyPart:
    """For the largest error, what one answer alone proves where that is more: c·w_j², for any entry w_j of its row.

    That is the bound with ω only there and D = e_j·e_jᵀ. The search, whose ω all count, comes near to it but slowly
    where a few answers decide.
    """
    workload = part.workload
    if workload.cells * workload.answers > _MOST_ENTRIES:
        return part
    squares = np.array(workload.evaluate(np.eye(workload.cells, dtype=int).astype(object)), dtype=object) ** 2
    counted = squares * np.array(part.weights or (Fraction(1),) * workload.answers, dtype=object)
    cell, answer = np.unravel_index(int(counted.argmax()), counted.shape)
    if counted[cell, answer] <= part.bound("largest"):
        return part
    dual = np.zeros((workload.cells, workload.cells), dtype=np.int64)
    dual[cell, cell] = 1
    only = [Fraction(0)] * workload.answers
    only[answer] = Fraction(1)
    return replace(part, dual=IntegerMatrix(dual), multipliers=(), answer_weights=tuple(only))


def _denominator(workload: LinearWorkload, weights: Weights | None, shares: Weights) -> int:
    """That of V with these weights; multipliers are in its units."""
    if shares:
        ones = weights or (Fraction(1),) * len(shares)
        weights = tuple(share * one for share, one in zip(shares, ones, strict=True))
    return workload.gram(weights)[1]


def inverse_of(gram: IntegerMatrix) -> Precision:
    """G⁻¹ in whole numbers, with what it proves; improved by Newton's steps where it is small or else too rough."""
    size, rough = len(gram), gram.doubles()
    guess = np.linalg.inv(rough)
    guess = (guess + guess.T) / 2
    most = int(np.floor(log2(float(np.abs(guess).max())))) + 1
    bits = min(_WORD_BITS - 2 * size.bit_length(), _DOUBLE_BITS) - most
    inverse, denominator = _whole(guess, bits)
    for turn in range(_MOST_TURNS):
        distance = gram.distance_above(inverse, denominator)
        closeness = -(ceil(2 * distance * (1 << _MOST_CLOSE)) - 1).bit_length() + _MOST_CLOSE  # half: others may round
        if closeness >= (_CLOSE if size <= _LARGE else _CLOSE_ENOUGH) or turn == _MOST_TURNS - 1:
            break
        bits += _WORD_BITS
        doubled = 2 * denominator * inverse - inverse @ (gram @ inverse)
        shift = (1 << bits) // denominator
        inverse = IntegerMatrix((doubled.array() * shift) // denominator)
        denominator = 1 << bits
    return Precision(gram, inverse, denominator, min(closeness, _MOST_CLOSE))


def _whole(matrix: Floats, bits: int) -> tuple[IntegerMatrix, int]:
    """Doubles times 2^bits, rounded, and 2^bits."""
    whole = IntegerMatrix(np.rint(np.ldexp(matrix, bits)).astype(np.int64))
    return (whole, 1 << bits) if bits >= 0 else ((1 << -bits) * whole, 1)
