"""What comes back: the same object each time, free post-processing, frames, pictures."""

import csv
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


@pytest.mark.slow
@pytest.mark.parametrize("suffix", ["png", "svg", "pdf"])
def test_a_picture_with_error_bars(histogram, tmp_path, suffix):
    path = tmp_path / f"counts.{suffix}"
    figure = histogram.plot(path)
    assert path.stat().st_size > 1000
    (axes,) = figure.axes
    assert [label.get_text() for label in axes.get_yticklabels()] == [*CITIES, "Nowhere"]
    assert [bar.get_width() for bar in axes.patches] == list(map(float, histogram.table["value"]))


def test_a_choice_is_drawn_in_words(dataset, tmp_path):
    def words(release):
        (axes,) = release.plot(tmp_path / "choice.svg").axes
        assert not axes.patches  # no bars
        return [text.get_text() for text in axes.texts]

    best = dataset.most_common(2, by="city", keys=CITIES).release(1)
    assert words(best) == [" · ".join(map(str, row)) for row in best.table]
    test = dataset.decision(at_least=3).release(10)
    assert words(test) == ["yes" if test.value else "no"]
    vote = dataset.decision(by="city", keys=CITIES).release(1)
    assert words(vote) == [vote.value]
    with pytest.raises(BadParameter, match="svg"):
        dataset.count().release(1).plot(tmp_path / "picture.exe")


def test_a_notebook_shows_a_figure_without_a_command(histogram):
    assert histogram.plot()._repr_png_().startswith(b"\x89PNG")


def test_files_read_back_as_what_was_released(dataset, tmp_path):
    odd = ["a, b", '"', "=1+1", "", " x", "two\nlines", None]
    release = dataset.count(by="city", keys=odd).release(1)
    release.to_csv(tmp_path / "odd.csv")
    assert (tmp_path / "odd.csv").read_bytes().decode() == release.to_csv()
    rows = list(csv.reader(io.StringIO(release.to_csv(), newline="")))
    assert rows[0] == ["city", "value", "low", "high"]
    assert [row[0] for row in rows[1:]] == [key or "" for key in odd]
    assert [[int(cell) for cell in row[1:]] for row in rows[1:]] == [list(row[1:]) for row in release.table]
    assert '\n"",' in release.to_csv()  # empty text is not the same as missing
    release.to_parquet(tmp_path / "odd.parquet")
    assert pq.read_table(tmp_path / "odd.parquet").to_pylist() == release.table.to_records()
    huge = dataset.sum("age", bounds=(0, 10**60), step=10**50).release(1)
    assert huge.to_arrow()["value"].to_pylist() == [float(huge.value)]
    with pytest.raises(BadParameter, match="can't be written"):
        release.to_csv(tmp_path / "nowhere" / "odd.csv")


def test_means_quote_the_error_of_their_own_release(dataset):
    question = dataset.mean("age", bounds=(0, 100), expected_rows=10**6)
    assert "if there are 1000000 values" in str(question.plan(1))
    release = question.release(1)
    assert release.error is None
    low, high = release.interval()
    assert release.error_within == max(release.value - low, high - release.value)
    assert f"error {release.error_within:.6g} age" in release.caption
    assert "1000000" not in str(release) + json.dumps(release.to_dict())
    wide, narrow = release.with_confidence(0.99), release.with_confidence(0.5)
    assert narrow.error_within < release.error_within < wide.error_within
