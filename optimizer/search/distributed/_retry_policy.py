"""A storage that is away for a while is waited for; one that can't be written is an error."""

from __future__ import annotations

import contextlib
import threading
import time
from typing import TYPE_CHECKING, TypeVar

import optuna
import sqlalchemy.exc
from psopt.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

T = TypeVar("T")

OUTAGES = (sqlalchemy.exc.DBAPIError, optuna.exceptions.StorageInternalError)
# Chosen, not measured: a PostgreSQL that is restarted or updated is back within minutes, and a pause of ten seconds is
# short beside a trial with a language model.
_FIRST_PAUSE = 0.5
_LONGEST_PAUSE = 10.0
_LONGEST_WAIT = 600.0


class RetryPolicy:
    """Calls again what failed because the storage was away, up to ten minutes; pauses grow to ten seconds.

    Parameters
    ----------
    tell : callable, optional
        Is told, once an outage, that there is one.
    """

    def __init__(self, tell: Callable[[str], None] | None = None) -> None:
        self._tell = tell or (lambda _: None)
        self._thread = threading.local()

    @contextlib.contextmanager
    def suspended(self) -> Iterator[None]:
        """Let outages through at once, in this thread and for the block."""
        before = getattr(self._thread, "is_suspended", False)
        self._thread.is_suspended = True
        try:
            yield
        finally:
            self._thread.is_suspended = before

    def call(self, action: Callable[[], T]) -> T:
        """Return what `action` returns.

        Raises InputError if the storage does not come back, or can't be written.
        """
        pause = _FIRST_PAUSE
        waited = 0.0
        while True:
            try:
                return action()
            except OUTAGES as error:
                if getattr(self._thread, "is_suspended", False):
                    raise
                if not _may_pass(error) or waited >= _LONGEST_WAIT:
                    raise InputError(f"the study's storage can't be used: {reason_of(error)}") from error
                if not waited:
                    self._tell(f"the study's storage does not answer ({reason_of(error)}): waiting for it")
            time.sleep(pause)
            waited += pause
            pause = min(_LONGEST_PAUSE, 2 * pause)


def reason_of(error: BaseException) -> str:
    """Say what the storage said, in a line."""
    cause = getattr(error, "orig", None) or error.__cause__ or error
    return (str(cause).splitlines() or [type(cause).__name__])[0]


def _may_pass(error: BaseException) -> bool:
    """Whether a server is away or a file is locked; a full disk or a file that can't be written stays as it is."""
    cause = error if isinstance(error, sqlalchemy.exc.DBAPIError) else error.__cause__
    if isinstance(cause, sqlalchemy.exc.PendingRollbackError):  # Optuna went on in a transaction that had broken
        return True
    if not isinstance(cause, sqlalchemy.exc.OperationalError | sqlalchemy.exc.InterfaceError):
        return bool(getattr(cause, "connection_invalidated", False))
    return "sqlite" not in type(cause.orig).__module__ or "locked" in str(cause.orig)
