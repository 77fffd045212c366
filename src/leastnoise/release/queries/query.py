"""What every query is: a question that can be planned for nothing and released at a price."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any, Protocol

from leastnoise.composition import Left
from leastnoise.composition.cost import LEAST_EPSILON
from leastnoise.data import Table
from leastnoise.exact.enclosures import Enclosure
from leastnoise.exact.numbers import Exact
from leastnoise.exact.parameters import NumberLike, read_exact, read_rational
from leastnoise.exact.sources import system_source
from leastnoise.ledger import Ledger, Opening, Request
from leastnoise.ledger.record import Json
from leastnoise.mechanisms.numeric.integer_noise import IntegerNoise
from leastnoise.release.answer_plan import Method, half_error
from leastnoise.release.plan import ReleasePlan
from leastnoise.release.result import Release
from leastnoise.release.tables import TidyTable
from leastnoise.release.transaction import left_after, release_once

__all__ = ["AskedDataset", "Query", "fresh_id"]


class AskedDataset(Protocol):
    """What a question needs of its dataset; see `Dataset`."""

    @property
    def table(self) -> Table: ...  # noqa: D102 - see `Dataset`
    @property
    def ledger(self) -> Ledger: ...  # noqa: D102
    @property
    def name(self) -> str: ...  # noqa: D102
    @property
    def analyst(self) -> str: ...  # noqa: D102
    @property
    def purpose(self) -> str: ...  # noqa: D102
    @property
    def opening(self) -> Opening: ...  # noqa: D102
    @property
    def left(self) -> Left: ...  # noqa: D102
    def require_ready(self) -> None: ...  # noqa: D102


class Query(ABC):
    """A question about a dataset. A subclass says what it reads, and by which method it answers."""

    dataset: AskedDataset

    def __post_init__(self) -> None:
        """Refuse what the table would refuse, before a plan or a price: columns, keys and edges that do not fit."""
        self.dataset.table.check(self.read)

    @property
    @abstractmethod
    def question(self) -> str:
        """What is asked, in a few words; public."""

    @abstractmethod
    def parameters(self) -> dict[str, Json]:
        """All that tells this question from others, as JSON."""

    @abstractmethod
    def method(self, epsilon: Exact, delta: Fraction) -> Method:
        """How it is answered at this price, from public things only."""

    @abstractmethod
    def read(self) -> Any:
        """The true answer, from the private data."""

    def check(self) -> None:
        """Refuse the question if anything public is wrong with it or its table; no private row is read."""
        self.dataset.require_ready()
        self.dataset.table.rehearse(self.read)

    @property
    def adjust(self) -> Callable[[TidyTable, IntegerNoise], TidyTable] | None:
        """What `Release.consistent` does to a table with this noise on each number, for a query that has it."""
        return None

    def plan(self, epsilon: NumberLike, delta: NumberLike = 0) -> ReleasePlan:
        """Mechanism, reason, error and cost. Free: the private data is not touched and nothing is spent.

        Args:
            epsilon: The privacy that the release would cost.
            delta: Its δ; above zero it lets in mechanisms that need one.
        """
        price = _read_price(epsilon, delta)
        return self._plan(self.method(*price), *price, with_half=True)

    def release(self, epsilon: NumberLike, delta: NumberLike = 0, request_id: str | None = None) -> Release:
        """Spend the price and answer.

        Args:
            epsilon: The privacy that the release costs.
            delta: Its δ.
            request_id: Your own name for this request. Repeating it returns the recorded answer, costs nothing and does
                not touch the data. Without one the request gets a random name.

        Raises:
            BudgetExceeded: The budget does not cover it; nothing was read or spent.
            RequestConflict: The id was used for another question.
            Closed: The dataset was closed; nothing was spent.
            EngineFailure: The engine failed; it was charged, and the dataset is suspended for this analyst.
        """
        price = _read_price(epsilon, delta)
        method, dataset = self.method(*price), self.dataset
        name = fresh_id() if request_id is None else request_id
        parameters: dict[str, Json] = {
            "query": type(self).__name__,
            **self.parameters(),
            "epsilon": str(price[0]),
            "delta": str(price[1]),
        }
        plan = self._plan(method, *price, with_half=False)
        request = Request(name, method.event, dataset.name, dataset.analyst, dataset.purpose, parameters)
        recorded = release_once(
            dataset.ledger,
            request,
            self.read,
            lambda truth: method.write(method.mechanism.release(truth)),
            check=self.check,
            opening=dataset.opening,
        )
        return Release(
            table=method.show(recorded),
            plan=replace(plan, left=left_after(dataset.ledger, request)),
            request_id=name,
            noise=method.noise,
            adjust=self.adjust,
        )

    def _plan(self, method: Method, epsilon: Exact, delta: Fraction, *, with_half: bool) -> ReleasePlan:
        dataset = self.dataset
        return ReleasePlan(
            question=self.question,
            mechanism=method.mechanism,
            reason=method.reason,
            sensitivity=method.sensitivity,
            error=method.error,
            lower_bound=method.lower_bound,
            half_error=self.half_error(epsilon, delta) if with_half else None,
            event=method.event,
            options=method.options,
            notes=method.notes,
            left=dataset.left,
        )

    def half_error(self, epsilon: Exact, delta: Fraction) -> Exact | None:
        """The ε at which the expected error would be half."""

        def error_at(price: Exact) -> Enclosure | None:
            error = self.method(price, delta).error
            return None if error is None else error.expected

        return half_error(error_at, epsilon)

    def __repr__(self) -> str:
        """The question."""
        return f"<{type(self).__name__}: {self.question}>"


def fresh_id() -> str:
    """A name for a request that no other has."""
    return f"r-{system_source.bits(96):024x}"


def _read_price(epsilon: NumberLike, delta: NumberLike) -> tuple[Exact, Fraction]:
    return read_exact(epsilon, "epsilon", at_least=LEAST_EPSILON), read_rational(delta, "delta", at_least=0, below=1)
