"""Where does the answer begin? A chat model's turn that starts with the label, or with ``Label:`` before it.

    python experiments/answer_lead.py smollm2 [gguf/PATH ..] [--sets trec ..]

The original prompt under three wordings by people, on val: F1 (micro), S and C, by how a label is scored (see
`_lm_rules`), with the label prior and without. Three ways: the user's turn ends with ``Label:`` and
the assistant's begins with the label (*label*); the assistant's begins with ``Label:`` (*asked*, psopt's way);
without the chat template, so that the label follows ``Label:`` in one text (*no turns*). Expected: little.

Each cell is saved when it is done and not measured again.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np
from _lm_cells import KeptResults, figures_of, lm_parser
from _lm_rules import ASKED, SCORES, Scored, label_scores, scored_steps
from _lm_rules import answers as labels_of
from _lm_sets import drawn_texts, lm_task, wordings_by_people
from psopt.models import load_model
from psopt.models.scoring import PromptTokenizer
from psopt.search_spaces import render, seed_prompt

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray
    from psopt.search_spaces import Messages
    from psopt.tasks import Task

_N_HELD, _N_PRIOR, _N_WORDINGS = 60, 30, 3
WAYS = ("label", "asked", "no turns")


def main() -> None:
    """Measure the missing cells."""
    words = lm_parser(__doc__).parse_args()
    setting = f"At most {_N_HELD} val samples, {_N_WORDINGS} wordings by people, priors on {_N_PRIOR} train texts."
    kept = KeptResults(words.results, "answer_lead", "cells", setting)
    kept.measure_each(words, "way", WAYS, _measured)


def _measured(name: str, dataset: str, way: str, data: Path) -> dict[str, Any]:
    started = time.monotonic()
    task = lm_task(dataset, data)
    model: Any = load_model(name, task, cache_dir=None)
    held, unlabelled, truth = drawn_texts(task, _N_HELD, _N_PRIOR)
    answers: dict[str, list[NDArray[np.int64]]] = {}
    for wording in wordings_by_people(dataset, data, _N_WORDINGS):
        prompt = seed_prompt(task).described_as(wording)
        conversations = [render(prompt, sample.text) for sample in (*held, *unlabelled)]
        for kind, scores in _scores(model, conversations, task, way).items():
            scored = Scored(scores[: len(held)], scores[len(held) :], scores[:0])
            for prior in ("none", "batch"):
                answers.setdefault(f"{kind}, {prior}", []).append(labels_of(scored, prior, np.zeros(0)))
    figures = {rule: figures_of(np.stack(columns, axis=1), truth, task) for rule, columns in answers.items()}
    return {"n": len(held), **figures, "seconds": round(time.monotonic() - started)}


def _scores(model: Any, conversations: Sequence[Messages], task: Task, way: str) -> dict[str, NDArray[np.float64]]:
    """The labels' scores by each way to score them."""
    tokenizer = model.tokenizer
    if way == "no turns":
        tokenizer = PromptTokenizer(_WithoutTemplate(tokenizer._tokenizer))
    tree, steps = scored_steps(model, tokenizer, conversations, task.labels, ASKED if way == "asked" else "")
    return {kind: label_scores(tree, steps, kind) for kind in SCORES}


class _WithoutTemplate:
    chat_template = None

    def __init__(self, tokenizer: Any) -> None:
        self._tokenizer = tokenizer

    def __call__(self, *arguments: Any, **words: Any) -> Any:
        return self._tokenizer(*arguments, **words)


if __name__ == "__main__":
    main()
