"""A model made ready: conversations and labels in, log-likelihoods out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from psopt.errors import ModelError, first_line
from psopt.models.hf._full_reading import score_in_full
from psopt.models.hf._network import load_network
from psopt.models.hf._shared_prefix import can_share, score_behind_prefix
from psopt.models.hf._token_limit import TokenLimit
from psopt.models.hf._weights import load_tokenizer
from psopt.models.scoring import PromptTokenizer, check_length

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
        """Score labels as answers to conversations, best ones that begin alike; see `LabelScorer.score`.

        Raises
        ------
        ModelError
            If a conversation is too long for the model, or it answers with what is no number.
        """
        prompts, tree = self._tokenizer.scored(conversations, labels, lead)
        config = self._network.model.config.get_text_config()
        n_tokens = check_length(self._name, prompts, tree, getattr(config, "max_position_embeddings", None))
        self._check_vocabulary([*prompts, tree.tokens, tree.targets])
        score = score_behind_prefix if self._shares(n_tokens) else score_in_full
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

    def _check_vocabulary(self, sequences: Sequence[Sequence[int]]) -> None:
        n_vocabulary = self._network.n_vocabulary
        largest = max(max(sequence, default=0) for sequence in sequences)
        if largest >= n_vocabulary:
            raise ModelError(
                f"{self._name} has a tokenizer that does not belong to it: it gives token {largest}, and the network "
                f"knows {n_vocabulary}"
            )
