"""The exception tree: each error says what was wrong, what was given and what to do.

Texts are built from public inputs only (parameters, schema, keys). A value of a private record never enters one.
"""

from __future__ import annotations

__all__ = [
    "BadBoundary",
    "BadCertificate",
    "BadChannel",
    "BadConfiguration",
    "BadFilter",
    "BadGraph",
    "BadLoss",
    "BadParameter",
    "BadPrior",
    "BadRainbow",
    "BadSource",
    "BudgetChanged",
    "BudgetExceeded",
    "Closed",
    "DatasetSuspended",
    "EngineFailure",
    "ForeignProcess",
    "InfiniteGraph",
    "InsecureSource",
    "LeastNoiseError",
    "LedgerDamaged",
    "LedgerMissing",
    "LedgerUnavailable",
    "MissingPackage",
    "NoPrivateAnswer",
    "NotAMorphism",
    "NumberTooLarge",
    "OutOfBits",
    "PrecisionExhausted",
    "RequestConflict",
    "TooLarge",
    "UnboundedData",
    "UncoveredDebit",
    "UnknownColumn",
    "UnknownEvent",
    "UnknownLabel",
    "UnsafeQuestion",
]


class LeastNoiseError(Exception):
    """Base of every error that leastnoise raises on purpose.

    >>> raise LeastNoiseError("epsilon must be above zero", given=-1, fix="pass epsilon=0.5, for example")
    Traceback (most recent call last):
    leastnoise.errors.LeastNoiseError: epsilon must be above zero; given: -1; pass epsilon=0.5, for example
    """

    def __init__(self, problem: str, *, given: object = None, fix: str) -> None:
        self.problem = problem
        self.given = None if given is None else _short(given)
        self.fix = fix
        parts = [problem, *([] if self.given is None else [f"given: {self.given}"]), fix]
        super().__init__("; ".join(parts))

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle by the three parts, so that an error survives the way back from a worker process."""
        return _rebuild, (type(self), self.problem, self.given, self.fix)


class BadParameter(LeastNoiseError, ValueError):
    """A parameter is not a number, out of its range, or makes no sense together with another."""


class NumberTooLarge(LeastNoiseError, OverflowError):
    """A number exceeds what the call can represent; nothing was wrapped or rounded."""


class InsecureSource(LeastNoiseError, PermissionError):
    """A predictable source of bits was handed to something that protects people."""


class OutOfBits(LeastNoiseError, EOFError):
    """A replayed source has no bits left: the sampler's outcome is undecided at this depth."""


class PrecisionExhausted(LeastNoiseError, ArithmeticError):
    """Ball arithmetic reached its last precision without an answer; nothing was guessed."""


class BadCertificate(LeastNoiseError, ValueError):
    """A document is no certificate, of an unknown version or kind, or not in the one form certificates have."""


class BadChannel(LeastNoiseError, ValueError):
    """A matrix is no channel: a row does not sum to one, an entry is negative, labels repeat, or shapes do not fit."""


class BadLoss(LeastNoiseError, ValueError):
    """A loss is not a number for some guess and input, or lacks what the question needs (an order, a sign)."""


class BadPrior(LeastNoiseError, ValueError):
    """A prior is not a distribution over the inputs it is meant for."""


class BadBoundary(LeastNoiseError, ValueError):
    """What is fixed at a boundary is no distribution, misses a region, or is not private across two that touch."""


class BadRainbow(LeastNoiseError, ValueError):
    """A preference is not an order of all colours, or the preferences do not fit the graph."""


class UnknownEvent(LeastNoiseError, ValueError):
    """A privacy event is not in the vocabulary; it is never counted as free."""


class UnknownLabel(LeastNoiseError, LookupError):
    """A name that is not among the known ones; the nearest known name is in the text."""


class TooLarge(LeastNoiseError, MemoryError):
    """An object would not fit into memory; nothing was allocated."""


class UnboundedData(LeastNoiseError, ValueError):
    """One record could move the answer without limit, and no private answer can then be near the true one."""


class BadGraph(LeastNoiseError, ValueError):
    """Edges or distances do not describe a connected dataset graph or a metric; the offending nodes are in the text."""


class InfiniteGraph(LeastNoiseError, ValueError):
    """A list or a matrix over all nodes was asked of a graph that has infinitely many."""


class NoPrivateAnswer(LeastNoiseError, ValueError):
    """A theorem says that no private mechanism can give a useful answer of this kind; the text names it."""


class NotAMorphism(LeastNoiseError, ValueError):
    """A map between dataset graphs takes two neighbours further apart than it may."""


class MissingPackage(LeastNoiseError, ImportError):
    """An optional package is needed for this call and is not installed."""


class BudgetChanged(LeastNoiseError, ValueError):
    """A dataset was opened with another budget or privacy unit than it was granted for; opening never changes them."""


class BudgetExceeded(LeastNoiseError, PermissionError):
    """A debit would exceed a budget; nothing was spent, and the text says what would fit."""


class DatasetSuspended(LeastNoiseError, PermissionError):
    """Failures or interruptions on a dataset must be cleared by whoever keeps the ledger; nothing was spent."""


class ForeignProcess(LeastNoiseError, RuntimeError):
    """An object that must not be doubled was used in another process or copied."""


class LedgerDamaged(LeastNoiseError, ValueError):
    """A ledger was edited, cut or put back to an older state; the place is in the text."""


class LedgerMissing(LeastNoiseError, FileNotFoundError):
    """There is no ledger, or its witness is gone; nothing is made up in its place."""


class LedgerUnavailable(LeastNoiseError, OSError):
    """A ledger could not be read or written (locked, full, read-only, unreachable); nothing was answered."""


class RequestConflict(LeastNoiseError, ValueError):
    """A request id was used before for something else, or the step does not follow from its state."""


class UncoveredDebit(LeastNoiseError, LookupError):
    """No budget was granted for a dataset; what no budget covers is refused."""


class BadSource(LeastNoiseError, ValueError):
    """What was given as a table can't be opened as one."""


class EngineFailure(LeastNoiseError, RuntimeError):
    """The engine that holds the data failed; its own words may quote private values and are never passed on."""


class Closed(LeastNoiseError, RuntimeError):
    """A table or dataset was closed; nothing was asked of it and nothing was spent."""


class UnsafeQuestion(LeastNoiseError, ValueError):
    """A question failed on made-up rows, before any private row was read; it is refused and costs nothing."""


class BadFilter(LeastNoiseError, ValueError):
    """A filter is not in the small language of filters, or compares values of different kinds."""


class UnknownColumn(UnknownLabel):
    """A column that the table does not have; the nearest name is in the text."""


class BadConfiguration(LeastNoiseError, ValueError):
    """A configuration file can't be read, or says something that it must not; file and key are in the text."""


def _short(given: object) -> str:
    text = given if isinstance(given, str) else repr(given)
    return text if len(text) <= 120 else f"{text[:100]}… ({len(text)} characters)"


def _rebuild(kind: type[LeastNoiseError], problem: str, given: str | None, fix: str) -> LeastNoiseError:
    return kind(problem, given=given, fix=fix)
