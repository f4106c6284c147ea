"""One model, one set of rephrasings, three sets of samples: what every candidate of a search is put to."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from psopt.evaluation import Predictions, evaluate
from psopt.models.chat import Budget, ChatModel

if TYPE_CHECKING:
    from psopt.models import Model
    from psopt.models._base import OnProgress
    from psopt.prompts import Prompt
    from psopt.search_spaces import RephrasingSet
    from psopt.tasks import Sample

Split = Literal["train", "val", "test"]


@dataclass(eq=False)
class Evaluator:
    """Evaluate prompts on the same samples and rephrasings for all (common random numbers), each prompt once.

    `soft` asks the model for probabilities; `budget` counts what was asked. On train and val a prompt meets the search
    rephrasings, on test the held-out ones.
    """

    model: Model
    rephrasings: RephrasingSet
    samples: dict[Split, tuple[Sample, ...]]
    on_progress: OnProgress | None = None
    soft: bool = False
    budget: Budget = field(default_factory=Budget)
    _known: dict[tuple[str, Split], Predictions] = field(default_factory=dict)

    def predictions(self, prompt: Prompt, split: Split) -> Predictions:
        """Return a prompt's predictions on a split."""
        key = (prompt.id, split)
        which = "heldout" if split == "test" else "search"
        rephrasings, forms = getattr(self.rephrasings, which), getattr(self.rephrasings, f"{which}_forms")
        n_answers = len(self.samples[split]) * len(rephrasings)
        if key in self._known:
            self.budget.usage.cached += n_answers
        else:
            self._known[key] = evaluate(
                self.model, prompt, rephrasings, self.samples[split], self.on_progress, soft=self.soft, forms=forms
            )
            if not isinstance(self.model, ChatModel) and not getattr(self.model, "counts_calls", False):
                self.budget.usage.made += n_answers
        return self._known[key]
