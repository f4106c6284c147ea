"""What can be told of a run's study.db without opening it as a study, which would create what is not there."""

from __future__ import annotations

import contextlib
import sqlite3
from typing import TYPE_CHECKING
from urllib.parse import quote

if TYPE_CHECKING:
    from pathlib import Path

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
