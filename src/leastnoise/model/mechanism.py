"""What every mechanism is: a law, a way to draw from it, its price, its error before it is spent, and its reason."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar

from leastnoise.errors import BadParameter
from leastnoise.exact.arrays import Size
from leastnoise.exact.enclosures import Enclosure
from leastnoise.exact.sources import Source, require_secure
from leastnoise.model.channel import Channel
from leastnoise.model.events import Event

if TYPE_CHECKING:
    from leastnoise.model.certificate import Certificate

__all__ = ["LEVEL", "ErrorEstimate", "Mechanism", "Reason"]

LEVEL = Fraction(19, 20)  # of the errors and intervals that are shown


@dataclass(frozen=True)
class ErrorEstimate:
    """How far an answer will be off, known before anything is spent.

    Args:
        loss: What is measured, "absolute" for |released − true|.
        expected: The expected loss, exact or enclosed; an upper bound over all answers where it depends on them.
        quantiles: For a level such as 19/20, an error that is not exceeded with at least that probability.
        attained: Whether `expected` is the value itself for every answer, and not only an upper bound.
    """

    loss: str
    expected: Enclosure
    quantiles: Mapping[Fraction, Fraction] = field(default_factory=dict)
    attained: bool = True


@dataclass(frozen=True)
class Reason:
    """Why this mechanism is the right choice: the theorem, its source, and what no mechanism can beat."""

    theorem: str
    citation: str
    lower_bound: Enclosure | None = None


class Mechanism(ABC):
    """One private answer. Subclasses fix the law; releasing, and refusing predictable noise, is the same for all."""

    name: ClassVar[str]

    @property
    @abstractmethod
    def event(self) -> Event:
        """What one release costs, in the vocabulary of events."""

    @abstractmethod
    def draw(self, truth: Any, size: Size = None, source: Source | None = None) -> Any:
        """Draw from the law at `truth`; for tests and simulations, with any source and any number of draws."""

    def release(self, truth: Any, source: Source | None = None) -> Any:
        """One draw from the law at the truth, with unpredictable noise only."""
        return self.draw(truth, source=require_secure(source))

    @abstractmethod
    def error(self) -> ErrorEstimate:
        """The error to expect, from public parameters only."""

    @abstractmethod
    def reason(self) -> Reason:
        """The theorem that makes this the right choice, and the lower bound."""

    @abstractmethod
    def pmf(self, output: Hashable, truth: Any, bits: int = 64) -> Enclosure:
        """P(output | truth), exact where it is rational."""

    @abstractmethod
    def certificate(self) -> Certificate:
        """What is claimed, as data that the checker verifies on its own."""

    def channel(self, answers: Sequence[Hashable], outputs: Sequence[Hashable]) -> Channel:
        """The law as an exact matrix on the given answers and outputs; e^epsilon must be rational for that.

        Raises:
            BadParameter: An entry is irrational, or the outputs do not carry the whole law.
        """
        rows = [[self.pmf(output, answer) for output in outputs] for answer in answers]
        if not all(p.is_exact for row in rows for p in row):
            raise BadParameter(
                f"the law of the {self.name} is irrational at this epsilon, so it has no exact matrix",
                fix='choose an epsilon with rational e^epsilon, such as "ln(3)"',
            )
        return Channel([[p.lower for p in row] for row in rows], inputs=answers, outputs=outputs)
