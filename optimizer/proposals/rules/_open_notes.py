"""Notes on answers other than single labels: on their form, from train's right answers.

A note's statement is counted on train. Its gain is the share of answers that would become right if it were followed, as
far as the given answers show that.
"""

from __future__ import annotations

import json
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from psopt.answers import FIRST_CODE, text_of
from psopt.search_spaces import Edit, Provenance
from psopt.tasks import FREE, JSON, LABELS, NUMBER, TEXT, references_of, set_written
from psopt.text import answer_words, normal_form

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from numpy.typing import NDArray
    from psopt.evaluation import Predictions
    from psopt.tasks import Task

    Flags = NDArray[np.bool_]

NUMBER_ALONE = "Write one number in digits and nothing else: no words, no unit, no working."
ONE_NUMBER = "If several numbers stand in the {noun}, answer only with the one that is asked for."
BRIEF = "Answer as briefly as possible: {most} at most, never a sentence."
VERBATIM = "Copy the answer from the {noun} word for word."
SEVERAL = "Often several labels apply to one {noun}: check each label by itself before you answer."
ONLY_CLEAR = "Name a label only if the {noun} plainly says so; most often {usual}."
NONE_APPLIES = "If no label applies, answer with an empty list: []."
MEMBERS = "Answer with one JSON object with exactly these members: {members}."
LENGTH = "Answer in about {most} words."
OPEN_NOTES = (LENGTH, NUMBER_ALONE, ONE_NUMBER, BRIEF, VERBATIM, SEVERAL, ONLY_CLEAR, NONE_APPLIES, MEMBERS)
_NEARLY_ALL = 0.9  # a note must hold for this share of train's right answers; chosen by judgement
_OTHER_LENGTH = 1.5  # times as long or as short as right answers on average; also chosen


class FormNote(NamedTuple):
    """A note on the form of answers."""

    text: str
    gain: float  # the share of the answers that would become right
    concerned: Flags  # (N,): the samples it was drawn from


def notes_on_open_answers(task: Task, predictions: Predictions) -> list[Edit]:
    """Return the notes that a prompt may need; none if nothing is wrong or unstable."""
    if not (predictions.share_wrong.any() or predictions.sensitivities.any()):
        return []
    edits = []
    for note in form_notes(task, predictions):
        view = "accuracy" if note.gain else "sensitivity"
        concerned = tuple(predictions.samples[row].id for row in np.flatnonzero(note.concerned))
        origin = Provenance("rules", view, "form of the answer", concerned)
        edits.append(Edit("note", "", note.text, origin, note.gain))
    return edits


def _on_cells(form: str, cells: Flags, **words: str) -> FormNote:
    """A note after which these answers, (N, Q), would become right."""
    return FormNote(form.format(**words), float(cells.mean()), np.asarray(cells.any(axis=1)))


def form_notes(task: Task, predictions: Predictions) -> list[FormNote]:
    """What the predictions' right answers have in common that the given ones lack."""
    find = {NUMBER: _of_numbers, TEXT: _of_texts, JSON: _of_json, LABELS: _of_sets, FREE: _of_free}[task.spec.form]
    return list(find(task, predictions))


def _of_numbers(task: Task, predictions: Predictions) -> Iterator[FormNote]:
    unread = _on_cells(NUMBER_ALONE, predictions.asked & (predictions.array < FIRST_CODE))
    is_unstable = predictions.sensitivities > 0
    yield unread._replace(concerned=unread.concerned | is_unstable)
    yield FormNote(ONE_NUMBER.format(noun=task.noun), 0.0, is_unstable)


def _of_texts(task: Task, predictions: Predictions) -> Iterator[FormNote]:
    right = [references_of(str(sample.label)) for sample in predictions.samples]
    lengths = [max(map(len, map(answer_words, texts))) for texts in right]
    most = max(1, int(np.quantile(lengths, _NEARLY_ALL)))
    # an answer that holds a right one among other words would be right without those
    holds = _share(predictions, lambda row, answer: _holds_any(answer, right[row]))
    if holds.any():
        yield _on_cells(BRIEF, holds, most="one word" if most == 1 else f"{most} words")
    texts = [str(sample.text) for sample in predictions.samples]
    if np.mean(list(map(_holds_any, texts, right))) >= _NEARLY_ALL:
        changed = _share(predictions, lambda row, answer: not _holds_any(texts[row], [answer]))
        yield _on_cells(VERBATIM, changed, noun=task.noun)


def _of_json(task: Task, predictions: Predictions) -> Iterator[FormNote]:  # noqa: ARG001
    values = [json.loads(str(sample.label)) for sample in predictions.samples]
    if all(isinstance(value, dict) for value in values) and len({tuple(sorted(value)) for value in values}) == 1:
        named = ", ".join(json.dumps(name, ensure_ascii=False) for name in values[0])
        usual = tuple(sorted(values[0]))
        others = _share(predictions, lambda _, answer: _members(answer) != usual)
        yield _on_cells(MEMBERS, others, members=named)


def _of_sets(task: Task, predictions: Predictions) -> Iterator[FormNote]:
    right = [set_written(str(sample.label)) for sample in predictions.samples]
    too_few = _share(predictions, lambda row, answer: set_written(answer) < right[row])
    too_many = _share(predictions, lambda row, answer: set_written(answer) > right[row])
    if too_few.any():
        yield _on_cells(SEVERAL, too_few, noun=task.noun)
    if too_many.any():
        n_usual = max(1, round(float(np.median([len(labels) for labels in right]))))
        usual = "1 label applies" if n_usual == 1 else f"{n_usual} labels apply"
        yield _on_cells(ONLY_CLEAR, too_many, noun=task.noun, usual=usual)
    is_empty = np.array([not labels for labels in right], dtype=np.bool_)
    if is_empty.any():
        yield _on_cells(NONE_APPLIES, predictions.wrong & is_empty[:, None])


def _of_free(task: Task, predictions: Predictions) -> Iterator[FormNote]:  # noqa: ARG001
    right = chain.from_iterable(references_of(str(sample.label)) for sample in predictions.samples)
    usual = max(1, round(float(np.median([len(text.split()) for text in right]))))
    lengths = [len(text_of(code).split()) for code in predictions.array[predictions.array >= FIRST_CODE].tolist()]
    if lengths and not usual / _OTHER_LENGTH <= float(np.mean(lengths)) <= usual * _OTHER_LENGTH:
        yield FormNote(LENGTH.format(most=usual), 0.0, predictions.sensitivities > 0)


def _share(predictions: Predictions, is_so: Callable[[int, str], bool]) -> Flags:
    """Which readable wrong answers satisfy `is_so`: (N, Q) bool."""
    flags: Flags = np.zeros(predictions.array.shape, dtype=np.bool_)
    for row, column in np.argwhere(predictions.wrong & (predictions.array >= FIRST_CODE)):
        flags[row, column] = is_so(int(row), text_of(int(predictions.array[row, column])))
    return flags


def _holds_any(text: str, parts: Iterable[str]) -> bool:
    """Whether a text contains one of these, as whole words, regardless of how they are written."""
    whole = f" {normal_form(text)} "
    return any(f" {normal_form(part)} " in whole for part in parts)


def _members(text: str) -> tuple[str, ...]:
    value = json.loads(text)
    return tuple(sorted(value)) if isinstance(value, dict) else ()
