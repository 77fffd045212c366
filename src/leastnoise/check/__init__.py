"""Floor 3: a channel, certificate or sampler in; yes, or a counterexample, out. Trusts no solver."""

import sys
from types import ModuleType
from typing import Any

from leastnoise.check.audit import Audit, audit
from leastnoise.check.checker import check
from leastnoise.check.curve import Branch, PrivacyCurve, privacy_curve
from leastnoise.check.findings import CertificateVerdict, Finding
from leastnoise.check.fit import Fit, fit
from leastnoise.check.verdict import Verdict, Witness

__all__ = [
    "Audit",
    "Branch",
    "CertificateVerdict",
    "Finding",
    "Fit",
    "PrivacyCurve",
    "Verdict",
    "Witness",
    "audit",
    "check",
    "fit",
    "privacy_curve",
]


class _Room(ModuleType):
    """`leastnoise.check` is this package and the function alike, whichever of the two was imported first."""

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        """Check a channel or a certificate."""
        return check(*arguments, **options)


sys.modules[__name__].__class__ = _Room
