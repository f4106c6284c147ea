"""Undefined is NaN: the one division that the measures share."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray


def ratio(numerator: ArrayLike, denominator: ArrayLike) -> NDArray[np.float64]:
    """Divide, with NaN wherever the denominator is 0, and no warning.

    >>> ratio([1, 0], [2, 0])
    array([0.5, nan])
    """
    top, bottom = np.asarray(numerator, dtype=np.float64), np.asarray(denominator, dtype=np.float64)
    result = np.full(np.broadcast_shapes(top.shape, bottom.shape), np.nan)
    np.divide(top, bottom, out=result, where=bottom > 0)
    return result
