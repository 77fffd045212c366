"""The pictures of the documentation can be drawn again, are small, and are all there."""

import re
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PICTURES = ROOT / "docs" / "pictures"


@pytest.mark.slow
def test_the_script_draws_what_the_documentation_has(tmp_path):
    pytest.importorskip("matplotlib")
    runpy.run_path(str(ROOT / "tools" / "pictures.py"))["draw_all"](tmp_path)
    slow = {"sorted_histograms.svg", "errors.svg"}  # they have programs of their own
    assert {file.name for file in tmp_path.iterdir()} == {file.name for file in PICTURES.iterdir()} - slow


@pytest.mark.parametrize("picture", sorted(PICTURES.iterdir()), ids=lambda picture: picture.name)
def test_a_picture_is_small_stands_alone_and_has_no_page_of_its_own_behind_it(picture):
    text = picture.read_text()
    assert len(text) < 200_000
    assert "<script" not in text
    assert not re.search(r'href="(?!#|data:)', text)
    assert "fill: #ffffff" not in text.split('id="axes_1"')[0], "transparent, for dark pages"
