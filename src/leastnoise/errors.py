"""The errors: each says what was wrong, what was given and what to do.

Texts are built from public inputs only (parameters, schema, keys). A value of a private record never enters one.
Seven branches, each with one `except` that makes sense to a caller::

    LeastNoiseError
    ├── InputError
    │   ├── BadParameter (and UnsafeJoin)
    │   ├── BadConfiguration
    │   ├── BadFilter
    │   ├── BadChannel
    │   ├── BadPrior
    │   ├── BadLoss
    │   ├── BadGraph
    │   ├── InfiniteGraph
    │   ├── NotAMorphism
    │   ├── BadBoundary
    │   ├── BadRainbow
    │   ├── BadCertificate
    │   ├── UnknownEvent
    │   ├── UnknownLabel (and UnknownColumn)
    │   ├── UnreachableTarget
    │   ├── UnsafeQuestion
    │   ├── WrongCurrency
    │   └── MissingPackage
    ├── LimitError
    │   ├── NumberTooLarge
    │   ├── TooLarge
    │   ├── PrecisionExhausted
    │   └── OutOfBits
    ├── PrivacyError
    │   ├── InsecureSource
    │   ├── ForeignProcess
    │   ├── NoPrivateAnswer
    │   └── UnboundedData
    ├── BudgetError
    │   ├── BudgetExceeded
    │   ├── BudgetChanged
    │   ├── UncoveredDebit
    │   ├── RequestConflict
    │   └── DatasetSuspended
    ├── LedgerError
    │   ├── LedgerDamaged
    │   ├── LedgerMissing
    │   └── LedgerUnavailable
    ├── DataError
    │   ├── BadSource
    │   ├── BrokenAssertion
    │   ├── Closed
    │   └── EngineFailure
    └── ServiceError
        ├── ApprovalPending
        ├── NotAllowed
        ├── NotFound
        ├── ServiceUnavailable
        └── TooManyRequests
"""

from __future__ import annotations

from fractions import Fraction
from typing import Self

__all__ = [
    "ApprovalPending",
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
    "BrokenAssertion",
    "BudgetChanged",
    "BudgetError",
    "BudgetExceeded",
    "Closed",
    "DataError",
    "DatasetSuspended",
    "EngineFailure",
    "ForeignProcess",
    "InfiniteGraph",
    "InputError",
    "InsecureSource",
    "LeastNoiseError",
    "LedgerDamaged",
    "LedgerError",
    "LedgerMissing",
    "LedgerUnavailable",
    "LimitError",
    "MissingPackage",
    "NoPrivateAnswer",
    "NotAMorphism",
    "NotAllowed",
    "NotFound",
    "NumberTooLarge",
    "OutOfBits",
    "PrecisionExhausted",
    "PrivacyError",
    "RequestConflict",
    "ServiceError",
    "ServiceUnavailable",
    "TooLarge",
    "TooManyRequests",
    "UnboundedData",
    "UncoveredDebit",
    "UnknownColumn",
    "UnknownEvent",
    "UnknownLabel",
    "UnreachableTarget",
    "UnsafeJoin",
    "UnsafeQuestion",
    "WrongCurrency",
]


_LONG = 10**30  # a number that nobody reads digit by digit


class LeastNoiseError(Exception):
    """Base of every error that leastnoise raises on purpose.

    >>> raise LeastNoiseError("epsilon must be above zero", given=-1, fix="pass epsilon=0.5, for example")
    Traceback (most recent call last):
    leastnoise.errors.LeastNoiseError: epsilon must be above zero; given: -1; pass epsilon=0.5, for example
    """

    def __init__(self, problem: str, *, given: object = None, fix: str) -> None:
        self.problem = _printable(problem)
        self.given = None if given is None else _short(given)
        self.fix = _printable(fix)
        super().__init__(self._words())

    def _words(self) -> str:
        return "; ".join([self.problem, *([] if self.given is None else [f"given: {self.given}"]), self.fix])

    def located(self, place: str) -> Self:
        """This error with its place in a text, "line 1, column 8", unless it has one, or there is none."""
        if place and "line " not in self.problem:
            self.problem = f"{self.problem.removesuffix(' ()')} ({place})"
            self.args = (self._words(),)
        return self

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle by the three parts, so that an error survives the way back from a worker process."""
        return _rebuild, (type(self), self.problem, self.given, self.fix)


class InputError(LeastNoiseError):
    """What was asked for makes no sense as it is written; mend the call. Nothing was read or spent."""


class BadParameter(InputError, ValueError):
    """A parameter is not a number, out of its range, or makes no sense together with another."""


class UnsafeJoin(BadParameter):
    """A joined row could depend on the rows of several people, or of none; `alias` is the table at fault."""

    def __init__(self, problem: str, *, given: object = None, fix: str, alias: str = "") -> None:
        super().__init__(problem, given=given, fix=fix)
        self.alias = alias


class BadConfiguration(InputError, ValueError):
    """A configuration file can't be read, or says something that it must not; file and key are in the text."""


class BadFilter(InputError, ValueError):
    """A filter is not in the small language of filters, or compares values of different kinds."""


class BadChannel(InputError, ValueError):
    """A matrix is no channel: a row does not sum to one, an entry is negative, labels repeat, or shapes do not fit."""


class BadPrior(InputError, ValueError):
    """A prior is not a distribution over the inputs it is meant for."""


class BadLoss(InputError, ValueError):
    """A loss is not a number for some guess and input, or lacks what the question needs (an order, a sign)."""


class BadGraph(InputError, ValueError):
    """Edges or distances do not describe a connected dataset graph or a metric; the offending nodes are in the text."""


class InfiniteGraph(InputError, ValueError):
    """A list or a matrix over all nodes was asked of a graph that has infinitely many."""


class NotAMorphism(InputError, ValueError):
    """A map between dataset graphs takes two neighbours further apart than it may."""


class BadBoundary(InputError, ValueError):
    """What is fixed at a boundary is no distribution, misses a region, or is not private across two that touch."""


class BadRainbow(InputError, ValueError):
    """A preference is not an order of all colours, or the preferences do not fit the graph."""


class BadCertificate(InputError, ValueError):
    """A document is no certificate, of an unknown version or kind, or not in the one form certificates have."""


class UnknownEvent(InputError, ValueError):
    """A privacy event is not in the vocabulary; it is never counted as free."""


class UnknownLabel(InputError, LookupError):
    """A name that is not among the known ones; the nearest known name is in the text."""


class UnknownColumn(UnknownLabel):
    """A column that the table does not have; the nearest name is in the text."""


class UnreachableTarget(InputError, ValueError):
    """No price reaches the error that is wanted, or no error can be promised for this question."""


class UnsafeQuestion(InputError, ValueError):
    """The text of a question failed on a table made up of extreme values; the private rows were not read."""


class WrongCurrency(InputError, ValueError):
    """A privacy in ρ or μ was asked for its ε or δ, or a price is in a currency that the budget can't take."""


class MissingPackage(InputError, ImportError):
    """An optional package is needed for this call and is not installed."""


class LimitError(LeastNoiseError):
    """What was asked for is larger than this library computes; nothing was rounded, wrapped or allocated."""


class NumberTooLarge(LimitError, OverflowError):
    """A number exceeds what the call can represent; nothing was wrapped or rounded."""


class TooLarge(LimitError, MemoryError):
    """An object would not fit into memory; nothing was allocated."""


class PrecisionExhausted(LimitError, ArithmeticError):
    """Ball arithmetic reached its last precision without an answer; nothing was guessed."""


class OutOfBits(LimitError, EOFError):
    """A replayed source has no bits left: the sampler's outcome is undecided at this depth."""


class PrivacyError(LeastNoiseError):
    """What was asked for would not be private, or no private answer exists."""


class InsecureSource(PrivacyError, ValueError):
    """A predictable source of bits was handed to something that protects people."""


class ForeignProcess(PrivacyError, RuntimeError):
    """An object that must not be doubled was used in another process or copied."""


class NoPrivateAnswer(PrivacyError, ValueError):
    """A theorem says that no private mechanism can give a useful answer of this kind; the text names it."""


class UnboundedData(PrivacyError, ValueError):
    """One record could move the answer without limit, and no private answer can then be near the true one."""


class BudgetError(LeastNoiseError):
    """The budget does not allow the request; nothing was read or spent."""


class BudgetExceeded(BudgetError):
    """A debit would exceed a budget; nothing was spent, and the text says what would fit."""


class BudgetChanged(BudgetError, ValueError):
    """A dataset was opened with another budget or privacy unit than it was granted for; opening never changes them."""


class UncoveredDebit(BudgetError, LookupError):
    """No budget was granted for a dataset; what no budget covers is refused."""


class RequestConflict(BudgetError, ValueError):
    """A request id was used before for something else, or the step does not follow from its state."""


class DatasetSuspended(BudgetError):
    """An analyst had failures or interruptions on a dataset; whoever keeps the ledger must clear them first."""


class LedgerError(LeastNoiseError):
    """The ledger can't be read, written or trusted; nothing was answered."""


class LedgerDamaged(LedgerError, ValueError):
    """A ledger was edited, cut or put back to an older state; the place is in the text."""


class LedgerMissing(LedgerError, FileNotFoundError):
    """There is no ledger, or its witness is gone; nothing is made up in its place."""


class LedgerUnavailable(LedgerError, OSError):
    """A ledger could not be read or written (locked, full, read-only, unreachable); nothing was answered."""


class DataError(LeastNoiseError):
    """The private table can't be opened or asked."""


class BadSource(DataError, ValueError):
    """What was given as a table can't be opened as one."""


class BrokenAssertion(DataError, ValueError):
    """The rows are not as they were declared; only whoever keeps the data asks."""


class Closed(DataError, ValueError):
    """A table or dataset was used after it was closed; nothing was read and nothing charged."""


class EngineFailure(DataError, RuntimeError):
    """The engine that holds the data failed; its own words may quote private values and are never passed on."""


class ServiceError(LeastNoiseError):
    """A service does not do what it was asked for; if a budget was charged, the ledger has it."""


class ApprovalPending(ServiceError):
    """The price of the question is held, and somebody else must approve it before it is answered."""


class NotAllowed(ServiceError):
    """The token is missing, wrong, expired or revoked, or its role and datasets do not allow this."""


class NotFound(ServiceError, LookupError):
    """There is nothing under this name, or nothing that this token may see; the two can't be told apart."""


class ServiceUnavailable(ServiceError):
    """The service can't be reached, is too busy, or answers in a way that this version does not understand."""


class TooManyRequests(ServiceError):
    """More requests came within a minute than are allowed; nothing was read or spent."""


def engine_failure() -> EngineFailure:
    """The one text of every failure of an engine."""
    return EngineFailure(
        "the engine failed; what it said is not passed on, for it may quote the data",
        fix="look into the engine's own log: too little memory or disk, a lost connection and a changed table are the "
        "usual causes; with a ledger the request was charged, and the dataset is suspended for this analyst until "
        "whoever keeps the ledger has found the cause and clears it: leastnoise budget clear",
    )


def shown(given: object) -> str:
    """What was given, as Python writes it, long numbers with a few digits; where Python can't write it, its type."""
    try:
        if isinstance(given, int | Fraction) and not -_LONG < given.numerator < _LONG:
            return f"about {float(given):.6g}"
        if isinstance(given, Fraction):
            return str(given) if given.denominator < _LONG else f"about {float(given):.6g}"
        if type(given) is tuple and len(given) == 2:
            return f"({shown(given[0])}, {shown(given[1])})"
        return repr(given)
    except Exception:  # somebody else's code: an error text must not fail
        return f"{type(given).__name__} that can't be printed"


def _short(given: object) -> str:
    text = given if isinstance(given, str) else shown(given)
    start = _printable(text[:121])
    return start if len(start) <= 120 else f"{start[:100]}… ({len(text)} characters)"


def _printable(text: str) -> str:
    """The text, with escapes for the halves of characters that no output can encode."""
    return text.encode("utf-8", "backslashreplace").decode()


def _rebuild(kind: type[LeastNoiseError], problem: str, given: str | None, fix: str) -> LeastNoiseError:
    return kind(problem, given=given, fix=fix)
