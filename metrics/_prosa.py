"""PromptSensiScore (PSS): how far a sample's scores lie apart between prompts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ._inputs import read_scores

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


def sample_prompt_sensi_score(scores: ArrayLike) -> NDArray[np.float64]:
    """PSS of each sample: the mean difference between its scores under two prompts.

        S_i = sum_{j<k} |Y(p_j) - Y(p_k)| / (Q (Q - 1) / 2)

    O(Q log Q) a sample, by sorting; equal to the sum over pairs.

    Parameters
    ----------
    scores : (n_samples, n_rephrasings) float or bool
        A score in [0, 1] of each answer, or whether it is right. Two rephrasings or more.

    Returns
    -------
    (n_samples,) float64
        In [0, 1]. Of right and wrong the most is Q / (2 (Q - 1)), for even Q: half right, half wrong.

    References
    ----------
    P24.

    Examples
    --------
    >>> sample_prompt_sensi_score([[1, 1, 0], [0.2, 0.2, 0.2]])
    array([0.66666667, 0.        ])
    """
    ordered = np.sort(read_scores(scores), axis=1)
    n = ordered.shape[1]
    if n < 2:
        raise ValueError("scores has one rephrasing; PSS compares pairs, so give 2 or more")
    # a step between neighbours is crossed by as many pairs as there are scores below times scores above
    crossings = np.arange(1.0, n) * np.arange(n - 1.0, 0, -1)
    return np.asarray(np.diff(ordered, axis=1) @ crossings / (n * (n - 1) / 2))


def prompt_sensi_score(scores: ArrayLike) -> float:
    """PromptSensiScore: the mean of `sample_prompt_sensi_score`. Lower is better.

        PSS = 1/N sum_i S_i

    Parameters
    ----------
    scores : (n_samples, n_rephrasings) float or bool
        A score in [0, 1] of each answer, or whether it is right. Two rephrasings or more.

    Returns
    -------
    float
        In [0, 1]. Unlike S_tau it is blind to changes between two wrong labels.

    References
    ----------
    P24.

    Examples
    --------
    >>> prompt_sensi_score([[True, False], [True, True]])
    0.5
    """
    return float(sample_prompt_sensi_score(scores).mean())
