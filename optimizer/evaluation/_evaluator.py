"""A model or several, a set of rephrasings, three sets of samples: what every candidate of a search is put to."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

import numpy as np
from psopt.answers import ONE_LABEL
from psopt.evaluation._evaluate import PartialAnswers, ask_cells, parts_read, predictions_of, rephrased_prompts
from psopt.evaluation._predictions import Predictions
from psopt.models import calibrates, capabilities_of, n_unkept
from psopt.models.chat import Budget, Need

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import NDArray
    from psopt.answers import AnswerType
    from psopt.models import Model, OnProgress
    from psopt.rephrasings import RephrasingSet
    from psopt.search_spaces import Prompt
    from psopt.settings import Over
    from psopt.tasks import Sample

Split = Literal["train", "val", "test"]


class Evaluator:
    """Evaluate prompts on the same samples and rephrasings for all (common random numbers), each prompt once.

    On train and val a prompt meets the search rephrasings, on test the held-out ones.

    Parameters
    ----------
    from_probabilities : bool
        Ask the model for probabilities, and score these.
    budget : Budget, optional
        Counts what was asked.
    answer_type : AnswerType
        The task's: how answers are compared.
    others : sequence of Evaluator
        Of further models, on the same rephrasings and samples: what they answer is part of the predictions.
    over : "worst" or "mean"
        How the scores of several models are made one.
    """

    def __init__(
        self,
        model: Model,
        rephrasings: RephrasingSet,
        samples: Mapping[Split, tuple[Sample, ...]],
        *,
        from_probabilities: bool = False,
        budget: Budget | None = None,
        answer_type: AnswerType = ONE_LABEL,
        others: Sequence[Evaluator] = (),
        over: Over = "worst",
    ) -> None:
        self.model = model
        self.rephrasings = rephrasings
        self.samples = samples
        self.from_probabilities = from_probabilities
        self.budget = budget or Budget()
        self.answer_type = answer_type
        self.others = tuple(others)
        self.over = over
        self._on_progress: OnProgress | None = None
        self._on_ask: Callable[[Prompt, Split], None] | None = None
        self._predictions: dict[tuple[str, Split], Predictions] = {}
        self._answers: dict[tuple[str, Split], PartialAnswers] = {}
        self._n_recalled: Counter[tuple[str, Split]] = Counter()

    def on_other(
        self, *, rephrasings: RephrasingSet | None = None, samples: Mapping[Split, tuple[Sample, ...]] | None = None
    ) -> Evaluator:
        """The same with other rephrasings or samples, which asks the same model and pays from the same budget."""
        return Evaluator(
            self.model,
            self.rephrasings if rephrasings is None else rephrasings,
            self.samples if samples is None else samples,
            from_probabilities=self.from_probabilities,
            budget=self.budget,
            answer_type=self.answer_type,
            others=[peer.on_other(rephrasings=rephrasings, samples=samples) for peer in self.others],
            over=self.over,
        )

    @property
    def each(self) -> tuple[Evaluator, ...]:
        """The evaluator of each model: this one's own first."""
        return (self, *self.others)

    def show_progress(self, on_progress: OnProgress) -> None:
        """Tell of answers from now on, as they come in."""
        for evaluator in self.each:
            evaluator._on_progress = on_progress  # of its own kind

    def announce(self, on_ask: Callable[[Prompt, Split], None] | None) -> None:
        """Tell of each evaluation that is about to be asked for, from now on; an error refuses it. None: of no more."""
        for evaluator in self.each:
            evaluator._on_ask = on_ask  # of its own kind

    def knows(self, prompt_id: str, split: Split) -> bool:
        """Whether a prompt's whole grid on a split is at hand."""
        key = (prompt_id, split)
        return key in self._predictions or (key in self._answers and self._answers[key].is_whole)

    def remember(
        self,
        prompt: Prompt,
        split: Split,
        array: NDArray[np.int64],
        probabilities: NDArray[np.float64] | None = None,
    ) -> None:
        """Take over answers of an earlier run or another worker, where they are all that is scored.

        They may be of a part of the grid: -1 is no answer.
        """
        # what else is said of answers, by a metric or a judge, is never among them
        is_all = self.from_probabilities == (probabilities is not None)
        if not is_all or not capabilities_of(self.model).can_race or self.knows(prompt.id, split):
            return
        before = self.partial_answers(prompt, split)
        answers = before.filled(PartialAnswers(array, probabilities))
        key = (prompt.id, split)
        self._answers[key] = answers
        self._n_recalled[key] += int((answers.is_answered & ~before.is_answered).sum())

    def partial_answers(self, prompt: Prompt, split: Split) -> PartialAnswers:
        """Return what is answered so far of a prompt's grid on a split; nothing is asked."""
        key = (prompt.id, split)
        if key in self._predictions:
            return PartialAnswers(self._predictions[key].array, self._predictions[key].probabilities)
        if key not in self._answers:
            n_classes = len(prompt.labels) + 1 if self.from_probabilities else None
            n_rephrasings = len(self.rephrasings.on(split)[0])
            return PartialAnswers.empty(len(self.samples[split]), n_rephrasings, n_classes)
        return self._answers[key]

    def answers(self, prompt: Prompt, split: Split, cells: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Return a prompt's answers on a split, (N, Q), once these cells are among them; what is missing is asked for.

        They are all that there are so far, -1 in cells that nobody has asked for.

        Raises ValueError if the cells, (N, Q), are of another grid.
        """
        answers = self.partial_answers(prompt, split)
        if cells.shape != answers.array.shape:
            raise ValueError(f"{cells.shape} cells are not of a grid of {answers.array.shape}")
        self.budget.count(cached=self._n_recalled.pop((prompt.id, split), 0))  # what was taken over, once it is used
        missing = cells & ~answers.is_answered
        if missing.any():
            answers = answers.filled(self._ask(prompt, split, missing))
            self._answers[prompt.id, split] = answers
        return answers.array.copy()

    def predictions(self, prompt: Prompt, split: Split) -> Predictions:
        """Return a prompt's predictions on a split, of all models; of grids only what is missing is asked for."""
        key = (prompt.id, split)
        if key not in self._predictions:
            prompts, samples = self.rephrased(prompt, split), self.samples[split]
            self.answers(prompt, split, np.ones((len(samples), len(prompts)), dtype=np.bool_))
            answers = self.partial_answers(prompt, split)
            own = predictions_of(self.model, prompts, samples, answers, self.answer_type)
            others = tuple(replace(peer.predictions(prompt, split), model=peer.model.name) for peer in self.others)
            name = self.model.name if others else ""
            self._predictions[key] = replace(own, model=name, others=others, over=self.over)
            self._answers.pop(key, None)
        return self._predictions[key]

    def predictions_so_far(self, prompt: Prompt, split: Split) -> Predictions:
        """Return a prompt's predictions for the samples that it was asked about so far; nothing is asked."""
        answers = self.partial_answers(prompt, split)
        if answers.is_whole:
            return self.predictions(prompt, split)
        texts, forms = self.rephrasings.on(split)
        rows = np.flatnonzero(answers.is_answered.any(axis=1))
        return Predictions(
            answers.array[rows],
            tuple(self.samples[split][row] for row in rows),
            prompt.labels,
            families=tuple(form.family for form in forms),
            rephrasings=tuple(texts),
            answers=self.answer_type,
            parts_read=parts_read(self.model, [self.samples[split][row] for row in rows]),
        )

    def _ask(self, prompt: Prompt, split: Split, cells: NDArray[np.bool_]) -> PartialAnswers:
        if self._on_ask is not None:
            self._on_ask(prompt, split)
        counts_calls = capabilities_of(self.model).counts_calls
        n_new = 0 if counts_calls else self.n_unkept(prompt, split, cells)
        if not counts_calls:
            self.budget.check_room(Need(n_new + self.prior_calls(prompt, split, cells)))
        answers = ask_cells(
            self.model,
            self.rephrased(prompt, split),
            self.samples[split],
            cells,
            self._on_progress,
            from_probabilities=self.from_probabilities,
        )
        # Models that are asked over a client count by themselves: there an answer may be cached, or be asked for twice.
        if not counts_calls:
            self.budget.count(made=n_new, cached=int(cells.sum()) - n_new)
        return answers

    def n_unkept(self, prompt: Prompt, split: Split, cells: NDArray[np.bool_]) -> int:
        """How many of these cells, (N, Q), a model that answers here has not in its cache: all, where it has none."""
        return n_unkept(self.model, self.rephrased(prompt, split), self.texts(split), cells)

    def prior_calls(self, prompt: Prompt, split: Split, cells: NDArray[np.bool_] | None = None) -> int:
        """How many answers it still takes to measure a prompt's label priors, where it is calibrated.

        Under all wordings of a split, or those with any of these cells, (N, Q).
        """
        if not calibrates(self.model):
            return 0
        rephrased = self.rephrased(prompt, split)
        if cells is not None:
            rephrased = [rephrased[column] for column in np.flatnonzero(cells.any(axis=0))]
        return self.model.prior_calls(rephrased)

    def rephrased(self, prompt: Prompt, split: Split) -> list[Prompt]:
        """Return a prompt under each rephrasing of a split."""
        return rephrased_prompts(prompt, *self.rephrasings.on(split))

    def texts(self, split: Split) -> list[str]:
        """Return the texts of a split's samples."""
        return [sample.text for sample in self.samples[split]]
