"""From logits to the log-probabilities of the labels' tokens."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


def log_probabilities(logits: Any, columns: Sequence[int], targets: Sequence[int]) -> NDArray[np.float64]:
    """Return the log-probability of each target token where it would follow: (n_texts, n_targets) float.

    Parameters
    ----------
    logits : (n_texts, n_nodes, n_vocabulary) tensor
    columns, targets : sequence of int
        The node, and the token.
    """
    import torch

    # Text by text: a vocabulary in single precision is large.
    totals = torch.stack([torch.logsumexp(text.float(), dim=-1) for text in logits])
    picked = logits[:, list(columns), list(targets)].float() - totals[:, list(columns)]
    return np.asarray(picked.cpu().numpy(), dtype=np.float64)
