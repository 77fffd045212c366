"""How every answer of the checker shows itself: true or false, a line, a few rows, the same in text and HTML."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Hashable, Sequence
from fractions import Fraction

from leastnoise.exact.enclosures import Enclosure
from leastnoise.exact.numbers import Exact, LogSum
from leastnoise.model.notebook import html_table
from leastnoise.model.privacy import Privacy

__all__ = ["Report", "brief", "exact_text", "show_labels", "show_number", "show_privacy"]

_LONGEST_NUMBER = 24
_MOST_LABELS = 6


class Report(ABC):
    """An answer that is a truth value and can be read."""

    holds: bool

    @abstractmethod
    def headline(self) -> str:
        """The answer in one line."""

    @abstractmethod
    def rows(self) -> list[tuple[str, str]]:
        """What it rests on, as pairs of a name and a text."""

    def __bool__(self) -> bool:
        """Whether the claim holds."""
        return self.holds

    def __str__(self) -> str:
        """The headline, then the rows."""
        rows = self.rows()
        width = max((len(name) for name, _ in rows), default=0)
        return "\n".join([self.headline(), *(f"  {name.ljust(width)}  {text}" for name, text in rows)])

    def _repr_html_(self) -> str:
        """The same for notebooks; every label is escaped."""
        return html_table(self.headline(), self.rows(), holds=self.holds)


def brief(number: Exact | Enclosure | float) -> str:
    """A number in few characters: itself if it is that short, else ten digits.

    >>> from leastnoise.exact.numbers import ln
    >>> brief(Fraction(4, 5)), brief(ln(4)), brief(Fraction(1, 2**90)), brief(float("inf"))
    ('4/5', 'ln(4)', '≈ 8.077935669e-28', '∞')
    """
    if number == math.inf:
        return "∞"
    text = exact_text(number) if isinstance(number, Fraction | LogSum) else None
    return text if text is not None and len(text) <= _LONGEST_NUMBER else f"≈ {_digits(number)}"


def show_number(number: Exact | Enclosure | float) -> str:
    """A number in few characters, logarithms with their digits.

    >>> from leastnoise.exact.numbers import ln
    >>> show_number(ln(4))
    'ln(4) ≈ 1.386294361'
    """
    text = brief(number)
    return f"{text} ≈ {_digits(number)}" if isinstance(number, LogSum) and "≈" not in text else text


def show_privacy(privacy: Privacy) -> str:
    """A promise in few characters."""
    if privacy.is_pure:
        return f"ε = {brief(privacy.epsilon)}"
    return f"(ε, δ) = ({brief(privacy.epsilon)}, {brief(privacy.delta)})"


def exact_text(number: Exact) -> str | None:
    """A number as exact text; None if that would take more digits than Python writes (4300 at most, by default)."""
    try:
        return str(number)
    except ValueError:
        return None


def _digits(number: Exact | Enclosure | float) -> str:
    if isinstance(number, Fraction) and number and not 2.0**-1000 < abs(number) < 2.0**1000:
        return f"{'-' if number < 0 else ''}2^{number.numerator.bit_length() - number.denominator.bit_length()}"
    return f"{float(number):.10g}"


def show_labels(labels: Sequence[Hashable]) -> str:
    """A set of labels for the eye; a long one shows how many there are.

    >>> show_labels(["a", 1]), show_labels(range(100))
    ("{'a', 1}", '{0, 1, 2, 3, 4, … 100 outputs}')
    """
    if len(labels) <= _MOST_LABELS:
        return f"{{{', '.join(repr(label) for label in labels)}}}"
    shown = ", ".join(repr(label) for label in labels[: _MOST_LABELS - 1])
    return f"{{{shown}, … {len(labels)} outputs}}"
