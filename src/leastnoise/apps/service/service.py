"""What the service does, for whom, and in which order; HTTP is another file's business.

A release is a row in the store from the first request on, and a task while a worker is at it. Its states:

    running ─► done | refused (nothing was read) | failed (charged) | unfinished (the server stopped: ask again)
            ─► waiting ─► approved ─► running …        its price is held until it is answered, denied or expired
                      └─► denied | expired             the price is given back
    running, waiting, approved ─► cancelled

**A worker that is killed** by the limits, or dies by itself, may have died of the data. Its request counts as failed:
the ledger charges it and suspends the dataset for the analyst. One that was never held is free. **A release that its
asker cancels** is an interruption: before the debit the price is given back, after it it stays spent, and the ledger
counts it either way. A server that is killed leaves reservations and debits, from which the same request id goes on.
"""

from __future__ import annotations

import asyncio
import json
import socket
import time
from collections import Counter, OrderedDict
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from typing import Any

from leastnoise.apps.dossier import Dossier, make_dossier
from leastnoise.apps.service.access import Principal, principal_of
from leastnoise.apps.service.pool import Pool, WorkerDied, read_error
from leastnoise.apps.service.settings import ServiceSettings
from leastnoise.apps.service.store import Asked, ServiceStore, brief
from leastnoise.apps.service.worker import read_held, write_error
from leastnoise.composition import Remaining
from leastnoise.errors import (
    ApprovalPending,
    BadConfiguration,
    BadParameter,
    EngineFailure,
    LeastNoiseError,
    LedgerMissing,
    LedgerUnavailable,
    NotAllowed,
    NotFound,
    RequestConflict,
    ServiceUnavailable,
    engine_failure,
)
from leastnoise.exact import system_source
from leastnoise.ledger import FLOOR, Debit, Ledger, Opening, Verification
from leastnoise.ledger.record import canonical, read_name, read_purpose
from leastnoise.release.configuration import Configuration, read_amount
from leastnoise.release.remote import write_left

__all__ = ["Service"]

_MOST_PLANS = 2000  # that are kept
_LONGEST_KEPT = 10_000  # characters of a question whose plan is kept
_SWEEP = 5  # seconds between two looks for approvals that ended
_SLACK = 0.05  # seconds by which an answer may come after its time
_LEASE = 30  # seconds after which a release that no server renewed counts as left behind
_STOPPING = 10  # seconds that running releases may take when the server stops
_AGAIN = ("approved", "unfinished", "failed", "refused", "cancelled", "expired", "denied")  # asked again, it goes on
_FIELDS = {
    "plan": {"question", "price", "purpose", "confidence", "other_prices"},
    "price": {"question", "error", "delta", "currency", "purpose", "confidence"},
    "release": {"question", "price", "purpose", "confidence", "request_id", "event"},
}


class Service:
    """All that can be asked of the service.

    Args:
        configuration: The datasets and the ledger.
        settings: What `[service]` says.
    """

    def __init__(self, configuration: Configuration, settings: ServiceSettings) -> None:
        if configuration.file is None or not configuration.datasets:
            raise BadConfiguration("there is no dataset to serve", fix="write leastnoise.toml with [datasets.NAME]")
        self.configuration, self.settings = configuration, settings
        self.place = configuration.ledger or str(configuration.file.parent / "leastnoise.ledger")
        self.store = ServiceStore(settings.store)
        self.ledger = _open_or_create(self.place, self.store)
        arguments = [str(configuration.file), self.place]
        self.pool = Pool(arguments, settings.workers, settings.time_limit, settings.memory_limit)
        self.issuer = None
        if settings.oidc is not None:
            from leastnoise.apps.service.oidc import Issuer

            self.issuer = Issuer(settings.oidc)
        self.server = f"{socket.gethostname()}:{settings.port}"
        self.counted: Counter[str] = Counter()
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._started: dict[str, float] = {}
        self._progress: dict[str, str] = {}
        self._plans: OrderedDict[str, dict[str, Any]] = OrderedDict()
        self._schemas: dict[str, dict[str, Any]] = {}
        self._verifying = asyncio.Lock()
        self._issuing = ThreadPoolExecutor(2)  # its threads may wait for an issuer, those of the others never
        self._sweeping: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Start the workers, and take up what an earlier run left."""
        await asyncio.to_thread(self.store.abandon, self.server, _now())
        await self.pool.start()
        self._sweeping = asyncio.create_task(self._sweep())

    async def stop(self) -> None:
        """Let running releases end for a while, then kill the workers; what they were at stays as the ledger has it."""
        if self._sweeping is not None:
            self._sweeping.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks.values(), timeout=_STOPPING)
        for task in list(self._tasks.values()):
            task.cancel("stop")
        await asyncio.gather(*self._tasks.values(), return_exceptions=True)
        await self.pool.stop()
        self._issuing.shutdown(wait=False, cancel_futures=True)
        self.store.close()
        self.ledger.close()

    # ------------------------------------------------------------------ who, and what there is

    async def principal(self, token: str) -> Principal:
        """Whose token it is.

        Raises:
            NotAllowed: Nobody's.
        """
        if self.issuer is not None and token.count(".") == 2:
            asking = asyncio.get_running_loop().run_in_executor(self._issuing, self.issuer.principal_of, token)
            return await asking
        return await asyncio.to_thread(principal_of, self.store, token, time.time())

    def seen_by(self, who: Principal) -> list[str]:
        """The datasets that exist for somebody."""
        return [name for name in self.configuration.datasets if who.sees(name)]

    async def dataset(self, who: Principal, name: str) -> dict[str, Any]:
        """The public schema of a dataset, and its bounds as configured."""
        who.require_dataset(name, self.configuration.datasets)
        if name not in self._schemas:
            order = {"do": "schema", "dataset": name}
            self._schemas[name] = await self._quietly(who, order)
        settings = self.configuration.datasets[name]
        known = {
            "bounds": {column: [str(end) for end in ends] for column, ends in settings.bounds.items()},
            "steps": {column: str(step) for column, step in settings.steps.items()},
            "bins": {column: [str(edge) for edge in edges] for column, edges in settings.bins.items()},
            "keys": {
                column: [str(key) for key in keys] for column, keys in settings.keys.items() if isinstance(keys, tuple)
            },
        }
        above = read_amount(settings.approve_above)
        public = {"suggested": known, "approve_above": None if above is None else str(above)}
        return {**self._schemas[name], "analyst": who.name, "role": who.role, **public}

    async def history(self, who: Principal, name: str) -> list[Debit]:
        """What was charged on a dataset: for those who audit all of it, for others their own.

        Where answers have their times, a release that runs shows as held, and no more, until its time.
        """
        who.require_dataset(name, self.configuration.datasets)
        found = await asyncio.to_thread(self.ledger.debits, name)
        if who.may("audit"):
            return found
        mine = [each for each in found if each.analyst == who.name]
        if not self.settings.answer_after:
            return mine
        running = {each.request for each in await asyncio.to_thread(self.store.listed, [name], who.name, ("running",))}
        return [
            replace(each, state="reserved") if each.request in running else each
            for each in mine
            if each.request not in running or each.floor is None
        ]

    async def left(self, who: Principal, name: str, purpose: str) -> dict[str, Any]:
        """What one more question may cost."""
        who.require_dataset(name, self.configuration.datasets)
        return write_left(await self._left(who, name, read_purpose(purpose)))

    async def _left(self, who: Principal, name: str, purpose: str) -> Remaining:
        settings = self.configuration.datasets[name]
        opening = Opening(read_amount(settings.budget), None if settings.unit == "row" else settings.unit)
        return await asyncio.to_thread(self.ledger.left, name, who.name, purpose, opening)

    # ------------------------------------------------------------------ plans and prices: free

    async def plan(self, who: Principal, name: str, body: object, what: str = "plan") -> dict[str, Any]:
        """A plan, or (with "price") the plan at the least price for an error."""
        order = self._order(who, name, body, what)
        key = canonical({**order, "purpose": ""}, "question")  # of one asker: how fast it comes tells of no other
        plan = self._plans.pop(key, None)
        if plan is None:
            plan = await self._quietly(who, order)
        if len(key) <= _LONGEST_KEPT:
            self._plans[key] = plan
            while len(self._plans) > _MOST_PLANS:
                self._plans.popitem(last=False)
        self.counted[what] += 1
        return {**plan, "left": write_left(await self._left(who, name, order["purpose"]))}

    async def _quietly(self, who: Principal, order: dict[str, Any]) -> Any:
        """An order that reads no private row: a worker that dies on it charges nobody."""
        try:
            return await self.pool.run(order, whose=who.name)
        except WorkerDied:
            raise ServiceUnavailable(
                "the question took longer, or more memory, than the service allows; nothing was read or spent",
                fix="ask for fewer keys, bins or questions at once",
            ) from None

    def _order(self, who: Principal, name: str, body: object, what: str) -> dict[str, Any]:
        """An order for a worker, from what somebody sent: only known fields, each of its kind."""
        who.require("ask")
        who.require_dataset(name, self.configuration.datasets)
        if not isinstance(body, dict):
            raise BadParameter("the body is a JSON object", given=type(body).__name__, fix='pass {"question": {…}, …}')
        for field in body:
            if field not in _FIELDS[what]:
                raise BadParameter(
                    "unknown field", given=field, fix=f"the fields are {', '.join(sorted(_FIELDS[what]))}"
                )
        for field, kinds in _KINDS.items():
            if field in body and (type(body[field]) is bool or not isinstance(body[field], kinds)):
                raise BadParameter(f"{field} is of the wrong kind", given=type(body[field]).__name__, fix="see the API")
        if type(body.get("other_prices", False)) is not bool:
            raise BadParameter("other_prices is true or false", fix="leave it out")
        needed = {"plan": ["question", "price"], "price": ["question"], "release": _NEEDED}[what]
        for field in needed:
            if field not in body:
                raise BadParameter(f"{field} is missing", fix=_MISSING.get(field, f'add "{field}"'))
        purpose = who.require_purpose(read_purpose(body.get("purpose", "any")))
        return {**body, "do": what, "dataset": name, "analyst": who.name, "purpose": purpose}

    # ------------------------------------------------------------------ releases

    async def release(self, who: Principal, name: str, body: object, wait: float) -> Asked:
        """Ask for a release, or go on waiting for it; after `wait` seconds it goes on by itself.

        Raises:
            LeastNoiseError: Why there is no answer, as in a release on this machine.
            ApprovalPending: Its price is held, and somebody else must approve it.
        """
        order = self._order(who, name, body, "release")
        read_name(order["request_id"], "request_id")
        text = canonical({field: order.get(field) for field in ("dataset", "purpose", "question", "price")}, "question")
        asked = await self._taken(who, order, text)
        if asked.state == "done":
            return asked
        task = self._tasks.get(asked.id)
        if task is not None:
            await asyncio.wait({task}, timeout=wait)
        found = await asyncio.to_thread(self.store.asked, asked.id)
        if found is None:
            raise ServiceUnavailable("the request is gone", fix="ask again under the same request id")
        if found.problem is not None and found.state not in ("done", "running"):
            raise read_error(found.problem)
        return found

    async def _taken(self, who: Principal, order: dict[str, Any], text: str) -> Asked:
        """The row of a request, with a task at it unless it is done, waits, or is at another server."""
        now, name = _now(), str(order["request_id"])
        fresh = Asked(
            f"rel-{system_source.bits(128):032x}", who.name, name, order["dataset"], order["purpose"], text, "running",
            now, now, self.server, expires=now + _LEASE, origin=who.origin,
        )  # fmt: skip
        known = await asyncio.to_thread(self.store.asked_as, who.name, name)
        if known is None and await asyncio.to_thread(self.store.begin, fresh):
            return self._begun(fresh, order, None)
        if known is None or known.state in ("waiting", "approved"):
            await self._expire()
            known = await asyncio.to_thread(self.store.asked_as, who.name, name)
        if known is None:
            raise ServiceUnavailable("the request is gone", fix="ask again under the same request id")
        if known.body != text and known.state != "refused":  # one that was refused never held anything
            raise RequestConflict(
                "this request id was used before for something else",
                given=name,
                fix="repeat the request exactly as it was, or take a new id",
            )
        if known.state not in _AGAIN:
            return known
        approved = await self._approved(known) if known.state == "approved" else None
        again = replace(fresh, id=known.id)
        moved = await asyncio.to_thread(
            lambda: self.store.move(
                known.id,
                [known.state],
                "running",
                now,
                body=text,
                dataset=again.dataset,
                purpose=again.purpose,
                server=self.server,
                expires=fresh.expires,
                origin=fresh.origin,
                problem=None,
            )
        )
        return self._begun(again, order, approved) if moved else known

    async def _approved(self, known: Asked) -> str:
        held = await asyncio.to_thread(self.store.held, known.id)
        return read_held(held).fingerprint

    def _begun(self, asked: Asked, order: dict[str, Any], approved: str | None) -> Asked:
        task = asyncio.create_task(self._work(asked, {**order, "approved": approved}))
        self._tasks[asked.id], self._started[asked.id] = task, time.monotonic()

        def ended(_: object) -> None:
            for kept in (self._tasks, self._started, self._progress):
                kept.pop(asked.id, None)

        task.add_done_callback(ended)
        return asked

    async def _work(self, asked: Asked, order: dict[str, Any]) -> None:
        """Let a worker answer, and write down what came of it."""
        seen: dict[str, Any] = {}

        def told(message: dict[str, Any]) -> None:
            seen.update(message)
            self._progress[asked.id] = message["progress"]

        held: Any = None
        try:
            result = await self.pool.run(order, told, True, asked.analyst, lambda: self._rest(asked.id))
            fields = {"result": result, "plan": result["plan"]}
            await self._move(asked, "done", **fields)
            self.counted["release"] += 1
        except ApprovalPending as pending:
            ends = _now() + int(self.settings.approval_lasts)
            kept = {"held": seen.get("held"), "plan": seen.get("plan"), "expires": ends, "approver": None}
            await self._move(asked, "waiting", **kept, problem=write_error(pending))
        except WorkerDied:
            held = seen.get("held")
            await self._settled(asked, held, failed=True)
        except asyncio.CancelledError as stopped:
            if stopped.args != ("stop",):
                await self._settled(asked, seen.get("held"), failed=False)
            else:
                await self._move(asked, "unfinished", problem=_PROBLEMS["unfinished"])
        except LeastNoiseError as error:
            if isinstance(error, RequestConflict) and order.get("approved"):  # held in a period that is over
                await self._settled(asked, seen.get("held"), failed=False)
            self.counted["refused"] += 1
            state = "failed" if isinstance(error, EngineFailure) else "refused"
            await self._move(asked, state, problem=write_error(error))

    async def _rest(self, asked_id: str) -> None:
        """Wait for the next multiple of `answer_after` since a release began: how long it took says little of the data.

        Until then nobody is told, neither whoever waits nor whoever looks, a worker that died is not charged for, and
        the worker is at it, so that no other question, also of somebody else, begins where this one ended.
        """
        task = asyncio.current_task()
        if self.settings.answer_after and not (task and task.cancelling()):
            await asyncio.sleep(self._until_next(asked_id))

    def _until_next(self, asked_id: str) -> float:
        """Seconds until a running release may be answered or cancelled."""
        grid = self.settings.answer_after
        return grid - (time.monotonic() - self._started.get(asked_id, 0.0)) % grid

    async def _settled(self, asked: Asked, held: Any, *, failed: bool) -> None:
        """Let the ledger say what becomes of a request whose worker is dead."""
        state = await asyncio.to_thread(self._settle, held, failed)
        self.counted[f"settled {state}"] += 1
        if state == "failed":
            await self._move(asked, "failed", problem=write_error(engine_failure()))
        else:
            stopped = "cancelled" if not failed else "unfinished" if state == "answered" else "refused"
            await self._move(asked, stopped, problem=_PROBLEMS[stopped] if stopped != "refused" else _TOO_LONG)

    def _settle(self, held: Any, failed: bool) -> str | None:
        """Charge or give back; where the request stands then, None where it was never held."""
        if held is None:
            return None
        request = read_held(held)
        standing = self.ledger.standing(request)
        if standing is None or (failed and standing.state not in ("reserved", "committed")):
            return None if standing is None else standing.state
        step = self.ledger.fail(request, FLOOR) if failed else self.ledger.cancel(request, interrupted=True)
        return step.state

    async def _move(self, asked: Asked, to: str, **fields: Any) -> None:
        fields = {"expires": None, **fields, **(_shortened(asked) if to == "refused" else {})}
        await asyncio.to_thread(lambda: self.store.move(asked.id, ["running"], to, _now(), **fields))

    # ------------------------------------------------------------------ what was asked

    async def asked(self, who: Principal, asked_id: str) -> Asked:
        """A release by its id.

        Raises:
            NotFound: There is none, or it is not for them: the two can't be told apart.
        """
        found = await asyncio.to_thread(self.store.asked, asked_id) if len(asked_id) < 100 else None
        mine = found is not None and who.sees(found.dataset) and found.dataset in self.configuration.datasets
        if found is None or not mine or not (found.analyst == who.name or who.may("read all")):
            raise NotFound("there is no such release", given=asked_id, fix="see /v1/releases for those that there are")
        if who.role == "reader" and found.state != "done":
            raise NotFound("there is no such release", given=asked_id, fix="see /v1/releases for those that there are")
        return found

    async def listed(self, who: Principal, states: tuple[str, ...] = ()) -> list[Asked]:
        """The newest releases that somebody may see."""
        analyst = None if who.may("read all") else who.name
        states = ("done",) if who.role == "reader" else states
        return await asyncio.to_thread(self.store.listed, self.seen_by(who), analyst, states)

    async def result(self, asked: Asked) -> str | None:
        """What was released, as JSON text."""
        return await asyncio.to_thread(self.store.result, asked.id) if asked.state == "done" else None

    def progress(self, asked: Asked) -> str | None:
        """How far a running release is; where answers have their times, that it runs and no more."""
        if asked.state == "running" and self.settings.answer_after:
            return "running"
        return self._progress.get(asked.id, "starting") if asked.state == "running" else None

    async def certificate(self, who: Principal, asked: Asked) -> Any:
        """What the checker can verify of a release, for each of its mechanisms."""
        body = json.loads(asked.body)
        order = {**body, "do": "certificate", "analyst": asked.analyst}
        return await self._quietly(who, order)

    async def cancel(self, who: Principal, asked_id: str) -> Asked:
        """Stop a release that is running or waits; its asker and curators may."""
        asked = await self.asked(who, asked_id)
        if asked.analyst != who.name:
            who.require("keep")
        task = self._tasks.get(asked.id)
        if task is not None:
            if self.settings.answer_after:  # what was ready by the next of these times is answered at it
                await asyncio.wait({task}, timeout=self._until_next(asked.id) + _SLACK)
            task.cancel("cancel")
            await asyncio.wait({task})
        elif await self._moved(asked, ("waiting", "approved"), "cancelled", problem=_PROBLEMS["cancelled"]):
            await self._give_back(asked, "cancelled")
        return await self.asked(who, asked_id)

    # ------------------------------------------------------------------ the ledger

    async def verify(self) -> Verification:
        """Check the whole ledger; one at a time, for it takes a while."""
        async with self._verifying:
            return await asyncio.to_thread(self.ledger.verify)

    async def dossier(self, who: Principal, name: str) -> Dossier:
        """What a privacy officer signs; the ledger is verified for it."""
        who.require("audit")
        who.require_dataset(name, self.configuration.datasets)
        async with self._verifying:
            return await asyncio.to_thread(make_dossier, self.ledger, name)

    # ------------------------------------------------------------------ approval

    async def decide(self, who: Principal, asked_id: str, approve: bool, fingerprint: object) -> Asked:
        """Approve or deny a question whose price is held.

        Args:
            who: A curator, and not the one who asked.
            asked_id: The release.
            approve: Or deny.
            fingerprint: Which request the decision is about: what the waiting release says. It binds the question, the
                price and the plan, so that nothing else is approved than was seen.
        """
        who.require("keep")
        asked = await self.asked(who, asked_id)
        if who.name == asked.analyst or who.origin == (asked.origin or asked.analyst):
            raise NotAllowed(
                "nobody approves a question of their own, or of somebody whose token they made",
                fix="a second curator decides",
            )
        await self._expire()
        if asked.state != "waiting" or fingerprint != await self._approved(asked):
            raise RequestConflict(
                "this is not what waits for approval", given=asked.state, fix="look at the release again, then decide"
            )
        to = "approved" if approve else "denied"
        if not await self._moved(asked, ("waiting",), to, approver=who.name, problem=_PROBLEMS.get(to)):
            raise RequestConflict("somebody else was faster", given=asked_id, fix="look at the release again")
        if not approve:
            await self._give_back(asked, to)
        return await self.asked(who, asked_id)

    async def fingerprint(self, asked: Asked) -> str | None:
        """What an approval must name."""
        return await self._approved(asked) if asked.state == "waiting" else None

    async def _moved(self, asked: Asked, states: tuple[str, ...], to: str, **fields: Any) -> bool:
        return await asyncio.to_thread(lambda: self.store.move(asked.id, states, to, _now(), **fields))

    async def _give_back(self, asked: Asked, state: str) -> None:
        """Cancel what is held, then write down that it was: whoever is killed before leaves it for the next look."""
        held = await asyncio.to_thread(self.store.held, asked.id)
        fields: dict[str, Any] = {}
        if held is not None:
            with suppress(RequestConflict):  # committed meanwhile: it stays spent, and the same id gets the answer
                await asyncio.to_thread(self.ledger.cancel, read_held(held))
                fields = _shortened(asked)
        await self._moved(asked, (state,), state, expires=None, **fields)

    async def _expire(self) -> None:
        for asked in await asyncio.to_thread(self.store.due, _now()):
            if asked.state in ("cancelled", "denied", "expired"):  # a server stopped just then
                await self._give_back(asked, asked.state)
            elif await self._moved(asked, (asked.state,), "expired", problem=_PROBLEMS["expired"]):
                await self._give_back(asked, "expired")

    async def _sweep(self) -> None:
        while True:
            await asyncio.sleep(_SWEEP)
            with suppress(LeastNoiseError):
                await asyncio.to_thread(self.store.renew, list(self._tasks), _now() + _LEASE)
                await asyncio.to_thread(self.store.abandon, "", _now())
                await self._expire()


def _open_or_create(place: str, store: ServiceStore) -> Ledger:
    """The ledger. A new one forgets what was spent, so none is made where the store knows of questions."""
    try:
        return Ledger.open(place)
    except LedgerMissing:
        if store.has_asked():
            raise LedgerMissing(
                "the service was asked before, and its ledger is gone; a new one would forget what was spent",
                fix="restore the newest ledger; if it is really over, begin with a new store, too",
            ) from None
    try:
        return Ledger.create(place)
    except LedgerUnavailable:  # another server began at the same time; or opening says what is wrong
        return Ledger.open(place)


def _shortened(asked: Asked) -> dict[str, Any]:
    """What is kept of a long question that nothing was spent on: nobody fills the disk for free."""
    kept = brief(asked.body)
    return {} if kept == asked.body else {"body": kept, "plan": None, "held": None}


def _now() -> int:
    return int(time.time())


def _problem(kind: str, problem: str, fix: str) -> Mapping[str, Any]:
    return {"kind": kind, "problem": problem, "given": None, "fix": fix}


_NEEDED = ["question", "price", "request_id"]
_MISSING = {"request_id": "name the request yourself: repeated under the same request_id it is free"}
_KINDS: dict[str, Any] = {
    "question": dict,
    "price": dict,
    "event": dict,
    "purpose": str,
    "request_id": str,
    "confidence": (int, float, str),
    "error": (int, float, str, list),
    "delta": (int, float, str),
    "currency": str,
}
_TOO_LONG = _problem("ServiceUnavailable", "the question took longer, or more memory, than the service allows; nothing "
                     "was read or spent", "ask for fewer keys, bins or questions at once")  # fmt: skip
_PROBLEMS = {
    "unfinished": _problem("ServiceUnavailable", "the service stopped before the answer", "ask again, same request id"),
    "cancelled": _problem("RequestConflict", "the release was cancelled", "ask again if it is wanted after all"),
    "denied": _problem("NotAllowed", "the question was not approved; its price was given back", "ask a cheaper one"),
    "expired": _problem("ApprovalPending", "nobody approved it in time; its price was given back", "ask again"),
}
