"""Gu et al. 2024: generalized rainbow differential privacy, its claims and its figures 3, 4 and 5, recomputed."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise, product
from pathlib import Path
from typing import Any

from leastnoise.checker import check
from leastnoise.model.channel import Channel
from leastnoise.model.graphs import cycle, path
from leastnoise.rainbow import (
    NoBestMechanism,
    Operator,
    RainbowGraph,
    after,
    find_best,
    optimal_mechanism,
    switch_times,
)
from leastnoise.release.pictures import GREY, make_picture_folder, picture
from papers.claims import Claim, Paper, all_of
from papers.rainbow_optimality import optimality_claims

__all__ = [
    "BOUNDARY",
    "PAPER",
    "PRINTED_SWITCH_TIMES",
    "draw_figures",
    "example_one",
    "needed_delta",
]

_EPSILON = "ln(6/5)"
# The last number is printed as 0.5822, "1 minus all the other values", which are rounded as well.
BOUNDARY = ("0.0005", "0.0081", "0.1364", "0.2727", "0.5823")
PRINTED_SWITCH_TIMES = {"0": (38, 22, 7, 1, 0), "1/1000": (25, 20, 7, 1, 0), "1/100": (13, 12, 6, 1, 0)}
_STEPS = 50
_COLUMNS = ((True, "as published"), (False, "put right"))


def claims() -> Iterator[Claim]:
    """In the order of the text."""
    yield _example_one()
    yield _operator_is_close()
    yield _line_is_optimal()
    for figure, (delta, times) in enumerate(PRINTED_SWITCH_TIMES.items(), start=3):
        computed = switch_times(Operator(_EPSILON, delta), BOUNDARY)
        yield Claim(
            f"Figure {figure}", f"at δ = {delta} the switch times are {times}", f"{computed}", computed == times
        )
    yield _closed_form()
    yield from optimality_claims()


PAPER = Paper("rainbow", "Gu et al., Generalized rainbow differential privacy, 2024", claims)


def example_one(epsilon: str) -> tuple[RainbowGraph, NoBestMechanism | None]:
    """The five-cycle of Example 1 at an ε, and the two mechanisms that rule out a best one, if there are such."""
    five = RainbowGraph(cycle(5), lambda n: (1, 3, 2) if n == 4 else (1, 2, 3))
    found = find_best(five, {0: [0.2, 0.1, 0.7], 3: [0.4, 0.1, 0.5]}, epsilon)
    return five, found if isinstance(found, NoBestMechanism) else None


def needed_delta(one: tuple[Fraction, ...], other: tuple[Fraction, ...], epsilon: str) -> Fraction:
    """The δ that two neighbours with these laws need at an ε, by the checker."""
    verdict = check(Channel([one, other]), path(2), epsilon)
    delta = verdict.tight_delta
    return delta if isinstance(delta, Fraction) else delta.upper


def _example_one() -> Claim:
    _, as_printed = example_one("2")
    _, as_meant = example_one("ln(2)")
    return Claim(
        "Example 1",
        "at ε = 2 valid mechanisms exist and none is best",
        "one is best" if as_printed is None else "two undominated mechanisms",
        as_printed is not None,
        "" if as_meant is None else "at e^ε = 2 it holds: two undominated mechanisms are found",
    )


def _operator_is_close() -> Claim:
    """Lemma 1, part 1, on a grid of distributions; the checker says which δ is needed."""
    tenths = [Fraction(n, 10) for n in range(11)]

    def holds(p: Fraction, delta: str) -> bool:
        law = (p, 1 - p)
        return needed_delta(law, Operator(_EPSILON, delta, published=True)(law), _EPSILON) <= Fraction(delta)

    cases = ((f"p = ({float(p)}, {float(1 - p)}), δ = {d}", holds(p, d)) for d, p in product(("0", "1/100"), tenths))
    return all_of(
        "Lemma 1",
        "T(p) is (ε, δ)-close to p",
        cases,
        "min{1, λs + δ, 1 − (1 − s − δ)/λ} is; the printed operator needs up to λδ",
    )


def _line_is_optimal() -> Claim:
    """Theorems 2 and 4 with the operator put right: private on a path, for several boundaries."""

    def private(delta: str, top: str) -> bool:
        votes = RainbowGraph(path(12), lambda n: ("a", "b") if n < 5 else ("b", "a"))
        best = optimal_mechanism(votes, {c: [top, 1 - Fraction(top)] for c in votes.rainbows}, _EPSILON, delta)
        return bool(check(best.channel(), votes.graph, _EPSILON, delta))

    cases = product(("0", "1/100"), ("1/2", "6/11"))
    says = "with the operator put right, the mechanism of Theorem 2 is (ε, δ)-private"
    return all_of("Theorem 2", says, ((f"δ = {delta}, m = {top}", private(delta, top)) for delta, top in cases))


def _closed_form() -> Claim:
    delta = Fraction(1, 100)
    printed = Operator(_EPSILON, delta, published=True)
    steps = [printed.iterate(BOUNDARY, t) for t in (9, 10)]
    needed = needed_delta(steps[0], steps[1], _EPSILON)
    return Claim(
        "(22)",
        "at δ = 1/100 the tenth step of Figure 5 is (ε, δ)-close to the ninth",
        f"it needs δ = {needed}",
        needed <= delta,
        "the second line has ρ in place of e^ε·ρ",
    )


def draw_figures(directory: str | Path) -> Path:
    """Figures 3, 4 and 5 in one picture, published and corrected curves side by side; returns its path."""
    target = make_picture_folder(directory) / "rainbow_figures.svg"
    with picture(target, (9, 9)) as figure:
        grid = figure.subplots(3, 2, sharex=True, sharey=True)
        for row, (number, delta) in enumerate(zip((3, 4, 5), PRINTED_SWITCH_TIMES, strict=True)):
            for column, (published, name) in enumerate(_COLUMNS):
                needed = _draw(grid[row][column], Operator(_EPSILON, delta, published=published))
                grid[row][column].set_title(f"Figure {number}, δ = {delta}, {name}: needs δ = {float(needed):.4g}")
        grid[2][1].legend(loc="center right")
        for column in (0, 1):
            grid[2][column].set_xlabel("distance t to the boundary")
    return target


def _draw(axes: Any, operator: Operator) -> Fraction:
    """P(M(t) = k) for every colour, with the switch times as dashed lines; returns the δ that the worst step needs."""
    walk = [_law(operator, t) for t in range(_STEPS + 1)]
    for k, curve in enumerate(zip(*walk, strict=True), start=1):
        axes.plot(range(_STEPS + 1), [float(p) for p in curve], label=f"k = {k}")
    for time in switch_times(Operator(operator.epsilon, operator.delta), BOUNDARY):
        axes.axvline(time, color=GREY, linewidth=0.6, linestyle="--")
    axes.set(xlim=(0, _STEPS), ylim=(-0.02, 1.02), ylabel="P(M(t) = k)")
    return max(needed_delta(a, b, _EPSILON) for a, b in pairwise(walk))


def _law(operator: Operator, steps: int) -> tuple[Fraction, ...]:
    return operator.iterate(BOUNDARY, steps) if operator.published else after(operator, BOUNDARY, steps)
