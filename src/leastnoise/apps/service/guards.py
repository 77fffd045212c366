"""What stands before every request: limits of size, depth, time and number, and the headers of every answer."""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections import Counter, OrderedDict
from math import isfinite
from typing import Any, NoReturn
from urllib.parse import parse_qsl

import h11
from fastapi import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from leastnoise.apps.service.problems import failure_place, problem_of
from leastnoise.errors import BadParameter, TooLarge, TooManyRequests

__all__ = ["HEADERS", "Guard", "Limiter", "PatientProtocol", "parse_json", "read_form", "read_json"]

HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
_HEADERS = [(name.lower().encode(), value.encode()) for name, value in HEADERS.items()]
_BODY_SECONDS = 10  # that a body may take to arrive
_ANSWERING_SECONDS = 5  # more, in which whoever is too slow is told so
_HEAD_SECONDS = 10  # that a head may take to arrive
_TAKING_SECONDS = 30  # that a client may leave an answer that is written
_MOST_CLIENTS = 10_000
_DEEPEST = 30  # levels of a body

_log = logging.getLogger("leastnoise.service")


class Guard:
    """Around every request: the headers of every answer, a count of its status, and no word of what failed.

    Args:
        app: The application.
        counted: Counts answers by their status.
    """

    def __init__(self, app: ASGIApp, counted: Counter[str]) -> None:
        self._app, self._counted = app, counted

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, and its answer back."""
        if scope["type"] != "http":
            return await self._app(scope, receive, send)
        begun = False

        async def sent(message: Message) -> None:
            nonlocal begun
            if message["type"] == "http.response.start":
                begun = True
                self._counted[f"status {message['status']}"] += 1
                has = {name.lower() for name, _ in message["headers"]}
                message["headers"] = [*message["headers"], *(each for each in _HEADERS if each[0] not in has)]
            await send(message)

        try:
            await self._app(scope, receive, sent)
        except Exception as error:  # where an answer has begun, uvicorn closes the connection in the middle of it
            _log.error("%s", failure_place(error))
            if not begun:
                await problem_of(error)(scope, receive, sent)


class PatientProtocol(H11Protocol):
    """HTTP, with an end to patience: who does not get a request through, or does not take the answer, is dropped.

    That holds for each request of a connection, also where its body is one that nobody reads, because it needs a token
    or because the request is answered without it. Between two requests uvicorn waits (`timeout_keep_alive`).
    """

    _coming: asyncio.TimerHandle | None = None
    _part: Any = h11.IDLE  # of a request that is coming
    _taking: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        """Begin to wait for the first head."""
        super().connection_made(transport)
        self._coming = self.loop.call_later(_HEAD_SECONDS, transport.close)

    def data_received(self, data: bytes) -> None:
        """Wait on for a head, and then for a body, from its first byte on; a byte now and then earns no more time."""
        super().data_received(data)
        if self.conn.their_state is not self._part:
            self._part, self._coming = self.conn.their_state, _ended(self._coming)
        if self._coming is None and self._part in (h11.IDLE, h11.SEND_BODY):
            seconds = _HEAD_SECONDS if self._part is h11.IDLE else _BODY_SECONDS + _ANSWERING_SECONDS
            self._coming = self.loop.call_later(seconds, self.transport.close)

    def pause_writing(self) -> None:
        """Begin to wait for the client to take what is written."""
        super().pause_writing()
        self._taking = _ended(self._taking) or self.loop.call_later(_TAKING_SECONDS, self.transport.abort)

    def resume_writing(self) -> None:
        """It took enough."""
        super().resume_writing()
        self._taking = _ended(self._taking)

    def connection_lost(self, exc: Exception | None) -> None:
        """Nothing more to wait for."""
        super().connection_lost(exc)
        self._coming, self._taking = _ended(self._coming), _ended(self._taking)


def _ended(timer: asyncio.TimerHandle | None) -> asyncio.TimerHandle | None:
    """No timer any more."""
    if timer is not None:
        timer.cancel()
    return None


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
    return parse_json(await _body(request, most, "application/json"))


def parse_json(text: str | bytes | bytearray, what: str = "the body") -> Any:
    """What was sent, read in one way only: names once, numbers that are some, a few levels, text that can be written.

    Raises:
        BadParameter: It is none of this.
    """
    try:
        told = json.loads(text, parse_constant=_no_number, parse_float=_finite, object_pairs_hook=_once)
        json.dumps(told, ensure_ascii=False).encode()  # half a surrogate pair has no UTF-8
    except (ValueError, RecursionError):
        raise BadParameter(f"{what} is no JSON", fix="send JSON in UTF-8, with each name once") from None
    _require_shallow(told, what)
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


def _require_shallow(value: Any, what: str) -> None:
    level = [value]
    for _ in range(_DEEPEST):
        level = [inner for each in level for inner in _inside(each)]
        if not level:
            return
    raise BadParameter(f"{what} is nested too deeply", fix=f"use at most {_DEEPEST} levels")


def _inside(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return list(value.values())
    return value if isinstance(value, list) else []


def _no_number(_: str) -> NoReturn:
    raise ValueError


def _finite(text: str) -> float:
    number = float(text)
    if not isfinite(number):
        raise ValueError
    return number


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError
    return found
