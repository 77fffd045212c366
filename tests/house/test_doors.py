"""Rooms have doors: what one room imports from another is its package, or one of a few modules listed here.

Every other module belongs to its room alone, so that it can be renamed, split or removed without a look elsewhere. If
this fails, import the name from the room's package or from a module listed here; if a module is meant for other rooms,
list it. The public modules of `leastnoise` collect names from the rooms and are free to.
"""

import ast
import importlib
from collections import Counter
from pathlib import Path

import pytest

import leastnoise
from leastnoise import model

ROOT = Path(leastnoise.__file__).parent
MODULES = {".".join(file.relative_to(ROOT).with_suffix("").parts) for file in ROOT.rglob("*.py")}

# Besides the package itself; a folder with a star is open.
DOORS = {
    "apps": "",
    "checker": "audit fit",
    "composition": "cost filter gaussian homogeneous thresholded_gaussian",
    "data": (
        "columns engines.duckdb joined_table linked_tables links predicates predicates.disjoint "
        "predicates.nodes schema_table views"
    ),
    "designer": "comparison designer result",
    "exact": "",
    "ledger": "record report store",
    "mechanisms": (
        "choice.selection choice.top_k choice.unknown_options combinatorial combinatorial.graph_input "
        "combinatorial.k_median.metric designed.* histogram.* lower_bounds numeric "
        "numeric.integer_noise numeric.truncated_geometric numeric.weighted_sum rainbow.decision rank.lattice "
        "rank.rank_law rank.reference rank.tally strategy strategy.running_totals vector"
    ),
    "model": "events graphs graphs.* uniform_count",
    "release": "calls combinatorial configuration pictures plan pricing remote",
}


def imported_from_other_rooms():
    """A module of a room, a module of another room that it imports (without `leastnoise.`), and the names."""
    for name in sorted(MODULES):
        room = name.split(".")[0]
        if room not in DOORS:
            continue
        for node in ast.walk(ast.parse((ROOT / f"{name.replace('.', '/')}.py").read_text(encoding="utf-8"))):
            found = set()
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("leastnoise."):
                home = node.module.removeprefix("leastnoise.")
                inner = {f"{home}.{each.name}" for each in node.names}
                found = {each if {each, f"{each}.__init__"} & MODULES else home for each in inner}
            elif isinstance(node, ast.Import):
                names = {each.name for each in node.names}
                found = {each.removeprefix("leastnoise.") for each in names if each.startswith("leastnoise.")}
            names = [each.name for each in node.names] if found else []
            yield from ((name, each, names) for each in sorted(found) if each.split(".")[0] in DOORS.keys() - {room})


def is_open(module):
    room, _, inner = module.partition(".")
    doors = DOORS[room].split()
    return not inner or inner in doors or f"{inner.rpartition('.')[0]}.*" in doors


NAMES = list(imported_from_other_rooms())
IMPORTS = [(name, module) for name, module, _ in NAMES]


def test_rooms_are_entered_by_their_doors():
    assert len(IMPORTS) > 500
    assert [pair for pair in IMPORTS if not is_open(pair[1])] == []


@pytest.mark.parametrize("room", DOORS)
def test_every_door_is_used_and_most_of_a_room_lies_behind_none(room):
    inside = [module for module in MODULES if module.startswith(f"{room}.") and not module.endswith("__init__")]
    entered = {module for _, module in IMPORTS}
    for door in DOORS[room].split():
        way = f"{room}.{door.removesuffix('.*')}"
        assert any(each == way or (door.endswith(".*") and each.startswith(f"{way}.")) for each in entered), way
    assert sum(map(is_open, inside)) < max(1, len(inside) / 2)


def test_most_names_are_imported_from_a_package():
    """Less than a fifth of what one room imports from another comes from a module inside of it."""
    past = sum("." in module for _, module, names in NAMES for _ in names)
    assert past < sum(len(names) for *_, names in NAMES) / 5


def test_the_front_door_of_the_model_says_twice_the_same():
    """Once for type checkers, and once for whoever asks."""
    tree = ast.parse((ROOT / "model" / "__init__.py").read_text(encoding="utf-8"))
    typed = {
        (node.module.removeprefix("leastnoise.model."), each.name)
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module.startswith("leastnoise.model.")
        for each in node.names
    }
    assert typed == {(module, name) for module, names in model._HOMES.items() for name in names.split()}
    for module, name in typed:
        assert getattr(model, name) is getattr(importlib.import_module(f"leastnoise.model.{module}"), name)
        assert f"model.{name}" not in MODULES, "a module of this name would hide it"
    assert len(typed) > 100
    assert not hasattr(model, "nothing_of_this_name")


@pytest.mark.slow
def test_no_public_class_has_two_meanings():
    """But for an event named after its mechanism, the sources of bits and of rows, and what the API calls so."""
    homes = Counter(
        node.name
        for file in ROOT.rglob("*.py")
        if file.name != "descriptions.py"
        for node in ast.parse(file.read_text(encoding="utf-8")).body
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    )
    assert {name for name, count in homes.items() if count > 1} == {"RandomizedResponse", "Source"}


def test_a_way_past_the_doors_would_be_noticed():
    assert is_open("model.graphs.grids")
    assert not is_open("exact.samplers.laplace")
    assert is_open("ledger")
    assert not is_open("ledger.chain")
    assert not is_open("mechanisms.combinatorial.min_cut.contraction")
