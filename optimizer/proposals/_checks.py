"""What every edit must satisfy, whether proposed by the rules or a language model."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from psopt.proposals._phrase_evidence import PhraseEvidence
from psopt.tasks import Row, inputs_of, shown_words
from psopt.text import (
    field_and_phrase,
    label_mentions,
    private_pieces,
    quoted_cues,
    tells_a_topic,
    without_markup,
    words_of,
)
from scipy import sparse

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence, Set

    from numpy.typing import NDArray
    from psopt.search_spaces import Edit, Prompt
    from psopt.settings import HoldBack
    from psopt.tasks import Sample, Task


_LONGEST_COUNTED = 3  # words: phrases of train are counted up to this length
_MOSTLY = 0.5  # an input that this share of samples fill in is an essential part
_NEAR_COPY = 0.8
_QUOTES = 0.9
_NEARLY_ALL = 0.95
_LEAST_TEXTS = 10  # with fewer samples, shared parts may be their topic
_LEAST_QUOTED = 8  # distinct words; fewer are a common phrasing ("what is the capital of .."), not a copied text


@dataclass(frozen=True, eq=False)
class ProposalChecks:
    """Finds objections to an edit."""

    task: Task
    evidence: PhraseEvidence  # what train shows about phrases
    columns: tuple[str, ...] = ()  # further columns that the prompt's template shows
    hold_back: HoldBack = "all"  # which samples may not be examples: see `SearchRestriction`

    @classmethod
    def of(cls, task: Task, prompt: Prompt | None = None, hold_back: HoldBack = "all") -> ProposalChecks:
        """The checks for a task's train, and for a prompt that shows its samples."""
        template = prompt.template if prompt else None
        return cls(task, PhraseEvidence.of(task), tuple(template.fields) if template else (), hold_back)

    def against_statement(self, kind: str, label: str, text: str) -> str | None:
        """Return an objection to a note or a definition: it holds private text, or its quote is not a sign of a label.

        Phrases that a sentence quotes as signs of one label must appear in enough of its texts, with enough purity, and
        indicate a topic; see `PhraseEvidence`. A sentence of a note that names several labels is not judged. If answers
        are not single labels, no phrase is a sign of one.
        """
        if private := self._private(text):
            return f"holds private text: {private!r}"
        if self.task.spec.is_open:
            return None
        if kind == "definition":
            cues = [(label, cue) for cue in quoted_cues(text)]
        else:
            mentions = label_mentions(text, self.task.labels)
            cues = [(self.task.labels[mention.label], cue) for mention in mentions for cue in mention.cues]
        objections = (self._against_cue(about, cue) for about, cue in cues)
        return next((objection for objection in objections if objection), None)

    def allowed(self, edits: Iterable[Edit]) -> list[Edit]:
        """The edits without notes and definitions that have an objection; the task's own are always allowed."""
        return [
            edit
            for edit in edits
            if edit.kind == "example"
            or edit.provenance.author == "task"
            or not self.against_statement(edit.kind, edit.label, edit.text)
        ]

    def against_example(self, sample: Sample) -> str | None:
        """Return an objection to showing a sample: it is empty, holds private text, or is nearly in val or test."""
        if not words_of(without_markup(shown_words(sample.text))):
            return "is empty"
        inputs = inputs_of(sample.text)
        if missing := [name for name in self._usual_inputs if not words_of(without_markup(inputs.get(name, "")))]:
            return f"has no {missing[0]}"
        if self.hold_back in {"all", "private"} and self._shows_private_text(sample):
            return "holds private text"
        if self.hold_back in {"all", "copies"} and self._held.holds(sample.text):
            return "is nearly a text of val or test"
        return None

    def _shows_private_text(self, sample: Sample) -> bool:
        shown = [shown_words(sample.text)]
        if isinstance(sample.text, Row):
            shown += [sample.text.fields.get(name, "") for name in self.columns]
        private = (piece for text in shown for piece in private_pieces(text))
        return any(piece not in self._shared_pieces for piece in private)

    def _private(self, text: str) -> str | None:
        piece = next(private_pieces(text, with_cases=True), None)
        if piece is not None:
            return piece
        own = {word for label in self.task.labels for word in words_of(label)}
        return next((word for word in words_of(text) if word in self.evidence.private and word not in own), None)

    def _against_cue(self, label: str, cue: str) -> str | None:
        _, alone = field_and_phrase(cue)
        words = alone.removeprefix("^")
        if words in {" ".join(words_of(name)) for name in self.task.labels}:
            return None if words == " ".join(words_of(label)) else f"calls {words!r} a sign of {label}"
        place = self.task.labels.index(label)
        if len(words.split()) > _LONGEST_COUNTED:
            is_shown = all(self._n_texts(run, place) >= self.evidence.least[place] for run in _parts(words.split()))
            return None if is_shown else self._too_few(words, label, place)
        if not tells_a_topic(alone):
            return f"quotes {words!r}, which tells no topic"
        if any(place in self.evidence.signs.get(name, ()) for name in (cue, alone)):
            return None
        if max(self._n_texts(cue, place), self._n_texts(alone, place)) < self.evidence.least[place]:
            return self._too_few(words, label, place)
        return f"quotes {words!r}, which is no sure sign of {label}"

    def _too_few(self, words: str, label: str, place: int) -> str:
        return f"quotes {words!r}, which fewer than {self.evidence.least[place]} texts of {label} show so"

    def _n_texts(self, phrase: str, place: int) -> int:
        counts = self.evidence.counts.get(phrase)
        return 0 if counts is None else int(counts[place])

    @cached_property
    def _held(self) -> NearCopies:
        shared = _held_by_nearly_all(_words_in(sample.text) for sample in self.task.samples)
        return NearCopies((sample.text for sample in (*self.task.val, *self.task.test)), shared)

    def names_a_case(self, sample: Sample) -> bool:
        """Whether a sample holds an order or case number: not personal, but better kept out of prompts."""
        return next(private_pieces(shown_words(sample.text), with_cases=True), None) is not None

    def held_back(self, samples: Iterable[Sample]) -> dict[str, str]:
        """The objections to showing samples, by their ids."""
        objections = {sample.id: self.against_example(sample) for sample in samples}
        return {name: objection for name, objection in objections.items() if objection}

    @cached_property
    def _shared_pieces(self) -> frozenset[str]:
        """What looks private but is in nearly all samples, like a policy's phone number: it belongs to no person."""
        return _held_by_nearly_all(set(private_pieces(shown_words(sample.text))) for sample in self.task.samples)

    @cached_property
    def _usual_inputs(self) -> tuple[str, ...]:
        rows = [inputs_of(sample.text) for sample in self.task.train]
        names = dict.fromkeys(name for row in rows for name in row)
        return tuple(
            name for name in names if sum(bool(row.get(name, "").strip()) for row in rows) >= _MOSTLY * len(rows)
        )


def _parts(words: Sequence[str]) -> list[str]:
    last = len(words) - _LONGEST_COUNTED
    return [" ".join(words[start : start + _LONGEST_COUNTED]) for start in range(last + 1)]


class NearCopies:
    """Checks whether a text is nearly the same as another, by their shared words.

    A near copy shares four fifths of all distinct words of the two (Jaccard's index). Or one holds at least nine tenths
    of the shorter one's words, if these are eight or more, such as a mail that quotes another. Order and repetition do
    not count.

    Words in `shared`, which nearly all samples hold, do not distinguish texts: a policy, a list of tools, a form that
    all use. They count only in a text that has no others.

    The texts are read once; each check takes time proportional to the texts that hold its words. Both thresholds were
    chosen by judgement, not measured.
    """

    def __init__(self, texts: Iterable[str], shared: Set[str] = frozenset()) -> None:
        self._shared = shared
        self._columns: dict[str, int] = {}
        indices: list[int] = []
        ends = [0]
        for text in texts:
            indices += [self._columns.setdefault(word, len(self._columns)) for word in self._telling(text)]
            ends.append(len(indices))
        shape = (len(ends) - 1, len(self._columns))
        ones = np.ones(len(indices), dtype=np.int32)
        self._sizes = np.diff(ends)
        self._shown = sparse.csr_array((ones, indices, ends), shape=shape).tocsc()

    def holds(self, text: str) -> bool:
        """Return whether one of the texts is nearly this one."""
        words = self._telling(text)
        columns = [self._columns[word] for word in words if word in self._columns]
        if not columns:
            return False
        shared: NDArray[np.int64] = np.asarray(self._shown[:, columns].sum(axis=1)).ravel()
        either = self._sizes + len(words) - shared
        shorter = np.minimum(self._sizes, len(words))
        quotes = (shorter >= _LEAST_QUOTED) & (shared >= _QUOTES * shorter)
        return bool(((shared >= _NEAR_COPY * either) | quotes).any())

    def _telling(self, text: str) -> set[str]:
        words = _words_in(text)
        return words - self._shared or words


def _words_in(text: str) -> set[str]:
    """The distinct words that a sample shows."""
    return set(words_of(without_markup(shown_words(text))))


def _held_by_nearly_all(parts: Iterable[Set[str]]) -> frozenset[str]:
    """What nearly all of the sets hold, if there are at least ten."""
    sets = list(parts)
    counts = Counter(part for held in sets for part in held)
    return frozenset(part for part, n in counts.items() if n >= max(_LEAST_TEXTS, _NEARLY_ALL * len(sets)))
