"""How often a replicate draws each sample and each rephrasing.

Two streams, one for samples and one for rephrasings, are read in order, so that a seed gives the same replicates
however they are cut into chunks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

RESAMPLED = ("samples", "rephrasings", "both")


def bootstrap_weights(
    n_samples: int, n_rephrasings: int, over: str, n_resamples: int, seed: int, chunk: int
) -> Iterator[tuple[NDArray[np.float64], NDArray[np.float64]]]:
    """Weights of samples (b, N) and of rephrasings (b, Q), chunk replicates at a time.

    A side that is not resampled has weight one everywhere; every row sums to N, or to Q.
    """
    sample_stream, rephrasing_stream = np.random.default_rng(seed).spawn(2)
    for start in range(0, n_resamples, chunk):
        size = min(chunk, n_resamples - start)
        samples, rephrasings = np.ones((size, n_samples)), np.ones((size, n_rephrasings))
        if over != "rephrasings":
            samples = _draw(sample_stream, n_samples, size)
        if over != "samples":
            rephrasings = _draw(rephrasing_stream, n_rephrasings, size)
        yield samples, rephrasings


def _draw(stream: np.random.Generator, n: int, size: int) -> NDArray[np.float64]:
    drawn = stream.integers(n, size=(size, n)) + np.arange(size)[:, None] * n
    return np.bincount(drawn.ravel(), minlength=size * n).reshape(size, n).astype(np.float64)
