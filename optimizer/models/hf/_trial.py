"""Does a network honour masks and positions of one's own? It is tried, not presumed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from psopt.models.hf._labels import label_tree
from psopt.models.hf._limit import TokenLimit
from psopt.models.hf._plain import score_plain
from psopt.models.hf._shared import score_shared

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray
    from psopt.models.hf._network import Network

_PROMPTS = [[1, 2, 3, 4, 5, 6, 7], [1, 2, 3, 4, 8], [1, 2, 3, 4, 9, 7, 5, 3, 6]]
_LABELS = [[7], [7, 8], [9, 3, 4]]
_TOLERANCE = {"torch.float32": 1e-3}
_COARSE = 0.5  # of a log-probability in half precision, where reading in another order changes the last digits


def can_share(network: Network) -> bool:
    """Score a few tokens in both ways and return whether they agree."""
    import torch

    if network.attention is None:
        return False
    try:
        difference = _steps(score_shared, network) - _steps(score_plain, network)
    except torch.cuda.OutOfMemoryError:
        raise
    except (AttributeError, IndexError, KeyError, RuntimeError, TypeError, ValueError):
        return False  # layers of another kind, or a forward pass that takes no such arguments
    return bool(np.abs(difference).max() < _TOLERANCE.get(str(network.model.dtype), _COARSE))


def _steps(score: Callable[..., object], network: Network) -> NDArray[np.float64]:
    tree = label_tree(_LABELS)
    steps = np.empty((len(_PROMPTS), len(tree.nodes)))
    for indices, some in score(network, _PROMPTS, tree, TokenLimit(64)):  # type: ignore[attr-defined]
        steps[indices] = some
    return steps
