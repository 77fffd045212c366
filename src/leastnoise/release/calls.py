"""A question as JSON: the name of the method of `Dataset` that makes it, and the arguments that were passed.

    {"question": "count", "by": "city", "keys": ["Lyon", "Metz"], "where": "age >= 18"}

What a method takes is read off its signature, so that every method that makes a question has this form and none is
written twice. A method that makes another dataset is a step: its call stands before the question, under "steps".
Values that JSON has not are written as an object with one name: {"$date": "2024-02-29"}.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from functools import cache, wraps
from itertools import islice
from math import isfinite
from types import MappingProxyType
from typing import Any, TypeVar

import numpy as np

from leastnoise.data import Predicate
from leastnoise.errors import BadParameter
from leastnoise.ledger.record import Json
from leastnoise.model import MOST_ENTRIES, Privacy, unknown_label

__all__ = ["asked_as_json", "asked_at", "call_of", "make_asked", "questions_of", "read_written_price"]

_Class = TypeVar("_Class", bound=type)
_CALL, _STEPS = "call", "steps"  # attributes of a question and of a dataset
_DEEPEST = 5  # levels of lists and dicts in an argument
_MOST_STEPS = 32
_MOST_BITS = 1 << 14
_TAKEN = {_CALL: ("question", "steps"), _STEPS: ("step",)}  # what no parameter of a question, of a step, is called


def asked_as_json(owner: _Class) -> _Class:
    """Let every public method that makes a question or another dataset remember how it was called.

    Args:
        owner: The class `Dataset`. A method makes a question where its annotation says `Query` or `Batch`, and is a
            step where it says `Dataset`.
    """
    for name, method in list(vars(owner).items()):
        if name.startswith("_") or not inspect.isfunction(method):
            continue
        makes = method.__annotations__.get("return")
        if makes in ("Query", "Batch", "Query | Batch", "Dataset") and name != "ask":
            setattr(owner, name, _remembering(method, _STEPS if makes == "Dataset" else _CALL))
    return owner


@cache
def questions_of(owner: type, kind: str = _CALL) -> Mapping[str, inspect.Signature]:
    """The methods that make questions (or, for "steps", other datasets), with what they take beside the dataset."""
    found = {}
    for name in dir(owner):
        method = getattr(owner, name)
        if getattr(method, "remembers", None) == kind:
            listed = list(inspect.signature(method).parameters.values())[1:]
            found[name] = inspect.Signature(listed)
    return MappingProxyType(found)


def call_of(made: object) -> dict[str, Json]:
    """The JSON of a question.

    Raises:
        BadParameter: It was not made by a method of a dataset, or an argument has no JSON form.
    """
    call = getattr(made, _CALL, None)
    if call is None:
        raise BadParameter(
            "only a question that a dataset made has a JSON form", fix='ask with people.count(by="city")'
        )
    name, arguments, steps = call
    before: list[Json] = [{"step": step, **_written(given)} for step, given in steps]
    return {"question": name, **_written(arguments), **({"steps": before} if before else {})}


def asked_at(made: object, price: Privacy) -> dict[str, Json]:
    """A question with its price, as JSON."""
    insisted: dict[str, Json] = {"insist": True} if price.insists else {}
    return {"question": call_of(made), "price": {**price.to_dict(), **insisted}}


def read_written_price(written: object) -> Privacy:
    """The price that some JSON stands for: {"epsilon": "1/2"}, {"rho": "1/10"}."""
    given = dict(_object(written, "a price", '{"epsilon": "1/2"}'))
    insist = given.pop("insist", False)
    for name, amount in given.items():
        if name not in ("epsilon", "delta", "rho", "mu"):
            raise unknown_label(name, ("epsilon", "delta", "rho", "mu", "insist"), "part of a price")
        if isinstance(amount, bool) or not isinstance(amount, int | float | str):
            raise BadParameter(f"{name} is a number", given=amount, fix='write 0.5, "1/3" or "ln(3)"')
    if not isinstance(insist, bool):
        raise BadParameter("insist is true or false", given=insist, fix="leave it out")
    return Privacy(**given, insist=insist)


def make_asked(dataset: Any, asked: object) -> Any:
    """The question that some JSON stands for.

    Args:
        dataset: The one that is asked.
        asked: As `call_of` gives it.

    Raises:
        BadParameter: It is no object, takes no such argument or lacks one, or a value is not valid.
        UnknownLabel: There is no such question.
    """
    given = dict(_object(asked, "a question", '{"question": "count", "by": "city", "keys": ["Bonn"]}'))
    steps = given.pop("steps", [])
    if not isinstance(steps, list) or len(steps) > _MOST_STEPS:
        raise BadParameter(f"steps are a list of at most {_MOST_STEPS} calls", fix="leave them out, or pass a list")
    for step in steps:
        call = dict(_object(step, "a step", '{"step": "with_columns", …}'))
        dataset = _call(dataset, call.pop("step", None), call, _STEPS)
    return _call(dataset, given.pop("question", None), given, _CALL)


def _call(dataset: Any, name: object, given: dict[str, Any], kind: str) -> Any:
    known = questions_of(dataset.__class__, kind)
    what = "question" if kind == _CALL else "step"
    if not isinstance(name, str):
        raise BadParameter(f"the {what} has no name", given=name, fix=f"name one of {', '.join(known)}")
    if name not in known:
        raise unknown_label(name, known, what)
    parameters = known[name].parameters
    more: dict[str, Any] = {}
    for key, value in given.items():
        if not isinstance(key, str) or key not in parameters:
            raise unknown_label(key, parameters, f"argument of {name}")
        parameter = parameters[key]
        if "Query" in str(parameter.annotation):
            items = value if isinstance(value, list) else [value]
            more[key] = [make_asked(dataset, item) for item in items[:MOST_ENTRIES]]
        elif parameter.kind is parameter.VAR_KEYWORD:
            more |= {str(each): _read(inner, 1) for each, inner in _object(value, key, "{}").items()}
        else:
            more[key] = _read(value)
    missing = [
        each.name
        for each in parameters.values()
        if each.default is each.empty and each.name not in more and each.kind is not each.VAR_KEYWORD
    ]
    if missing:
        raise BadParameter(f"{name} needs {' and '.join(missing)}", fix=f'add "{missing[0]}"')
    return getattr(dataset, name)(**more)


def _remembering(method: Callable[..., Any], kind: str) -> Callable[..., Any]:
    signature = inspect.signature(method)
    for name in _TAKEN[kind]:
        if name in signature.parameters:
            raise TypeError(f"the parameter {name!r} of {method.__name__} needs another name: JSON uses it")

    @wraps(method)
    def call(self: Any, *positional: Any, **named: Any) -> Any:
        bound = signature.bind(self, *positional, **named)
        for name, value in bound.arguments.items():
            bound.arguments[name] = value if value is self else _kept(value)
        made = method(*bound.args, **bound.kwargs)
        arguments = dict(list(bound.arguments.items())[1:])
        steps = getattr(self, _STEPS, ())
        own = (method.__name__, arguments)
        object.__setattr__(made, kind, (*own, steps) if kind == _CALL else (*steps, own))
        return made

    call.remembers = kind  # type: ignore[attr-defined]
    return call


def _kept(value: Any, depth: int = 0) -> Any:
    """The value so that nobody changes it later, and so that what can be read once only can be read again."""
    if depth > _DEEPEST:
        return value
    if isinstance(value, Iterator):
        return list(islice(value, MOST_ENTRIES + 1))
    if type(value) in (list, tuple):
        return type(value)(_kept(each, depth + 1) for each in value)
    if type(value) is dict:
        return {key: _kept(each, depth + 1) for key, each in value.items()}
    if type(value) is set or isinstance(value, np.ndarray):
        return value.copy()
    return value


def _written(arguments: Mapping[str, Any]) -> dict[str, Json]:
    return {name: _write(value) for name, value in arguments.items()}


def _write(value: Any, depth: int = 0) -> Json:
    if depth > _DEEPEST:
        raise _no_json(value)
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, int):
        if value.bit_length() > _MOST_BITS:
            raise _no_json(value)
        return int(value)
    if isinstance(value, float) and isfinite(value):
        return float(value)
    if isinstance(value, Predicate):
        return str(value)
    for kind, name, written in _TAGS:
        if isinstance(value, kind):
            return {name: written(value)}
    if getattr(value, _CALL, None) is not None:
        return call_of(value)
    if isinstance(value, Mapping):
        if all(isinstance(key, str) and not key.startswith("$") for key in value):
            return {key: _write(each, depth + 1) for key, each in value.items()}
        return {"$dict": [[_write(key, depth + 1), _write(each, depth + 1)] for key, each in value.items()]}
    listed = getattr(value, "tolist", None) or getattr(value, "to_list", None)  # NumPy, pandas and Polars
    if callable(listed):
        value = listed()
    if isinstance(value, Sequence | set | frozenset | range) and not isinstance(value, bytes | bytearray | str):
        return [_write(each, depth + 1) for each in value]
    raise _no_json(value)


def _read(value: Any, depth: int = 0) -> Any:
    if depth > 2 * _DEEPEST:
        raise BadParameter("an argument is nested too deeply", fix="pass lists and objects of a few levels")
    if isinstance(value, list):
        return [_read(each, depth + 1) for each in value]
    if not isinstance(value, dict):
        return value
    tag = next(iter(value), "")
    if not isinstance(tag, str) or not tag.startswith("$"):
        return {key: _read(each, depth + 1) for key, each in value.items()}
    text = value[tag]
    try:
        if tag == "$dict":
            return {_read(key, depth + 1): _read(each, depth + 1) for key, each in text}
        if len(value) == 1 and isinstance(text, str) and len(text) <= _MOST_BITS:
            return _READERS[tag](text)
    except (KeyError, ValueError, TypeError, InvalidOperation, ZeroDivisionError):
        pass
    raise BadParameter("this is no value", given=value, fix=f"write one of {', '.join(_READERS)}, with text")


_TAGS: tuple[tuple[type, str, Callable[[Any], str]], ...] = (
    (datetime, "$timestamp", datetime.isoformat),
    (date, "$date", date.isoformat),
    (Decimal, "$decimal", str),
    (Fraction, "$fraction", str),
)
_READERS: dict[str, Callable[[str], Any]] = {
    "$timestamp": datetime.fromisoformat,
    "$date": date.fromisoformat,
    "$decimal": Decimal,
    "$fraction": lambda text: Fraction(*map(int, text.split("/"))),
}


def _object(value: object, what: str, example: str) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise BadParameter(f"{what} is a JSON object", given=type(value).__name__, fix=f"pass for example {example}")
    return value


def _no_json(value: object) -> BadParameter:
    return BadParameter(
        "an argument of the question has no JSON form",
        given=type(value).__name__,
        fix="pass numbers, text, dates, lists and dicts of a few levels",
    )
