"""Sensitivity: how much an answer changes when the task is rephrased. It needs no labels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ._inputs import read_choice, read_counts
from ._numerics import entropy, jackknifed_entropy, miller_madow

if TYPE_CHECKING:
    from typing import Literal

    from numpy.typing import ArrayLike, NDArray


def sample_sensitivity(
    counts: ArrayLike, *, normalize: bool = True, correction: Literal["miller-madow", "jackknife"] | None = None
) -> NDArray[np.float64]:
    """Sensitivity of each sample: the entropy of its answers over the rephrasings.

        S_tau(x) = -sum_y p_tau(y|x) ln p_tau(y|x) / ln C

    Parameters
    ----------
    counts : (n_samples, n_classes) int or float
        Integers: counts, from `prediction_counts`. Floats: p_tau, from `prediction_distribution`.
    normalize : bool
        Divide by ln C, N/A counted as a class, so that S lies in [0, 1]. False: nats.
    correction : "miller-madow", "jackknife" or None
        The entropy of Q answers is biased low: estimate it at infinitely many wordings. Miller and Madow add
        (m - 1) / (2 Q), with m the classes seen; the jackknife, from 2 answers on, makes good more of what is missing:
        of S at infinitely many wordings the plain value reaches 70 to 77 % at Q = 10, Miller and Madow's 79 to 85 %,
        the jackknife's 86 to 91 % (Q = 5: 57 to 64, 68 to 76, 77 to 86 %), measured in benchmarks/coverage.md.
        Needs counts. A corrected, normalised value may pass 1; it is not cut, which would bring a bias back.

    Returns
    -------
    (n_samples,) float64
        0: always the same answer. 1: all classes equally often.

    References
    ----------
    E25, eq. (3). Miller (1955) and Zahl (1977) for the corrections.

    Examples
    --------
    >>> sample_sensitivity([[4, 0], [2, 2]])
    array([0., 1.])
    """
    read_choice(correction, "correction", (None, "miller-madow", "jackknife"))
    table, n_rephrasings = read_counts(counts)
    nats = entropy(table, n_rephrasings) if correction is None else _corrected(table, n_rephrasings, correction)
    if not normalize:
        return nats
    nats /= np.log(table.shape[1])
    return nats if correction else np.minimum(nats, 1.0)  # uniform rows pass 1 by rounding


def _corrected(table: NDArray[Any], n_rephrasings: int | None, correction: str) -> NDArray[np.float64]:
    if n_rephrasings is None:
        raise ValueError("correction needs counts (integers): probabilities don't tell how many answers")
    if correction == "miller-madow":
        return entropy(table, n_rephrasings) + miller_madow(table, n_rephrasings)
    if n_rephrasings < 2:
        raise ValueError("correction is 'jackknife', and counts holds one answer a sample; it needs 2 or more")
    return jackknifed_entropy(table, n_rephrasings)


def sensitivity(
    counts: ArrayLike, *, normalize: bool = True, correction: Literal["miller-madow", "jackknife"] | None = None
) -> float:
    """Sensitivity of a prompt: the mean of `sample_sensitivity`. Lower is better.

        S_tau = 1/N sum_i S_tau(x_i)

    Parameters
    ----------
    counts : (n_samples, n_classes) int or float
        Integers: counts, from `prediction_counts`. Floats: p_tau, from `prediction_distribution`.
    normalize, correction
        As in `sample_sensitivity`.

    Returns
    -------
    float
        In [0, 1] by default. It grows with Q: compare only values of the same Q. A constant answer has 0, so
        read it together with F1.

    References
    ----------
    E25, eq. (4).

    Examples
    --------
    >>> sensitivity([[4, 0], [2, 2]])
    0.5
    """
    return float(sample_sensitivity(counts, normalize=normalize, correction=correction).mean())


def sensitive_samples(counts: ArrayLike, *, above: float = 0.0) -> NDArray[np.bool_]:
    """Mark the samples whose sensitivity lies above a threshold: by default all that ever change.

    At S = 0 consistency only counts mismatches between members of a class, so E25 leaves those samples out
    where it looks for weak spots.

    Parameters
    ----------
    counts : (n_samples, n_classes) int or float
        Integers: counts. Floats: p_tau.
    above : float
        The normalised sensitivity to pass, itself excluded.

    Returns
    -------
    (n_samples,) bool

    References
    ----------
    E25, appendix C ("keep S > 0").

    Examples
    --------
    >>> sensitive_samples([[4, 0], [2, 2], [3, 1]])
    array([False,  True,  True])
    >>> sensitive_samples([[4, 0], [2, 2], [3, 1]], above=0.9)
    array([False,  True, False])
    """
    if not np.isfinite(above):
        raise ValueError(f"above is {above!r}; it must be a number")
    return np.asarray(sample_sensitivity(counts) > above)
