"""Scoring labels by reading prompt and label in full: for networks that take no masks, and to compare with."""

from __future__ import annotations

from collections import defaultdict
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from psopt.models.hf._network import log_probabilities

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray
    from psopt.models.hf._network import Network
    from psopt.models.hf._token_limit import TokenLimit
    from psopt.models.scoring import LabelTree


def score_in_full(
    network: Network, prompts: Sequence[list[int]], tree: LabelTree, limit: TokenLimit
) -> Iterator[tuple[list[int], NDArray[np.float64]]]:
    """Score labels as `score_behind_prefix` does, with no prefix kept.

    Only rows of one length are read together, so that nothing is padded. Labels of one token are scored together; each
    other one costs the whole prompt again.
    """
    by_length: defaultdict[int, list[int]] = defaultdict(list)
    for index, prompt in enumerate(prompts):
        by_length[len(prompt)].append(index)
    for indices in by_length.values():
        start = 0
        while start < len(indices):
            read, steps = limit.retrying(partial(_next_rows, network, prompts, tree, indices[start:]))
            yield read, steps
            start += len(read)


def _next_rows(
    network: Network, prompts: Sequence[list[int]], tree: LabelTree, indices: list[int], limit: int
) -> tuple[list[int], NDArray[np.float64]]:
    read = indices[: max(1, limit // (len(prompts[indices[0]]) + max(tree.depths())))]
    steps = np.empty((len(read), len(tree.nodes)))
    for path in tree.paths():
        label = [tree.tokens[node - 1] for node in path[1:]]
        rows = [prompts[index] + label for index in read]
        logits = network.read(rows, range(len(rows[0]) - len(path), len(rows[0])))
        on_path = [step for step, node in enumerate(tree.nodes) if node in path]
        columns = [path.index(tree.nodes[step]) for step in on_path]
        steps[:, on_path] = log_probabilities(logits, columns, [tree.targets[step] for step in on_path])
    return read, steps
