"""Using a prompt: texts in, labels out, on request by a vote of its rephrasings."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from psopt.errors import InputError
from psopt.evaluation import no_labels
from psopt.metrics import hard_predictions, prediction_counts
from psopt.models import ModelProvider, asks_in_chat, has_probabilities
from psopt.rephrasings import RephrasingOptions, freeze_rephrasings, read_file
from psopt.runs import REPHRASINGS, task_of
from psopt.tasks import DatasetInfo, Sample, Task

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray
    from psopt.answers import NoLabel
    from psopt.models import Model, OnProgress
    from psopt.models.chat import LMConfig
    from psopt.rephrasings import RephrasingSet
    from psopt.runs import PromptSource
    from psopt.search_spaces import Prompt


@dataclass(frozen=True, slots=True)
class Classified:
    """A text's label, None if the answers name none, and the share of rephrasings that gave it, in (0, 1].

    Where there is no label, `na_kind` says of which kind the answers are (see `NoLabel`), and `said` is one of them.
    """

    text: str
    label: str | None
    agreement: float
    na_kind: str | None = None
    said: str | None = None


@dataclass(frozen=True, slots=True)
class Home:
    """A prompt, and what the run that it comes from lends it: its task and its rephrasings."""

    prompt: Prompt
    task: Task | None = None
    rephrasings: RephrasingSet | None = None
    lacking: str | None = None
    """Why the run's task can't be had, where it can't."""


def home_of(source: PromptSource) -> Home:
    """Look up what the run of a prompt lends it, if it lies in a run directory.

    Raises
    ------
    InputError
        If it is a plain text, which knows no labels.
    """
    if source.prompt is None:
        raise InputError(
            f"prompt {source.path} is no JSON: to classify, the labels must be known; give a prompt's JSON"
        )
    if source.run is None or source.settings is None:
        return Home(source.prompt)
    kept = source.run / REPHRASINGS
    rephrasings = read_file(kept) if kept.exists() else None
    try:
        return Home(source.prompt, task_of(source.settings), rephrasings)
    except InputError as error:
        return Home(source.prompt, None, rephrasings, str(error))


def classify_texts(
    home: Home,
    texts: Sequence[str],
    model: Any,
    *,
    vote: bool = False,
    rephrasings: int = 10,
    seed: int = 42,
    lm: LMConfig | None = None,
    cache_dir: str | Path | None = None,
    on_progress: OnProgress | None = None,
) -> list[Classified]:
    """Classify texts with a prompt, under its own description alone or by a vote of its rephrasings.

    The vote asks `rephrasings` times as much; of equally many votes the first label in the prompt's order wins.
    """
    task = home.task or _bare_task(home.prompt, texts)
    answering = ModelProvider(cache_dir, lm).answering(model, task)
    prompts = [home.prompt]
    if vote:
        prompts = _worded(home, task, rephrasings, seed)
    if asks_in_chat(answering):
        answering.few_may_fail = True
    array = _answers(answering, prompts, texts, on_progress, soft=lm is not None and lm.logprobs)
    counts = prediction_counts(array, len(home.prompt.labels) + 1)
    names: list[str | None] = [*home.prompt.labels, None]
    best = np.argmax(counts, axis=1)
    shares = counts.max(axis=1) / counts.sum(axis=1)
    found = [
        Classified(text, names[index], float(share)) for text, index, share in zip(texts, best, shares, strict=True)
    ]
    return _explained(found, no_labels(answering, prompts, texts, array))


def _explained(found: list[Classified], missed: Sequence[NoLabel]) -> list[Classified]:
    """Add to texts without a label the kind of most of their answers, and one of them."""
    kinds: dict[int, list[NoLabel]] = {}
    for answer in missed:
        kinds.setdefault(answer.sample, []).append(answer)
    for place, answers in kinds.items():
        if found[place].label is None:
            kind = Counter(answer.kind for answer in answers).most_common(1)[0][0]
            said = next(answer.said for answer in answers if answer.kind == kind)
            found[place] = replace(found[place], na_kind=kind, said=said)
    return found


def _answers(
    model: Model, prompts: Sequence[Prompt], texts: Sequence[str], on_progress: OnProgress | None, *, soft: bool
) -> NDArray[np.int64]:
    """What a model answers, (n_texts, n_prompts); the most probable class where probabilities are measured with."""
    if not soft:
        return model.predict(prompts, texts, on_progress)
    if not has_probabilities(model):
        raise InputError(f"model {model.name} gives no probabilities: leave --logprobs out")
    return hard_predictions(model.predict_proba(prompts, texts, on_progress))


def _worded(home: Home, task: Task, n: int, seed: int) -> list[Prompt]:
    found, own = home.rephrasings, home.prompt.description
    if found is None or found.original.split() != own.split() or len(found.search) < n:
        found = freeze_rephrasings(task, home.prompt.description, n, 1, seed, RephrasingOptions())
    return [home.prompt.described_as(text, form) for text, form in found.variants("search")[:n]]


def _bare_task(prompt: Prompt, texts: Sequence[str]) -> Task:
    """A task that holds nothing but the texts to classify, unlabelled."""
    samples = tuple(Sample(str(index), text, None) for index, text in enumerate(texts))
    info = DatasetInfo("texts", "memory", "")
    return Task("texts", prompt.description, prompt.labels, samples, (), (), info, noun=prompt.noun)
