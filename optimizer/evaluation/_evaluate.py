"""From a prompt, its rephrasings and samples to predictions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from psopt.errors import InputError
from psopt.evaluation._predictions import Predictions
from psopt.metrics import hard_predictions
from psopt.models import has_explanations, has_metric_scores, has_probabilities

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray
    from psopt.answers import NoLabel
    from psopt.models import Model, OnProgress
    from psopt.search_spaces import Prompt, PromptFormat
    from psopt.tasks import Sample


def evaluate(
    model: Model,
    prompt: Prompt,
    rephrasings: Sequence[str],
    samples: Sequence[Sample],
    on_progress: OnProgress | None = None,
    *,
    from_probabilities: bool = False,
    forms: Sequence[PromptFormat] = (),
) -> Predictions:
    """Let a model answer every sample under every rephrasing of a prompt's description.

    Raises
    ------
    InputError
        If probabilities are asked for, and the model gives none.
    """
    forms = forms or [prompt.form] * len(rephrasings)
    prompts = rephrased_prompts(prompt, rephrasings, forms)
    texts = [sample.text for sample in samples]
    probabilities: NDArray[np.float64] | None = None
    metric_scores: NDArray[np.float64] | None = None
    if from_probabilities:
        if not has_probabilities(model):
            raise InputError(f"model {model.name} gives no probabilities: leave --logprobs out")
        probabilities = model.predict_proba(prompts, texts, on_progress)
        array = hard_predictions(probabilities)
    else:
        array = model.predict(prompts, texts, on_progress)
        metric_scores = model.metric_scores(prompts, texts) if has_metric_scores(model) else None
    return Predictions(
        array,
        tuple(samples),
        prompt.labels,
        probabilities,
        tuple(form.family for form in forms),
        metric_scores,
        tuple(rephrasings),
        no_labels(model, prompts, texts, array),
    )


def rephrased_prompts(prompt: Prompt, rephrasings: Sequence[str], forms: Sequence[PromptFormat] = ()) -> list[Prompt]:
    """Return a prompt under each rephrasing: in its own form, where rephrasings have none."""
    forms = forms or [prompt.form] * len(rephrasings)
    return [prompt.described_as(text, form) for text, form in zip(rephrasings, forms, strict=True)]


def no_labels(
    model: Model, prompts: Sequence[Prompt], texts: Sequence[str], array: NDArray[np.int64]
) -> tuple[NoLabel, ...]:
    """Return the predictions that are N/A, with what was answered; none where the model can't tell."""
    if not has_explanations(model) or not (array == len(prompts[0].labels)).any():
        return ()
    return model.no_labels(prompts, texts, array)
