"""The checker's answer about a certificate: each claim with what was found."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

from leastnoise.checker.report import Report, brief

__all__ = ["CertificateVerdict", "Finding", "equality"]


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
