"""The list of mutations fits the source: each applies exactly once, is one change, and names tests that exist."""

import ast
import runpy
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MUTATIONS = runpy.run_path(str(ROOT / "tools" / "mutate.py"), run_name="mutate")["read_mutations"]()


@pytest.mark.slow
@pytest.mark.parametrize("mutation", MUTATIONS, ids=str)
def test_a_mutation_applies_once_and_leaves_a_module(mutation):
    text = (ROOT / "src" / "leastnoise" / mutation.file).read_text()
    mutated = mutation.mutated(text)
    assert mutated != text
    if mutation.file.endswith(".py"):  # and not a template or a script of the page
        assert ast.dump(ast.parse(mutated)) != ast.dump(ast.parse(text)), "it changes nothing but the layout"


@pytest.mark.slow
@pytest.mark.parametrize("test", sorted({test for mutation in MUTATIONS for test in mutation.arguments()}))
def test_the_named_tests_exist(test):
    file, _, name = test.partition("::")
    module = ast.parse((ROOT / file).read_text())
    names = {node.name for node in module.body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    assert not name or name.split("::")[0].partition("[")[0] in names


def test_the_list_reaches_every_room_and_says_what_is_wrong_only_once():
    counts = Counter(mutation.file.split("/")[0] for mutation in MUTATIONS)
    assert len(MUTATIONS) >= 119
    rooms = ("exact", "composition", "mechanisms", "checker", "ledger", "data", "release", "designer")
    assert min(counts[room] for room in rooms) >= 6
    assert len({str(mutation) for mutation in MUTATIONS}) == len(MUTATIONS)


def test_a_mutation_that_no_longer_fits_is_an_error():
    mutation = MUTATIONS[0]
    for text in ("", mutation.old * 2):
        with pytest.raises(ValueError, match="times"):
            mutation.mutated(text)
