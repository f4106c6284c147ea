"""What an edit rests on: texts of train that show the phrases it quotes, and which of these have another label."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from psopt.diagnosis import PhraseIndex
from psopt.text import label_mentions

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray
    from psopt.search_spaces import Edit
    from psopt.tasks import Task

_MOST_TEXTS = 5_000  # as for definitions; more tell hardly more of a share


def with_support(edits: Sequence[Edit], task: Task) -> list[Edit]:
    """Let each note that quotes phrases bear how many texts of train show one, and which have another label."""
    matches = _matches(edits, task)
    train = task.train[:_MOST_TEXTS]
    supported = []
    for edit in edits:
        shown = [train[row] for row in np.flatnonzero(matches.get(edit.id, ()))]
        counter = tuple(sample.id for sample in shown if sample.label != edit.label)
        origin = replace(edit.provenance, support=len(shown) - len(counter), counter=counter)
        supported.append(replace(edit, provenance=origin) if shown else edit)
    return supported


def _matches(edits: Sequence[Edit], task: Task) -> dict[str, NDArray[np.bool_]]:
    """Which samples each note matches, by its id; (n,) each, of notes that match any."""
    cues_by_note = {edit.id: cues_of(edit, task.labels) for edit in edits if edit.kind == "note"}
    texts = [sample.text for sample in task.train[:_MOST_TEXTS]]
    phrases = sorted({cue for cues in cues_by_note.values() for cue in cues})
    shown = PhraseIndex.of(texts, phrases=phrases).shown.toarray() > 0
    columns = {phrase: column for column, phrase in enumerate(phrases)}
    matched = {name: shown[:, [columns[cue] for cue in cues]].any(axis=1) for name, cues in cues_by_note.items()}
    return {name: samples for name, samples in matched.items() if samples.any()}


def cues_of(note: Edit, labels: Sequence[str]) -> tuple[str, ...]:
    """The phrases that a note quotes for its own label and no other."""
    mentions = label_mentions(note.text, labels)
    if len(mentions) != 1 or labels[mentions[0].label] != note.label:
        return ()
    return mentions[0].cues
