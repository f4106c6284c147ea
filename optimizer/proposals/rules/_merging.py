"""Notes of one label said in one sentence, so that a prompt says the same in fewer words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from psopt.proposals.rules._notes import note_text
from psopt.search_spaces import Edit, Provenance
from psopt.text import label_mentions

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

_MOST_PHRASES = 12


def merged_notes(edits: Iterable[Edit], labels: Sequence[str], noun: str) -> list[Edit]:
    """Merge the notes of each label that were written by rule, where there are several.

    A phrase that another one implies is left out.

    >>> from psopt.search_spaces import Edit, Provenance
    >>> notes = [note_text("question", phrases, "Number") for phrases in (["^when"], ["what year", "when did"])]
    >>> origin = Provenance("rules", "accuracy", "", ("train-1",))
    >>> (merged,) = merged_notes([Edit("note", "Number", text, origin) for text in notes], ["Number"], "question")
    >>> merged.text
    'A question that begins with "when" or contains "what year" or "when did" belongs to Number.'
    """
    merged = []
    for label in labels:
        notes = {edit: _phrases(edit, labels, noun) for edit in edits if edit.kind == "note" and edit.label == label}
        known = {edit: phrases for edit, phrases in notes.items() if phrases}
        phrases = _without_implied([phrase for found in known.values() for phrase in found])
        if len(known) > 1 and len(phrases) <= _MOST_PHRASES:
            merged.append(merged_edit(list(known), note_text(noun, phrases, label), "rules"))
    return merged


def merged_edit(notes: Sequence[Edit], text: str, author: str) -> Edit:
    """The edit that stands in place of several notes of one label."""
    samples = tuple(dict.fromkeys(sample for note in notes for sample in note.provenance.samples))
    origin = Provenance(author, notes[0].provenance.view, f"{len(notes)} notes in one", samples)
    parts = tuple(part for note in notes for part in (note.merges or (note.parameter_name,)))
    return Edit("note", notes[0].label, text, origin, sum(note.gain for note in notes), merges=parts)


def replace_merged(edits: Sequence[Edit], merged: Iterable[Edit]) -> tuple[Edit, ...]:
    """Edits with merged ones in place of their parts."""
    merged = tuple(merged)
    gone = {part for one in merged for part in one.merges}
    return (*(edit for edit in edits if not gone & set(edit.merges or (edit.parameter_name,))), *merged)


def notes_by_label(edits: Iterable[Edit], keep: Callable[[Edit], bool]) -> list[list[Edit]]:
    """The notes that `keep` wants, in lists of at least two of one label."""
    notes: dict[str, list[Edit]] = {}
    for edit in edits:
        if edit.kind == "note" and keep(edit):
            notes.setdefault(edit.label, []).append(edit)
    return [of_label for of_label in notes.values() if len(of_label) > 1]


def _phrases(note: Edit, labels: Sequence[str], noun: str) -> tuple[str, ...]:
    """The phrases of a note that says nothing else; none for a note that was written otherwise."""
    mentions = label_mentions(note.text, labels)
    plain = len(mentions) == 1 and mentions[0].cues and note_text(noun, mentions[0].cues, note.label) == note.text
    return mentions[0].cues if plain else ()


def _without_implied(phrases: Sequence[str]) -> list[str]:
    """Each phrase once, without those that can't be shown unless another one is."""
    unique = list(dict.fromkeys(phrases))
    return [one for one in unique if not any(one != other and _implies(one, other) for other in unique)]


def _implies(one: str, other: str) -> bool:
    """Whether every text that shows `one` shows `other`."""
    if other.startswith("^"):
        return one.startswith("^") and f"{one} ".startswith(f"{other} ")
    return f" {other} " in f" {one.removeprefix('^')} "
