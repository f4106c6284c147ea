"""Storages by their URL: SQLite, a journal file, PostgreSQL or anything else that SQLAlchemy supports.

A storage that is unreachable for a while is waited for; one that can't be written is an error. Ctrl-C and SIGTERM wait
until the current statement ends. An interrupt inside a database library may be lost: Python ignores exceptions in
callbacks of weak references, of which SQLAlchemy has many, and the run would go on. Or it leaves a cursor behind that
keeps the file locked, so that results can't be saved.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import threading
import time
import traceback
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import optuna
import sqlalchemy
import sqlalchemy.exc
from optuna.storages import BaseStorage, JournalStorage
from optuna.storages.journal import JournalFileBackend, JournalFileSymlinkLock
from psopt._signals import send_to_main_thread
from psopt.errors import DamagedStudyError, InputError, import_extra

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import FrameType

_SET_UPS = 20  # attempts; chosen: more than Optuna has tables, each of which another process may create first
_SQLITE_TIMEOUT = 60  # seconds to wait for a lock; chosen generously: Python's 5 are too short if many workers write

_IN_QUERY = re.compile(r"([?&](?:ssl)?(?:password|passwd|pwd)=)[^&\s]*", re.IGNORECASE)


def open_storage(url: str, *, is_there: bool = False) -> optuna.storages.BaseStorage:
    """Open the storage of a URL; refuse one that can't be opened, or a file that `is_there` isn't: it would be made."""
    with _opening(url):
        if is_there:
            check_is_there(url)
        return _make_storage(url)


def check_is_there(url: str) -> None:
    """Refuse a storage in a file that does not exist."""
    file = url.removeprefix("journal:") if url.startswith("journal:") else None
    if url.startswith("sqlite:"):
        file = sqlalchemy.make_url(url).database
    if file and not file.startswith((":", "file:")) and not Path(file).exists():  # these two are in none
        raise InputError(f"the storage {url!r} is not there: there is no file {file}; put it back, or correct its name")


def _escaped(url: str) -> str:
    """Escape each "@" in a URL's password, which ends at the last "@".

    >>> _escaped("postgresql://u:p@ss@host/db"), _escaped("sqlite:///a@b.db")
    ('postgresql://u:p%40ss@host/db', 'sqlite:///a@b.db')
    """
    parts = re.fullmatch(r"([^:/]+://[^:/@]*):(.*)@([^@]*)", url)
    return f"{parts[1]}:{parts[2].replace('@', '%40')}@{parts[3]}" if parts else url


def _make_storage(url: str) -> optuna.storages.BaseStorage:
    """Make the storage of a URL; ``journal:PATH`` is a journal file, which several processes may share."""
    if url.startswith("journal:"):
        path = Path(url.removeprefix("journal:"))
        path.parent.mkdir(parents=True, exist_ok=True)
        _cut_torn_end(path)
        return JournalStorage(JournalFileBackend(str(path)))
    if url.startswith("sqlite:"):
        return _set_up(url, {"connect_args": {"timeout": _SQLITE_TIMEOUT}})
    if "://" not in url:
        raise InputError(f"the storage {url!r} is no URL: write sqlite:///{url}, or journal:{url}")
    url = _escaped(url)
    scheme, _, location = url.partition("://")
    if scheme in {"postgres", "postgresql"}:
        import_extra("psycopg", "a PostgreSQL storage", "postgres")
        url = f"postgresql+psycopg://{location}"
    # A connection that broke while idle is detected and replaced, instead of failing the next call.
    return _set_up(url, {"pool_pre_ping": True})


def _cut_torn_end(path: Path) -> None:
    """Remove what a process that was killed while it wrote has left: half a line, which the next one would spoil."""
    if not _torn_bytes(path):
        return
    lock = JournalFileSymlinkLock(str(path))
    with contextlib.suppress(OSError):  # where nothing can be written, nothing is appended either
        lock.acquire()
        try:
            os.truncate(path, path.stat().st_size - _torn_bytes(path))  # 0 if somebody was just writing it
        finally:
            lock.release()


def _torn_bytes(path: Path) -> int:
    """How many bytes stand after the last line's end; reading goes on without them."""
    content = path.read_bytes() if path.exists() else b""
    return len(content) - content.rfind(b"\n") - 1


def _set_up(url: str, engine: dict[str, Any]) -> optuna.storages.BaseStorage:
    """Open a database. Another process may be creating its tables: Optuna checks for each before it creates it."""
    for _ in range(_SET_UPS - 1):
        try:
            return optuna.storages.RDBStorage(url, engine_kwargs=engine)
        except sqlalchemy.exc.DBAPIError as error:
            if not isinstance(error, sqlalchemy.exc.IntegrityError) and "already exists" not in str(error):
                raise
    return optuna.storages.RDBStorage(url, engine_kwargs=engine)


@contextlib.contextmanager
def _opening(url: str) -> Iterator[None]:
    """Report in one line what is wrong with a storage, and silence Optuna's own messages."""
    verbosity = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    # Metric names and TPE's groups have been called experimental since 2021; we need both.
    warnings.filterwarnings("ignore", category=optuna.exceptions.ExperimentalWarning)
    try:
        yield
    except InputError:
        raise
    except (*OUTAGES, sqlalchemy.exc.SQLAlchemyError, ImportError, OSError, ValueError) as error:
        reason = str(error.__cause__ or error).splitlines()[0]
        if isinstance(error, ImportError) and "psycopg" in reason:
            reason += "; pip install 'psopt[postgres]'"
        elif isinstance(error, ImportError):
            reason += "; install what this kind of storage needs, or take sqlite:///FILE or postgresql://.."
        elif "malformed" in reason or "not a database" in reason or isinstance(error, json.JSONDecodeError):
            raise DamagedStudyError(
                f"the storage {without_password(url)!r} is damaged ({reason}): put it back, or start anew in another "
                "folder (answers that were paid for are in the cache)"
            ) from error
        elif "disk I/O" in reason or "disk is full" in reason:
            reason += "; is the disk full, or is there a limit on the size of files?"
        raise InputError(f"the storage {without_password(url)!r} can't be opened: {reason}") from error
    finally:
        optuna.logging.set_verbosity(verbosity)


@contextlib.contextmanager
def storage_at(
    url: str, tell: Callable[[str], None] | None = None, *, is_there: bool = False
) -> Iterator[tuple[optuna.storages.BaseStorage, RetryPolicy]]:
    """A storage that must be reachable during the block, and is waited for after it; `tell` is called about outages."""
    policy = RetryPolicy(tell)
    with _opening(url), policy.suspended():
        # `get_storage` puts Optuna's cache above a database: without it, each access reads all trials again.
        yield retrying(optuna.storages.get_storage(open_storage(url, is_there=is_there)), policy), policy


def without_password(url: str) -> str:
    """A storage's URL without its password, which belongs in PGPASSWORD or ~/.pgpass and in none of our files.

    >>> without_password("psopt worker --storage postgresql://u:p@ss:w@host/db --study-name s")
    'psopt worker --storage postgresql://u@host/db --study-name s'
    >>> without_password("mysql://u@host/db?user=u&password=p&ssl=1")
    'mysql://u@host/db?user=u&password=&ssl=1'
    """
    return _IN_QUERY.sub(r"\1", re.sub(r"(://[^:/@\s]*):\S*@", r"\1@", url))


T = TypeVar("T")

OUTAGES = (sqlalchemy.exc.DBAPIError, optuna.exceptions.StorageInternalError)
# Chosen, not measured: a PostgreSQL server that is restarted or updated is back within minutes, and a pause of ten
# seconds is short compared with a trial with a language model.
_FIRST_PAUSE = 0.5
_LONGEST_PAUSE = 10.0
_LONGEST_WAIT = 600.0


class RetryPolicy:
    """Retries what failed because the storage was unreachable, for up to ten minutes; calls `tell` once per outage."""

    def __init__(self, tell: Callable[[str], None] | None = None) -> None:
        self._tell = tell or (lambda _: None)
        self._thread = threading.local()

    @contextlib.contextmanager
    def suspended(self) -> Iterator[None]:
        """Let outages raise at once, in this thread and during the block."""
        before = getattr(self._thread, "is_suspended", False)
        self._thread.is_suspended = True
        try:
            yield
        finally:
            self._thread.is_suspended = before

    def call(self, action: Callable[[], T]) -> T:
        """Return what `action` returns; raises InputError if the storage does not come back, or can't be written."""
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
    """Return the storage's own message, in one line."""
    cause = getattr(error, "orig", None) or error.__cause__ or error
    return (str(cause).splitlines() or [type(cause).__name__])[0]


def _may_pass(error: BaseException) -> bool:
    """Whether waiting may help: a server is away or a file locked, rather than a disk full or a file read-only."""
    cause = error if isinstance(error, sqlalchemy.exc.DBAPIError) else error.__cause__
    if isinstance(cause, sqlalchemy.exc.PendingRollbackError):  # Optuna went on in a broken transaction
        return True
    if not isinstance(cause, sqlalchemy.exc.OperationalError | sqlalchemy.exc.InterfaceError):
        return bool(getattr(cause, "connection_invalidated", False))
    return "sqlite" not in type(cause.orig).__module__ or "locked" in str(cause.orig)


def retrying(storage: BaseStorage, policy: RetryPolicy) -> BaseStorage:
    """Wrap a storage so that each of its calls is retried while it is unreachable.

    Its callers, including Optuna's own code, need not know about outages. A call that took effect although its response
    was lost is made twice. That leaves an extra trial in the queue, whose prompt is then dropped as known; or a trial
    that nobody works on, which is taken over like a dead worker's; or `UpdateFinishedTrialError`, which
    `finished_by_others` handles.
    """

    def retried(name: str) -> Callable[..., Any]:
        method = getattr(storage, name)

        def call(_: BaseStorage, *args: Any, **options: Any) -> Any:
            def make_call() -> Any:
                with signals_held():
                    return method(*args, **options)

            try:
                return policy.call(make_call)
            except KeyboardInterrupt as interrupted:
                # The call was interrupted after all: its cursor keeps SQLite's file locked as long as it lives.
                traceback.clear_frames(interrupted.__traceback__)
                raise

        return call

    methods = {name: retried(name) for name in vars(BaseStorage) if not name.startswith("_")}
    wrapped: BaseStorage = type("RetryingStorage", (BaseStorage,), methods)()
    return wrapped


_LONGEST_HELD = 1.5  # seconds; a statement takes milliseconds, and one that hangs must not keep the process from ending


@contextlib.contextmanager
def signals_held() -> Iterator[None]:
    """Deliver SIGINT and SIGTERM after the block; at once if a second one comes, or the block takes too long."""
    if threading.current_thread() is not threading.main_thread():  # Python delivers signals only to the main thread
        yield
        return
    # one that is ignored, or ends the process without Python, is left alone
    handlers = {
        int(number): handler
        for number in (signal.SIGINT, signal.SIGTERM)
        if callable(handler := signal.getsignal(number))
    }
    held: list[int] = []

    def send_again(number: int) -> None:
        if held:  # it then counts as the second one
            send_to_main_thread(number)

    def hold(number: int, frame: FrameType | None) -> None:
        held.append(number)
        if len(held) > 1:
            held.clear()
            handlers[number](number, frame)
            return
        impatient = threading.Timer(_LONGEST_HELD, send_again, [number])
        impatient.daemon = True
        impatient.start()

    for number in handlers:
        signal.signal(number, hold)
    try:
        yield
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
        for number in held.copy():
            held.clear()
            handlers[number](number, None)
