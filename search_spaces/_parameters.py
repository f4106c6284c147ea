"""Edits and orders as Optuna's parameters: one boolean parameter per edit or bundle, and one for the examples' order.

The names and values are persisted: studies are read by them, so none may be renamed. An edit's parameter is named by
its title, which is stored with the edit.
"""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from psopt.search_spaces._edits import ORDERS

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence

    import optuna
    from psopt.search_spaces._edits import Edit

_EXAMPLE_ORDER = "example-order"


def parameter_names(edits: Iterable[Edit]) -> set[str]:
    """Return the names by which psopt knows the parameters that choose these edits."""
    return {edit.parameter_name for edit in edits}


def first_parameters(edits: Sequence[Edit], most: int) -> list[Edit]:
    """Return the edits of the first `most` parameters."""
    first = list(dict.fromkeys(edit.parameter_name for edit in edits))[:most]
    return [edit for edit in edits if edit.parameter_name in first]


def suggest_edits(trial: optuna.Trial, pool: Iterable[Edit], orders: Sequence[str]) -> tuple[tuple[Edit, ...], str]:
    """Ask the sampler for a subset of the pool, in the pool's order, and, if it has examples, for one of `orders`."""
    edits = tuple(edit for edit in pool if trial.suggest_categorical(edit.title, [False, True]))
    if len(orders) > 1 and any(edit.kind == "example" for edit in edits):
        return edits, trial.suggest_categorical(_EXAMPLE_ORDER, orders)
    return edits, orders[0]


def chosen_edits(params: Mapping[str, Any], pool: Iterable[Edit]) -> tuple[tuple[Edit, ...], str]:
    """Return the edits that a trial's parameters choose, in the pool's order, and the order of the examples."""
    return tuple(edit for edit in pool if params.get(edit.title)), params.get(_EXAMPLE_ORDER, ORDERS[0])


def parameters_of(names: Iterable[str], pool: Iterable[Edit], order: str | None = None) -> dict[str, bool | str]:
    """Return the parameters that choose the edits with these names and no other edit of the pool."""
    selected_names = set(names)
    params: dict[str, bool | str] = {edit.title: edit.parameter_name in selected_names for edit in pool}
    return params if order is None else {**params, _EXAMPLE_ORDER: order}


_LONGEST = 40  # characters: as many as an axis of Optuna's plots shows completely
_LONGEST_LABEL = 16  # characters of these for the label, so that the text keeps its share
_LONGEST_TAIL = 8  # characters of a word at the cut, which is then dropped; longer ones are kept in part
_VERBS = {"definition": "define", "example": "example"}
_SHORTEST_DIGEST = 4  # hexadecimal digits that tell two edits with the same beginning apart


def with_titles(edits: Iterable[Edit], pool: Iterable[Edit]) -> list[Edit]:
    """Give edits that join a pool their titles: edits that are switched together share one, all others differ.

    A title follows from the edit; if the pool has it already, a digest of the edit is appended. So an edit's title
    depends on earlier edits: it is stored with the edit, and never computed again.
    """
    titles = {edit.parameter_name: edit.title for edit in pool}
    titled = []
    for edit in edits:
        if edit.parameter_name not in titles:
            titles[edit.parameter_name] = _free_title(edit, set(titles.values()))
        titled.append(replace(edit, title=titles[edit.parameter_name]))
    return titled


def _free_title(edit: Edit, taken: Collection[str]) -> str:
    title = _cut(_words_of(edit), _LONGEST)
    digest = hashlib.sha256(edit.parameter_name.encode()).hexdigest()
    length = _SHORTEST_DIGEST
    while title in taken:
        title = f"{_cut(_words_of(edit), _LONGEST - length - 1)} {digest[:length]}"
        length += 1
    return title


def _words_of(edit: Edit) -> str:
    """A description of an edit, of any length; for a note, the words it is about, if it contains them."""
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
    """A text on one line of at most `most` characters, cut after a word if possible."""
    line = " ".join(text.split())
    if len(line) <= most:
        return line
    beginning = line[: most - 2]
    words, space, tail = beginning.rpartition(" ")
    return f"{(words if space and len(tail) <= _LONGEST_TAIL else beginning).rstrip(' ,;:')}.."
