"""The best private mechanism there is: by a theorem if one applies, else by a linear program, with its proof."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable

from leastnoise.designer.linear.clock import Clock, DesignProgress
from leastnoise.designer.result import Design
from leastnoise.errors import BadParameter, InfiniteGraph
from leastnoise.exact import NumberLike, read_rational
from leastnoise.model import Loss, PriorLike, ProductPrior, read_problem
from leastnoise.model.graphs import DatasetGraph

__all__ = ["design"]

_ROUTES = ("theorem", "symmetry", "lp")


def design(
    graph: DatasetGraph | str,
    epsilon: NumberLike,
    delta: NumberLike = 0,
    prior: PriorLike | ProductPrior | None = None,
    loss: Loss | None = None,
    outputs: Iterable[Hashable] | None = None,
    objective: str = "average",
    reader: str = "rational",
    time_limit: float | None = None,
    progress: Callable[[DesignProgress], object] | None = None,
    route: str | None = None,
) -> Design:
    """Find the private mechanism with the least loss on a graph, and prove that none is better.

    Args:
        graph: The inputs and which are neighbours, or a metric; text such as "path:20" works too.
        epsilon: The promise, exact: 0.1 is one tenth, "ln(3)" is ln 3. Where e^ε is rational the gap can be 0.
        delta: The promise, exact.
        prior: How likely each input is; all alike if left out. `channels.independent(…)` for coordinates of a product.
        loss: ℓ(output, input); the distance in the graph if left out.
        outputs: What may be answered; the loss's guesses or the nodes if left out.
        objective: "average" under the prior, or "worst": the largest expected loss of an input.
        reader: "fixed" takes outputs at their word; "rational" may say something else on seeing one. A mechanism that
            answers with the reader's own best guess costs both the same, so where outputs are the guesses the optimum
            is the same, too.
        time_limit: Seconds after which the best mechanism found so far is returned, with the gap that is proven. On a
            metric of 46 to 58 places a limit below 60 asks for a gap of about one percent, which takes a second or
            two; without it the exact program is solved (50 places: about ten seconds). More places always get a gap.
        progress: Called with a `DesignProgress` now and then.
        route: Insist on "theorem", "symmetry" (orbits of pairs) or "lp" (every pair its own); by default the first of
            them that applies.

    Raises:
        BadParameter: ε, δ or a word is out of range, requests contradict each other, or no theorem applies where the
            route insists on one.
        InfiniteGraph: The graph is infinite and no theorem applies.
        TooLarge: The linear program would be too large; the text says how large, and what to do.

    >>> best = design("path:3", "ln(2)")
    >>> best.loss, best.gap, best.mechanism.pmf(1, truth=1)
    (Enclosure(5/9), Fraction(0, 1), Enclosure(1/3))
    """
    problem = read_problem(graph, epsilon, delta, prior, loss, outputs, objective, reader)
    limit = None if time_limit is None else float(read_rational(time_limit, "time_limit", above=0))
    if route is not None and (not isinstance(route, str) or route not in _ROUTES):
        raise BadParameter("the route is unknown", given=route, fix=f"use one of {', '.join(_ROUTES)}")
    if progress is not None and not callable(progress):
        raise BadParameter("progress must be a function", given=progress, fix="pass for example progress=print")
    if route in (None, "theorem"):
        from leastnoise.designer.theorems import (
            recognise,  # mechanisms come with it, which a linear program never needs
        )

        known = recognise(problem)
        if known is not None:
            return known
        if route == "theorem":
            raise BadParameter("no theorem gives the optimum here", given=problem.graph.name, fix="leave the route out")
    if problem.graph.size is None:
        raise InfiniteGraph(
            "no theorem gives the optimum on this infinite graph",
            given=f"{problem.graph.name}, loss {problem.loss_name}, objective {problem.objective}",
            fix="use a finite part of it, such as path(100)",
        )
    from leastnoise.designer.linear.solve import solve  # imported here: what a theorem answers needs no SciPy

    return solve(problem, Clock(limit, progress), reduce=route != "lp")
