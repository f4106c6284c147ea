"""How long a request is waited for: as long as the server's other answers say that it may still come."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

# All set by hand. What they cost where requests hang, and where a server takes one at a time and is asked 32, is what
# benchmarks/models_trouble.py measures.
_N_KNOWN = 256  # latest answers that are looked at
_N_ENOUGH = 16  # answers before a shorter time than the user's is trusted
_SHORTEST = 0.5  # seconds: a hang takes a place for no longer, where answers are fast
_PAUSE = 1.5  # seconds: local servers pause for about a second now and then, and nobody is overtaken meanwhile
_UNUSUAL = 4.0  # times the slowest of the latest answers
_SLACK = 2.0  # times: servers answer in about the order of the questions, not exactly
_SILENT = 4.0  # times: how much longer many wait for a first answer
_LONGEST_AGAIN = 4.0  # times: how much longer a text is waited for that was given up before


@dataclass(slots=True, eq=False)
class Call:
    """One request under way.

    Attributes
    ----------
    sent_at : float
    n_before : int
        Answers to any request that had come until it was sent.
    places : int
        How many requests could be in flight beside it.
    n_given_up : int
        How often the same was given up before.
    """

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

    Parameters
    ----------
    start : float
        Seconds, the user's time-out.
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
        if not self._latencies:
            return self.start
        slowest = max(self._latencies)
        usual = self.start
        if len(self._latencies) >= _N_ENOUGH:
            usual = min(usual, max(_SHORTEST, _UNUSUAL * slowest))
        return max(usual, _SLACK * slowest)

    def silence(self, now: float) -> float:
        """Seconds since the last answer; for ever, if there was none."""
        return now - self._last_at if self.n_answers else float("inf")

    def served(self, call: Call) -> int:
        """How many answers came since it was sent."""
        return self.n_answers - call.n_before

    def is_hopeless(self, call: Call, now: float, in_flight: int) -> bool:
        """Whether to give a request up."""
        allowed = self.allowed() * min(_LONGEST_AGAIN, 2.0**call.n_given_up)
        age = now - call.sent_at
        if age < allowed:
            return False
        served = self.served(call)
        if not served:  # nothing is known: a slow server with many at once, or nobody there
            return age >= (_SILENT if in_flight > 1 else 1.0) * max(allowed, min(_PAUSE, self.start))
        return served >= _SLACK * call.places or self.silence(now) >= max(allowed, min(_PAUSE, self.start))

    def is_jam(self, call: Call, now: float, in_flight: int) -> bool:
        """Whether a request is overdue because there are too many.

        That is so where fewer were answered in its time than still wait; a hang among requests that are answered as
        ever says nothing about how many the server takes.
        """
        return now - call.sent_at >= self.start and in_flight > 1 and self.served(call) < in_flight
