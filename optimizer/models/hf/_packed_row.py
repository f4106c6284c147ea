"""Many texts in one row behind a common prefix, told apart by what each token sees."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray
    from psopt.models.scoring import LabelTree


@dataclass(frozen=True, slots=True)
class PackedRow:
    """A row of texts, each with the tree of labels behind it: nothing is padded, no prefix is read twice."""

    tokens: list[int]
    positions: NDArray[np.int64]  # where each token stands in its own text, the prefix counted
    sees: NDArray[np.bool_]  # a token sees the prefix, and of its own text what lies on the way to it
    ends: list[int]  # the columns of the tree's nodes, text after text

    def within(self, window: int | None) -> NDArray[np.bool_]:
        """Return what each token sees if it looks back no farther than a window."""
        if window is None:
            return self.sees
        n_prefix = self.sees.shape[1] - self.sees.shape[0]
        seen_from = np.concatenate([np.arange(n_prefix), self.positions])
        return np.asarray(self.sees & (self.positions[:, None] - seen_from < window))


def pack(n_prefix: int, texts: Sequence[Sequence[int]], tree: LabelTree) -> PackedRow:
    """Pack the tokens of texts, each at least one, behind a prefix."""
    depths = np.array(tree.depths())
    tree_sees = tree.sees()
    n_tokens = sum(len(text) + len(tree.tokens) for text in texts)
    sees = np.zeros((n_tokens, n_prefix + n_tokens), dtype=bool)
    sees[:, :n_prefix] = True
    tokens: list[int] = []
    ends: list[int] = []
    positions = []
    for text in texts:
        start = len(tokens)
        last = start + len(text) - 1
        tokens += [*text, *tree.tokens]
        own = sees[start : len(tokens), n_prefix + start : n_prefix + len(tokens)]
        own[: len(text), : len(text)] = np.tri(len(text), dtype=bool)
        own[len(text) :, : len(text)] = True
        own[len(text) :, len(text) :] = tree_sees[1:, 1:]
        positions += [n_prefix + np.arange(len(text)), n_prefix + len(text) - 1 + depths[1:]]
        ends += range(last, len(tokens))
    return PackedRow(tokens, np.concatenate(positions), sees, ends)
