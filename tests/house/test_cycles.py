"""No module needs a module that needs it, not even by an import within a function.

Imports for type checkers only are left out. A name that the front door of the model gives counts as its home.
"""

import ast
from pathlib import Path

import networkx
import pytest

import leastnoise
from leastnoise import model

ROOT = Path(leastnoise.__file__).parent
HOMES = {name: f"leastnoise.model.{module}" for module, names in model._HOMES.items() for name in names.split()}


def source_files():
    """The text of every module."""
    for file in ROOT.rglob("*.py"):
        parts = file.relative_to(ROOT.parent).with_suffix("").parts
        yield ".".join(parts).removesuffix(".__init__"), file.read_text(encoding="utf-8")


def imports_of(node):
    """Every (module, name) that is imported at run time, at the top or within a function."""
    if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
        children = node.orelse
    else:
        children = ast.iter_child_nodes(node)
    if isinstance(node, ast.ImportFrom):
        yield from ((node.module, each.name) for each in node.names)
    elif isinstance(node, ast.Import):
        yield from ((each.name, "") for each in node.names)
    for child in children:
        yield from imports_of(child)


def cycles_of(sources):
    """The sets of modules that need one another."""
    graph = networkx.DiGraph()
    for module, text in sources.items():
        for home, name in imports_of(ast.parse(text)):
            inner = f"{home}.{name}"
            needed = (
                inner if inner in sources else HOMES[name] if home == "leastnoise.model" and name in HOMES else home
            )
            if needed in sources and needed != module:
                graph.add_edge(module, needed)
    return [part for part in networkx.strongly_connected_components(graph) if len(part) > 1]


@pytest.mark.slow
def test_no_module_needs_one_that_needs_it():
    assert not cycles_of(dict(source_files()))


@pytest.mark.parametrize(
    ("late", "found"),
    [
        ("def f():\n    from leastnoise.a import g", True),
        ("def f():\n    import leastnoise.a", True),
        ("class C:\n    def f(self):\n        from leastnoise import a", True),
        ("if TYPE_CHECKING:\n    from leastnoise.a import g", False),
        ("if not TYPE_CHECKING:\n    from leastnoise.a import g", True),
        ("import re", False),
    ],
)
def test_a_cycle_would_be_noticed(late, found):
    assert bool(cycles_of({"leastnoise.a": "from leastnoise.b import f", "leastnoise.b": late})) == found


def test_a_cycle_through_the_front_door_of_the_model_would_be_noticed():
    sources = {
        "leastnoise.model.channel": "import leastnoise.b",
        "leastnoise.b": "from leastnoise.model import Channel",
    }
    assert cycles_of(sources) == [set(sources)]
