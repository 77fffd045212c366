import pytest
import typer
from typer.testing import CliRunner

from leastnoise.errors import UnknownLabel
from papers.__main__ import papers

app = typer.Typer()
app.command()(papers)
run = CliRunner().invoke


@pytest.mark.slow
def test_the_rainbow_paper_prints_its_claims_and_draws_its_figures(tmp_path):
    done = run(app, ["rainbow", "--out", str(tmp_path / "new")], env={"COLUMNS": "200"})
    assert done.exit_code == 0, done.output
    for text in ("Example 1", "Lemma 1", "(13, 12, 6, 1, 0)", "3/250"):
        assert text in done.output
    (drawn,) = (tmp_path / "new").iterdir()
    assert drawn.name in done.output
    assert drawn.read_text().count("as published") == 3


def test_an_unknown_paper_is_refused_with_the_closest_one():
    done = run(app, ["rainbows"])
    assert isinstance(done.exception, UnknownLabel)
    assert "did you mean 'rainbow'?" in str(done.exception)
