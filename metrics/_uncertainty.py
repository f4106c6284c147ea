"""Output uncertainty: how undecided the model is under one fixed wording, told apart from sensitivity."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ._inputs import read_probabilities
from ._numerics import entropy

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


def uncertainty(probabilities: ArrayLike, *, normalize: bool = False) -> NDArray[np.float64]:
    """Entropy of the model's class probabilities, answer by answer.

        U(x, rho) = -E_{y ~ p(.|x,rho)} ln p(y|x,rho)

    Parameters
    ----------
    probabilities : (n_samples, n_rephrasings, n_classes) or (n_samples, n_classes) float
        p(y|x, rho); the last axis sums to 1. Hard predictions carry no uncertainty and are refused.
    normalize : bool
        Divide by ln C, to compare with sensitivity. False, as in the paper: nats.

    Returns
    -------
    (n_samples, n_rephrasings) or (n_samples,) float64
        0: sure.

    References
    ----------
    E25, eq. (8).

    Examples
    --------
    >>> uncertainty([[[1.0, 0.0], [0.5, 0.5]]]).round(3)
    array([[0.   , 0.693]])
    """
    read = read_probabilities(probabilities, ndims=(2, 3))
    nats = entropy(read, None)
    return np.minimum(nats / np.log(read.shape[-1]), 1.0) if normalize else nats
