"""From prompts, rephrasings and samples to predictions, once and as a search needs them."""

from __future__ import annotations

from collections import Counter
from dataclasses import KW_ONLY, dataclass, field, replace
from typing import TYPE_CHECKING, Literal

import numpy as np
from psopt.answers import ONE_LABEL
from psopt.errors import InputError
from psopt.evaluation._predictions import Predictions
from psopt.metrics import hard_predictions
from psopt.models import NOT_ASKED, calibrates, can, capabilities_of, n_unkept, predict_cells, predict_proba_cells
from psopt.models.chat import Budget, Need

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray
    from psopt.answers import AnswerType, NoLabel
    from psopt.models import Model, OnProgress
    from psopt.rephrasings import RephrasingSet
    from psopt.search_spaces import Prompt, PromptFormat
    from psopt.settings import Over
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
    """Let a model answer every sample under every rephrasing of a prompt's description (see `evaluate_prompts`).

    `anew` asks each column separately: with its own seed, and its own answers in the cache, even for equal rephrasings.
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
    """Let a model answer every sample under unchanged prompts; InputError if it gives no probabilities as asked."""
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

    @property
    def is_answered(self) -> NDArray[np.bool_]:
        """Which cells are answered: (N, Q)."""
        return np.asarray(self.array != NOT_ASKED)

    @property
    def is_whole(self) -> bool:
        return bool(self.is_answered.all())

    def filled(self, other: PartialAnswers) -> PartialAnswers:
        """Return these answers, filled in with the other's where there are none; ValueError for another shape."""
        if other.array.shape != self.array.shape:
            raise ValueError(f"answers of {other.array.shape} cells are not of a grid of {self.array.shape}")
        is_answered = self.is_answered
        array = np.where(is_answered, self.array, other.array)
        if self.probabilities is None or other.probabilities is None:
            return PartialAnswers(array)
        return PartialAnswers(array, np.where(is_answered[:, :, None], self.probabilities, other.probabilities))


Split = Literal["train", "val", "test"]


@dataclass(eq=False)
class Evaluator:
    """Evaluate all prompts on the same samples and rephrasings (common random numbers), each prompt once.

    Train and val use the search rephrasings, test the held-out ones. `from_probabilities` asks the model for
    probabilities, and scores those. `others` evaluate further models, on the same rephrasings and samples: their
    answers are part of the predictions, and `over` says how the scores of all are combined.
    """

    model: Model
    rephrasings: RephrasingSet
    samples: Mapping[Split, tuple[Sample, ...]]
    _: KW_ONLY
    from_probabilities: bool = False
    budget: Budget = field(default_factory=Budget)
    answer_type: AnswerType = ONE_LABEL
    others: Sequence[Evaluator] = ()
    over: Over = "worst"
    _on_progress: OnProgress | None = field(default=None, init=False)
    _on_ask: Callable[[Prompt, Split], None] | None = field(default=None, init=False)
    _predictions: dict[tuple[str, Split], Predictions] = field(default_factory=dict, init=False)
    _answers: dict[tuple[str, Split], PartialAnswers] = field(default_factory=dict, init=False)
    _n_recalled: Counter[tuple[str, Split]] = field(default_factory=Counter, init=False)

    def on_other(
        self, *, rephrasings: RephrasingSet | None = None, samples: Mapping[Split, tuple[Sample, ...]] | None = None
    ) -> Evaluator:
        """The same evaluator with other rephrasings or samples; it asks the same model and uses the same budget."""
        return replace(
            self,
            rephrasings=rephrasings or self.rephrasings,
            samples=samples or self.samples,
            others=[peer.on_other(rephrasings=rephrasings, samples=samples) for peer in self.others],
        )

    @property
    def each(self) -> tuple[Evaluator, ...]:
        """The evaluator of each model: this one's own first."""
        return (self, *self.others)

    def test_on(self, samples: tuple[Sample, ...]) -> None:
        """Replace the test samples, before anything is asked about them."""
        for evaluator in self.each:
            evaluator.samples = {**evaluator.samples, "test": samples}

    def show_progress(self, on_progress: OnProgress) -> None:
        """Report answers from now on, as they come in."""
        for evaluator in self.each:
            evaluator._on_progress = on_progress  # private, but of the same class

    def announce(self, on_ask: Callable[[Prompt, Split], None] | None) -> None:
        """Announce each evaluation before it is asked, from now on; an error refuses it. None stops announcing."""
        for evaluator in self.each:
            evaluator._on_ask = on_ask  # private, but of the same class

    def knows(self, prompt_id: str, split: Split) -> bool:
        """Whether a prompt's whole grid on a split is available."""
        key = (prompt_id, split)
        return key in self._answers and self._answers[key].is_whole

    def remember(
        self, prompt: Prompt, split: Split, array: NDArray[np.int64], probabilities: NDArray[np.float64] | None = None
    ) -> None:
        """Take over answers of an earlier run or another worker, -1 for none, if answers alone are scored."""
        # scores from a metric or a judge are never among them
        is_all = self.from_probabilities == (probabilities is not None)
        if not is_all or not capabilities_of(self.model).can_race or self.knows(prompt.id, split):
            return
        before = self.partial_answers(prompt, split)
        answers = before.filled(PartialAnswers(array, probabilities))
        self._answers[prompt.id, split] = answers
        self._n_recalled[prompt.id, split] += int((answers.is_answered & ~before.is_answered).sum())

    def partial_answers(self, prompt: Prompt, split: Split) -> PartialAnswers:
        """Return the answers so far in a prompt's grid on a split; nothing is asked."""
        if (prompt.id, split) in self._answers:
            return self._answers[prompt.id, split]
        array = np.full((len(self.samples[split]), len(self.rephrasings.on(split)[0])), NOT_ASKED, dtype=np.int64)
        if not self.from_probabilities:
            return PartialAnswers(array)
        return PartialAnswers(array, np.full((*array.shape, len(prompt.labels) + 1), np.nan))

    def answers(self, prompt: Prompt, split: Split, cells: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Return all answers so far to a prompt, (N, Q), -1 where not asked, after asking these `cells`, (N, Q)."""
        answers = self.partial_answers(prompt, split)
        if cells.shape != answers.array.shape:
            raise ValueError(f"{cells.shape} cells are not of a grid of {answers.array.shape}")
        self.budget.count(cached=self._n_recalled.pop((prompt.id, split), 0))  # answers taken over count once used
        missing = cells & ~answers.is_answered
        if missing.any():
            answers = answers.filled(self._ask(prompt, split, missing))
        self._answers[prompt.id, split] = answers
        return answers.array.copy()

    def predictions(self, prompt: Prompt, split: Split) -> Predictions:
        """Return a prompt's predictions on a split, from all models; only missing cells are asked."""
        key = (prompt.id, split)
        if key not in self._predictions:
            prompts, samples = self.rephrased(prompt, split), self.samples[split]
            self.answers(prompt, split, np.ones((len(samples), len(prompts)), dtype=np.bool_))
            answers = self.partial_answers(prompt, split)
            own = predictions_of(self.model, prompts, samples, answers, self.answer_type)
            others = tuple(replace(peer.predictions(prompt, split), model=peer.model.name) for peer in self.others)
            if others:
                own = replace(own, model=self.model.name, others=others, over=self.over)
            self._predictions[key] = own
        return self._predictions[key]

    def predictions_so_far(self, prompt: Prompt, split: Split) -> Predictions:
        """Return a prompt's predictions for the samples asked so far; nothing new is asked."""
        answers = self.partial_answers(prompt, split)
        if answers.is_whole:
            return self.predictions(prompt, split)
        texts, forms = self.rephrasings.on(split)
        rows = np.flatnonzero(answers.is_answered.any(axis=1))
        samples = tuple(self.samples[split][row] for row in rows)
        return Predictions(
            answers.array[rows],
            samples,
            prompt.labels,
            families=tuple(form.family for form in forms),
            rephrasings=tuple(texts),
            answers=self.answer_type,
            parts_read=parts_read(self.model, samples),
        )

    def _ask(self, prompt: Prompt, split: Split, cells: NDArray[np.bool_]) -> PartialAnswers:
        if self._on_ask is not None:
            self._on_ask(prompt, split)
        # Models that are asked through a client count their own calls: an answer may be cached there, or asked twice.
        counts_calls = capabilities_of(self.model).counts_calls
        n_new = 0
        if not counts_calls:
            n_new = self.n_unkept(prompt, split, cells)
            self.budget.check_room(Need(n_new + self.prior_calls(prompt, split, cells)))
        prompts, samples = self.rephrased(prompt, split), self.samples[split]
        answers = ask_cells(
            self.model, prompts, samples, cells, self._on_progress, from_probabilities=self.from_probabilities
        )
        if not counts_calls:
            self.budget.count(made=n_new, cached=int(cells.sum()) - n_new)
        return answers

    def n_unkept(self, prompt: Prompt, split: Split, cells: NDArray[np.bool_]) -> int:
        """How many of these cells, (N, Q), are not in the cache of a model in this process: all if it has no cache."""
        return n_unkept(self.model, self.rephrased(prompt, split), self.texts(split), cells)

    def prior_calls(self, prompt: Prompt, split: Split, cells: NDArray[np.bool_] | None = None) -> int:
        """How many more answers label priors take under all wordings, or those with any of these cells, (N, Q)."""
        if not calibrates(self.model):
            return 0
        rephrased = self.rephrased(prompt, split)
        if cells is not None:
            rephrased = [rephrased[column] for column in np.flatnonzero(cells.any(axis=0))]
        return self.model.prior_calls(rephrased)

    def rephrased(self, prompt: Prompt, split: Split) -> list[Prompt]:
        return rephrased_prompts(prompt.without_prior(), *self.rephrasings.on(split))

    def texts(self, split: Split) -> list[str]:
        return [sample.text for sample in self.samples[split]]
