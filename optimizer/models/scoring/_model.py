"""A language model as a classifier: every label is scored by its likelihood, nothing is generated."""

from __future__ import annotations

import itertools
import json
from collections import Counter
from typing import TYPE_CHECKING

import numpy as np
from psopt.errors import InputError, ModelError
from psopt.models._answer_cache import AnswerCache, answer_key
from psopt.models._base import Capabilities
from psopt.search_spaces import render
from psopt.text import one_line

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray
    from psopt.models._base import Floats, Ints, Progress, Prompts, Texts
    from psopt.models.scoring._tokenizer import LabelTree, PromptTokenizer
    from psopt.search_spaces import Messages, Prompt


# How labels are scored, as part of the cache key: raise the number when the same messages give other scores.
_SCORING = {"mean": "mean log-likelihood per token, 1", "sum": "log-likelihood of the whole label, 1"}
_FEW_WORDS = 3  # "Label:", "Final answer:"; "Respond with one of these labels:" does not begin an answer
_SHOWN = 50  # characters of a text, in an error
_DIGITS = 6  # rounded to these, equal labels tie although they were read side by side with other tokens


class ScoringModel:
    """Classifies by which label a causal language model finds the most likely answer; it never answers N/A.

    A label's score is the log-probability of its tokens at the beginning of the assistant's turn: by default their
    mean, so that long labels are not at a disadvantage, or their sum, the probability that the model answers exactly
    that. Without a chat template, messages are joined by empty lines, and the label follows a space. If a template
    takes no system message, that goes into the user's. A reasoning block that a template opens is left out, and
    today's date becomes 1 January 2025.

    A user's own prompt is read turn by turn, as far as the chat template allows: turns of one role may be joined, and
    system messages may go into the user's. Where its answers are JSON, in a tag or on a last line, a label is scored
    after the opening, such as ``{"team": "``. A reason before it is not written, and a response format is ignored.

    `version` and `precision` (how numbers are represented) distinguish scores from those of other models of the same
    name in `cache`, by default in memory. Raises InputError if `likelihood` is neither ``mean`` nor ``sum``; answering
    raises ModelError if the model can't be loaded, or a prompt is too long for it.
    """

    capabilities = Capabilities(has_probabilities=True, has_label_prior=True, has_longest=True)

    def __init__(
        self, name: str, version: str, precision: str, *, cache: AnswerCache | None = None, likelihood: str = "mean"
    ) -> None:
        if likelihood not in _SCORING:
            raise InputError(f"likelihood is {' or '.join(_SCORING)}, not {likelihood!r}")
        self.name = name
        self._version = version
        self._precision = precision
        self._cache = cache or AnswerCache(None)
        self.likelihood = likelihood
        self.computed = 0  # answers that were not in the cache

    @property
    def tokenizer(self) -> PromptTokenizer:
        """Its tokenizer; like the weights, it is loaded for the first answer that is not in the cache."""
        raise NotImplementedError

    @property
    def longest(self) -> int | None:
        """How many tokens it reads, if that is known."""
        raise NotImplementedError

    def steps(self, prompts: Sequence[list[int]], tree: LabelTree) -> Iterator[tuple[list[int], Floats]]:
        """Yield indices of some prompts, and (n_indices, n_steps) log-probabilities of the tree's steps after each."""
        raise NotImplementedError

    def predict(self, prompts: Prompts, texts: Texts, on_progress: Progress = None) -> Ints:
        """Classify every text under every prompt (see `Model.predict`); of tied labels, the first."""
        return np.asarray(self.label_scores(prompts, texts, on_progress).argmax(axis=2), dtype=np.int64)

    def predict_proba(self, prompts: Prompts, texts: Texts, on_progress: Progress = None) -> Floats:
        """Return the softmax of the labels' scores: (n_texts, n_prompts, C + 1), rows sum to 1, N/A last and 0."""
        from scipy.special import softmax

        probabilities = softmax(self.label_scores(prompts, texts, on_progress), axis=2)
        return np.pad(probabilities, ((0, 0), (0, 0), (0, 1)))

    def label_scores(self, prompts: Prompts, texts: Texts, on_progress: Progress = None) -> Floats:
        """Return log-likelihoods, mean or sum: (n_texts, n_prompts, n_labels) float."""
        scores = np.empty((len(texts), len(prompts), len(prompts[0].labels)))
        n_done = 0

        def count(n_answered: int) -> None:
            nonlocal n_done
            n_done += n_answered
            if on_progress and n_answered:
                on_progress(n_done, len(texts) * len(prompts))

        for column, prompt in enumerate(prompts):
            scores[:, column] = self._score_prompt(prompt, texts, count)
        return scores

    def n_kept(self, prompts: Prompts, texts: Texts, cells: NDArray[np.bool_]) -> int:
        """How many of the wanted answers, (n_texts, n_prompts), are in the cache and take no time."""
        n = 0
        for column, prompt in zip(cells.T, prompts, strict=True):
            times = Counter(self._keys(prompt, [render(prompt, text) for text in itertools.compress(texts, column)]))
            n += sum(times[key] for key in self._cache.get_many(times))
        return n

    def _score_prompt(self, prompt: Prompt, texts: Texts, count: Callable[[int], None]) -> Floats:
        """The scores of each text, from the cache or, some at a time, from the model."""
        keys = self._keys(prompt, [render(prompt, text) for text in texts])
        times = Counter(keys)
        scores_of = self._cache.get_many(times)
        count(sum(times[key] for key in scores_of))
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in scores_of}
        for answered in self._computed(prompt, missing):
            scores_of.update(answered)
            count(sum(times[key] for key in answered))
        return np.array([scores_of[key] for key in keys], dtype=np.float64).reshape(len(texts), len(prompt.labels))

    def _computed(self, prompt: Prompt, missing: dict[bytes, str]) -> Iterator[dict[bytes, list[float]]]:
        """Yield new scores, some at a time, which are then in the cache."""
        if not missing:
            return
        keys, texts = list(missing), list(missing.values())
        prompts, tree = self._tokens(prompt, texts)
        if error := self._too_long(texts, prompts, tree):
            raise error
        for indices, steps in self.steps(prompts, tree):
            if np.isnan(steps).any():
                raise ModelError(f"{self.name} gives NaN for a probability: its weights are damaged")
            scores = tree.log_likelihoods(steps, per_token=self.likelihood == "mean")
            rows = scores.round(_DIGITS).tolist()
            answered = {keys[index]: row for index, row in zip(indices, rows, strict=True)}
            self._cache.put_many(answered)
            self.computed += len(answered)
            yield answered

    def can_read(self, prompt: Prompt, texts: Texts) -> bool:
        """Whether it reads a prompt with each of these texts to the end; loads the model."""
        return self._too_long(texts, *self._tokens(prompt, texts)) is None

    def _tokens(self, prompt: Prompt, texts: Texts) -> tuple[list[list[int]], LabelTree]:
        conversations = [render(prompt, text) for text in texts]
        lead, turn_end = _begun(prompt, conversations)
        return self.tokenizer.scored(conversations, _labels_in_answers(prompt), lead, turn_end)

    def _too_long(self, texts: Texts, prompts: Sequence[list[int]], tree: LabelTree) -> ModelError | None:
        n_prompt = max(map(len, prompts))
        n_label = max(map(len, tree.paths()))
        if not self.longest or n_prompt + n_label <= self.longest:
            return None
        longest_text = one_line(max(zip(prompts, texts, strict=True), key=lambda pair: len(pair[0]))[1])
        return ModelError(
            f"a prompt of {n_prompt} tokens and a label of {n_label} exceed the {self.longest} tokens that {self.name} "
            "reads: shorten the longest texts, show fewer examples, or give a model that reads more; the longest "
            f"begins {longest_text[:_SHOWN]!r}"
        )

    def _keys(self, prompt: Prompt, conversations: Sequence[Messages]) -> list[bytes]:
        lead, turn_end = _begun(prompt, conversations)
        # Included only where there is one: so keys match those of caches from before there were leads.
        before = {name: value for name, value in (("lead", lead), ("asked", turn_end)) if value}
        parts = {
            "model": self.name,
            "weights": self._version,
            "precision": self._precision,
            "scoring": _SCORING[self.likelihood],
            "labels": list(_labels_in_answers(prompt)),
            **before,
        }
        return [answer_key(messages=messages, **parts) for messages in conversations]


def _begun(prompt: Prompt, conversations: Sequence[Messages]) -> tuple[str, str]:
    """What comes before the label in an answer, and the end of the last turn that the answer also begins with."""
    if not conversations:
        return "", ""
    lead = _answer_lead(prompt, conversations[0])
    return lead, "" if lead else _asked(prompt, conversations[0])


def _asked(prompt: Prompt, messages: Messages) -> str:
    r"""The few words at the end of the user's turn that an answer would continue, such as ``\nLabel:``.

    In a template they are what comes after its last field or line, if that ends in a colon.
    """
    content = messages[-1]["content"]
    if prompt.template is None:
        return content[content.rindex("\n") :]
    piece = prompt.template.messages[-1].pieces[-1]
    if messages[-1]["role"] == "assistant" or not isinstance(piece, str):
        return ""
    before, _, last_line = piece.rstrip().rpartition("\n")
    words = last_line.split()
    if not words or len(words) > _FEW_WORDS or not words[-1].endswith((":", "：")) or words == content.split():
        return ""
    return piece[len(before.rstrip()) :]


def _answer_lead(prompt: Prompt, messages: Messages) -> str:
    """What comes before the label in an answer, as far as the prompt's format determines it and its end lacks it."""
    lead = _opening(prompt)
    begun = messages[-1]["content"]
    if messages[-1]["role"] == "assistant":  # which may have begun it
        n_shared = next((n for n in range(len(lead), 0, -1) if begun.endswith(lead[:n])), 0)
        return lead[n_shared:]
    if lead.strip() and begun.rstrip().endswith(lead.strip()):
        return ""
    return lead


def _opening(prompt: Prompt) -> str:
    r"""What stands before the label in the answer's format: ``{"team": "`` for ``json:team``; no reason, no list."""
    form, _, place = prompt.answer.partition(":")
    names = place.split(".")
    if form == "json" and not any(map(str.isdigit, names)):
        return "".join(f"{{{json.dumps(name, ensure_ascii=False)}: " for name in names) + '"'
    if form == "xml":
        return f"<{place}>"
    if form == "last-line" and prompt.template:  # what the prompt's examples have there: ``Answer: ``
        return prompt.template.example.output.partition("{label}")[0]
    return ""


def _labels_in_answers(prompt: Prompt) -> Sequence[str]:
    """Return the labels as they are written in answers: JSON escapes quotation marks."""
    if not prompt.answer.startswith("json:"):
        return prompt.labels
    return [json.dumps(label, ensure_ascii=False)[1:-1] for label in prompt.labels]
