"""The diagnoses of a search on train: under all wordings where answers cost nothing, else under two of them.

Measured on 500 questions of TREC's train under ten wordings, with minilm and a simulated model: of the notes that a
whole diagnosis leads to, weighted by their gain, all samples under two wordings find .86 to .94 for a fifth of its
calls, 167 samples under all wordings .14 to .77 for a third. A slice has two to five members among 500 samples.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from psopt.search.racing import Rung, Schedule

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from psopt.evaluation import Evaluator, Predictions
    from psopt.search_spaces import Prompt

DIAGNOSED_WORDINGS = 2  # whether a sample is unstable needs two


@dataclass(frozen=True, slots=True)
class DiagnosisSize:
    """How much of train a prompt was diagnosed on."""

    id: str  # the prompt's
    # How many of how many samples it was asked about
    samples: int
    of: int
    answers: int  # how many answers that took, of all samples under all wordings

    def __str__(self) -> str:
        return f"diagnosed on {self.samples} of {self.of} train samples, {self.answers:,} answers"

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain JSON data."""
        return asdict(self)


class TrainDiagnoses:
    """Asks prompts about train, as much as a diagnosis needs.

    Parameters
    ----------
    is_partial : bool
        Whether each sample is asked about under two wordings only.
    """

    def __init__(self, evaluator: Evaluator, seed: int, *, is_partial: bool) -> None:
        self.is_partial = is_partial
        self._evaluator = evaluator
        self._seed = seed
        self._diagnosed: list[str] = []

    def predictions(self, prompt: Prompt) -> Predictions:
        """Return what a prompt's diagnosis is made from; what was asked before is not asked again."""
        if not self.is_partial:
            return self._evaluator.predictions(prompt, "train")
        self._evaluator.answers(prompt, "train", self.cells)
        return self._evaluator.predictions_so_far(prompt, "train")

    @cached_property
    def cells(self) -> NDArray[np.bool_]:
        """What prompts are asked about, (N, Q): every wording equally often, in each class too."""
        samples = self._evaluator.samples["train"]
        n_wordings = len(self._evaluator.rephrasings.on("train")[0])
        if not self.is_partial:
            return np.ones((len(samples), n_wordings), dtype=np.bool_)
        _, classes = np.unique([str(sample.label) for sample in samples], return_inverse=True)
        return Schedule(classes, n_wordings, self._seed).cells(Rung(len(samples), DIAGNOSED_WORDINGS))

    @property
    def sizes(self) -> tuple[DiagnosisSize, ...]:
        """How much each prompt of a round was diagnosed on, in their order; nothing where all is asked."""
        n_samples = len(self.cells)
        return tuple(DiagnosisSize(one, n_samples, n_samples, int(self.cells.sum())) for one in self._diagnosed)

    def add(self, prompt_id: str) -> None:
        """Note that a round has diagnosed a prompt."""
        if self.is_partial and prompt_id not in self._diagnosed:
            self._diagnosed.append(prompt_id)

    def restore(self, prompt: Prompt, array: NDArray[np.int64]) -> None:
        """Take over a diagnosis of an earlier part of the run or of another worker: (N, Q), -1 where nobody asked."""
        if prompt.id not in self._diagnosed and array.shape == self.cells.shape:
            self._evaluator.remember(prompt, "train", array)
            self.add(prompt.id)
