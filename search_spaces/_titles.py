"""Titles of edits: what their parameters are called in a study, so that people can read it."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from psopt.search_spaces._edits import Edit

_LONGEST = 40  # characters: what an axis of Optuna's plots shows whole
_LONGEST_LABEL = 16
_LONGEST_TAIL = 8  # of a word that is left out whole where a title is cut
_VERBS = {"definition": "define", "example": "example"}
_SHORTEST_DIGEST = 4  # hexadecimal digits that tell two edits with the same beginning apart


def with_titles(edits: Iterable[Edit], pool: Iterable[Edit]) -> list[Edit]:
    """Give edits that join a pool their titles: the same for what is switched together, else no two alike.

    A title follows from the edit; where the pool has it already, a digest of the edit stands at its end. So an edit's
    title hangs on what came before: it is kept with the edit, and never made anew.
    """
    titles = {edit.parameter_name: edit.title for edit in pool}
    titled = []
    for edit in edits:
        if edit.parameter_name not in titles:
            titles[edit.parameter_name] = _free_title(edit, set(titles.values()))
        titled.append(replace(edit, title=titles[edit.parameter_name]))
    return titled


def _free_title(edit: Edit, taken: Collection[str]) -> str:
    title = _cut(_said(edit), _LONGEST)
    digest = hashlib.sha256(edit.parameter_name.encode()).hexdigest()
    length = _SHORTEST_DIGEST
    while title in taken:
        title = f"{_cut(_said(edit), _LONGEST - length - 1)} {digest[:length]}"
        length += 1
    return title


def _said(edit: Edit) -> str:
    """What an edit is, in a line of any length; a note by the words it is about, where it says which."""
    if edit.bundle:
        return edit.bundle.partition(" (")[0]
    label = _cut(edit.label, _LONGEST_LABEL)
    if edit.kind != "note":
        return f"{_VERBS[edit.kind]} {label}: {edit.text}"
    topic = edit.provenance.topic
    if topic and topic in edit.text:
        about = f"note: {topic}"
        named = f"{about} ({label})"
        return named if label and len(named) <= _LONGEST else about
    return f"note: {edit.text}"


def _cut(text: str, most: int) -> str:
    """A text in one line of so many characters, cut after a word where there is one."""
    line = " ".join(text.split())
    if len(line) <= most:
        return line
    kept = line[: most - 2]
    words, space, tail = kept.rpartition(" ")
    return f"{(words if space and len(tail) <= _LONGEST_TAIL else kept).rstrip(' ,;:')}.."
