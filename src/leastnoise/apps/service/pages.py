"""The page: the service for people, in a browser. It calls the functions behind `/v1` and decides nothing itself.

Whoever logs in with a token gets a session: a random name in a cookie that scripts and other sites can't use. The token
stays in this process, and is looked up anew with every request, so that a revoked one ends at once. Every form holds
the session's own secret. Everything that is shown is escaped; scripts and styles come from this server's files only.
"""

from __future__ import annotations

import asyncio
import hmac
import inspect
import json
import logging
import re
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial, wraps
from pathlib import Path
from typing import Any

import jinja2
from fastapi import FastAPI, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse
from markupsafe import Markup
from starlette.routing import Route

from leastnoise.apps.service.access import ROLES, Principal
from leastnoise.apps.service.drawings import draw_answer, draw_burning, draw_choices, draw_error
from leastnoise.apps.service.guards import parse_json, read_form
from leastnoise.apps.service.problems import failure_place, public_error, status_of
from leastnoise.apps.service.service import Service
from leastnoise.errors import ApprovalPending, BadParameter, LeastNoiseError, NotAllowed
from leastnoise.exact import system_source
from leastnoise.ledger import Scope
from leastnoise.ledger.report import budget_histories
from leastnoise.model import number, printable
from leastnoise.release import Dataset
from leastnoise.release.calls import questions_of
from leastnoise.release.remote import is_loopback

__all__ = ["add_page", "tables_of"]

_log = logging.getLogger("leastnoise.service")

_FILES = Path(__file__).parent / "page"
_KINDS = {"page.css": "text/css", "page.js": "text/javascript"}
_POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'"
)
_LASTS = 8 * 3600  # seconds of a session
_MOST_SESSIONS = 10_000
_MOST_OF_ONE = 10  # sessions of one person: nobody's logins end those of others
_MOST_ROWS = 500  # of a table that a person reads
_LAST_DATE = 253402300799  # the end of the year 9999
_MOST_EXPECTED = 20  # of a table before it is released: all its rows have the same error
_LINES = ("keys", "bins", "levels", "options", "tree", "matrix")  # given in a larger field, one a line
_WRITTEN = {  # questions that are written as a whole: the label of the field, and an example
    "sql": ("The question in SQL", "SELECT COUNT(*) AS n FROM {dataset}"),
    "json": ("The question as JSON", '{{"question": "count"}}'),
}

Enter = Callable[[Request, str], Awaitable[Principal]]
Shown = Callable[..., Awaitable[Response]]


@dataclass(frozen=True)
class _Session:
    name: str
    token: str
    secret: str
    ends: float


def add_page(app: FastAPI, service: Service, enter: Enter) -> _Page:
    """Add the page to the application; what is given back shows problems.

    Args:
        app: Has the functions behind `/v1`, which the page calls by their names.
        service: What it speaks for.
        enter: Finds whose a token is, and counts the request.
    """
    page = _Page(app, service, enter)
    for path, show in (
        ("", page.home),
        ("/ask", page.ask),
        ("/releases/{asked_id}", page.release),
        ("/releases/{asked_id}/download", page.download),
        ("/keep", page.keep),
        ("/tokens", page.tokens),
        ("/dossier", page.dossier),
    ):
        app.add_api_route(f"/page{path}", page.known(show), methods=["GET"], include_in_schema=False)
    for path, act in (
        ("ask", page.plan),
        ("release", page.spend),
        ("cancel", page.cancel),
        ("decide", page.decide),
        ("clear", page.clear),
        ("tokens", page.make_token),
        ("revoke", page.revoke),
        ("logout", page.logout),
    ):
        app.add_api_route(f"/page/{path}", page.known(act), methods=["POST"], include_in_schema=False)
    app.add_api_route("/", page.begin, methods=["GET"], include_in_schema=False)
    app.add_api_route("/page/login", page.login, methods=["GET"], include_in_schema=False)
    app.add_api_route("/page/login", page.enter, methods=["POST"], include_in_schema=False)
    app.add_api_route("/page/files/{name}", page.file, methods=["GET"], include_in_schema=False)
    return page


class _Page:
    def __init__(self, app: FastAPI, service: Service, enter: Enter) -> None:
        self._service, self._enter = service, enter
        self._calls = {route.name: route.endpoint for route in app.routes if isinstance(route, Route)}
        self._sessions: OrderedDict[str, _Session] = OrderedDict()
        self._templates = jinja2.Environment(
            loader=jinja2.FileSystemLoader(_FILES), autoescape=True, finalize=_seen_as_it_is
        )
        self._templates.filters.update(number=_number, price=_price, moment=_moment, told=_told, written=_written)

    # ------------------------------------------------------------------ sessions

    def known(self, show: Shown) -> Callable[[Request], Awaitable[Response]]:
        """Show something to whoever has a session; what changes anything needs the session's secret, too."""

        @wraps(show)
        async def shown(request: Request) -> Response:
            session = self._session(request)
            if session is None:
                return RedirectResponse("/page/login", 303)
            who = None
            try:
                who = await self._enter(request, session.token)
                if request.method == "GET":
                    return await show(request, who)
                form = await read_form(request, self._service.settings.largest_body)
                _require_same_site(request)
                if not hmac.compare_digest(form.pop("csrf", "").encode(), session.secret.encode()):
                    raise NotAllowed("this form is not from this session", fix="load the page again, then send it")
                return await show(request, who, form)
            except Exception as error:
                if who is None and isinstance(error, NotAllowed):
                    self._sessions.pop(_cookie(request), None)
                    return RedirectResponse("/page/login", 303)
                if not isinstance(error, LeastNoiseError):
                    _log.error("%s", failure_place(error))
                known = public_error(error)
                return self._html(request, who, "problem.html", status_of(known), error=known)

        # FastAPI reads parameters off the signature: the request is the only one
        del shown.__wrapped__
        shown.__annotations__ = {"request": Request, "return": Response}
        shown.__name__ = f"page_{show.__name__}"
        return shown

    def problem(self, request: Request, error: LeastNoiseError, status: int) -> Response:
        """What went wrong, for people."""
        return self._html(request, None, "problem.html", status, error=error)

    def _session(self, request: Request) -> _Session | None:
        found = self._sessions.get(_cookie(request))
        return found if found is not None and found.ends > time.monotonic() else None

    async def begin(self) -> Response:
        """Where the address alone leads."""
        return RedirectResponse("/page", 303)

    async def login(self, request: Request) -> Response:
        """The form for a token."""
        return self._html(request, None, "login.html", problem=None)

    async def enter(self, request: Request) -> Response:
        """Begin a session with a token."""
        try:
            form = await read_form(request, 20_000)
            _require_same_site(request)
            who = await self._enter(request, form.get("token", "").strip())
        except LeastNoiseError as error:
            return self._html(request, None, "login.html", status_of(error), problem=error.problem)
        name = self._begin(request, who.name, form["token"].strip())
        answer = RedirectResponse("/page", 303)
        _set_cookie(answer, request, name, _LASTS)
        return answer

    def _begin(self, request: Request, whose: str, token: str) -> str:
        """A new session under a new name; whoever had this browser before has none."""
        name, secret = (f"{system_source.bits(256):064x}" for _ in range(2))
        self._sessions.pop(_cookie(request), None)
        same = [each for each, session in self._sessions.items() if session.name == whose]
        for old in same[: max(len(same) - _MOST_OF_ONE + 1, 0)]:
            self._sessions.pop(old)
        self._sessions[name] = _Session(whose, token, secret, time.monotonic() + _LASTS)
        while len(self._sessions) > _MOST_SESSIONS:
            self._sessions.popitem(last=False)
        return name

    async def logout(self, request: Request, _: Principal, __: Mapping[str, str]) -> Response:
        """End the session, and let the browser forget the pages that it kept to go back to them."""
        self._sessions.pop(_cookie(request), None)
        answer = RedirectResponse("/page/login", 303, {"Clear-Site-Data": '"cache"'})
        _set_cookie(answer, request, "", 0)
        return answer

    async def file(self, name: str) -> Response:
        """The style and the script."""
        if name not in _KINDS:
            return Response(status_code=404)
        return Response((_FILES / name).read_bytes(), media_type=_KINDS[name])

    # ------------------------------------------------------------------ for those who ask

    async def home(self, request: Request, who: Principal) -> Response:
        budgets = (await self._calls["budgets"](who=who))["budgets"] if who.role != "reader" else []
        releases = (await self._calls["releases"](who=who))["releases"]
        datasets = self._service.seen_by(who)
        return self._html(request, who, "home.html", datasets=datasets, budgets=budgets, releases=releases)

    async def ask(self, request: Request, who: Principal) -> Response:
        who.require("ask")
        asked = {"dataset": request.query_params.get("dataset", ""), "kind": request.query_params.get("kind", "count")}
        return await self._ask(request, who, asked)

    async def plan(self, request: Request, who: Principal, form: Mapping[str, str]) -> Response:
        try:
            question = _question(form)
            price = _given_price(form)
            body = {"question": question, "price": price, "purpose": form.get("purpose", "any"), "other_prices": True}
            plan = await self._service.plan(who, form.get("dataset", ""), body)
        except LeastNoiseError as error:
            return await self._ask(request, who, form, error=error)
        choices = plan["choices"]
        more: dict[str, Any] = {
            "plans": plan.get("plans", [plan]),
            "choices": choices,
            "expected": _expected(plan),
            "picture": Markup(draw_choices(choices)),  # noqa: S704 - made of escaped parts
            "request_id": f"page-{system_source.bits(64):016x}",
        }
        left = plan["left"]["text"]
        return await self._ask(request, who, form, question=json.dumps(question), left=left, **more)

    async def _ask(self, request: Request, who: Principal, form: Mapping[str, str], **more: Any) -> Response:
        dataset, kinds = form.get("dataset", ""), [*questions_of(Dataset)]
        kinds.remove("batch")
        kind = form.get("kind", "count") if form.get("kind") in (*kinds, *_WRITTEN) else "count"
        shown = {
            "dataset": dataset,
            "kinds": kinds,
            "kind": kind,
            "fields": _fields(kind, form),
            "schema": await self._service.dataset(who, dataset),
            **{name: form.get(name, usual) for name, usual in _USUAL.items()},
            "error": None,
            "plans": (),
            **more,
        }
        return self._html(request, who, "ask.html", 422 if shown["error"] else 200, **shown)

    async def spend(self, _: Request, who: Principal, form: Mapping[str, str]) -> Response:
        body = {"question": _read(form, "question"), "price": _read(form, "price")}
        body |= {"purpose": form.get("purpose", "any"), "request_id": form.get("request_id", "")}
        try:
            asked = await self._service.release(who, form.get("dataset", ""), body, self._service.settings.wait)
        except ApprovalPending:
            found = await asyncio.to_thread(self._service.store.asked_as, who.name, body["request_id"])
            if found is None:
                raise
            asked = found
        return RedirectResponse(f"/page/releases/{asked.id}", 303)

    async def release(self, request: Request, who: Principal) -> Response:
        row = json.loads((await self._calls["one"](who=who, asked_id=request.path_params["asked_id"])).body)
        told = row.get("result")
        tables = [_table(each) for each in tables_of(told)] if told else []
        return self._html(request, who, "release.html", row=row, tables=tables)

    async def download(self, request: Request, who: Principal) -> Response:
        asked_id, what = request.path_params["asked_id"], request.query_params.get("what")
        if what == "csv":
            place = request.query_params.get("place", "0")
            answer = await self._calls["table"](
                who=who, asked_id=asked_id, place=int(place) if place.isdecimal() and len(place) < 9 else -1
            )
        else:
            answer = await self._calls["certificate" if what == "certificate" else "one"](who=who, asked_id=asked_id)
        name = f"release.{'csv' if what == 'csv' else 'json'}"
        answer.headers["Content-Disposition"] = f'attachment; filename="{name}"'
        return answer  # type: ignore[no-any-return]

    async def cancel(self, _: Request, who: Principal, form: Mapping[str, str]) -> Response:
        asked = await self._service.cancel(who, form.get("id", ""))
        return RedirectResponse(f"/page/releases/{asked.id}", 303)

    # ------------------------------------------------------------------ for those who keep

    async def keep(self, request: Request, who: Principal) -> Response:
        who.require("audit")
        calls, seen = self._calls, self._service.seen_by(who)
        history = {name: (await calls["history"](who=who, name=name))["debits"] for name in seen}
        every = await asyncio.to_thread(budget_histories, self._service.ledger, int(time.time()))
        burning = {each.scope.dataset: each.points for each in every if each.scope == Scope(each.scope.dataset)}
        return self._html(
            request,
            who,
            "keep.html",
            budgets=(await calls["budgets"](who=who))["budgets"],
            waiting=(await calls["approvals"](who=who))["waiting"],
            suspensions=(await calls["suspensions"](who=who))["suspensions"],
            verified=await calls["verification"](who=who) if request.query_params.get("verify") else None,
            history={name: debits[-_MOST_ROWS:][::-1] for name, debits in history.items()},
            pictures={name: Markup(draw_burning(burning.get(name, ()))) for name in seen},  # noqa: S704 - as above
        )

    async def decide(self, _: Request, who: Principal, form: Mapping[str, str]) -> Response:
        asked_id, approve = form.get("id", ""), form.get("approve") == "yes"
        await self._service.decide(who, asked_id, approve, form.get("fingerprint"))
        return RedirectResponse(f"/page/releases/{asked_id}", 303)

    async def clear(self, _: Request, who: Principal, form: Mapping[str, str]) -> Response:
        given = {name: form.get(name, "") for name in ("dataset", "analyst")}
        await self._calls["clear"](who=who, given=given)
        return RedirectResponse("/page/keep", 303)

    async def tokens(self, request: Request, who: Principal, made: Any = None) -> Response:
        listed = (await self._calls["tokens"](who=who))["tokens"]
        seen = self._service.seen_by(who)
        return self._html(request, who, "tokens.html", tokens=listed, roles=_ROLES, datasets=seen, made=made)

    async def make_token(self, request: Request, who: Principal, form: Mapping[str, str]) -> Response:
        given: dict[str, Any] = {"name": form.get("name", ""), "role": form.get("role", "")}
        datasets = [each.strip() for each in form.get("datasets", "").splitlines() if each.strip()]
        given["datasets"] = None if datasets == ["*"] else datasets
        given["lasts"] = form.get("lasts") or None
        return await self.tokens(request, who, await self._calls["make"](who=who, given=given))

    async def revoke(self, _: Request, who: Principal, form: Mapping[str, str]) -> Response:
        await self._calls["revoke"](who=who, token_id=form.get("id", ""))
        return RedirectResponse("/page/tokens", 303)

    async def dossier(self, request: Request, who: Principal) -> Response:
        made = await self._service.dossier(who, request.query_params.get("dataset", ""))
        headers = {"Content-Disposition": 'attachment; filename="dossier.html"'}
        return Response(made.to_html(), media_type="text/html", headers=headers)

    def _html(self, request: Request, who: Principal | None, name: str, status: int = 200, **shown: Any) -> Response:
        session = self._session(request)
        field = Markup('<input type="hidden" name="csrf" value="{}">').format(session.secret) if session else ""
        text = self._templates.get_template(name).render(who=who, csrf=field, **shown)
        # without a referrer browsers would not say where a form comes from
        return HTMLResponse(text, status, {"Content-Security-Policy": _POLICY, "Referrer-Policy": "same-origin"})


# ---------------------------------------------------------------------- what forms say, and how things are shown

_ROLES = sorted(ROLES, key="analyst reader auditor curator".index)  # what can do least harm by mistake comes first
_USUAL = {"currency": "epsilon", "amount": "1/2", "delta": "0", "purpose": "any"}


def _cookie_name(request: Request) -> tuple[str, bool]:
    """The name of the cookie, and whether it is for TLS only; so named, no other host of a domain can set it."""
    secure = not is_loopback(request.url.hostname or "")
    return "__Host-leastnoise" if secure else "leastnoise", secure


def _cookie(request: Request) -> str:
    return request.cookies.get(_cookie_name(request)[0], "")


def _set_cookie(answer: Response, request: Request, value: str, lasts: int) -> None:
    name, secure = _cookie_name(request)
    answer.set_cookie(name, value, max_age=lasts, path="/", secure=secure, httponly=True, samesite="strict")


def _require_same_site(request: Request) -> None:
    """Refuse what another site's page sent; browsers say where a form comes from."""
    schemes = ("https",) if _cookie_name(request)[1] else ("http", "https")
    own = [f"{scheme}://{request.headers.get('host')}" for scheme in schemes]
    other = any(origin not in own for origin in request.headers.getlist("origin"))
    if other or request.headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
        raise NotAllowed("this form was sent from another site", fix="send it from the page itself")


def _fields(kind: str, form: Mapping[str, str]) -> list[dict[str, Any]]:
    """A field for each parameter of a question, as its signature says."""
    if kind in _WRITTEN:
        label, example = _WRITTEN[kind]
        value = form.get(f"f-{kind}", example.format(dataset=form.get("dataset", "")))
        return [{"name": kind, "label": label, "value": value, "lines": 8, "needed": True}]
    found, hints = [], _hints(kind)
    for name, each in questions_of(Dataset)[kind].parameters.items():
        needed = each.default is each.empty
        lines = 4 if name in _LINES else 0
        label = name.replace("_", " ") + (" (one a line)" if lines else "") + ("" if needed else ", if wanted")
        value, hint = form.get(f"f-{name}", ""), hints.get(name)
        found.append({"name": name, "label": label, "value": value, "lines": lines, "needed": needed, "hint": hint})
    return found


def _hints(kind: str) -> dict[str, str]:
    """What the method says of each of its arguments, in its first sentence."""
    said = inspect.getdoc(getattr(Dataset, kind)) or ""
    listed = said.partition("\nArgs:\n")[2].partition("\n\n")[0]
    found = re.findall(r"^    (\w+): (.*(?:\n     .*)*)", listed, re.MULTILINE)
    return {name: re.split(r"(?<=[.;])\s", " ".join(text.split()))[0].rstrip(".;") for name, text in found}


def _question(form: Mapping[str, str]) -> Any:
    """The question that a form asks, as JSON."""
    kind = form.get("kind", "count")
    if kind == "json":
        return _read(form, "f-json")
    if kind == "sql":
        return {"sql": form.get("f-sql", "")}
    given = {name[2:]: value.strip() for name, value in form.items() if name.startswith("f-") and value.strip()}
    return {"question": kind, **{name: _value(name, text) for name, text in given.items()}}


def _value(name: str, text: str) -> Any:
    """What was typed: JSON where it is some, lines as a list, else the text itself."""
    try:
        return parse_json(text)
    except BadParameter:
        return [line.strip() for line in text.splitlines() if line.strip()] if name in _LINES else text


def _given_price(form: Mapping[str, str]) -> dict[str, str]:
    currency, amount, delta = (form.get(name, usual).strip() for name, usual in list(_USUAL.items())[:3])
    if currency not in ("epsilon", "rho", "mu"):
        raise BadParameter("unknown currency", given=currency, fix="take epsilon, rho or mu")
    return {"epsilon": amount, "delta": delta or "0"} if currency == "epsilon" else {currency: amount}


def _read(form: Mapping[str, str], name: str) -> Any:
    return parse_json(form.get(name, ""), name.removeprefix("f-"))


def _expected(plan: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The table of each question before it is released: its keys, and how far off each number will be."""
    found = []
    here: list[Any] = next((each["errors"] for each in plan["choices"] if each["here"]), [])
    for place, (rows, error) in enumerate(zip(plan["rows"], here, strict=False)):
        if rows is None or error is None:
            continue
        widest = max(each["errors"][place]["within"] for each in plan["choices"] if each["errors"][place])
        bar = Markup(draw_error(error["within"], widest))  # noqa: S704 - numbers only
        shown = {**rows, "rows": rows["rows"][:_MOST_EXPECTED], "more": len(rows["rows"][_MOST_EXPECTED:])}
        found.append({**shown, "place": place, "within": error["within"], "widest": widest, "bar": bar})
    return found


def tables_of(told: Mapping[str, Any]) -> list[Any]:
    """The tables of an answer: one, or those of a batch."""
    return [told] if "columns" in told else list(told["releases"])


def _table(told: Mapping[str, Any]) -> dict[str, Any]:
    rows = told["rows"]
    pictures = [(name, Markup(each)) for name, each in draw_answer(told["columns"], rows)]  # noqa: S704 - made of escaped parts
    shown, more = rows[:_MOST_ROWS], len(rows[_MOST_ROWS:])
    return {"columns": told["columns"], "rows": shown, "more": more, "pictures": pictures}


def _number(value: Any) -> str:
    return number(value) if isinstance(value, int | float) else "" if value is None else str(value)


def _price(price: Mapping[str, str]) -> str:
    names = {"epsilon": "ε", "delta": "δ", "rho": "ρ", "mu": "μ"}
    return ", ".join(f"{names.get(name, name)} = {each}" for name, each in price.items() if str(each) != "0")


def _moment(time: int) -> str:
    return datetime.fromtimestamp(min(time, _LAST_DATE), UTC).strftime("%Y-%m-%d %H:%M UTC")


def _seen_as_it_is(value: Any) -> Any:
    """What a template shows: signs that nobody sees, or that turn others round, are written out.

    What a form sends back goes round this: it is escaped already (`|e`).
    """
    return printable(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def _written(text: str) -> Markup:
    """A text in lines, as its author wrote it: a comment ends where its line does."""
    return Markup("\n").join(printable(line) for line in re.split(r"\r?\n", text))


_told = partial(json.dumps, ensure_ascii=False)
