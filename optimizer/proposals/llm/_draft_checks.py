"""What a draft must pass before it becomes an edit."""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from psopt.proposals._checks import ProposalChecks
from psopt.templates import template_marks
from psopt.text import names_label, words_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from psopt.tasks import Task

# Chosen by judgement, not measured. Forty words are a long sentence; one or two words tell nothing.
MOST_WORDS = 40
_LEAST_WORDS = 3
# A run of eight words is somebody's sentence. One of five is a way of asking ("what is the name of"), unless fewer than
# three texts show it.
_LONG = 8
_COPIED = 5
_COMMON = 3
_AS_A_LABEL = re.compile(
    r"(?:belongs?\s+to|label(?:l?ed)?(?:\s+as)?|class(?:ified)?(?:\s+as)?|category|answer(?:\s+with)?)"
    r"\s+(?:the\s+(?:label|class|category)\s+)?[\"'“`]([^\"'”`]+)[\"'”`]",
    re.IGNORECASE,
)
_FENCE = re.compile(r"\A```\w*\s*(.*?)\s*```\Z", re.DOTALL)


class DraftError(Exception):
    """A draft that is not used, and why."""


@dataclass(frozen=True)
class DraftChecks:
    """Reads drafts, and refuses those that say too much, copy a sample or invent a label.

    Attributes
    ----------
    labels : tuple of str
    texts : tuple of str
        All of train: no run of eight words may come from any of them, and none of five from just one or two. What three
        or more share, and is shorter, is a way of asking, and may be quoted.
    in_template : bool
        Whether drafts are for a template of the user's own, in whose file a name in braces would be read as a field.
    of_every_edit : ProposalChecks or None
        What must be true of edits by rule too; None where no train tells it.
    """

    labels: tuple[str, ...]
    texts: tuple[str, ...]
    in_template: bool = False
    of_every_edit: ProposalChecks | None = None

    @classmethod
    def of(cls, task: Task, *, in_template: bool = False) -> DraftChecks:
        """The checks for a task's labels and its texts of train."""
        return cls(
            tuple(task.labels), tuple(sample.text for sample in task.train), in_template, ProposalChecks.of(task)
        )

    def read(self, written: str, field: str, label: str, taken: Iterable[str]) -> str:
        """Return the text of a draft that passes all checks.

        Parameters
        ----------
        written : str
            What the model wrote: a JSON object with `field` and ``label``.
        field : str
            ``note`` or ``definition``.
        label : str
            What it is about; a note must name it. Empty where answers are no single labels.
        taken : iterable of str
            Texts that are in the pool already.

        Raises
        ------
        DraftError
            Saying what is wrong.
        """
        draft = _parsed(written, field)
        text = " ".join(str(draft[field]).split())
        self._check_length(text, str(draft[field]))
        if label:
            self._check_label(draft.get("label", label), label)
            if field == "note" and not names_label(text, label):
                raise DraftError(f"does not name {label}")
            self._check_named(text)
        if self.in_template and (marks := template_marks(text)):
            raise DraftError(f"holds {marks[0]}, which reads as a field")
        if copied := self._copied(text):
            raise DraftError(f"copies a sample: {copied!r}")
        if self.of_every_edit and (objection := self.of_every_edit.against_statement(field, label, text)):
            raise DraftError(objection)
        if words_of(text) in [words_of(other) for other in taken]:
            raise DraftError("a duplicate")
        return text

    def _check_label(self, answered: object, label: str) -> None:
        if answered not in self.labels:
            raise DraftError(f"invents the label {str(answered)[:40]!r}")
        if answered != label:
            raise DraftError(f"is about {answered}, not about {label}")

    def _check_named(self, text: str) -> None:
        labels = {label.casefold() for label in self.labels}
        for name in _AS_A_LABEL.findall(text):
            if name.casefold() not in labels:
                raise DraftError(f"invents the label {name[:40]!r}")

    def _check_length(self, text: str, as_written: str) -> None:
        n_words = len(text.split())
        if n_words < _LEAST_WORDS:
            raise DraftError("empty" if not text else f"too short ({n_words} words)")
        if n_words > MOST_WORDS:
            raise DraftError(f"too long ({n_words} words; at most {MOST_WORDS})")
        if len(as_written.strip().splitlines()) > 1:
            raise DraftError("more than one paragraph")

    def _copied(self, text: str) -> str | None:
        """The first run of words that comes from a sample."""
        words = words_of(text)
        for run in (*_runs(words, _LONG), *_runs(words, _COPIED)):
            if 0 < self._shown_by[run] < (_COMMON if len(run) < _LONG else len(self.texts) + 1):
                return " ".join(run)
        return None

    @cached_property
    def _shown_by(self) -> Counter[tuple[str, ...]]:
        """By how many texts each run of five and of eight words is shown."""
        shown: Counter[tuple[str, ...]] = Counter()
        for text in self.texts:
            words = words_of(text)
            shown.update({*_runs(words, _COPIED), *_runs(words, _LONG)})
        return shown


def _parsed(written: str, field: str) -> dict[str, object]:
    text = written.strip()
    fenced = _FENCE.match(text)
    text = fenced.group(1) if fenced else text
    if not text:
        raise DraftError("empty")
    try:
        draft = json.loads(text)
    except ValueError:
        raise DraftError(f"is no JSON: {text[:60]!r}") from None
    if not isinstance(draft, dict) or not isinstance(draft.get(field), str):
        raise DraftError(f"is JSON without a {field!r}")
    return draft


def _runs(words: Sequence[str], length: int) -> Iterator[tuple[str, ...]]:
    return (tuple(words[start : start + length]) for start in range(len(words) - length + 1))
