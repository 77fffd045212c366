"""The public surface is a promise: what is exported, what can be imported and what the reference documents agree."""

import importlib
import inspect
import pickle
import pkgutil
import re
from pathlib import Path

import pytest

import leastnoise

ROOT = Path(__file__).parents[2]
MODULES = [name for _, name, _ in pkgutil.walk_packages(leastnoise.__path__, "leastnoise.")]
PUBLIC = {name for name in leastnoise.__all__ if inspect.ismodule(getattr(leastnoise, name))}
REFERENCE = {page: page.read_text() for page in sorted((ROOT / "docs" / "reference").glob("*.md"))}
TITLES = {re.match(r"# `leastnoise\.(\w+)`", text)[1] for text in REFERENCE.values()}
PAGES = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "examples").glob("*.py")]


def test_every_public_name_resolves_and_nothing_else_does():
    for name in leastnoise.__all__:
        assert getattr(leastnoise, name) is not None
    assert sorted(leastnoise.__all__) == dir(leastnoise)
    with pytest.raises(AttributeError, match="nonsense"):
        _ = leastnoise.nonsense


@pytest.mark.parametrize("name", ["check", "design", "open", "compare", "audit", "fit"])
def test_a_verb_is_one_function_that_can_be_pickled(name):
    verb = getattr(leastnoise, name)
    assert inspect.isfunction(verb)
    assert verb is getattr(leastnoise, name)
    assert pickle.loads(pickle.dumps(verb)) is verb  # noqa: S301 - its own bytes


@pytest.mark.parametrize("name", sorted(PUBLIC))
def test_a_public_module_is_importable_under_its_name_and_offers_what_it_lists(name):
    module = importlib.import_module(f"leastnoise.{name}")
    assert module is getattr(leastnoise, name)
    assert len(set(module.__all__)) == len(module.__all__)
    assert all(hasattr(module, public) for public in module.__all__)


def test_the_reference_documents_the_public_modules_and_nothing_else():
    assert PUBLIC | {"check", "design"} == TITLES


def documented():
    """Every object that a reference page shows: the listed modules with what they export, and single objects."""
    found = {}
    for text in REFERENCE.values():
        for path in re.findall(r"^::: (leastnoise[\w.]*)", text, re.M):
            try:
                module = importlib.import_module(path)
            except ModuleNotFoundError:
                home, _, name = path.rpartition(".")
                found[getattr(importlib.import_module(home), name)] = path
                continue
            found |= {thing: path for thing in map(module.__dict__.get, module.__all__) if callable(thing)}
    return found


def test_the_reference_documents_every_public_name():
    shown = documented()
    for name in leastnoise.__all__:
        thing = getattr(leastnoise, name)
        assert not callable(thing) or thing in shown, f"leastnoise.{name} is not in the reference"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_pages_import_from_public_modules_only(page):
    for module in re.findall(r"^\s*(?:from|import) leastnoise\.([\w.]+)", page.read_text(), re.M):
        assert module in PUBLIC, f"leastnoise.{module} is not public"


@pytest.mark.parametrize("name", MODULES)
def test_every_module_says_what_it_is_and_what_it_offers(name):
    module = importlib.import_module(name)
    assert module.__doc__
    for public in getattr(module, "__all__", []):
        thing = getattr(module, public)
        if callable(thing) and getattr(thing, "__module__", "").startswith("leastnoise"):
            assert thing.__doc__, f"{name}.{public} has no docstring"


def test_the_rooms_exist():
    rooms = {name.split(".")[1] for name in MODULES}
    expected = "apps checker composition data designer exact ledger mechanisms model release"
    assert set(expected.split()) <= rooms


def test_the_version_is_the_packaged_one():
    from importlib.metadata import version

    assert leastnoise.__version__ == version("leastnoise")
