"""What stands before every request: limits of size, depth, time and number, and the headers of every answer."""

from __future__ import annotations

import asyncio
import json
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from typing import Any, NoReturn
from urllib.parse import parse_qsl

from fastapi import Request, Response
from uvicorn.protocols.http.h11_impl import H11Protocol

from leastnoise.errors import BadParameter, TooLarge, TooManyRequests

__all__ = ["HEADERS", "Limiter", "PatientProtocol", "read_form", "read_json"]

HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
_BODY_SECONDS = 10  # that a body may take to arrive
_HEAD_SECONDS = 10  # that a head may take to arrive
_MOST_CLIENTS = 10_000
_DEEPEST = 30  # levels of a body

Next = Callable[[Request], Awaitable[Response]]


class PatientProtocol(H11Protocol):
    """HTTP, with an end to patience: a client that does not get its head through is dropped."""

    def connection_made(self, transport: Any) -> None:
        """Begin to wait."""
        super().connection_made(transport)
        self.loop.call_later(_HEAD_SECONDS, self._look)

    def _look(self) -> None:
        if self.cycle is None and not self.transport.is_closing():  # no request yet
            self.transport.close()


class Limiter:
    """At most so many requests within a minute for each name: a bucket that refills evenly.

    Args:
        per_minute: How many.
    """

    def __init__(self, per_minute: int) -> None:
        self._most = per_minute
        self._known: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, name: str) -> None:
        """Count a request.

        Raises:
            TooManyRequests: There were too many.
        """
        now = time.monotonic()
        left, before = self._known.pop(name, (float(self._most), now))
        left = min(self._most, left + (now - before) * self._most / 60)
        self._known[name] = (max(left - 1, 0.0), now)
        while len(self._known) > _MOST_CLIENTS:
            self._known.popitem(last=False)
        if left < 1:
            raise TooManyRequests(
                "more requests than are allowed", given=f"{self._most} a minute", fix="wait a while, then ask again"
            )


async def read_json(request: Request, most: int) -> Any:
    """The body, as JSON.

    Raises:
        BadParameter: It is no JSON, repeats a name, is nested too deeply or comes too slowly.
        TooLarge: It is too long.
    """
    body = await _body(request, most, "application/json")
    try:
        told = json.loads(body, parse_constant=_no_number, object_pairs_hook=_once)
    except (ValueError, RecursionError):
        raise BadParameter("the body is no JSON", fix="send JSON in UTF-8, with each name once") from None
    _require_shallow(told)
    return told


async def read_form(request: Request, most: int) -> dict[str, str]:
    """The fields of a form, each once.

    Raises:
        BadParameter: It is no form, repeats a field or comes too slowly.
        TooLarge: It is too long.
    """
    body = await _body(request, most, "application/x-www-form-urlencoded")
    try:
        return _once(parse_qsl(body.decode(), keep_blank_values=True, strict_parsing=bool(body), max_num_fields=200))
    except ValueError:
        raise BadParameter("this is no form", fix="send it from the page, with each field once") from None


async def _body(request: Request, most: int, kind: str) -> bytearray:
    """What was sent, if it is of a kind."""
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != kind:
        name = "JSON" if kind.endswith("json") else "a form"
        raise BadParameter(f"the body is {name}", fix=f"send Content-Type: {kind}")
    body = bytearray()
    try:
        async with asyncio.timeout(_BODY_SECONDS):
            async for chunk in request.stream():
                body += chunk
                if len(body) > most:
                    raise TooLarge("the body is too long", given=f"over {most} bytes", fix="send a shorter one")
    except TimeoutError:
        raise BadParameter("the body did not arrive in time", fix="send it at once") from None
    return body


def _require_shallow(value: Any) -> None:
    level = [value]
    for _ in range(_DEEPEST):
        level = [inner for each in level for inner in _inside(each)]
        if not level:
            return
    raise BadParameter("the body is nested too deeply", fix=f"use at most {_DEEPEST} levels")


def _inside(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else []


def _no_number(_: str) -> NoReturn:
    raise ValueError


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError
    return found
