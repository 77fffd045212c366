"""Is there a best mechanism at all? With any datasets fixed, a few linear programs decide it, with a witness if not.

A best mechanism attains the largest possible value of every prefix sum at every dataset at once, and then it is what
maximises their total. So maximise the total; if some prefix sum could still be larger, a mechanism with that one at its
largest is a second one that nothing dominates, and two of those rule out a best one (Gu et al. 2024, Example 1, shows
that this happens where boundary datasets of one region differ).

Most prefix sums need no program: from a dataset to its neighbour the probability of a set of colours grows to
min{1, λs + δ, 1 − (1 − s − δ)/λ} at most, which is growing in s. So d steps from a fixed dataset it is at most that map
d times over, and what attains this bound is the largest.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from leastnoise.errors import BadBoundary, BadParameter
from leastnoise.exact import NumberLike
from leastnoise.mechanisms.rainbow.private_program import (
    PrivateProgram,
    ProgramEntry,
    ProgramSolution,
    ProgramTerm,
    UtilityLike,
    read_utility,
)
from leastnoise.mechanisms.rainbow.rainbow_graph import Rainbow, RainbowGraph
from leastnoise.mechanisms.rainbow.rainbow_operator import Operator, read_distribution
from leastnoise.model import (
    Channel,
    DominanceCertificate,
    Multiplier,
    NoOptimumCertificate,
    PrefixProof,
    PriorLike,
    Privacy,
    read_prior,
)

__all__ = ["BestMechanism", "NoBestMechanism", "best_for", "find_best", "prove_best"]

FixedRows = Mapping[Hashable, Sequence[NumberLike]]


@dataclass(frozen=True)
class BestMechanism:
    """It dominates every private mechanism with the same fixed datasets."""

    channel: Channel


@dataclass(frozen=True)
class NoBestMechanism:
    """Two private mechanisms that no private mechanism dominates: so none is best.

    Attributes:
        first: Has the largest total of all prefix sums.
        second: Is more likely than `first` to be among the `among` best colours at `dataset`.
        dataset: Where they disagree.
        among: How many of the best colours.
    """

    first: Channel
    second: Channel
    dataset: Hashable
    among: int


def find_best(
    rainbow_graph: RainbowGraph, fixed: FixedRows, epsilon: NumberLike, delta: NumberLike = 0
) -> BestMechanism | NoBestMechanism:
    """The best mechanism with some datasets fixed, or two that rule it out.

    Args:
        rainbow_graph: A small graph: one linear program per free dataset and colour is solved exactly.
        fixed: {dataset: its distribution, its own best colour first}.
        epsilon: The privacy of one release.
        delta: The same; may be zero.

    Raises:
        BadBoundary: No private mechanism has these distributions there.

    >>> from leastnoise.model.graphs import cycle
    >>> five = RainbowGraph(cycle(5), lambda n: (1, 3, 2) if n == 4 else (1, 2, 3))
    >>> found = find_best(five, {0: [0.2, 0.1, 0.7], 3: [0.4, 0.1, 0.5]}, "ln(2)")
    >>> type(found).__name__, found.dataset, found.among
    ('NoBestMechanism', 2, 1)
    """
    task = _Task(rainbow_graph, fixed, Operator(epsilon, delta))
    goals = task.goals()
    total = [term for goal in goals.values() for term in goal]
    first = task.solve(total)
    bounds = task.bounds(goals)
    for (place, among), goal in goals.items():
        if task.value(goal, first) == bounds.get((place, among)):
            continue
        largest = task.value(goal, task.solve(goal))
        if largest > task.value(goal, first):
            task.program.equal(goal, largest)  # of those with the largest, one that nothing dominates
            second = task.solve(total)
            dataset = rainbow_graph.graph.nodes[place]
            return NoBestMechanism(task.channel(first), task.channel(second), dataset, among)
    return BestMechanism(task.channel(first))


def prove_best(
    rainbow_graph: RainbowGraph, fixed: FixedRows, epsilon: NumberLike, delta: NumberLike = 0
) -> DominanceCertificate | NoOptimumCertificate:
    """What `find_best` finds, as a certificate that `check` confirms without a solver.

    Args:
        rainbow_graph: A small graph.
        fixed: {dataset: its distribution, its own best colour first}.
        epsilon: Its e^epsilon must be rational, as in "ln(2)", for the best probabilities are rational only then.
        delta: May be zero.

    >>> from leastnoise.checker import check
    >>> from leastnoise.model.graphs import cycle
    >>> five = RainbowGraph(cycle(5), lambda n: (1, 3, 2) if n == 4 else (1, 2, 3))
    >>> print(check(prove_best(five, {0: [0.2, 0.1, 0.7], 3: [0.4, 0.1, 0.5]}, "ln(2)")).headline())
    the no-optimum certificate holds
    """
    operator = Operator(epsilon, delta)
    if not operator.is_exact:
        raise BadParameter(
            "a certificate of a best mechanism needs a rational e^epsilon",
            given=epsilon,
            fix='write for example "ln(2)"',
        )
    found = find_best(rainbow_graph, fixed, epsilon, delta)
    task, graph = _Task(rainbow_graph, fixed, operator), rainbow_graph.graph
    goals, privacy = task.goals(), Privacy(epsilon, delta)
    places = tuple(place for place, law in enumerate(task.laws) if not isinstance(law[0], tuple))
    if isinstance(found, NoBestMechanism):
        return NoOptimumCertificate(
            graph,
            privacy,
            found.first,
            found.second,
            preferences=task.preferences(),
            fixed=places,
            place=graph.index(found.dataset),
            among=found.among,
            multipliers=task.multipliers([term for goal in goals.values() for term in goal]),
        )
    bounds, rows = task.bounds(goals), found.channel.matrix().tolist()
    proofs = [
        PrefixProof(place, among, task.multipliers(goal))
        for (place, among), goal in goals.items()
        if sum(rows[place][y] for y in task.preferences()[place][:among]) != bounds.get((place, among))
    ]
    return DominanceCertificate(graph, privacy, found.channel, task.preferences(), places, tuple(proofs))


def best_for(
    rainbow_graph: RainbowGraph,
    fixed: FixedRows,
    epsilon: NumberLike,
    delta: NumberLike = 0,
    *,
    utility: UtilityLike = "best colour",
    prior: PriorLike | None = None,
) -> Channel:
    """The private mechanism with some datasets fixed that has the largest expected utility, whether a best one exists.

    Args:
        rainbow_graph: A small graph.
        fixed: {dataset: its distribution, its own best colour first}; may be empty.
        epsilon: The privacy of one release.
        delta: The same; may be zero.
        utility: "best colour", "rank", or what each rank is worth, best first, not increasing.
        prior: How likely each dataset is; all alike if left out.

    >>> from leastnoise.model.graphs import path
    >>> votes = RainbowGraph(path(2), {0: ("no", "yes"), 1: ("yes", "no")})
    >>> best_for(votes, {}, "ln(3)").row(0)
    (Fraction(3, 4), Fraction(1, 4))
    """
    task = _Task(rainbow_graph, fixed, Operator(epsilon, delta))
    worth = read_utility(utility, len(rainbow_graph.colours))
    nodes = tuple(rainbow_graph.graph.nodes)
    weights = [Fraction(1)] * len(nodes) if prior is None else read_prior(prior, nodes)
    gain: list[ProgramTerm] = [
        (weight * value, entry)
        for weight, law in zip(weights, task.laws, strict=True)
        for value, entry in zip(worth, law, strict=True)
    ]
    return task.channel(task.solve(gain))


class _Task:
    """The program whose solutions are the private mechanisms, and each dataset's law, its own best colour first."""

    def __init__(self, rainbow_graph: RainbowGraph, fixed: FixedRows, operator: Operator) -> None:
        self.rainbow_graph, self.program, self._operator = rainbow_graph, PrivateProgram(), operator
        for dataset in fixed:
            rainbow_graph.graph.index(dataset)
        count = len(rainbow_graph.colours)
        self.laws: list[list[ProgramEntry]] = []
        for place, node in enumerate(rainbow_graph.graph.nodes):
            law: list[ProgramEntry] = [("law", place, rank) for rank in range(count)]
            if node in fixed:
                law = [*read_distribution(fixed[node], f"the distribution of {node!r}", count)]
            self.laws.append(law)
            self.program.distribution(law)
        self._rows: dict[int, tuple[int, int, int]] = {}
        for i, j in rainbow_graph.graph.edges().tolist():
            there, back = self.program.close(self._by_colour(i), self._by_colour(j), operator)
            for pair, rows in (((i, j), there), ((j, i), back)):
                self._rows |= {row: (*pair, colour) for colour, row in enumerate(rows)}

    def _by_colour(self, place: int) -> list[ProgramEntry]:
        law = dict(zip(self._rainbow(place), self.laws[place], strict=True))
        return [law[colour] for colour in self.rainbow_graph.colours]

    def _rainbow(self, place: int) -> Rainbow:
        return self.rainbow_graph.rainbows[int(self.rainbow_graph.regions[place])]

    def goals(self) -> dict[tuple[int, int], list[ProgramTerm]]:
        """For each free dataset and each k below the number of colours, the prefix sum of the k best."""
        free = [(place, law) for place, law in enumerate(self.laws) if isinstance(law[0], tuple)]
        return {(place, k): [(1, entry) for entry in law[:k]] for place, law in free for k in range(1, len(law))}

    def bounds(self, goals: Iterable[tuple[int, int]]) -> dict[tuple[int, int], Fraction]:
        """What each prefix sum is at most, by its distance to each fixed dataset."""
        distances = self.rainbow_graph.graph.distances()
        fixed = [place for place, law in enumerate(self.laws) if not isinstance(law[0], tuple)]
        bounds: dict[tuple[int, int], Fraction] = {}
        for place, among in goals:
            colours = set(self._rainbow(place)[:among])
            for other in fixed:
                law = zip(self._rainbow(other), self.laws[other], strict=True)
                most = sum((_number(entry, {}) for colour, entry in law if colour in colours), start=Fraction(0))
                for _ in range(int(distances[place, other])):
                    most = self._operator.raise_sum(most)
                bounds[place, among] = min(most, bounds.get((place, among), most))
        return bounds

    def solve(self, goal: list[ProgramTerm]) -> ProgramSolution:
        """The private mechanism with the largest Σ coefficient·entry."""
        found = self.program.maximise(goal)
        if found is None:
            raise BadBoundary(
                "no private mechanism has these distributions at the fixed datasets",
                given=f"{sum(not isinstance(law[0], tuple) for law in self.laws)} fixed datasets",
                fix="fix fewer, or bring them closer together",
            )
        return found

    def multipliers(self, goal: list[ProgramTerm]) -> tuple[Multiplier, ...]:
        """What proves that no private mechanism has a larger Σ coefficient·entry."""
        prices = self.program.prices(goal)
        if prices is None:
            raise ValueError("the program was solved before")
        return tuple(Multiplier(*place, prices[row]) for row, place in self._rows.items() if prices[row])

    def preferences(self) -> tuple[tuple[int, ...], ...]:
        """For each dataset the places of the colours, its best first."""
        places = {colour: place for place, colour in enumerate(self.rainbow_graph.colours)}
        return tuple(tuple(places[colour] for colour in self._rainbow(x)) for x in range(len(self.laws)))

    def value(self, goal: list[ProgramTerm], solution: ProgramSolution) -> Fraction:
        """Σ coefficient·entry at a solution."""
        return sum((factor * _number(entry, solution) for factor, entry in goal), start=Fraction(0))

    def channel(self, solution: ProgramSolution) -> Channel:
        """A solution as a channel from datasets to colours."""
        rows = [[_number(entry, solution) for entry in self._by_colour(place)] for place in range(len(self.laws))]
        return Channel(rows, tuple(self.rainbow_graph.graph.nodes), self.rainbow_graph.colours)


def _number(entry: ProgramEntry, solution: ProgramSolution) -> Fraction:
    return solution[entry] if isinstance(entry, tuple) else entry
