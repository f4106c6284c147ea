"""What every edit must satisfy, by the rules or a language model; on request also that it holds no text of a sample."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np
from psopt.proposals._phrase_evidence import PhraseEvidence
from psopt.search_spaces import render_instructions
from psopt.tasks import Row, columns_of_row, inputs_of, shown_words
from psopt.text import (
    FUNCTION_WORDS,
    field_and_phrase,
    label_mentions,
    private_pieces,
    private_words,
    quoted_cues,
    tells_a_topic,
    without_markup,
    word_runs,
    words_of,
)
from scipy import sparse

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence, Set

    from numpy.typing import NDArray
    from psopt.search_spaces import Edit, Prompt
    from psopt.settings import HoldBack
    from psopt.tasks import Sample, Task

    Run = tuple[str, ...]


_LONGEST_COUNTED = 3  # words: phrases of train are counted up to this length
_MOSTLY = 0.5  # an input that this share of samples fill in is an essential part
_NEAR_COPY = 0.8  # this and the next: chosen by judgement, not measured
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
        columns = prompt.fields if prompt else ()
        return cls(task, PhraseEvidence.of(task), columns, hold_back)

    def against_statement(self, kind: str, label: str, text: str) -> str | None:
        """Return an objection to a note or a definition: it holds private text, or its quote is not a sign of a label.

        Signs of a label are in enough of its texts, with enough purity, and indicate a topic; see `PhraseEvidence`. A
        sentence of a note that names several labels is not judged, nor is one where answers are not single labels.
        """
        if private := self._private(text):
            return f"holds private text: {private!r}"
        if self.task.spec.is_open:
            return None
        if kind == "definition":
            return self._against_cues(label, quoted_cues(text))
        mentions = label_mentions(text, self.task.labels)
        objections = (self._against_cues(self.task.labels[mention.label], mention.cues) for mention in mentions)
        return next(filter(None, objections), None)

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
        private = chain.from_iterable(map(private_pieces, shown))
        return not self._shared_pieces.issuperset(private)

    def _private(self, text: str) -> str | None:
        if piece := next(private_pieces(text, with_cases=True), None):
            return piece
        own = set(words_of(" ".join(self.task.labels)))
        return next((word for word in words_of(text) if word in self.evidence.private and word not in own), None)

    def _against_cues(self, label: str, cues: Iterable[str]) -> str | None:
        return next(filter(None, (self._against_cue(label, cue) for cue in cues)), None)

    def _against_cue(self, label: str, cue: str) -> str | None:
        _, alone = field_and_phrase(cue)
        words = alone.removeprefix("^")
        if words == " ".join(words_of(label)):
            return None
        if words in {" ".join(words_of(name)) for name in self.task.labels}:
            return f"calls {words!r} a sign of {label}"
        place = self.task.labels.index(label)
        least = self.evidence.least[place]
        too_few = f"quotes {words!r}, which fewer than {least} texts of {label} show so"
        if len(words.split()) > _LONGEST_COUNTED:
            parts = map(" ".join, word_runs(words.split(), _LONGEST_COUNTED))
            return too_few if any(self._n_texts(part, place) < least for part in parts) else None
        if not tells_a_topic(alone):
            return f"quotes {words!r}, which tells no topic"
        if any(place in self.evidence.signs.get(name, ()) for name in (cue, alone)):
            return None
        if max(self._n_texts(cue, place), self._n_texts(alone, place)) < least:
            return too_few
        return f"quotes {words!r}, which is no sure sign of {label}"

    def _n_texts(self, phrase: str, place: int) -> int:
        counts = self.evidence.counts.get(phrase)
        return 0 if counts is None else int(counts[place])

    @cached_property
    def _held(self) -> NearCopies:
        samples = self.task.samples
        shared = _held_by_nearly_all((_words_in(sample.text) for sample in samples), len(samples))
        return NearCopies((sample.text for sample in (*self.task.val, *self.task.test)), shared)

    def names_a_case(self, sample: Sample) -> bool:
        """Whether a sample holds an order or case number: not personal, but better kept out of prompts."""
        return next(private_pieces(shown_words(sample.text), with_cases=True), None) is not None

    @cached_property
    def _shared_pieces(self) -> frozenset[str]:
        """What looks private but is in nearly all samples, like a policy's phone number: it belongs to no person."""
        samples = self.task.samples
        pieces = (set(private_pieces(shown_words(sample.text))) for sample in samples)
        return _held_by_nearly_all(pieces, len(samples))

    @cached_property
    def _usual_inputs(self) -> tuple[str, ...]:
        n_filled: Counter[str] = Counter()
        for sample in self.task.train:
            n_filled.update({name: bool(value.strip()) for name, value in inputs_of(sample.text).items()})
        return tuple(name for name, n in n_filled.items() if n >= _MOSTLY * len(self.task.train))


class NearCopies:
    """Checks whether a text is nearly the same as another, by their distinct words.

    A near copy shares four fifths of all words of the two (Jaccard's index). Or one holds at least nine tenths of the
    shorter one's words, if these are eight or more, such as a mail that quotes another. Words in `shared`, which nearly
    all samples hold (a policy, a form that all use), count only in a text that has no others.
    """

    def __init__(self, texts: Iterable[str], shared: Set[str]) -> None:
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
    return set(words_of(without_markup(shown_words(text))))


def _held_by_nearly_all(sets: Iterable[Set[str]], n_sets: int) -> frozenset[str]:
    """What nearly all of the sets hold, if there are at least ten; the rest is not read once there can be nothing."""
    least = max(_LEAST_TEXTS, _NEARLY_ALL * n_sets)
    counts: Counter[str] = Counter()
    for n_left, held in zip(reversed(range(n_sets)), sets, strict=True):
        if n_left + 1 >= least:
            counts.update(held)
            continue
        counts.update(held & counts.keys())  # what is first seen here is in too few
        counts = Counter({part: n for part, n in counts.items() if n + n_left >= least})
        if not counts:
            break
    return frozenset(part for part, n in counts.items() if n >= least)


LEAST_TEXTS = 5
"""A word, or a pair of words, counts as nobody's own if it is in this many different texts: the usual smallest group
for published figures (k-anonymity with k = 5: El Emam and Dankar, "Protecting privacy using k-anonymity", 2008)."""
_SENTENCE = 3  # words in a row that count as a piece of a text, however frequent they are
# The words of which psopt's own notes and definitions consist. A rare pair with such a word is only phrasing.
_SCAFFOLD = FUNCTION_WORDS.union(["begins", "contains", "usually", "belongs", "whose", "answer", "write"])
_BORDERS = re.compile(r"[^\w\s'’-]+")


@dataclass(frozen=True, eq=False)
class NoVerbatim:
    """Finds edits that hold text of samples.

    An edit may hold words that no sample holds; the user's own words, from the task file and the prompt that a search
    starts from; function words; and words, or pairs of adjacent words, that at least `LEAST_TEXTS` different texts
    hold. It may hold no example, no run of three words or number from any sample, and nothing with a private form (see
    `psopt.text.private_words`). Texts that differ only in private parts are one text. All columns and splits count, and
    if answers have no labels also the right answers.
    """

    task: Task
    prompt: Prompt  # the prompt that the search starts from

    def refused(self, edits: Sequence[Edit]) -> dict[str, str]:
        """The objections to edits, by their ids; the task's own definitions are always allowed."""
        checked = [edit for edit in edits if edit.provenance.author != "task" or edit.kind == "example"]
        n_texts = self._count(set(chain.from_iterable(_runs(edit.text) for edit in checked)))
        objections = {edit.id: self._against(edit, n_texts) for edit in checked}
        return {name: objection for name, objection in objections.items() if objection}

    def allowed(self, edits: Sequence[Edit]) -> list[Edit]:
        """The edits without an objection."""
        refused = self.refused(edits)
        return [edit for edit in edits if edit.id not in refused]

    def _against(self, edit: Edit, n_texts: Counter[Run]) -> str | None:
        if edit.kind == "example":
            return "is a sample"
        for run in sorted(_runs(edit.text), key=len):
            phrase = " ".join(run)
            if not n_texts[run] or run in self._own:
                continue
            if len(run) >= _SENTENCE:
                return f"holds {phrase!r}, which stands so in a sample"
            if len(run) == 1 and any(map(str.isdigit, phrase)):
                return f"holds {phrase!r}, a number of a sample"
            if not self._private.isdisjoint(run):
                return f"holds {phrase!r}, which is private"
            if n_texts[run] < LEAST_TEXTS and _SCAFFOLD.isdisjoint(run):
                return f"holds {phrase!r}, which stands in fewer than {LEAST_TEXTS} samples"
        return None

    def _count(self, wanted: set[Run]) -> Counter[Run]:
        counts: Counter[Run] = Counter()
        for alike in self._texts:
            counts.update(wanted.intersection(chain.from_iterable(map(_short_runs, alike))))
        return counts

    @cached_property
    def _texts(self) -> tuple[list[Run], ...]:
        """The words of all texts; texts that differ only in private parts are grouped."""
        alike: dict[Run, list[Run]] = {}
        for sample in self.task.samples:
            words = tuple(words_of(_whole(sample, self.task)))
            alike.setdefault(tuple(word for word in words if word not in self._private), []).append(words)
        return tuple(alike.values())

    @cached_property
    def _private(self) -> frozenset[str]:
        return private_words(shown_words(sample.text) for sample in self.task.samples)

    @cached_property
    def _own(self) -> frozenset[Run]:
        task = self.task
        own = [task.description, task.noun, *task.labels, *task.definitions.values(), render_instructions(self.prompt)]
        for subclasses in task.subclasses.values():
            own += subclasses.values()
        return frozenset(chain.from_iterable(_short_runs(words_of(text)) for text in own))


def _whole(sample: Sample, task: Task) -> str:
    values = [value for _, value in columns_of_row(sample.text)] or [str(sample.text)]
    if not task.spec.has_labels:
        values.append(str(sample.label or ""))
    return "\n".join(map(without_markup, values))


def _runs(text: str) -> tuple[Run, ...]:
    """The runs that are checked, three words anywhere and two within one part of a text, always in the same order."""
    words = words_of(text)
    runs = dict.fromkeys((*word_runs(words, 1), *word_runs(words, _SENTENCE)))
    for part in _BORDERS.split(text):
        runs |= dict.fromkeys(word_runs(words_of(part), 2))
    return tuple(runs)


def _short_runs(words: Sequence[str]) -> Iterator[Run]:
    return chain.from_iterable(word_runs(words, length) for length in range(1, _SENTENCE + 1))
