"""Choosing the boundary, which the theory of rainbow mechanisms takes as given.

T^t raises each prefix sum by an increasing concave function that is a least of affine ones. So for a utility that never
prefers a worse colour, the utility of the whole mechanism is the value of a linear program in the boundary's
distributions, and one more program chooses them. Where all regions touch and only the best colour counts, the answer is
randomized response (docs/theory/best_boundary.md).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import combinations, pairwise

from leastnoise.errors import BadBoundary, BadParameter
from leastnoise.exact import NumberLike, read_integer, read_rational
from leastnoise.mechanisms.rainbow.boundary import Boundary
from leastnoise.mechanisms.rainbow.private_program import (
    PrivateProgram,
    ProgramEntry,
    ProgramTerm,
    UtilityLike,
    read_utility,
)
from leastnoise.mechanisms.rainbow.rainbow_graph import Rainbow, RainbowGraph, read_rainbows
from leastnoise.mechanisms.rainbow.rainbow_operator import Distribution, Operator

__all__ = ["best_boundary", "randomized_response", "response_boundary"]


def randomized_response(operator: Operator, count: int) -> Distribution:
    """The best of `count` colours with (λ + (count − 1)δ)/(λ + count − 1), each other with (1 − δ)/(λ + count − 1).

    Where `count` regions with different best colours all touch, no (ε, δ)-private boundary gives the best colour more
    often on average (docs/theory/best_boundary.md; Kairouz, Oh and Viswanath 2014 for δ = 0).

    >>> randomized_response(Operator("ln(3)", "1/10"), 3)
    (Fraction(16, 25), Fraction(9, 50), Fraction(9, 50))
    """
    factor, delta = operator.factor, operator.delta
    spread = factor + count - 1
    return ((factor + (count - 1) * delta) / spread, *[(1 - delta) / spread] * (count - 1))


def response_boundary(rainbows: Sequence[Rainbow], epsilon: NumberLike, delta: NumberLike = 0) -> Boundary:
    """Randomized response among the best colours of the rainbows; colours that are nobody's best are not answered.

    It is private whichever regions touch, and the best for the probability of the best colour if all of them do.

    >>> response_boundary([("a", "b", "c"), ("b", "a", "c")], "ln(3)")[("b", "a", "c")]
    (Fraction(3, 4), Fraction(1, 4), Fraction(0, 1))
    """
    rainbows = read_rainbows(rainbows)
    tops = list(dict.fromkeys(rainbow[0] for rainbow in rainbows))
    if len(tops) < 2:
        raise BadBoundary("every rainbow has the same best colour", given=tops, fix="answer it always")
    best, other = randomized_response(Operator(epsilon, delta), len(tops))[:2]
    return {
        rainbow: tuple(best if colour == rainbow[0] else other if colour in tops else Fraction(0) for colour in rainbow)
        for rainbow in rainbows
    }


def best_boundary(
    regions: RainbowGraph | Sequence[Rainbow],
    epsilon: NumberLike,
    delta: NumberLike = 0,
    *,
    utility: UtilityLike = "best colour",
    masses: Mapping[Rainbow, Mapping[int, NumberLike]] | None = None,
) -> Boundary:
    """The homogeneous boundary whose optimal mechanism has the largest expected utility, by an exact linear program.

    Args:
        regions: A rainbow graph, whose regions touch as they do, or a list of rainbows that all touch.
        epsilon: The privacy of one release.
        delta: The same; may be zero.
        utility: "best colour", "rank", or what each rank is worth, best first, not increasing.
        masses: How much the datasets of each rainbow at each distance count: {rainbow: {distance: mass}}. By default
            all boundaries count the same and nothing else does.

    >>> best_boundary([("yes", "no"), ("no", "yes")], "ln(3)", "1/10")[("yes", "no")]
    (Fraction(31, 40), Fraction(9, 40))
    """
    operator = Operator(epsilon, delta)
    if isinstance(regions, RainbowGraph):
        rainbows, touching = regions.rainbows, sorted(regions.touching)
    else:
        rainbows = read_rainbows(regions)
        touching = list(combinations(range(len(rainbows)), 2))
    colours = rainbows[0]
    program = PrivateProgram()
    laws: dict[Rainbow, list[ProgramEntry]] = {}
    for number, rainbow in enumerate(rainbows):
        laws[rainbow] = [("law", number, rank) for rank in range(len(colours))]
        program.distribution(laws[rainbow])
    by_colour = {rainbow: dict(zip(rainbow, law, strict=True)) for rainbow, law in laws.items()}
    for one, other in touching:
        near, far = ([by_colour[rainbows[number]][colour] for colour in colours] for number in (one, other))
        program.close(near, far, operator)
    gains = [better - worse for better, worse in pairwise(read_utility(utility, len(colours)))]
    objective: list[ProgramTerm] = []
    for rainbow, law in laws.items():
        mass = _read_masses(masses, rainbow)
        for rank, gain in enumerate(gains):
            if gain:
                sums = _line(program, [(1, entry) for entry in law[: rank + 1]], max(mass), operator, (rainbow, rank))
                objective += [(gain * weight * factor, e) for t, weight in mass.items() for factor, e in sums[t]]
    found = program.maximise(objective)
    if found is None:
        raise AssertionError("the uniform distribution everywhere is always private")
    return {
        rainbow: tuple(found["law", number, rank] for rank in range(len(colours)))
        for number, rainbow in enumerate(rainbows)
    }


def _line(
    program: PrivateProgram, start: list[ProgramTerm], depth: int, operator: Operator, name: tuple[Rainbow, int]
) -> list[list[ProgramTerm]]:
    """A prefix sum at distances 0..depth: variables that T bounds from above, and that the objective pushes up."""
    factor, delta = operator.factor, operator.delta
    sums = [start]
    for t in range(1, depth + 1):
        raised: ProgramEntry = ("sum", *name, t)
        before = sums[-1]
        program.at_most([(1, raised)], 1)
        program.at_most([(1, raised), *((-factor * c, entry) for c, entry in before)], delta)
        program.at_most([(factor, raised), *((-c, entry) for c, entry in before)], factor - 1 + delta)
        sums.append([(1, raised)])
    return sums


def _read_masses(masses: Mapping[Rainbow, Mapping[int, NumberLike]] | None, rainbow: Rainbow) -> dict[int, Fraction]:
    if masses is None:
        return {0: Fraction(1)}
    if not masses.get(rainbow):
        raise BadParameter("masses must be given for every rainbow", given=rainbow, fix="pass {rainbow: {0: 1}}")
    return {
        read_integer(t, "distance", at_least=0): read_rational(mass, "mass", at_least=0)
        for t, mass in masses[rainbow].items()
    }
