"""`ln.connect` gives the same face as `ln.open`: the tutorial runs unchanged on both."""

import re
import shutil
from pathlib import Path

import pytest

import leastnoise as ln
from leastnoise.errors import BadParameter, BudgetExceeded, NotAllowed, NotFound, RequestConflict, ServiceUnavailable
from support.people import CITIES

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[3]


@pytest.fixture
def remote(server, tokens):
    with ln.connect(server.url, token=tokens["ada"]) as dataset:
        yield dataset


def test_a_release_reads_as_one_made_here(remote):
    question = remote.count(by="city", keys=CITIES, where=ln.col("age") >= 18)
    plan = question.plan(0.5)
    assert plan.expected_error > 0
    assert "sensitivity" in str(plan)
    released = question.release(plan.price, request_id="by city")
    assert released.table["city"] == CITIES
    assert released.certificate is not None or released.no_certificate
    assert len(released.interval(0.99)) == 3
    assert released.non_negative().steps == ("non_negative",)
    before = remote.left.epsilon
    again = question.release(plan.price, request_id="by city")
    assert again.table == released.table
    assert remote.left.epsilon == before
    assert remote.budget == ln.Privacy(15, "1e-6")
    assert remote.columns["city"] == "text"


def test_plans_agree_with_those_of_the_table_itself(server, remote, tmp_path):
    with ln.open(
        server.folder / "people.parquet",
        privacy_unit="person",
        rows_per_unit=3,
        name="people",
        budget=(15, "1e-6"),
        ledger=tmp_path / "ledger",
    ) as local:
        for ask in (
            lambda d: d.count(by="city", keys=CITIES),
            lambda d: d.mean("income", bounds=(0, 1000), expected_rows=100),
            lambda d: d.quantile("age", [0.25, 0.5], bounds=(0, 100), step=5),
            lambda d: d.workload("ranges", by="age", bins=[0, 20, 40, 60]),
        ):
            assert ask(remote).plan(1).to_dict()["event"] == ask(local).plan(1).to_dict()["event"]
            assert ask(remote).plan(1).error == ask(local).plan(1).error
            assert ask(remote).plan(1).lower_bound == ask(local).plan(1).lower_bound


def test_a_batch_is_released_there(remote):
    batch = remote.batch([remote.count(), remote.median("age", bounds=(0, 100), step=5)])
    first = batch.release("1/4", request_id="batch")
    again = batch.release("1/4", request_id="batch")
    assert [each.value for each in first] == [each.value for each in again]
    bins = {"age": [0, 20, 40, 60, 80, 100]}
    joint = remote.batch([remote.count(bins=bins), remote.count(), remote.workload("prefix sums", bins=bins)])
    cells, everybody, sums = joint.release("1/4", request_id="joint")
    assert joint.plan("1/4").together == ((0, 2),)
    assert sum(cells.table["value"]) == sums.table["value"][-1]
    assert type(everybody.value) is int


@pytest.mark.slow
def test_every_question_is_answered_there(remote):
    """Also those in several steps: bounds that are chosen first, keys that are found."""
    asked = {
        "sum": remote.sum("income", bounds="private"),
        "unknown keys": remote.count(by="city"),
        "quantile": remote.quantile("age", [0.25, 0.75], bounds=(0, 100), step=10),
        "choice": remote.choose({"young": "age < 30", "old": "age >= 30"}),
        "decision": remote.decision(at_least=100),
        "design": remote.design("city", keys=CITIES, at_most=50, prior={10: 1, 20: 3}),
        "tables": remote.tables(by=["city", "sex"], keys={"city": CITIES, "sex": ["f", "m"]}),
    }
    for name, question in asked.items():
        price = ln.Privacy("1/20", "1e-8") if name == "unknown keys" else ln.Privacy("1/20")
        released = question.release(price, request_id=name)
        assert question.release(price, request_id=name).table == released.table


def test_refusals_are_the_typed_ones(server, tokens, remote):
    with pytest.raises(BudgetExceeded, match="does not cover"):
        remote.count().release(19)
    remote.count().release("1/100", request_id="bound")
    with pytest.raises(RequestConflict):
        remote.count().release("1/50", request_id="bound")
    with pytest.raises(NotAllowed):
        ln.connect(server.url, token="ln_0000000000000000_" + "0" * 64)
    with pytest.raises(NotFound):
        ln.connect(server.url, token=tokens["ada"], dataset="secret")
    with pytest.raises(NotFound, match="which dataset"):
        ln.connect(server.url, token=server.token("all", datasets=None))


def test_a_question_that_would_cost_otherwise_is_refused_and_free(server, tokens):
    before = server.spent()
    refused = server.ask(tokens["ada"], "other plan", event={"kind": "pure", "epsilon": "1/20"})
    assert (refused.status, refused.json["type"]) == (409, "urn:leastnoise:RequestConflict")
    assert server.spent() == before


@pytest.mark.parametrize(
    "url",
    [
        "http://statistics.example.org",
        "http://127.0.0.1.example.org",
        "http://127.example.org",
        "ftp://127.0.0.1",
        "127.0.0.1",
        "http://a:b@127.0.0.1",
    ],
)
def test_a_token_never_goes_out_in_the_clear(url):
    with pytest.raises(BadParameter):
        ln.connect(url, token="ln_secret")  # noqa: S106


def test_nobody_there():
    with pytest.raises(ServiceUnavailable):
        ln.connect("http://127.0.0.1:1", token="ln_secret")  # noqa: S106


@pytest.mark.slow
def test_the_tutorial_runs_on_a_service(tmp_path, monkeypatch, start):
    """The blocks about the dataset run as they are; `ln.open` is a function that connects."""
    blocks = re.findall(r"^```python\n(.*?)^```", (ROOT / "docs" / "tutorial.md").read_text(), re.S | re.M)
    opening = next(place for place, block in enumerate(blocks) if "ln.open(" in block)
    monkeypatch.chdir(tmp_path)
    namespace = {"__name__": "documentation"}
    for block in blocks[:opening]:
        exec(compile(block, "tutorial", "exec"), namespace)  # noqa: S102
    server = start()
    server.stop()
    text = (tmp_path / "leastnoise.toml").read_text().replace("people.parquet", "jobs.csv").replace("people]", "jobs]")
    text = text.replace('["15",', '["4",').replace("rows_per_unit = 3", "rows_per_unit = 2")
    kinds = '[datasets.jobs.columns]\nage = "integer"\nwage = "integer"\n[datasets.secret]'
    (tmp_path / "leastnoise.toml").write_text(text.replace("[datasets.secret]", kinds))
    server.start()
    token = server.token("ada", datasets=["jobs"])
    connected = ln.connect(server.url, token=token)
    monkeypatch.setattr("leastnoise.release.open", lambda *_, **__: connected)
    ran = [block for block in blocks[opening:] if "jobs" in block or "by_region" in block or "released" in block]
    assert len(ran) >= 5
    for block in ran:
        if "Ledger" not in block and "leastnoise.ledger" not in block:
            exec(compile(block, "tutorial", "exec"), namespace)  # noqa: S102
    shutil.rmtree(tmp_path / "build", ignore_errors=True)
