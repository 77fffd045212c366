"""`leastnoise dossier DATASET`: what a privacy officer signs, written from the ledger alone; no data is opened.

**How sure can somebody become?** Somebody has narrowed it down to two cases, with you and without you, and knows
everything else. If they held p for "you are in the data" before they saw the answers, they hold at most

    p·e^ε / (1 − p + p·e^ε)

afterwards, whatever they saw (Bayes' rule; ε-privacy bounds the ratio of the likelihoods). With δ, ρ or μ there is no
such bound for every answer. There is one for how often they guess right if both cases were equally likely before:

| promise | at most | source |
|---|---|---|
| (ε, δ) | (e^ε + δ) / (1 + e^ε) | Kairouz, Oh and Viswanath 2015 |
| ρ | 1/2 + √min(ρ/2, 1 − e^−ρ)/2 | the divergence is at most ρ; Pinsker; Bretagnolle and Huber 1979 |
| μ | Φ(μ/2) | Dong, Roth and Su 2022 |

Every number is rounded up. **What holds of the answers so far** is the sum of their pure ε, also where prices were
chosen on the way: the ratio of the likelihoods of all answers is the product of theirs. A sum with δ, ρ or μ that was
chosen on the way promises nothing by itself (Rogers, Roth, Ullman and Vadhan 2016); the budget that stopped it does.
"""

from __future__ import annotations

import json
import math
import re
import shutil
import subprocess
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import leastnoise
from leastnoise.apps.budget import LedgerOption

if TYPE_CHECKING:
    from leastnoise.exact import Exact
    from leastnoise.ledger import Debit, Ledger
    from leastnoise.model import Privacy

__all__ = ["Dossier", "dossier", "guess_above", "make_dossier", "posterior_above"]

_PRIORS = (Fraction(1, 100), Fraction(1, 10), Fraction(1, 2), Fraction(9, 10))
_LONGEST_WORD = 16  # letters that a column holds
_TO_FILL = "TO BE FILLED IN BY THE CURATOR"
_FLAVOURS = {
    "epsilon": "Pure DP",
    "epsilon and delta": "Approximate DP",
    "rho": "Zero-concentrated DP",
    "mu": "Gaussian DP",
}
_MECHANISMS = {  # kind of an event: what was done, and why it is private
    "pure": ("a mechanism with a pure ε", "Dwork, McSherry, Nissim and Smith 2006"),
    "laplace": ("Laplace noise", "Dwork, McSherry, Nissim and Smith 2006; drawn exactly"),
    "bounded range": ("a private choice", "Dong, Durfee and Rogers 2020; McSherry and Talwar 2007"),
    "randomized response": ("randomized response", "Warner 1965; Kairouz, Oh and Viswanath 2015"),
    "approximate": ("a mechanism with ε and δ", "Dwork, Kenthapadi, McSherry, Mironov and Naor 2006"),
    "concentrated": ("a concentrated mechanism", "Bun and Steinke 2016"),
    "gaussian": ("discrete Gaussian noise", "Canonne, Kamath and Steinke 2020"),
    "gaussian privacy": ("rounded Gaussian noise", "Dong, Roth and Su 2022"),
    "thresholded gaussian": ("Gaussian noise and a threshold for keys", "see the theory of noisy thresholds"),
    "composed": ("several mechanisms", "composition: the parts add up"),
    "parallel": ("mechanisms on disjoint parts", "McSherry 2009"),
    "group": ("a mechanism for a group", "group privacy: Dwork and Roth 2014"),
    "fixed": ("a list of mechanisms fixed beforehand", "Kairouz, Oh and Viswanath 2015"),
}
_THREATS = [
    "Whoever sees answers may know everything else, work together with all others, and compute for ever.",
    "Whoever asks may choose each question, and its price, after the answers before it.",
    "Questions that fail are charged and stop their asker; refusals depend on public things only.",
    "How long an answer takes depends on the data; a service can answer at fixed times (answer_after).",
    "Not protected from: whoever runs the machine, reads the source of the data, or changes the software.",
    "Not protected: what is true of the group whether or not one is in it, and what limits and keys say by themselves.",
]


def posterior_above(prior: Fraction, epsilon: Exact) -> Fraction:
    """How sure somebody can be at most, after answers of a pure ε, who was sure to `prior` before.

    >>> from leastnoise.exact.parameters import read_exact
    >>> posterior_above(Fraction(1, 2), read_exact("ln(3)", "epsilon"))
    Fraction(3, 4)
    """
    from leastnoise.exact import exact_exp, exp_above

    odds = exact_exp(epsilon)
    odds = exp_above(epsilon) if odds is None else odds
    return prior * odds / (1 - prior + prior * odds)


def guess_above(promise: Privacy) -> Fraction:
    """How often somebody guesses right at most whether one is in the data, if a coin decided it.

    >>> from leastnoise.model.privacy import Privacy
    >>> guess_above(Privacy("ln(3)")), guess_above(Privacy("ln(3)", "1/10"))
    (Fraction(3, 4), Fraction(31, 40))
    >>> [float(guess_above(each)) for each in (Privacy(mu=1), Privacy(rho="1/2"))]
    [0.69146..., 0.75]
    """
    from leastnoise.exact import enclose, exp_below, normal_cdf, of_fraction, read_exact, sqrt_above

    half = Fraction(1, 2)
    if promise.currency == "mu":
        middle = promise.mu / 2
        return enclose(lambda: normal_cdf(of_fraction(middle))).upper
    if promise.currency == "rho":
        return half + sqrt_above(min(promise.rho / 2, 1 - exp_below(read_exact(-promise.rho, "rho")))) / 2
    most = posterior_above(half, promise.epsilon)  # e^ε/(1 + e^ε), and 1/(1 + e^ε) is what is missing to one
    return most + promise.delta * (1 - posterior_below(promise.epsilon))


def posterior_below(epsilon: Exact) -> Fraction:
    """A rational not above e^ε/(1 + e^ε)."""
    from leastnoise.exact import exact_exp, exp_below

    odds = exact_exp(epsilon)
    odds = exp_below(epsilon) if odds is None else odds
    return odds / (1 + odds)


def percent_above(share: Fraction) -> str:
    """A share in percent with one digit, rounded up.

    >>> percent_above(Fraction(1, 2)), percent_above(Fraction(6224594, 10**7)), percent_above(Fraction(1, 10**9))
    ('50 %', '62.3 %', '0.1 %')
    """
    tenths = math.ceil(share * 1000)
    return f"{tenths // 10}.{tenths % 10} %" if tenths % 10 else f"{tenths // 10} %"


@dataclass(frozen=True)
class Dossier:
    """A document, and an entry for the registry of deployments.

    Args:
        blocks: What it says: headings ("#", text), paragraphs ("", text), lists ("-", texts), tables ("|", rows with
            the heads first) and text to be copied ("=", text).
        registry: The entry.
    """

    blocks: tuple[tuple[str, Any], ...]
    registry: dict[str, Any]

    def to_markdown(self) -> str:
        """As Markdown; every text is escaped."""
        return "\n".join(_markdown(self.blocks))

    def to_html(self) -> str:
        """As a page of its own; every text is escaped, and nothing is loaded from elsewhere."""
        return "\n".join(_html(self.blocks))

    def to_yaml(self) -> str:
        """The entry for the registry, as YAML."""
        return "\n".join(_yaml(self.registry)) + "\n"


def make_dossier(ledger: Ledger, dataset: str) -> Dossier:
    """The dossier of a dataset, from what a ledger holds of it; the ledger is verified first.

    Args:
        ledger: The ledger.
        dataset: The dataset.

    Raises:
        NotFound: The ledger knows no such dataset.
        LedgerDamaged: The ledger does not hold together.
    """
    from leastnoise.errors import NotFound
    from leastnoise.ledger import Scope

    verified = ledger.verify()
    debits, unit = ledger.debits(dataset), ledger.privacy_unit(dataset)
    balances = [each for each in ledger.balances() if each.scope.dataset in (None, dataset)]
    whole = next((each for each in balances if each.scope == Scope(dataset)), None)
    if whole is None and not debits:
        raise NotFound("the ledger has no such dataset", given=dataset, fix="see `leastnoise budget`")
    charged = [each for each in debits if each.state != "cancelled"]
    promise = None if whole is None else whole.limits.budget
    who = "one row" if unit is None or unit.column is None else f"all rows with the same value of {unit.column!r}"
    blocks: list[tuple[str, Any]] = [("#", f"Privacy dossier of {dataset}")]
    blocks += [("", f"Written by leastnoise {leastnoise.__version__} from the ledger, up to {_moment(debits)}.")]
    blocks += [("##", "Who is protected"), ("", f"The unit of privacy is {who}.")]
    blocks += [("##", "What it means for one person"), *_meaning(promise, whole is not None and whole.refresh, charged)]
    blocks += [("##", "Budgets"), ("|", _budgets(balances))]
    blocks += [("##", "What was released, when, at which price"), ("|", _releases(debits))]
    blocks += [("##", "Mechanisms and theorems"), ("|", _mechanisms(charged))]
    blocks += [("", "Where a mechanism has a certificate, a service gives it at /v1/releases/ID/certificate, and "
                "leastnoise check verifies it. Certificates are no part of the ledger.")]  # fmt: skip
    blocks += [("##", "Threat model"), ("-", _THREATS), ("##", "Evaluation, by the factors of NIST SP 800-226")]
    blocks += [
        ("|", [("level", "point", "finding"), *_evaluation(promise, who, charged)]),
        ("##", "Proof from the ledger"),
    ]
    witness = ledger.witness()
    blocks += [("", f"All {verified.entries} entries were verified: chain, prices, states, sums, and the witness. The "
                f"head is {verified.head}. Keep the witness elsewhere; leastnoise budget --verify --witness FILE "
                "compares it later."), ("=", witness.to_json())]  # fmt: skip
    blocks += [("##", "Signature"), ("", "Name, date: ____________________________")]
    return Dossier(tuple(blocks), _registry(dataset, promise, who, charged))


def _moment(debits: Sequence[Debit]) -> str:
    return _date(debits[-1].time) if debits else "its first question, which was not asked yet"


def _date(time: int) -> str:
    return datetime.fromtimestamp(time, UTC).strftime("%Y-%m-%d %H:%M UTC")


def _meaning(
    promise: Privacy | None, refresh: int | bool | None, charged: Sequence[Debit]
) -> Iterator[tuple[str, Any]]:
    if promise is None:
        yield "", "The dataset has no budget of its own, so nothing bounds what all questions together tell."
    else:
        yield "", f"Whatever will still be asked, the budget {promise} holds for all answers together:"
        yield "-", _words(promise)
        if refresh:
            yield "", "This budget is renewed: the promise is for one period, and periods add up."
    spent = _pure(charged)
    if spent is None:
        yield "", ("What was spent so far has a δ, ρ or μ. Its sum promises nothing by itself where prices are chosen "
                   "on the way; the budget above does.")  # fmt: skip
    else:
        from leastnoise.model import Privacy

        yield "", f"All answers up to now cost at most ε = {spent} together:"
        yield "-", _words(Privacy(spent, insist=True))
    failed = sum(each.floor is not None for each in charged)
    if failed:
        yield "", f"{failed} of the questions failed. That a question fails may depend on the data; each was charged."


def _pure(charged: Sequence[Debit]) -> Exact | None:
    """The sum of the pure ε, with what failures were charged at least; None where there is another price."""
    total: Exact = Fraction(0)
    for each in charged:
        epsilon, delta = each.cost.basic
        if epsilon is None or delta:
            return None
        total = total + (epsilon if each.floor is None or each.floor <= epsilon else each.floor)
    return total


def _words(promise: Privacy) -> list[str]:
    if not promise.is_pure:
        return [
            "Suppose a coin decided whether you are in the data. Someone who knows everything else and sees all "
            f"answers guesses right in at most {percent_above(guess_above(promise))} of all cases."
        ]
    return [
        f"Someone who was {percent_above(prior)} sure you are in the data can be at most "
        f"{percent_above(posterior_above(prior, promise.epsilon))} sure afterwards."
        for prior in _PRIORS
    ]


def _budgets(balances: Iterable[Any]) -> list[Sequence[str]]:
    from leastnoise.ledger.report import COLUMNS, balance_texts

    return [COLUMNS, *(balance_texts(each) for each in balances)]


def _releases(debits: Iterable[Debit]) -> list[Sequence[str]]:
    from leastnoise.ledger.report import DEBIT_COLUMNS, debit_texts

    return [(*DEBIT_COLUMNS, "mechanism"), *((*debit_texts(each), _kind(each)[0]) for each in debits)]


def _kind(debit: Debit) -> tuple[str, str]:
    kind = debit.event.to_dict()["kind"]
    return _MECHANISMS.get(kind, (kind, "see the theory pages"))


def _mechanisms(charged: Iterable[Debit]) -> list[Sequence[str]]:
    counted = Counter(_kind(each) for each in charged)
    return [("mechanism", "times", "theorem"), *((name, str(n), why) for (name, why), n in counted.items())]


def _evaluation(promise: Privacy | None, who: str, charged: Sequence[Debit]) -> Iterator[tuple[str, str, str]]:
    """The factors of the publication's pyramid, from its top down, and the hazards that it warns of at each."""
    budget = "no budget for the whole" if promise is None else str(promise)
    variant = "none" if promise is None else _FLAVOURS[promise.currency]
    top, middle, ground = "the guarantee", "the algorithms", "the deployment"
    yield top, "Privacy parameters", f"{budget}, for all answers together; what it means for one person is said above"
    yield top, "Variant and its δ", f"{variant}; promises in other variants can't be compared by their numbers alone"
    yield top, "Unit of privacy", f"{who}; neighbours differ by one unit that is there or not (unbounded)"
    yield top, "Several units of one person", f"protected only as far as the unit joins them: {_TO_FILL}"
    yield top, "Composition", f"{len(charged)} charged; the ledger refuses whatever the budget does not cover"
    yield top, "Other releases of the same data", f"outside the ledger nothing is counted: {_TO_FILL}"
    yield top, "Invariants", "none are released; keys, bounds, bins and limits are public inputs of the askers"
    yield middle, "Mechanisms and their proofs", "each with its theorem above; sensitivities are derived, not declared"
    yield middle, "Clamping and limits per unit", f"given by askers, not taken from the data, or priced: {_TO_FILL}"
    yield middle, "Keys of groups", "public, or found with a threshold: a key of one unit alone shows with at most δ"
    yield middle, "Utility", "each plan states its expected error before anything is spent; not in the ledger"
    yield middle, "Statistical bias", f"clamping and limits pull sums towards their bounds: {_TO_FILL}"
    yield middle, "Systemic bias", f"equal noise hides small groups more than large ones: {_TO_FILL}"
    yield middle, "Human bias", f"answers are shown with intervals; how they are read and used: {_TO_FILL}"
    yield middle, "Exploration and tuning without privacy", f"nothing of it passes through the ledger: {_TO_FILL}"
    yield (
        ground,
        "Query model",
        "interactive: questions and prices may be chosen after answers; one budget binds all askers",
    )
    yield ground, "Trust model", "central: whoever keeps the data and the service is trusted, whoever asks is not"
    yield (
        ground,
        "Correct implementation",
        "exact arithmetic and samplers; no float decides; tests enumerate neighbours",
    )
    yield ground, "Floating-point attacks", "noise is drawn on integers and rationals, with random bits of the system"
    yield (
        ground,
        "Side channels",
        "errors and refusals depend on public things only; a service can fix times of answers",
    )
    yield ground, "Security and access control", f"tokens, roles and approval where a service is used; else: {_TO_FILL}"
    yield ground, "Data collection exposure", f"what was collected, from whom, how long it is kept: {_TO_FILL}"


def _registry(dataset: str, promise: Privacy | None, who: str, charged: Sequence[Debit]) -> dict[str, Any]:
    """An entry in the form of the registry's newest ones."""
    named = {} if promise is None else promise.to_dict()
    variant = "Custom" if promise is None or promise.currency == "mu" else _FLAVOURS[promise.currency]
    deployment = {
        "basic": {
            "name": dataset,
            "data_curators": [{"data_curator_name": _TO_FILL, "data_curator_type": _TO_FILL}],
            "intended_use": _TO_FILL,
            "data_product_type": "Summary statistics",
            "data_product_region": _TO_FILL,
            "description": f"{len(charged)} charged questions, answered with leastnoise {leastnoise.__version__}.",
            "publication_date": _date(charged[0].time)[:10] if charged else _TO_FILL,
            "data_product_sector": _TO_FILL,
        },
        "dp_variant": {
            "variant_name": variant,
            "data_domain": _TO_FILL,
            "unprotected_quantities": "Column names and types, keys, bounds, bins and limits that askers gave.",
        },
        "privacy_loss": {
            "privacy_unit": who,
            "privacy_unit_details": f"Unbounded: adjacent tables differ by one unit that is there or not: {who}.",
            "privacy_parameters": {name: _double(text) for name, text in named.items() if name != "mu"},
            "privacy_parameters_details": f"The budget of all answers together, exactly: {promise}.",
        },
        "deployment_model": {
            "model_name": "Central",
            "actors": "A trusted curator keeps the data; whoever asks or reads answers is not trusted.",
            "release_type": "One release" if len(charged) == 1 else "Many releases",
            "data_source_type": _TO_FILL,
            "access_type": "Interactive",
            "access_type_details": "One budget binds all askers, who may work together.",
        },
        "accounting": {
            "post_processing": _TO_FILL,
            "composition": "A privacy filter, fully adaptive; every question is charged before it is answered.",
        },
        "implementation": {
            "preprocessing_and_hyperparameter_tuning": _TO_FILL,
            "mechanisms": "; ".join(sorted({": ".join(_kind(each)) for each in charged})) or "none yet",
            "justification": _TO_FILL,
        },
        "administrative": {
            "sources": "The dossier has every price, and the proof from the ledger.",
            "registry_authors": [_TO_FILL],
        },
    }
    slug = re.sub(r"[^a-z0-9]+", "-", dataset.lower()).strip("-") or "dataset"
    return {"url_slug": slug, "status": "Draft", "tier": 3, "deployment": deployment}


def _double(text: str) -> float:
    """An exact number as the double above it: the registry takes numbers."""
    from leastnoise.exact import read_exact

    number = read_exact(text, "number")
    nearest = float(number)
    return nearest if number <= Fraction(nearest) else math.nextafter(nearest, math.inf)


# ---------------------------------------------------------------------- how it is written


def _plain(text: object) -> str:
    """A text in Markdown, as it is: nothing in it is markup."""
    return re.sub(r"([\\`*_{}\[\]#|!~])", r"\\\1", escape(str(text), quote=False))


def _markdown(blocks: Iterable[tuple[str, Any]]) -> Iterator[str]:
    for kind, content in blocks:
        if kind.startswith("#"):
            yield f"{kind} {_plain(content)}"
        elif kind == "-":
            yield from (f"- {_plain(each)}" for each in content)
        elif kind == "|":
            heads, *rows = content
            yield from ("| " + " | ".join(map(_plain, row)) + " |" for row in (heads, ["---"] * len(heads), *rows))
        else:
            yield f"    {content}" if kind == "=" else _plain(content)
        yield ""


_STYLE = (
    "body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color-scheme:light dark}"
    "table{border-collapse:collapse;width:100%}th,td{border:1px solid #8888;padding:.3rem .5rem;text-align:left;"
    "vertical-align:top}.long{overflow-wrap:anywhere}pre{white-space:pre-wrap;overflow-wrap:anywhere}"
    "@media print{body{margin:0;font-size:11px}tr{break-inside:avoid}}"
)


def _html(blocks: Sequence[tuple[str, Any]]) -> Iterator[str]:
    yield '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
    yield f"<title>{escape(blocks[0][1])}</title><style>{_STYLE}</style></head><body><main>"
    for kind, content in blocks:
        if kind.startswith("#"):
            yield f"<h{len(kind)}>{escape(content)}</h{len(kind)}>"
        elif kind == "-":
            yield "<ul>" + "".join(f"<li>{escape(each)}</li>" for each in content) + "</ul>"
        elif kind == "|":
            heads, *rows = content
            yield "<table><thead><tr>" + "".join(f'<th scope="col">{escape(each)}</th>' for each in heads)
            yield "</tr></thead><tbody>"
            yield from ("<tr>" + "".join(map(_cell, row)) + "</tr>" for row in rows)
            yield "</tbody></table>"
        else:
            yield f"<pre>{escape(content)}</pre>" if kind == "=" else f"<p>{escape(content)}</p>"
    yield "</main></body></html>\n"


def _cell(value: object) -> str:
    """A cell of a table; only where a word is longer than a column may be it is broken anywhere."""
    text = str(value)
    kind = ' class="long"' if any(len(word) > _LONGEST_WORD for word in text.split()) else ""
    return f"<td{kind}>{escape(text)}</td>"


def _yaml(value: Any, depth: int = 0) -> Iterator[str]:
    """Every scalar as JSON, which is YAML: no text can be anything else."""
    for name, each in value.items():
        if isinstance(each, dict) and each:
            yield f"{'  ' * depth}{name}:"
            yield from _yaml(each, depth + 1)
        else:
            yield f"{'  ' * depth}{name}: {json.dumps(each)}"


def dossier(
    dataset: Annotated[str, typer.Argument(help="The dataset.")],
    out: Annotated[Path, typer.Option("--out", help="The folder to write to; it is made if need be.")] = Path(
        "dossier"
    ),
    ledger: LedgerOption = None,
) -> None:
    """Write what a privacy officer signs, from the ledger alone: Markdown, HTML, PDF, and an entry for the registry."""
    from leastnoise.ledger import Ledger

    with Ledger.open(ledger or "leastnoise.ledger") as opened:
        made = make_dossier(opened, dataset)
    out.mkdir(parents=True, exist_ok=True)
    for name, text in (("dossier.md", made.to_markdown()), ("dossier.html", made.to_html()),
                       ("registry.yaml", made.to_yaml())):  # fmt: skip
        (out / name).write_text(text, encoding="utf-8")
        typer.echo(f"written to {out / name}")
    browser = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if browser is None or not _print_pdf(browser, out.resolve()):
        typer.echo("no PDF: install Chromium, or print dossier.html from a browser")
    else:
        typer.echo(f"written to {out / 'dossier.pdf'}")


def _print_pdf(browser: str, folder: Path) -> bool:
    """Let a browser print the page, which has no scripts."""
    pdf = folder / "dossier.pdf"
    with tempfile.TemporaryDirectory() as profile:
        command = [browser, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={profile}",
                   "--no-pdf-header-footer", f"--print-to-pdf={pdf}", (folder / "dossier.html").as_uri()]  # fmt: skip
        try:
            done = subprocess.run(command, capture_output=True, timeout=60, check=False)  # noqa: S603 - a browser found by name
        except (OSError, subprocess.TimeoutExpired):
            return False
    return done.returncode == 0 and pdf.exists()
