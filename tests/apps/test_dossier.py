"""The dossier says what the ledger holds, never less than the truth, and no name in it is markup."""

import json
import math
import shutil
from fractions import Fraction

import pytest
import yaml

from leastnoise.apps import dossier
from leastnoise.apps.dossier import guess_above, make_dossier, percent_above, posterior_above
from leastnoise.errors import NotFound
from leastnoise.ledger import Ledger, Request
from leastnoise.model import events
from leastnoise.model.events import GaussianPrivacy, LaplaceNoise
from leastnoise.model.privacy import Privacy

HOSTILE = "<script>alert(1)</script>|`*_[x](javascript:1)"


@pytest.fixture
def ledger(tmp_path):
    with Ledger.create(tmp_path / "team.ledger") as made:
        made.grant(Privacy(1), "visits")
        made.release(Request("first", LaplaceNoise("1/4"), "visits", "ada"), lambda: [712345])
        made.release(Request(HOSTILE, LaplaceNoise("1/4"), "visits", HOSTILE), lambda: [812345])
        yield made


@pytest.mark.parametrize("epsilon", ["1/10", "1/2", "1", "ln(3)", "7"])
@pytest.mark.parametrize("prior", [Fraction(1, 100), Fraction(1, 2), Fraction(9, 10)])
def test_posteriors_are_reached_by_randomized_response_and_never_below_it(epsilon, prior):
    exact = Privacy(epsilon, insist=True).epsilon
    odds = math.exp(float(exact))
    reached = float(prior) * odds / (1 - float(prior) + float(prior) * odds)
    found = posterior_above(prior, exact)
    assert float(found) == pytest.approx(reached, rel=1e-12)
    if epsilon != "ln(3)":  # by a lower bound of e^ε that is independent of the enclosures: its series
        low = sum((Fraction(exact) ** n / math.factorial(n) for n in range(80)), start=Fraction(0))
        assert found >= prior * low / (1 - prior + prior * low)


def test_guesses_are_those_of_the_worst_mechanisms():
    # (ε, δ): with δ all is told, else randomized response; its advantage is reached by definition
    assert guess_above(Privacy("ln(3)", "1/5")) == Fraction(1, 5) + Fraction(4, 5) * Fraction(3, 4)
    # μ: two unit normals μ apart, cut in the middle
    assert float(guess_above(Privacy(mu=2))) == pytest.approx(0.5 * (1 + math.erf(1 / math.sqrt(2))), abs=1e-12)
    # ρ: at least what Gaussian noise of this ρ gives away, which has μ² = 2ρ
    for rho in ("1/100", "1/2", "2", "10"):
        mu = math.sqrt(2 * float(Fraction(rho)))
        reached = 0.5 * (1 + math.erf(mu / 2 / math.sqrt(2)))
        assert reached <= float(guess_above(Privacy(rho=rho))) <= 1
    assert guess_above(Privacy(1)) == posterior_above(Fraction(1, 2), Fraction(1))


def test_percents_are_rounded_up():
    assert percent_above(Fraction(6220001, 10**7)) == "62.3 %"
    assert percent_above(Fraction(622, 1000)) == "62.2 %"


def test_it_says_what_the_ledger_holds_and_no_answer(ledger):
    text = make_dossier(ledger, "visits").to_markdown()
    assert "Someone who was 50 % sure you are in the data can be at most 73.2 % sure afterwards." in text  # ε = 1
    assert "All answers up to now cost at most ε = 1/2 together" in text
    assert "50 % sure you are in the data can be at most 62.3 % sure afterwards." in text
    assert ledger.verify().head in text
    assert ledger.witness().to_json() in text
    assert "712345" not in text
    assert "812345" not in text


def test_a_sum_that_is_not_pure_is_not_given_as_a_promise(tmp_path):
    with Ledger.create(tmp_path / "team.ledger") as made:
        made.grant(Privacy(2, "1e-6"), "visits")
        made.release(Request("a", GaussianPrivacy("1/50"), "visits", "ada"), lambda: [1])
        text = make_dossier(made, "visits").to_markdown()
    assert "All answers up to now" not in text
    assert "promises nothing by itself" in text
    assert "guesses right in at most 88.1 % of all cases" in text


def test_cancelled_questions_are_not_counted_and_failed_ones_are(ledger):
    for name in ("gone", "broken"):
        ledger.reserve(Request(name, LaplaceNoise("1/100"), "visits", name))
    ledger.cancel(Request("gone", LaplaceNoise("1/100"), "visits", "gone"))
    ledger.fail(Request("broken", LaplaceNoise("1/100"), "visits", "broken"), "1/10")
    text = make_dossier(ledger, "visits").to_markdown()
    assert "All answers up to now cost at most ε = 61/100 together" in text
    assert "1 of the questions failed" in text


def test_the_evaluation_has_each_factor_and_marks_what_only_the_curator_knows(ledger):
    """From the top of the pyramid down; nothing that the software can't know is claimed."""
    (rows,) = [
        content for kind, content in make_dossier(ledger, "visits").blocks if kind == "|" and "level" in content[0]
    ]
    assert [level for level, *_ in rows[1:]] == ["the guarantee"] * 7 + ["the algorithms"] * 8 + ["the deployment"] * 7
    found = {point: finding for _, point, finding in rows[1:]}
    assert "ε = 1" in found["Privacy parameters"]
    assert "2 charged" in found["Composition"]
    for point in ("Other releases of the same data", "Systemic bias", "Data collection exposure"):
        assert found[point].endswith(dossier._TO_FILL)


def test_no_name_is_markup(ledger):
    made = make_dossier(ledger, "visits")
    assert "<script" not in made.to_html()
    assert "&lt;script&gt;" in made.to_html()
    markdown = made.to_markdown()
    assert "<script" not in markdown
    assert "[x](java" not in markdown
    row = next(line for line in markdown.splitlines() if "javascript" in line)
    assert row.replace("\\|", "").count("|") == 8


# The form of the registry's newest entries (deployments/ of opendp/deployments-registry-data, September 2026): its
# sections, with what each has and what else it may have.
FIELDS = {
    "": ({"url_slug", "status", "tier", "deployment"}, set()),
    "deployment": (
        {"basic", "dp_variant", "privacy_loss", "deployment_model", "accounting", "implementation", "administrative"},
        set(),
    ),
    "basic": (
        {"name", "data_curators", "intended_use", "data_product_type", "data_product_region", "description",
         "publication_date"},
        {"data_product_sector"},
    ),
    "dp_variant": ({"variant_name", "data_domain", "unprotected_quantities"}, set()),
    "privacy_loss": (
        {"privacy_unit", "privacy_parameters"}, {"privacy_unit_details", "privacy_parameters_details"}
    ),
    "privacy_parameters": (set(), {"epsilon", "delta", "rho"}),
    "deployment_model": (
        {"model_name", "actors", "release_type", "data_source_type", "access_type"},
        {"model_name_details", "release_type_details", "data_source_type_details", "access_type_details"},
    ),
    "accounting": ({"post_processing", "composition"}, set()),
    "implementation": ({"preprocessing_and_hyperparameter_tuning", "mechanisms", "justification"}, set()),
    "administrative": ({"sources", "registry_authors"}, set()),
}  # fmt: skip


def sections(told, name=""):
    yield name, told
    for inner, value in told.items():
        if isinstance(value, dict):
            yield from sections(value, inner)


@pytest.mark.parametrize("budget", [Privacy(1), Privacy("ln(3)", "1e-6"), Privacy(rho="1/3"), Privacy(mu="1/3")])
def test_the_entry_has_the_fields_of_the_registry(tmp_path, budget):
    with Ledger.create(tmp_path / "team.ledger") as made:
        made.grant(budget, "visits: yes # no")
        told = yaml.safe_load(make_dossier(made, "visits: yes # no").to_yaml())
    for name, section in sections(told):
        needed, more = FIELDS[name]
        assert needed <= set(section) <= needed | more, name
    deployment = told["deployment"]
    assert deployment["basic"]["name"] == "visits: yes # no"
    assert told["url_slug"] == "visits-yes-no"
    assert deployment["dp_variant"]["variant_name"] in ("Pure DP", "Approximate DP", "Zero-concentrated DP", "Custom")
    for name, value in deployment["privacy_loss"]["privacy_parameters"].items():
        assert Fraction(value) >= getattr(budget, name)


def test_the_command_writes_all_files(tmp_path, command):
    with Ledger.create(tmp_path / "leastnoise.ledger") as made:
        made.grant(Privacy(1), "visits")
    done = command(tmp_path, "dossier", "visits", "--out", "signed")
    assert done.returncode == 0, done.stderr
    assert {"dossier.md", "dossier.html", "registry.yaml"} <= {each.name for each in (tmp_path / "signed").iterdir()}
    if shutil.which("chromium"):
        assert (tmp_path / "signed" / "dossier.pdf").read_bytes()[:5] == b"%PDF-"
    assert command(tmp_path, "dossier", "other").returncode == 2


def test_an_unknown_dataset_is_refused(ledger):
    with pytest.raises(NotFound):
        make_dossier(ledger, "nothing")
    assert json.loads(ledger.witness().to_json())


def test_every_kind_of_event_has_its_words():
    kinds = {kind.kind for kind in vars(events).values() if isinstance(getattr(kind, "kind", None), str)}
    assert {"pure", "group"} <= kinds
    assert kinds == set(dossier._MECHANISMS)
