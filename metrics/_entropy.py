"""Entropy of answers: the one place where it is computed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ._blocks import row_blocks

if TYPE_CHECKING:
    from numpy.typing import NDArray


def entropy(table: NDArray[Any], n_draws: int | None) -> NDArray[np.float64]:
    """Entropy in nats along the last axis, of counts out of n_draws, or of probabilities if that is None.

    Exactly 0 where all mass lies on one class, never below it.

    >>> entropy(np.array([[2, 2], [4, 0]]), 4) / np.log(2)
    array([1., 0.])
    """
    rows = table.reshape(-1, table.shape[-1])
    nats = np.empty(len(rows))
    # Q + 1 logarithms and a look-up instead of one logarithm a cell
    terms = None if n_draws is None else _plog(np.arange(n_draws + 1) / n_draws)
    for block in row_blocks(*rows.shape):
        nats[block] = np.einsum("ic->i", _plog(rows[block]) if terms is None else terms[rows[block]])
    return nats.reshape(table.shape[:-1])


def miller_madow(counts: NDArray[Any], n_draws: int) -> NDArray[np.float64]:
    """What the plug-in entropy lacks on average, in nats: (m - 1) / (2 Q) with m the classes seen.

    Miller (1955), *Note on the bias of information estimates*.

    >>> miller_madow(np.array([[2, 2, 0], [4, 0, 0]]), 4)
    array([0.125, 0.   ])
    """
    return np.asarray((np.count_nonzero(counts, axis=-1) - 1) / (2 * n_draws))


def _plog(p: NDArray[np.float64]) -> NDArray[np.float64]:
    logarithms = np.log(p, out=np.zeros_like(p), where=p > 0)
    # a row may sum to a hair over 1, and 1 ln 1 is -0.0: neither shall show
    return np.asarray(np.maximum(-p * logarithms, 0.0))
