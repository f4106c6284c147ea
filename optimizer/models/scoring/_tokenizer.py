"""From strings to tokens, so that a prompt's tokens and a label's are those of the two written together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from psopt.errors import InputError, ModelError
from psopt.models.scoring._chat_template import SAMPLE, ChatFormat, find_format
from psopt.models.scoring._common_prefix import common_length
from psopt.models.scoring._label_tree import LabelTree, label_tree

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from psopt.search_spaces import Messages

    Tokens = list[int]


@dataclass(frozen=True, slots=True)
class TokenizedLabels:
    """Labels as continuations of a prompt.

    Attributes
    ----------
    n_open : int
        How many of a prompt's last tokens may grow together with a label (the space of ``"Label: "``, mostly none).
        They are taken off the prompt and begin the labels instead.
    tokens : tuple of list of int
        Each label's tokens.
    """

    n_open: int
    tokens: tuple[Tokens, ...]


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

        Raises
        ------
        InputError
            If a label is empty.
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

        Raises
        ------
        InputError
            If a label is empty.
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

    Raises
    ------
    ModelError
        If that is too long for the model.
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
