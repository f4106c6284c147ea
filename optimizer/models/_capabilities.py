"""What a model can do beside answering, said in one place: nobody else asks a model what it is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from psopt.models._base import Model

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray
    from psopt.answers import NoLabel
    from psopt.models._assessor import Assessment
    from psopt.models._base import OnProgress
    from psopt.search_spaces import Prompt
    from psopt.tasks import Sample
    from typing_extensions import TypeIs


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What a model can do, and what its answers cost and depend on.

    A model says it by an attribute of this type, `capabilities`. The defaults are what is safe to presume of a model
    that says nothing.
    """

    is_free: bool = False  # whether a further evaluation costs next to nothing
    reads_order: bool = True  # whether the order of few-shot examples can change its answers
    counts_calls: bool = False  # whether it counts what it is asked in the run's budget by itself
    has_probabilities: bool = False  # whether it is a `ProbabilisticModel`
    has_metric_scores: bool = False  # whether it is a `MetricScoredModel`
    has_explanations: bool = False  # whether it is an `ExplainingModel`
    # Whether it is a `ChatModel`: its requests can be counted and priced before they are sent
    asks_in_chat: bool = False
    has_cells: bool = False  # whether it is a `CellModel`, and where it has probabilities a `ProbabilisticCellModel`
    # Whether it can answer anything else than one of the prompt's labels: with several, with numbers, with texts
    writes: bool = False
    is_assessed: bool = False  # whether it is an `AssessedModel`
    has_confidences: bool = False  # whether it is a `ConfidentModel`
    # Whether its probabilities are a language model's: they hold a preference for some labels, whatever the text
    has_label_prior: bool = False
    # Whether it is a `CalibratedModel`: under prompts that say so the label prior is taken out
    calibrates: bool = False
    reads_in_part: bool = False  # whether it is a `PartlyReadingModel`
    # What every call holds beside the prompt and the sample: the words of DSPy's adapters, for instance
    frame: str = ""

    @property
    def can_race(self) -> bool:
        """Whether parts of a grid tell what the whole will: not where something else has the last word on answers."""
        return not self.has_metric_scores and not self.is_assessed

    @property
    def costs_time(self) -> bool:
        """Whether answers are computed here, one after the other: neither at once, nor by somebody who is paid."""
        return not self.is_free and not self.counts_calls


def capabilities_of(model: Model) -> Capabilities:
    """Return what a model says that it can do; of a model of the user's own that says nothing, what it shows."""
    stated = getattr(model, "capabilities", None)
    if isinstance(stated, Capabilities):
        return stated
    return Capabilities(
        is_free=bool(getattr(model, "is_free", False)),
        reads_order=bool(getattr(model, "reads_order", True)),
        counts_calls=bool(getattr(model, "counts_calls", False)),
        has_probabilities=hasattr(model, "predict_proba"),
        has_metric_scores=hasattr(model, "metric_scores"),
        has_explanations=hasattr(model, "no_labels"),
        has_cells=hasattr(model, "predict_cells")
        and hasattr(model, "predict_proba") == hasattr(model, "predict_proba_cells"),
        reads_in_part=hasattr(model, "parts_read"),
    )


def n_computed(model: Model) -> int | None:
    """How many answers a model with a cache has computed so far; None where it does not say by `computed`."""
    return getattr(model, "computed", None)


class ProbabilisticModel(Model, Protocol):
    """A model that can also say how probable each class is."""

    def predict_proba(
        self, prompts: Sequence[Prompt], texts: Sequence[str], on_progress: OnProgress | None = None
    ) -> NDArray[np.float64]:
        """Return p(y|x, rho): (n_texts, n_prompts, C) float, rows sum to 1, N/A last."""
        ...


class PartlyReadingModel(Model, Protocol):
    """A model that reads no more than the beginning of long texts."""

    def parts_read(self, texts: Sequence[str]) -> list[str]:
        """Return what is read of each text."""
        ...


class MetricScoredModel(Model, Protocol):
    """A model whose answers a metric judges, and not only whether they name the right class."""

    def metric_scores(self, prompts: Sequence[Prompt], texts: Sequence[str]) -> NDArray[np.float64] | None:
        """Return what each answer is worth: (n_texts, n_prompts) in [0, 1], or None if the label alone tells."""
        ...


class AssessedModel(Model, Protocol):
    """A model whose open answers something else compares or rates."""

    def assess(self, array: NDArray[np.int64], samples: Sequence[Sample]) -> Assessment:
        """Return what is said of the (n_texts, n_prompts) answers to these samples."""
        ...


class ConfidentModel(Model, Protocol):
    """A model that can say how probable the tokens of its open answers were to it."""

    def confidences(
        self, prompts: Sequence[Prompt], texts: Sequence[str], array: NDArray[np.int64]
    ) -> NDArray[np.float64] | None:
        """Return the mean probability of each answer's tokens, in [0, 1].

        (n_texts, n_prompts), NaN where it is not known; None where nobody has asked for it. Nothing is asked.
        """
        ...


class ExplainingModel(Model, Protocol):
    """A model that can say why its answers name no label."""

    def no_labels(
        self, prompts: Sequence[Prompt], texts: Sequence[str], array: NDArray[np.int64]
    ) -> tuple[NoLabel, ...]:
        """Return those of the (n_texts, n_prompts) predictions that are N/A, with what was answered."""
        ...


class CellModel(Model, Protocol):
    """A model that is asked for scattered parts of a grid in one call; `predict_cells` asks others grid by grid.

    Each answer is the one that `predict` gives in the whole grid.
    """

    def predict_cells(
        self,
        prompts: Sequence[Prompt],
        texts: Sequence[str],
        cells: NDArray[np.bool_],
        on_progress: OnProgress | None = None,
    ) -> NDArray[np.int64]:
        """Return (n_texts, n_prompts) predictions, `NOT_ASKED` where `cells` is False."""
        ...


class ProbabilisticCellModel(CellModel, ProbabilisticModel, Protocol):
    """A `CellModel` with probabilities."""

    def predict_proba_cells(
        self,
        prompts: Sequence[Prompt],
        texts: Sequence[str],
        cells: NDArray[np.bool_],
        on_progress: OnProgress | None = None,
    ) -> NDArray[np.float64]:
        """Return (n_texts, n_prompts, C) probabilities, NaN where `cells` is False."""
        ...


def has_probabilities(model: Model) -> TypeIs[ProbabilisticModel]:
    """Whether `predict_proba` may be called."""
    return capabilities_of(model).has_probabilities


def has_metric_scores(model: Model) -> TypeIs[MetricScoredModel]:
    """Whether `metric_scores` may be called."""
    return capabilities_of(model).has_metric_scores


def is_assessed(model: Model) -> TypeIs[AssessedModel]:
    """Whether `assess` may be called."""
    return capabilities_of(model).is_assessed


def has_confidences(model: Model) -> TypeIs[ConfidentModel]:
    """Whether `confidences` may be called."""
    return capabilities_of(model).has_confidences


def reads_in_part(model: Model) -> TypeIs[PartlyReadingModel]:
    """Whether the model reads only the beginning of long texts, and can say which."""
    return capabilities_of(model).reads_in_part


def has_explanations(model: Model) -> TypeIs[ExplainingModel]:
    """Whether `no_labels` may be called."""
    return capabilities_of(model).has_explanations


def has_cells(model: Model) -> TypeIs[CellModel]:
    """Whether `predict_cells` may be called."""
    return capabilities_of(model).has_cells


def has_probability_cells(model: Model) -> TypeIs[ProbabilisticCellModel]:
    """Whether `predict_proba_cells` may be called."""
    can = capabilities_of(model)
    return can.has_cells and can.has_probabilities
