"""Where random bits come from: the one door for randomness in the whole project.

`SystemSource` is AES-256 in counter mode under a key from the operating system. Each thread has a key of its own; a
forked child never continues its parent's stream; a copied or unpickled source starts afresh. A key gives at most
2^30 bytes (2^26 blocks), so the chance of telling the stream from true randomness by the absence of repeated blocks
stays below 2^-76. `SeededSource` repeats itself on purpose, for tests; whatever protects people refuses it, and within
`releasing` it gives no bits at all.

Draws come in a flat run and leave as the number or array that `size` asked for.
"""

from __future__ import annotations

import hashlib
import os
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher, CipherContext, algorithms, modes
from numpy.typing import NDArray

from leastnoise.errors import BadParameter, InsecureSource
from leastnoise.exact.parameters import ExactArray, Size, read_integer, shape_of

__all__ = [
    "Draws",
    "SeededSource",
    "Source",
    "SystemSource",
    "in_shape",
    "per_element",
    "releasing",
    "require_secure",
    "system_source",
]

_BYTES_PER_KEY = 1 << 30
_CHUNK = 1 << 17
_WORDS = {bits: np.dtype(f"<u{bits // 8}") for bits in (8, 16, 32, 64)}
_ZEROS = memoryview(bytes(_CHUNK))
_forks = 0
_releases: ContextVar[int] = ContextVar("releases", default=0)


def _count_fork() -> None:
    global _forks
    _forks += 1


os.register_at_fork(after_in_child=_count_fork)


class Source(ABC):
    """A stream of independent fair bits."""

    @abstractmethod
    def words(self, count: int, bits: int) -> NDArray[Any]:
        """`count` independent uniform words of 8, 16, 32 or 64 bits, as unsigned integers."""

    def bits(self, count: int) -> int:
        """One uniform integer of `count` bits."""
        return int.from_bytes(self.words(-(-count // 8), 8).tobytes()) >> (-count % 8)


class _Stream:
    """An AES-CTR keystream written into arrays."""

    def __init__(self, key: bytes, nonce: bytes) -> None:
        self._encryptor: CipherContext = Cipher(algorithms.AES(key), modes.CTR(nonce)).encryptor()
        self.written = 0

    def words(self, count: int, bits: int) -> NDArray[Any]:
        words = np.empty(count, dtype=_WORDS[bits])
        view = words.view(np.uint8).data
        for start in range(0, len(view), _CHUNK):
            part = view[start : start + _CHUNK]
            self._encryptor.update_into(_ZEROS[: len(part)], part)
        self.written += len(view)
        return words


class SystemSource(Source):
    """Cryptographic randomness, keyed by the operating system; the default everywhere.

    >>> len(SystemSource().words(3, bits=64))
    3
    """

    def __init__(self) -> None:
        self._local = threading.local()

    def words(self, count: int, bits: int) -> NDArray[Any]:
        """`count` independent uniform words of 8, 16, 32 or 64 bits."""
        stream: _Stream | None = getattr(self._local, "stream", None)
        # The count of forks tells a child from its parent; the process id is a second guard, for a fork that Python
        # was not told of.
        lineage = (_forks, os.getpid())
        if stream is None or self._local.lineage != lineage or stream.written >= _BYTES_PER_KEY:
            stream = _Stream(os.urandom(32), os.urandom(16))
            self._local.stream, self._local.lineage = stream, lineage
        return stream.words(count, bits)

    def __reduce__(self) -> tuple[type[SystemSource], tuple[()]]:
        """A copy is a new source, so copying an object never replays its noise."""
        return SystemSource, ()


class SeededSource(Source):
    """A stream that is the same every time: for tests only, refused by anything that releases.

    >>> SeededSource(7).bits(20) == SeededSource(7).bits(20)
    True
    """

    def __init__(self, seed: int) -> None:
        digest = hashlib.sha512(str(read_integer(seed, "seed")).encode()).digest()
        self._stream = _Stream(digest[:32], digest[32:48])
        self._lock = threading.Lock()

    def words(self, count: int, bits: int) -> NDArray[Any]:
        """The next `count` words of the repeatable stream; none within a release."""
        if _releases.get():
            raise InsecureSource(
                "a release needs unpredictable noise",
                given=type(self).__name__,
                fix="take the source from the arguments of `draw`",
            )
        with self._lock:
            return self._stream.words(count, bits)


system_source = SystemSource()


@contextmanager
def releasing() -> Iterator[None]:
    """Nothing in here gets bits from a seeded source, wherever a mechanism has it from."""
    token = _releases.set(_releases.get() + 1)
    try:
        yield
    finally:
        _releases.reset(token)


def require_secure(source: Source | None) -> Source:
    """The source to release with: the system's; any other is refused.

    >>> require_secure(SeededSource(1))
    Traceback (most recent call last):
    leastnoise.errors.InsecureSource: a release needs unpredictable noise; given: SeededSource; leave out `source`
    """
    if source is not None and type(source) is not SystemSource:  # a subclass could override the bits
        raise InsecureSource(
            "a release needs unpredictable noise", given=type(source).__name__, fix="leave out `source`"
        )
    return system_source  # and no other object of this class, whose methods could have been replaced


Draws = Any  # one Python int or bool if size is None, else an array
Draw = Callable[[int, Source], NDArray[Any]]

_BLOCK = 1 << 16  # draws at a time: what a block touches stays in the processor's cache


def in_shape(draw: Draw, size: Size, source: Source | None, dtype: type[Any] = np.int64) -> Draws:
    """Draw as many numbers as `size` says, block by block, into one array."""
    shape = shape_of(size)
    source = source or system_source
    if size is None:
        return draw(1, source)[0].item() if dtype is not object else draw(1, source)[0]
    out = np.empty(int(np.prod(shape, dtype=object)), dtype=dtype)
    for start in range(0, len(out), _BLOCK):
        stop = min(start + _BLOCK, len(out))
        out[start:stop] = draw(stop - start, source)
    return out.reshape(shape)


def per_element(
    draw: Callable[[slice, Source], NDArray[Any]],
    parameters: ExactArray,
    size: Size,
    source: Source | None,
    dtype: type[Any] = np.int64,
) -> NDArray[Any]:
    """Draw one number per parameter, block by block; `size`, if given, must agree."""
    if size is not None and shape_of(size) != parameters.shape:
        raise BadParameter(
            f"size must match the parameters, which have shape {parameters.shape}", given=size, fix="leave out `size`"
        )
    out = np.empty(len(parameters.centers), dtype=dtype)
    for start in range(0, len(out), _BLOCK):
        block = slice(start, min(start + _BLOCK, len(out)))
        out[block] = draw(block, source or system_source)
    return out.reshape(parameters.shape)
