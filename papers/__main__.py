"""`python -m papers`: what the source texts claim, recomputed claim by claim; `--out` draws their figures."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from rich.console import Console

    from papers.claims import Claim

__all__ = ["PAPERS", "papers"]

PAPERS = ("exponential", "rainbow", "lecture", "thesis", "laplace")


def papers(
    name: Annotated[str | None, typer.Argument(help=f"Which text: {', '.join(PAPERS)}; all if left out.")] = None,
    out: Annotated[Path | None, typer.Option(help="Draw the figures into this folder, where there are any.")] = None,
) -> None:
    """Recompute what the source texts claim, and say where they are wrong and what is right instead."""
    from rich.console import Console

    from leastnoise.model.labels import unknown_label

    if name is not None and name not in PAPERS:
        raise unknown_label(name, PAPERS, "paper")
    console = Console(highlight=False)
    found: list[Claim] = []
    for key in PAPERS if name is None else (name,):
        module = import_module(f"papers.{key}")
        found += _recompute(module, console)
        if out is not None and hasattr(module, "draw_figures"):
            console.print(f"drawn: {module.draw_figures(out)}")
    wrong = sum(not claim.holds for claim in found)
    console.print(f"[bold]{len(found)} claims recomputed[/bold]: {len(found) - wrong} hold, {wrong} are in the errata")


def _recompute(module: Any, console: Console) -> list[Claim]:
    from rich.text import Text

    console.print(f"\n[bold]{module.PAPER.title}[/bold]")
    claims = []
    for claim in module.PAPER.claims():
        claims.append(claim)
        mark = ("✓ ", "green") if claim.holds else ("✗ ", "red")
        console.print(Text.assemble(mark, (claim.place, "bold"), f": {claim.says}"))
        console.print(Text(f"    {claim.computed}", style="dim"))
        if claim.instead:
            console.print(Text(f"    instead: {claim.instead}"))
    return claims


if __name__ == "__main__":
    typer.run(papers)
