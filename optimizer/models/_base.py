"""What a task model is, what it can do besides answering, and how it is asked for parts of a grid."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray
    from psopt.answers import NoLabel
    from psopt.models._assessment import Assessment
    from psopt.search_spaces import Prompt
    from psopt.tasks import Sample
    from typing_extensions import TypeIs

    # Shorter names for the arguments and results of models' methods
    Prompts = Sequence[Prompt]
    Texts = Sequence[str]
    Cells = NDArray[np.bool_]
    Ints = NDArray[np.int64]
    Floats = NDArray[np.float64]
    Progress = Callable[[int, int], None] | None
    T = TypeVar("T")

OnProgress = Callable[[int, int], None]
"""Called with (done, total) during a long call."""


class Model(Protocol):
    """A classifier that reads prompts.

    A call is for a whole grid, so that a model can batch it as it likes; equal prompts and texts always get equal
    answers. A model that can't answer raises ModelError: a failure never becomes a label. See also `capabilities_of`.
    """

    @property
    def name(self) -> str:
        """The name under which `load_model` finds this model."""

    def predict(
        self, prompts: Sequence[Prompt], texts: Sequence[str], on_progress: OnProgress | None = None
    ) -> NDArray[np.int64]:
        """Classify every text under every prompt; the prompts share one label list of C labels.

        Returns (n_texts, n_prompts) indices into that list, or C for an answer that names no label (N/A).
        """


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What a model can do, and what its answers cost and depend on; the defaults are safe where it states nothing."""

    is_free: bool = False  # whether a further evaluation costs next to nothing
    reads_order: bool = True  # whether the order of few-shot examples can change its answers
    counts_calls: bool = False  # whether it counts its calls in the run's budget itself
    # Which of the methods of `AbleModel` it has: `predict_proba`, `metric_scores`, `no_labels`
    has_probabilities: bool = False
    has_metric_scores: bool = False
    has_explanations: bool = False
    # Whether it is a `ChatModel`: its requests can be counted and priced before they are sent
    asks_in_chat: bool = False
    has_cells: bool = False  # `predict_cells`, and where it has probabilities `predict_proba_cells`
    # Whether it can answer with anything but one of the prompt's labels: several labels, numbers, texts
    writes: bool = False
    is_assessed: bool = False  # `assess`
    has_confidences: bool = False  # `confidences`
    # Whether its probabilities come from a language model, which prefers some labels whatever the text
    has_label_prior: bool = False
    # Whether it is a `CalibratedModel`, which takes out the label prior under prompts that ask for it
    calibrates: bool = False
    has_longest: bool = False  # `can_read`: it has a maximum number of tokens, and longer input is an error
    reads_in_part: bool = False  # `parts_read`: it reads only the beginning of long texts
    # The text in every call besides the prompt and the sample: what DSPy's adapters add, for instance
    frame: str = ""

    @property
    def can_race(self) -> bool:
        """Whether parts of a grid predict the whole: not where a metric or an assessor has the last word on answers."""
        return not self.has_metric_scores and not self.is_assessed

    @property
    def costs_time(self) -> bool:
        """Whether answers are computed here, one after the other: neither almost free, nor by a paid service."""
        return not self.is_free and not self.counts_calls


def capabilities_of(model: Model) -> Capabilities:
    """Return what a model says it can do; for a user's own model that says nothing, judge by its attributes."""
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
        has_longest=hasattr(model, "can_read"),
        reads_in_part=hasattr(model, "parts_read"),
    )


class AbleModel(Model, Protocol):
    """A model with every method that a model may have besides `predict`; `can` says which ones it has."""

    def predict_cells(self, prompts: Prompts, texts: Texts, cells: Cells, on_progress: Progress = None) -> Ints:
        """Return (n_texts, n_prompts) predictions, each as in the whole grid; `NOT_ASKED` where `cells` is False."""

    def predict_proba_cells(self, prompts: Prompts, texts: Texts, cells: Cells, on_progress: Progress = None) -> Floats:
        """Return (n_texts, n_prompts, C) probabilities, NaN where `cells` is False."""

    def predict_proba(self, prompts: Prompts, texts: Texts, on_progress: Progress = None) -> Floats:
        """Return p(y|x, rho): (n_texts, n_prompts, C) float, rows sum to 1, N/A last."""

    def parts_read(self, texts: Texts) -> list[str]:
        """Return the part of each text that it reads."""

    def can_read(self, prompt: Prompt, texts: Texts) -> bool:
        """Whether it reads a prompt with each of these texts to the end."""

    def metric_scores(self, prompts: Prompts, texts: Texts) -> Floats | None:
        """Return what each answer is worth by a metric: (n_texts, n_prompts) in [0, 1], None if only labels count."""

    def assess(self, array: Ints, samples: Sequence[Sample]) -> Assessment:
        """Return an assessor's verdicts on the (n_texts, n_prompts) open answers to these samples."""

    def confidences(self, prompts: Prompts, texts: Texts, array: Ints) -> Floats | None:
        """Return the mean probability of each answer's tokens, NaN where unknown; None where nobody asked for it."""

    def no_labels(self, prompts: Prompts, texts: Texts, array: Ints) -> tuple[NoLabel, ...]:
        """Return which of the (n_texts, n_prompts) predictions are N/A, with the model's answers."""


class WholeGrids:
    """Whole grids from a model that answers cells: it is asked for all of them."""

    def predict(self: Any, prompts: Prompts, texts: Texts, on_progress: Progress = None) -> Ints:
        return np.asarray(self.predict_cells(prompts, texts, all_cells(prompts, texts), on_progress))

    def predict_proba(self: Any, prompts: Prompts, texts: Texts, on_progress: Progress = None) -> Floats:
        return np.asarray(self.predict_proba_cells(prompts, texts, all_cells(prompts, texts), on_progress))


class WrappedModel(WholeGrids):
    """A wrapper around a model, with everything that the model has."""

    def __init__(self, model: Any) -> None:
        self._model = model

    def __getattr__(self, name: str) -> Any:
        """Everything else that the model has: an engine, explanations, an assessor."""
        return getattr(self._model, name)

    @property
    def name(self) -> str:
        return str(self._model.name)

    @property
    def capabilities(self) -> Capabilities:
        """The model's own, plus `has_cells`."""
        return replace(capabilities_of(self._model), has_cells=True)


def all_cells(prompts: Prompts, texts: Texts) -> Cells:
    return np.ones((len(texts), len(prompts)), dtype=np.bool_)


def can(model: Model, ability: str) -> TypeIs[AbleModel]:
    """Whether a model has the methods of an ability, which is a field of `Capabilities`."""
    return bool(getattr(capabilities_of(model), ability))


def keeps_answers(model: Model) -> bool:
    """Whether a local model knows its earlier answers (see `ScoringModel.n_kept`); of a chat model, its engine does."""
    return hasattr(model, "n_kept")


def n_computed(model: Model) -> int | None:
    """How many answers a model with a cache has computed so far; None without an attribute `computed`."""
    return getattr(model, "computed", None)


def n_unkept(model: Model, prompts: Prompts, texts: Texts, cells: Cells) -> int:
    """How many of the wanted answers, (n_texts, n_prompts), a model still has to compute; all if it keeps none."""
    n_kept = model.n_kept(prompts, texts, cells) if keeps_answers(model) else 0  # type: ignore[attr-defined]
    return int(cells.sum() - n_kept)


def evenly_spread(items: Sequence[T], most: int) -> Sequence[T]:
    """Return at most `most` of the items, spread evenly over all of them: data are often sorted by class.

    >>> evenly_spread("aaabbbccc", 6)
    ['a', 'a', 'b', 'b', 'c', 'c']
    """
    n = min(most, len(items))
    return [items[place * len(items) // n] for place in range(n)]


NOT_ASKED = -1
"""Stands in place of an answer that nobody asked for."""


def predict_cells(model: Model, prompts: Prompts, texts: Texts, cells: Cells, on_progress: Progress = None) -> Ints:
    """Return (n_texts, n_prompts) predictions where `cells` is True, `NOT_ASKED` elsewhere.

    A model without `predict_cells` is asked for whole grids: one for all prompts with the same wanted texts.
    """
    if can(model, "has_cells"):
        return model.predict_cells(prompts, texts, cells, on_progress)
    predictions = np.full(cells.shape, NOT_ASKED, dtype=np.int64)
    _fill(predictions, model.predict, prompts, texts, cells, on_progress)
    return predictions


def predict_proba_cells(
    model: AbleModel, prompts: Prompts, texts: Texts, cells: Cells, on_progress: Progress = None
) -> Floats:
    """Return (n_texts, n_prompts, C) probabilities as `predict_cells` does; NaN where `cells` is False."""
    if can(model, "has_cells"):
        return model.predict_proba_cells(prompts, texts, cells, on_progress)
    probabilities = np.full((*cells.shape, len(prompts[0].labels) + 1), np.nan)
    _fill(probabilities, model.predict_proba, prompts, texts, cells, on_progress)
    return probabilities


def _fill(answers: Any, ask: Any, prompts: Prompts, texts: Texts, cells: Cells, on_progress: Progress) -> None:
    """Ask for grids: all columns that want exactly the same rows."""
    columns_of: dict[bytes, list[int]] = {}
    for column, wanted in enumerate(cells.T):
        if wanted.any():
            columns_of.setdefault(wanted.tobytes(), []).append(column)
    n_done = 0
    for columns in columns_of.values():
        rows = np.flatnonzero(cells[:, columns[0]]).tolist()
        progress = on_progress and _shifted(on_progress, n_done, len(rows) * len(columns), int(cells.sum()))
        answers[np.ix_(rows, columns)] = ask([prompts[i] for i in columns], [texts[i] for i in rows], progress)
        n_done += len(rows) * len(columns)


def _shifted(on_progress: OnProgress, n_done: int, n_cells: int, n_total: int) -> OnProgress:
    """Report one grid's progress as that of all cells; models count in their own units."""
    return lambda done, total: on_progress(n_done + n_cells * done // max(1, total), n_total)
