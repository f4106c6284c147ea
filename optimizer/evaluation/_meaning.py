"""What free answers mean: embeddings of the model that comes with psopt, made when the first are asked for."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray
    from psopt.models.minilm import Encoder


@functools.cache
def _encoder() -> Encoder:
    from psopt.models import cache_folder
    from psopt.models.minilm import Encoder

    return Encoder(cache_folder(None))


def embed(texts: Sequence[str]) -> NDArray[np.float32]:
    """Return unit vectors, (n, 384), of all-MiniLM-L6-v2: of a text's first 256 tokens.

    Raises MissingExtraError if the model is not installed.
    """
    return _encoder().encode(texts)
