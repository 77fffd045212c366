"""The process that opens the data. It takes one order at a time over a socket, and can be killed at any moment.

An order is JSON and so is what comes back: `told` (how far it is; and the ledger's request, just before its price is
held), then one `result` or `error`. Nothing else leaves the process: no traceback, and no dump of its memory. What is
charged is decided by the ledger, which this process writes like any other.
"""

from __future__ import annotations

import ctypes
import json
import os
import resource
import signal
import socket
import struct
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from leastnoise.errors import (
    ApprovalPending,
    BadConfiguration,
    BadParameter,
    BudgetError,
    DataError,
    LeastNoiseError,
    LedgerError,
    RequestConflict,
    ServiceUnavailable,
)
from leastnoise.ledger import Ledger, Opening, Receipt, Request
from leastnoise.mechanisms.histogram.independent_noise import IndependentNoise
from leastnoise.model import Privacy, event_from_dict
from leastnoise.release import (
    Batch,
    BatchPlan,
    BatchRelease,
    Dataset,
    Query,
    Release,
    ReleasePlan,
    SQLQuery,
    SQLRelease,
    open as open_dataset,
)
from leastnoise.release.calls import read_written_price
from leastnoise.release.configuration import Configuration, read_amount, read_configuration
from leastnoise.release.pricing import multiple_of
from leastnoise.release.remote import write_column

__all__ = [
    "main",
    "needs_approval",
    "public_given",
    "read_frame",
    "read_held",
    "write_error",
    "write_frame",
    "write_held",
]

_HEAD = struct.Struct(">I")
_LONGEST = 1 << 30
_DIE_WITH_PARENT = 1  # PR_SET_PDEATHSIG
_FACTORS = tuple(map(Fraction, ("1/8", "1/6", "1/4", "1/3", "1/2", "2/3", "1", "3/2", "2", "3", "4", "6", "8")))
_CHOOSING = 2  # seconds that are spent on prices to choose from
_MOST_ROWS = 500  # of a table that is shown before it is released
_Released = Release | BatchRelease | SQLRelease
_RELEASED = {Release: "release", BatchRelease: "batch", SQLRelease: "sql"}


class WatchedLedger(Ledger):
    """A ledger that tells where a request is, and stops one that needs approval once its price is held."""

    tell: Callable[[dict[str, Any]], None]
    order: Mapping[str, Any]
    threshold: Privacy | None

    def reserve(self, request: Request, opening: Opening | None = None) -> Receipt:
        """Hold the price.

        Raises:
            RequestConflict: The asker planned another cost.
            ApprovalPending: It is held, and somebody else must approve it.
        """
        expected = self.order.get("event")
        if expected is not None and expected != request.event.to_dict():
            raise RequestConflict(
                "the service would charge this question otherwise than it was planned",
                fix="use the same version as the service, on a machine that plans alike",
            )
        self.tell({"progress": "holding", "held": write_held(request)})
        receipt = super().reserve(request, opening)
        price = read_written_price(self.order["price"])
        approved = self.order.get("approved") == request.fingerprint
        if receipt.state == "reserved" and not approved and needs_approval(price, self.threshold):
            raise ApprovalPending(
                "the price is held; somebody else must approve the question",
                given=str(price),
                fix="ask again under the same request id when it is approved",
            )
        self.tell({"progress": "reading"})
        return receipt

    def commit(self, request: Request) -> Receipt:
        """Debit."""
        receipt = super().commit(request)
        self.tell({"progress": "drawing"})
        return receipt


def needs_approval(price: Privacy, threshold: Privacy | None) -> bool:
    """Whether a price is above a threshold. One in another currency always is: it can't be compared.

    >>> needs_approval(Privacy("1/2"), Privacy("1/4")), needs_approval(Privacy("1/4"), Privacy("1/4"))
    (True, False)
    >>> needs_approval(Privacy("1/8", "1e-6"), Privacy("1/4")), needs_approval(Privacy(rho="1/100"), Privacy(1))
    (True, True)
    """
    if threshold is None:
        return False
    mine, most = ("rho" if each.currency == "rho" else "mu" if each.currency == "mu" else "epsilon"
                  for each in (price, threshold))  # fmt: skip
    if mine != most:
        return True
    own_delta, most_delta = (each.delta if mine == "epsilon" else 0 for each in (price, threshold))
    return bool(getattr(price, mine) > getattr(threshold, mine) or own_delta > most_delta)


class Worker:
    """Opens datasets as they are asked for, and does orders.

    Args:
        configuration: Which datasets there are.
        ledger: Where their budgets are kept.
        tell: Sends how far an order is.
    """

    def __init__(
        self, configuration: Configuration, ledger: WatchedLedger, tell: Callable[[dict[str, Any]], None]
    ) -> None:
        self._configuration, self._ledger = configuration, ledger
        self._ledger.tell = tell
        self._open: dict[str, Dataset] = {}

    def do(self, order: Mapping[str, Any]) -> Any:
        """What an order asks for, as JSON."""
        dataset = self._dataset(order["dataset"])
        if order["do"] == "schema":
            return _schema(dataset)
        self._ledger.order = order
        self._ledger.threshold = read_amount(self._configuration.datasets[order["dataset"]].approve_above)
        asked = _asked(replace(dataset, analyst=order["analyst"], purpose=order["purpose"]), order["question"])
        if isinstance(asked, Query):
            asked.require_listed("the service")
        sure = {} if order.get("confidence") is None else {"confidence": order["confidence"]}
        if order["do"] == "price":
            return _price(asked, order, sure)
        price = read_written_price(order["price"])
        if order["do"] == "plan":
            plan = _nobodys(asked.plan(price, **sure))
            if not order.get("other_prices"):
                return _brief(plan).to_dict()
            return {**plan.to_dict(), **_prospect(asked, plan, sure)}
        if order["do"] == "certificate":
            return _certificates(asked, price)
        if needs_approval(price, self._ledger.threshold):
            self._ledger.tell({"progress": "planned", "plan": _brief(asked.plan(price, **sure)).to_dict()})
        released = _without_other_prices(asked.release(price, request_id=order["request_id"], **sure))
        return {
            "kind": _RELEASED[type(released)],
            **released.to_dict(),
            "plan": released.plan.to_dict(),
            "recorded": released.recorded
            if isinstance(released, Release)
            else [each.recorded for each in released.releases],
        }

    def _dataset(self, name: str) -> Dataset:
        if name not in self._open:
            try:
                self._open[name] = self._opened(name)
            except BudgetError:
                raise
            except LeastNoiseError as error:  # where the data lies is not for those who ask
                raise ServiceUnavailable(
                    "the dataset can't be opened", given=type(error).__name__, fix="tell whoever keeps the service"
                ) from None
        return self._open[name]

    def _opened(self, name: str) -> Dataset:
        settings = self._configuration.datasets[name]
        if settings.unit is None:
            raise BadConfiguration("the privacy unit is missing", given=name, fix=f"set datasets.{name}.unit")
        dataset = open_dataset(
            settings.source,
            privacy_unit=None if settings.unit == "row" else settings.unit,
            budget=read_amount(settings.budget),
            table=settings.table,
            columns=settings.columns or None,
            ledger=self._ledger,
            name=name,
            analyst="service",
            groups_per_unit=settings.groups_per_unit,
            rows_per_unit=settings.rows_per_unit,
            memory_limit=os.environ.get("LEASTNOISE_ENGINE_MEMORY"),
        )
        return replace(dataset, description=settings.description(dataset))


def _asked(dataset: Dataset, question: Mapping[str, Any]) -> Query | Batch | SQLQuery:
    """The question that JSON stands for: one of the dataset's own, or {"sql": "SELECT …"}."""
    if "sql" not in question:
        return dataset.ask(question)
    if set(question) != {"sql"} or not isinstance(question["sql"], str):
        raise BadParameter("a question in SQL is one text", given=", ".join(question), fix='pass {"sql": "SELECT …"}')
    return dataset.sql(question["sql"])


def _prospect(asked: Query | Batch | SQLQuery, plan: ReleasePlan | BatchPlan, sure: dict[str, Any]) -> dict[str, Any]:
    """What can be chosen before anything is spent: prices with their errors, and the rows that an answer will have."""
    asked = asked.asked if isinstance(asked, SQLQuery) else asked
    plans = plan.plans if isinstance(plan, BatchPlan) else (plan,)
    shares = plan.shares if isinstance(plan, BatchPlan) else (plan.price,)
    queries = asked.queries if isinstance(asked, Batch) else (asked,)
    rows = [_rows(*each) for each in zip(queries, shares, plans, strict=True)]
    return {"choices": list(_choices(asked, plan, sure)), "rows": rows}


def _choices(asked: Query | Batch, plan: ReleasePlan | BatchPlan, sure: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Prices around one, the cheapest first, each with the error of each question."""
    begun = time.monotonic()
    for factor in _FACTORS:
        if plan.price is None or time.monotonic() - begun > _CHOOSING:
            return
        with suppress(LeastNoiseError):  # one that nobody should pay is no choice
            price = read_written_price(multiple_of(plan.price, factor).to_dict())
            found = plan if factor == 1 else asked.plan(price, **sure)
            plans = found.plans if isinstance(found, BatchPlan) else (found,)
            yield {"price": price.to_dict(), "errors": [_error(each) for each in plans], "here": factor == 1}


def _error(plan: ReleasePlan) -> dict[str, float] | None:
    if plan.error is None or plan.error_within is None:
        return None
    return {"expected": float(plan.error.expected), "within": float(plan.error_within)}


def _rows(query: Query, price: Privacy | None, plan: ReleasePlan) -> dict[str, Any] | None:
    """The keys of the answer's table, where they are public and there is one noise; no row is read for it."""
    drawn = plan.mechanism
    if (
        price is None
        or not isinstance(drawn, IndependentNoise)
        or len(drawn.blocks) > 1
        or drawn.dimension > _MOST_ROWS
    ):
        return None
    how = query.public.answer_plan(price)
    table = how.to_table(how.encode(np.zeros(drawn.dimension, dtype=np.int64)), plan.confidence)
    return {"columns": list(table.keys), "rows": [[str(cell) for cell in row[: len(table.keys)]] for row in table]}


def _nobodys(plan: ReleasePlan | BatchPlan) -> Any:
    """The plan without what its asker has left: it is kept for everybody, or shown to whoever may see the release."""
    if isinstance(plan, BatchPlan):
        return replace(plan, left=None, plans=tuple(_nobodys(each) for each in plan.plans))
    return replace(plan, left=None)


def _brief(plan: ReleasePlan | BatchPlan) -> Any:
    """The same without its errors at other prices, which take longer to find than the rest of it."""
    if isinstance(plan, BatchPlan):
        return replace(plan, left=None, plans=tuple(_brief(each) for each in plan.plans))
    return replace(plan, left=None, other_prices=lambda _: ())


def _without_other_prices(released: _Released) -> _Released:
    if not isinstance(released, Release):
        each = tuple(replace(one, plan=_brief(one.plan)) for one in released.releases)
        return replace(released, releases=each, plan=_brief(released.plan))
    return replace(released, plan=_brief(released.plan))


def _schema(dataset: Dataset) -> dict[str, Any]:
    """The public schema: what `ln.connect` needs to make questions."""
    bound = dataset.contribution
    return {
        "name": dataset.name,
        "columns": [write_column(column) for column in dataset.table.types.values()],
        "privacy_unit": bound.privacy_unit,
        "groups_per_unit": bound.groups_per_unit,
        "rows_per_unit": bound.rows_per_unit,
        "budget": dataset.budget.to_dict(),
    }


def _price(asked: Query | Batch | SQLQuery, order: Mapping[str, Any], sure: dict[str, Any]) -> Any:
    more = {name: order[name] for name in ("delta", "currency") if order.get(name) is not None}
    wanted: Any = order.get("error")  # a question may name its targets itself
    return asked.price(wanted, **more, **sure).to_dict()


def _certificates(asked: Query | Batch | SQLQuery, price: Privacy) -> Any:
    """What the checker can verify of each mechanism, or why there is nothing."""
    plan = asked.plan(price)
    plans = list(plan.plans) if isinstance(plan, BatchPlan) else [plan]
    found: list[dict[str, Any]] = []
    for each in plans:
        try:
            found.append({"certificate": json.loads(each.mechanism.certificate().to_json())})
        except LeastNoiseError as refusal:
            found.append({"certificate": None, "reason": str(refusal)})
    return found


def write_held(request: Request) -> dict[str, Any]:
    """A request of the ledger as JSON, so that another process can cancel or fail it."""
    return {
        "id": request.id,
        "event": request.event.to_dict(),
        "dataset": request.dataset,
        "analyst": request.analyst,
        "purpose": request.purpose,
        "parameters": dict(request.parameters),
    }


def read_held(told: Any) -> Request:
    """The inverse of `write_held`."""
    return Request(**{**told, "event": event_from_dict(told["event"])})


def public_given(error: LeastNoiseError) -> str | None:
    """What was given, where whoever asks gave it; where ledger and data lie is not for those who ask."""
    return None if isinstance(error, LedgerError | DataError) else error.given


def write_error(error: LeastNoiseError) -> dict[str, Any]:
    """An error as JSON: its kind and its three parts, which are public."""
    return {"kind": type(error).__name__, "problem": error.problem, "given": public_given(error), "fix": error.fix}


def read_frame(channel: socket.socket) -> Any:
    """The next message; None at the end."""
    head = _exactly(channel, _HEAD.size)
    if head is None:
        return None
    (length,) = _HEAD.unpack(head)
    body = _exactly(channel, length)
    return None if body is None else json.loads(body)


def write_frame(message: Any) -> bytes:
    """A message with its length."""
    body = json.dumps(message, allow_nan=False).encode()
    return _HEAD.pack(len(body)) + body


def _exactly(channel: socket.socket, count: int) -> bytes | None:
    found = bytearray()
    while len(found) < count:
        chunk = channel.recv(min(count - len(found), 1 << 20))
        if not chunk:
            return None
        found += chunk
    return bytes(found)


def main() -> None:
    """Do orders until the service goes away."""
    channel = socket.socket(fileno=int(sys.argv[1]))
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # whoever runs the service stops the service
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_DIE_WITH_PARENT, signal.SIGKILL)
        with suppress(OSError):  # where memory ends, this process ends and not the service
            Path("/proc/self/oom_score_adj").write_text("1000")
    place, kept = read_frame(channel) or sys.exit()
    configuration, ledger = read_configuration(Path(place)), WatchedLedger.open(kept)
    worker = Worker(configuration, ledger, lambda told: channel.sendall(write_frame({"told": told})))  # type: ignore[arg-type]
    channel.sendall(write_frame({"ready": os.getpid()}))
    while (order := read_frame(channel)) is not None:
        try:
            reply = {"result": worker.do(order)}
        except LeastNoiseError as error:
            reply = {"error": write_error(error)}
        except BaseException:  # its words may quote private values
            reply = {"error": None}
        channel.sendall(write_frame(reply))


if __name__ == "__main__":
    main()
