"""A design for the eye: a line, a few rows, and the law where it is small; the same in the terminal and in HTML."""

from __future__ import annotations

from typing import TYPE_CHECKING

from leastnoise.exact.enclosures import Enclosure
from leastnoise.model.notebook import html_table

if TYPE_CHECKING:
    from leastnoise.designer.result import Design

__all__ = ["design_rows", "headline", "html_design", "show_loss"]

_LONGEST_NUMBER = 24
_MOST_NODES = 16
_ROUTES = {"theorem": "a theorem", "symmetry": "a linear program over orbits", "lp": "a linear program"}


def headline(design: Design) -> str:
    """Where, how private, at what loss, and what is proven."""
    problem = design.problem
    proven = "optimal, proven" if design.is_optimal else f"within {float(design.gap):.2g} of the optimum, proven"
    kind = "expected" if problem.objective == "average" else "worst expected"
    return (
        f"{problem.graph.name}, {problem.privacy}: {kind} {problem.loss_name} loss {show_loss(design.loss)}, {proven}"
    )


def design_rows(design: Design) -> list[tuple[str, str]]:
    """What was found and why, as pairs of a name and a text."""
    return [
        ("mechanism", design.mechanism.name),
        ("loss", show_loss(design.loss)),
        ("lower bound", show_loss(design.lower_bound)),
        ("gap", "0" if design.gap == 0 else f"≤ {float(design.gap):.3g}"),
        ("found by", _ROUTES[design.route]),
        ("reason", design.reason.theorem),
        ("source", design.reason.citation),
    ]


def html_design(design: Design) -> str:
    """Line and rows, and below them the law of a small graph as a table."""
    shown = html_table(headline(design), design_rows(design), holds=True if design.is_optimal else None)
    size = design.problem.graph.size
    law = design.channel if size is not None and size <= _MOST_NODES else None
    return shown if law is None else shown + law._repr_html_()


def show_loss(loss: Enclosure) -> str:
    """A loss exactly if that is short, else twelve digits."""
    text = str(loss.lower) if loss.is_exact else ""
    return text if text and len(text) <= _LONGEST_NUMBER else f"≈ {float(loss):.12g}"
