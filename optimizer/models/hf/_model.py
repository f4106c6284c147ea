"""hf/..: a local language model as a classifier, run by transformers."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

from psopt.errors import ModelError, first_line
from psopt.models.hf._network import TokenLimit, can_share, score, turns_at
from psopt.models.hf._source import (
    check_is_causal,
    find_device,
    find_source,
    import_transformers,
    load_tokenizer,
    load_weights,
)
from psopt.models.scoring import LabelTree, PromptTokenizer, ScoringModel

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy as np
    from numpy.typing import NDArray
    from psopt.models._answer_cache import AnswerCache


_BATCH_TOKENS = {"cpu": 512, "cuda": 2048}


class HFModel(ScoringModel):
    """A folder or a repository on the hub as a classifier; see `ScoringModel`. Code that comes with it is never run.

    Scores do not depend on what is scored together, except for rounding: 1e-5 in float32 (CPU), some hundredths in
    bfloat16 (CUDA), where a near tie may go either way. The cache keeps the first result.

    One forward pass takes at most `batch_tokens`, by default 2048 on CUDA and 512 elsewhere; they are halved when the
    GPU's memory is exhausted. Raises InputError if there is no such folder, repository or likelihood. Raises ModelError
    if it is not a causal language model, or can't be fetched. Raises MissingExtraError without torch or transformers.
    """

    def __init__(
        self, name: str, *, cache: AnswerCache | None = None, likelihood: str = "mean", batch_tokens: int = 0
    ) -> None:
        import_transformers(f"hf/{name}")
        import torch

        self._device = find_device()
        self._dtype = torch.bfloat16 if self._device.type == "cuda" else torch.float32
        self._limit = TokenLimit(batch_tokens or _BATCH_TOKENS.get(self._device.type, _BATCH_TOKENS["cpu"]))
        self._source = find_source(name)
        check_is_causal(self._source)
        super().__init__(self._source.name, self._source.version, cache=cache, likelihood=likelihood)

    @property
    def precision(self) -> str:
        """The numbers' type in torch."""
        return str(self._dtype)

    @cached_property
    def tokenizer(self) -> PromptTokenizer:
        return PromptTokenizer(load_tokenizer(self._source))

    @cached_property
    def network(self) -> Any:
        """The weights in memory; raises ModelError if they can't be loaded."""
        return load_weights(self._source, "AutoModelForCausalLM", self._device, self._dtype)

    @property
    def longest(self) -> int | None:
        return getattr(self.network.config.get_text_config(), "max_position_embeddings", None)

    @cached_property
    def _can_share(self) -> bool:
        return can_share(self.network)

    def steps(self, prompts: Sequence[list[int]], tree: LabelTree) -> Iterator[tuple[list[int], NDArray[np.float64]]]:
        """Score the tree after each prompt (see `ScoringModel.steps`); raises ModelError if the network fails."""
        self._check_vocabulary([*prompts, tree.tokens, tree.targets])
        n_tokens = max(map(len, prompts)) + max(map(len, tree.paths()))
        shares = self._can_share and n_tokens <= turns_at(self.network)
        try:
            yield from score(self.network, prompts, tree, self._limit, shares=shares)
        except RuntimeError as error:
            raise ModelError(f"{self.name} can't answer: {first_line(error)}") from error

    def _check_vocabulary(self, sequences: Sequence[Sequence[int]]) -> None:
        n_vocabulary = len(self.network.get_input_embeddings().weight)
        largest = max(max(sequence, default=0) for sequence in sequences)
        if largest >= n_vocabulary:
            raise ModelError(
                f"{self.name} has a tokenizer that does not belong to it: it gives token {largest}, and the network "
                f"knows {n_vocabulary}"
            )
