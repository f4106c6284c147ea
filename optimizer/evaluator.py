"""One model, one set of rephrasings, three sets of samples: what every candidate of a search is put to."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from psopt.evaluation import Predictions, evaluate

if TYPE_CHECKING:
    from psopt.models import Model
    from psopt.models._base import OnProgress
    from psopt.prompts import Prompt
    from psopt.search_spaces import RephrasingSet
    from psopt.tasks import Sample

Split = Literal["train", "val", "test"]


@dataclass
class Calls:
    """How many answers were asked of the model, and how many of them were had already."""

    made: int = 0
    cached: int = 0


@dataclass(eq=False)
class Evaluator:
    """Evaluate prompts on the same samples and rephrasings for all (common random numbers), each prompt once.

    On train and val a prompt meets the search rephrasings, on test the held-out ones.
    """

    model: Model
    rephrasings: RephrasingSet
    samples: dict[Split, tuple[Sample, ...]]
    on_progress: OnProgress | None = None
    calls: Calls = field(default_factory=Calls)
    _known: dict[tuple[str, Split], Predictions] = field(default_factory=dict)

    def predictions(self, prompt: Prompt, split: Split) -> Predictions:
        """Return a prompt's predictions on a split."""
        key = (prompt.id, split)
        rephrasings = self.rephrasings.heldout if split == "test" else self.rephrasings.search
        n_answers = len(self.samples[split]) * len(rephrasings)
        if key in self._known:
            self.calls.cached += n_answers
        else:
            self._known[key] = evaluate(self.model, prompt, rephrasings, self.samples[split], self.on_progress)
            self.calls.made += n_answers
        return self._known[key]
