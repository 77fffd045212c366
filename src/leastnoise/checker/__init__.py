"""A channel, certificate or sampler in; yes, or a counterexample, out. Trusts no solver."""

from leastnoise.checker.audit import Audit, audit
from leastnoise.checker.checker import check
from leastnoise.checker.curve import Branch, PrivacyCurve, privacy_curve
from leastnoise.checker.fit import Fit, fit
from leastnoise.checker.verdict import CertificateVerdict, Counterexample, Finding, Verdict

__all__ = [
    "Audit",
    "Branch",
    "CertificateVerdict",
    "Counterexample",
    "Finding",
    "Fit",
    "PrivacyCurve",
    "Verdict",
    "audit",
    "check",
    "fit",
    "privacy_curve",
]
