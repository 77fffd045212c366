"""Assertions for tests of anybody's mechanism: is it private, does it follow its law, is its sensitivity as declared?

They work for black boxes of any library. `assert_private` and `assert_law` draw outputs and accuse a right mechanism
with a probability of at most `alpha`, so a test that fails has found a fault.

`assert_sensitivity` looks inside of a pipeline. It runs the pipeline on a dataset and records its calls of a noise
function. Then it runs the pipeline on a neighbour, and the noise function gives back the recorded outputs. Whoever has
seen the same outputs must make the same calls, and what goes in may differ by the declared sensitivity at most.
"""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import wraps
from typing import Any, Literal

import numpy as np

from leastnoise.checker import Audit, Fit, audit, fit
from leastnoise.errors import BadParameter
from leastnoise.exact import Enclosure, NumberLike, read_rational

__all__ = ["NoiseCall", "assert_law", "assert_private", "assert_sensitivity"]

_ALPHA = "1/1000000"
_ADDRESS = re.compile(r" at 0x[0-9a-f]+")


def assert_private(
    sampler: Callable[..., Any],
    neighbours: tuple[Any, Any] | Iterable[tuple[Any, Any]],
    epsilon: NumberLike,
    delta: NumberLike = 0,
    *,
    samples: int = 100_000,
    alpha: NumberLike = _ALPHA,
) -> list[Audit]:
    """Fail if outputs show that a sampler is not (ε, δ)-private on some pair of neighbours.

    That it passes is no proof. A sampler that is private fails with a probability of at most `alpha`, over all pairs.

    Args:
        sampler: sampler(data, size) gives `size` outputs, or sampler(data) one.
        neighbours: A pair of neighbouring inputs as a tuple, or a list of such pairs.
        epsilon: The claimed ε.
        delta: The claimed δ.
        samples: How many outputs to draw for each input.
        alpha: The largest probability of a wrong accusation.

    Returns:
        What was found for each pair: the bound below on ε and the event that shows it.

    Raises:
        AssertionError: The claim is false; the text holds the pair, the event and its counts.

    >>> from leastnoise.mechanisms import Geometric
    >>> honest = Geometric("1/2")
    >>> _ = assert_private(lambda truth: honest.release(truth), (10, 11), epsilon="1/2", samples=2000)
    >>> assert_private(lambda truth: honest.release(truth), (10, 11), epsilon="1/10", samples=20_000)
    Traceback (most recent call last):
    AssertionError: ε = 1/10 is refuted: the outputs show ε ≥ ...
    """
    pairs = [neighbours] if isinstance(neighbours, tuple) else list(neighbours)
    if not pairs or any(not isinstance(pair, tuple) or len(pair) != 2 for pair in pairs):
        raise BadParameter("neighbours are pairs of inputs", given=len(pairs), fix="pass (x, y), or [(x, y), (u, v)]")
    risk = read_rational(alpha, "alpha", above=0, below=1) / len(pairs)
    found = [audit(sampler, x, y, epsilon, delta, alpha=risk, samples=samples) for x, y in pairs]
    for each in found:
        if each.refuted:
            raise AssertionError(str(each))
    return found


def assert_law(
    sampler: Callable[..., Any] | Sequence[Any],
    pmf: Mapping[Any, NumberLike | Enclosure] | Callable[[Any], NumberLike | Enclosure],
    *,
    support: Iterable[Any] | None = None,
    samples: int = 100_000,
    alpha: NumberLike = _ALPHA,
) -> Fit:
    """Fail if samples contradict a law.

    Args:
        sampler: sampler(size) or sampler(), or the samples themselves.
        pmf: The probability of each outcome: a mapping, or a function with `support`.
        support: The outcomes to compare one by one.
        samples: How many to draw.
        alpha: The largest probability of rejecting a right sampler.

    Returns:
        The event that fits worst, with its counts.

    Raises:
        AssertionError: The samples contradict the law; the text holds the event and its counts.

    >>> from leastnoise.exact import discrete_laplace, discrete_laplace_pmf
    >>> law = lambda k: discrete_laplace_pmf(k, 1)
    >>> _ = assert_law(lambda size: discrete_laplace(1, size), law, support=range(-20, 21), samples=10_000)
    >>> assert_law(lambda size: discrete_laplace("4/5", size), law, support=range(-20, 21), samples=10_000)
    Traceback (most recent call last):
    AssertionError: 10000 samples contradict the law...
    """
    found = fit(sampler, pmf, support=support, samples=samples, alpha=alpha)
    if not found:
        raise AssertionError(str(found))
    return found


@dataclass(frozen=True)
class NoiseCall:
    """A noise function that a pipeline calls, and which of its parameters says what.

    Args:
        target: Where the pipeline looks the function up: "package.module.function", or "package.module.Class.method".
        truth: The name of its private parameter: a number, or an array of numbers.
        sensitivity: The name of the parameter that declares the sensitivity, a number, or a function of the arguments,
            which come as a dict; of a method, with its object as "self".
        norm: In which norm it is declared.

    >>> NoiseCall("numpy.random.laplace", truth="loc", sensitivity=lambda arguments: arguments["scale"] / 2)
    NoiseCall(target='numpy.random.laplace', truth='loc', ...)
    """

    target: str
    truth: str
    sensitivity: str | NumberLike | Callable[[Mapping[str, Any]], NumberLike]
    norm: Literal["l1", "l2", "l∞"] = "l1"

    def __post_init__(self) -> None:
        """Refuse a norm that is not known."""
        if self.norm not in ("l1", "l2", "l∞"):
            raise BadParameter("unknown norm", given=self.norm, fix='pass "l1", "l2" or "l∞"')

    def declared(self, arguments: Mapping[str, Any]) -> Fraction:
        """The sensitivity that a call declares."""
        given = self.sensitivity
        if callable(given):
            given = given(arguments)
        elif isinstance(given, str) and given in arguments:
            given = arguments[given]
        return _exactly(given)

    def is_farther(self, first: Any, second: Any, declared: Fraction) -> bool:
        """Whether two true answers are farther apart than declared; decided exactly, for doubles as they are."""
        changes = [abs(_exactly(a) - _exactly(b)) for a, b in zip(_flat(first), _flat(second), strict=True)]
        if self.norm == "l2":
            return sum(change**2 for change in changes) > declared**2
        return (max(changes, default=Fraction(0)) if self.norm == "l∞" else sum(changes)) > declared

    def home(self) -> tuple[Any, str]:
        """The module or class that holds the function, and its name there."""
        path, _, name = self.target.rpartition(".")
        parts = path.split(".") if path else []
        for cut in range(len(parts), 0, -1):
            try:
                owner: Any = importlib.import_module(".".join(parts[:cut]))
            except ModuleNotFoundError:
                continue
            for attribute in parts[cut:]:
                owner = getattr(owner, attribute, None)
            if callable(getattr(owner, name, None)):
                return owner, name
        raise BadParameter("there is no such function", given=self.target, fix='pass "package.module.function"')


@dataclass(frozen=True)
class _Call:
    """What went into a noise function, and what came out."""

    noise: NoiseCall
    arguments: Mapping[str, Any]
    output: Any

    @property
    def public(self) -> dict[str, str]:
        """All other arguments, as text without the addresses of objects."""
        others = {name: value for name, value in self.arguments.items() if name not in (self.noise.truth, "self")}
        return {name: _ADDRESS.sub("", repr(value)) for name, value in others.items()}

    def __str__(self) -> str:
        named = {self.noise.truth: repr(self.arguments[self.noise.truth]), **self.public}
        return f"{self.noise.target}({', '.join(f'{name}={value}' for name, value in named.items())})"


def assert_sensitivity(
    pipeline: Callable[[Any], object], x: Any, neighbour: Any, *calls: NoiseCall, at_least: int = 1
) -> int:
    """Fail if the noise functions inside of a pipeline get more than they declare from one of two neighbours.

    Args:
        pipeline: Called with `x`, then with `neighbour`.
        x: A dataset.
        neighbour: One that differs from it by one unit.
        calls: The noise functions.
        at_least: How many calls must be seen: a pipeline that makes none was not tested.

    Returns:
        How many calls were compared.

    Raises:
        AssertionError: Too large a change, other calls, other public arguments, or too few calls; with both calls.

    >>> import numpy
    >>> noise = NoiseCall("numpy.random.laplace", truth="loc", sensitivity=lambda given: given["scale"])
    >>> count = lambda rows: numpy.random.laplace(loc=len(rows), scale=1.0)
    >>> assert_sensitivity(count, [3, 4, 5], [3, 4], noise)
    1
    >>> total = lambda rows: numpy.random.laplace(loc=sum(rows), scale=1.0)
    >>> assert_sensitivity(total, [3, 4, 5], [3, 4], noise)
    Traceback (most recent call last):
    AssertionError: call 1 declares a sensitivity of 1, and its true answers are farther apart...
    """
    recorded: list[_Call] = []
    played: list[_Call] = []

    def record(call: _Call, inner: Callable[[], Any]) -> Any:
        recorded.append(replace(call, output=inner()))
        return recorded[-1].output

    def play(call: _Call, _: Callable[[], Any]) -> Any:
        place = len(played)
        if place >= len(recorded):
            raise AssertionError(f"the neighbour leads to one more call: {call}")
        before = recorded[place]
        _compare(place + 1, before, call)
        played.append(call)
        return before.output

    with _patched(calls, record):
        pipeline(x)
    if len(recorded) < at_least:
        raise AssertionError(f"the pipeline made {len(recorded)} calls of noise functions, not {at_least} or more")
    with _patched(calls, play):
        pipeline(neighbour)
    if len(played) < len(recorded):
        raise AssertionError(f"the neighbour leads to {len(played)} calls, the dataset to {len(recorded)}")
    return len(recorded)


def _compare(place: int, before: _Call, now: _Call) -> None:
    """Refuse two calls at the same place that differ in more than the declared sensitivity."""
    both = f"\n  dataset:   {before}\n  neighbour: {now}"
    declared = before.noise.declared(before.arguments)
    alike = before.noise is now.noise and before.public == now.public
    if not alike or declared != now.noise.declared(now.arguments):
        raise AssertionError(f"call {place} depends on the data by other ways than its true answer{both}")
    first, second = before.arguments[before.noise.truth], now.arguments[now.noise.truth]
    if np.shape(first) != np.shape(second):
        raise AssertionError(f"call {place} gets true answers of different shapes{both}")
    if now.noise.is_farther(first, second, declared):
        raise AssertionError(
            f"call {place} declares a sensitivity of {declared}, and its true answers are farther apart{both}"
        )


@contextmanager
def _patched(calls: Sequence[NoiseCall], handle: Callable[[_Call, Callable[[], Any]], Any]) -> Iterator[None]:
    """Let `handle` answer every call of the noise functions."""
    if not calls:
        raise BadParameter("no noise function is named", fix='pass NoiseCall("package.module.function", …)')
    homes = [noise.home() for noise in calls]
    originals = [getattr(owner, name) for owner, name in homes]
    try:
        for noise, (owner, name), original in zip(calls, homes, originals, strict=True):
            setattr(owner, name, _wrapped(noise, original, handle))
        yield
    finally:
        for (owner, name), original in zip(homes, originals, strict=True):
            setattr(owner, name, original)


def _wrapped(
    noise: NoiseCall, original: Callable[..., Any], handle: Callable[[_Call, Callable[[], Any]], Any]
) -> Callable[..., Any]:
    @wraps(original, assigned=("__name__", "__doc__"), updated=())
    def wrapper(*arguments: Any, **named: Any) -> Any:
        bound = _bound(original, arguments, named)
        if noise.truth not in bound:
            fix = f"its parameters are {', '.join(bound)}"
            raise BadParameter("the noise function has no such parameter", given=noise.truth, fix=fix)
        return handle(_Call(noise, bound, None), lambda: original(*arguments, **named))

    return wrapper


def _bound(function: Callable[..., Any], arguments: tuple[Any, ...], named: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments by name; those of a function that has no signature by their place, as text."""
    try:
        bound = inspect.signature(function).bind(*arguments, **named)
    except (TypeError, ValueError):
        return {**{str(place): value for place, value in enumerate(arguments)}, **named}
    bound.apply_defaults()
    return dict(bound.arguments)


def _flat(value: Any) -> list[Any]:
    return np.ravel(np.asarray(value, dtype=object)).tolist()


def _exactly(number: Any) -> Fraction:
    """A number as it is: of a double every bit, not its shortest decimal."""
    if isinstance(number, np.generic):
        number = number.item()
    return Fraction(number) if isinstance(number, float) else read_rational(number, "a number of the pipeline")
