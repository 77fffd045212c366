"""The infinite paths: only what a formula gives can be asked."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from leastnoise.errors import InfiniteGraph, UnknownLabel, shown
from leastnoise.exact import Length
from leastnoise.model.graphs.base import DatasetGraph
from leastnoise.model.graphs.sequences import as_whole

__all__ = ["integers", "naturals"]


def integers() -> DatasetGraph:
    """The two-sided path … – −1 – 0 – 1 – …; d(x, y) = |x − y|.

    >>> integers().distance(-3, 4), integers().layer(0, 2), integers().is_vertex_transitive()
    (7, (-2, 2), True)
    """
    return InfinitePath(two_sided=True)


def naturals() -> DatasetGraph:
    """The one-sided path 0 – 1 – 2 – …, the values of a count with no bound; d(x, y) = |x − y|.

    >>> naturals().layer(1, 2), naturals().degree(0), naturals().has_regular_layers(0), naturals().has_regular_layers()
    ((3,), 1, True, False)
    >>> naturals().distances()
    Traceback (most recent call last):
    leastnoise.errors.InfiniteGraph: what needs a list or a matrix of all nodes can't be had of an infinite graph; ...
    """
    return InfinitePath(two_sided=False)


@dataclass(frozen=True, repr=False)
class InfinitePath(DatasetGraph):
    """See `integers` and `naturals`."""

    two_sided: bool

    @property
    def name(self) -> str:
        """Which of the two."""
        return f"{self._kind}()"

    @property
    def _kind(self) -> str:
        return "integers" if self.two_sided else "naturals"

    @property
    def size(self) -> None:
        """Infinite."""
        return None

    @property
    def nodes(self) -> Sequence[Hashable]:
        """Not available: the graph is infinite."""
        self._refuse()

    def edges(self) -> NoReturn:
        """Not available: the graph is infinite."""
        self._refuse()

    def distances_from(self, node: Hashable) -> NoReturn:
        """Not available: the graph is infinite."""
        self._number(node)
        self._refuse()

    def index(self, label: Hashable) -> NoReturn:
        """Not available: the graph is infinite."""
        self._number(label)
        self._refuse()

    def to_dict(self) -> dict[str, Any]:
        """The name."""
        return {"graph": self._kind}

    def distance(self, x: Hashable, y: Hashable) -> int:
        """|x − y|."""
        return abs(self._number(x) - self._number(y))

    def neighbours(self, node: Hashable) -> tuple[Hashable, ...]:
        """One below and one above."""
        return self.layer(node, 1)

    def layer(self, start: Hashable, distance: Length) -> tuple[Hashable, ...]:
        """The nodes at this distance, one on each side where there is one."""
        x = self._number(start)
        d = as_whole(distance)
        return () if d is None or d < 0 else tuple(y for y in sorted({x - d, x + d}) if y in self)

    def layer_size(self, start: Hashable, distance: Length) -> int:
        """One or two nodes at each distance."""
        return len(self.layer(start, distance))

    def is_vertex_transitive(self) -> bool:
        """The two-sided path can be shifted; the one-sided one has an end."""
        return self.two_sided

    def has_regular_layers(self, *starts: Hashable) -> bool:
        """From everywhere on the two-sided path, from the end only on the one-sided."""
        numbers = [self._number(start) for start in starts]
        return self.two_sided or (bool(numbers) and not any(numbers))

    def _number(self, label: Hashable) -> int:
        number = as_whole(label)
        if number is None or label not in self:
            closest = 0 if number is None else max(number, 0)
            raise UnknownLabel(
                f"{self.name} has no such node", given=shown(label), fix=f"the closest node is {closest}"
            )
        return number

    def _position(self, label: object) -> int | None:
        number = as_whole(label)
        return number if number is not None and (self.two_sided or number >= 0) else None

    def _distances(self) -> NoReturn:
        self._refuse()

    def _refuse(self) -> NoReturn:
        raise InfiniteGraph(
            "what needs a list or a matrix of all nodes can't be had of an infinite graph",
            given=self.name,
            fix="ask for distance(x, y), layer(x, d), layer_size(x, d) or degree(x), or use path(n)",
        )
