"""Designs are drawn from for many people at once, and refuse what is not an input without showing it."""

import numpy as np
import pytest

from leastnoise import design
from leastnoise.errors import InsecureSource, UnknownLabel
from leastnoise.exact import SeededSource
from leastnoise.model.graphs import cycle


@pytest.fixture(scope="module")
def mechanism():
    return design(cycle(5), "ln(3)", prior=["1/2", "1/4", "1/8", "1/16", "1/16"]).mechanism


def test_each_person_has_a_draw_from_their_own_row(mechanism):
    people = np.arange(1000) % 5
    together = mechanism.draw_each(people, SeededSource(3))
    words = SeededSource(3).words(1000, 64)
    sums = np.cumsum(mechanism.law.floats(), axis=1)
    borders = sums[people] * 2.0**64
    clear = np.abs(borders - words[:, None]).min(axis=1) > 2.0**16  # doubles are enough to tell
    assert clear.sum() > 990
    places = (borders <= words[:, None]).sum(axis=1)
    assert (together[clear] == np.array(mechanism.law.outputs)[places[clear]]).all()


def test_a_release_for_many_takes_no_seed(mechanism):
    assert len(mechanism.release_each(range(5))) == 5
    with pytest.raises(InsecureSource):
        mechanism.release_each(range(5), SeededSource(1))


def test_one_wrong_input_stops_all_before_anything_is_drawn(mechanism):
    with pytest.raises(UnknownLabel) as refusal:
        mechanism.draw_each([0, 1, 987654321])
    assert "987654321" not in str(refusal.value)
