"""One model, one set of rephrasings, three sets of samples: what every candidate of a search is put to."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from psopt.evaluation._evaluate import evaluate, no_labels, rephrased_prompts
from psopt.evaluation._predictions import Predictions
from psopt.models import capabilities_of
from psopt.models.chat import Budget

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import numpy as np
    from numpy.typing import NDArray
    from psopt.models import Model, OnProgress
    from psopt.rephrasings import RephrasingSet
    from psopt.search_spaces import Prompt
    from psopt.tasks import Sample

Split = Literal["train", "val", "test"]


class Evaluator:
    """Evaluate prompts on the same samples and rephrasings for all (common random numbers), each prompt once.

    On train and val a prompt meets the search rephrasings, on test the held-out ones.

    Parameters
    ----------
    model : Model
    rephrasings : RephrasingSet
    samples : dict of split to samples
    from_probabilities : bool
        Ask the model for probabilities, and score these.
    budget : Budget, optional
        Counts what was asked.
    """

    def __init__(
        self,
        model: Model,
        rephrasings: RephrasingSet,
        samples: Mapping[Split, tuple[Sample, ...]],
        *,
        from_probabilities: bool = False,
        budget: Budget | None = None,
    ) -> None:
        self.model = model
        self.rephrasings = rephrasings
        self.samples = samples
        self.from_probabilities = from_probabilities
        self.budget = budget or Budget()
        self._on_progress: OnProgress | None = None
        self._on_ask: Callable[[Prompt, Split], None] | None = None
        self._predictions: dict[tuple[str, Split], Predictions] = {}
        self._recalled: set[tuple[str, Split]] = set()

    def show_progress(self, on_progress: OnProgress) -> None:
        """Tell of answers from now on, as they come in."""
        self._on_progress = on_progress

    def announce(self, on_ask: Callable[[Prompt, Split], None] | None) -> None:
        """Tell of each evaluation that is about to be asked for, from now on; an error refuses it. None: of no more."""
        self._on_ask = on_ask

    def knows(self, prompt_id: str, split: Split) -> bool:
        """Whether a prompt's predictions on a split are at hand."""
        return (prompt_id, split) in self._predictions

    def remember(
        self,
        prompt: Prompt,
        split: Split,
        array: NDArray[np.int64],
        probabilities: NDArray[np.float64] | None = None,
    ) -> None:
        """Take over answers of an earlier run or another worker, where they are all that is scored."""
        # a metric's scores are never among them
        is_all = self.from_probabilities == (probabilities is not None)
        if not is_all or capabilities_of(self.model).has_metric_scores or self.knows(prompt.id, split):
            return
        forms = self.rephrasings.on(split)[1] or (prompt.form,) * array.shape[1]
        families = tuple(form.family for form in forms)
        predictions = Predictions(array, self.samples[split], prompt.labels, probabilities, families)
        self._predictions[prompt.id, split] = predictions
        self._recalled.add((prompt.id, split))

    def predictions(self, prompt: Prompt, split: Split) -> Predictions:
        """Return a prompt's predictions on a split."""
        key = (prompt.id, split)
        if key not in self._predictions:
            self._predictions[key] = self._ask(prompt, split)
        elif key in self._recalled:
            self._recalled.remove(key)
            self.budget.usage.cached += self._predictions[key].array.size
            self._predictions[key] = self._explained(self._predictions[key], prompt, split)
        return self._predictions[key]

    def _ask(self, prompt: Prompt, split: Split) -> Predictions:
        if self._on_ask is not None:
            self._on_ask(prompt, split)
        texts, forms = self.rephrasings.on(split)
        predictions = evaluate(
            self.model,
            prompt,
            texts,
            self.samples[split],
            self._on_progress,
            from_probabilities=self.from_probabilities,
            forms=forms,
        )
        # Models that are asked over a client count by themselves: there an answer may be cached, or be asked for twice.
        if not capabilities_of(self.model).counts_calls:
            self.budget.usage.made += predictions.array.size
        return predictions

    def _explained(self, predictions: Predictions, prompt: Prompt, split: Split) -> Predictions:
        """Add why answers that were taken over name no label, which was not kept with them."""
        missed = no_labels(self.model, self.rephrased(prompt, split), self.texts(split), predictions.array)
        return replace(predictions, no_labels=missed)

    def rephrased(self, prompt: Prompt, split: Split) -> list[Prompt]:
        """Return a prompt under each rephrasing of a split."""
        return rephrased_prompts(prompt, *self.rephrasings.on(split))

    def texts(self, split: Split) -> list[str]:
        """Return the texts of a split's samples."""
        return [sample.text for sample in self.samples[split]]
