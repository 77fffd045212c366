"""From a linear workload to the best strategy: guessed in doubles, rounded to whole numbers, then judged exactly.

Candidates are the best strategy for one unit in one cell, noise on the cells, noise on the answers, a binary tree
over the cells, and mixtures of the first two. They are compared for the cells and rows that a unit may really have;
the winner is written in whole numbers, and its error, its bound and its privacy are computed from these
(docs/theory/strategy.md).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, lru_cache
from math import log2, prod

import numpy as np
from numpy.typing import NDArray

from leastnoise.errors import BadParameter, TooLarge
from leastnoise.exact.integer_matrices import IntegerMatrix
from leastnoise.exact.parameters import NumberLike, read_integer
from leastnoise.mechanisms.strategy.search import SearchResult, search
from leastnoise.model.limits import MOST_CELLS, MOST_GROUPS, MOST_ROWS_PER_UNIT
from leastnoise.model.linear_workloads import LinearWorkload, Weights
from leastnoise.model.strategies import (
    GOALS,
    Precision,
    StrategyPart,
    sensitivity_of,
    squared_sensitivity,
    strategy_bound,
    strategy_error,
)
from leastnoise.model.strategy_certificates import StrategyCertificate

__all__ = ["Strategy", "certified_part", "inverse_of", "plan_strategy"]

Floats = NDArray[np.float64]
_BITS = 24  # of an entry of the strategy
_INVERSE_BITS = 40
_DUAL_BITS = 46
_SMALLEST_WEIGHT = 1e-9  # in the search, relative to the largest: the strategy has to answer everything
_MIXTURES = (0.25, 0.5, 0.75)
_FINE = Fraction(1, 10**10)


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


@lru_cache(maxsize=16)
def _planned(
    workloads: tuple[LinearWorkload, ...], read: tuple[Weights | None, ...], goal: str, cells: int, rows: int
) -> Strategy:
    """The plan; many prices ask for the same one."""
    guesses = [_searched(workload, one, goal) for workload, one in zip(workloads, read, strict=True)]
    name, chosen = _best(workloads, read, guesses, goal, cells)
    parts = tuple(
        _exact_part(workload, one, guess, matrix)
        for workload, one, guess, matrix in zip(workloads, read, guesses, chosen, strict=True)
    )
    return Strategy(parts, goal, cells, rows, name)


def _searched(workload: LinearWorkload, weights: Weights | None, goal: str) -> SearchResult:
    if weights is None:
        return search(workload, largest=goal == "largest")
    rough = np.array([float(weight) for weight in weights])
    return search(workload, np.maximum(rough, rough.max() * _SMALLEST_WEIGHT), largest=goal == "largest")


def _best(
    workloads: Sequence[LinearWorkload],
    weights: Sequence[Weights | None],
    guesses: Sequence[SearchResult],
    goal: str,
    groups: int,
) -> tuple[str, list[Floats]]:
    """The candidate with the least error in doubles; for one cell per unit the search has found it."""
    name, chosen = "the best strategy for one cell per unit", [guess.matrix for guess in guesses]
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
    yield "the best strategy for one cell per unit", guess.matrix
    yield "noise on the cells", cells
    yield "noise on the answers", _scaled(basis, gram)
    for share in _MIXTURES:
        yield f"a mixture, {share:.0%} noise on the cells", _scaled(basis, (1 - share) * guess.matrix + share * cells)
    if workload.basis is None and size > 2:
        yield "a binary tree", _scaled(basis, _tree(size))


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
        (workload, IntegerMatrix(np.rint(np.ldexp(matrix, 40)).astype(np.int64).tolist(), len(matrix)))
        for workload, matrix in zip(workloads, matrices, strict=True)
    ]
    return float(squared_sensitivity(parts, groups)) / 2.0 ** (40 * len(parts))


def _exact_part(workload: LinearWorkload, weights: Weights | None, guess: SearchResult, matrix: Floats) -> StrategyPart:
    """The whole strategy nearest to a guess."""
    root = np.linalg.cholesky(matrix[::-1, ::-1])[::-1, ::-1].T  # lower: row i needs no cell after i
    scale = 2.0**_BITS if workload.basis is None else 2.0 ** (_BITS - np.floor(np.log2(np.abs(root).max())))
    return certified_part(workload, weights, guess, _rounded(root * scale))


def certified_part(
    workload: LinearWorkload, weights: Weights | None, guess: SearchResult, strategy: tuple[tuple[int, ...], ...]
) -> StrategyPart:
    """A whole strategy with what proves its error and, from the search, what no strategy beats."""
    gram = IntegerMatrix(strategy).transposed() @ IntegerMatrix(strategy)
    inverse, precision = inverse_of(gram)
    shares: Weights = ()
    top = 1.0
    if guess.weights is not None:
        top = float(guess.weights.max())
        shares = tuple(Fraction(max(int(weight * 2.0**40 / top), 1), 2**40) for weight in guess.weights)
    bits = _DUAL_BITS - int(np.ceil(np.log2(np.abs(guess.dual).max())))
    factor = 2.0 ** (2 * bits) / top * float(_denominator(workload, weights, shares))
    multipliers: tuple[int, ...] = ()
    if workload.basis is not None:
        multipliers = tuple(int(Fraction(float(u) * factor)) for u in guess.multipliers)
    part = StrategyPart(
        workload,
        weights,
        strategy,
        inverse,
        precision.denominator,
        dual=_triangle(_rounded(np.ldexp(guess.dual, bits))),
        multipliers=multipliers,
        answer_weights=shares,
    )
    part.__dict__.update(gram=gram, precision=precision)  # computed from the same numbers just now
    return part


def _denominator(workload: LinearWorkload, weights: Weights | None, shares: Weights) -> int:
    """That of V with these weights; multipliers are in its units."""
    if shares:
        ones = weights or (Fraction(1),) * len(shares)
        weights = tuple(share * one for share, one in zip(shares, ones, strict=True))
    return workload.gram(weights)[1]


def _rounded(matrix: Floats) -> tuple[tuple[int, ...], ...]:
    return tuple(tuple(map(int, row)) for row in np.rint(matrix).tolist())


def _triangle(rows: Sequence[Sequence[int]]) -> tuple[tuple[int, ...], ...]:
    return tuple(tuple(row[: i + 1]) for i, row in enumerate(rows))


def inverse_of(gram: IntegerMatrix) -> tuple[tuple[tuple[int, ...], ...], Precision]:
    """The lower triangle of G⁻¹ in whole numbers, and what it proves.

    It is improved by Newton's steps until what it leaves open hardly counts.
    """
    guess = np.linalg.inv(gram.array().astype(float))
    bits = _INVERSE_BITS - int(np.floor(log2(float(np.abs(guess).max()))))
    rows, denominator = _rounded_long(guess, bits), 1 << bits
    for turn in range(4):
        precision = Precision.of(gram, IntegerMatrix.symmetric(_triangle(rows)), denominator)
        trace = sum(int(rows[i][i]) for i in range(len(rows)))
        if turn == 3 or precision.slack * len(rows) <= _FINE * Fraction(trace, denominator):
            break
        bits += _INVERSE_BITS
        middle, shift = precision.middle().array(), (1 << bits) // denominator
        rows = tuple(tuple(int(e) * shift // denominator for e in row) for row in middle)
        denominator = 1 << bits
    return _triangle(rows), precision


def _rounded_long(matrix: Floats, bits: int) -> tuple[tuple[int, ...], ...]:
    """Doubles times a power of two, as whole numbers of any size."""
    return tuple(tuple(map(int, row)) for row in np.rint(np.ldexp(matrix, bits)).tolist())
