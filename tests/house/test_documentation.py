"""Every block of the documentation runs; every sampler and mechanism has its page."""

import re
from pathlib import Path

import pytest

from leastnoise import exact

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]
RUNNABLE = [page for page in PAGES if "```python" in page.read_text()]


def blocks(page):
    return re.findall(r"^```python\n(.*?)^```", page.read_text(), re.S | re.M)


@pytest.mark.slow
@pytest.mark.parametrize("page", RUNNABLE, ids=lambda page: str(page.relative_to(ROOT)))
def test_the_blocks_of_a_page_run_in_order(page, tmp_path, monkeypatch):
    for table in (DOCS / "data").iterdir():
        (tmp_path / table.name).write_bytes(table.read_bytes())
    monkeypatch.chdir(tmp_path)
    namespace = {"__name__": "documentation"}
    for block in blocks(page):
        exec(compile(block, str(page), "exec"), namespace)  # noqa: S102


def test_there_are_pages_that_run():
    assert {"README.md", "tutorial.md"} <= {page.name for page in RUNNABLE}


def test_every_sampler_has_its_proof():
    page = (DOCS / "theory" / "samplers.md").read_text()
    laws = {name.removesuffix("_pmf") for name in exact.__all__ if name.endswith("_pmf")}
    missing = [name for name in laws if f"## `{name}`" not in page]
    assert not missing


def pages_of(source):
    """The page of a mechanism has its file's name, or is named in the docstring of the file."""
    return [f"{source.stem}.md", *re.findall(r"docs/theory/(\w+\.md)", source.read_text())]


def test_every_mechanism_has_its_page():
    homes = ROOT / "src" / "leastnoise" / "mechanisms"
    missing = [
        f"{source.parent.name}/{source.stem}"
        for source in homes.glob("*/*.py")
        if re.search(r"^class \w+\(.*Mechanism.*\):", source.read_text(), re.M)
        and not any((DOCS / "theory" / page).exists() for page in pages_of(source))
    ]
    assert not missing


def test_every_theory_page_is_in_the_navigation():
    navigation = (ROOT / "mkdocs.yml").read_text()
    missing = [page.relative_to(DOCS) for page in DOCS.rglob("*.md") if str(page.relative_to(DOCS)) not in navigation]
    assert not missing


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_no_page_points_into_a_machine(page):
    assert not re.search(r"/(home|root|work|tmp)/", page.read_text())


def test_every_file_that_the_map_names_exists():
    named = re.findall(r"`([\w/]+\.py)`", (DOCS / "rooms.md").read_text())
    files = [str(path) for path in (ROOT / "src" / "leastnoise").rglob("*.py")]
    assert len(named) > 10
    assert not [name for name in named if not any(file.endswith(f"/{name}") for file in files)]
