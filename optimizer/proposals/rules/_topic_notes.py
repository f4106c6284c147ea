"""Notes on the form of answers for one topic alone: where an error of form is made there, and nowhere else."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from psopt.proposals.rules._notes import described
from psopt.proposals.rules._open_notes import form_notes
from psopt.search_spaces import Edit, Provenance
from psopt.tasks import sample_shows

if TYPE_CHECKING:
    from collections.abc import Iterable

    from psopt.diagnosis import FailureSlice
    from psopt.evaluation import Predictions
    from psopt.tasks import Task

# All chosen by judgement: three samples are no one's slip; half of a topic makes it the topic's own, and where nine of
# ten of the answers that err so are of it, the others need no such note.
_LEAST_SAMPLES = 3
_LEAST_OF_TOPIC = 0.5
_NEARLY_ALL = 0.9


def notes_on_topics(task: Task, predictions: Predictions, topics: Iterable[FailureSlice]) -> list[Edit]:
    """Return notes such as ``For a text that contains "price": write one number in digits and nothing else.``.

    What a note says is counted on the topic's own samples; so is its gain, as a share of all answers.
    """
    edits = []
    for failing in topics:
        is_of = np.array(
            [any(sample_shows(sample.text, phrase) for phrase in failing.phrases) for sample in predictions.samples],
            dtype=np.bool_,
        )
        if failing.how != "phrases" or is_of.all() or is_of.sum() < _LEAST_SAMPLES:
            continue
        own = predictions.of_samples(is_of)
        share = len(own.samples) / len(predictions.samples)
        elsewhere = {note.form: note.gain * (1 - share) for note in form_notes(task, predictions.of_samples(~is_of))}
        for note in form_notes(task, own):
            gain = note.gain * share
            is_its_own = note.concerned.sum() >= max(_LEAST_SAMPLES, _LEAST_OF_TOPIC * len(own.samples))
            is_alone = gain >= _NEARLY_ALL * (gain + elsewhere.get(note.form, 0.0))
            if gain > 0 and is_its_own and is_alone:
                ids = tuple(sample.id for sample, of in zip(own.samples, note.concerned, strict=True) if of)
                origin = Provenance("rules", "accuracy", failing.topic, ids)
                text = f"For {described(task.noun, failing.phrases)}: {note.text[0].lower()}{note.text[1:]}"
                edits.append(Edit("note", "", text, origin, gain))
    return edits
