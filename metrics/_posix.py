"""POSIX: how much the log-likelihood of an answer changes when the prompt is swapped."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ._inputs import read_log_probabilities

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


def sample_posix(log_probabilities: ArrayLike, lengths: ArrayLike) -> NDArray[np.float64]:
    """POSIX of each sample.

        psi = 1/(Q (Q - 1)) sum_i sum_j |ln P(y_j|x_i) - ln P(y_j|x_j)| / L_{y_j}

    Parameters
    ----------
    log_probabilities : (n_samples, n_rephrasings, n_rephrasings) float
        At [s, i, j]: ln P(y_j|x_i), the log-probability under rephrasing i of the answer that j got.
    lengths : (n_samples, n_rephrasings) int
        At [s, j]: the number of tokens of that answer, 1 or more.

    Returns
    -------
    (n_samples,) float64
        0 or more, in nats a token.

    References
    ----------
    Chatterjee et al., *POSIX: A Prompt Sensitivity Index For Large Language Models*, 2024.

    Examples
    --------
    One sample, two rephrasings. Answer 0 has -1 under its own prompt and -3 under the other: 2 over two
    tokens; answer 1 has -2 and -5: 3 over one token. Their sum, 1 + 3, over two ordered pairs:

    >>> sample_posix([[[-1, -5], [-3, -2]]], [[2, 1]])
    array([2.])
    """
    array, tokens = read_log_probabilities(log_probabilities, lengths)
    n = array.shape[1]
    own: NDArray[Any] = np.diagonal(array, axis1=1, axis2=2)
    changes = np.abs(array - own[:, None, :]) / tokens[:, None, :]
    return np.asarray(changes.sum(axis=(1, 2)) / (n * (n - 1)))


def posix(log_probabilities: ArrayLike, lengths: ArrayLike) -> float:
    """POSIX of a prompt: the mean of `sample_posix`. Lower is better.

    Parameters
    ----------
    log_probabilities : (n_samples, n_rephrasings, n_rephrasings) float
        At [s, i, j]: ln P(y_j|x_i), the log-probability under rephrasing i of the answer that j got.
    lengths : (n_samples, n_rephrasings) int
        At [s, j]: the number of tokens of that answer, 1 or more.

    Returns
    -------
    float
        0 or more, in nats a token.

    Examples
    --------
    >>> posix([[[-1, -5], [-3, -2]], [[-1, -1], [-1, -1]]], [[2, 1], [1, 1]])
    1.0
    """
    return float(sample_posix(log_probabilities, lengths).mean())
