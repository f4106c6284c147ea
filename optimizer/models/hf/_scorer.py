"""A model made ready: conversations and labels in, log-likelihoods out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from psopt.errors import ModelError
from psopt.models.hf._full_reading import score_in_full
from psopt.models.hf._label_tree import label_tree
from psopt.models.hf._loading import first_line
from psopt.models.hf._network import load_network
from psopt.models.hf._shared_prefix import can_share, score_behind_prefix
from psopt.models.hf._token_limit import TokenLimit
from psopt.models.hf._tokenizer import PromptTokenizer
from psopt.models.hf._weights import load_tokenizer

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray
    from psopt.models.hf._source import Source
    from psopt.search_spaces import Messages


class Scorer:
    """A tokenizer and a network in memory.

    Parameters
    ----------
    source : Source
    device, dtype
        Where the network computes, and how precisely.
    batch_tokens : int
        The most tokens of one forward pass.

    Raises
    ------
    ModelError
        If the model can't be loaded.
    """

    def __init__(self, source: Source, device: Any, dtype: Any, batch_tokens: int) -> None:
        self._name = source.name
        self._tokenizer = PromptTokenizer(load_tokenizer(source))
        self._network = load_network(source, device, dtype)
        self._can_share = can_share(self._network)
        self._limit = TokenLimit(batch_tokens)

    def score(
        self, conversations: Sequence[Messages], labels: Sequence[str], *, per_token: bool, lead: str = ""
    ) -> Iterator[tuple[list[int], NDArray[np.float64]]]:
        """Score labels as answers to conversations, best ones that begin alike; yields some at a time.

        Parameters
        ----------
        per_token : bool
            Divide a label's log-probability by the number of its tokens.
        lead : str
            What the answer says before the label.

        Yields
        ------
        indices : list of int
            Some of the conversations.
        scores : (n_indices, n_labels) float
            Log-probability of each label, or its mean per token.

        Raises
        ------
        ModelError
            If a conversation is too long for the model, or it answers with what is no number.
        """
        begun = [message for message in conversations[0][-1:] if message["role"] == "assistant"]
        tokenized = self._tokenizer.labels(labels, lead, begun)
        written = self._tokenizer.prompts(conversations, lead)
        prompts = [tokens[: len(tokens) - tokenized.n_open] for tokens in written]
        n_prompt = max(map(len, prompts))
        n_label = max(map(len, tokenized.tokens))
        self._check_length(n_prompt, n_label)
        self._check_vocabulary([*prompts, *tokenized.tokens])
        tree = label_tree(tokenized.tokens)
        score = score_behind_prefix if self._shares(n_prompt + n_label) else score_in_full
        try:
            for indices, steps in score(self._network, prompts, tree, self._limit):
                scores = tree.log_likelihoods(steps, per_token=per_token)
                if np.isnan(scores).any():
                    raise ModelError(f"{self._name} gives NaN for a probability: its weights are damaged")
                yield indices, scores
        except RuntimeError as error:
            raise ModelError(f"{self._name} can't answer: {first_line(error)}") from error

    def _shares(self, n_tokens: int) -> bool:
        attention = self._network.attention
        return self._can_share and attention is not None and attention.covers(n_tokens)

    def _check_length(self, n_prompt: int, n_label: int) -> None:
        longest = getattr(self._network.model.config.get_text_config(), "max_position_embeddings", None)
        if longest and n_prompt + n_label > longest:
            raise ModelError(
                f"a prompt of {n_prompt} tokens and a label of {n_label} exceed the {longest} tokens that {self._name} "
                "reads: shorten the longest texts, show fewer examples, or give a model that reads more"
            )

    def _check_vocabulary(self, sequences: Sequence[Sequence[int]]) -> None:
        n_vocabulary = self._network.n_vocabulary
        largest = max(map(max, sequences))
        if largest >= n_vocabulary:
            raise ModelError(
                f"{self._name} has a tokenizer that does not belong to it: it gives token {largest}, and the network "
                f"knows {n_vocabulary}"
            )
