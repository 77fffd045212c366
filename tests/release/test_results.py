"""What comes back: the same object each time, free post-processing, frames, pictures."""

import io
import json
import pickle
from fractions import Fraction

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from rich.console import Console

import leastnoise.release as ln
from leastnoise.checker import check
from leastnoise.errors import BadParameter, RequestConflict
from leastnoise.mechanisms import Geometric, best_guess
from support.people import CITIES


@pytest.fixture
def dataset(open_people):
    return open_people()


@pytest.fixture
def histogram(dataset):
    return dataset.count(by="city", keys=[*CITIES, "Nowhere"]).release("ln(3)", request_id="histogram")


def test_repeating_a_request_gives_the_same_release_for_nothing(dataset, histogram):
    before = dataset.left
    query = dataset.count(by="city", keys=[*CITIES, "Nowhere"])
    again = query.release("ln(3)", request_id="histogram")
    assert again == histogram
    assert again.table == histogram.table
    assert dataset.left == before
    assert query.release("ln(3)").request_id != query.release("ln(3)").request_id
    for other in (
        dataset.count(by="city", keys=CITIES),
        dataset.count(by="city", keys=[*CITIES, "Nowhere"], where="age > 1"),
        dataset.count(by="city", keys=[*CITIES, "Nowhere"], of="units"),
    ):
        with pytest.raises(RequestConflict):
            other.release("ln(3)", request_id="histogram")
    with pytest.raises(RequestConflict):
        query.release("ln(2)", request_id="histogram")


def test_a_release_carries_its_error_its_cost_and_its_certificate(histogram):
    assert histogram.error.expected.lower == Fraction(3, 4)
    assert str(histogram.cost) == "ε = ln(3)"
    assert check(histogram.certificate)
    assert histogram.no_certificate is None
    lows, values, highs = (histogram.table[name] for name in ("low", "value", "high"))
    assert {high - value for high, value in zip(highs, values, strict=True)} == {3}
    assert {value - low for low, value in zip(lows, values, strict=True)} == {3}


def test_without_a_certificate_the_reason_is_said(dataset):
    release = dataset.count().release(1)
    assert release.certificate is None
    assert "irrational" in release.no_certificate
    assert release.interval() == (release.value - release.plan.error_within, release.value + release.plan.error_within)


def test_no_negative_counts_and_no_digits(dataset):
    many = dataset.count(by="age", keys=list(range(200, 400))).release("1/10")
    assert min(many.table["value"]) < 0
    positive = many.non_negative()
    assert positive.table["value"] == tuple(max(value, 0) for value in many.table["value"])
    assert min(positive.table["low"]) == 0
    assert positive.steps == ("non_negative",)
    assert positive.cost == many.cost
    mean = dataset.mean("age", bounds=(0, 100)).release(1)
    assert mean.rounded(1).value == round(mean.value, 1)
    assert isinstance(mean.rounded().value, int)
    with pytest.raises(BadParameter, match="numbers"):
        dataset.most_common(by="city", keys=CITIES).release(1).non_negative()


def test_the_best_guess_under_a_prior(dataset):
    release = dataset.count(where="age < 0").release("ln(2)")
    prior = [Fraction(1, 2), Fraction(1, 4), Fraction(1, 4)]
    guess = release.remapped(prior)
    assert guess.value == best_guess(Geometric("ln(2)"), release.value, prior).guess
    assert guess.value in (0, 1, 2)
    with pytest.raises(BadParameter, match="as they were drawn"):
        guess.remapped(prior)


def test_a_release_can_be_pickled_because_it_holds_nothing_of_the_table(dataset, histogram):
    tables = dataset.tables(keys={"city": CITIES, "sex": ["m", "f"]}).release(1)
    for release in (histogram, tables):
        assert pickle.loads(pickle.dumps(release)) == release  # noqa: S301
    assert pickle.loads(pickle.dumps(tables)).with_confidence(0.5).table == tables.with_confidence(0.5).table  # noqa: S301


def test_into_data_frames(histogram):
    pandas, polars, arrow = histogram.to_pandas(), histogram.to_polars(), histogram.to_arrow()
    names = ["city", "value", "low", "high"]
    assert list(pandas.columns) == polars.columns == arrow.column_names == names
    assert pandas["value"].tolist() == polars["value"].to_list() == list(histogram.table["value"])
    assert json.loads(json.dumps(histogram.to_dict()))["rows"][0][0] == "Lyon"


def test_key_columns_that_are_called_like_the_measures_stay_apart(tmp_path):
    path = tmp_path / "odd.parquet"
    pq.write_table(pa.table({"value": ["a", "b"], "low": [1, 2]}), path)
    with ln.open(path, budget=10, ledger=tmp_path / "ledger") as dataset:
        release = dataset.count(by=["value", "low"], keys={"value": ["a"], "low": [1]}).release(1)
    assert release.table.names == ("value", "low", "value_", "low_", "high")
    assert release.non_negative().table["value_"][0] >= 0


def test_text_terminal_and_html(histogram):
    console = Console(width=100, file=io.StringIO(), record=True)
    console.print(histogram)
    console.print(histogram.plan)
    for text in (str(histogram), console.export_text(), histogram._repr_html_()):
        assert all(city in text for city in CITIES)
        assert "ln(3)" in text


@pytest.mark.parametrize("suffix", ["png", "svg", "pdf"])
def test_a_picture_with_error_bars(histogram, tmp_path, suffix):
    path = tmp_path / f"counts.{suffix}"
    figure = histogram.plot(path)
    assert path.stat().st_size > 1000
    (axes,) = figure.axes
    assert [label.get_text() for label in axes.get_yticklabels()] == [*CITIES, "Nowhere"]
    assert [bar.get_width() for bar in axes.patches] == list(map(float, histogram.table["value"]))


def test_pictures_of_what_is_no_number_are_refused(dataset, tmp_path):
    chosen = dataset.most_common(by="city", keys=CITIES).release(1)
    with pytest.raises(BadParameter, match="numbers"):
        chosen.plot()
    with pytest.raises(BadParameter, match="svg"):
        dataset.count().release(1).plot(tmp_path / "picture.exe")
