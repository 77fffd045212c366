"""The workers: started, given one order at a time, and killed where one takes too long or too much memory.

A killed worker answers nothing. What that means for a request is for the ledger to say (`service.Service.settle`).
"""

from __future__ import annotations

import asyncio
import json
import os
import socket
import struct
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, nullcontext, suppress
from dataclasses import dataclass, field
from typing import Any

from leastnoise import errors
from leastnoise.apps.service.worker import write_frame
from leastnoise.errors import LeastNoiseError, ServiceUnavailable, TooManyRequests

__all__ = ["Pool", "Told", "WorkerDied", "read_error"]

_LOOK = 0.1  # seconds between two looks at a worker's memory
_MOST_WAITING = 500
_MOST_OF_ONE = 50  # of those
_STARTING = 60  # seconds that a worker may take to start
_PAGE = os.sysconf("SC_PAGE_SIZE")

Told = Callable[[dict[str, Any]], None]
Rest = Callable[[], Awaitable[None]]


class WorkerDied(Exception):
    """A worker ended without an answer: it was killed, or it crashed.

    Args:
        stale: Whether it had read private rows for an earlier order: what it still held of them may have ended it.
    """

    def __init__(self, stale: bool = False) -> None:
        super().__init__()
        self.stale = stale


@dataclass(eq=False)
class _Running:
    process: asyncio.subprocess.Process
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    has_read: bool = False  # private rows, for an order before this one

    async def read(self) -> Any:
        (length,) = struct.unpack(">I", await self.reader.readexactly(4))
        return json.loads(await self.reader.readexactly(length))

    def memory(self) -> int:
        with suppress(OSError, IndexError, ValueError), open(f"/proc/{self.process.pid}/statm", "rb") as file:  # noqa: PTH123
            return int(file.read().split()[1]) * _PAGE
        return 0

    async def end(self) -> None:
        with suppress(ProcessLookupError):
            self.process.kill()
        await self.process.wait()
        self.writer.close()
        with suppress(OSError):
            await self.writer.wait_closed()


@dataclass
class _Turns:
    """The orders of one person: only a few at a time stand in the line that all share."""

    free: asyncio.Semaphore
    waiting: int = 0


@dataclass
class Pool:
    """So many workers.

    Args:
        arguments: The configuration and the ledger that each worker is told when it starts. They go through its socket:
            a command line can be read by everybody on the machine, and the address of a ledger may hold a password.
        size: How many; at least two, so that plans go on while a release runs.
        time_limit: Seconds that an order may take.
        memory_limit: Bytes that a worker may take.
    """

    arguments: list[str]
    size: int
    time_limit: float
    memory_limit: int
    started: int = 0
    killed: int = 0
    waiting: int = 0
    _idle: asyncio.Queue[_Running | None] = field(default_factory=asyncio.Queue)
    _all: set[_Running] = field(default_factory=set)
    _turns: dict[str, _Turns] = field(default_factory=dict)

    async def start(self) -> None:
        """Start the first worker, and with it see that there are datasets to open; the others start when needed."""
        self.size = max(self.size, 2)
        self._reading = asyncio.Semaphore(self.size - 1)
        self._idle.put_nowait(await self._begin())
        for _ in range(self.size - 1):
            self._idle.put_nowait(None)

    async def stop(self) -> None:
        """Kill all workers; what they were at stays as the ledger has it."""
        for running in list(self._all):
            await running.end()
        self._all.clear()

    async def run(
        self,
        order: dict[str, Any],
        told: Told | None = None,
        reads: bool = False,
        whose: str = "",
        rest: Rest | None = None,
    ) -> Any:
        """What an order gives.

        Args:
            order: See `worker.Worker.do`.
            told: Gets what the worker tells on the way.
            reads: Whether it reads private rows: one worker is always left for plans.
            whose: Who asks: whoever has much to ask keeps nobody else waiting for all of it.
            rest: Ends when the worker may do another order; else the next in line could tell how long this one took.

        Raises:
            LeastNoiseError: The worker refused it.
            TooManyRequests: Too many orders of the same person wait.
            WorkerDied: It ended without an answer.
            ServiceUnavailable: Too many orders wait, or no worker can be started.
        """
        if self.waiting >= _MOST_WAITING:
            raise ServiceUnavailable("too many questions are waiting", fix="ask again in a while")
        self.waiting += 1
        try:
            async with self._turn(whose), self._reading if reads else nullcontext():
                return await self._run_twice(order, told, reads, rest)
        finally:
            self.waiting -= 1

    @asynccontextmanager
    async def _turn(self, whose: str) -> AsyncIterator[None]:
        """A place in the line. Nobody has more of them than there are workers, so that others come soon."""
        mine = self._turns.setdefault(whose, _Turns(asyncio.Semaphore(self.size)))
        if mine.waiting >= _MOST_OF_ONE:
            raise TooManyRequests("too many of your questions are waiting", fix="wait for some of their answers")
        mine.waiting += 1
        try:
            async with mine.free:
                yield
        finally:
            mine.waiting -= 1
            if not mine.waiting:
                del self._turns[whose]

    async def _run_twice(self, order: dict[str, Any], told: Told | None, reads: bool, rest: Rest | None) -> Any:
        """A worker that dies before a price is held costs nothing, so that must say nothing about the data.

        One that had read rows before may have died of what it still held of them: a fresh one tries again.
        """
        held = False

        def passed(message: dict[str, Any]) -> None:
            nonlocal held
            held = held or "held" in message
            if told is not None:
                told(message)

        try:
            return await self._run(order, passed, reads, rest)
        except WorkerDied as died:
            if held or not died.stale:
                raise
        return await self._run(order, passed, reads, rest, fresh=True)

    async def _run(self, order: dict[str, Any], told: Told, reads: bool, rest: Rest | None, fresh: bool = False) -> Any:
        running: _Running | None = await self._idle.get()
        idle: _Running | None = None
        try:
            if running is not None and fresh and running.has_read:
                self._all.discard(running)
                await running.end()
            if running is None or running.process.returncode is not None:
                running = None
                running = await self._begin()
            reply = await self._answer(running, order, told)
            running.has_read = running.has_read or reads
            idle = running
        except BaseException:
            if running is not None:  # killed, also where whoever asked has gone
                self._all.discard(running)
                self.killed += 1
                await asyncio.shield(running.end())
            raise
        finally:
            try:
                if rest is not None:
                    await rest()
            finally:
                self._idle.put_nowait(idle)
        if "result" in reply:
            return reply["result"]
        raise read_error(reply["error"])

    async def _answer(self, running: _Running, order: dict[str, Any], told: Told) -> Any:
        watch = asyncio.create_task(self._watch(running))
        try:
            async with asyncio.timeout(self.time_limit):
                running.writer.write(write_frame(order))
                await running.writer.drain()
                while True:
                    message = await running.read()
                    if "told" not in message:
                        return message
                    told(message["told"])
        except (TimeoutError, EOFError, OSError, ValueError):
            raise WorkerDied(running.has_read) from None
        finally:
            watch.cancel()

    async def _watch(self, running: _Running) -> None:
        await asyncio.sleep(_LOOK)
        while running.memory() <= self.memory_limit:
            await asyncio.sleep(_LOOK)
        with suppress(ProcessLookupError):
            running.process.kill()

    async def _begin(self) -> _Running:
        here, there = socket.socketpair()
        with there:
            # No standard error: an engine may quote data there.
            process = await asyncio.create_subprocess_exec(
                sys.executable,
                "-m",
                "leastnoise.apps.service.worker",
                str(there.fileno()),
                pass_fds=(there.fileno(),),
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.DEVNULL,
                stderr=asyncio.subprocess.DEVNULL,
                env={**os.environ, "LEASTNOISE_ENGINE_MEMORY": f"{max(self.memory_limit // 2_000_000, 100)}MB"},
            )
        reader, writer = await asyncio.open_connection(sock=here)
        running = _Running(process, reader, writer)
        self._all.add(running)
        try:
            async with asyncio.timeout(_STARTING):
                writer.write(write_frame(self.arguments))
                await running.read()
        except (TimeoutError, EOFError, OSError, ValueError):
            self._all.discard(running)
            await running.end()
            raise ServiceUnavailable(
                "a worker can't be started", fix="see that the configuration and the ledger can be read"
            ) from None
        self.started += 1
        return running


def read_error(told: Mapping[str, Any] | None) -> LeastNoiseError:
    """The error that a worker told; None where it told none."""
    kind = None if told is None else getattr(errors, str(told["kind"]), None)
    if told is None or not isinstance(kind, type) or not issubclass(kind, LeastNoiseError):
        return ServiceUnavailable("the question could not be worked on", fix="report it; nothing was answered")
    return kind(told["problem"], given=told["given"], fix=told["fix"])
