"""What notes are about: at most one note per topic, the texts that show what they quote, and texts to plant it in."""

from __future__ import annotations

from dataclasses import replace
from itertools import chain, cycle
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from psopt.diagnosis import PhraseIndex
from psopt.tasks import Row, sample_shows
from psopt.text import LIGHT_WORDS, field_and_phrase, label_mentions, topic_words, words_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from psopt.search_spaces import Edit
    from psopt.tasks import Sample, Task

    Topics = frozenset[str]


# Jaccard's index of the words of two notes, unless both quote phrases. Chosen by judgement: .6 is three words in five.
_SAME_WORDS = 0.6


class NoteTopics:
    """The topics that notes have taken, by label.

    Notes of one label that quote phrases share a topic if these share a topic word. For other notes all words count,
    and three in five must agree.
    """

    def __init__(self, task: Task, edits: Iterable[Edit], notes: Iterable[str]) -> None:
        self._labels = task.labels
        self._noun = frozenset(words_of(task.noun))
        self._taken: list[tuple[int, Topics, Topics]] = []
        for text in (*(edit.text for edit in edits if edit.kind == "note"), *notes):
            self.take(text)

    def take(self, text: str) -> None:
        """Record the topics of a note."""
        self._taken += self._topics(text)

    def is_taken(self, text: str) -> bool:
        """Return whether another note already has this note's topic."""
        return any(_are_one(own, taken) for own in self._topics(text) for taken in self._taken)

    def _topics(self, text: str) -> Iterator[tuple[int, Topics, Topics]]:
        """For each sentence that names a label: the label, the topics it quotes, and all its words."""
        for mention in label_mentions(text, self._labels):
            words = frozenset(words_of(mention.topic)) - LIGHT_WORDS - self._noun
            yield mention.label, frozenset().union(*map(topic_words, mention.cues)), words


def one_a_topic(edits: Sequence[Edit], topics: NoteTopics) -> list[Edit]:
    """Leave out notes whose topic another note has; the one with the most gain stays, on a tie the first by id."""
    left_out = set()
    notes = [edit for edit in edits if edit.kind == "note"]
    for note in sorted(notes, key=lambda note: (-note.gain, note.id)):
        if topics.is_taken(note.text):
            left_out.add(note.id)
        else:
            topics.take(note.text)
    return [edit for edit in edits if edit.id not in left_out]


def _are_one(own: tuple[int, Topics, Topics], other: tuple[int, Topics, Topics]) -> bool:
    label, quoted, words = own
    other_label, other_quoted, other_words = other
    if quoted and other_quoted:
        return label == other_label and not quoted.isdisjoint(other_quoted)
    either = words | other_words
    return label == other_label and bool(either) and len(words & other_words) >= _SAME_WORDS * len(either)


PLANTED_TEXTS = 8
"""In how many texts a note's phrases are planted."""
_MOST_TEXTS = 5_000  # as for definitions; more hardly make a share more precise


def with_support(edits: Sequence[Edit], task: Task) -> list[Edit]:
    """Record in each note that quotes phrases how many train texts show one, and which have another label."""
    train = task.train[:_MOST_TEXTS]
    if not edits:
        return []
    cues = {edit.id: cues_of(edit, task.labels) for edit in edits if edit.kind == "note"}
    phrases = sorted(set(chain.from_iterable(cues.values())))
    is_shown = PhraseIndex.of([sample.text for sample in train], phrases=phrases).shown.toarray() > 0
    columns = {phrase: is_shown[:, column] for column, phrase in enumerate(phrases)}
    for phrase in phrases:
        if not columns[phrase].any():  # an index holds no long phrases
            columns[phrase] = np.array([sample_shows(sample.text, phrase) for sample in train], dtype=np.bool_)
    supported = []
    for edit in edits:
        own = [columns[cue] for cue in cues.get(edit.id, ())]
        shown = [train[row] for row in np.flatnonzero(np.any(own, axis=0))] if own else []
        counter = tuple(sample.id for sample in shown if sample.label != edit.label)
        origin = replace(edit.provenance, support=len(shown) - len(counter), counter=counter)
        supported.append(replace(edit, provenance=origin))
    return supported


def cues_of(note: Edit, labels: Sequence[str]) -> tuple[str, ...]:
    """The phrases that a note quotes for its own label and no other."""
    mentions = label_mentions(note.text, labels)
    is_of_its_own = len(mentions) == 1 and labels[mentions[0].label] == note.label
    return mentions[0].cues if is_of_its_own else ()


class Planted(NamedTuple):
    """A text of a class other than a note's label, unchanged and with a phrase of the note."""

    label: str
    plain: Sample
    planted: Sample


def planted_texts(notes: Iterable[Edit], task: Task, n: int = PLANTED_TEXTS) -> list[Planted]:
    """Plant each note's phrases in up to `n` train texts with another label, always the same texts for a note.

    Notes without quoted phrases are left out, as are phrases of a single column: a row cannot be changed in one column.
    """
    made: list[Planted] = []
    for note in notes:
        phrases = [phrase for phrase in cues_of(note, task.classes) if not field_and_phrase(phrase)[0]]
        others = [sample for sample in task.train if sample.label != note.label and not _holds_any(sample, phrases)]
        places = np.random.default_rng(list(note.id.encode())).permutation(len(others))[:n]
        for place, phrase in zip(places, cycle(phrases), strict=False):
            plain = others[place]
            planted = replace(plain, id=f"{plain.id}+{note.id}", text=_planted_in(plain.text, phrase))
            made.append(Planted(note.label, plain, planted))
    return made


def _holds_any(sample: Sample, phrases: Iterable[str]) -> bool:
    return any(phrase.removeprefix("^") in sample.text.lower() for phrase in phrases)


def _planted_in(text: str, phrase: str) -> str:
    """Add a phrase to a text; in a row to its longest input, so that a prompt that names columns still finds them."""
    if not isinstance(text, Row) or not text.inputs:
        return _with(text, phrase)
    longest = max(text.inputs, key=lambda name: len(text.fields[name]))
    return Row.of({**text.fields, longest: _with(text.fields[longest], phrase)}, text.inputs)


def _with(text: str, phrase: str) -> str:
    """Add a phrase to a text, at its beginning if notes look for it there.

    >>> _with("What is a fjord ?", "^how many"), _with("My parcel is late", "charge")
    ('how many: What is a fjord ?', 'My parcel is late (charge)')
    """
    return f"{phrase[1:]}: {text}" if phrase.startswith("^") else f"{text} ({phrase})"
