"""How long a request is waited for: as long as the server's other answers say that it may still come."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

# All set by hand; benchmarks/models_trouble.py measures what they cost where requests hang, and where a server takes
# one at a time and is asked 32.
_N_KNOWN = 256  # latest answers that are looked at
_N_ENOUGH = 16  # answers before a shorter time than the user's is trusted
_SHORTEST = 1.5  # seconds: local servers pause for about a second now and then
_UNUSUAL = 4.0  # times the slowest of the latest answers
_SLACK = 2.0  # times: servers answer in about the order of the questions, not exactly
_LONGEST_AGAIN = 4.0  # times: how much longer a text is waited for that was given up before


@dataclass(slots=True, eq=False)
class Call:
    """One request under way: when it went out, after how many answers, beside how many others, how often given up."""

    sent_at: float
    n_before: int
    places: int
    n_given_up: int = 0


class TimeoutPolicy:
    """Tells requests that hang from those that wait in the server's queue, by counting answers.

    A server that answers in about the order in which it is asked has answered a request by the time that it has
    answered as many as were in flight when it came. So a request that was overtaken by twice as many hangs: it is given
    up and sent again. One that was not is in the queue: giving it up would lose the work, and add more, for servers
    mostly go on computing what nobody waits for; it is waited for as long as answers come.

    The time allowed begins with the user's; longer answers lengthen it, and where the latest were much faster, it is
    shortened, so that a hang costs seconds and not minutes.
    """

    def __init__(self, start: float) -> None:
        self.start = start
        self.n_answers = 0
        self._last_at = 0.0
        self._latencies: deque[float] = deque(maxlen=_N_KNOWN)

    def sent(self, now: float, places: int, n_given_up: int = 0) -> Call:
        """A request goes out."""
        return Call(now, self.n_answers, places, n_given_up)

    def answered(self, call: Call, now: float) -> None:
        """An answer came."""
        self.n_answers += 1
        self._last_at = now
        self._latencies.append(now - call.sent_at)

    def allowed(self) -> float:
        """Seconds after which an answer is overdue."""
        slowest = max(self._latencies, default=0.0)
        usual = self.start
        if len(self._latencies) >= _N_ENOUGH:
            usual = min(usual, max(_SHORTEST, _UNUSUAL * slowest))
        return max(usual, _SLACK * slowest)

    def silence(self, now: float) -> float:
        """Seconds since the last answer; for ever, if there was none."""
        return now - self._last_at if self.n_answers else float("inf")

    def is_hopeless(self, call: Call, now: float) -> bool:
        """Whether to give a request up."""
        allowed = self.allowed() * min(_LONGEST_AGAIN, 2.0**call.n_given_up)
        if now - call.sent_at < allowed:
            return False
        n_served = self.n_answers - call.n_before
        return n_served >= _SLACK * call.places or self.silence(now) >= allowed
