"""How many requests may be under way."""

from __future__ import annotations

import contextlib
import sys

# A server that is full refuses what is above its capacity: at twice the capacity every second request. One that draws
# its faults, or is unwell, refuses the same few however little it is asked. Below this share nothing is learnt about
# capacity, and fewer requests would only be slower; TCP's fixed cut at each loss keeps about sqrt(1.5 / share) requests
# going (Mathis et al. 1997: 6 of 64 at 4 %), whatever the line could carry.
_TOLERATED = 0.1
_SMALLEST_ROUND = 10  # refusals of fewer requests are no share: one of ten is what is tolerated
# Set by hand, and tried on simulated servers that are full or draw faults: tests/models/test_server_load.py.
_LEAST_LEFT = 0.25  # of the limit after one cut: a server that refuses all for a moment is not found at one request
_OTHER_FILES = 32  # that a process has open beside its connections: 19 at most were seen in a run, and libraries load
_WON_BACK = 0.2  # of the limit, by a round with no more refusals than are tolerated; at least one request


class ConcurrencyLimit:
    """How many requests may be in flight: all that are allowed, unless the server shows that it takes fewer.

    Outcomes are judged in rounds of about as many requests as are in flight, counting only those sent after the last
    judgement, so that one burst of refusals counts once. A round cuts the limit to the share that was taken, which is
    the capacity itself where the server refuses what is too much, and one with few refusals or none wins a fifth back.

    Examples
    --------
    >>> limit = ConcurrencyLimit(32)
    >>> for number in range(32):  # four are taken, the others refused
    ...     limit.answered(0.0, 1.0) if number % 8 == 0 else limit.refused(0.0, 1.0)
    >>> limit.places
    8
    """

    def __init__(self, most: int) -> None:
        self._most = float(most)
        self._value = float(most)
        self._since = -1.0
        self._n_answered = self._n_refused = 0

    @property
    def places(self) -> int:
        """How many requests may be in flight."""
        return int(self._value)

    @property
    def is_refused(self) -> bool:
        """Whether the refusals of this round are too many to be chance: then waiting is for all."""
        return self._n_refused > max(1.0, _TOLERATED * max(self._value, _SMALLEST_ROUND))

    def answered(self, sent_at: float, now: float) -> None:
        """A request was answered."""
        if sent_at > self._since:
            self._n_answered += 1
            self._judge(now)

    def refused(self, sent_at: float, now: float) -> None:
        """The server said that it gets too many requests."""
        if sent_at > self._since:
            self._n_refused += 1
            self._judge(now)

    def _judge(self, now: float) -> None:
        n = self._n_answered + self._n_refused
        if n < max(self.places, _SMALLEST_ROUND if self._n_refused else 1):
            return
        if self._n_refused > _TOLERATED * n:
            self._value = max(1.0, self._value * max(_LEAST_LEFT, 1 - self._n_refused / n))
        else:
            self._value = min(self._most, self._value + max(1.0, _WON_BACK * self._value))
        self._since = now
        self._n_answered = self._n_refused = 0


def most_connections(wanted: int) -> int:
    """How many of the wanted connections the system lets a process have open beside its files; at least one.

    The limit is raised, where the system allows that.
    """
    if sys.platform == "win32":  # sockets are no files there
        return wanted
    import resource

    limit, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = wanted + _OTHER_FILES
    if limit == resource.RLIM_INFINITY or limit >= needed:
        return wanted
    with contextlib.suppress(ValueError, OSError):
        higher = needed if most == resource.RLIM_INFINITY else min(most, needed)
        resource.setrlimit(resource.RLIMIT_NOFILE, (higher, most))
    limit, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return max(1, min(wanted, limit - _OTHER_FILES))
