"""Rooms have doors: what one room imports from another is its package, or one of a few modules listed here.

Every other module belongs to its room alone, so that it can be renamed, split or removed without a look elsewhere. If
this fails, import the name from the room's package or from a module listed here; if a module is meant for other rooms,
list it. The public modules of `leastnoise` collect names from the rooms and are free to.
"""

import ast
from pathlib import Path

import pytest

import leastnoise

ROOT = Path(leastnoise.__file__).parent
MODULES = {".".join(file.relative_to(ROOT).with_suffix("").parts) for file in ROOT.rglob("*.py")}

# Besides the package itself; a folder with a star is open.
DOORS = {
    "apps": "",
    "checker": "audit fit",
    "composition": "cost filter gaussian homogeneous limits price thresholded_gaussian",
    "data": (
        "axes columns engines.duckdb joined_table linked_tables links predicates predicates.disjoint predicates.nodes "
        "schema_table views"
    ),
    "designer": "comparison designer result",
    "exact": (
        "arrays balls convolution enclosures floats formulas gaussian_sums integer_matrices inversion laplace_sums "
        "matrices numbers parameters programs samplers.* search sources sums"
    ),
    "ledger": "record report store",
    "mechanisms": (
        "candidates choice.selection choice.top_k choice.unknown_options combinatorial combinatorial.graph_input "
        "combinatorial.k_median.metric designed.* histogram.* lower_bounds numeric numeric.geometric "
        "numeric.integer_noise numeric.truncated_geometric numeric.weighted_sum rainbow.decision rank.lattice "
        "rank.rank_law rank.reference rank.tally strategy strategy.running_totals vector"
    ),
    "model": (
        "certificate certificate_form channel design_problem events float_programs graphs graphs.closed_form "
        "graphs.grids graphs.infinite graphs.path_cycle_complete graphs.symmetry hyper labels limits linear_workloads "
        "losses marginals mechanism priors privacy remapping sensitivity show strategies strategy_certificates"
    ),
    "release": "calls combinatorial configuration pictures plan remote",
}


def imported_from_other_rooms():
    """Pairs (a module of a room, a module of another room that it imports), without `leastnoise.`."""
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
            yield from ((name, each) for each in sorted(found) if each.split(".")[0] in DOORS.keys() - {room})


def is_open(module):
    room, _, inner = module.partition(".")
    doors = DOORS[room].split()
    return not inner or inner in doors or f"{inner.rpartition('.')[0]}.*" in doors


IMPORTS = list(imported_from_other_rooms())


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
    if room not in ("exact", "model"):  # these two are for everybody
        assert sum(map(is_open, inside)) < len(inside) / 2


def test_a_way_past_the_doors_would_be_noticed():
    assert is_open("exact.samplers.laplace")
    assert is_open("ledger")
    assert not is_open("ledger.chain")
    assert not is_open("mechanisms.combinatorial.min_cut.contraction")
