"""The diagnoses of a search on train: whole where answers cost nothing, else growing, each beginning with the last."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from psopt.diagnosis import NameableGroups
from psopt.models import NOT_ASKED
from psopt.search.growing._growing_grid import EarlierFailures, GrowingGrid

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from psopt.evaluation import Evaluator, Predictions
    from psopt.search.growing._growing_grid import Ask
    from psopt.search_spaces import Prompt
    from psopt.tasks import Task

    Flags = NDArray[np.bool_]


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
    evaluator : Evaluator
    task : Task
        All of its train samples tell how surely a phrase means a class.
    seed : int
    grows : bool
        Whether only a part is asked about.
    most : int, optional
        How many answers a diagnosis that grows may take, but for two samples of each class under two wordings.
    """

    def __init__(self, evaluator: Evaluator, task: Task, seed: int, *, grows: bool, most: int | None = None) -> None:
        self.grows = grows
        self._evaluator = evaluator
        self._seed = seed
        self._labels = task.labels
        self._labelled = task.train
        self._most = most
        self._cells: dict[str, Flags] = {}
        self._earlier = EarlierFailures.none(len(evaluator.samples["train"]))

    def predictions(self, prompt: Prompt) -> Predictions:
        """Return what a prompt's diagnosis is made from; one that was diagnosed already is asked nothing."""
        if not self.grows:
            return self._evaluator.predictions(prompt, "train")
        if prompt.id not in self._cells:
            cells = self._grid.grow(self._ask_about(prompt), self._earlier, self._most)
            self._take_in(prompt, cells)
        return self._evaluator.predictions_so_far(prompt, "train")

    def alike(self, prompt: Prompt) -> Predictions:
        """Return how a prompt fares on what the last diagnosis asked about: enough to say what has become of that."""
        if not self.grows or not self._cells or prompt.id in self._cells:
            return self.predictions(prompt)
        *_, last = self._cells.values()
        self._evaluator.answers(prompt, "train", last)
        return self._evaluator.predictions_so_far(prompt, "train")

    @property
    def last_cells(self) -> Flags | None:
        """What the last diagnosis asked about, (N, Q); None before the first, and where all is asked."""
        return list(self._cells.values())[-1] if self._cells else None

    @property
    def sizes(self) -> tuple[DiagnosisSize, ...]:
        """How much each prompt was diagnosed on, in their order; nothing where all is asked."""
        return tuple(self._size(prompt_id, cells) for prompt_id, cells in self._cells.items())

    def size_of(self, prompt_id: str) -> DiagnosisSize:
        """Return how much a prompt was diagnosed on, whose diagnosis has grown."""
        return self._size(prompt_id, self._cells[prompt_id])

    @staticmethod
    def _size(prompt_id: str, cells: Flags) -> DiagnosisSize:
        return DiagnosisSize(prompt_id, int(cells.any(axis=1).sum()), len(cells), int(cells.sum()))

    def restore(self, prompt: Prompt, array: NDArray[np.int64]) -> None:
        """Take over a diagnosis of an earlier part of the run or of another worker: (N, Q), -1 where nobody asked."""
        if self.grows and prompt.id not in self._cells and array.shape == self._shape:
            self._evaluator.remember(prompt, "train", array)
            self._take_in(prompt, array != NOT_ASKED)

    def _take_in(self, prompt: Prompt, cells: Flags) -> None:
        answers: NDArray[np.int64] = np.where(cells, self._evaluator.answers(prompt, "train", cells), NOT_ASKED)
        self._cells[prompt.id] = cells
        self._earlier = self._earlier.after(self._grid.failed(answers), np.asarray(cells.any(axis=1)))

    def _ask_about(self, prompt: Prompt) -> Ask:
        return lambda cells: self._evaluator.answers(prompt, "train", cells)

    @property
    def _shape(self) -> tuple[int, int]:
        return len(self._evaluator.samples["train"]), len(self._evaluator.rephrasings.on("train")[0])

    @cached_property
    def _grid(self) -> GrowingGrid:
        samples = self._evaluator.samples["train"]
        truth = np.array([self._labels.index(str(sample.label)) for sample in samples])
        groups = NameableGroups.of(samples, self._labels, self._labelled)
        return GrowingGrid(groups, truth, self._shape[1], self._seed)


# Answers for each sample of train in the first diagnosis and in each further one, which begins where the first has
# found something: the highest of minilm and two simulated models on 500 questions of TREC, ten wordings (rounded up).
_FIRST = 2.5
_FURTHER = 2.1


def expected_diagnosis_calls(n_train: int, n_wordings: int, n_labels: int, rounds: int) -> tuple[int, ...]:
    """Return how many calls each round's diagnosis takes where diagnoses grow, if every round has another best prompt.

    The chosen prompt on train, for the report, takes as many as the last one.

    Parameters
    ----------
    n_train : int
        Samples of train.
    n_wordings : int
        Q.
    n_labels : int
        Every class has at least two samples in each of them.
    rounds : int

    Examples
    --------
    >>> expected_diagnosis_calls(500, 10, 6, 3)
    (1250, 1050, 1050)
    >>> expected_diagnosis_calls(10, 2, 2, 2)
    (20, 20)
    """
    most = n_train * n_wordings
    least = min(most, 2 * n_labels * min(2, n_wordings))
    shares = [_FIRST, *[_FURTHER] * (rounds - 1)][:rounds]
    return tuple(max(least, min(most, math.ceil(round(share * n_train, 6)))) for share in shares)
