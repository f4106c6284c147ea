"""Scoring labels with the prompt's instructions read once for all texts, and a text once for all labels.

Several texts stand in one row behind the prefix that they share, kept apart by the mask. Not every network honours
masks and positions of one's own: that is tried, not presumed.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np
from psopt.models.hf._full_reading import score_in_full
from psopt.models.hf._network import log_probabilities
from psopt.models.hf._packed_row import pack
from psopt.models.hf._token_limit import TokenLimit
from psopt.models.scoring import common_length, label_tree

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray
    from psopt.models.hf._network import KeysValues, Network
    from psopt.models.scoring import LabelTree

_NO_LABELS = label_tree([[0]])
# What a network is tried on: prompts of different lengths behind one prefix, and labels of one to three tokens. The
# numbers are tokens that every vocabulary has.
_TRIED_PROMPTS = [[1, 2, 3, 4, 5, 6, 7], [1, 2, 3, 4, 8], [1, 2, 3, 4, 9, 7, 5, 3, 6]]
_TRIED_LABELS = [[7], [7, 8], [9, 3, 4]]
# Looks for texts that see each other, not for last digits: reading in another order rounds otherwise, about 1e-5 in
# single precision and some hundredths in half.
_TOLERANCE = {"torch.float32": 1e-3}
_COARSE_TOLERANCE = 0.5


@dataclass(frozen=True, slots=True)
class Prefix:
    """What was read: how many tokens, and the keys and values that the layers keep of them."""

    n_tokens: int
    past: KeysValues


def score_behind_prefix(
    network: Network, prompts: Sequence[list[int]], tree: LabelTree, limit: TokenLimit
) -> Iterator[tuple[list[int], NDArray[np.float64]]]:
    """Score labels behind prompts that begin alike; yields pack by pack (which prompts, log-probabilities).

    A text costs its own tokens and the labels' inner ones; reading all of it for every label, as
    `score_in_full` does, costs the instructions again each time and gives the same numbers.

    Yields
    ------
    indices : list of int
        Some of the prompts; each is yielded once.
    steps : (n_indices, n_steps) float
        Log-probabilities of the tree's steps.
    """
    n_shared = min(common_length(prompts), min(map(len, prompts)) - 1)
    prefix = limit.retrying(partial(_extended, network, Prefix(0, []), prompts[0][:n_shared]))
    start = 0
    while start < len(prompts):
        indices, steps = limit.retrying(partial(_next_pack, network, prefix, prompts, tree, start))
        yield indices, steps
        start += len(indices)


def _next_pack(
    network: Network, prefix: Prefix, prompts: Sequence[list[int]], tree: LabelTree, start: int, limit: int
) -> tuple[list[int], NDArray[np.float64]]:
    texts = []
    room = limit
    for prompt in islice(prompts, start, None):
        room -= len(prompt) - prefix.n_tokens + len(tree.tokens)
        if room < 0:
            break
        texts.append(prompt[prefix.n_tokens :])
    if not texts:  # one that is longer than the limit is read in parts
        *beginning, last = prompts[start][prefix.n_tokens :]
        prefix = _extended(network, prefix, beginning, limit)
        texts = [[last]]
    return list(range(start, start + len(texts))), _score(network, prefix, texts, tree)


def _score(network: Network, prefix: Prefix, texts: Sequence[Sequence[int]], tree: LabelTree) -> NDArray[np.float64]:
    row = pack(prefix.n_tokens, texts, tree)
    logits, _ = network.read_row(row, prefix.past)
    return log_probabilities(logits[0].unflatten(0, (len(texts), -1)), tree.nodes, tree.targets)


def _extended(network: Network, prefix: Prefix, tokens: Sequence[int], limit: int) -> Prefix:
    """Read on behind a prefix, so many tokens at a time."""
    for start in range(0, len(tokens), limit):
        row = pack(prefix.n_tokens, [tokens[start : start + limit]], _NO_LABELS)
        _, past = network.read_row(row, prefix.past)
        prefix = Prefix(prefix.n_tokens + len(row.tokens), past)
    return prefix


def can_share(network: Network) -> bool:
    """Score a few tokens in both ways and return whether they agree."""
    import torch

    if network.attention is None:
        return False
    try:
        difference = _steps(score_behind_prefix, network) - _steps(score_in_full, network)
    except torch.cuda.OutOfMemoryError:
        raise
    except (AttributeError, IndexError, KeyError, RuntimeError, TypeError, ValueError):
        return False  # layers of another kind, or a forward pass that takes no such arguments
    return bool(np.abs(difference).max() < _TOLERANCE.get(str(network.model.dtype), _COARSE_TOLERANCE))


def _steps(score: Callable[..., object], network: Network) -> NDArray[np.float64]:
    tree = label_tree(_TRIED_LABELS)
    steps = np.empty((len(_TRIED_PROMPTS), len(tree.nodes)))
    for indices, scored in score(network, _TRIED_PROMPTS, tree, TokenLimit(64)):  # type: ignore[attr-defined]
        steps[indices] = scored
    return steps
