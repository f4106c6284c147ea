"""When a call that failed in passing is sent again, when it has failed for good, and how long servers ask to wait."""

from __future__ import annotations

import asyncio
import contextlib
import random
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING

from psopt.errors import AnswersMissingError
from psopt.models.chat._client import ModelRefusedError, ServerGoneError
from psopt.models.chat._wait_notices import clock

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from psopt.models.chat._client import TransientError
    from psopt.models.chat._request_scheduler import RequestScheduler

_FIRST_WAIT = 0.25  # seconds; doubles with each try
_LONGEST_WAIT = 30.0
_LONGEST_SERVED = 1.0  # seconds before the next try at a server that answers
_LONGEST_ASKED = 86_400.0  # a server that asks to wait longer than a day will not answer this run
_RETRIES_UNANSWERED = 3  # at a server that has answered nothing yet: it is likely the wrong address


@dataclass(slots=True)
class Tries:
    """What became of a query's requests: how many failed, how many of these were empty, or given up."""

    failed: int = 0
    empty: int = 0
    given_up: int = 0

    def count(self, failure: TransientError) -> None:
        """Take note of one more that failed."""
        self.failed += 1
        self.empty += failure.empty is not None
        self.given_up += failure.given_up


class RetryPolicy:
    """Says how long to wait until the next try, by what failed and by how the server fares with other requests."""

    def __init__(self, name: str, retries: int, scheduler: RequestScheduler) -> None:
        self._name = name
        self._retries = retries
        self._scheduler = scheduler
        self._jitter = random.Random(0)  # noqa: S311  # spreads retries, nothing secret

    def wait_before_next(self, failure: TransientError, tries: Tries, *, is_over: bool) -> float:
        """Return the seconds until the next try; none is left if it `is_over`, since another call has failed for good.

        Raises AnswersMissingError, ServerGoneError or ModelRefusedError if there is no next try.
        """
        timeouts = self._scheduler.timeouts
        is_silent = failure.given_up or failure.unreadable or failure.unreachable
        most = self._retries if timeouts.n_answers or not is_silent else min(self._retries, _RETRIES_UNANSWERED)
        if is_over or tries.failed > most:
            if failure.unreachable and timeouts.n_answers:
                raise ServerGoneError(
                    f"{self._name}: the server was not there at any of {tries.failed} tries: {failure}"
                ) from None
            cure = "; if it takes longer, raise --timeout" if failure.given_up else ""
            raise AnswersMissingError(
                f"{self._name}: a call failed {tries.failed} times, at last with: {failure}{cure}"
            ) from None
        wait = self._wait(failure, tries.failed)
        self._scheduler.say_wait(wait, failure)
        return wait

    def _wait(self, failure: TransientError, n_failed: int) -> float:
        """Exponential backoff with jitter, or as long as the server asked.

        An empty answer asks for no patience, and a server for no more than it has been silent: while it answers others,
        it is not the server that needs time. A part of a wait is drawn (M. Brooker, *Exponential Backoff And Jitter*,
        AWS Architecture Blog, 2015), so that calls which failed together don't come back together.
        """
        if failure.empty is not None:
            return _FIRST_WAIT
        asked = failure.wait or 0.0
        if asked > _LONGEST_ASKED:
            raise ModelRefusedError(f"{self._name} asks to wait until {clock(asked)}: {failure}") from None
        silence = self._scheduler.timeouts.silence(asyncio.get_running_loop().time())
        longest = min(_LONGEST_WAIT, max(_LONGEST_SERVED, silence))
        backoff = min(longest, _FIRST_WAIT * 2.0 ** (n_failed - 1)) * self._jitter.uniform(0.75, 1.25)
        return max(backoff, asked)


_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_PART = (
    r"(\d+(?:\.\d+)?)\s*(ms|milliseconds?|s(?:ec(?:ond)?s?)?|m(?:in(?:ute)?s?)?|h(?:(?:ou)?rs?)?|d(?:ays?)?)(?![a-z])"
)
_IN_WORDS = re.compile(
    rf"(?:try again|retry|wait)(?:\s+(?:again|after|in|for|at least))*\s+((?:{_PART}[\s,]*(?:and\s+)?)+)", re.IGNORECASE
)


def retry_after(headers: Mapping[str, str], message: str, now: Callable[[], datetime] | None = None) -> float | None:
    """Seconds that a refusal asks to wait; None if it does not say.

    The most exact goes first: `retry-after-ms`, `retry-after` (seconds or an HTTP date), the words of the message.

    >>> retry_after({"retry-after-ms": "1500", "retry-after": "2"}, "")
    1.5
    >>> retry_after({}, "Rate limit reached for gpt-4o. Please try again in 1m2.5s. Visit https://..")
    62.5
    """
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        value = headers.get(name, "")
        with contextlib.suppress(ValueError):
            return float(value) * unit
        with contextlib.suppress(ValueError, TypeError):  # a date without a zone is none of HTTP's
            until = parsedate_to_datetime(value)
            return max(0.0, (until - (now() if now else datetime.now(UTC))).total_seconds())
    words = _IN_WORDS.search(message)
    if words is None:
        return None
    parts = re.findall(_PART, words.group(1).lower())
    return sum(float(number) * _UNITS["ms" if unit.startswith(("ms", "mil")) else unit[0]] for number, unit in parts)
