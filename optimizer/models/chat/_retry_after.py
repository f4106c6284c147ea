"""How long a server asks to wait: in headers, in seconds, dates and durations, or in words."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_PART = r"(\d+(?:\.\d+)?)\s*(milliseconds?|ms|seconds?|secs?|s|minutes?|mins?|m|hours?|hrs?|h|days?|d)\b"
_PART_TIGHT = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h|d)")
_IN_WORDS = re.compile(
    rf"(?:try again|retry|wait)(?: again| after| in| for| at least)*\s+((?:{_PART}[\s,]*(?:and\s+)?|"
    r"(?:\d+(?:\.\d+)?(?:ms|s|m|h|d))+)+)",
    re.IGNORECASE,
)
# The headers of OpenAI and those who follow it, of Anthropic, and of OpenRouter: what is left, and when it begins anew.
_LIMITS = (
    *((f"x-ratelimit-remaining-{kind}", f"x-ratelimit-reset-{kind}") for kind in ("requests", "tokens")),
    *(
        (f"anthropic-ratelimit-{kind}-remaining", f"anthropic-ratelimit-{kind}-reset")
        for kind in ("requests", "tokens", "input-tokens", "output-tokens")
    ),
    ("x-ratelimit-remaining", "x-ratelimit-reset"),
)
# Greater numbers are moments since 1970, not spans, as OpenRouter gives its resets in milliseconds.
_FIRST_EPOCH = 1e9
_FIRST_EPOCH_MS = 1e12


def retry_after(headers: Mapping[str, str], message: str, now: Callable[[], datetime] | None = None) -> float | None:
    """Seconds that a refusal asks to wait; None if it does not say.

    The most exact goes first: `retry-after-ms`, `retry-after` (seconds or an HTTP date), the words of the message, then
    the reset of a limit that is used up.

    >>> retry_after({"retry-after-ms": "1500", "retry-after": "2"}, "")
    1.5
    >>> retry_after({}, "Rate limit reached for gpt-4o. Please try again in 1m2.5s. Visit https://..")
    62.5
    >>> retry_after({"x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "6m0s"}, "")
    360.0
    """
    exact = _seconds(headers.get("retry-after-ms"), "ms", now)
    if exact is None:
        exact = _seconds(headers.get("retry-after"), "s", now)
    if exact is None:
        exact = _in_words(message)
    return _reset(headers, now) if exact is None else exact


def duration(text: str) -> float | None:
    """Read "20ms", "1.5s", "6m0s", "1h2m" or plain seconds.

    >>> [duration(text) for text in ("20ms", "1s", "6m0s", "1h0m1.5s", "7", "soon")]
    [0.02, 1.0, 360.0, 3601.5, 7.0, None]
    """
    text = text.strip().lower()
    try:
        seconds = float(text)
    except ValueError:
        parts = _PART_TIGHT.findall(text)
        if not parts or _PART_TIGHT.sub("", text):
            return None
        return sum(float(number) * _UNITS[unit] for number, unit in parts)
    return seconds if 0 <= seconds < float("inf") else None


def _seconds(header: str | None, unit: str, now: Callable[[], datetime] | None) -> float | None:
    """A header's wait: a number in its unit, a duration, or a date."""
    if not header:
        return None
    wait = duration(header)
    if wait is not None and wait >= _FIRST_EPOCH:
        moment = wait / 1000 if wait >= _FIRST_EPOCH_MS else wait
        return max(0.0, moment - (now or _now)().timestamp())
    if wait is not None:
        return wait * _UNITS[unit]
    try:
        until = parsedate_to_datetime(header)
    except (TypeError, ValueError):
        try:
            until = datetime.fromisoformat(header)
        except ValueError:
            return None
    if until.tzinfo is None:
        until = until.replace(tzinfo=UTC)
    return max(0.0, (until - (now or _now)()).total_seconds())


def _in_words(message: str) -> float | None:
    request = _IN_WORDS.search(message)
    if not request:
        return None
    text = request.group(1).lower()
    total = sum(float(number) * _UNITS[unit] for number, unit in _PART_TIGHT.findall(text))
    loose = sum(float(number) * _UNITS[_short(unit)] for number, unit in re.findall(_PART, text))
    return max(total, loose)


def _short(unit: str) -> str:
    return "ms" if unit.startswith(("ms", "milli")) else unit[0]


def _reset(headers: Mapping[str, str], now: Callable[[], datetime] | None) -> float | None:
    """When the limits that are used up begin anew; where the server does not say which are, all of them."""
    waits = _resets(headers, now, used_up=True) or _resets(headers, now, used_up=False)
    return max(waits, default=None)


def _resets(headers: Mapping[str, str], now: Callable[[], datetime] | None, *, used_up: bool) -> list[float]:
    waits = [
        _seconds(headers.get(reset), "s", now)
        for remaining, reset in _LIMITS
        if not used_up or _number(headers.get(remaining)) == 0
    ]
    return [wait for wait in waits if wait is not None]


def _number(header: str | None) -> float | None:
    try:
        return float(header) if header else None
    except ValueError:
        return None


def _now() -> datetime:
    return datetime.now(UTC)
