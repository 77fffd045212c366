"""What `[service]` of leastnoise.toml says.

[service]
host = "127.0.0.1"              # a proxy in front of it speaks TLS
port = 8787
store = "team.service"          # tokens, approvals, requests: a file, or "postgresql://…"
workers = 2                     # processes that open the data
time_limit = "60s"              # of one question; a longer one is a failure
memory_limit = "2GB"            # of one worker
answer_after = "500ms"          # answers leave at multiples of this time only
approval_lasts = "7d"           # then the held price is given back
requests_per_minute = 600       # of one token
largest_body = "1MB"
wait = "30s"                    # then a release goes on as a job

[service.oidc]
issuer = "https://login.example.org"
audience = "leastnoise"
roles_claim = "roles"           # its values: curator, analyst, auditor, reader
datasets_claim = "datasets"     # which datasets; without it none
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any
from urllib.parse import urlsplit

from leastnoise.errors import BadConfiguration
from leastnoise.model import unknown_label
from leastnoise.release.configuration import Configuration
from leastnoise.release.remote import is_loopback

__all__ = ["OidcSettings", "ServiceSettings", "read_duration", "read_settings"]

_SECONDS = {"ms": 0.001, "s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}
_BYTES = {"KB": 10**3, "MB": 10**6, "GB": 10**9}
_LONGEST = 100 * 365 * 86400  # seconds: what ends later has no date that can be shown


@dataclass(frozen=True)
class OidcSettings:
    """An issuer whose signed tokens are accepted.

    Attributes:
        issuer: Its address, as it writes it into tokens; its keys are found from there.
        audience: What its tokens for this service say as audience.
        roles_claim: The claim that holds the role.
        datasets_claim: The claim that lists datasets.
    """

    issuer: str
    audience: str
    roles_claim: str = "roles"
    datasets_claim: str = "datasets"

    def __post_init__(self) -> None:
        """Keys that come over plain http could be anybody's."""
        parts = urlsplit(self.issuer)
        if parts.scheme != "https" and not (parts.scheme == "http" and is_loopback(parts.hostname or "")):
            raise BadConfiguration("the issuer's keys need https", given=self.issuer, fix='write issuer = "https://…"')


@dataclass(frozen=True)
class ServiceSettings:
    """The settings; the docstring of this file says what each is for."""

    store: str
    host: str = "127.0.0.1"
    port: int = 8787
    workers: int = 2
    time_limit: float = 60
    memory_limit: int = 2 * 10**9
    answer_after: float = 0
    approval_lasts: float = 7 * 86400
    requests_per_minute: int = 600
    failures_per_minute: int = 60
    largest_body: int = 10**6
    wait: float = 30
    oidc: OidcSettings | None = None


def read_settings(configuration: Configuration) -> ServiceSettings:
    """The settings that a configuration holds.

    Raises:
        BadConfiguration: An unknown key, or a value of the wrong kind.
    """
    given = dict(configuration.service)
    _require_known(given, ServiceSettings, "service")
    found: dict[str, Any] = {"store": f"{configuration.ledger or 'leastnoise.ledger'}.service"}
    for name, value in given.items():
        place = f"service.{name}"
        if name == "oidc":
            _require_known(_mapping(value, place), OidcSettings, place)
            found[name] = OidcSettings(**{key: _text(each, f"{place}.{key}") for key, each in value.items()})
        elif name in ("time_limit", "answer_after", "approval_lasts", "wait"):
            found[name] = read_duration(value, place)
        elif name in ("memory_limit", "largest_body"):
            found[name] = _size(value, place)
        elif name in ("port", "workers", "requests_per_minute", "failures_per_minute"):
            found[name] = _whole(value, place)
        else:
            found[name] = _text(value, place)
    if "store" in given and "://" not in found["store"] and configuration.file is not None:
        found["store"] = str(configuration.file.parent / found["store"])
    return ServiceSettings(**found)


def read_duration(value: object, place: str) -> float:
    """A length of time in seconds.

    >>> read_duration("500ms", "answer_after"), read_duration("7d", "approval_lasts")
    (0.5, 604800.0)
    """
    found = re.fullmatch(r"(\d{1,9})\s*(ms|[smhdw])", value) if isinstance(value, str) else None
    seconds = int(found[1]) * _SECONDS[found[2]] if found else _LONGEST + 1
    if seconds > _LONGEST:
        raise _wrong(place, value, 'write a length of time of at most 100 years: "500ms", "30s", "7d"')
    return float(seconds)


def _size(value: object, place: str) -> int:
    found = re.fullmatch(r"(\d{1,6})\s*([KMG]B)", value) if isinstance(value, str) else None
    if found is None:
        raise _wrong(place, value, 'write a size: "1MB", "2GB"')
    return int(found[1]) * _BYTES[found[2]]


def _whole(value: object, place: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= 10**6:
        raise _wrong(place, value, "write a whole number")
    return value


def _text(value: object, place: str) -> str:
    if not isinstance(value, str) or not value:
        raise _wrong(place, value, "write text in quotes")
    return value


def _mapping(value: object, place: str) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise _wrong(place, value, f"make it a table: [{place}]")
    return value


def _require_known(given: Mapping[str, Any], kind: type, place: str) -> None:
    known = [each.name for each in fields(kind)]
    for name in given:
        if name not in known:
            raise _wrong(f"{place}.{name}", "unknown key", unknown_label(name, known, "key").fix)


def _wrong(place: str, given: object, fix: str) -> BadConfiguration:
    return BadConfiguration(f"{place} is wrong", given=str(given), fix=fix)
