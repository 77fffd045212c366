import pytest

from leastnoise.errors import BadParameter
from leastnoise.release.pictures import COLOURS, GREY, literal, make_picture_folder, picture

PAGES = {"white": "#ffffff", "slate": "#1e2129", "black": "#000000"}


def luminance(colour):
    """Of a colour "#rrggbb" (WCAG 2.2, relative luminance)."""
    shares = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in shares)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one, other):
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("page", PAGES.values(), ids=PAGES)
@pytest.mark.parametrize("colour", [GREY, *COLOURS])
def test_every_colour_stands_out_on_light_and_on_dark_pages(colour, page):
    assert contrast(colour, page) >= 3, "what WCAG 2.2 asks of graphics (1.4.11)"


def test_the_measure_of_contrast():
    assert contrast("#000000", "#ffffff") == 21
    assert contrast("#ffffff", "#ffff00") < 3


def test_colours_are_all_different():
    assert len({*COLOURS, GREY}) == len(COLOURS) + 1


def test_text_is_not_read_as_mathematics():
    assert literal("$a$\n") == "\\$a\\$\\n"


def test_nothing_is_left_changed_and_nothing_is_written_on_an_error(tmp_path):
    matplotlib = pytest.importorskip("matplotlib")
    before = dict(matplotlib.rcParams)

    def broken():
        with picture(tmp_path / "a.svg"):
            raise KeyError("x")

    with pytest.raises(KeyError):
        broken()
    assert dict(matplotlib.rcParams) == before
    assert not (tmp_path / "a.svg").exists()


def test_a_folder_is_made_or_refused(tmp_path):
    assert make_picture_folder(tmp_path / "a" / "b").is_dir()
    (tmp_path / "file").touch()
    with pytest.raises(BadParameter, match="folder can't be made"):
        make_picture_folder(tmp_path / "file")
