"""Storages by their URL: SQLite, a journal file, PostgreSQL or whatever SQLAlchemy knows."""

from __future__ import annotations

import contextlib
import re
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import optuna
import sqlalchemy.exc
from optuna.storages import JournalStorage
from optuna.storages.journal import JournalFileBackend
from psopt.errors import DamagedStudyError, InputError, import_extra

if TYPE_CHECKING:
    from collections.abc import Iterator

_SET_UPS = 20  # chosen: more than Optuna has tables, each of which another process may make first
_SQLITE_TIMEOUT = 60  # seconds to wait for a lock, chosen amply: Python's 5 are short where many workers write

_IN_QUERY = re.compile(r"([?&](?:ssl)?(?:password|passwd|pwd)=)[^&\s]*", re.IGNORECASE)


def open_storage(url: str) -> optuna.storages.BaseStorage:
    """Open the storage of a URL.

    Raises InputError if it can't be opened.
    """
    with opening(url):
        return make_storage(url)


def _escaped(url: str) -> str:
    """A URL whose password may hold an "@": its place is before the last one.

    >>> _escaped("postgresql://u:p@ss@host/db"), _escaped("sqlite:///a@b.db")
    ('postgresql://u:p%40ss@host/db', 'sqlite:///a@b.db')
    """
    found = re.fullmatch(r"([^:/]+://[^:/@]*):(.*)@([^@]*)", url)
    return f"{found[1]}:{found[2].replace('@', '%40')}@{found[3]}" if found else url


def make_storage(url: str) -> optuna.storages.BaseStorage:
    """Make the storage of a URL; ``journal:PATH`` is a journal file, which several processes may share."""
    if url.startswith("journal:"):
        path = Path(url.removeprefix("journal:"))
        path.parent.mkdir(parents=True, exist_ok=True)
        return JournalStorage(JournalFileBackend(str(path)))
    if url.startswith("sqlite:"):
        return _set_up(url, {"connect_args": {"timeout": _SQLITE_TIMEOUT}})
    if "://" not in url:
        raise InputError(f"the storage {url!r} is no URL: write sqlite:///{url}, or journal:{url}")
    url = _escaped(url)
    scheme, _, rest = url.partition("://")
    if scheme in {"postgres", "postgresql"}:
        import_extra("psycopg", "a PostgreSQL storage", "postgres")
        url = f"postgresql+psycopg://{rest}"
    # A connection that broke while it lay idle is found out and made anew, instead of failing the next call.
    return _set_up(url, {"pool_pre_ping": True})


def _set_up(url: str, engine: dict[str, Any]) -> optuna.storages.BaseStorage:
    """Open a database, whose tables another process may be making: Optuna looks for each before it makes it."""
    for _ in range(_SET_UPS - 1):
        try:
            return optuna.storages.RDBStorage(url, engine_kwargs=engine)
        except sqlalchemy.exc.IntegrityError:
            continue
        except sqlalchemy.exc.DBAPIError as error:
            if "already exists" not in str(error):
                raise
    return optuna.storages.RDBStorage(url, engine_kwargs=engine)


@contextlib.contextmanager
def opening(url: str) -> Iterator[None]:
    """Say in one line what is wrong with a storage, and nothing of what Optuna finds worth a word."""
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    # Metric names and TPE's groups are called experimental since 2021; they are what we need.
    warnings.filterwarnings("ignore", category=optuna.exceptions.ExperimentalWarning)
    try:
        yield
    except InputError:
        raise
    except (
        optuna.exceptions.StorageInternalError,
        sqlalchemy.exc.SQLAlchemyError,
        ImportError,
        OSError,
        ValueError,
    ) as error:
        reason = str(error.__cause__ or error).splitlines()[0]
        if isinstance(error, ImportError) and "psycopg" in reason:
            reason += "; pip install 'psopt[postgres]'"
        elif isinstance(error, ImportError):
            reason += "; install what this kind of storage needs, or take sqlite:///FILE or postgresql://.."
        elif "malformed" in reason or "not a database" in reason:
            raise DamagedStudyError(
                f"the storage {without_password(url)!r} is damaged ({reason}): put it back, or start anew in another "
                "folder (answers that were paid for are in the cache)"
            ) from error
        raise InputError(f"the storage {without_password(url)!r} can't be opened: {reason}") from error


def without_password(url: str) -> str:
    """A storage's URL without its password, which belongs into PGPASSWORD or ~/.pgpass and into no file of ours.

    >>> without_password("psopt worker --storage postgresql://u:p@ss:w@host/db --study-name s")
    'psopt worker --storage postgresql://u@host/db --study-name s'
    >>> without_password("mysql://u@host/db?user=u&password=p&ssl=1")
    'mysql://u@host/db?user=u&password=&ssl=1'
    """
    return _IN_QUERY.sub(r"\1", re.sub(r"(://[^:/@\s]*):\S*@", r"\1@", url))
