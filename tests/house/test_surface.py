"""The public surface is a promise: complete, sorted, documented."""

import importlib
import pkgutil

import pytest

import leastnoise

MODULES = [name for _, name, _ in pkgutil.walk_packages(leastnoise.__path__, "leastnoise.")]


def test_every_public_name_resolves_and_nothing_else_does():
    for name in leastnoise.__all__:
        assert getattr(leastnoise, name) is not None
    assert sorted(leastnoise.__all__) == dir(leastnoise)
    with pytest.raises(AttributeError, match="nonsense"):
        _ = leastnoise.nonsense


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
