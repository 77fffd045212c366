"""Counts at every level of a public tree (towns, counties, regions, all), released together: all sums agree.

The leaves are the cells of a histogram, and every level is a set of sums of them, so this is a linear workload: the
best strategy for it is found and proven like that of any other (docs/theory/strategy.md).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from leastnoise.data.columns import free_name
from leastnoise.errors import BadParameter
from leastnoise.exact import Enclosure, read_rational, sqrt_above
from leastnoise.ledger.record import Json
from leastnoise.mechanisms.strategy import StrategyRelease
from leastnoise.model import MOST_DENSE_CELLS, HierarchyWorkload, Mechanism, number, unknown_label
from leastnoise.release.aims import read_aim
from leastnoise.release.arguments import take, write_key
from leastnoise.release.queries.workload_problem import WorkloadProblem
from leastnoise.release.queries.workloads import Workload

__all__ = ["Hierarchy", "read_tree"]

TreePath = tuple[Any, ...]
_ALL = "*"  # stands in the levels below that of a row
_MOST_LEVELS = 20


@dataclass(frozen=True, repr=False, kw_only=True)
class Hierarchy(Workload):
    """The counts of the leaves of a tree and of all groups above them.

    Attributes:
        levels: Their names, the coarsest first.
        paths: For each leaf the groups that it is in, the coarsest first, and itself.
    """

    recorded_as: ClassVar[str] = "Hierarchy"
    levels: tuple[str, ...]
    paths: tuple[TreePath, ...]

    @classmethod
    def of_tree(
        cls,
        asked: Mapping[str, Any],
        of: str,
        levels: tuple[str, ...],
        paths: tuple[TreePath, ...],
        weights: Any,
        goal: Any,
        targets: Any,
    ) -> Hierarchy:
        """The question about a tree that `read_tree` has read; `asked` is what every question by keys has.

        Raises:
            BadParameter: A weight or target is too small or for no level, a level has no target, or the goal is
                unknown.
        """
        numbered = [_numbered(paths, depth) for depth in range(len(levels) - 1, -1, -1)]
        workload = HierarchyWorkload(numbered)
        named = (*levels[::-1], _total_name(levels))
        sizes = (len(paths), *(max(groups) + 1 for groups in numbered))
        given = [
            None if by is None else _by_level(by, named, what)
            for by, what in ((weights, "weights"), (targets, "targets"))
        ]
        if given[1] is not None and None in given[1]:
            raise BadParameter(
                "every level has a target", given=named[given[1].index(None)], fix=f"name {', '.join(named)}"
            )
        each = [
            None
            if by is None
            else [1 if by_one is None else by_one for by_one, size in zip(by, sizes, strict=True) for _ in range(size)]
            for by in given
        ]
        aim = read_aim(workload.answers, "answers", each[0], goal, each[1])
        return cls(**asked, workload=workload, of=of, **aim._asdict(), levels=levels, paths=paths)

    @property
    def question(self) -> str:
        groups = self.workload.answers - self.workload.cells
        return self.described(f"count of {self.counted_words} and of {groups} groups above")

    def parameters(self) -> dict[str, Json]:
        paths: list[Json] = [[write_key(key) for key in path] for path in self.paths]
        return {**super().parameters(), "levels": list(self.levels), "paths": paths}

    def answer_keys(self) -> dict[str, tuple[Any, ...]]:
        """The level of each row, and the groups that it lies in."""
        rows = list(self.paths)
        names = [self.levels[-1]] * len(rows)
        for depth in range(len(self.levels) - 1, -1, -1):
            for path in dict.fromkeys(path[:depth] for path in self.paths):
                rows.append((*path, *(_ALL,) * (len(self.levels) - depth)))
                names.append(self.levels[depth - 1] if depth else _total_name(self.levels))
        columns = {level: tuple(row[i] for row in rows) for i, level in enumerate(self.levels)}
        return {free_name("level", self.levels): tuple(names), **columns}

    def _notes(self, problem: WorkloadProblem, best: Mechanism, expected: Enclosure) -> tuple[str, ...]:
        notes = super()._notes(problem, best, expected)
        if not isinstance(best, StrategyRelease):
            return notes
        errors, names = best.squared_errors(), next(iter(self.answer_keys().values()))
        found = []
        for level in dict.fromkeys(names):
            own = [error for error, name in zip(errors, names, strict=True) if name == level]
            found.append(f"{level} {number(sqrt_above(sum(own, Fraction(0)) / len(own)))}")
        return (*notes, f"root mean squared error by level: {', '.join(found)}")


def _total_name(levels: Sequence[str]) -> str:
    """What the level of the one number of all is called."""
    return free_name("all", levels)


def _by_level(given: object, named: Sequence[str], what: str) -> list[Fraction | None]:
    """The number of each level, None for one that is left out."""
    if not isinstance(given, Mapping):
        raise BadParameter(f"{what} are numbers by level", given=given, fix='pass {"region": 10}')
    for level in given:
        if not isinstance(level, str) or level not in named:
            raise unknown_label(level, named, "level")
    return [read_rational(given[level], what) if level in given else None for level in named]


def _numbered(paths: tuple[TreePath, ...], depth: int) -> list[int]:
    """The number of the group that each leaf is in, by the first `depth` levels."""
    numbers = {path: place for place, path in enumerate(dict.fromkeys(path[:depth] for path in paths))}
    return [numbers[path[:depth]] for path in paths]


def read_tree(levels: Any, tree: Any) -> tuple[tuple[str, ...], tuple[TreePath, ...]]:
    """The names of the levels, and for each leaf the groups that it is in.

    Raises:
        BadParameter: A leaf is there twice, or is not as deep as there are levels.
        TooLarge: There are too many leaves or levels.

    >>> read_tree(["county", "town"], {"Kent": ["Deal", "Dover"], "Essex": ["Clacton"]})
    (('county', 'town'), (('Kent', 'Deal'), ('Kent', 'Dover'), ('Essex', 'Clacton')))
    """
    named = tuple(take(levels, _MOST_LEVELS, "levels"))
    if not named or any(not isinstance(name, str) for name in named) or len(set(named)) < len(named):
        raise BadParameter("levels are different names, at least one", fix='pass ["region", "county", "town"]')
    if isinstance(tree, Mapping):
        paths = tuple(take(_walk(tree, len(named)), MOST_DENSE_CELLS, "leaves"))
    else:
        paths = tuple(_path(path, len(named)) for path in take(tree, MOST_DENSE_CELLS, "leaves"))
    for key in (key for path in paths for key in path):
        write_key(key)
    if not paths or len({path[-1] for path in paths}) < len(paths):
        raise BadParameter("every leaf of a tree has a name of its own, and there is one", fix="name leaves apart")
    return named, paths


def _path(path: object, depth: int) -> TreePath:
    keys = tuple(take(path, depth, "levels of a leaf")) if isinstance(path, Sequence) else ()
    if len(keys) != depth:
        raise BadParameter(f"every leaf of the tree is {depth} levels deep", given=path, fix="name all its groups")
    return keys


def _walk(tree: object, depth: int, above: TreePath = ()) -> Iterator[TreePath]:
    """The paths of a tree of dicts whose last ones hold lists."""
    if depth > 1 and isinstance(tree, Mapping):
        for key, below in tree.items():
            yield from _walk(below, depth - 1, (*above, key))
    elif depth == 1 and isinstance(tree, Iterable) and not isinstance(tree, str | bytes | Mapping):
        for key in tree:
            yield (*above, key)
    else:
        raise BadParameter("the tree is not as deep as there are levels", given=above, fix="end in lists of leaves")
