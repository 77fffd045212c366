"""Releasing any mechanism's answer: charged to a ledger if there is one, its cost reported either way.

A request id is bound to the mechanism by one hash, so that no other question gets the recorded answer. A mechanism is
described by all that it and its class hold, down to numbers, text and arrays: fields, attributes, slots, and what the
class sets for all its objects. What is computed from these (cached properties, fields that equality leaves out) does
not count. A function has no description, for its name and its text do not say what it does. Nor has a class that a
function made: the next call makes another one of the same name.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set as AbstractSet
from dataclasses import fields, is_dataclass, replace
from fractions import Fraction
from functools import cached_property, partial
from inspect import signature
from types import CellType, FunctionType, MethodType
from typing import Any

import numpy as np

from leastnoise.errors import BadParameter, InsecureSource
from leastnoise.exact import Source, SystemSource, system_source
from leastnoise.ledger import Ledger, Request
from leastnoise.ledger.record import Json, canonical
from leastnoise.mechanisms.combinatorial.k_median.metric import PublicMetric
from leastnoise.model import Channel, Mechanism, Privacy, decode_label, encode_label
from leastnoise.release.plan import ReleasePlan
from leastnoise.release.queries.query import fresh_id
from leastnoise.release.result import Release
from leastnoise.release.tables import TidyTable
from leastnoise.release.transaction import left_after, release_once

__all__ = ["fingerprint_of", "release_mechanism", "require_no_predictable_source", "require_recordable"]

_LABELS = ("candidates", "colours", "nodes", "options")  # what mechanisms call the labels of which they draw some
_WIDEST_INTEGER = 1000  # bits; Python writes no whole number of more than 4300 digits


def release_mechanism(
    mechanism: Mechanism,
    truth: Any,
    *,
    ledger: Ledger | None = None,
    dataset: str | None = None,
    analyst: str | None = None,
    purpose: str | None = None,
    request_id: str | None = None,
    progress: Callable[..., None] | None = None,
    encode: Callable[[Any], Json] | None = None,
    decode: Callable[[Any], Any] | None = None,
    parameters: Mapping[str, Json] | None = None,
) -> Release:
    """One release of a mechanism at the truth.

    Everything that can be wrong with the mechanism is said before anything is spent. An error that the truth
    causes, in computing it or in drawing, is a failure: it is charged and says nothing.

    Args:
        mechanism: What draws, with the source of this process and no other.
        truth: The true answer, private; or a function of no arguments that computes it, called after the budget was
            checked and before it is debited.
        ledger: Where it is charged; without one nothing is recorded and the cost is only reported.
        dataset: Whose budget; needed with a ledger.
        analyst: Who asks; "anyone" if left out.
        purpose: What for.
        request_id: Repeating it returns the recorded answer and costs nothing. It is bound to all parameters of the
            mechanism; with another one under the same id the request is refused.
        progress: Handed to a mechanism whose draws take time and that takes one. What it is told depends on the data.
        encode: What was drawn, as plain JSON; numbers, text, tuples and arrays by default.
        decode: Its inverse.
        parameters: JSON that tells this question from others under the same id, beside the mechanism. Needed where the
            mechanism holds a function, which no hash can tell from another.

    Raises:
        BadParameter: The mechanism can't be told from others; nothing was spent.
        InsecureSource: The mechanism holds a predictable source of bits; nothing was spent.
        RequestConflict: The id was used for another question.
        EngineFailure: Computing or drawing the answer failed; it was charged.

    >>> from leastnoise.mechanisms import Geometric
    >>> release = release_mechanism(Geometric("ln(3)"), 42)
    >>> type(release.value), str(release.cost), release.certificate is not None
    (<class 'int'>, 'ε = ln(3)', True)
    """
    if not isinstance(mechanism, Mechanism):
        raise BadParameter(
            "only a mechanism can be released", given=type(mechanism).__name__, fix="pass for example Geometric(1)"
        )
    require_no_predictable_source(mechanism)
    if encode is None:
        require_recordable(mechanism)
    draw: Callable[..., Any] = mechanism.draw
    if progress is not None:
        draw = partial(draw, progress=_accepted(mechanism, progress))
    plan = _plan(mechanism)
    name, request = None, None
    if ledger is not None:
        if not isinstance(ledger, Ledger):
            raise BadParameter(
                "a release is charged to a `Ledger`",
                given=type(ledger).__name__,
                fix='pass for example Ledger.open("census.ledger")',
            )
        if dataset is None:
            raise BadParameter("a ledger needs to know whose budget to charge", fix='pass dataset="census"')
        name = fresh_id() if request_id is None else request_id
        told = _identity(mechanism, parameters)
        who, why = "anyone" if analyst is None else analyst, "any" if purpose is None else purpose
        request = Request(name, plan.event, dataset, who, why, told)
    read = truth if callable(truth) else lambda: truth
    write, show = encode or _encode, decode or decode_label
    recorded = release_once(ledger, request, read, lambda truth: write(draw(truth, source=system_source)))
    return Release(TidyTable({"value": (show(recorded),)}), replace(plan, left=left_after(ledger, request)), name)


def require_recordable(mechanism: Mechanism) -> None:
    """Refuse public labels that have no form in JSON, before one of them is drawn.

    Raises:
        BadChannel: A label has no such form.
        BadParameter: One is too long for it.
    """
    law = getattr(mechanism, "law", None)
    for labels in (
        *(getattr(mechanism, name, ()) for name in _LABELS),
        law.outputs if isinstance(law, Channel) else (),
    ):
        if not isinstance(labels, range):
            canonical([encode_label(label) for label in labels], "the list of labels")


def _plan(mechanism: Mechanism) -> ReleasePlan:
    reason = mechanism.reason()
    return ReleasePlan(
        question=f"answer of the {mechanism.name}",
        mechanism=mechanism,
        reason=reason,
        sensitivity=None,
        error=mechanism.error(),
        lower_bound=reason.lower_bound,
        event=mechanism.event,
    )


def _identity(mechanism: Mechanism, parameters: Mapping[str, Json] | None) -> dict[str, Json]:
    """What the request id is bound to: the mechanism, and what the caller adds."""
    if parameters is not None and not isinstance(parameters, Mapping):
        raise BadParameter(
            "parameters must be a dict", given=type(parameters).__name__, fix='pass for example {"version": 1}'
        )
    told: dict[str, Json] = {"mechanism": mechanism.name}
    try:
        told["fingerprint"] = fingerprint_of(mechanism)
    except BadParameter:
        if not parameters:
            raise
    return told if parameters is None else {**told, "parameters": dict(parameters)}


def _accepted(mechanism: Mechanism, progress: Callable[..., None]) -> Callable[..., None]:
    if "progress" not in signature(mechanism.draw).parameters:
        raise BadParameter("this mechanism reports no progress", given=mechanism.name, fix="leave `progress` out")
    return progress


def _encode(drawn: Any) -> Json:
    """As the model writes labels; an array is a tuple of its rows."""
    written: Json = encode_label(_as_tuple(drawn.tolist()) if isinstance(drawn, np.ndarray) else drawn)
    return written


def _as_tuple(nested: Any) -> Any:
    return tuple(_as_tuple(part) for part in nested) if isinstance(nested, list) else nested


def fingerprint_of(value: Any) -> str:
    """A hash of a mechanism, or of other public parameters: of its class and all that it consists of.

    Raises:
        BadParameter: Some part of it has no description.

    >>> from leastnoise.mechanisms import Geometric
    >>> fingerprint_of(Geometric(1)) == fingerprint_of(Geometric(1, sensitivity=1))
    True
    >>> fingerprint_of(Geometric(1)) == fingerprint_of(Geometric(1, sensitivity=2))
    False
    """
    try:
        text = json.dumps(_describe(value), sort_keys=True)
    except RecursionError:
        raise _undescribed(value) from None
    return hashlib.sha256(text.encode()).hexdigest()


def require_no_predictable_source(mechanism: Mechanism) -> None:
    """Refuse a mechanism that holds a seeded source, in an attribute, a container, a partial or a closure.

    Raises:
        InsecureSource: It does.
    """
    seen: set[int] = set()
    waiting: list[object] = [mechanism]
    while waiting:
        part = waiting.pop()
        if id(part) in seen:
            continue
        seen.add(id(part))
        if isinstance(part, Source):
            if type(part) is not SystemSource:
                raise InsecureSource(
                    "the mechanism holds a source of its own, and a release needs unpredictable noise",
                    given=type(part).__name__,
                    fix="take the source from the arguments of `draw`",
                )
            continue
        waiting.extend(_held(part))


def _describe(value: Any) -> Json:
    """A value as JSON, different for different values."""
    if value is None or isinstance(value, bool | str):
        return value
    if type(value) is int:
        return value if value.bit_length() <= _WIDEST_INTEGER else {"integer": hex(value)}
    if isinstance(value, bytes):
        return {"bytes": value.hex()}
    if isinstance(value, float):
        return {"float": value.hex()}
    if isinstance(value, Fraction):
        return {"number": str(value)}
    if isinstance(value, np.ndarray) and value.dtype != object:
        data = np.ascontiguousarray(value)
        return {"array": [data.dtype.str, list(data.shape), hashlib.sha256(data.tobytes()).hexdigest()]}
    if isinstance(value, np.ndarray | np.generic):
        return {"list": [_describe(part) for part in value.tolist()]} if value.shape else _describe(value.item())
    if isinstance(value, range):
        return {"range": [value.start, value.stop, value.step]}
    if isinstance(value, Channel):
        return {"channel": _describe([value.inputs, value.outputs, value.matrix()])}
    if isinstance(value, PublicMetric):
        return {"metric": _describe([value.count, value.diameter, value.resolution, *_places(value)])}
    if isinstance(value, Privacy):
        return {"privacy": _describe(value.to_dict())}
    if isinstance(value, SystemSource):
        return {"source": "system"}
    if isinstance(value, Mechanism) or (is_dataclass(value) and not isinstance(value, type)):
        return _described(value)
    if isinstance(value, Mapping):
        pairs = [[_describe(key), _describe(part)] for key, part in value.items()]
        return {"mapping": sorted(pairs, key=json.dumps)}
    if isinstance(value, AbstractSet):
        return {"set": sorted((_describe(part) for part in value), key=json.dumps)}
    if isinstance(value, Sequence):
        return {"list": [_describe(part) for part in value]}
    if callable(value) or not (hasattr(value, "__dict__") or any(_slots(type(value)))):
        raise _undescribed(value)
    return _described(value)


def _described(value: Any) -> Json:
    kind = type(value)
    if "<locals>" in kind.__qualname__:
        raise _undescribed(value)
    law = getattr(value, "law", None)
    ours = kind.__module__.startswith("leastnoise.")
    if ours and isinstance(value, Mechanism) and isinstance(law, Channel):  # a table says all there is to say
        parts = {"law": law, "event": value.event}
    else:
        parts = {**_settings(kind), **_state(value)}
    name = f"{kind.__module__}.{kind.__qualname__}"
    return {"class": name, "parts": {part: _describe(held) for part, held in parts.items()}}


def _settings(kind: type) -> dict[str, Any]:
    """What a class sets for all its objects: no methods, properties and slots, and nothing that Python keeps there."""
    every = {name: part for base in reversed(kind.__mro__) for name, part in vars(base).items()}
    return {name: part for name, part in every.items() if not hasattr(part, "__get__") and not _is_python(name)}


def _state(value: Any) -> dict[str, Any]:
    """What one object holds beside that."""
    held = {name: getattr(value, name) for name in _slots(type(value)) if hasattr(value, name)}
    held |= vars(value) if hasattr(value, "__dict__") else {}
    if is_dataclass(value):
        held |= {f.name: getattr(value, f.name) for f in fields(value)}
    computed = {f.name for f in fields(value) if not f.compare} if is_dataclass(value) else set()
    return {name: part for name, part in held.items() if name not in computed and not _is_cached(type(value), name)}


def _slots(kind: type) -> Iterator[str]:
    for base in kind.__mro__:
        names = vars(base).get("__slots__", ())
        for name in [names] if isinstance(names, str) else names:
            hidden = name.startswith("__") and not name.endswith("__")  # Python puts the class before such a name
            if not _is_python(name):
                yield f"_{base.__name__.lstrip('_')}{name}" if hidden else name


def _is_python(name: str) -> bool:
    return (name.startswith("__") and name.endswith("__")) or name == "_abc_impl"


def _places(metric: PublicMetric) -> Iterable[Any]:
    """What tells metrics apart: the points or the table, and for a function the distances that it gives."""
    identity = metric.identity()
    if not any(callable(part) for part in identity):
        return identity
    digest = hashlib.sha256()
    for _, block in metric.rounded():
        digest.update(np.ascontiguousarray(block).tobytes())
    return [digest.hexdigest()]


def _is_cached(kind: type, name: str) -> bool:
    return isinstance(getattr(kind, name, None), cached_property)


def _held(part: Any) -> Iterator[Any]:
    """What an object holds on to, one level down."""
    if isinstance(part, Mapping):
        yield from part.keys()
        yield from part.values()
    elif isinstance(part, tuple | list | set | frozenset):
        yield from part
    elif isinstance(part, np.ndarray):
        yield from part.ravel() if part.dtype == object else ()
    elif isinstance(part, partial):
        yield from (part.func, part.args, part.keywords)
    elif isinstance(part, MethodType):
        yield from (part.__self__, part.__func__)
    elif isinstance(part, FunctionType):
        yield from (part.__defaults__, part.__kwdefaults__)
        yield from (cell.cell_contents for cell in part.__closure__ or () if cell != CellType())
    elif not isinstance(part, type):
        yield from vars(part).values() if hasattr(part, "__dict__") else ()
        yield from (getattr(part, name, None) for name in _slots(type(part)))
        yield from _settings(type(part)).values()


def _undescribed(value: object) -> BadParameter:
    return BadParameter(
        "the request id can't be bound to this question, for a part of it can't be told from others",
        given=type(value).__name__,
        fix='pass parameters={"version": 1} that do tell it, or keep the numbers of the mechanism in a dataclass',
    )
