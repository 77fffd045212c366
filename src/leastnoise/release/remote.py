"""`connect`: the datasets of a service, asked as if they were here.

Questions, plans and prices are made here, from the public schema that the service tells: nothing private is needed for
them. Only a release goes to the service, as the JSON of the question with its price, under an id that makes a repeated
request free; what comes back is what the service's ledger recorded, and it is read here as after `ln.open`. So both
sides must be of one version, and the service refuses a question that it would charge otherwise than it was planned
here. The service checks everything again: a client can show nonsense to itself, never spend what is not allowed.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import asdict, fields
from fractions import Fraction
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from importlib.metadata import version
from ipaddress import ip_address
from threading import Lock
from typing import Any
from urllib.parse import quote, urlsplit

from leastnoise import errors
from leastnoise.composition import Remaining
from leastnoise.data import Contribution
from leastnoise.data.columns import Column, Kind
from leastnoise.data.schema_table import SchemaTable
from leastnoise.errors import BadParameter, LeastNoiseError, NotFound, ServiceUnavailable
from leastnoise.ledger import Ledger, Opening, Receipt, Request
from leastnoise.model import Privacy
from leastnoise.release.dataset import Dataset

__all__ = ["RemoteLedger", "connect", "is_loopback", "read_left", "write_column", "write_left"]

_LONGEST_ANSWER = 1 << 28
_TRIES = 3  # of a request whose answer was lost on the way: it has an id, so that it is free
_POLL = 0.2
_FRACTIONS = ("epsilon", "rho", "mu_squared", "delta", "spent", "limit")


def connect(
    url: str,
    *,
    token: str,
    dataset: str | None = None,
    purpose: str = "any",
    insecure: bool = False,
    timeout: float = 600,
) -> Dataset:
    """Open a dataset of a service; it is asked as one that `ln.open` opened.

    Args:
        url: Where the service is: "https://statistics.example.org". Plain http is for this machine only.
        token: Who asks; from whoever keeps the service.
        dataset: Which one; may be left out where the token is for one only.
        purpose: What for.
        insecure: Send the token over plain http to another machine all the same: anybody on the way can read it.
        timeout: How many seconds to wait for an answer.

    Raises:
        BadParameter: The address is not valid, or would send the token in the clear.
        NotAllowed: The token is not accepted.
        NotFound: There is no such dataset for this token.
        ServiceUnavailable: The service can't be reached, or is of another version.
    """
    service = _Service(url, token, insecure, timeout)
    try:
        return _opened(service, dataset, purpose)
    except BaseException:
        service.close()
        raise


def _opened(service: _Service, dataset: str | None, purpose: str) -> Dataset:
    listed = service.call("GET", "/v1/datasets")
    if listed.get("version") != version("leastnoise"):
        raise ServiceUnavailable(
            "the service is of another version", given=str(listed.get("version")), fix="install the same version here"
        )
    names = [each["name"] for each in listed["datasets"]]
    if dataset is None and len(names) == 1:
        dataset = names[0]
    if dataset is None:
        raise NotFound("which dataset is not said", given=", ".join(names) or "none", fix="pass dataset=…")
    told = service.call("GET", f"/v1/datasets/{quote(dataset, safe='')}")
    ledger = RemoteLedger(service, told)
    unit = told["privacy_unit"]
    return Dataset(
        table=SchemaTable(told["name"], [_read_column(each) for each in told["columns"]]),
        ledger=ledger,
        name=told["name"],
        analyst=told["analyst"],
        purpose=purpose,
        contribution=Contribution(unit, told["groups_per_unit"], told["rows_per_unit"]),
        opening=Opening(None, unit),
    )


class RemoteLedger(Ledger):
    """The ledger of a service, as far as a question needs it."""

    def __init__(self, service: _Service, told: Mapping[str, Any]) -> None:
        self._service, self._told = service, told

    def reserve(self, request: Request, opening: Opening | None = None) -> Receipt:  # noqa: ARG002 - the service has it
        """Let the service answer: it holds the price, reads, debits, draws and records."""
        if request.asked is None:
            raise BadParameter("a service answers questions only", fix="ask with a method of the dataset")
        body = {
            **request.asked(),
            "request_id": request.id,
            "purpose": request.purpose,
            "event": request.event.to_dict(),
        }
        path = f"/v1/datasets/{quote(request.dataset, safe='')}/releases"
        found = self._service.call("POST", path, body)
        while found["state"] == "running":
            time.sleep(_POLL)
            found = self._service.call("GET", f"/v1/releases/{found['id']}")
        if "result" not in found:  # it ended while it was waited for: asking again tells how
            found = self._service.call("POST", path, body)
        return Receipt("answered", found["result"]["recorded"])

    def left(self, dataset: str, analyst: str, purpose: str = "any", opening: Opening | None = None) -> Remaining:  # noqa: ARG002
        """See `Ledger.left`."""
        where = f"/v1/datasets/{quote(dataset, safe='')}/left?purpose={quote(purpose, safe='')}"
        return read_left(self._service.call("GET", where))

    def budget_of(self, dataset: str) -> Privacy | None:  # noqa: ARG002 - it has one
        """See `Ledger.budget_of`."""
        return Privacy(**self._told["budget"], insist=True)

    def close(self) -> None:
        """Let go of the connection."""
        self._service.close()

    def __repr__(self) -> str:
        """Where it is."""
        return f"RemoteLedger({self._service.place!r})"


class _Service:
    """Requests with a token, over one connection. Redirections are not followed: they would carry the token away."""

    def __init__(self, url: str, token: str, insecure: bool, timeout: float) -> None:
        if not isinstance(url, str) or not isinstance(token, str) or not token.isascii() or not token.isprintable():
            raise BadParameter("a service has an address and a token", fix='pass url="https://…", token="…"')
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.username or parts.query:
            raise BadParameter("this is no address of a service", given=url, fix='pass "https://host:port"')
        if parts.scheme == "http" and not insecure and not is_loopback(parts.hostname):
            raise BadParameter(
                "over plain http anybody on the way could read the token and ask with it",
                given=url,
                fix="pass https://…, or insecure=True if the network is trusted",
            )
        self.place = f"{parts.scheme}://{parts.netloc}"
        self._base, self._token = parts.path.rstrip("/"), token
        kind = HTTPSConnection if parts.scheme == "https" else HTTPConnection
        self._connection = kind(parts.hostname, parts.port, timeout=timeout)
        self._lock = Lock()

    def call(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> Any:
        """The JSON that is answered.

        Raises:
            LeastNoiseError: The typed error that the service answered with.
            ServiceUnavailable: It can't be reached, or answers no JSON.
        """
        headers = {"Authorization": f"Bearer {self._token}", "Accept": "application/json"}
        text = None if body is None else json.dumps(body, allow_nan=False).encode()
        if text is not None:
            headers["Content-Type"] = "application/json"
        for tried in range(1, _TRIES + 1):
            try:
                with self._lock:
                    self._connection.request(method, self._base + path, text, headers)
                    response = self._connection.getresponse()
                    content = response.read(_LONGEST_ANSWER + 1)
                break
            except (OSError, HTTPException) as error:
                self._connection.close()
                if tried == _TRIES:
                    raise ServiceUnavailable(
                        "the service can't be reached", given=self.place, fix=f"{type(error).__name__}: try again"
                    ) from None
                time.sleep(_POLL)
        return _answer(response, content)

    def close(self) -> None:
        """Let go of the connection."""
        self._connection.close()


def is_loopback(host: str) -> bool:
    """Whether a host is this machine; a name that begins like its address is not.

    >>> is_loopback("127.0.0.1"), is_loopback("127.0.0.1.example.org")
    (True, False)
    """
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def _answer(response: HTTPResponse, content: bytes) -> Any:
    strange = ServiceUnavailable(
        "this is no answer of a service", given=f"status {response.status}", fix="see that the address is that of one"
    )
    try:
        told = json.loads(content)
    except (ValueError, RecursionError):
        raise strange from None
    if response.status < 300:
        return told
    if not isinstance(told, dict) or not isinstance(told.get("type"), str):
        raise strange
    kind = getattr(errors, told["type"].rpartition(":")[2], None)
    if not isinstance(kind, type) or not issubclass(kind, LeastNoiseError):
        raise strange
    raise kind(str(told.get("detail")), given=told.get("given"), fix=str(told.get("fix")))


def write_left(left: Remaining) -> dict[str, Any]:
    """What is left of a budget, as JSON."""
    numbers = {name: str(getattr(left, name)) for name in _FRACTIONS}
    return {**numbers, "unit": left.unit, "budget": left.budget.to_dict(), "text": str(left)}


def read_left(told: Mapping[str, Any]) -> Remaining:
    """The inverse of `write_left`."""
    numbers = {name: Fraction(told[name]) for name in _FRACTIONS}
    return Remaining(Privacy(**told["budget"], insist=True), unit=told["unit"], **numbers)


def write_column(column: Column) -> dict[str, Any]:
    """What is public about a column, as JSON."""
    return {**asdict(column), "kind": column.kind.value, "limits": [str(limit) for limit in column.limits]}


def _read_column(told: Mapping[str, Any]) -> Column:
    given = {each.name: told[each.name] for each in fields(Column) if each.name in told}
    low, high = told["limits"]
    return Column(**{**given, "kind": Kind(told["kind"]), "limits": (int(low), int(high))})
