"""Says what psopt is waiting for, and until when, without repeating it all the time."""

from __future__ import annotations

import logging
import time
from datetime import datetime, timedelta

LOGGER = logging.getLogger("psopt.waiting")
_AGAIN = 30.0  # seconds between two messages about the same thing


class WaitNotices:
    """Writes to the logger ``psopt.waiting``, which the command line shows and a program may listen to."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._told_at: dict[str, float] = {}

    def say(self, text: str) -> None:
        LOGGER.warning("%s: %s", self._name, text)

    def tell(self, reason: str, text: str) -> None:
        """Say something, unless something was said for the same reason a moment ago."""
        now = time.monotonic()
        if now - self._told_at.get(reason, -_AGAIN) >= _AGAIN:
            self._told_at[reason] = now
            self.say(text)

    def tell_back(self) -> None:
        """Say that a server answers again, if its absence was reported."""
        if self._told_at.pop("away", None) is not None:
            self.say("the server answers again")


def clock(seconds: float = 0.0) -> str:
    """The time of day this many seconds from now; with the date if that is on another day.

    >>> len(clock()), len(clock(3 * 86_400))
    (8, 19)
    """
    now = datetime.now().astimezone()
    then = now + timedelta(seconds=seconds)
    return f"{then:%H:%M:%S}" if then.date() == now.date() else f"{then:%Y-%m-%d %H:%M:%S}"


def span(seconds: float) -> str:
    """Format a duration.

    >>> [span(seconds) for seconds in (0.25, 45, 150, 4320)]
    ['0.25 s', '45 s', '2.5 min', '1.2 h']
    """
    if seconds < 120:
        return f"{seconds:.3g} s"
    return f"{seconds / 60:.3g} min" if seconds < 3600 else f"{seconds / 3600:.3g} h"
