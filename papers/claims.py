"""A claim of a paper: where it stands, what it says, what was computed, and whether the two agree."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

__all__ = ["Claim", "Paper", "all_of"]


@dataclass(frozen=True)
class Claim:
    """One numbered statement, recomputed.

    Attributes:
        place: Where it stands, such as "Theorem 4".
        says: What is claimed, in our words.
        computed: What came out.
        holds: Whether the claim, as printed, agrees with that.
        instead: What is true instead, where it does not hold.
    """

    place: str
    says: str
    computed: str
    holds: bool
    instead: str = ""


@dataclass(frozen=True)
class Paper:
    """A source text and the claims of it that a computer can check.

    Attributes:
        key: What it is called on the command line.
        title: Authors, title, year.
        claims: Computes them, one after the other.
    """

    key: str
    title: str
    claims: Callable[[], Iterator[Claim]]


def all_of(place: str, says: str, cases: Iterable[tuple[str, bool]], instead: str = "") -> Claim:
    """A claim that was tried in several cases: it holds if it holds in all, and the first failure is shown.

    >>> tried = all_of("Lemma 1", "squares are even", ((f"n = {n}", n * n % 2 == 0) for n in (2, 3)), "some are")
    >>> tried.holds, tried.computed
    (False, 'fails at n = 3')
    >>> all_of("Lemma 2", "squares are not negative", ((f"n = {n}", n * n >= 0) for n in (-1, 0, 1))).computed
    'holds in all 3 cases tried: n = -1; …; n = 1'
    """
    tried = list(cases)
    failure = next((name for name, holds in tried if not holds), None)
    computed = f"holds in all {len(tried)} cases tried: {_ends(tried)}" if failure is None else f"fails at {failure}"
    return Claim(place, says, computed, failure is None, "" if failure is None else instead)


def _ends(tried: list[tuple[str, bool]]) -> str:
    """The names of the first and the last case, so that a reader sees on what a claim was tried."""
    names = [name for name, _ in tried]
    return "; ".join(names if len(names) < 3 else [names[0], "…", names[-1]])
