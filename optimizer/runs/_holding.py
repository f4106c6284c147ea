"""Reserving a folder for a run, so that an aborted start is in nobody's way."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import socket
import sqlite3
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from filelock import FileLock, Timeout
from psopt.errors import InputError
from psopt.models import CACHE_FILES
from psopt.runs._directory import (
    ERROR_LOG,
    MANIFEST,
    PROGRAM,
    PROPOSALS,
    REPHRASINGS,
    SPENT,
    STUDY,
    TEMPORARY,
    TRACKING,
    RunDirectory,
    json_object,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


LOCK = ".lock"
_NO_LOCKS = {errno.ENOLCK, errno.ENOTSUP}  # of some network file systems
_STUDY_FILES = {STUDY, f"{STUDY}-journal", f"{STUDY}-wal", f"{STUDY}-shm"}
# What a run writes before its first trial is done, run.json first: without it, a file called rephrasings.json is the
# user's own, and a study was left by an earlier version.
_BEGINNINGS = {MANIFEST, SPENT, REPHRASINGS, PROPOSALS, PROGRAM, ERROR_LOG, TRACKING, *_STUDY_FILES}
# .. and what may stay for the next run: answers that were paid for.
_KEPT = {LOCK, *CACHE_FILES}


@contextlib.contextmanager
def held(path: Path, *, resume: bool = False) -> Iterator[RunDirectory]:
    """Create a run's folder, or take it to resume the run, for this process alone.

    A run that ended before anything was found makes room for another one. A folder in which nothing was begun is
    removed again at the end. Raises InputError if another process works on it; if it can't be written, or holds
    something else; or, when resuming, if its study is gone.
    """
    new = [folder for folder in (path, *path.parents) if not folder.exists()]
    directory = RunDirectory.make(path)
    try:
        with _locked(path):
            try:
                _make_room(path, resume=resume)
                yield directory
            finally:
                if new and not (path / MANIFEST).exists():
                    discard(path)
                    _remove(path, _BEGINNINGS)  # in a folder that this process has created, all of them are its own
    finally:
        with contextlib.suppress(OSError):  # it is not empty
            for folder in new:
                folder.rmdir()


def _has_found_nothing(path: Path) -> bool:
    """Whether a folder holds nothing, or only a run without any result."""
    is_a_run = (path / MANIFEST).exists()
    if has_results(path / STUDY) or (is_a_run and not _is_without_result(json_object(path / MANIFEST))):
        return False
    return all(_is_beginning(path, file.name) or file.name in _KEPT for file in path.iterdir())


def check_no_run(path: Path) -> None:
    if (path / MANIFEST).exists() and not _has_found_nothing(path):
        raise InputError(f"--out {path} holds a run already: resume with `psopt resume {path}`, or name another folder")


def _make_room(path: Path, *, resume: bool) -> None:
    if resume:
        _check_study(path)
    elif _has_found_nothing(path):
        discard(path)
    else:
        check_no_run(path)
        raise InputError(f"--out {path} exists and is not empty: name a folder that is new or empty")


def _check_study(path: Path) -> None:
    """Remove a study whose creation was interrupted; refuse a run with results but without their study."""
    study, manifest = path / STUDY, json_object(path / MANIFEST)
    if not (path / MANIFEST).exists() or (manifest.get("settings") or {}).get("storage"):
        return
    if study.exists() and study_name(study) is None and not has_results(study):
        _remove(path, _STUDY_FILES)
    if not study.exists() and not _is_without_result(manifest):
        raise InputError(
            f"{path} has lost its {STUDY}, which holds its trials: put it back, or start anew in another folder "
            "(answers that were paid for are in the cache)"
        )


def _is_without_result(manifest: dict[str, Any]) -> bool:
    """Whether a run in its own storage was stopped, in any way, before it had a result."""
    return (
        manifest.get("finish_reason") in {"running", "interrupted", "budget", "failed"}
        and not manifest.get("baseline")
        and not manifest.get("front")
        and not (manifest.get("settings") or {}).get("storage")
    )


def _is_beginning(path: Path, name: str) -> bool:
    """Whether a file is one that a run writes before its first trial is done."""
    own = _BEGINNINGS if (path / MANIFEST).exists() else {SPENT, *_STUDY_FILES}
    return name in own or name.startswith(TEMPORARY)


def discard(path: Path) -> None:
    """Remove what a run writes before its first trial is done; run.json last, since it tells whose the rest is."""
    names = {file.name for file in path.iterdir() if _is_beginning(path, file.name)}
    _remove(path, names - {MANIFEST})
    _remove(path, names & {MANIFEST})


def _remove(path: Path, names: set[str]) -> None:
    for name in names:
        with contextlib.suppress(PermissionError):  # Windows does not let anyone delete an open file
            (path / name).unlink(missing_ok=True)


_FINISHED = "SELECT count(*) FROM trials WHERE state = 'COMPLETE'"


def study_name(path: Path) -> str | None:
    """The name of the one study in a file; None if there is none, such as when its creation was interrupted."""
    names = _ask(path, "SELECT study_name FROM studies") or []
    return str(names[0]) if len(names) == 1 else None


def has_results(path: Path) -> bool:
    """Whether a trial was finished; True also if that is not known, as with a file that is damaged or locked."""
    return _ask(path, _FINISHED) not in ([], [0])


def n_evaluated(path: Path) -> int:
    """How many trials are done; 0 if the study is elsewhere."""
    return int(sum(_ask(path, _FINISHED) or []))


def _ask(path: Path, query: str) -> list[Any] | None:
    """The first column of a query's rows, none without the file or its table; None if the file can't be asked."""
    if not path.is_file():
        return []
    try:
        with contextlib.closing(sqlite3.connect(f"file:{quote(str(path.resolve()))}?mode=rw", uri=True)) as connection:
            return [row[0] for row in connection.execute(query)]
    except sqlite3.Error as error:
        return [] if "no such table" in str(error) else None


@contextlib.contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Lock a folder, if its file system has locks, by a file in it that says who holds it.

    Raises InputError if the folder can't be written, or another process has it, naming that.
    """
    file = folder / LOCK
    lock = FileLock(file, timeout=0)
    try:
        lock.acquire()
    except Timeout:
        user = "another process has just begun to work on it"
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError):  # it has just been taken
            holder = json.loads(file.read_bytes())
            user = f"process {holder['pid']} on {holder['host']} works on it since {holder['since']}"
        raise InputError(f"{folder} is in use: {user}; wait for it, or end it") from None
    except OSError as error:
        if error.errno not in _NO_LOCKS:
            raise InputError(f"{folder} can't be written: {error.strerror}") from error
    since = datetime.now(UTC).isoformat(" ", "seconds")
    with contextlib.suppress(OSError):  # Windows lets nobody write a locked file; the lock counts, not its content
        file.write_text(json.dumps({"pid": os.getpid(), "host": socket.gethostname(), "since": since}))
    try:
        yield
    finally:
        with contextlib.suppress(OSError):  # .. nor delete it
            file.unlink()
        lock.release()
