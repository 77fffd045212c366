"""How long a design has been running, how long it may, and whom to tell."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

__all__ = ["Clock", "DesignProgress", "TimeIsUp"]

_PAUSE = 0.5  # seconds between two reports of the same stage


class TimeIsUp(Exception):
    """Ends a search from inside; it never leaves the designer."""


@dataclass(frozen=True)
class DesignProgress:
    """A report from a running design.

    Attributes:
        stage: What it is doing.
        seconds: Since it began.
    """

    stage: str
    seconds: float


@dataclass
class Clock:
    """Started when made."""

    limit: float | None = None
    listener: Callable[[DesignProgress], object] | None = None
    _started: float = field(default_factory=time.monotonic)
    _stage: str = ""
    _reported: float = float("-inf")

    @property
    def seconds(self) -> float:
        """Since it was started."""
        return time.monotonic() - self._started

    @property
    def left(self) -> float | None:
        """Seconds that are left; None if there is no limit."""
        return None if self.limit is None else max(0.0, self.limit - self.seconds)

    @property
    def is_over(self) -> bool:
        """Whether the time is up."""
        return self.left == 0

    def enter(self, stage: str) -> None:
        """Begin a stage, and say so."""
        self._stage, self._reported = stage, float("-inf")
        self.tick()

    def tick(self) -> None:
        """Tell the listener, but not too often."""
        now = self.seconds
        if self.listener is not None and now - self._reported >= _PAUSE:
            self._reported = now
            self.listener(DesignProgress(self._stage, now))

    def tick_or_stop(self) -> None:
        """Tell the listener.

        Raises:
            TimeIsUp: It is.
        """
        self.tick()
        if self.is_over:
            raise TimeIsUp
