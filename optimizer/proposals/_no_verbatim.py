"""No text of a sample in a prompt: what `SearchRestriction.no_verbatim` requires of every edit from any proposer."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING

from psopt.search_spaces import render_instructions
from psopt.tasks import columns_of_row, shown_words
from psopt.text import FUNCTION_WORDS, private_words, without_markup, word_runs, words_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from psopt.search_spaces import Edit, Prompt
    from psopt.tasks import Sample, Task

    Run = tuple[str, ...]

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
        """How many different texts hold each run."""
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
        """The runs of the user's own words."""
        task = self.task
        own = [task.description, task.noun, *task.labels, *task.definitions.values(), render_instructions(self.prompt)]
        for subclasses in task.subclasses.values():
            own += subclasses.values()
        return frozenset(chain.from_iterable(_short_runs(words_of(text)) for text in own))


def _whole(sample: Sample, task: Task) -> str:
    """Everything in a sample as one text."""
    values = [value for _, value in columns_of_row(sample.text)] or [str(sample.text)]
    if not task.spec.has_labels:
        values.append(str(sample.label or ""))
    return "\n".join(map(without_markup, values))


def _runs(text: str) -> tuple[Run, ...]:
    """The runs of a text that are checked: three words anywhere, and two within one part of it.

    They follow the text's order, not a set's hashes, so that every process reports the same objection first.
    """
    words = words_of(text)
    runs = dict.fromkeys((*word_runs(words, 1), *word_runs(words, _SENTENCE)))
    for part in _BORDERS.split(text):
        runs |= dict.fromkeys(word_runs(words_of(part), 2))
    return tuple(runs)


def _short_runs(words: Sequence[str]) -> Iterator[Run]:
    return chain.from_iterable(word_runs(words, length) for length in range(1, _SENTENCE + 1))
