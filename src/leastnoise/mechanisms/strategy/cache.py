"""Strategies that were found before, kept in the user's cache folder by what was asked. Nothing private is in them.

A file is a claim like any other. The workload and its weights come from whoever asks, never from the file; the
sensitivity of a strategy is computed anew from its whole numbers, and its error and bound from what proves them. So a
file that is damaged or forged can make noise larger than needed and says so, but never smaller than privacy needs.

Where: `LEASTNOISE_CACHE` names a folder, or is "off". Else it is `leastnoise/strategies` in `XDG_CACHE_HOME`, or in the
cache folder of the platform. Files are written beside their place and then moved there, so that other processes see all
of a file or nothing. The oldest ones go when all together take more than a gigabyte.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from leastnoise.errors import LeastNoiseError
from leastnoise.exact import IntegerMatrix
from leastnoise.model import LinearWorkload, StrategyPart, Weights

__all__ = ["Found", "cache_folder", "kept"]

_LARGEST = 1 << 30  # bytes of all files together, and so of one
_LEAST_CELLS = 64  # smaller ones are found sooner than read
_DIGEST = hashlib.sha256().digest_size
_SUFFIX = ".strategy"
_UNREADABLE = (
    LeastNoiseError,
    ValueError,
    TypeError,
    LookupError,
    AttributeError,
    OSError,
    MemoryError,
    RecursionError,
)


class Found(NamedTuple):
    """A candidate's name and its parts, one for each workload."""

    name: str
    parts: tuple[StrategyPart, ...]


def cache_folder() -> Path | None:
    """Where strategies are kept; None where they are not."""
    given = os.environ.get("LEASTNOISE_CACHE")
    if given is not None:
        return None if given.strip().lower() in ("", "off") else Path(given).expanduser()
    home = os.environ.get("XDG_CACHE_HOME")
    if not home and sys.platform == "darwin":
        home = "~/Library/Caches"
    if not home and sys.platform == "win32":
        home = os.environ.get("LOCALAPPDATA")
    return Path(home or "~/.cache").expanduser() / "leastnoise" / "strategies"


def kept(
    asked: Mapping[str, Any],
    workloads: Sequence[LinearWorkload],
    weights: Sequence[Weights | None],
    find: Callable[[], Found],
    is_good: Callable[[Found], bool],
) -> Found:
    """What was found before, if it is there and good; else what `find` finds, which is kept.

    Args:
        asked: All that decides what is found, beside workloads and weights; JSON-ready.
        workloads: What is asked.
        weights: Of the answers of each.
        find: The search.
        is_good: Whether what a file holds may be used; a strategy that is worse than promised may not.
    """
    folder = cache_folder()
    if folder is None or max(workload.cells for workload in workloads) < _LEAST_CELLS:
        return find()
    described = {
        "version": version("leastnoise"),
        "workloads": [workload.to_dict() for workload in workloads],
        "weights": [None if one is None else [str(weight) for weight in one] for one in weights],
        **asked,
    }
    name = hashlib.sha256(json.dumps(described, sort_keys=True).encode()).hexdigest()
    place = folder / f"{name}{_SUFFIX}"
    with contextlib.suppress(*_UNREADABLE):
        found = _read(place, workloads, weights)
        if is_good(found):
            return found
    found = find()
    with contextlib.suppress(*_UNREADABLE):
        _write(place, found)
    return found


def _read(place: Path, workloads: Sequence[LinearWorkload], weights: Sequence[Weights | None]) -> Found:
    """What a file claims, its inverses checked; raises where it can't be so."""
    if not place.is_file():  # a pipe would wait, and a device has no end
        raise ValueError("this is no file")
    with place.open("rb") as file:
        content = file.read(_LARGEST + 1)
    if len(content) > _LARGEST:
        raise ValueError("this file is too large")
    body = memoryview(content)[_DIGEST:]
    if hashlib.sha256(body).digest() != content[:_DIGEST]:
        raise ValueError("this file is damaged")
    end = content.index(b"\n", _DIGEST)
    head, rest = json.loads(content[_DIGEST:end]), memoryview(content)[end + 1 :]
    parts = []
    for workload, weight, data in zip(workloads, weights, head["parts"], strict=True):
        matrices: dict[str, Any] = {"dual": None}
        for name in ("strategy", "inverse", "dual"):
            if name != "dual" or data[name] is not None:
                matrices[name], rest = _unpacked(data[name], rest)
        part = StrategyPart(
            workload,
            weight,
            matrices["strategy"],
            matrices["inverse"],
            data["denominator"],
            data["closeness"],
            dual=matrices["dual"],
            multipliers=tuple(data["multipliers"]),
            answer_weights=tuple(Fraction(share) for share in data["answer_weights"]),
        )
        _ = part.precision  # refused here and not later
        parts.append(part)
    if len(rest) or not isinstance(head["name"], str):
        raise ValueError("this file holds something else")
    return Found(head["name"], tuple(parts))


def _write(place: Path, found: Found) -> None:
    """Beside its place, then there."""
    parts: list[dict[str, Any]] = []
    packed: list[bytes] = []
    for part in found.parts:
        shapes: dict[str, Any] = {}
        for name in ("strategy", "inverse", "dual"):
            matrix = getattr(part, name)
            shapes[name], content = (None, b"") if matrix is None else _packed(matrix)
            packed.append(content)
        parts.append(
            {
                **shapes,
                "denominator": part.denominator,
                "closeness": part.closeness,
                "multipliers": list(part.multipliers),
                "answer_weights": [str(share) for share in part.answer_weights],
            }
        )
    body = b"\n".join([json.dumps({"name": found.name, "parts": parts}).encode(), b"".join(packed)])
    if len(body) > _LARGEST // 4:
        return
    place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    _make_room(place.parent, len(body))
    handle, beside = tempfile.mkstemp(dir=place.parent, suffix=".part")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(hashlib.sha256(body).digest() + body)
        Path(beside).replace(place)
    except OSError:
        Path(beside).unlink(missing_ok=True)
        raise


def _make_room(folder: Path, wanted: int) -> None:
    """Remove the oldest files until there is room for one more."""
    files = []
    for file in folder.iterdir():
        with contextlib.suppress(OSError):  # another process may have removed it
            files.append((file.stat().st_mtime, file.stat().st_size, file))
    total = wanted + sum(size for _, size, _ in files)
    for _, size, file in sorted(files):
        if total <= _LARGEST:
            return
        with contextlib.suppress(OSError):
            file.unlink()
        total -= size


def _packed(matrix: IntegerMatrix) -> tuple[list[Any], bytes]:
    """Shape and bytes; of a square matrix that is symmetric, or zero above its diagonal, one triangle."""
    words = matrix.numbers(1)
    if words.dtype != np.int64:
        raise ValueError("these numbers are too large to be kept")
    form = "full"
    if words.shape[0] == words.shape[1]:
        form = "symmetric" if np.array_equal(words, words.T) else "full" if np.triu(words, 1).any() else "lower"
    kind = "<i4" if matrix.bits <= 31 else "<i8"
    flat = words.ravel() if form == "full" else words[np.tril_indices(len(words))]
    return [form, kind, *words.shape], flat.astype(kind).tobytes()


def _unpacked(shape: Sequence[Any], content: memoryview) -> tuple[IntegerMatrix, memoryview]:
    """A matrix, and what follows it."""
    form, kind, rows, columns = shape
    if form not in ("full", "symmetric", "lower") or kind not in ("<i4", "<i8") or (form != "full" and rows != columns):
        raise ValueError("this is no matrix")
    if type(rows) is not int or type(columns) is not int or rows < 1 or columns < 1:
        raise ValueError("this is no shape")
    count = rows * columns if form == "full" else rows * (rows + 1) // 2
    size = count * np.dtype(kind).itemsize
    if size > len(content):
        raise ValueError("this file is too short")
    flat = np.frombuffer(content[:size], dtype=kind).astype(np.int64)
    if form == "full":
        return IntegerMatrix(flat.reshape(rows, columns)), content[size:]
    table: NDArray[np.int64] = np.zeros((rows, rows), dtype=np.int64)
    table[np.tril_indices(rows)] = flat
    if form == "symmetric":
        table += np.tril(table, -1).T
    return IntegerMatrix(table), content[size:]
