"""Taking a folder for a run: for one process, and so that a set-up that broke off is in nobody's way."""

from __future__ import annotations

import contextlib
import shutil
import sqlite3
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from psopt.errors import InputError
from psopt.runs._directory import (
    ARTIFACTS,
    ERROR_LOG,
    MANIFEST,
    PROPOSALS,
    REPHRASINGS,
    SPENT,
    STUDY,
    TEMPORARY,
    TRACKING,
    RunDirectory,
    json_object,
)
from psopt.runs._lock import LOCK, FolderLock

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


_STUDY_FILES = {STUDY, f"{STUDY}-journal", f"{STUDY}-wal", f"{STUDY}-shm"}
# What a run writes before its first trial is done, run.json first: without it a file called rephrasings.json is
# somebody's own, and a study what an earlier version left.
_BEGINNINGS = {MANIFEST, SPENT, REPHRASINGS, PROPOSALS, ARTIFACTS, ERROR_LOG, TRACKING, *_STUDY_FILES}
# .. and what may stay there for the next: answers that were paid for.
_KEPT = {LOCK, "answers.db", "answers.db-wal", "answers.db-shm"}


@contextlib.contextmanager
def held(path: Path, *, resume: bool = False) -> Iterator[RunDirectory]:
    """Make a run's folder, or take it to go on with, for this process alone.

    A run that broke off before anything was found makes room for another one. A folder in which nothing was begun is
    taken away again at the end.

    Raises InputError if another process works on it; if it can't be written, or holds something else; or, to go on with
    it, if its study is gone.
    """
    new = [folder for folder in (path, *path.parents) if not folder.exists()]
    directory = RunDirectory.make(path)
    lock = FolderLock(path)
    try:
        lock.acquire()
        _make_room(path, resume=resume)
        yield directory
    finally:
        if new and lock.is_held and not (path / MANIFEST).exists():
            _clear(path)
            _remove(path, _BEGINNINGS)  # in a folder that this process has made, all of them are its own
        lock.release()
        with contextlib.suppress(OSError):  # something is in it
            for folder in new:
                folder.rmdir()


def has_found_nothing(path: Path) -> bool:
    """Whether a folder holds nothing, or no more than a run without any result."""
    manifest = _manifest(path)
    if has_results(path / STUDY) or not (manifest is None or _is_without_result(manifest)):
        return False
    return all(_is_beginning(path, file.name) or file.name in _KEPT for file in path.iterdir())


def _make_room(path: Path, *, resume: bool) -> None:
    if resume:
        _check_study(path)
    elif has_found_nothing(path):
        _clear(path)
    elif (path / MANIFEST).exists():
        raise InputError(f"--out {path} holds a run already: resume with `psopt resume {path}`, or name another folder")
    else:
        raise InputError(f"--out {path} exists and is not empty: name a folder that is new or empty")


def _check_study(path: Path) -> None:
    """Take the study away where its making broke off; refuse a run with results but without their study."""
    study = path / STUDY
    manifest = _manifest(path)
    if manifest is None or (manifest.get("settings") or {}).get("storage"):
        return
    if not study.exists():
        if not _is_without_result(manifest) or any((path / ARTIFACTS).glob("*")):
            raise InputError(
                f"{path} has lost its {STUDY}, which holds its trials: put it back, or start anew in another folder "
                "(answers that were paid for are in the cache)"
            )
        return
    if study_name(study) is None and not has_results(study):
        _remove(path, _STUDY_FILES)


def _manifest(path: Path) -> dict[str, Any] | None:
    """The content of run.json, empty if it is no JSON object; None where there is none."""
    return json_object(path / MANIFEST) if (path / MANIFEST).exists() else None


def _is_without_result(manifest: dict[str, Any]) -> bool:
    """Whether a run in a storage of its own was stopped, in whatever way, before it had a result."""
    return (
        manifest.get("finish_reason") in {"running", "interrupted", "budget", "failed"}
        and not manifest.get("baseline")
        and not manifest.get("front")
        and not (manifest.get("settings") or {}).get("storage")
    )


def _is_beginning(path: Path, name: str) -> bool:
    """Whether a file is what a run writes before its first trial is done."""
    own = _BEGINNINGS if (path / MANIFEST).exists() else {SPENT, *_STUDY_FILES}
    return name in own or name.startswith(TEMPORARY)


def _clear(path: Path) -> None:
    """Remove what a run writes before its first trial is done; run.json last, since it says whose the rest is."""
    names = {file.name for file in path.iterdir() if _is_beginning(path, file.name)}
    _remove(path, names - {MANIFEST})
    _remove(path, names & {MANIFEST})


def _remove(path: Path, names: set[str]) -> None:
    for name in names:
        file = path / name
        if file.is_dir():
            shutil.rmtree(file)
        else:
            file.unlink(missing_ok=True)


_FINISHED = "SELECT count(*) FROM trials WHERE state = 'COMPLETE'"


def study_name(path: Path) -> str | None:
    """The name of the one study in a file; None where there is none, such as when its making broke off."""
    try:
        names = _ask(path, "SELECT study_name FROM studies") if path.is_file() else []
    except sqlite3.Error:  # whoever opens it as a study says what is wrong
        return None
    return str(names[0]) if len(names) == 1 else None


def has_results(path: Path) -> bool:
    """Whether a trial was finished; also if that can't be told, as of a file that is damaged or locked."""
    if not path.is_file():
        return False
    try:
        return _ask(path, _FINISHED) not in ([], [0])
    except sqlite3.Error:
        return True


def n_evaluated(path: Path) -> int:
    """How many trials are done; 0 if the study is elsewhere."""
    try:
        done = _ask(path, _FINISHED) if path.is_file() else []
    except sqlite3.Error:  # whoever opens it as a study says what is wrong
        return 0
    return int(str(done[0])) if done else 0


def _ask(path: Path, query: str) -> list[object]:
    """The first column of a query's rows; no rows where its table was not made yet."""
    with contextlib.closing(sqlite3.connect(f"file:{quote(str(path.resolve()))}?mode=rw", uri=True)) as connection:
        try:
            return [row[0] for row in connection.execute(query)]
        except sqlite3.OperationalError as error:
            if "no such table" in str(error):
                return []
            raise
