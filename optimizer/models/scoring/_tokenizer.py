"""From strings to tokens, so that a prompt's tokens and a label's are those of the two written together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from psopt.errors import InputError, ModelError
from psopt.models.scoring._chat_template import SAMPLE, ChatFormat, find_format
from psopt.models.scoring._common_prefix import common_length

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from numpy.typing import NDArray
    from psopt.search_spaces import Messages

    Tokens = list[int]


@dataclass(frozen=True, slots=True)
class TokenizedLabels:
    """Labels as continuations of a prompt."""

    # How many of a prompt's last tokens may grow together with a label (the space of ``"Label: "``, mostly none). They
    # are taken off the prompt and begin the labels instead.
    n_open: int
    tokens: tuple[Tokens, ...]  # each label's tokens


class PromptTokenizer:
    """A tokenizer with its chat template."""

    def __init__(self, tokenizer: Any) -> None:
        self._tokenizer = tokenizer
        self._format: ChatFormat = find_format(tokenizer)
        self._opening = [] if self._format.template else _opening_tokens(tokenizer)

    def prompts(self, conversations: Sequence[Messages], lead: str = "") -> list[Tokens]:
        """Return the tokens of each conversation, up to where the label stands: `lead` is what precedes it."""
        return self._encode([text + lead for text in self._format.write(conversations)])

    def labels(self, labels: Sequence[str], lead: str = "", begun: Messages | None = None) -> TokenizedLabels:
        """Return the tokens of labels that follow a prompt.

        A label is tokenized behind the end of a short prompt, not alone: some tokenizers give a word another token
        at the start of a string. What surrounds a label in white space is left out. `lead` is what the answer says
        before the label, `begun` the assistant's turn that the prompt ends with.

        Raises InputError if a label is empty.
        """
        written = self._format.write([[*SAMPLE, *(begun or [])]])[0] + lead
        (prompt,) = self._encode([written])
        together = self._encode([written + label.strip() for label in labels])
        n_shared = common_length([prompt, *together])
        tokens = tuple(sequence[n_shared:] for sequence in together)
        if not all(tokens):
            raise InputError(f"label {labels[tokens.index([])]!r} has no tokens: give every label a name")
        return TokenizedLabels(len(prompt) - n_shared, tokens)

    def scored(
        self, conversations: Sequence[Messages], labels: Sequence[str], lead: str = ""
    ) -> tuple[list[Tokens], LabelTree]:
        """Return the tokens of each conversation, up to where labels begin, and the labels that follow as a tree.

        Raises InputError if a label is empty.
        """
        begun = [message for message in conversations[0][-1:] if message["role"] == "assistant"]
        tokenized = self.labels(labels, lead, begun)
        written = self.prompts(conversations, lead)
        return [tokens[: len(tokens) - tokenized.n_open] for tokens in written], label_tree(tokenized.tokens)

    def _encode(self, texts: Sequence[str]) -> list[Tokens]:
        if not texts:
            return []
        encoded = self._tokenizer(list(texts), add_special_tokens=False, truncation=False, verbose=False)
        return [self._opening + list(tokens) for tokens in encoded["input_ids"]]


def check_length(name: str, prompts: Sequence[Tokens], tree: LabelTree, longest: int | None) -> int:
    """Return how many tokens the longest prompt and label are; `longest` is how many the model reads, if it says so.

    Raises ModelError if that is too long for the model.
    """
    n_prompt = max(map(len, prompts))
    n_label = max(tree.depths()) + 1
    if longest and n_prompt + n_label > longest:
        raise ModelError(
            f"a prompt of {n_prompt} tokens and a label of {n_label} exceed the {longest} tokens that {name} "
            "reads: shorten the longest texts, show fewer examples, or give a model that reads more"
        )
    return n_prompt + n_label


def _opening_tokens(tokenizer: Any) -> Tokens:
    """The special tokens that a tokenizer puts before a text."""
    plain = tokenizer("Label:", add_special_tokens=False)["input_ids"]
    special = tokenizer("Label:", add_special_tokens=True)["input_ids"]
    n_before = next((n for n in range(len(special)) if special[n : n + len(plain)] == plain), 0)
    return list(special[:n_before])


@dataclass(frozen=True, slots=True)
class LabelTree:
    """The tokens that must be read after a prompt to score every label.

    Node 0 is the prompt's end. A token's log-probability is read off at the node before it, so a label's last token is
    no node, and labels of one token need no node but the root.
    """

    # Token and parent of each node but the root; a parent comes before its children
    tokens: tuple[int, ...]
    parents: tuple[int, ...]
    # The steps, label after label: label, node, and the token that follows there
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
