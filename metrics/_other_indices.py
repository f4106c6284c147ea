"""Other measures of sensitivity: how much scores (PSS) or likelihoods (POSIX) differ between prompts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ._inputs import read_log_probabilities, read_scores

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


def sample_prompt_sensi_score(scores: ArrayLike) -> NDArray[np.float64]:
    """PSS of each sample: the mean difference between its scores under two prompts (P24).

        S_i = sum_{j<k} |Y(p_j) - Y(p_k)| / (Q (Q - 1) / 2)

    O(Q log Q) per sample, by sorting; equal to the sum over pairs.

    Parameters
    ----------
    scores : (n_samples, n_rephrasings) float or bool
        A score in [0, 1] of each answer, or whether it is right. At least two rephrasings.

    Returns
    -------
    (n_samples,) float64
        In [0, 1]. For right and wrong the maximum is Q / (2 (Q - 1)), for even Q: half right, half wrong.

    Examples
    --------
    >>> sample_prompt_sensi_score([[1, 1, 0], [0.2, 0.2, 0.2]])
    array([0.66666667, 0.        ])
    """
    ordered = np.sort(read_scores(scores), axis=1)
    n = ordered.shape[1]
    if n < 2:
        raise ValueError("scores has one rephrasing; PSS compares pairs, so give 2 or more")
    # the number of pairs that cross a step between neighbours is the scores below times the scores above
    crossings = np.arange(1.0, n) * np.arange(n - 1.0, 0, -1)
    return np.asarray(np.diff(ordered, axis=1) @ crossings / (n * (n - 1) / 2))


def prompt_sensi_score(scores: ArrayLike) -> float:
    """PromptSensiScore (P24): the mean of `sample_prompt_sensi_score`. Lower is better.

    Parameters
    ----------
    scores : (n_samples, n_rephrasings) float or bool
        As in `sample_prompt_sensi_score`.

    Returns
    -------
    float
        In [0, 1]. Unlike S_tau it is blind to changes between two wrong labels.

    Examples
    --------
    >>> prompt_sensi_score([[True, False], [True, True]])
    0.5
    """
    return float(sample_prompt_sensi_score(scores).mean())


def sample_posix(log_probabilities: ArrayLike, lengths: ArrayLike) -> NDArray[np.float64]:
    """POSIX of each sample (Chatterjee et al., *POSIX: A Prompt Sensitivity Index For Large Language Models*, 2024).

        psi = 1/(Q (Q - 1)) sum_i sum_j |ln P(y_j|x_i) - ln P(y_j|x_j)| / L_{y_j}

    Parameters
    ----------
    log_probabilities : (n_samples, n_rephrasings, n_rephrasings) float
        At [s, i, j]: ln P(y_j|x_i), the log-probability under rephrasing i of the answer given under j.
    lengths : (n_samples, n_rephrasings) int
        At [s, j]: the number of tokens of that answer, 1 or more.

    Returns
    -------
    (n_samples,) float64
        0 or more, in nats per token.

    Examples
    --------
    One sample, two rephrasings. Answer 0 has -1 under its own prompt and -3 under the other: 2 over two tokens; answer
    1 has -2 and -5: 3 over one token. The sum is 1 + 3, divided by two ordered pairs:

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
    log_probabilities, lengths
        As in `sample_posix`.

    Returns
    -------
    float
        0 or more, in nats per token.

    Examples
    --------
    >>> posix([[[-1, -5], [-3, -2]], [[-1, -1], [-1, -1]]], [[2, 1], [1, 1]])
    1.0
    """
    return float(sample_posix(log_probabilities, lengths).mean())
