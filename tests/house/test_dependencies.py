"""The page of dependencies says where each package is used, and that is where it is used."""

import ast
import re
from collections import defaultdict
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "leastnoise"


def importing_rooms():
    """For every package that is imported, the rooms that do."""
    found = defaultdict(set)
    exhibits = set(SOURCE.glob("apps/exhibits/*"))  # programs that other environments run
    for file in set(SOURCE.rglob("*.py")) - exhibits:
        room = file.relative_to(SOURCE).parts[0].removesuffix(".py")
        for node in ast.walk(ast.parse(file.read_text())):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and node.module and not node.level:
                names = [node.module]
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "import_module":
                names = [part.value for part in node.args if isinstance(part, ast.Constant)]
            for name in names:
                found[name.split(".")[0]].add(room)
    return found


@pytest.mark.slow
def test_the_page_says_where_each_package_is_used():
    page = (ROOT / "docs" / "dependencies.md").read_text()
    rows = re.findall(r"^\| (\w+)[^|]* \| ((?:`\w+`(?:, )?)+) \|", page, re.M)
    rooms = importing_rooms()
    assert len(rows) >= 8
    for package, where in rows:
        assert rooms[package.lower()] == set(re.findall(r"\w+", where)), package
