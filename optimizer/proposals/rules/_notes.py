"""Definitions from the task; clarifying notes on slices of failing samples, and notes on the form of open answers."""

from __future__ import annotations

import json
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from psopt.answers import FIRST_CODE, text_of
from psopt.proposals._phrase_evidence import implied
from psopt.proposals._quoted_phrases import cues_of
from psopt.search_spaces import Edit, Provenance
from psopt.tasks import FREE, JSON, LABELS, NUMBER, TEXT, references_of, set_written
from psopt.text import answer_words, field_and_phrase, normal_form

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from numpy.typing import NDArray
    from psopt.diagnosis import FailureSlice
    from psopt.evaluation import Predictions
    from psopt.tasks import Task

    Flags = NDArray[np.bool_]


# Of TREC's 50 subclasses 5 give .521 / .095, 10 .557 / .084, 20 .571 / .093, all that are ever wrong (35) .586 / .081:
# each helps a little, so the limit is for the prompt's length and the size of the search.
_MOST_SUBCLASSES = 10


def definitions_from_task(task: Task, predictions: Predictions) -> list[Edit]:
    """Offer the task's definition of each label that the model gets wrong on train."""
    edits = []
    for label, text in task.definitions.items():
        edits += _of_wrong(label, text, label, predictions.members(label), predictions)
    return edits


def definitions_from_subclasses(task: Task, predictions: Predictions) -> list[Edit]:
    """Offer to say that a label covers a subclass, for the subclasses that are most often wrong on train."""
    edits = []
    for label, subclasses in task.subclasses.items():
        for subclass, text in subclasses.items():
            is_of = [(sample.label, sample.subclass) == (label, subclass) for sample in predictions.samples]
            edits += _of_wrong(label, text, f"{label}: {subclass}", np.flatnonzero(is_of), predictions)
    return sorted(edits, key=lambda edit: -edit.gain)[:_MOST_SUBCLASSES]


def _of_wrong(label: str, text: str, topic: str, members: NDArray[np.int64], predictions: Predictions) -> list[Edit]:
    """One of the task's own definitions, if any of its samples is ever answered wrong."""
    wrong = predictions.share_wrong
    ids = tuple(predictions.samples[index].id for index in members if wrong[index] > 0)
    gain = float(wrong[members].sum() / len(wrong))
    return [Edit("definition", label, text, Provenance("task", "accuracy", topic, ids), gain)] if ids else []


_MOST_PHRASES = 12  # in one sentence; chosen by judgement, not measured


def notes_from_slices(slices: Iterable[FailureSlice], noun: str) -> list[Edit]:
    """Write a note for every slice whose phrases would do more good than harm; equal ones of several views make one."""
    notes: dict[tuple[str, frozenset[str]], Edit] = {}
    for failing in slices:
        if failing.label is None or failing.gain <= 0:
            continue
        key = (failing.label, frozenset(failing.phrases))
        origin = Provenance("rules", failing.view, failing.topic, failing.samples)
        text = note_text(noun, failing.phrases, failing.label)
        notes.setdefault(key, Edit("note", failing.label, text, origin, failing.gain))
    return list(notes.values())


def note_text(noun: str, phrases: Sequence[str], label: str) -> str:
    """Say in one sentence that texts with these phrases usually belong to a label: a phrase is not a proof.

    >>> note_text("question", ["^when", "what year"], "Number")
    'A question that begins with "when" or contains "what year" usually belongs to Number.'
    >>> note_text("mail", ["subject: ^bill", "body: refund"], "billing")
    'A mail whose subject begins with "bill" or whose body contains "refund" usually belongs to billing.'
    """
    shown_by: dict[str, list[str]] = {"that": []}  # phrases of the whole text come first
    for phrase in phrases:
        field, alone = field_and_phrase(phrase)
        shown_by.setdefault(f"whose {field}" if field else "that", []).append(alone)
    clauses = [f"{subject} {_condition(shown)}" for subject, shown in shown_by.items() if shown]
    article = "An" if noun[0].lower() in "aeiou" else "A"
    return f"{article} {noun} {' or '.join(clauses)} usually belongs to {label}."


def _condition(phrases: Sequence[str]) -> str:
    openings = [f'"{phrase[1:]}"' for phrase in phrases if phrase.startswith("^")]
    anywhere = [f'"{phrase}"' for phrase in phrases if not phrase.startswith("^")]
    conditions = {"begins with": openings, "contains": anywhere}
    return " or ".join(f"{verb} {_or(quoted)}" for verb, quoted in conditions.items() if quoted)


def _or(items: Sequence[str]) -> str:
    *before, last = items
    return f"{', '.join(before)} or {last}" if before else last


def merged_notes(edits: Iterable[Edit], labels: Sequence[str], noun: str) -> list[Edit]:
    """Merge each label's notes that were written by rule, if there are several, without phrases that others imply.

    >>> from psopt.search_spaces import Edit, Provenance
    >>> notes = [note_text("question", phrases, "Number") for phrases in (["^when"], ["what year", "when did"])]
    >>> origin = Provenance("rules", "accuracy", "", ("train-1",))
    >>> (merged,) = merged_notes([Edit("note", "Number", text, origin) for text in notes], ["Number"], "question")
    >>> merged.text
    'A question that begins with "when" or contains "what year" or "when did" usually belongs to Number.'
    """
    merged = []
    for label in labels:
        notes = {edit: cues_of(edit, labels) for edit in edits if edit.kind == "note" and edit.label == label}
        # A note that says anything besides its phrases was not written by rule.
        by_rule = [note for note, cues in notes.items() if cues and note.text == note_text(noun, cues, label)]
        unique = dict.fromkeys(chain.from_iterable(notes[note] for note in by_rule))
        phrases = [phrase for phrase in unique if unique.keys().isdisjoint(implied(phrase))]
        if len(by_rule) > 1 and len(phrases) <= _MOST_PHRASES:
            merged.append(merged_edit(by_rule, note_text(noun, phrases, label)))
    return merged


def merged_edit(notes: Sequence[Edit], text: str) -> Edit:
    """The note that replaces several notes of one label."""
    first = notes[0]
    samples = tuple(dict.fromkeys(chain.from_iterable(note.provenance.samples for note in notes)))
    origin = Provenance("rules", first.provenance.view, f"{len(notes)} notes in one", samples)
    names = tuple(chain.from_iterable(note.stands_for for note in notes))
    gain = sum(note.gain for note in notes)
    return Edit("note", first.label, text, origin, gain, step=first.step, merges=names)


def replace_merged(edits: Sequence[Edit], merged: Iterable[Edit]) -> tuple[Edit, ...]:
    """Edits in which merged ones replace their parts."""
    merged = tuple(merged)
    replaced = set(chain.from_iterable(edit.merges for edit in merged))
    unmerged = (edit for edit in edits if replaced.isdisjoint(edit.stands_for))
    return (*unmerged, *merged)


NUMBER_ALONE = "Write one number in digits and nothing else: no words, no unit, no working."
ONE_NUMBER = "If several numbers stand in the {noun}, answer only with the one that is asked for."
BRIEF = "Answer as briefly as possible: {most} at most, never a sentence."
VERBATIM = "Copy the answer from the {noun} word for word."
SEVERAL = "Several labels may apply to one {noun}: check each label by itself before you answer."
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
    """Return what right answers have in common that others lack, as notes; none if nothing is wrong or unstable."""
    if not (predictions.share_wrong.any() or predictions.sensitivities.any()):
        return []
    find = {NUMBER: _of_numbers, TEXT: _of_texts, JSON: _of_json, LABELS: _of_sets, FREE: _of_free}[task.spec.form]
    edits = []
    for note in find(task, predictions):
        view = "accuracy" if note.gain else "sensitivity"
        concerned = tuple(predictions.samples[row].id for row in np.flatnonzero(note.concerned))
        origin = Provenance("rules", view, "form of the answer", concerned)
        edits.append(Edit("note", "", note.text, origin, note.gain))
    return edits


def _on_cells(form: str, cells: Flags, **words: str) -> FormNote:
    """A note after which these answers, (N, Q), would become right."""
    return FormNote(form.format(**words), float(cells.mean()), np.asarray(cells.any(axis=1)))


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
