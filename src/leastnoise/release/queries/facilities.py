"""Where to put facilities so that they are near to rows or units: noisy counts at public places, then a search.

Released are the noisy counts of all places, with the noise of any other count. A local search on them finds the
facilities, and adds up how much demand is nearest to each: both are computed from what the noise protects already, so
they cost nothing. Noisy local search on the data itself, which pays at every swap, had a higher cost on every problem
that was tried (docs/theory/k_median.md).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, partial
from itertools import pairwise, product
from typing import Any, ClassVar

from numpy.typing import NDArray

from leastnoise.data import Axis
from leastnoise.data.columns import BinAxis
from leastnoise.errors import BadParameter, TooLarge
from leastnoise.exact import NumberLike, read_integer, read_rational
from leastnoise.ledger.record import Json
from leastnoise.mechanisms.combinatorial import NoisyDemand
from leastnoise.mechanisms.histogram.independent_noise import HistogramProblem
from leastnoise.mechanisms.numeric.integer_noise import IntegerNoise
from leastnoise.model import Privacy
from leastnoise.release.arguments import cell_count, cell_keys, take
from leastnoise.release.plan import AnswerPlan
from leastnoise.release.queries.counts import noise_plan
from leastnoise.release.queries.query import CountQuery
from leastnoise.release.tables import TidyTable, measure_names

__all__ = ["Facilities", "Place", "facilities_question", "middles", "read_places"]

MOST_PLACES = 2048  # the search looks at all pairs of them at every swap
_MOST_AXES = 16
Place = tuple[Fraction, ...]


@dataclass(frozen=True, repr=False, kw_only=True)
class Facilities(CountQuery):
    """Some of the cells of public axes, near to most of what is counted.

    Attributes:
        places: Where each cell is, in its order.
        k: How many facilities; with `opening` costs at most so many.
        squared: Whether squares of distances are added up.
        opening: What a facility costs in each cell; None for nothing.
    """

    recorded_as: ClassVar[str] = "Facilities"
    places: tuple[Place, ...]
    k: int
    squared: bool
    opening: tuple[Fraction, ...] | None

    @property
    def question(self) -> str:
        most = "" if self.opening is None else "at most "
        return self.described(f"{most}{self.k} facilities near to {self.counted_words}")

    def parameters(self) -> dict[str, Json]:
        return {
            **super().parameters(),
            "places": [[str(x) for x in place] for place in self.places],
            "k": self.k,
            "squared": self.squared,
            "opening": None if self.opening is None else [str(cost) for cost in self.opening],
        }

    @cached_property
    def search(self) -> NoisyDemand:
        """What is done with the noisy counts."""
        points = [[float(x) for x in place] for place in self.places]
        return NoisyDemand(1, self.k, points=points, squared=self.squared, opening=self.opening)

    def answer_plan(self, price: Privacy) -> AnswerPlan:
        """Noise on each count."""
        plan = noise_plan(
            HistogramProblem(price, self.cells, self.sensitivity_of_counts(), self.reachable),
            partial(_served_table, self.axes, self.search),
            "the error is that of the count of each place; the facilities are found in the noisy counts, at no cost",
        )
        return replace(plan, noise=None)

    def read(self) -> NDArray[Any]:
        """The counts, flattened."""
        return self.totals(self.counted)


def facilities_question(
    asked: Mapping[str, Any],
    of: str,
    places: tuple[Place, ...],
    k: NumberLike,
    *,
    squared: bool,
    opening: NumberLike | Sequence[NumberLike] | None,
) -> Facilities:
    """The question, with what is public about the places; `asked` is what every question by cells has.

    Raises:
        BadParameter: Costs of facilities that are no numbers, or as many facilities as places.
    """
    if not isinstance(squared, bool):
        raise BadParameter("squared is True or False", given=type(squared).__name__, fix="pass squared=True")
    count = len(places)
    most = read_integer(k, "k", at_least=1, at_most=max(count - 1, 1))
    points = [[float(x) for x in place] for place in places]
    costs = NoisyDemand(1, most, points=points, squared=squared, opening=opening).opening
    return Facilities(**asked, of=of, places=places, k=most, squared=squared, opening=costs)


def read_places(places: Mapping[Any, Iterable[Any]]) -> dict[Any, Place]:
    """The coordinates of each key, as many for all.

    Raises:
        BadParameter: It is no mapping to lists of numbers, or they are of different lengths.
        TooLarge: There are too many places or coordinates.

    >>> read_places({"Bonn": [1, "2.5"]})
    {'Bonn': (Fraction(1, 1), Fraction(5, 2))}
    """
    if not isinstance(places, Mapping) or not places:
        raise BadParameter(
            "places say where each key is", given=type(places).__name__, fix='pass {"Bonn": (3, 5), "Ulm": (9, 1)}'
        )
    require_places(len(places))
    found = {
        key: tuple(read_rational(x, "coordinates") for x in take(place, _MOST_AXES, "coordinates"))
        for key, place in places.items()
    }
    if len({len(place) for place in found.values()}) > 1 or not next(iter(found.values())):
        raise BadParameter("every place has as many coordinates as the first", fix='pass {"Bonn": (3, 5), …}')
    return found


def middles(axes: tuple[Axis, ...]) -> tuple[Place, ...]:
    """The middle of each cell of a grid.

    Raises:
        BadParameter: An axis is not one of numbers between edges.
        TooLarge: There are too many cells.

    >>> middles((BinAxis("x", (0, 2, 4)),))
    ((Fraction(1, 1),), (Fraction(3, 1),))
    """
    for axis in axes:
        if not isinstance(axis, BinAxis):
            raise BadParameter(
                "which places there are is not said", given=axis.column, fix="pass bins of numbers, or places={…}"
            )
    edges = [axis.edges for axis in axes if isinstance(axis, BinAxis)]
    require_places(cell_count(axes))
    return tuple(product(*([(a + b) / 2 for a, b in pairwise(each)] for each in edges)))


def require_places(count: int) -> None:
    """Refuse more places than a search takes."""
    if count > MOST_PLACES:
        raise TooLarge(f"there may be at most {MOST_PLACES} places", given=count, fix="join places that are near")


def _served_table(
    axes: tuple[Axis, ...], search: NoisyDemand, _: IntegerNoise, drawn: list[int], __: Fraction
) -> TidyTable:
    """A row for each facility, with how much demand is nearest to it."""
    found = search.found(drawn)
    keys = {name: tuple(column[place] for place in found) for name, column in cell_keys(axes).items()}
    return TidyTable({**keys, measure_names(tuple(keys))[0]: search.demand_of(found, drawn)}, tuple(keys))
