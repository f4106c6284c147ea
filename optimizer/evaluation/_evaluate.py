"""From a prompt, its rephrasings and samples to predictions."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from psopt.answers import ONE_LABEL
from psopt.errors import InputError
from psopt.evaluation._predictions import Predictions
from psopt.metrics import hard_predictions
from psopt.models import NOT_ASKED, can, predict_cells, predict_proba_cells

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray
    from psopt.answers import AnswerType, NoLabel
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
    answer_type: AnswerType = ONE_LABEL,
    anew: bool = False,
) -> Predictions:
    """Let a model answer every sample under every rephrasing of a prompt's description.

    `anew` asks each column separately: with its own seed, and its own answers in the cache, even where rephrasings are
    the same. See also `evaluate_prompts`.
    """
    prompts = rephrased_prompts(prompt, rephrasings, forms)
    if anew:
        prompts = numbered(prompts)
    return evaluate_prompts(
        model, prompts, samples, on_progress, from_probabilities=from_probabilities, answer_type=answer_type
    )


def evaluate_prompts(
    model: Model,
    prompts: Sequence[Prompt],
    samples: Sequence[Sample],
    on_progress: OnProgress | None = None,
    *,
    from_probabilities: bool = False,
    answer_type: AnswerType = ONE_LABEL,
) -> Predictions:
    """Let a model answer every sample under unchanged prompts, with the label priors that they bring.

    Raises InputError if probabilities are asked for, and the model gives none.
    """
    cells = np.ones((len(samples), len(prompts)), dtype=np.bool_)
    answers = ask_cells(model, prompts, samples, cells, on_progress, from_probabilities=from_probabilities)
    return predictions_of(model, prompts, samples, answers, answer_type)


def ask_cells(
    model: Model,
    prompts: Sequence[Prompt],
    samples: Sequence[Sample],
    cells: NDArray[np.bool_],
    on_progress: OnProgress | None = None,
    *,
    from_probabilities: bool = False,
) -> PartialAnswers:
    """Let a model answer the samples and prompts where `cells`, (N, Q), is True; see `evaluate_prompts`."""
    texts = [sample.text for sample in samples]
    if not from_probabilities:
        return PartialAnswers(predict_cells(model, prompts, texts, cells, on_progress))
    if not can(model, "has_probabilities"):
        raise InputError(f"model {model.name} gives no probabilities: leave --logprobs out")
    probabilities = predict_proba_cells(model, prompts, texts, cells, on_progress)
    array = np.full(cells.shape, NOT_ASKED, dtype=np.int64)
    array[cells] = hard_predictions(probabilities[cells][:, None])[:, 0]
    return PartialAnswers(array, probabilities)


def predictions_of(
    model: Model,
    prompts: Sequence[Prompt],
    samples: Sequence[Sample],
    answers: PartialAnswers,
    answer_type: AnswerType = ONE_LABEL,
) -> Predictions:
    """Return a complete grid of answers under Q prompts as predictions, with what else the model reports about them."""
    texts = [sample.text for sample in samples]
    no_labels: tuple[NoLabel, ...] = ()
    if can(model, "has_explanations") and (answers.array == len(prompts[0].labels)).any():
        no_labels = model.no_labels(prompts, texts, answers.array)
    predictions = Predictions(
        answers.array,
        tuple(samples),
        prompts[0].labels,
        answers.probabilities,
        tuple(prompt.form.family for prompt in prompts),
        rephrasings=tuple(prompt.description for prompt in prompts),
        no_labels=no_labels,
        answers=answer_type,
        parts_read=parts_read(model, samples),
    )
    if answers.probabilities is None and can(model, "has_metric_scores"):
        predictions = replace(predictions, metric_scores=model.metric_scores(prompts, texts))
    if can(model, "has_confidences"):
        predictions = replace(predictions, confidence=model.confidences(prompts, texts, answers.array))
    return assessed(predictions, model)


def parts_read(model: Model, samples: Sequence[Sample]) -> tuple[str, ...]:
    """What a model reads of each sample, where it reads only the beginning of long ones; otherwise empty."""
    if not can(model, "reads_in_part"):
        return ()
    return tuple(model.parts_read([sample.text for sample in samples]))


def assessed(predictions: Predictions, model: Model) -> Predictions:
    """Return predictions with the assessment of a judge, where there is one besides the model."""
    if not can(model, "is_assessed"):
        return predictions
    assessment = model.assess(predictions.array, predictions.samples)
    scores = predictions.metric_scores if assessment.worths is None else assessment.worths
    return replace(predictions, same=assessment.same, judge_measures=assessment.measures, metric_scores=scores)


def rephrased_prompts(prompt: Prompt, rephrasings: Sequence[str], forms: Sequence[PromptFormat] = ()) -> list[Prompt]:
    """Return a prompt under each rephrasing, in its own form where rephrasings have none."""
    forms = forms or [prompt.form] * len(rephrasings)
    return [prompt.described_as(text, form) for text, form in zip(rephrasings, forms, strict=True)]


def numbered(prompts: Sequence[Prompt]) -> list[Prompt]:
    """Return prompts numbered so that each is asked separately."""
    return [replace(prompt, asking=number) for number, prompt in enumerate(prompts)]


@dataclass(frozen=True, eq=False)
class PartialAnswers:
    """Answers to N samples under Q rephrasings, as far as there are any; see `Predictions`."""

    array: NDArray[np.int64]  # (N, Q); -1 where nothing is answered
    probabilities: NDArray[np.float64] | None = None  # (N, Q, C); NaN where nothing is answered

    @classmethod
    def empty(cls, n_samples: int, n_rephrasings: int, n_classes: int | None = None) -> PartialAnswers:
        """Return a grid without any answer; with room for probabilities where the number of classes is given."""
        array = np.full((n_samples, n_rephrasings), NOT_ASKED, dtype=np.int64)
        if n_classes is None:
            return cls(array)
        return cls(array, np.full((*array.shape, n_classes), np.nan))

    @property
    def is_answered(self) -> NDArray[np.bool_]:
        """Which cells are answered: (N, Q)."""
        return np.asarray(self.array != NOT_ASKED)

    @property
    def is_whole(self) -> bool:
        """Whether nothing is left to ask."""
        return bool(self.is_answered.all())

    def filled(self, other: PartialAnswers) -> PartialAnswers:
        """Return these answers, filled in with the other's where there are none: an answer never changes.

        Raises ValueError if the other's grid has another shape.
        """
        if other.array.shape != self.array.shape:
            raise ValueError(f"answers of {other.array.shape} cells are not of a grid of {self.array.shape}")
        is_answered = self.is_answered
        array = np.where(is_answered, self.array, other.array)
        if self.probabilities is None or other.probabilities is None:
            return PartialAnswers(array)
        return PartialAnswers(array, np.where(is_answered[:, :, None], self.probabilities, other.probabilities))
