"""The checker's answers, about a channel and about a certificate: true or false, a line, and a few rows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import NamedTuple

from leastnoise.exact import Enclosure, Exact
from leastnoise.model import Privacy, brief, html_table, show_labels, show_number

__all__ = ["CertificateVerdict", "Counterexample", "Finding", "Report", "Verdict", "equality", "show_privacy"]


class Report(ABC):
    """An answer that is a truth value and can be read."""

    holds: bool

    @abstractmethod
    def headline(self) -> str:
        """The answer in one line."""

    @abstractmethod
    def rows(self) -> list[tuple[str, str]]:
        """What it rests on, as pairs of a name and a text."""

    def __bool__(self) -> bool:
        """Whether the claim holds."""
        return self.holds

    def __str__(self) -> str:
        """The headline, then the rows."""
        rows = self.rows()
        width = max((len(name) for name, _ in rows), default=0)
        return "\n".join([self.headline(), *(f"  {name.ljust(width)}  {text}" for name, text in rows)])

    def _repr_html_(self) -> str:
        """The same for notebooks; every label is escaped."""
        return html_table(self.headline(), self.rows(), holds=self.holds)


def show_privacy(privacy: Privacy) -> str:
    """A promise in few characters."""
    if privacy.is_pure:
        return f"ε = {brief(privacy.epsilon)}"
    return f"(ε, δ) = ({brief(privacy.epsilon)}, {brief(privacy.delta)})"


@dataclass(frozen=True)
class Counterexample:
    """Two inputs and a set S of outputs, with the two probabilities of S.

    Attributes:
        x: The input that makes S more likely.
        neighbour: The other one, x'.
        outputs: S.
        probability: P(S|x), exactly.
        neighbour_probability: P(S|x'), exactly.
        length: d(x, x'): one for an edge of a graph.
        excess: P(S|x) − e^(ε·length)·P(S|x') − δ; above zero it breaks the promise, and by this much.
    """

    x: Hashable
    neighbour: Hashable
    outputs: tuple[Hashable, ...]
    probability: Fraction
    neighbour_probability: Fraction
    length: Fraction
    excess: Fraction | Enclosure


@dataclass(frozen=True)
class Verdict(Report):
    """Whether a channel keeps a promise (ε, δ), and how close to it the channel is.

    Attributes:
        holds: Whether it does, exactly; the verdict is true or false accordingly.
        privacy: The promise.
        graph: The name of the dataset graph.
        group: Inputs up to this distance count as neighbours.
        tight_epsilon: The least ε that holds together with this δ; `math.inf` if there is none.
        worst: The pair of inputs and the set of outputs nearest to breaking the promise, or breaking it most: for δ = 0
            by the ratio of the probabilities, else by their excess. None where no set of outputs tells inputs apart.
    """

    holds: bool
    privacy: Privacy
    graph: str
    group: int
    tight_epsilon: Exact | float
    worst: Counterexample | None
    measure_delta: Callable[[], Fraction | Enclosure] = field(repr=False, compare=False)

    @cached_property
    def tight_delta(self) -> Fraction | Enclosure:
        """The least δ that holds together with this ε: exact where e^ε is rational, else enclosed."""
        return Fraction(0) if self.holds and self.privacy.is_pure else self.measure_delta()

    @property
    def counterexample(self) -> Counterexample | None:
        """The witness that the promise is broken; None if it holds."""
        return None if self.holds else self.worst

    def headline(self) -> str:
        """The answer in one line."""
        group = f" for groups of {self.group}" if self.group > 1 else ""
        return f"{show_privacy(self.privacy)} {'holds' if self.holds else 'does not hold'} on {self.graph}{group}"

    def rows(self) -> list[tuple[str, str]]:
        """The tight numbers and the witness."""
        rows = [("tight ε", show_number(self.tight_epsilon))]
        if not self.privacy.is_pure:
            rows[0] = (f"tight ε at δ = {brief(self.privacy.delta)}", rows[0][1])
            rows.append((f"tight δ at ε = {brief(self.privacy.epsilon)}", show_number(self.tight_delta)))
        if self.worst is None:
            return rows
        worst, outputs = self.worst, show_labels(self.worst.outputs)
        rows += [
            (f"P({outputs} | {worst.x!r})", show_number(worst.probability)),
            (f"P({outputs} | {worst.neighbour!r})", show_number(worst.neighbour_probability)),
        ]
        if worst.length != 1:
            rows.append((f"d({worst.x!r}, {worst.neighbour!r})", brief(worst.length)))
        if not self.holds:
            rows.append(("too large by", show_number(worst.excess)))
        return rows


class Finding(NamedTuple):
    """One claim, whether it holds, and what was found."""

    claim: str
    holds: bool
    found: str


def equality(what: str, claimed: Fraction, computed: Fraction) -> Finding:
    """That a number is the one claimed."""
    found = brief(computed) if claimed == computed else f"it is {brief(computed)}, not {brief(claimed)}"
    return Finding(what, claimed == computed, found)


@dataclass(frozen=True)
class CertificateVerdict(Report):
    """Whether everything that a certificate claims is true.

    Attributes:
        holds: Whether it is.
        kind: What kind of claim it makes.
        findings: Each claim that was checked; after one that fails the rest may be missing.
    """

    holds: bool
    kind: str
    findings: tuple[Finding, ...]

    @property
    def reason(self) -> str | None:
        """Why the certificate is not to be believed; None if it is."""
        return next((f"{claim}: {found}" for claim, holds, found in self.findings if not holds), None)

    def headline(self) -> str:
        """The answer in one line."""
        return f"the {self.kind} certificate {'holds' if self.holds else f'fails: {self.reason}'}"

    def rows(self) -> list[tuple[str, str]]:
        """Each claim and what was found."""
        return [(f"{'✓' if holds else '✗'} {claim}", found) for claim, holds, found in self.findings]
