"""From the log-probabilities of labels' tokens to answers: ways to score a label, and to take out the label prior.

A label's score is the log-probability of all its tokens (*whole*), their mean (*mean*), or what a decoder that may
write nothing but labels would give it (*decoded*): a token that no other label leaves open costs nothing.

The prior is the mean score of each label over unlabelled texts (*batch*, Zhou et al. 2023), or its score behind texts
without content (*content-free*, Zhao et al. 2021); *classes* is batch with the classes' shares among the same texts,
which takes labels. None is as the model has it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from psopt.models import load_model

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray
    from psopt.models.scoring import LabelTree
    from psopt.search_spaces import Messages
    from psopt.tasks import Task

    Floats = NDArray[np.float64]
    LabelScoring = Callable[..., Floats]
    Answering = Callable[[list[Messages]], dict[str, NDArray[np.int64]]]

ASKED = "\nLabel:"  # the end of the user's turn in psopt's own form, with which an answer begins
CONTENT_FREE = ("N/A", "[MASK]", "...")
SCORES = ("mean", "whole", "decoded")
PRIORS = ("none", "batch", "content-free", "classes")


@dataclass(frozen=True)
class Scored:
    """Scores under one wording: of texts to answer, of unlabelled texts, and of texts without content."""

    texts: Floats
    unlabelled: Floats
    content_free: Floats


def label_scores(tree: LabelTree, steps: Floats, kind: str) -> Floats:
    """Labels' scores of one of the `SCORES`: (n_texts, n_steps) to (n_texts, n_labels)."""
    if kind == "decoded":
        steps = _among_labels(tree, steps)
    return tree.log_likelihoods(steps, per_token=kind == "mean")


def answers(scored: Scored, prior: str, class_shares: Floats) -> NDArray[np.int64]:
    """Which label is answered to each text."""
    evidence = _without_prior(scored, prior)
    if prior == "classes":
        evidence += np.log(np.maximum(class_shares, 1e-3))
    return evidence.argmax(axis=1)


def _without_prior(scored: Scored, prior: str) -> Floats:
    """What is left of the texts' log-probabilities among the labels."""
    texts = _normalised(scored.texts)
    if prior == "none":
        return texts
    unlabelled = scored.content_free if prior == "content-free" else scored.unlabelled
    return texts - _normalised(unlabelled).mean(axis=0)


def _normalised(scores: Floats) -> Floats:
    """Log-probabilities among the labels."""
    return scores - np.logaddexp.reduce(scores, axis=1, keepdims=True)


def _among_labels(tree: LabelTree, steps: Floats) -> Floats:
    """Each step's log-probability among the tokens that labels leave open at its node."""
    nodes, targets = np.array(tree.nodes), np.array(tree.targets)
    among = np.zeros_like(steps)
    for node in set(tree.nodes):
        here = np.flatnonzero(nodes == node)
        _, firsts = np.unique(targets[here], return_index=True)
        open_here = steps[:, here[firsts]]
        among[:, here] = steps[:, here] - np.logaddexp.reduce(open_here, axis=1, keepdims=True)
    return among


def scored_steps(
    scorer: Any, tokenizer: Any, conversations: Sequence[Messages], labels: Sequence[str], asked: str
) -> tuple[LabelTree, Floats]:
    """The labels as a tree, and what a model says of its steps behind each conversation, (n_texts, n_steps)."""
    prompts, tree = tokenizer.scored(conversations, labels, asked=asked)
    steps = np.empty((len(prompts), len(tree.nodes)))
    for indices, scores in scorer.steps(prompts, tree):
        steps[indices] = scores
    return tree, steps


def label_scoring(name: str, task: Task) -> LabelScoring:
    """How a local model scores labels, by their tokens' mean log-probability as psopt has it: (n_texts, n_labels).

    `asked` is the end of the user's turn, with which an answer begins.
    """
    model: Any = load_model(name, task, cache_dir=None)

    def scored(conversations: list[Messages], asked: str = ASKED) -> Floats:
        tree, steps = scored_steps(model.scorer, model.scorer.tokenizer, conversations, task.labels, asked)
        return tree.log_likelihoods(steps, per_token=True)

    return scored


def answers_by_prior(likelihoods: Floats, n_held: int) -> dict[str, NDArray[np.int64]]:
    """What is answered with the label prior and without; the prior is that of the texts behind the first `n_held`."""
    scored = _held_and_unlabelled(likelihoods, n_held)
    return {prior: answers(scored, prior, np.zeros(0)) for prior in ("none", "batch")}


def _held_and_unlabelled(likelihoods: Floats, n_held: int) -> Scored:
    return Scored(likelihoods[:n_held], likelihoods[n_held:], likelihoods[:0])


def confidences(likelihoods: Floats, n_held: int, prior: str) -> Floats:
    """The probability of the answer among the labels, with the label prior or without: (n_held,)."""
    evidence = _without_prior(_held_and_unlabelled(likelihoods, n_held), prior)
    return np.exp(_normalised(evidence).max(axis=1))


def scored_answers(name: str, task: Task, n_held: int) -> Answering:
    """How a local model answers, with the label prior and without (`answers_by_prior`)."""
    scored = label_scoring(name, task)
    return lambda conversations: answers_by_prior(scored(conversations), n_held)


def as_letters(column: Sequence[int] | NDArray[np.int64]) -> str:
    """Answers of one wording, a letter each."""
    return "".join(chr(ord("a") + int(answer)) for answer in column)


def from_letters(columns: Sequence[str]) -> NDArray[np.int64]:
    """Answers of all wordings: (n_texts, n_wordings)."""
    return np.array([[ord(letter) - ord("a") for letter in column] for column in columns]).T
