"""A server that is away: one request at a time looks whether it is back."""

from __future__ import annotations

_FIRST_WAIT = 0.25  # seconds; doubles with each look
_LONGEST_WAIT = 30.0
TRIES_NEVER_REACHED = 4  # 1.75 s: a server that never answered is probably not there


# How httpx and aiohttp call it; openai's client over aiohttp calls a connection that was cut a ConnectTimeout too.
_NO_CONNECTION = {"ConnectError", "ConnectTimeout", "ClientConnectorError", "ClientConnectorDNSError"}


def is_unreachable(error: BaseException) -> bool:
    """Whether no connection came about, by the errors that an error comes from."""
    causes: list[BaseException] = []
    cause: BaseException | None = error
    while cause is not None and cause not in causes:
        causes.append(cause)
        cause = cause.__cause__ or cause.__context__
    if any(isinstance(cause, ConnectionResetError | BrokenPipeError) for cause in causes):
        return False
    return any(isinstance(cause, ConnectionRefusedError) or type(cause).__name__ in _NO_CONNECTION for cause in causes)


class ReconnectPolicy:
    """Counts what found no server since the last answer, and says how long to wait before the next look.

    Parameters
    ----------
    retries : int
        How often to look again for a server that answered before.

    Attributes
    ----------
    since : float or None
        When the first request found no server.
    n_tries : int
        Looks since then; requests sent before the last one failed are part of it.
    """

    def __init__(self, retries: int) -> None:
        self._retries = retries
        self._failed_at = -1.0
        self.since: float | None = None
        self.n_tries = 0

    def failed(self, sent_at: float, now: float, *, reached: bool) -> float | None:
        """A request found no server: seconds to wait before the next, None if it has been long enough."""
        if self.since is None:
            self.since = now
        if sent_at > self._failed_at:
            self.n_tries += 1
            self._failed_at = now
        most = self._retries + 1 if reached else min(self._retries + 1, TRIES_NEVER_REACHED)
        return None if self.n_tries >= most else self._pause(self.n_tries)

    def succeeded(self) -> None:
        """The server is there."""
        self.since = None
        self.n_tries = 0

    def seconds_left(self) -> float:
        """Seconds from now until a server that answered before is given up."""
        return sum(self._pause(number) for number in range(self.n_tries, self._retries + 1))

    def _pause(self, number: int) -> float:
        return min(_LONGEST_WAIT, _FIRST_WAIT * 2.0 ** (number - 1))
