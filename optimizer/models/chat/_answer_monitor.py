"""Watches a grid's answers as they come, so that a hopeless grid stops early and cheaply."""

from __future__ import annotations

import random
from collections import Counter
from typing import TYPE_CHECKING, TypeVar

from psopt.answers import ANSWER_FORMS, CUT_OFF, EMPTY, NO_LABEL_CURES, reader_for, shown, spoken
from psopt.errors import ModelError, NoLabelsError, UnansweredError
from psopt.tasks import LABEL

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from psopt.answers import AnswerReader
    from psopt.models.chat._client import Answer
    from psopt.search_spaces import Prompt
    from psopt.settings import LMConfig

# At least one of this many answers must name a label before the rest is asked for. If one answer in five names a
# label, the chance that twenty answers name none is about 1 %.
FIRST = 20
_EXAMPLES = 3  # answers that a message quotes
T = TypeVar("T")


class AnswerMonitor:
    """Watches the answers to one grid; `prompt` is any of its prompts, and says how its answers are read."""

    def __init__(
        self, name: str, prompt: Prompt, options: LMConfig, *, is_trusted: bool, least: int, n_left_out: int
    ) -> None:
        self.is_trusted = is_trusted  # whether the model is known to name labels
        self._name = name
        self._reader = reader_for(prompt.answer, prompt.labels, prompt.asks)
        self._is_own_prompt = prompt.template is not None
        self._asks_for_labels = prompt.asks == LABEL
        self._options = options
        self._least = least  # fewest answers before it is an error that none names a label; `FIRST` at most
        self._n_left_out = n_left_out
        self._total = self._n_seen = 0
        self._kinds: Counter[str] = Counter()
        self._refused: Counter[str] = Counter()
        self._quoted: list[str] = []
        self._n_thoughts = 0

    def parts(self, keys: Sequence[bytes], kept: Collection[Answer]) -> Iterator[Sequence[bytes]]:
        """Observe what is known, and yield the keys to ask for: the first few, then the rest.

        Raises NoLabelsError if none names a label.
        """
        self._total = len(keys) + len(kept)
        for answer in kept:
            self.observe(answer)
        if self._n_seen >= FIRST:
            self._check()
        n_first = max(1, FIRST - self._n_seen)
        if len(keys) > n_first and not self.is_trusted:
            first = spread(keys, n_first)
            yield first
            self._check()
            keys = [key for key in keys if key not in first]
        if keys:
            yield keys
        self._check()

    def observe(self, answer: Answer) -> None:
        """Take an answer into account; raises UnansweredError or ModelError if the rest need not be asked."""
        self._n_seen += 1
        if answer.unanswered:
            self._observe_refusal(answer)
        if self.is_trusted:
            return
        if self._options.logprobs and answer.text:
            check_probabilities(self._name, answer, of_labels=self._asks_for_labels)
        if self._reader.read(answer.text, is_cut=answer.truncated) != len(self._reader.labels):
            self.is_trusted = True
            return
        self._kinds[kind_of(answer, self._reader)] += 1
        self._n_thoughts += answer.is_thought
        quoted = shown(answer.text or answer.reason)
        if quoted and quoted not in self._quoted and len(self._quoted) < _EXAMPLES:
            self._quoted.append(quoted)

    def _observe_refusal(self, answer: Answer) -> None:
        self._refused[answer.unanswered or ""] += 1
        most = self._options.max_unanswered
        # Also of what is left out: a part may have more than its share of the texts that a server refuses.
        n_grid = self._total + self._n_left_out
        if self._refused.total() <= most * n_grid:
            return
        raise UnansweredError(
            f"{self._name} refuses texts for good: {_listed(self._refused)}, of {self._n_seen} answers so far"
            f" ({n_grid} in all); that is more than --max-unanswered {most:g} allows;"
            f" the last was: {shown(answer.reason)!r}; leave such texts out or shorten them, or raise --max-unanswered"
        )

    def _check(self) -> None:
        if self.is_trusted or self._n_seen < self._least:
            return
        which = f"the first {self._n_seen}" if self._n_seen < self._total else f"{self._n_seen}"
        where = f" where --answer {self._reader.spec} looks for it" if self._is_own_prompt else ""
        said = f"; it said: {', '.join(map(repr, self._quoted))}" if self._quoted else ""
        raise NoLabelsError(
            f"{self._name}: none of {which} answers names a label{where} ({_listed(self._kinds)}){said}; {self._cure()}"
        )

    def _cure(self) -> str:
        kind, n = self._kinds.most_common(1)[0]
        if kind == CUT_OFF:
            form = self._reader.spec if self._is_own_prompt else LABEL
            limit = self._options.most_tokens(form)
            return f"all their tokens went before the label came: raise --max-tokens ({limit}), or think less"
        if self._n_thoughts > n / 2:
            return (
                "the server sends them as reasoning, without an answer: switch off its reasoning parser, "
                "or the model's thinking"
            )
        if self._is_own_prompt and kind != EMPTY:
            return (
                f"say by --answer where the label stands ({', '.join(ANSWER_FORMS)}), or look whether the labels are"
                " those that the prompt asks for"
            )
        cure = NO_LABEL_CURES.get(kind, "take another model, or texts that it answers")
        if self._options.structured and not self._is_own_prompt:
            return f"try --plain, or {cure}"
        return cure


def check_probabilities(name: str, answer: Answer, *, of_labels: bool = True) -> None:
    """Raise ModelError if the probabilities of the labels, or else of its tokens, can't be read from an answer."""
    if (answer.logprobs if of_labels else answer.confidence) is None:
        raise ModelError(f"{name} sent no log-probabilities with its answers: leave --logprobs out")
    written = "".join(token for token, _ in answer.logprobs or ())
    if spoken(written) != written:
        raise ModelError(
            f"{name} thinks before it answers ({shown(answer.text)!r}), so that the probabilities of its first tokens"
            " say nothing about the labels: leave --logprobs out, or switch its thinking off"
        )


def kind_of(answer: Answer, reader: AnswerReader) -> str:
    """Return the kind of an answer that names no label, as in `NoLabel`."""
    if answer.truncated and not answer.unanswered:
        return CUT_OFF
    return answer.unanswered or reader.kind(answer.text)


def _listed(kinds: Counter[str]) -> str:
    return ", ".join(f"{n} {kind}" for kind, n in kinds.most_common())


def spread(keys: Sequence[T], n: int) -> list[T]:
    """Draw `n` from the whole grid, in its order and always the same, so that no one rephrasing or sample decides."""
    drawn = random.Random(0).sample(range(len(keys)), min(n, len(keys)))  # noqa: S311  # nothing secret
    return [keys[place] for place in sorted(drawn)]
