"""What a task model is: prompts and texts in, class indices out."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray
    from psopt.answers import NoLabel
    from psopt.search_spaces import Prompt

OnProgress = Callable[[int, int], None]
"""Called with (done, total) as a long call goes on."""


class Model(Protocol):
    """A classifier that reads prompts.

    The evaluation is the only caller. A call is a whole grid, so that a model can batch it as it likes; equal prompts
    and texts always get equal answers. A model that can't answer raises ModelError: a failure never becomes a label.
    """

    @property
    def name(self) -> str:
        """The name under which `load_model` finds this model."""
        ...

    def predict(
        self, prompts: Sequence[Prompt], texts: Sequence[str], on_progress: OnProgress | None = None
    ) -> NDArray[np.int64]:
        """Classify every text under every prompt; the prompts share one label list of C labels.

        Returns
        -------
        predictions : (n_texts, n_prompts) int
            Indices into the label list in [0, C), or C for an answer that names no label (N/A).
        """
        ...


@runtime_checkable
class SoftModel(Protocol):
    """A model that can also say how probable each class is."""

    def predict_proba(
        self, prompts: Sequence[Prompt], texts: Sequence[str], on_progress: OnProgress | None = None
    ) -> NDArray[np.float64]:
        """Return p(y|x, rho): (n_texts, n_prompts, C) float, rows sum to 1, N/A last."""
        ...


@runtime_checkable
class JudgedModel(Protocol):
    """A model whose answers are worth something else than whether they name the right class."""

    def merits(self, prompts: Sequence[Prompt], texts: Sequence[str]) -> NDArray[np.float64] | None:
        """Return what each answer is worth: (n_texts, n_prompts) in [0, 1], or None if the label alone tells."""
        ...


@runtime_checkable
class ExplainingModel(Protocol):
    """A model that can say why its answers name no label."""

    def no_labels(
        self, prompts: Sequence[Prompt], texts: Sequence[str], array: NDArray[np.int64]
    ) -> tuple[NoLabel, ...]:
        """Return those of the (n_texts, n_prompts) predictions that are N/A, with what was answered."""
        ...


def is_quick(model: Model) -> bool:
    """Whether a further evaluation costs next to nothing; it does not where a model says nothing of it."""
    return bool(getattr(model, "is_quick", False))


def reads_order(model: Model) -> bool:
    """Whether the order of few-shot examples can change a model's answers; one that says nothing of it may."""
    return bool(getattr(model, "reads_order", True))
