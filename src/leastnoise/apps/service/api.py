"""The service over HTTP: `/v1`. Tokens come in the header Authorization only, never in a cookie or an address.

The page, which has sessions of its own, calls the functions here by their names.
"""

from __future__ import annotations

import asyncio
import csv
import io
import json
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from functools import partial
from itertools import islice
from typing import Annotated, Any

from fastapi import Depends, FastAPI, Query, Request, Response, Security
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, StreamingResponse
from fastapi.security import HTTPBearer
from starlette.exceptions import HTTPException

import leastnoise
from leastnoise.apps.service.access import Principal, new_token
from leastnoise.apps.service.descriptions import add_problems, answers_of
from leastnoise.apps.service.guards import Guard, Limiter, read_json
from leastnoise.apps.service.pages import add_page, tables_of
from leastnoise.apps.service.problems import problem_of
from leastnoise.apps.service.service import Service
from leastnoise.apps.service.settings import read_duration
from leastnoise.apps.service.store import Asked, StoredToken
from leastnoise.errors import BadParameter, LeastNoiseError, NotAllowed, NotFound, TooLarge, TooManyRequests
from leastnoise.ledger import Balance, Debit, Suspension
from leastnoise.ledger.record import read_name
from leastnoise.release.calls import read_written_price
from leastnoise.release.remote import write_left

__all__ = ["make_app"]

_FORMULA = tuple("=+-@\t\r\n＝＋－＠")  # what a cell that spreadsheets reckon with begins with
_LINES_AT_ONCE = 1000
_QUESTION = {"question": "count", "by": "city", "keys": ["Ashford", "Brook"]}
_BODIES: dict[str, dict[str, Any]] = {
    "plan": {"question": _QUESTION, "price": {"epsilon": "1/2"}},
    "sql": {"question": {"sql": "SELECT COUNT(*) FROM visits WHERE age >= 18"}, "price": {"epsilon": "1/2"}},
    "price": {"question": _QUESTION, "error": 10},
    "release": {"question": _QUESTION, "price": {"epsilon": "1/2"}, "request_id": "persons by city"},
    "batch": {
        "question": {"question": "batch", "queries": [_QUESTION, {"question": "count"}]},
        "price": {"epsilon": 1},
        "request_id": "two at once",
    },
    "budget": {"dataset": "visits", "analyst": "ada", "budget": {"epsilon": "1/2"}, "refresh": "30d"},
    "token": {"name": "ada", "role": "analyst", "datasets": ["visits"], "lasts": "90d"},
    "decision": {"approve": True, "fingerprint": "…"},
    "clear": {"dataset": "visits", "analyst": "ada"},
}


def _takes(*names: str) -> dict[str, Any]:
    """The OpenAPI description of a body, with examples."""
    examples = {name: {"value": _BODIES[name]} for name in names}
    return {"requestBody": {"required": True, "content": {"application/json": {"examples": examples}}}}


def make_app(service: Service) -> FastAPI:
    """The application.

    Args:
        service: What it speaks for.
    """

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        await service.start()
        yield
        await service.stop()

    app = FastAPI(
        title="leastnoise",
        version=leastnoise.__version__,
        description="Private answers with the least noise differential privacy allows.",
        docs_url=None,
        redoc_url=None,
        openapi_url="/v1/openapi.json",
        redirect_slashes=False,  # they would be made of what the client says it is called
        lifespan=lifespan,
    )
    callers = Limiter(service.settings.requests_per_minute)
    failures = Limiter(service.settings.failures_per_minute)

    described = HTTPBearer(scheme_name="token", description="A token of ours, or of the OIDC issuer.", auto_error=False)

    async def caller(request: Request, _: Any = Security(described)) -> Principal:  # noqa: B008 - how FastAPI is told
        kind, _, token = request.headers.get("authorization", "").partition(" ")
        return await enter(request, token if kind.lower() == "bearer" else "")

    async def enter(request: Request, token: str) -> Principal:
        address = request.client.host if request.client else "unknown"
        try:
            if not token or len(token) > 16_000:
                raise NotAllowed("a token is needed", fix="send Authorization: Bearer …")
            who = await service.principal(token.strip())
        except NotAllowed:
            failures.take(address)
            raise
        request.state.who = who
        callers.take(who.name)
        return who

    async def body_of(request: Request) -> Any:
        return await read_json(request, service.settings.largest_body)

    app.add_middleware(Guard, counted=service.counted)

    @app.exception_handler(LeastNoiseError)
    async def refused(request: Request, error: LeastNoiseError) -> Response:
        if isinstance(error, NotAllowed) and not hasattr(request.state, "who"):
            return problem_of(error, 401, {"WWW-Authenticate": "Bearer"})
        if isinstance(error, TooManyRequests):
            return problem_of(error, headers={"Retry-After": "10"})
        if isinstance(error, TooLarge) and "body" in error.problem:
            return problem_of(error, 413, {"Connection": "close"})
        return problem_of(error)

    @app.exception_handler(HTTPException)
    async def unknown(request: Request, error: HTTPException) -> Response:
        if request.url.path.startswith("/page"):
            return page.problem(request, NotFound("there is nothing here", fix="begin at /page"), error.status_code)
        return problem_of(NotFound("there is nothing here", fix="see /v1/openapi.json"), error.status_code)

    @app.exception_handler(RequestValidationError)
    async def mistyped(_: Request, __: RequestValidationError) -> Response:
        return problem_of(BadParameter("a parameter of the address is wrong", fix="see /v1/openapi.json"))

    known, body = Depends(caller), Depends(body_of)
    for add in (_add_questions, _add_releases, _add_ledger, _add_tokens):
        add(app, service, known, body)
    page = add_page(app, service, enter)
    make_description = app.openapi

    def description() -> dict[str, Any]:
        if app.openapi_schema is None:
            add_problems(make_description())
        return app.openapi_schema or {}

    app.openapi = description  # type: ignore[method-assign]
    return app


def _add_questions(app: FastAPI, service: Service, known: Any, body: Any) -> None:
    """Datasets, plans and prices: free."""

    @app.get("/v1/health", summary="Whether the service runs; needs no token", **answers_of("health"))
    async def health() -> dict[str, str]:
        return {"status": "ok", "version": leastnoise.__version__}

    @app.get("/v1/datasets", summary="The datasets of this token", **answers_of("datasets"))
    async def datasets(*, who: Principal = known) -> dict[str, Any]:
        listed = [{"name": name} for name in service.seen_by(who)]
        return {"version": leastnoise.__version__, "name": who.name, "role": who.role, "datasets": listed}

    @app.get("/v1/datasets/{name:path}/left", summary="What one more question may cost", **answers_of("left"))
    async def left(*, who: Principal = known, name: str, purpose: str = "any") -> dict[str, Any]:
        return await service.left(who, name, purpose)

    @app.get("/v1/datasets/{name:path}/history", summary="What was charged on a dataset", **answers_of("history"))
    async def history(*, who: Principal = known, name: str) -> dict[str, Any]:
        return {"debits": [_debit(each) for each in await service.history(who, name)]}

    @app.get("/v1/datasets/{name:path}", summary="The public schema of a dataset", **answers_of("dataset"))
    async def dataset(*, who: Principal = known, name: str) -> dict[str, Any]:
        return await service.dataset(who, name)

    @app.post(
        "/v1/datasets/{name:path}/plan",
        summary="What an answer would cost; free",
        openapi_extra=_takes("plan", "sql"),
        **answers_of("plan"),
    )
    async def plan(*, who: Principal = known, name: str, given: Any = body) -> Response:
        return _json(await service.plan(who, name, given))

    @app.post(
        "/v1/datasets/{name:path}/price",
        summary="What an error costs; free",
        openapi_extra=_takes("price"),
        **answers_of("price"),
    )
    async def price(*, who: Principal = known, name: str, given: Any = body) -> Response:
        return _json(await service.plan(who, name, given, "price"))


def _add_releases(app: FastAPI, service: Service, known: Any, body: Any) -> None:
    """Releases and approvals."""

    @app.post(
        "/v1/datasets/{name:path}/releases",
        summary="Spend a price and answer; repeated under its request id it is free",
        openapi_extra=_takes("release", "batch"),
        **answers_of("release"),
    )
    async def release(*, request: Request, who: Principal = known, name: str, given: Any = body) -> Response:
        wait = 0.0 if "respond-async" in request.headers.get("prefer", "") else service.settings.wait
        return await _shown(service, await service.release(who, name, given, wait))

    @app.get("/v1/releases", summary="The newest releases that this token may see", **answers_of("releases"))
    async def releases(*, who: Principal = known, state: Annotated[list[str] | None, Query()] = None) -> dict[str, Any]:
        return {"releases": [_row(each) for each in await service.listed(who, tuple(state or ())[:10])]}

    @app.get(
        "/v1/releases/{asked_id}", summary="A release: its state, and its answer once there is one", **answers_of("one")
    )
    async def one(*, who: Principal = known, asked_id: str) -> Response:
        return await _shown(service, await service.asked(who, asked_id))

    @app.get("/v1/releases/{asked_id}/table", summary="Its table, row by row: csv or ndjson", **answers_of("table"))
    async def table(*, who: Principal = known, asked_id: str, format: str = "csv", place: int = 0) -> Response:  # noqa: A002 - public
        text = await service.result(await service.asked(who, asked_id))
        if text is None or format not in ("csv", "ndjson"):
            raise NotFound("there is no such table", fix="see the release's state; formats are csv and ndjson")
        several = tables_of(await asyncio.to_thread(json.loads, text))
        if not 0 <= place < len(several):
            raise NotFound("the batch has no such question", given=place, fix="count from 0")
        rows = _csv(several[place]) if format == "csv" else _lines(several[place])
        return StreamingResponse(_in_parts(rows), media_type="text/csv" if format == "csv" else "application/x-ndjson")

    @app.get(
        "/v1/releases/{asked_id}/certificate", summary="What the checker can verify of it", **answers_of("certificate")
    )
    async def certificate(*, who: Principal = known, asked_id: str) -> Response:
        return _json({"certificates": await service.certificate(who, await service.asked(who, asked_id))})

    @app.delete("/v1/releases/{asked_id}", summary="Cancel a release that runs or waits", **answers_of("cancel"))
    async def cancel(*, who: Principal = known, asked_id: str) -> Response:
        return await _shown(service, await service.cancel(who, asked_id))

    @app.get("/v1/approvals", summary="Releases that wait for a second person", **answers_of("approvals"))
    async def approvals(*, who: Principal = known) -> dict[str, Any]:
        return {"waiting": [_row(each) for each in await service.listed(who, ("waiting",))]}

    @app.post(
        "/v1/approvals/{asked_id}",
        summary="Approve or deny one",
        openapi_extra=_takes("decision"),
        **answers_of("decide"),
    )
    async def decide(*, who: Principal = known, asked_id: str, given: Any = body) -> Response:
        if (
            not isinstance(given, dict)
            or set(given) != {"approve", "fingerprint"}
            or type(given["approve"]) is not bool
        ):
            raise BadParameter("a decision has approve and fingerprint", fix='pass {"approve": true, "fingerprint": …}')
        return await _shown(service, await service.decide(who, asked_id, given["approve"], given["fingerprint"]))


def _add_ledger(app: FastAPI, service: Service, known: Any, body: Any) -> None:
    """Budgets, entries, verification, suspensions and metrics."""
    ledger = service.ledger

    @app.get("/v1/budgets", summary="What is spent and left", **answers_of("budgets"))
    async def budgets(*, who: Principal = known) -> dict[str, Any]:
        found = await asyncio.to_thread(ledger.balances)
        mine = [each for each in found if _concerns(each, who)]
        return {"budgets": [_balance(each) for each in mine]}

    @app.post(
        "/v1/budgets",
        summary="Grant a budget, or set its limits anew",
        openapi_extra=_takes("budget"),
        **answers_of("grant"),
    )
    async def grant(*, who: Principal = known, given: Any = body) -> dict[str, Any]:
        who.require("keep")
        _require_fields(given, {"budget"}, {"dataset", "analyst", "purpose", "refresh"})
        if given.get("dataset") is None:
            who.require_all()
        else:
            who.require_dataset(str(given["dataset"]), service.configuration.datasets)
        refresh = None if given.get("refresh") is None else int(read_duration(given["refresh"], "refresh"))
        budget = read_written_price(given["budget"])
        whom = {field: given.get(field) for field in ("dataset", "analyst", "purpose")}
        await asyncio.to_thread(partial(ledger.grant, budget, refresh=refresh, **whom))
        return {"granted": True}

    @app.get(
        "/v1/ledger/entries", summary="Every entry as it is stored, one JSON object a line", **answers_of("entries")
    )
    async def entries(*, who: Principal = known) -> Response:
        who.require("audit")
        who.require_all()
        lines = (json.dumps({"body": row.body, "hash": row.hash}) + "\n" for row in ledger.entries())
        return StreamingResponse(_in_parts(lines), media_type="application/x-ndjson")

    @app.get(
        "/v1/ledger/verification",
        summary="Check the chain, every price and every sum anew",
        **answers_of("verification"),
    )
    async def verification(*, who: Principal = known) -> dict[str, Any]:
        who.require("audit")
        return vars(await service.verify())

    @app.get(
        "/v1/ledger/witness",
        summary="The ledger's identity, length and last hash; keep it elsewhere",
        **answers_of("witness"),
    )
    async def witness(*, who: Principal = known) -> Response:
        who.require("audit")
        return Response((await asyncio.to_thread(ledger.witness)).to_json(), media_type="application/json")

    @app.get(
        "/v1/suspensions", summary="Failures and interruptions since the last clearing", **answers_of("suspensions")
    )
    async def suspensions(*, who: Principal = known) -> dict[str, Any]:
        who.require("audit")
        found = await asyncio.to_thread(ledger.suspensions)
        return {"suspensions": [_suspension(each) for each in found if who.sees(each.dataset)]}

    @app.post(
        "/v1/suspensions/clear",
        summary="Let an analyst ask again",
        openapi_extra=_takes("clear"),
        **answers_of("clear"),
    )
    async def clear(*, who: Principal = known, given: Any = body) -> dict[str, Any]:
        who.require("keep")
        _require_fields(given, {"dataset", "analyst"}, set())
        who.require_dataset(str(given["dataset"]), service.configuration.datasets)
        whose = read_name(given["analyst"], "analyst")
        if whose in (who.name, who.origin) or await asyncio.to_thread(service.store.comes_from, whose, who.origin):
            raise NotAllowed(
                "nobody clears failures of their own, or of somebody whose token they made",
                fix="a second curator looks into them",
            )
        found = await asyncio.to_thread(ledger.clear, given["dataset"], given["analyst"])
        return {"cleared": None if found is None else _suspension(found)}

    @app.get(
        "/v1/metrics",
        summary="Counts for Prometheus; durations are not told, for they depend on the data",
        **answers_of("metrics"),
    )
    async def metrics(*, who: Principal = known) -> Response:
        who.require("audit")
        found = await asyncio.to_thread(ledger.balances)
        mine = [each for each in found if _concerns(each, who)]
        return Response(_metrics(service, mine, who.datasets is None), media_type="text/plain; version=0.0.4")


def _add_tokens(app: FastAPI, service: Service, known: Any, body: Any) -> None:
    """Tokens: for curators."""
    store = service.store

    @app.get("/v1/tokens", summary="All tokens, without their secrets", **answers_of("tokens"))
    async def tokens(*, who: Principal = known) -> dict[str, Any]:
        who.require("keep")
        who.require_all()
        return {"tokens": [_token(each) for each in await asyncio.to_thread(store.tokens)]}

    @app.post(
        "/v1/tokens",
        summary="Make a token; its text is shown once",
        openapi_extra=_takes("token"),
        **answers_of("make"),
    )
    async def make(*, who: Principal = known, given: Any = body) -> dict[str, Any]:
        who.require("keep")
        _require_fields(given, {"name", "role"}, {"datasets", "purposes", "lasts"})
        datasets, purposes = (_names(given.get(field), field) for field in ("datasets", "purposes"))
        for wanted, own in ((datasets, who.datasets), (purposes, who.purposes)):
            if own is not None and (wanted is None or not set(wanted) <= own):
                raise NotAllowed(
                    "a token reaches no further than its maker's", fix="list datasets and purposes of your own"
                )
        lasts = None if given.get("lasts") is None else read_duration(given["lasts"], "lasts")
        text, stored = await asyncio.to_thread(
            new_token, store, given["name"], given["role"], datasets, purposes, lasts, who.origin
        )
        return {**_token(stored), "token": text}

    @app.delete("/v1/tokens/{token_id}", summary="Revoke a token", **answers_of("revoke"))
    async def revoke(*, who: Principal = known, token_id: str) -> dict[str, Any]:
        who.require("keep")
        who.require_all()
        if not await asyncio.to_thread(store.revoke, token_id, int(time.time())):
            raise NotFound("there is no such token", given=token_id, fix="see /v1/tokens")
        return {"revoked": token_id}


# ---------------------------------------------------------------------- how things are shown


async def _shown(service: Service, asked: Asked) -> Response:
    """A release; the text of its answer is put in as it is stored."""
    row = {**_row(asked), "progress": service.progress(asked), "plan": asked.plan}
    row["fingerprint"] = await service.fingerprint(asked)
    text = await service.result(asked)
    content = json.dumps(row, ensure_ascii=False)
    if text is not None:
        content = f'{content[:-1]}, "result": {text}}}'
    status = 202 if asked.state == "running" else 200
    return Response(content, status, {"Location": f"/v1/releases/{asked.id}"}, "application/json")


def _row(asked: Asked) -> dict[str, Any]:
    told = json.loads(asked.body)
    return {
        "id": asked.id,
        "state": asked.state,
        "analyst": asked.analyst,
        "request_id": asked.request,
        "dataset": asked.dataset,
        "purpose": asked.purpose,
        "question": told["question"],
        "price": told["price"],
        "created": asked.created,
        "changed": asked.changed,
        "approver": asked.approver,
        "expires": asked.expires if asked.state in ("waiting", "approved") else None,
        "problem": asked.problem,
    }


def _balance(balance: Balance) -> dict[str, Any]:
    scope = balance.scope
    return {
        "dataset": scope.dataset,
        "analyst": scope.analyst,
        "purpose": scope.purpose,
        "budget": balance.limits.budget.to_dict(),
        "used": float(balance.left.used),
        "left": write_left(balance.left),
        "refresh": balance.refresh,
        "renewed": balance.renewed,
    }


def _debit(debit: Debit) -> dict[str, Any]:
    return {
        "time": debit.time,
        "analyst": debit.analyst,
        "purpose": debit.purpose,
        "request_id": debit.request,
        "event": debit.event.to_dict(),
        "cost": str(debit.cost),
        "floor": None if debit.floor is None else str(debit.floor),
        "state": debit.state,
    }


def _suspension(found: Suspension) -> dict[str, Any]:
    return {**vars(found), "holds": found.holds}


def _token(token: StoredToken) -> dict[str, Any]:
    return {name: value for name, value in vars(token).items() if name != "hash"}


def _concerns(balance: Balance, who: Principal) -> bool:
    """Whether a budget binds what somebody sees; analysts see their own and those of all."""
    scope = balance.scope
    if scope.dataset is not None and not who.sees(scope.dataset):
        return False
    return who.may("audit") or scope.analyst in (None, who.name)


def _counts(service: Service) -> list[str]:
    """What was counted over all datasets."""
    pool = service.pool
    lines = [
        f"leastnoise_workers_started_total {pool.started}",
        f"leastnoise_workers_killed_total {pool.killed}",
        f"leastnoise_orders_waiting {pool.waiting}",
    ]
    for name, count in sorted(service.counted.items()):
        kind, _, what = name.partition(" ")
        label = f'{{{kind}="{what}"}}' if what else ""
        lines.append(f"leastnoise_{'responses' if kind == 'status' else kind}_total{label} {count}")
    return lines


def _metrics(service: Service, balances: list[Balance], whole: bool) -> str:
    """Prometheus text; what concerns all datasets is for tokens of all."""
    lines = _counts(service) if whole else []
    for each in balances:
        labels = ",".join(
            f"{name}={json.dumps(value, ensure_ascii=False)}"
            for name, value in (
                ("dataset", each.scope.dataset),
                ("analyst", each.scope.analyst),
                ("purpose", each.scope.purpose),
            )
            if value is not None
        )
        lines.append(f"leastnoise_budget_used_ratio{{{labels}}} {float(each.left.used):.6f}")
    return "\n".join(lines) + "\n"


def _csv(told: dict[str, Any]) -> Iterator[str]:
    """Rows as CSV; a spreadsheet takes no cell for a formula, and no text for two cells, whichever sign parts them."""
    out = io.StringIO()
    writer = csv.writer(out, quoting=csv.QUOTE_NONNUMERIC)
    for row in [told["columns"], *told["rows"]]:
        writer.writerow([f"'{cell}" if isinstance(cell, str) and cell.startswith(_FORMULA) else cell for cell in row])
        yield out.getvalue()
        out.seek(0)
        out.truncate()


def _lines(told: dict[str, Any]) -> Iterator[str]:
    for row in told["rows"]:
        yield json.dumps(dict(zip(told["columns"], row, strict=True)), ensure_ascii=False) + "\n"


def _in_parts(lines: Iterator[str]) -> Iterator[str]:
    """Many lines at a time: each part that is sent costs a change of threads."""
    while part := "".join(islice(lines, _LINES_AT_ONCE)):
        yield part


def _json(told: Any) -> Response:
    return JSONResponse(told)


def _require_fields(given: Any, needed: set[str], more: set[str]) -> None:
    if not isinstance(given, dict) or not needed <= set(given) <= needed | more:
        raise BadParameter(
            "the body has other fields",
            given=", ".join(map(str, given)) if isinstance(given, dict) else type(given).__name__,
            fix=f"needed: {', '.join(sorted(needed))}; possible: {', '.join(sorted(more)) or 'none'}",
        )


def _names(given: Any, what: str) -> tuple[str, ...] | None:
    if given is None:
        return None
    if not isinstance(given, list) or len(given) > 1000:
        raise BadParameter(f"{what} is a list of names", given=type(given).__name__, fix="leave it out for all")
    return tuple(read_name(each, what) for each in given)
