"""Tokens that an OpenID Connect issuer signed (JWT), verified by the keys that the issuer publishes (JWKS).

Only asymmetric algorithms are accepted, and only the one that the key itself is for: so the text of a public key is
never taken for a shared secret, and "none" is no algorithm. The key is found by its id among the issuer's own keys;
addresses of keys inside a token (jku, x5u, jwk) are not looked at. Issuer, audience, end and subject must be there, and
what has to be understood (crit) is not.
"""

from __future__ import annotations

import json
import threading
import time
from typing import Any
from urllib.error import URLError
from urllib.request import HTTPRedirectHandler, Request, build_opener

import jwt

from leastnoise.apps.service.access import ROLES, Principal
from leastnoise.apps.service.settings import OidcSettings
from leastnoise.errors import NotAllowed, ServiceUnavailable
from leastnoise.ledger.record import read_name

__all__ = ["Issuer"]

_ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA")
_LONGEST = 1 << 20  # of a document of the issuer
_AGAIN = 10  # seconds until keys are asked for again because of an unknown id
_FRESH = 3600  # seconds until they are asked for again anyway
_LEEWAY = 30  # seconds by which clocks may differ
_TIMEOUT = 5


class _NoRedirection(HTTPRedirectHandler):
    def redirect_request(self, *_: Any) -> None:
        return None


class Issuer:
    """Recognises those whom an issuer knows.

    Args:
        settings: Which issuer, and which of its claims mean what.
    """

    def __init__(self, settings: OidcSettings) -> None:
        self._settings, self._lock = settings, threading.Lock()
        self._keys: dict[str, jwt.PyJWK] = {}
        self._asked = 0.0

    def principal_of(self, token: str) -> Principal:
        """Whose token it is.

        Raises:
            NotAllowed: The signature, issuer, audience, time or role does not hold.
            ServiceUnavailable: The issuer's keys can't be had.
        """
        settings = self._settings
        try:
            head = jwt.get_unverified_header(token)
            key = self._key(str(head.get("kid", "")))
            if "crit" in head or head.get("alg") not in _ALGORITHMS or head.get("alg") != key.algorithm_name:
                raise NotAllowed("the token is not valid", fix="ask the issuer for a new one")
            claims = jwt.decode(
                token,
                key.key,
                algorithms=[key.algorithm_name],
                audience=settings.audience,
                issuer=settings.issuer,
                leeway=_LEEWAY,
                options={"require": ["exp", "iss", "aud", "sub"]},
            )
        except (jwt.PyJWTError, ValueError, TypeError, KeyError, RecursionError):
            raise NotAllowed("the token is not valid", fix="ask the issuer for a new one") from None
        return self._read(claims)

    def _read(self, claims: dict[str, Any]) -> Principal:
        roles = claims.get(self._settings.roles_claim)
        held = [role for role in ROLES if role in (roles if isinstance(roles, list) else [roles])]
        if not held:
            raise NotAllowed("the issuer gives this subject no role here", fix=f"one of {', '.join(ROLES)} is needed")
        datasets = claims.get(self._settings.datasets_claim)
        listed = [each for each in datasets if isinstance(each, str)] if isinstance(datasets, list) else []
        return Principal(read_name(f"oidc:{claims['sub']}", "sub"), held[0], frozenset(listed))

    def _key(self, kid: str) -> jwt.PyJWK:
        with self._lock:
            now = time.monotonic()
            age = now - self._asked if self._asked else float("inf")
            if age > _FRESH or (kid not in self._keys and age > _AGAIN):
                self._asked = now
                self._keys = self._fetch()
            return self._keys[kid]

    def _fetch(self) -> dict[str, jwt.PyJWK]:
        base = self._settings.issuer.rstrip("/")
        described = _document(f"{base}/.well-known/openid-configuration")
        place = str(described.get("jwks_uri", ""))
        if described.get("issuer") != self._settings.issuer or not place.startswith(base.split(":")[0] + ":"):
            raise ServiceUnavailable("the issuer describes itself otherwise", fix="see [service.oidc] issuer")
        found = {}
        for each in _document(place).get("keys", []):
            if isinstance(each, dict) and each.get("use", "sig") == "sig" and each.get("kty") in ("RSA", "EC", "OKP"):
                try:
                    key = jwt.PyJWK(each)
                except jwt.PyJWTError:
                    continue
                found[str(each.get("kid", ""))] = key
        return found


def _document(place: str) -> dict[str, Any]:
    try:
        with build_opener(_NoRedirection).open(Request(place), timeout=_TIMEOUT) as response:  # noqa: S310 - configured
            told = json.loads(response.read(_LONGEST))
    except (URLError, OSError, ValueError, RecursionError):
        raise ServiceUnavailable("the issuer's keys can't be had", fix="see that the issuer answers") from None
    return told if isinstance(told, dict) else {}
