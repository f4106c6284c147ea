"""One model, one set of rephrasings, three sets of samples: what every candidate of a search is put to."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

from psopt.evaluation._predictions import Predictions, evaluate, no_labels
from psopt.models import capabilities_of
from psopt.models.chat import Budget

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy as np
    from numpy.typing import NDArray
    from psopt.models import Model, OnProgress
    from psopt.rephrasings import RephrasingSet
    from psopt.search_spaces import Prompt, PromptFormat
    from psopt.tasks import Sample

Split = Literal["train", "val", "test"]


@dataclass(eq=False)
class Evaluator:
    """Evaluate prompts on the same samples and rephrasings for all (common random numbers), each prompt once.

    `soft` asks the model for probabilities; `budget` counts what was asked; `before` is told of each evaluation that is
    about to be asked for, and may refuse it. On train and val a prompt meets the search
    rephrasings, on test the held-out ones.
    """

    model: Model
    rephrasings: RephrasingSet
    samples: dict[Split, tuple[Sample, ...]]
    on_progress: OnProgress | None = None
    soft: bool = False
    budget: Budget = field(default_factory=Budget)
    before: Callable[[Prompt, Split], None] | None = None
    _known: dict[tuple[str, Split], Predictions] = field(default_factory=dict)
    _remembered: set[tuple[str, Split]] = field(default_factory=set)

    def remember(
        self,
        prompt: Prompt,
        split: Split,
        array: NDArray[np.int64],
        probabilities: NDArray[np.float64] | None = None,
    ) -> None:
        """Take note of answers that are known from elsewhere; of no use where more counts than is known."""
        if self.soft == (probabilities is not None) and not capabilities_of(self.model).has_metric_scores:
            forms = self._forms(split) or (prompt.form,) * array.shape[1]
            families = tuple(form.family for form in forms)
            known = Predictions(array, self.samples[split], prompt.labels, probabilities, families)
            if (prompt.id, split) not in self._known:
                self._known[prompt.id, split] = known
                self._remembered.add((prompt.id, split))

    def predictions(self, prompt: Prompt, split: Split) -> Predictions:
        """Return a prompt's predictions on a split."""
        key = (prompt.id, split)
        which = "heldout" if split == "test" else "search"
        rephrasings, forms = getattr(self.rephrasings, which), getattr(self.rephrasings, f"{which}_forms")
        n_answers = len(self.samples[split]) * len(rephrasings)
        if key not in self._known:
            if self.before is not None:
                self.before(prompt, split)
            self._known[key] = evaluate(
                self.model, prompt, rephrasings, self.samples[split], self.on_progress, soft=self.soft, forms=forms
            )
            if not capabilities_of(self.model).counts_calls:
                self.budget.usage.made += n_answers
        elif key in self._remembered:
            self._remembered.remove(key)
            self.budget.usage.cached += n_answers
            self._known[key] = self._explained(self._known[key], prompt, rephrasings, forms)
        return self._known[key]

    def _explained(
        self, known: Predictions, prompt: Prompt, rephrasings: Sequence[str], forms: Sequence[PromptFormat]
    ) -> Predictions:
        """Add to answers that are known from elsewhere why those that are N/A name no label."""
        forms = forms or [prompt.form] * len(rephrasings)
        prompts = [prompt.described_as(text, form) for text, form in zip(rephrasings, forms, strict=True)]
        texts = [sample.text for sample in known.samples]
        return replace(known, no_labels=no_labels(self.model, prompts, texts, known.array))

    def rephrased(self, prompt: Prompt, split: Split) -> list[Prompt]:
        """Return a prompt under each rephrasing of a split."""
        rephrased = self.rephrasings.worded("heldout" if split == "test" else "search")
        return [prompt.described_as(text, form) for text, form in rephrased]

    def texts(self, split: Split) -> list[str]:
        """Return the texts of a split's samples."""
        return [sample.text for sample in self.samples[split]]

    def _forms(self, split: Split) -> tuple[PromptFormat, ...]:
        return self.rephrasings.heldout_forms if split == "test" else self.rephrasings.search_forms
