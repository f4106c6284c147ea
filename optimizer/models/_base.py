"""What a task model is: prompts and texts in, class indices out."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray
    from psopt.search_spaces import Prompt

OnProgress = Callable[[int, int], None]
"""Called with (done, total) as a long call goes on."""


class Model(Protocol):
    """A classifier that reads prompts.

    The evaluation is the only caller. A call is a whole grid, so that a model can batch it as it likes; equal prompts
    and texts always get equal answers. A model that can't answer raises ModelError: a failure never becomes a label.

    A model may have `capabilities`, which say what else it can do; see `capabilities_of` for one that has none.
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
