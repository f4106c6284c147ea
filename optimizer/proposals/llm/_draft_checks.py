"""What a draft must pass before it becomes an edit."""

from __future__ import annotations

import contextlib
import json
import re
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Any

from psopt.proposals._checks import ProposalChecks
from psopt.templates import template_marks
from psopt.text import n_words, names_label, quoted_cues, runs_of, topic_words, word_runs, words_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from psopt.search_spaces import Messages
    from psopt.tasks import Task

# Chosen by judgement, not measured. Forty words are a long sentence; one or two words are meaningless.
_MOST_WORDS = 40
_LEAST_WORDS = 3
_MOST_OTHERS = 2  # other labels that a sentence may name besides its own
# A run of eight words is a copied sentence. One of five is a common phrasing ("what is the name of"), unless fewer than
# three texts show it.
_LONG = 8
_COPIED = 5
_COMMON = 3
_TELLING = 2  # least topic words of a sentence that copies a sample; one alone is only a topic
_ECHOED = 6  # words of a request in a row: the request itself asks for shorter runs ("are Person not Number")
# The prompt, samples and an earlier draft are between tags: drafts may use their words.
_BETWEEN_TAGS = re.compile(r"<(\w+)>.*?</\1>", re.DOTALL)
_AS_A_LABEL = re.compile(
    r"(?:belongs?\s+to|label(?:l?ed)?(?:\s+as)?|class(?:ified)?(?:\s+as)?|category|answer(?:\s+with)?)"
    r"\s+(?:the\s+(?:label|class|category)\s+)?[\"'“`]([^\"'”`]+)[\"'”`]",
    re.IGNORECASE,
)
# "Ordering more seats is Sales, not Billing": both must be labels.
_NOT_ANOTHER = re.compile(r"\b(?:is|are|belongs?\s+to|goes?\s+to)\s+((?:[A-Z][\w/&+-]*\s?){1,4}),?\s+(?:and\s+)?not\b")
_WITH_EXAMPLES = re.compile(
    r",?\s*\(?\b(?:such as|for example|for instance|e\.g\.|including|like)\b([^.;)]*)[?]?\)?", re.I
)
_BETWEEN_EXAMPLES = re.compile(r",|\b(?:and|or)\b")
_ASKED_FOR = "similar sentence boundary"
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+")


class DraftError(Exception):
    """Why a draft is not used."""


class RepeatedDraftError(DraftError):
    """A draft that repeats another edit: nothing else is wrong with it."""


@dataclass(frozen=True)
class DraftChecks:
    """Reads drafts, and refuses those that are too long, copy a sample or invent a label."""

    labels: tuple[str, ...]
    texts: tuple[str, ...]  # all of train
    # Whether drafts are for the user's own template, in whose file a name in braces would be read as a field
    in_template: bool = False
    of_every_edit: ProposalChecks | None = None  # checks shared with edits by rule; None without train
    noun: str = ""  # what a sample is called

    @classmethod
    def of(cls, task: Task, checks: ProposalChecks | None = None, *, in_template: bool = False) -> DraftChecks:
        """The checks for a task's labels and its train texts."""
        texts = tuple(sample.text for sample in task.train)
        return cls(tuple(task.labels), texts, in_template, checks or ProposalChecks.of(task), task.noun)

    def read(self, written: str, field: str, label: str, taken: Iterable[str]) -> str:
        """Return the text of a draft that passes all checks: `written` is a JSON object with `field` and ``label``.

        `label` is empty if answers are not single labels; `taken` are the texts of the pool. Raises DraftError.
        """
        draft = parsed(written, field, str)
        answered = draft.get("label", label)
        if label and answered not in self.labels:
            raise DraftError(f"invents the label {str(answered)[:40]!r}")
        if label and answered != label:
            raise DraftError(f"is about {answered}, not about {label}")
        text = str(draft[field])
        boundary = draft.get("boundary")
        if isinstance(boundary, str) and self._tells(boundary, text):
            end = "" if text.rstrip().endswith((".", "!", "?")) else "."
            with contextlib.suppress(DraftError):  # a definition is useful even without its boundary
                return self.check(f"{text.rstrip()}{end} {boundary}", field, label, taken)
        return self.check(text, field, label, taken)

    def check(self, draft: str, field: str, label: str, taken: Iterable[str]) -> str:
        """Return a text that passes all checks; see `read`.

        Sentences beyond `_MOST_WORDS` are dropped, and so are examples that are samples or pieces of them.
        """
        text = _fitted(" ".join(draft.split()))
        if self._copied(text) or self._lists_pieces(text):
            text = _WITH_EXAMPLES.sub("", text)
        _check_length(text, draft)
        if label:
            self._check_named(text)
            if field == "definition":
                text = re.sub(rf"\A[\"'*]*{re.escape(label)}[\"'*]*\s*:\s*", "", text)
                if re.search(rf"\bnot\s+{re.escape(label)}\b", _SENTENCE_END.split(text)[0]):
                    raise DraftError(f"says what is not {label}")
            elif not names_label(text, label):
                text = f"{label}: {text}"
        if self.in_template and (marks := template_marks(text)):
            raise DraftError(f"holds {marks[0]}, which reads as a field")
        if copied := self._copied(text) or self._is_about_one(text):
            raise DraftError(f"copies a sample: {copied!r}")
        if self.of_every_edit and (objection := self.of_every_edit.against_statement(field, label, text)):
            raise DraftError(objection)
        if label and sum(names_label(text, rival) for rival in self.labels if rival != label) > _MOST_OTHERS:
            raise DraftError("names too many labels to tell one apart")
        if label and not quoted_cues(text) and _topics(text) <= _topics(f"{label} {self.noun}"):
            raise DraftError(f"says nothing of {label} but its name")
        if words_of(text) in [words_of(rival) for rival in taken]:
            raise RepeatedDraftError("a duplicate")
        return text

    def check_is_own(self, text: str, messages: Messages) -> None:
        """Refuse a draft whose text repeats the request; raises DraftError."""
        request = _BETWEEN_TAGS.sub("", messages[-1]["content"])
        asked_runs, own_runs = (set(word_runs(self._without_labels(passage), _ECHOED)) for passage in (request, text))
        echoed = asked_runs & own_runs
        if echoed:
            raise DraftError(f"repeats the request: {' '.join(min(echoed))!r}")

    def _without_labels(self, text: str) -> list[str]:
        for label in self.labels:
            text = text.replace(label, " ")
        return words_of(text)

    def _tells(self, boundary: str, definition: str) -> bool:
        """Whether a sentence names a label, and adds something to the definition and the request."""
        names_one = any(names_label(boundary, label) for label in self.labels)
        own = self._own_topics | _topics(f"{_ASKED_FOR} {definition}")
        return names_one and bool(_topics(boundary) - own) and "(" not in boundary

    def _check_named(self, text: str) -> None:
        labels = {label.casefold() for label in self.labels}
        for name in (*_AS_A_LABEL.findall(text), *_NOT_ANOTHER.findall(text)):
            if name.strip().casefold() not in labels:
                raise DraftError(f"invents the label {name.strip()[:40]!r}")

    def _copied(self, text: str) -> str | None:
        """The first run of words that comes from a sample."""
        long = (run for run in runs_of(text, _LONG) if self._shown_by[run])
        rare = (run for run in runs_of(text, _COPIED) if 0 < self._shown_by[run] < _COMMON)
        return next(map(" ".join, chain(long, rare)), None)

    def _lists_pieces(self, text: str) -> bool:
        """Whether an example that a sentence gives, of two words or more, stands in one or two samples."""
        for match in _WITH_EXAMPLES.finditer(text):
            for example in map(words_of, _BETWEEN_EXAMPLES.split(match[1])):
                phrase = " ".join(example)
                if len(example) > 1 and 0 < sum(f" {phrase} " in text for text in self._spaced_texts) < _COMMON:
                    return True
        return False

    def _is_about_one(self, text: str) -> str | None:
        """A sentence's topic words, if a sample holds them all and few others; what is quoted, other checks judge."""
        if quoted_cues(text):
            return None
        for sentence in _SENTENCE_END.split(text):
            gist = _topics(sentence) - self._own_topics
            if len(gist) >= _TELLING and any(gist <= of and 2 * len(gist) > len(of) for of in self._topics_of_texts):
                return " ".join(word for word in words_of(sentence) if word in gist)
        return None

    @cached_property
    def _own_topics(self) -> frozenset[str]:
        """The labels and the noun for a sample: every draft mentions them."""
        return _topics(f"{' '.join(self.labels)} {self.noun} {self.noun}s")

    @cached_property
    def _spaced_texts(self) -> list[str]:
        return [f" {' '.join(words_of(text))} " for text in self.texts]

    @cached_property
    def _topics_of_texts(self) -> list[frozenset[str]]:
        return list(map(_topics, self.texts))

    @cached_property
    def _shown_by(self) -> Counter[tuple[str, ...]]:
        """How many texts show each run of five and of eight words."""
        shown: Counter[tuple[str, ...]] = Counter()
        for text in self.texts:
            shown.update(set(runs_of(text, _COPIED, _LONG)))
        return shown


def parsed(written: str, field: str, kind: type) -> dict[str, Any]:
    """Read a draft's JSON object, even inside a code fence; raises DraftError if its `field` is not of this kind."""
    text = written.strip()
    if not text:
        raise DraftError("empty")
    for start in (0, max(0, text.find("{"))):
        try:
            draft, _ = json.JSONDecoder().raw_decode(text, start)
            break
        except ValueError:
            continue
    else:
        raise DraftError(f"is no JSON: {text[:60]!r}")
    if not isinstance(draft, dict) or not isinstance(draft.get(field), kind):
        raise DraftError(f"is JSON without a {field!r}")
    return draft


def _fitted(text: str) -> str:
    """The first sentences that together are not too long; if the first alone is too long, all of it."""
    fitting: list[str] = []
    for sentence in _SENTENCE_END.split(text):
        if fitting and len(" ".join([*fitting, sentence]).split()) > _MOST_WORDS:
            break
        fitting.append(sentence)
    return " ".join(fitting)


def _topics(text: str) -> frozenset[str]:
    return topic_words(" ".join(words_of(text)))


def _check_length(text: str, as_written: str) -> None:
    n = n_words(text)
    if not text:
        raise DraftError("empty")
    if n < _LEAST_WORDS:
        raise DraftError(f"too short ({n} words)")
    if n > _MOST_WORDS:
        raise DraftError(f"too long ({n} words; at most {_MOST_WORDS})")
    if len(as_written.strip().splitlines()) > 1:
        raise DraftError("more than one paragraph")
    if "..." in text:
        raise DraftError("leaves something open")
