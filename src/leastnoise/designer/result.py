"""What a design hands back: the mechanism, its loss, what no mechanism can beat, and the proof."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any, Literal, TypeAlias

from leastnoise.exact import Enclosure, Source
from leastnoise.model import Certificate, Channel, DesignProblem, Mechanism, Reason, brief, html_table

__all__ = ["Design", "Route"]

Route: TypeAlias = Literal["theorem", "symmetry", "lp"]

_ROUTES = {"theorem": "a theorem", "symmetry": "a linear program over orbits", "lp": "a linear program"}
_DIGITS = 12
_MOST_NODES = 16  # whose law is shown as a table


@dataclass(frozen=True)
class Design:
    """The best mechanism for a problem, and why it is.

    Attributes:
        problem: What was asked.
        mechanism: It can be drawn from, released, planned and checked like any other.
        loss: Its expected loss, or the largest of an input; both ends are equal where it is rational and known.
        lower_bound: What no private mechanism can beat.
        gap: No less than loss − lower_bound; 0 is proven optimality.
        reason: The theorem, or what the proof consists of.
        route: How it was found: "theorem", "symmetry" (a linear program over orbits) or "lp".
        make_channel: Writes the law down as a matrix; called when `channel` is first asked for.
        make_certificate: Writes the proof down; called when `certificate` is first asked for.
    """

    problem: DesignProblem
    mechanism: Mechanism
    loss: Enclosure
    lower_bound: Enclosure
    gap: Fraction
    reason: Reason
    route: Route
    make_channel: Callable[[], Channel | None] = field(repr=False, compare=False)
    make_certificate: Callable[[], Certificate] = field(repr=False, compare=False)

    @cached_property
    def channel(self) -> Channel | None:
        """The law as an exact matrix, outputs after the reader's remap; None where that is too large or infinite.

        By a theorem at an irrational e^ε it is the law at a rational just below: private, with a loss that is above the
        least by less than 1e-12 of it.
        """
        return self.make_channel()

    @cached_property
    def certificate(self) -> Certificate:
        """The proof, for `leastnoise.check`."""
        return self.make_certificate()

    @property
    def is_optimal(self) -> bool:
        """Whether the proof leaves no gap at all."""
        return self.gap == 0

    def release(self, truth: Any, source: Source | None = None) -> Any:
        """One draw at the truth, with unpredictable noise only."""
        return self.mechanism.release(truth, source)

    def __repr__(self) -> str:
        """Where, how private, at what loss."""
        found = "optimal" if self.is_optimal else f"gap ≤ {float(self.gap):.2g}"
        where = f"{self.problem.graph.name}, {self.problem.privacy}"
        return f"Design({where}, loss ≈ {float(self.loss):.12g}, {found}, by {self.route})"

    def headline(self) -> str:
        """Where, how private, at what loss, and what is proven, in one line."""
        problem = self.problem
        proven = "optimal, proven" if self.is_optimal else f"within {float(self.gap):.2g} of the optimum, proven"
        kind = "expected" if problem.objective == "average" else "worst expected"
        loss = brief(self.loss, _DIGITS)
        return f"{problem.graph.name}, {problem.privacy}: {kind} {problem.loss_name} loss {loss}, {proven}"

    def rows(self) -> list[tuple[str, str]]:
        """What was found and why, as pairs of a name and a text."""
        return [
            ("mechanism", self.mechanism.name),
            ("loss", brief(self.loss, _DIGITS)),
            ("lower bound", brief(self.lower_bound, _DIGITS)),
            ("gap", "0" if self.gap == 0 else f"≤ {float(self.gap):.3g}"),
            ("found by", _ROUTES[self.route]),
            ("reason", self.reason.theorem),
            ("source", self.reason.citation),
        ]

    def _repr_html_(self) -> str:
        shown = html_table(self.headline(), self.rows(), holds=True if self.is_optimal else None)
        size = self.problem.graph.size
        law = self.channel if size is not None and size <= _MOST_NODES else None
        return shown if law is None else shown + law._repr_html_()
