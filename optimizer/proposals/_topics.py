"""Topics of edits, and at most one note per topic: repetition in a prompt costs tokens and may confuse."""

from __future__ import annotations

from typing import TYPE_CHECKING

from psopt.text import LIGHT_WORDS, label_mentions, topic_words, words_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from psopt.search_spaces import Edit
    from psopt.tasks import Task

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
    if label != other_label:
        return False
    if quoted and other_quoted:
        return not quoted.isdisjoint(other_quoted)
    either = words | other_words
    return bool(either) and len(words & other_words) >= _SAME_WORDS * len(either)
