"""Wordings of another source: what S comes to where others say the task than those whom a search has listened to."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from psopt.errors import InputError
from psopt.rephrasings._file import check_fields
from psopt.rephrasings._set import RephrasingSet, comparable
from psopt.text import parse_json, read_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_FEWEST = 2  # S of one wording is 0


def read_wordings(path: Path) -> tuple[str, ...]:
    """Read wordings of the task: a text file with one per line, a JSON list of texts, or a rephrasings.json.

    Of a rephrasings.json all are taken that are not its original.

    Raises InputError if it can't be read, or holds none.
    """
    content = read_text(path, f"wordings {path}")
    if path.suffix.lower() != ".json":
        return _distinct(line.strip() for line in content.splitlines() if line.strip())
    texts = _listed(parse_json(content, f"wordings {path}"))
    wrong = [number for number, text in enumerate(texts, 1) if not isinstance(text, str) or not text.strip()]
    if not texts or wrong:
        where = f"; number {wrong[0]} is none" if wrong else ""
        raise InputError(f"wordings {path}: expected a list of texts, or a rephrasings.json{where}")
    return _distinct(texts)


def given_wordings(given: Sequence[str] | str | Path) -> tuple[tuple[str, ...], str]:
    """Wordings as Python takes them, a path or the texts themselves, and what they are called."""
    if isinstance(given, str | Path):
        return read_wordings(Path(given)), str(given)
    return _distinct(given), "another source" if given else ""


def of_another_source(original: str, wordings: Sequence[str], n_parts: int = 0) -> RephrasingSet:
    """Make a set of them, as held-out rephrasings; the original is left out where it is among them.

    Raises InputError if fewer than two are left, or one of them does not fit.

    Parameters
    ----------
    original : str
        What is said in other words.
    n_parts : int
        Of how many parts each has to be, where they are of a template.
    """
    texts = tuple(text for text in _distinct(wordings) if comparable(text) != comparable(original))
    if len(texts) < _FEWEST:
        raise InputError(
            f"--heldout-from needs {_FEWEST} wordings or more beside the prompt's own, and has {len(texts)}"
        )
    try:
        rephrasings = RephrasingSet(original, (original,), texts, "file", n_parts=n_parts)
    except InputError as error:
        raise InputError(f"--heldout-from: {error}") from error
    if n_parts:
        check_fields(rephrasings, Path("--heldout-from"))
    return rephrasings


def _listed(data: Any) -> list[Any]:
    if isinstance(data, list):
        return data
    if not isinstance(data, dict):
        return []
    entries = [*(data.get("search") or ()), *(data.get("heldout") or ())]
    texts = [entry.get("text") if isinstance(entry, dict) else entry for entry in entries]
    return [text for text in texts if text != data.get("original")]


def _distinct(texts: Iterable[str]) -> tuple[str, ...]:
    """Each once; of those that differ in nothing but case, spaces and signs, the first."""
    first: dict[str, str] = {}
    for text in texts:
        first.setdefault(comparable(text), text)
    return tuple(first.values())
