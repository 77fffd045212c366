"""What a publication is planned for: the least total error, the least largest one, or a wanted error of each answer."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import NamedTuple, cast

from leastnoise.errors import BadParameter
from leastnoise.exact import NumberLike, read_rational, sqrt_enclosure
from leastnoise.model import GOALS, number
from leastnoise.release.arguments import take

__all__ = ["Aim", "read_aim"]

Numbers = tuple[Fraction, ...]


class Aim(NamedTuple):
    """Weights and a goal, and the wanted errors that they come from, if any.

    Attributes:
        weights: How much squared errors count; None for ones.
        goal: "total" or "largest".
        targets: The wanted error of each answer (or table, where all cells of one have the same error).
    """

    weights: Numbers | None = None
    goal: str = "total"
    targets: Numbers | None = None

    def share(self, errors: Sequence[Fraction]) -> Fraction:
        """The largest error as a share of its target."""
        return max(error / target for error, target in zip(errors, self.targets or (), strict=True))

    def note(self, squares: Sequence[Fraction]) -> str:
        """How near expected squared errors are to the targets, in words."""
        farthest = max(s / t**2 for s, t in zip(squares, self.targets or (), strict=True))
        beside = number(sqrt_enclosure(farthest).upper)
        return f"compared is the largest root mean squared error divided by its target; here it is {beside}"


def read_aim(count: int, what: str, weights: object, goal: object, targets: object) -> Aim:
    """Weights and a goal; of targets, the goal "largest" for the squared errors divided by the squared targets.

    Args:
        count: How many there are of what has a weight or a target.
        what: What these are called: "answers".
        weights: One number of at least zero for each, not all zero; None for ones.
        goal: "total" or "largest".
        targets: Instead of both: a number above zero for each.

    Raises:
        BadParameter: The goal is unknown, there is not one number for each, or one is too small.

    >>> read_aim(2, "answers", None, "total", [1, 2]).weights
    (Fraction(1, 1), Fraction(1, 4))
    """
    if not isinstance(goal, str) or goal not in GOALS:
        raise BadParameter("unknown goal", given=goal, fix='pass "total" or "largest"')
    if targets is None:
        read = None if weights is None else _numbers(weights, count, what, "weights")
        if read is not None and (min(read) < 0 or not any(read)):
            raise BadParameter("weights are at least zero, and not all zero", fix="give what matters a weight above it")
        return Aim(read, goal)
    if weights is not None or goal != "total":
        raise BadParameter("targets are weights and a goal in one", fix="leave `weights` and `goal` out")
    wanted = _numbers(targets, count, what, "targets")
    if min(wanted) <= 0:
        raise BadParameter("targets are above zero", given=str(min(wanted)), fix="pass the error that may be")
    return Aim(tuple(1 / target**2 for target in wanted), "largest", wanted)


def _numbers(given: object, count: int, what: str, name: str) -> Numbers:
    listed = take(cast("Iterable[NumberLike]", given), count, name)
    if len(listed) != count:
        raise BadParameter(
            f"{name} needs one number for each of the {count} {what}", given=len(listed), fix="pass so many, or none"
        )
    return tuple(read_rational(each, name) for each in listed)
