"""Labels as a tree of tokens: what they share is read once, and their last tokens are not read at all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class LabelTree:
    """The tokens that must be read after a prompt to score every label.

    Node 0 is the prompt's end. A token's log-probability is read off at the node before it, so a label's last token is
    no node, and labels of one token need no node but the root.

    Attributes
    ----------
    tokens, parents : tuple of int
        Token and parent of each node but the root; a parent comes before its children.
    labels, nodes, targets : tuple of int
        The steps, label after label: label, node, and the token that follows there.
    """

    tokens: tuple[int, ...]
    parents: tuple[int, ...]
    labels: tuple[int, ...]
    nodes: tuple[int, ...]
    targets: tuple[int, ...]

    def depths(self) -> list[int]:
        """Return how many tokens behind the prompt's end each node lies: 0 for the root."""
        depths = [0]
        for parent in self.parents:
            depths.append(depths[parent] + 1)
        return depths

    def sees(self) -> NDArray[np.bool_]:
        """Return which nodes lie on the way to each, itself included: (n_nodes, n_nodes) bool."""
        sees = np.eye(len(self.parents) + 1, dtype=bool)
        for node, parent in enumerate(self.parents, start=1):
            sees[node] |= sees[parent]
        return sees

    def paths(self) -> list[list[int]]:
        """Return the ways from the root to each leaf, as nodes; together they touch every node."""
        inner = set(self.parents)
        leaves = [node for node in range(len(self.parents) + 1) if node not in inner]
        return [np.flatnonzero(way).tolist() for way in self.sees()[leaves]]

    def log_likelihoods(self, steps: NDArray[np.float64], *, per_token: bool) -> NDArray[np.float64]:
        """Return each label's log-probability, whole or as the mean of its tokens: (n_texts, n_steps) to
        (n_texts, n_labels).
        """
        starts = np.flatnonzero(np.diff(self.labels, prepend=-1))
        totals = np.add.reduceat(steps, starts, axis=1)
        if per_token:
            totals = totals / np.bincount(self.labels)
        return np.asarray(totals, dtype=np.float64)


def label_tree(labels: Sequence[Sequence[int]]) -> LabelTree:
    """Build the tree of labels, given as tokens, at least one each.

    >>> tree = label_tree([[5], [5, 6], [7, 8, 9]])  # the first is a beginning of the second
    >>> tree.tokens, tree.parents, tree.paths()
    ((5, 7, 8), (0, 0, 2), [[0, 1], [0, 2, 3]])
    """
    node_of: dict[tuple[int, ...], int] = {(): 0}  # by the tokens on the way to it
    tokens: list[int] = []
    parents: list[int] = []
    steps: list[tuple[int, int, int]] = []
    for label, label_tokens in enumerate(labels):
        for n_read, target in enumerate(label_tokens):
            read = tuple(label_tokens[:n_read])
            if read not in node_of:
                node_of[read] = len(node_of)
                tokens.append(read[-1])
                parents.append(node_of[read[:-1]])
            steps.append((label, node_of[read], target))
    label_of, nodes, targets = zip(*steps, strict=True)
    return LabelTree(tuple(tokens), tuple(parents), label_of, nodes, targets)
