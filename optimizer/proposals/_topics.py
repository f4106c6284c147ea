"""Topics of edits, and at most one note for each: what a prompt says twice it pays twice, and may confuse."""

from __future__ import annotations

from typing import TYPE_CHECKING

from psopt.text import LIGHT_WORDS, label_mentions, topic_words, words_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from psopt.search_spaces import Edit
    from psopt.tasks import Task

    Topics = frozenset[str]

# Jaccard's index of the words of two notes that don't both quote. Chosen by judgement: .6 are three words of five.
_SAME_WORDS = 0.6


class NoteTopics:
    """The topics that notes have taken, by label.

    Notes that quote phrases are about the words in these that tell a topic, and two of one label that share one are
    about the same. Others are about all their words, and about the same where three of five agree.
    """

    def __init__(self, task: Task, edits: Iterable[Edit], notes: Iterable[str]) -> None:
        self._labels = task.labels
        self._noun = frozenset(words_of(task.noun))
        self._taken: list[tuple[int, Topics, Topics]] = []
        for text in (*(edit.text for edit in edits if edit.kind == "note"), *notes):
            self.take(text)

    def take(self, text: str) -> None:
        """Note down what a note is about."""
        self._taken += self._topics(text)

    def is_taken(self, text: str) -> bool:
        """Tell whether a note is about what another one is about."""
        return any(_are_one(own, taken) for own in self._topics(text) for taken in self._taken)

    def _topics(self, text: str) -> list[tuple[int, Topics, Topics]]:
        """Of each sentence that names a label: the label, the topics it quotes, and all its words."""
        return [
            (
                mention.label,
                frozenset().union(*map(topic_words, mention.cues)),
                frozenset(words_of(mention.topic)) - LIGHT_WORDS - self._noun,
            )
            for mention in label_mentions(text, self._labels)
        ]


def one_a_topic(edits: Sequence[Edit], topics: NoteTopics) -> list[Edit]:
    """Leave out notes about what another one is about; the one of most gain stays, of equal ones the first by id."""
    left_out = set()
    for edit in sorted(edits, key=lambda edit: (-edit.gain, edit.id)):
        if edit.kind != "note":
            continue
        if topics.is_taken(edit.text):
            left_out.add(edit.id)
        else:
            topics.take(edit.text)
    return [edit for edit in edits if edit.id not in left_out]


def _are_one(own: tuple[int, Topics, Topics], other: tuple[int, Topics, Topics]) -> bool:
    label, quoted, words = own
    other_label, other_quoted, other_words = other
    if label != other_label:
        return False
    if quoted and other_quoted:
        return not quoted.isdisjoint(other_quoted)
    return bool(words | other_words) and len(words & other_words) >= _SAME_WORDS * len(words | other_words)
