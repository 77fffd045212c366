"""Where noisy counts find the k best keys more surely than choices in turn, the plan says so."""

import csv

import numpy as np
import pytest

import leastnoise as ln
from leastnoise.exact import SeededSource, discrete_laplace
from leastnoise.release.queries.choices import loss_of_sorted_counts

KEYS = [str(i) for i in range(200)]


@pytest.fixture
def rows(tmp_path):
    file = tmp_path / "rows.csv"
    with file.open("w", newline="") as lines:
        csv.writer(lines).writerows([["person", "key"], *([str(i), KEYS[i % 7]] for i in range(70))])
    return file


def notes(query, *price):
    return [note for note in query.plan(*price).notes if "`count` by the same keys" in note]


def test_where_a_row_has_one_key_the_plan_points_to_counts(rows):
    with ln.open(rows, budget=1) as table:
        (note,) = notes(table.most_common(5, by="key", keys=KEYS), 1)
        assert f"{loss_of_sorted_counts(200, 5, 1):.4g}" in note
        assert not notes(table.most_common(1, by="key", keys=KEYS), 1)  # one choice is best as it is


def test_where_a_person_may_count_for_every_key_it_does_not(rows):
    with ln.open(rows, budget=1, privacy_unit="person") as table:
        assert not notes(table.most_common(5, by="key", keys=KEYS), 1)


@pytest.mark.parametrize("scores", [np.zeros(200, dtype=int), np.arange(200), np.repeat([40, 0], [5, 195])])
def test_no_loss_is_above_the_bound_and_the_bound_is_not_idle(scores):
    bound, losses = loss_of_sorted_counts(200, 5, 0.2), []
    for seed in range(200):
        noisy = scores + discrete_laplace(5, 200, source=SeededSource(seed))
        chosen = np.argsort(-noisy)[:5]
        losses.append(np.sort(scores)[-5:].sum() - scores[chosen].sum())
    assert np.mean(losses) + 6 * np.std(losses) / 200**0.5 < bound
    assert bound < 5 * 200  # which any five of the middle example could lose
