"""A chat model whose free answers something else compares or rates."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from psopt.models.chat._model import ChatModel

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray
    from psopt.models._assessor import Assessment, Assessor
    from psopt.models.chat._engine import Engine
    from psopt.tasks import Sample


class AssessedChatModel(ChatModel):
    """Answers as a `ChatModel`; an assessor says which answers are the same, or what they are worth.

    Parameters
    ----------
    engine : Engine
    assessor : Assessor
    """

    capabilities = replace(ChatModel.capabilities, is_assessed=True)

    def __init__(self, engine: Engine, assessor: Assessor) -> None:
        super().__init__(engine)
        self._assessor = assessor

    def assess(self, array: NDArray[np.int64], samples: Sequence[Sample]) -> Assessment:
        """Return what is said of answers (see `AssessedModel.assess`)."""
        return self._assessor.assess(array, samples)
