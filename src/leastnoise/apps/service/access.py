"""Who asks, and what they may do: roles, tokens and what they are good for.

A token is `ln_ID_SECRET`. The secret has 256 bits from the system's generator, is shown once, and only its SHA-256 is
kept; with so many bits a slow hash would add nothing. It is compared in constant time, and an unknown ID costs the
same comparison.

| role | data questions | releases | ledger | approves, grants, clears, tokens |
|---|---|---|---|---|
| curator | yes | all | yes | yes, never their own question |
| analyst | yes | their own | no | no |
| auditor | no | all, with plans and certificates | yes | no |
| reader | no | all that were released | no | no |

**Two names need not be two persons**: a curator can make tokens. So every token has an origin, the one who answers for
it: its own name where the command line or an issuer made it, else the origin of the curator who did. Nobody decides
about a question, or a failure, of their own origin, and no name is given to a second origin.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import time
from dataclasses import dataclass

from leastnoise.apps.service.store import ServiceStore, StoredToken
from leastnoise.errors import BadParameter, NotAllowed, NotFound
from leastnoise.exact import system_source
from leastnoise.ledger.record import read_name

__all__ = ["ROLES", "Principal", "new_token", "principal_of"]

ROLES = ("curator", "analyst", "auditor", "reader")
_MAY = {
    "ask": ("curator", "analyst"),
    "read all": ("curator", "auditor", "reader"),
    "audit": ("curator", "auditor"),
    "keep": ("curator",),
}
_FORM = re.compile(r"ln_([0-9a-f]{16})_([0-9a-f]{64})")
_NOBODY = hashlib.sha256(b"nobody").hexdigest()
_REFUSED = {"fix": "ask whoever keeps the service for a token, and send it as Authorization: Bearer …"}


@dataclass(frozen=True)
class Principal:
    """Somebody who was recognised.

    Attributes:
        name: What the ledger calls them.
        role: One of `ROLES`.
        datasets: Which datasets exist for them; None for all.
        purposes: What they may ask for; None for anything.
        made_by: The origin of a token that a curator made; None for one of the command line or an issuer.
    """

    name: str
    role: str
    datasets: frozenset[str] | None
    purposes: frozenset[str] | None = None
    made_by: str | None = None

    @property
    def origin(self) -> str:
        """Who answers for them."""
        return self.made_by or self.name

    def may(self, what: str) -> bool:
        """Whether the role allows something: "ask", "read all", "audit" or "keep"."""
        return self.role in _MAY[what]

    def require(self, what: str) -> None:
        """Go on only where the role allows it.

        Raises:
            NotAllowed: It does not.
        """
        if not self.may(what):
            raise NotAllowed(f"the role {self.role} may not do this", fix=f"this is for: {', '.join(_MAY[what])}")

    def require_dataset(self, dataset: str, known: object) -> str:
        """Go on only with a dataset that exists for them.

        Raises:
            NotFound: There is none, or it is none of theirs.
        """
        if dataset not in known or not self.sees(dataset):  # type: ignore[operator]
            raise NotFound("there is no such dataset", given=dataset, fix="see /v1/datasets for those that there are")
        return dataset

    def sees(self, dataset: str) -> bool:
        """Whether a dataset exists for them."""
        return self.datasets is None or dataset in self.datasets

    def require_all(self) -> None:
        """Go on only with a token for all datasets."""
        if self.datasets is not None:
            raise NotAllowed("the whole ledger is for tokens of all datasets", fix="ask for the history of a dataset")

    def require_purpose(self, purpose: str) -> str:
        """Go on only with a purpose of theirs."""
        if self.purposes is not None and purpose not in self.purposes:
            raise NotAllowed(
                "this token is for other purposes", given=purpose, fix=f"pass one of {', '.join(sorted(self.purposes))}"
            )
        return purpose


def new_token(
    store: ServiceStore,
    name: str,
    role: str,
    datasets: tuple[str, ...] | None = None,
    purposes: tuple[str, ...] | None = None,
    lasts: float | None = None,
    made_by: str | None = None,
) -> tuple[str, StoredToken]:
    """Make a token; its text is given here and nowhere else.

    Args:
        store: Where its hash is kept.
        name: Who gets it.
        role: One of `ROLES`.
        datasets: For which datasets; None for all.
        purposes: For which purposes; None for all.
        lasts: After how many seconds it ends; None for never.
        made_by: The origin of the curator who makes it; None for whoever keeps the service.

    Raises:
        NotAllowed: The name has a token of another origin: two would share budget, answers and decisions.
    """
    if role not in ROLES:
        raise BadParameter("unknown role", given=role, fix=f"take one of {', '.join(ROLES)}")
    for listed, what in ((datasets, "datasets"), (purposes, "purposes")):
        for each in listed or ():
            read_name(each, what)
    if ":" in read_name(name, "name"):
        raise BadParameter("a colon marks names that an issuer gave", given=name, fix="leave it out")
    now = int(time.time())
    public, secret = f"{system_source.bits(64):016x}", f"{system_source.bits(256):064x}"
    ends = None if lasts is None else now + int(lasts)
    stored = StoredToken(public, _hash(secret), name, role, datasets, purposes, now, ends, None, made_by)
    if not store.add_token(stored):
        raise NotAllowed(
            "the name belongs to somebody who has a token from elsewhere",
            given=name,
            fix="choose another name, or let whoever keeps the service make it: leastnoise token create",
        )
    return f"ln_{public}_{secret}", stored


def principal_of(store: ServiceStore, text: str, now: float) -> Principal:
    """Whose token it is.

    Raises:
        NotAllowed: Nobody's, or it has ended; which of both is not said.
    """
    found = _FORM.fullmatch(text)
    stored = None if found is None else store.token(found[1])
    given = _hash(found[2] if found else "")
    same = hmac.compare_digest(given, _NOBODY if stored is None else stored.hash)
    if stored is None or not same or stored.revoked is not None or (stored.expires or now + 1) <= now:
        raise NotAllowed("the token is not valid", **_REFUSED)
    return Principal(
        stored.name,
        stored.role,
        None if stored.datasets is None else frozenset(stored.datasets),
        None if stored.purposes is None else frozenset(stored.purposes),
        stored.made_by,
    )


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()
