"""Clarifying notes: one sentence on the label of a slice of failing samples; and several notes merged into one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from psopt.proposals._phrase_evidence import implied
from psopt.search_spaces import Edit, Provenance
from psopt.text import field_and_phrase, label_mentions

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from psopt.diagnosis import FailureSlice

_MOST_PHRASES = 12  # in one sentence; chosen by judgement, not measured


def notes_from_slices(slices: Iterable[FailureSlice], noun: str) -> list[Edit]:
    """Write a note for every slice whose phrases, if followed, would do more good than harm.

    Slices of several views with the same content make one note, credited to the first.
    """
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
    subject = described(noun, phrases)
    return f"{subject[0].upper()}{subject[1:]} usually belongs to {label}."


def described(noun: str, phrases: Sequence[str]) -> str:
    """Describe a text that shows any of these phrases.

    >>> described("text", ["price", "cost"])
    'a text that contains "price" or "cost"'
    """
    of_fields: dict[str, list[str]] = {"": []}  # phrases of the whole text come first
    for phrase in phrases:
        field, alone = field_and_phrase(phrase)
        of_fields.setdefault(field, []).append(alone)
    clauses = [
        f"{f'whose {field}' if field else 'that'} {_condition(shown)}" for field, shown in of_fields.items() if shown
    ]
    article = "an" if noun[0].lower() in "aeiou" else "a"
    return f"{article} {noun} {' or '.join(clauses)}"


def _condition(phrases: Sequence[str]) -> str:
    openings = [f'"{phrase[1:]}"' for phrase in phrases if phrase.startswith("^")]
    anywhere = [f'"{phrase}"' for phrase in phrases if not phrase.startswith("^")]
    conditions = [f"begins with {_or(openings)}"] if openings else []
    conditions += [f"contains {_or(anywhere)}"] if anywhere else []
    return " or ".join(conditions)


def _or(items: Sequence[str]) -> str:
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} or {items[-1]}"


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
        notes = [edit for edit in edits if edit.kind == "note" and edit.label == label]
        phrases_of = {note: _phrases(note, labels, noun) for note in notes}
        by_rule = [note for note, phrases in phrases_of.items() if phrases]
        phrases = without_implied([phrase for note in by_rule for phrase in phrases_of[note]])
        if len(by_rule) > 1 and len(phrases) <= _MOST_PHRASES:
            merged.append(merged_edit(by_rule, note_text(noun, phrases, label), "rules"))
    return merged


def merged_edit(edits: Sequence[Edit], text: str, author: str) -> Edit:
    """The edit that replaces several notes, or several definitions, of one label."""
    first = edits[0]
    samples = tuple(dict.fromkeys(sample for edit in edits for sample in edit.provenance.samples))
    support = sum(edit.provenance.support for edit in edits)
    counter = tuple(dict.fromkeys(sample for edit in edits for sample in edit.provenance.counter))
    origin = Provenance(author, first.provenance.view, f"{len(edits)} {first.kind}s in one", samples, support, counter)
    names = tuple(name for edit in edits for name in edit.stands_for)
    gains = [edit.gain for edit in edits]
    gain = sum(gains) if first.kind == "note" else max(gains)  # a label's definitions concern the same samples
    return Edit(first.kind, first.label, text, origin, gain, step=first.step, merges=names)


def replace_merged(edits: Sequence[Edit], merged: Iterable[Edit]) -> tuple[Edit, ...]:
    """Edits in which merged ones replace their parts."""
    merged = tuple(merged)
    replaced = {name for edit in merged for name in edit.merges}
    return (*(edit for edit in edits if replaced.isdisjoint(edit.stands_for)), *merged)


def _phrases(note: Edit, labels: Sequence[str], noun: str) -> tuple[str, ...]:
    """The phrases of a note that says nothing else; none for notes in any other form."""
    mentions = label_mentions(note.text, labels)
    if len(mentions) != 1 or not mentions[0].cues:
        return ()
    cues = mentions[0].cues
    return cues if note_text(noun, cues, note.label) == note.text else ()


def without_implied(phrases: Sequence[str]) -> list[str]:
    """Return each phrase once, without those that only occur together with another one."""
    unique = dict.fromkeys(phrases)
    return [phrase for phrase in unique if unique.keys().isdisjoint(implied(phrase))]
