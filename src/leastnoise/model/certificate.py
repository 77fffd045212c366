"""Every kind of certificate. `Certificate.from_json` reads the kinds that were imported, so take them from here."""

from __future__ import annotations

from leastnoise.model.channel_certificates import (
    Certificate,
    OptimalityCertificate,
    PrivacyCertificate,
    RefinementCertificate,
    TheoremCertificate,
)
from leastnoise.model.rainbow_certificates import DominanceCertificate, NoOptimumCertificate
from leastnoise.model.reading_certificates import LikeliestCertificate, LineCertificate, ProductCertificate
from leastnoise.model.strategy_certificates import MarginalsCertificate, StrategyCertificate

__all__ = [
    "Certificate",
    "DominanceCertificate",
    "LikeliestCertificate",
    "LineCertificate",
    "MarginalsCertificate",
    "NoOptimumCertificate",
    "OptimalityCertificate",
    "PrivacyCertificate",
    "ProductCertificate",
    "RefinementCertificate",
    "StrategyCertificate",
    "TheoremCertificate",
]
