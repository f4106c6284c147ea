"""How often each replicate draws each sample and each rephrasing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

RESAMPLED = ("both", "samples", "rephrasings")


def bootstrap_weights(
    n_samples: int, n_rephrasings: int, resample: str, n_replicates: int, seed: int, chunk: int
) -> Iterator[tuple[NDArray[np.float64], NDArray[np.float64]]]:
    """Weights of samples (b, N) and of rephrasings (b, Q), chunk replicates at a time.

    A row sums to N, or to Q; a side that is not resampled has weight one everywhere. Samples and rephrasings
    have a random stream each, so that a seed gives the same replicates however they are cut into chunks.
    """
    sample_stream, rephrasing_stream = np.random.default_rng(seed).spawn(2)
    for start in range(0, n_replicates, chunk):
        size = min(chunk, n_replicates - start)
        samples, rephrasings = np.ones((size, n_samples)), np.ones((size, n_rephrasings))
        if resample != "rephrasings":
            samples = _draw(sample_stream, n_samples, size)
        if resample != "samples":
            rephrasings = _draw(rephrasing_stream, n_rephrasings, size)
        yield samples, rephrasings


def subset_weights(
    n_rephrasings: int, size: int, n_replicates: int, stream: np.random.Generator
) -> NDArray[np.float64]:
    """Weights (b, Q) of random subsets: size ones in every row, drawn without replacement."""
    ranks = stream.random((n_replicates, n_rephrasings)).argsort(axis=1).argsort(axis=1)
    return (ranks < size).astype(np.float64)


def _draw(stream: np.random.Generator, n: int, size: int) -> NDArray[np.float64]:
    drawn = stream.integers(n, size=(size, n)) + np.arange(size)[:, None] * n
    return np.bincount(drawn.ravel(), minlength=size * n).reshape(size, n).astype(np.float64)
