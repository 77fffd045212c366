"""The how-to page of the command line is true: its commands print what it shows, up to the noise."""

import re
import shlex
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "howto" / "command_line.md"
TEXT = PAGE.read_text(encoding="utf-8")


def masked(text):
    """Without what differs from run to run: released numbers, random names, and the width of columns."""
    shown = []
    for line in re.sub(r"r-[0-9a-f]{24}", "r-…", text).strip().splitlines():
        is_answer = re.fullmatch(r"\s*(\[.*[\])]|\S+)?(\s+-?[\d.]+)+|-?[\d.]+", line)
        shown.append(re.sub(r"(?<!\S)-?\d[\d.]*(?!\S)", "#", line) if is_answer else line)
    return [re.sub(r"\s+", " ", line).strip() for line in shown]


def pieces():
    """The blocks of the page in order, each with its language."""
    return re.findall(r"^```(python|console|toml)\n(.*?)^```", TEXT, re.S | re.M)


@pytest.mark.slow
def test_every_command_prints_what_the_page_shows(tmp_path, command, monkeypatch):
    asked = 0
    for language, block in pieces():
        if language == "python":
            with monkeypatch.context() as patch:
                patch.chdir(tmp_path)
                exec(compile(block, str(PAGE), "exec"), {})  # noqa: S102
        elif language == "toml":
            (tmp_path / "leastnoise.toml").write_text(block)
        else:
            for part in re.split(r"^\$ ", block, flags=re.M)[1:]:
                line, _, printed = part.partition("\n")
                program, *arguments = shlex.split(line)
                assert program == "leastnoise"
                done = command(tmp_path, *arguments)
                shown = (done.stdout + done.stderr).replace(str(tmp_path.resolve()), "/data")
                assert masked(shown) == masked(printed), line
                asked += 1
    assert asked > 10
