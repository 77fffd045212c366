"""Cartesian products with a loss that adds up over coordinates: each coordinate by its own best mechanism.

Theorem. Let the graph be the Cartesian product of factors, ℓ(w, x) = Σ_k ℓ_k(w_k, x_k), and the prior a product of
priors, or the objective the worst input. Then the least loss of all (ε, δ)-private mechanisms is the sum of the
factors' least losses, and independent draws from the factors' best mechanisms attain it. The proof is on
docs/theory/optimal_product.md.

Factors are solved by their theorems. Short ones that no theorem speaks of are solved by a linear program.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial
from itertools import product
from math import prod
from typing import Any

from leastnoise.designer.linear.solve import solve
from leastnoise.designer.result import Design
from leastnoise.exact import Enclosure
from leastnoise.mechanisms.designed.product_mechanism import ProductMechanism
from leastnoise.model import (
    LARGEST_CHANNEL,
    Certificate,
    Channel,
    DesignProblem,
    Loss,
    ProductCertificate,
    Reason,
    absolute,
    squared,
    zero_one,
)
from leastnoise.model.graphs.grids import factors_of

__all__ = ["recognise_product"]

Recogniser = Callable[[DesignProblem], Design | None]
_LARGEST_PROGRAM = 16  # nodes of a factor that a linear program may solve
_LARGEST_PRIOR = 1 << 16  # nodes for which a prior is looked at whether it is a product


def recognise_product(problem: DesignProblem, recognise: Recogniser) -> Design | None:
    """The optimal mechanism on a product where loss and prior are made of parts; None elsewhere.

    Args:
        problem: What is asked for.
        recognise: The theorems for the factors.

    >>> from leastnoise.designer.theorems.path import recognise_path
    >>> from leastnoise.model.design_problem import read_problem
    >>> recognise_product(read_problem("grid:3x3", "ln(2)"), recognise_path).loss
    Enclosure(10/9)
    """
    parts = _parts(problem)
    if parts is None:
        return None
    known: dict[DesignProblem, Design] = {}
    for part in parts:
        if part not in known:
            design = _best(part, recognise)
            if design is None:
                return None
            known[part] = design
    designs = [known[part] for part in parts]
    loss, bound = (_sum([getattr(design, name) for design in designs]) for name in ("loss", "lower_bound"))
    reason = Reason(
        "on a Cartesian product with a loss that adds up over independent coordinates the least loss is the sum of the "
        f"factors' least losses; here {designs[0].reason.theorem}",
        f"docs/theory/optimal_product.md; {designs[0].reason.citation}",
        bound,
    )
    uses = [list(known).index(part) for part in parts]
    prove = partial(_certificate, problem, list(known.values()), uses)
    mechanism = ProductMechanism(tuple(design.mechanism for design in designs), problem, reason, prove)
    gap = sum((design.gap for design in designs), start=Fraction(0))
    return Design(problem, mechanism, loss, bound, gap, reason, "theorem", partial(_channel, problem, designs), prove)


def _sum(enclosures: Sequence[Enclosure]) -> Enclosure:
    return Enclosure(
        sum((each.lower for each in enclosures), start=Fraction(0)),
        sum((each.upper for each in enclosures), start=Fraction(0)),
    )


def _parts(problem: DesignProblem) -> list[DesignProblem] | None:
    """The problem of each coordinate, if there are such."""
    factors = factors_of(problem.graph)
    if not factors or problem.outputs is not None or any(factor.size == 1 for factor in factors):
        return None
    losses: tuple[Loss | None, ...] = (None,) * len(factors)
    if problem.loss is not None:
        losses = problem.loss.parts
        if len(losses) != len(factors):
            return None
    priors = _factor_priors(problem, [factor.size or 0 for factor in factors])
    if priors is None:
        return None
    parts = [
        DesignProblem(factor, problem.privacy, own, loss, None, problem.objective, problem.reader)
        for factor, own, loss in zip(factors, priors, losses, strict=True)
    ]
    return parts if all(_is_never_negative(part) for part in set(parts)) else None


def _is_never_negative(part: DesignProblem) -> bool:
    """Markov's inequality, which the mechanism's error is stated by, needs it."""
    if part.loss is None or part.loss in (absolute, squared, zero_one):
        return True
    return part.graph.size is not None and part.graph.size <= 1000 and min(map(min, part.loss_table.rows)) >= 0


def _factor_priors(problem: DesignProblem, sides: Sequence[int]) -> tuple[tuple[Fraction, ...] | None, ...] | None:
    """The prior of each coordinate, None for a uniform one; None if they are not independent."""
    if problem.factor_priors is not None:
        return problem.factor_priors
    if problem.prior is None:
        return (None,) * len(sides)
    if len(problem.prior) > _LARGEST_PRIOR:
        return None
    sums = [[Fraction(0)] * side for side in sides]
    for weight, point in zip(problem.prior, product(*map(range, sides)), strict=True):
        for coordinate, value in enumerate(point):
            sums[coordinate][value] += weight
    if any(weight != prod(each) for weight, each in zip(problem.prior, product(*sums), strict=True)):
        return None
    return tuple(tuple(each) for each in sums)


def _best(part: DesignProblem, recognise: Recogniser) -> Design | None:
    known = recognise(part)
    if known is not None or part.graph.size is None or part.graph.size > _LARGEST_PROGRAM:
        return known
    return solve(part)


def _channel(problem: DesignProblem, designs: Sequence[Design]) -> Channel | None:
    """The product of the factors' channels, for small graphs."""
    size = problem.graph.size
    if size is None or size > LARGEST_CHANNEL:
        return None
    channels = [design.channel for design in designs]
    if any(channel is None for channel in channels):
        return None
    laws = [channel.rationals().rows for channel in channels if channel is not None]
    nodes: tuple[Any, ...] = tuple(problem.graph.nodes)
    rows = [
        [prod((law[x][y] for law, x, y in zip(laws, node, output, strict=True)), start=Fraction(1)) for output in nodes]
        for node in nodes
    ]
    return Channel(rows, nodes, nodes)


def _certificate(problem: DesignProblem, designs: Sequence[Design], uses: Sequence[int]) -> Certificate:
    parts = tuple(design.certificate for design in designs)
    return ProductCertificate.of_parts(problem.graph, problem.privacy, problem.objective, parts, tuple(uses))
