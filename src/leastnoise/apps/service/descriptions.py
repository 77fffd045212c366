"""How the API describes itself: the shape and an example of every answer, and which errors have which status.

The functions behind `/v1` build their answers by themselves; a test holds each real one against its shape here.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from leastnoise import errors
from leastnoise.apps.service.problems import status_of
from leastnoise.errors import LeastNoiseError

__all__ = ["ANSWERS", "Problem", "add_problems", "answers_of", "kinds_of", "statuses"]


class _Shape(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class Problem(_Shape):
    """Problem details (RFC 9457) of a typed error."""

    type: str = Field(description="urn:leastnoise: and the name of the error", pattern="^urn:leastnoise:[A-Za-z]+$")
    title: str
    status: int
    detail: str = Field(description="What was wrong.")
    given: str | None = Field(description="What was given; public.")
    fix: str = Field(description="What to do.")


class Health(_Shape):
    """That the service runs."""

    status: Literal["ok"]
    version: str


class DatasetName(_Shape):
    """A dataset of a list."""

    name: str


class Datasets(_Shape):
    """Who asks, and the datasets that exist for them."""

    version: str
    name: str
    role: Literal["curator", "analyst", "auditor", "reader"]
    datasets: list[DatasetName]


class Column(_Shape):
    """What is public about a column."""

    model_config = ConfigDict(extra="allow", strict=True)
    name: str
    kind: str


class Suggested(_Shape):
    """Limits and keys as the configuration has them."""

    bounds: dict[str, list[str]]
    steps: dict[str, str]
    bins: dict[str, list[str]]
    keys: dict[str, list[str]]


class Schema(_Shape):
    """What is public about a dataset."""

    name: str
    columns: list[Column]
    privacy_unit: str | None = Field(description="The column that identifies who is protected; null for single rows.")
    groups_per_unit: int
    rows_per_unit: int
    budget: dict[str, str]
    analyst: str
    role: str
    suggested: Suggested
    approve_above: str | None


class Left(_Shape):
    """What one more question may cost, exactly and in words."""

    epsilon: str
    rho: str
    mu_squared: str
    delta: str
    spent: str
    limit: str
    unit: str
    budget: dict[str, str]
    text: str


class Choice(_Shape):
    """A price, and the error of each question at it."""

    price: dict[str, str]
    errors: list[dict[str, float] | None]
    here: bool


class Rows(_Shape):
    """The public keys of an answer's table."""

    columns: list[str]
    rows: list[list[str]]


class Prospect(_Shape):
    """What a plan can add: what is left, and with "other_prices" prices to choose from and the rows to expect."""

    left: Left | None
    choices: list[Choice] | None = None
    rows: list[Rows | None] | None = None


class Plan(Prospect):
    """What a question would cost, and how far off its answer would be."""

    question: str
    counts: str
    measured_in: str
    mechanism: str
    reason: dict[str, str] | None
    sensitivity: dict[str, Any] | None
    error: dict[str, Any] | None = Field(description="null where it depends on the rows")
    lower_bound: float | None
    price: dict[str, str] | None
    other_prices: list[dict[str, Any]]
    event: dict[str, Any]
    cost: dict[str, str | None]
    compared: list[dict[str, Any]]
    notes: list[str]


class BatchPlan(Prospect):
    """Plans of several questions at one price."""

    model_config = ConfigDict(extra="allow", strict=True)
    price: dict[str, str] | None
    event: dict[str, Any]
    plans: list[Plan]
    notes: list[str]


class ListedRelease(_Shape):
    """A release in a list."""

    id: str
    state: Literal[
        "running", "waiting", "approved", "denied", "expired", "cancelled", "refused", "failed", "unfinished", "done"
    ]
    analyst: str
    request_id: str
    dataset: str
    purpose: str
    question: dict[str, Any]
    price: dict[str, Any]
    created: int
    changed: int
    approver: str | None
    expires: int | None
    problem: dict[str, Any] | None


class Release(ListedRelease):
    """A release: how far it is, its plan, and its answer once there is one."""

    progress: str | None
    plan: dict[str, Any] | None
    fingerprint: str | None = Field(description="What a decision must name; null unless it waits.")
    result: dict[str, Any] | None = None


class Releases(_Shape):
    """The newest releases."""

    releases: list[ListedRelease]


class Waiting(_Shape):
    """Releases that wait for a second person."""

    waiting: list[ListedRelease]


class Certificates(_Shape):
    """For each mechanism of a release what the checker can verify, or why there is nothing."""

    certificates: list[dict[str, Any]]


class Debit(_Shape):
    """What a question cost."""

    time: int
    analyst: str
    purpose: str
    request_id: str
    event: dict[str, Any]
    cost: str
    floor: str | None
    state: str


class History(_Shape):
    """What was charged on a dataset."""

    debits: list[Debit]


class Budget(_Shape):
    """A budget, and how much of it is used."""

    dataset: str | None
    analyst: str | None
    purpose: str | None
    budget: dict[str, str]
    used: float
    left: Left
    refresh: int | None
    renewed: int | None


class Budgets(_Shape):
    """What is spent and left."""

    budgets: list[Budget]


class Granted(_Shape):
    """That a budget was granted."""

    granted: Literal[True]


class Verification(_Shape):
    """That the whole ledger holds together."""

    ledger: str
    entries: int
    head: str
    requests: int


class Witness(_Shape):
    """How long the ledger is, and its last hash."""

    ledger: str
    count: int
    hash: str


class Suspension(_Shape):
    """Failures and interruptions of an analyst on a dataset."""

    dataset: str
    analyst: str
    failures: int
    interruptions: int
    since: int
    holds: bool


class Suspensions(_Shape):
    """Failures and interruptions since the last clearing."""

    suspensions: list[Suspension]


class Cleared(_Shape):
    """What was cleared."""

    cleared: Suspension | None


class Token(_Shape):
    """A token without its secret."""

    id: str
    name: str
    role: str
    datasets: list[str] | None
    purposes: list[str] | None
    created: int
    expires: int | None
    revoked: int | None
    made_by: str | None


class MadeToken(Token):
    """A token with its text, which is shown here only."""

    token: str


class Tokens(_Shape):
    """All tokens."""

    tokens: list[Token]


class Revoked(_Shape):
    """That a token has ended."""

    revoked: str


_PRICE = {"epsilon": "1/2", "delta": "0"}
_QUESTION = {"question": "count", "by": "city", "keys": ["Ashford", "Brook"]}
_EVENT = {"kind": "pure", "epsilon": "1/2"}
_LEFT = {
    "epsilon": "4", "rho": "5/2", "mu_squared": "5", "delta": "1/1000000", "spent": "0", "limit": "4", "unit": "ε",
    "budget": {"epsilon": "4", "delta": "1/1000000"}, "text": "a query of at most ε = 4 still fits",
}  # fmt: skip
_ERROR = {"loss": "absolute", "expected": 1.9, "within": 6.0, "confidence": 0.95, "attained": True, "supposing": ""}
_PLAN = {
    "question": "count of rows by city (2)",
    "counts": "at most 1 row of each person; rows without person are left out",
    "measured_in": "rows",
    "mechanism": "geometric mechanism on each of 2 numbers",
    "reason": {"theorem": "no noise of this ε errs less", "citation": "Ghosh, Roughgarden and Sundararajan 2009"},
    "sensitivity": {"cells": 1, "each": "1", "l1": "1", "norm": "l1", "amount": "1", "why": "one person counts once"},
    "error": _ERROR,
    "lower_bound": 1.9,
    "price": _PRICE,
    "other_prices": [],
    "event": _EVENT,
    "cost": {**_PRICE, "rho": "1/8"},
    "compared": [{"mechanism": "geometric mechanism on each of 2 numbers", "expected": 1.9}],
    "notes": [],
    "left": _LEFT,
}
_CHOICES = {
    "choices": [
        {"price": _PRICE, "errors": [{"expected": 1.9, "within": 6.0}], "here": True},
        {"price": {"epsilon": "1", "delta": "0"}, "errors": [{"expected": 0.9, "within": 3.0}], "here": False},
    ],
    "rows": [{"columns": ["city"], "rows": [["Ashford"], ["Brook"]]}],
}
_BATCH_PLAN = {
    "price": _PRICE, "event": {"kind": "composed", "events": [_EVENT]}, "plans": [{**_PLAN, "left": None}], "notes": [],
    "left": _LEFT,
}  # fmt: skip
_LISTED = {
    "id": "rel-ed4afd894fb16c4fa590033eed8cda66", "state": "done", "analyst": "ada", "request_id": "persons by city",
    "dataset": "visits", "purpose": "any", "question": _QUESTION, "price": _PRICE, "created": 1795060836,
    "changed": 1795060837, "approver": None, "expires": None, "problem": None,
}  # fmt: skip
_PENDING = {
    "kind": "ApprovalPending", "problem": "the price is held; somebody else must approve the question",
    "given": "ε = 1/2", "fix": "ask again under the same request id when it is approved",
}  # fmt: skip
_WAITING = {**_LISTED, "state": "waiting", "expires": 1795665637, "problem": _PENDING}
_MORE = {"progress": None, "plan": {**_PLAN, "left": None}, "fingerprint": None}
_DONE = {
    **_LISTED,
    **_MORE,
    "result": {
        "kind": "release", "columns": ["city", "value", "low", "high"], "confidence": 0.95,
        "request_id": "persons by city",
        "rows": [["Ashford", 425, 419, 431], ["Brook", 532, 526, 538]],
    },
}  # fmt: skip
_RUNNING = {**_LISTED, "state": "running", "progress": "reading", "plan": None, "fingerprint": None}
_HELD = {**_WAITING, **_MORE, "fingerprint": "8f273d53f4c7f86f2f221df96f42436f276c2506c9479768ea7f94e873cd6552"}
_SUSPENSION = {
    "dataset": "visits", "analyst": "ada", "failures": 1, "interruptions": 0, "since": 1795060836, "holds": True,
}  # fmt: skip
_TOKEN = {
    "id": "48d1544abff60081", "name": "ada", "role": "analyst", "datasets": ["visits"], "purposes": None,
    "created": 1795060831, "expires": 1802836831, "revoked": None, "made_by": None,
}  # fmt: skip
_HEAD = "ec9a7142d832629927c67e26390af95f27297cf8a5eb5af04425d9cccd36d27e"
_LEDGER = "33e512fa07d5313b3bb66413c4e8290b"

ANSWERS: dict[str, dict[int, tuple[Any, dict[str, Any]]]] = {  # name of a function: status, shape, examples
    "health": {200: (Health, {"ok": {"status": "ok", "version": "0.2.0"}})},
    "datasets": {
        200: (
            Datasets,
            {"one": {"version": "0.2.0", "name": "ada", "role": "analyst", "datasets": [{"name": "visits"}]}},
        )
    },
    "dataset": {
        200: (
            Schema,
            {
                "visits": {
                    "name": "visits",
                    "columns": [{"name": "city", "kind": "text"}, {"name": "age", "kind": "integer"}],
                    "privacy_unit": "person_id",
                    "groups_per_unit": 1,
                    "rows_per_unit": 1,
                    "budget": {"epsilon": "4", "delta": "1/1000000"},
                    "analyst": "ada",
                    "role": "analyst",
                    "suggested": {"bounds": {"age": ["0", "100"]}, "steps": {}, "bins": {}, "keys": {}},
                    "approve_above": "ε = 1",
                }
            },
        )
    },
    "left": {200: (Left, {"nothing spent": _LEFT})},
    "history": {
        200: (
            History,
            {
                "one debit": {
                    "debits": [
                        {
                            "time": 1795060836, "analyst": "ada", "purpose": "any", "request_id": "persons by city",
                            "event": _EVENT, "cost": "ε = 1/2", "floor": None, "state": "answered",
                        }
                    ]
                }
            },
        )
    },
    "plan": {200: (Plan | BatchPlan, {"question": _PLAN, "prices": {**_PLAN, **_CHOICES}, "batch": _BATCH_PLAN})},
    "price": {200: (Plan | BatchPlan, {"question": _PLAN})},
    "release": {200: (Release, {"answered": _DONE}), 202: (Release, {"running": _RUNNING})},
    "releases": {200: (Releases, {"two": {"releases": [_WAITING, _LISTED]}})},
    "one": {200: (Release, {"answered": _DONE, "waits": _HELD}), 202: (Release, {"running": _RUNNING})},
    "table": {
        200: (
            str,
            {
                "text/csv": '"city","value","low","high"\r\n"Ashford",425,419,431\r\n',
                "application/x-ndjson": '{"city": "Ashford", "value": 425, "low": 419, "high": 431}\n',
            },
        )
    },
    "certificate": {
        200: (
            Certificates,
            {"none": {"certificates": [{"certificate": None, "reason": "the law is irrational at this epsilon"}]}},
        )
    },
    "cancel": {200: (Release, {"cancelled": {**_RUNNING, "state": "cancelled", "progress": None}})},
    "approvals": {200: (Waiting, {"one": {"waiting": [_WAITING]}})},
    "decide": {
        200: (Release, {"approved": {**_HELD, "state": "approved", "approver": "cleo", "fingerprint": None}})
    },
    "budgets": {
        200: (
            Budgets,
            {
                "one": {
                    "budgets": [
                        {
                            "dataset": "visits", "analyst": None, "purpose": None, "budget": _LEFT["budget"],
                            "used": 0.0, "left": _LEFT, "refresh": None, "renewed": None,
                        }
                    ]
                }
            },
        )
    },
    "grant": {200: (Granted, {"granted": {"granted": True}})},
    "entries": {
        200: (str, {"application/x-ndjson": '{"body": "{\\"kind\\":\\"open\\",\\"seq\\":1}", "hash": "eb24ed3f"}\n'})
    },
    "verification": {
        200: (Verification, {"whole": {"ledger": _LEDGER, "entries": 10, "head": _HEAD, "requests": 3}})
    },
    "witness": {200: (Witness, {"witness": {"ledger": _LEDGER, "count": 10, "hash": _HEAD}})},
    "suspensions": {200: (Suspensions, {"one": {"suspensions": [_SUSPENSION]}})},
    "clear": {200: (Cleared, {"one": {"cleared": _SUSPENSION}, "nothing": {"cleared": None}})},
    "metrics": {
        200: (str, {"text/plain": 'leastnoise_release_total 2\nleastnoise_budget_used_ratio{dataset="visits"} 0.25\n'})
    },
    "tokens": {200: (Tokens, {"one": {"tokens": [_TOKEN]}})},
    "make": {
        200: (
            MadeToken,
            {"made": {**_TOKEN, "made_by": "cleo", "token": f"ln_48d1544abff60081_{'0123456789abcdef' * 4}"}},
        )
    },
    "revoke": {200: (Revoked, {"revoked": {"revoked": "48d1544abff60081"}})},
}  # fmt: skip
_MEANINGS = {
    401: "No valid token.",
    403: "Not allowed, or no budget left.",
    404: "Nothing here for this token.",
    409: "Another state, or waiting for approval.",
    413: "The body is too long.",
    422: "What was asked for makes no sense.",
    423: "Failures wait for a curator.",
    429: "Too many requests.",
    500: "The question failed on the data, which is charged; or the service failed.",
    503: "Not now.",
}
_ALSO: dict[int, list[type[LeastNoiseError]]] = {  # beside those of `status_of`
    401: [errors.NotAllowed],
    413: [errors.TooLarge],
    500: [errors.ServiceUnavailable],
}
_OFTEN = {403: "BudgetExceeded", 409: "ApprovalPending", 422: "BadParameter", 503: "ServiceUnavailable"}


def statuses() -> list[int]:
    """All statuses of problems."""
    return sorted(_MEANINGS)


def kinds_of(status: int) -> list[type[LeastNoiseError]]:
    """The typed errors that have a status, those that are common first; not their branches, which are never raised."""
    found = [getattr(errors, name) for name in errors.__all__]
    leaves = [each for each in found if each is not LeastNoiseError and LeastNoiseError not in each.__bases__]
    here = [each for each in leaves if status_of(each("", fix="")) == status or each in _ALSO.get(status, ())]
    return sorted(here, key=lambda each: each.__name__ != _OFTEN.get(status))


def answers_of(name: str) -> dict[str, Any]:
    """The answers of a function behind `/v1` that are no problems, as arguments of its route.

    Args:
        name: Its name.
    """
    found: dict[int | str, dict[str, Any]] = {}
    for status, (shape, examples) in ANSWERS[name].items():
        meaning = "It goes on as a job; see Location." if status == 202 else "Done."
        if shape is str:
            content = {kind: {"schema": {"type": "string"}, "example": text} for kind, text in examples.items()}
            found[status] = {"description": meaning, "content": content}
        else:
            shown = {"examples": {example: {"value": value} for example, value in examples.items()}}
            found[status] = {"description": meaning, "model": shape, "content": {"application/json": shown}}
    return {"response_model": None, "responses": found}


def add_problems(told: dict[str, Any]) -> None:
    """Add to a description of the API the problems that every call but that of health can answer with."""
    parts = told["components"]
    for unused in ("HTTPValidationError", "ValidationError"):  # FastAPI's own, which is never sent
        parts["schemas"].pop(unused, None)
    parts["schemas"]["Problem"] = Problem.model_json_schema()
    parts["responses"] = {f"Problem{status}": _problem(status) for status in statuses()}
    for methods in told["paths"].values():
        for each in methods.values():
            found = {code: answer for code, answer in each["responses"].items() if code[0] == "2"}
            for answer in found.values():
                if answer["content"].get("application/json") == {"schema": {}}:  # where FastAPI sees no shape
                    del answer["content"]["application/json"]
            if "security" in each:
                found |= {str(status): {"$ref": f"#/components/responses/Problem{status}"} for status in statuses()}
            each["responses"] = found


def _problem(status: int) -> dict[str, Any]:
    examples = {each.__name__: {"value": _example(each, status)} for each in kinds_of(status)}
    content = {"schema": {"$ref": "#/components/schemas/Problem"}, "examples": examples}
    return {"description": _MEANINGS[status], "content": {"application/problem+json": content}}


def _example(kind: type[LeastNoiseError], status: int) -> dict[str, Any]:
    title = (kind.__doc__ or "").splitlines()[0]
    told = {"type": f"urn:leastnoise:{kind.__name__}", "title": title, "status": status}
    return {**told, "detail": "what was wrong", "given": None, "fix": "what to do"}
