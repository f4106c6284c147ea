"""Scoring labels with the prompt's instructions read once for all texts, and a text once for all labels."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING

from psopt.models.hf._common_prefix import common_length
from psopt.models.hf._labels import label_tree
from psopt.models.hf._packs import pack
from psopt.models.hf._scores import log_probabilities

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy as np
    from numpy.typing import NDArray
    from psopt.models.hf._labels import LabelTree
    from psopt.models.hf._limit import TokenLimit
    from psopt.models.hf._network import KeysValues, Network

_NO_LABELS = label_tree([[0]])


@dataclass(frozen=True, slots=True)
class Prefix:
    """What was read: how many tokens, and the keys and values that the layers keep of them."""

    n_tokens: int
    past: KeysValues


def score_shared(
    network: Network, prompts: Sequence[list[int]], tree: LabelTree, limit: TokenLimit
) -> Iterator[tuple[list[int], NDArray[np.float64]]]:
    """Score labels behind prompts that begin alike; yields pack by pack (which prompts, log-probabilities).

    A text costs its own tokens and the labels' inner ones; reading all of it for every label, as
    `score_plain` does, costs the instructions again each time and gives the same numbers.

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
    texts, room = [], limit
    for prompt in islice(prompts, start, None):
        room -= len(prompt) - prefix.n_tokens + len(tree.tokens)
        if room < 0:
            break
        texts.append(prompt[prefix.n_tokens :])
    if not texts:  # one that is longer than the limit is read in parts
        *most, last = prompts[start][prefix.n_tokens :]
        prefix, texts = _extended(network, prefix, most, limit), [[last]]
    return list(range(start, start + len(texts))), _score(network, prefix, texts, tree)


def _score(network: Network, prefix: Prefix, texts: Sequence[Sequence[int]], tree: LabelTree) -> NDArray[np.float64]:
    row = pack(prefix.n_tokens, texts, tree)
    logits, _ = network.read_pack(row, prefix.past)
    return log_probabilities(logits[0].unflatten(0, (len(texts), -1)), tree.nodes, tree.targets)


def _extended(network: Network, prefix: Prefix, tokens: Sequence[int], limit: int) -> Prefix:
    """Read on behind a prefix, so many tokens at a time."""
    for start in range(0, len(tokens), limit):
        row = pack(prefix.n_tokens, [tokens[start : start + limit]], _NO_LABELS)
        _, past = network.read_pack(row, prefix.past)
        prefix = Prefix(prefix.n_tokens + len(row.tokens), past)
    return prefix
