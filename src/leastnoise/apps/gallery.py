"""`leastnoise gallery`: real faults of privacy software, each run in an environment of its own and found by our checks.

An exhibit is a program in `exhibits/` that uses a library as its documentation says and prints what came out. The
versions are installed by pip into environments below a cache folder. What they print is judged here. An exhibit is as
expected if the fault is found in the faulty version and, where one is published, not in the mended one.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import venv
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from leastnoise.errors import BadParameter

if TYPE_CHECKING:
    from leastnoise.checker import Audit

__all__ = ["EXHIBITS", "Exhibit", "gallery"]

_HERE = Path(__file__).parent / "exhibits"
_SECONDS = 900
_OWN: tuple[str, ...] = ()  # needs nothing beyond our own dependencies


@dataclass(frozen=True)
class Exhibit:
    """A fault, where it is, where it is mended, and how it is found.

    Attributes:
        name: What the command calls it, and the name of its program.
        what: The fault in a sentence.
        faulty: The requirements of an environment that has it.
        mended: Those of one that has not; None where we know of no published one.
        find: From what the program printed: whether the fault is there, and what shows it.
    """

    name: str
    what: str
    faulty: tuple[str, ...]
    mended: tuple[str, ...] | None
    find: Callable[[Any], tuple[bool, list[str]]]


def _biased_noise(printed: dict[str, list[int]]) -> tuple[bool, list[str]]:
    from leastnoise.checker import fit
    from leastnoise.exact import discrete_laplace_pmf

    law = fit(printed["0"][:60_000], lambda k: discrete_laplace_pmf(k, 3), support=range(-60, 61))
    attack = _audit(printed, "1/3")
    return not law or attack.refuted, [str(law), str(attack)]


def _float_noise(printed: dict[str, list[str]]) -> tuple[bool, list[str]]:
    attack = _audit(printed, 1)
    return attack.refuted, [str(attack)]


def _dropped_count(printed: dict[str, float]) -> tuple[bool, list[str]]:
    from leastnoise.composition.homogeneous import homogeneous_delta

    delta = homogeneous_delta("ln(3)", 10, printed["10"])  # ten times randomized response is the worst case, exactly
    return delta > Fraction(1, 10**6), [
        f"ε = {printed['1']:.4f} for one use and ε = {printed['10']:.4f} for ten, at δ = 1e-06",
        f"ten uses have δ = {float(delta):.4f} at that ε",
    ]


def _small_sensitivity(printed: list[list[list[Any]]]) -> tuple[bool, list[str]]:
    found = []
    for (kind, declared, first), (_, _, second) in zip(*printed, strict=True):
        moved = abs(Fraction(first) - Fraction(second))
        if moved > Fraction(declared):
            found.append(f"{kind} declares a sensitivity of {declared:g}, and one person moves its input by {moved}")
    return bool(found), found or ["no input moves by more than is declared"]


def _false_optimum(printed: list[list[float]]) -> tuple[bool, list[str]]:
    from leastnoise.checker import check
    from leastnoise.designer import design
    from leastnoise.model import Channel
    from leastnoise.model.graphs import path

    verdict = check(Channel(printed), path(len(printed)), epsilon=1)
    ours = design(f"path:{len(printed)}", epsilon="ln(3)")
    return not verdict, [str(verdict), f"leastnoise's own design: {check(ours.certificate).headline()}"]


EXHIBITS = (
    Exhibit(
        "opendp_noise",
        "Integer noise of OpenDP 0.10 to 0.14.1 followed another law where the scale is not 1, because a library for "
        "large numbers divided wrongly (opendp issue 2638 of February 2026). Version 0.16.0 passes.",
        ("opendp==0.14.1",),
        ("opendp==0.16.0",),
        _biased_noise,
    ),
    Exhibit(
        "float_laplace",
        "Laplace noise in doubles tells the true value by its last bits (Mironov 2012). NumPy's noise is not meant for "
        "privacy; many notebooks use it so.",
        _OWN,
        None,
        _float_noise,
    ),
    Exhibit(
        "accountant_count",
        "dp-accounting 0.6.0 counts randomized response once, however often it is used.",
        ("dp-accounting==0.6.0",),
        None,
        _dropped_count,
    ),
    Exhibit(
        "regression_sensitivity",
        "Linear regression in diffprivlib 0.6.6 reads the lower bound of a column twice. So the squares of a column "
        "with bounds (0, 10) get a sensitivity of 0 and no noise.",
        ("diffprivlib==0.6.6", "scikit-learn<1.8"),
        None,
        _small_sensitivity,
    ),
    Exhibit(
        "lp_optimum",
        "The best mechanism as a linear program in doubles: small probabilities are rounded to zero, and the result is "
        "not private at any ε.",
        _OWN,
        None,
        _false_optimum,
    ),
)


def _audit(printed: dict[str, list[Any]], epsilon: str | int) -> Audit:
    from leastnoise.checker import audit

    return audit(lambda x, size: printed[x][:size], "0", "1", epsilon, samples=len(printed["0"]))


def gallery(
    names: Annotated[list[str] | None, typer.Argument(help="Which exhibits; all if left out.")] = None,
    environments: Annotated[
        Path | None, typer.Option(help="Where the environments are kept; a cache folder if left out.")
    ] = None,
    listed: Annotated[bool, typer.Option("--list", help="Only say which exhibits there are.")] = False,
) -> None:
    """Show real faults of privacy software, found by the checks of this package. Installs old versions by pip."""
    known = {exhibit.name: exhibit for exhibit in EXHIBITS}
    for name in names or ():
        if name not in known:
            raise BadParameter("there is no such exhibit", given=name, fix=f"name one of {', '.join(known)}")
    home = environments or Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "leastnoise" / "gallery"
    surprises = 0
    for exhibit in (known[name] for name in names or known):
        typer.secho(f"\n{exhibit.name}", bold=True)
        typer.echo(exhibit.what)
        if not listed:
            surprises += not _shown(exhibit, exhibit.faulty, home, expected=True)
            if exhibit.mended is not None:
                surprises += not _shown(exhibit, exhibit.mended, home, expected=False)
    raise typer.Exit(1 if surprises else 0)


def _shown(exhibit: Exhibit, requirements: Sequence[str], home: Path, *, expected: bool) -> bool:
    """Run an exhibit and show what was found; whether that was to be expected."""
    python = _environment(home, requirements)
    done = subprocess.run(  # noqa: S603 - our own program
        [python, _HERE / f"{exhibit.name}.py"], capture_output=True, text=True, check=False, timeout=_SECONDS
    )
    typer.secho(f"  with {', '.join(requirements) or 'the versions installed here'}:", dim=True)
    if done.returncode:
        typer.echo(f"  it did not run: {(done.stderr.strip().splitlines() or ['no reason given'])[-1]}")
        return False
    found, lines = exhibit.find(json.loads(done.stdout))
    for line in "\n".join(lines).splitlines():
        typer.echo(f"    {line}")
    typer.secho(f"  {'the fault is there' if found else 'no fault was found'}", fg="red" if found else "green")
    return found == expected


def _environment(home: Path, requirements: Sequence[str]) -> Path:
    """The Python of an environment with these packages, made on first use."""
    if not requirements:
        return Path(sys.executable)
    folder = home / "+".join(requirement.replace("==", "-").replace("<", "-below-") for requirement in requirements)
    python = folder / "bin" / "python"
    if not (folder / "ready").exists():
        typer.secho(f"  installing {', '.join(requirements)} …", dim=True)
        venv.create(folder, with_pip=True, clear=True)
        pip: list[str | Path] = [python, "-m", "pip", "--disable-pip-version-check", "install", "numpy", *requirements]
        done = subprocess.run(pip, capture_output=True, text=True, check=False, timeout=_SECONDS)  # noqa: S603 - as above
        if done.returncode:
            why = (done.stderr.strip().splitlines() or ["pip gave no reason"])[-1]
            raise BadParameter(
                "pip could not install an old version", given=why, fix="see that a package index is there"
            )
        (folder / "ready").touch()
    return python
