"""Definitions from the task, and clarifying notes on slices of failing samples, of which several can become one."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

import numpy as np
from psopt.proposals._phrase_evidence import implied
from psopt.proposals._quoted_phrases import cues_of
from psopt.search_spaces import Edit, Provenance
from psopt.text import field_and_phrase

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray
    from psopt.diagnosis import FailureSlice
    from psopt.evaluation import Predictions
    from psopt.tasks import Task


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
    conditions = []
    if openings:
        conditions.append(f"begins with {_or(openings)}")
    if anywhere:
        conditions.append(f"contains {_or(anywhere)}")
    return " or ".join(conditions)


def _or(items: Sequence[str]) -> str:
    *before, last = items
    return f"{', '.join(before)} or {last}" if before else last


def merged_notes(edits: Iterable[Edit], labels: Sequence[str], noun: str) -> list[Edit]:
    """Merge each label's notes that were written by rule, if there are several.

    A phrase that another one makes redundant is left out.

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
