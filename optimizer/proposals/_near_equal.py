"""What notes match of train: their support and counter-examples, and which of them are nearly equal.

Notes that send nearly the same samples to the same label are one note: each further one would cost its trials.
"""

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

# Jaccard's index of what two notes match. Chosen by judgement: on TREC "how many, how long" has .96 with "how old"
# besides, "how do, how does, why do" .89 with "how did" besides, but "color" .69 with "what color".
_NEARLY_EQUAL = 0.8
_MOST_TEXTS = 5_000  # as for definitions; more tell hardly more of a share


def without_near_equals(edits: Sequence[Edit], pool: Sequence[Edit], task: Task) -> list[Edit]:
    """Leave out notes that match nearly the samples of another one of their label: one of the pool, or of more gain.

    What a note matches are the samples of train that show a phrase which it quotes; notes that quote none, and those of
    no sample, are left alone.

    Parameters
    ----------
    edits : sequence of Edit
        Of several that are nearly equal the one with most gain stays; of equal ones the first by id.
    pool : sequence of Edit
        Proposed before.
    task : Task
    """
    matches = _matches([*pool, *edits], task)
    kept = [edit for edit in pool if edit.id in matches]
    left_out = set()
    for edit in sorted(edits, key=lambda edit: (-edit.gain, edit.id)):
        if edit.id not in matches:
            continue
        if any(other.label == edit.label and _are_near_equal(matches[edit.id], matches[other.id]) for other in kept):
            left_out.add(edit.id)
        else:
            kept.append(edit)
    return [edit for edit in edits if edit.id not in left_out]


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


def _are_near_equal(matched: NDArray[np.bool_], other: NDArray[np.bool_]) -> bool:
    return bool((matched & other).sum() >= _NEARLY_EQUAL * (matched | other).sum())


def _matches(edits: Sequence[Edit], task: Task) -> dict[str, NDArray[np.bool_]]:
    """Which samples each note matches, by its id; (n,) each, of notes that match any."""
    cues_of = {edit.id: _cues(edit, task.labels) for edit in edits if edit.kind == "note"}
    texts = [sample.text for sample in task.train[:_MOST_TEXTS]]
    phrases = sorted({cue for cues in cues_of.values() for cue in cues})
    shown = PhraseIndex.of(texts, phrases=phrases).shown.toarray() > 0
    columns = {phrase: column for column, phrase in enumerate(phrases)}
    matched = {name: shown[:, [columns[cue] for cue in cues]].any(axis=1) for name, cues in cues_of.items()}
    return {name: samples for name, samples in matched.items() if samples.any()}


def _cues(note: Edit, labels: Sequence[str]) -> tuple[str, ...]:
    """The phrases that a note quotes for its own label and no other."""
    mentions = label_mentions(note.text, labels)
    if len(mentions) != 1 or labels[mentions[0].label] != note.label:
        return ()
    return mentions[0].cues
