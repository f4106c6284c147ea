"""From the log-probabilities of labels' tokens to answers: ways to score a label, and to remove the label prior.

A label's score is the log-probability of all its tokens (*whole*), their mean (*mean*), or what a decoder that may
write nothing but labels would give it (*decoded*): a token that no other label leaves open costs nothing.

The prior is the mean score of each label over unlabelled texts (*batch*, Zhou et al. 2023), or its score after texts
without content (*content-free*, Zhao et al. 2021); *classes* is batch with the classes' shares among the same texts,
which needs labels. *None* leaves the scores as they are.
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

ASKED = "\nLabel:"  # the end of the user's turn in psopt's own form, after which the answer begins
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
    """Labels' scores by one of the `SCORES`: (n_texts, n_steps) to (n_texts, n_labels)."""
    if kind == "decoded":
        steps = _among_labels(tree, steps)
    return tree.log_likelihoods(steps, per_token=kind == "mean")


def answers(scored: Scored, prior: str, class_shares: Floats) -> NDArray[np.int64]:
    """The label that is answered for each text."""
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
    """Each step's log-probability among the tokens that labels allow at its node."""
    nodes, targets = np.array(tree.nodes), np.array(tree.targets)
    among = np.zeros_like(steps)
    for node in set(tree.nodes):
        here = np.flatnonzero(nodes == node)
        _, firsts = np.unique(targets[here], return_index=True)
        open_here = steps[:, here[firsts]]
        among[:, here] = steps[:, here] - np.logaddexp.reduce(open_here, axis=1, keepdims=True)
    return among


def scored_steps(
    model: Any, tokenizer: Any, conversations: Sequence[Messages], labels: Sequence[str], asked: str
) -> tuple[LabelTree, Floats]:
    """The labels as a tree, and the log-probabilities of its steps after each conversation, (n_texts, n_steps)."""
    prompts, tree = tokenizer.scored(conversations, labels, asked=asked)
    steps = np.empty((len(prompts), len(tree.nodes)))
    for indices, scores in model.steps(prompts, tree):
        steps[indices] = scores
    return tree, steps


def label_scoring(name: str, task: Task) -> LabelScoring:
    """How a local model scores labels, by their tokens' mean log-probability, as in psopt: (n_texts, n_labels).

    `asked` is the end of the user's turn, after which an answer begins.
    """
    model: Any = load_model(name, task, cache_dir=None)

    def scored(conversations: list[Messages], asked: str = ASKED) -> Floats:
        tree, steps = scored_steps(model, model.tokenizer, conversations, task.labels, asked)
        return tree.log_likelihoods(steps, per_token=True)

    return scored


def answers_by_prior(likelihoods: Floats, n_held: int) -> dict[str, NDArray[np.int64]]:
    """The answers with and without the label prior; the prior comes from the texts after the first `n_held`."""
    scored = _held_and_unlabelled(likelihoods, n_held)
    return {prior: answers(scored, prior, np.zeros(0)) for prior in ("none", "batch")}


def _held_and_unlabelled(likelihoods: Floats, n_held: int) -> Scored:
    return Scored(likelihoods[:n_held], likelihoods[n_held:], likelihoods[:0])


def confidences(likelihoods: Floats, n_held: int, prior: str) -> Floats:
    """The probability of the answer among the labels, with or without the label prior: (n_held,)."""
    evidence = _without_prior(_held_and_unlabelled(likelihoods, n_held), prior)
    return np.exp(_normalised(evidence).max(axis=1))


def scored_answers(name: str, task: Task, n_held: int) -> Answering:
    """How a local model answers, with and without the label prior (`answers_by_prior`)."""
    scored = label_scoring(name, task)
    return lambda conversations: answers_by_prior(scored(conversations), n_held)


def as_letters(column: Sequence[int] | NDArray[np.int64]) -> str:
    """Answers under one wording, one letter each."""
    return "".join(chr(ord("a") + int(answer)) for answer in column)


def from_letters(columns: Sequence[str]) -> NDArray[np.int64]:
    """Answers under all wordings: (n_texts, n_wordings)."""
    return np.array([[ord(letter) - ord("a") for letter in column] for column in columns]).T
