"""hf/..: a local language model as a classifier, by transformers."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

from psopt.errors import InputError
from psopt.models.hf._loading import import_transformers
from psopt.models.hf._scorer import Scorer
from psopt.models.hf._source import check_is_causal, find_source
from psopt.models.hf._weights import find_device
from psopt.models.scoring import ScoringModel

if TYPE_CHECKING:
    from psopt.models._answer_cache import AnswerCache

_BATCH_TOKENS = {"cpu": 512, "cuda": 2048}


class HFModel(ScoringModel):
    """A folder or a repository of the hub as a classifier; see `ScoringModel`.

    Scores do not depend on what is scored together, up to rounding: 1e-5 in float32 (CPU), some hundredths in bfloat16
    (CUDA), where a near tie may go either way. The cache keeps the first one.

    Parameters
    ----------
    repo_or_path : str
        A folder with a model, else a repository on the hub. Code that comes with a model is never run.
    cache : AnswerCache, optional
        Where scores are kept; by default in memory.
    device : str, optional
        Of torch; by default ``cuda`` where there is one, else ``cpu``.
    likelihood : {"mean", "sum"}
        Whether a label's score is the mean or the sum of its tokens' log-probabilities.
    batch_tokens : int, optional
        The most tokens of one forward pass, by default 2048 on CUDA and 512 elsewhere. It is halved when the GPU's
        memory is exhausted.
    revision : str, optional
        Branch, tag or commit of a repository.

    Raises
    ------
    InputError
        If there is no such folder, repository, revision, device or likelihood.
    ModelError
        If what is there is no causal language model, or can't be fetched.
    MissingExtraError
        If torch or transformers is not installed.
    """

    def __init__(
        self,
        repo_or_path: str,
        *,
        cache: AnswerCache | None = None,
        device: str | None = None,
        likelihood: str = "mean",
        batch_tokens: int | None = None,
        revision: str | None = None,
    ) -> None:
        import_transformers(f"hf/{repo_or_path}")
        if batch_tokens is not None and batch_tokens < 1:
            raise InputError(f"batch_tokens is at least 1, not {batch_tokens}")
        self._device = find_device(device)
        self._batch_tokens = batch_tokens or _BATCH_TOKENS.get(self._device.type, _BATCH_TOKENS["cpu"])
        self._source = find_source(repo_or_path, revision)
        check_is_causal(self._source)
        super().__init__(self._source.name, self._source.version, cache=cache, likelihood=likelihood)

    @property
    def precision(self) -> str:
        """The numbers' type in torch."""
        return str(self._dtype)

    @property
    def _dtype(self) -> Any:
        import torch

        return torch.bfloat16 if self._device.type == "cuda" else torch.float32

    @cached_property
    def scorer(self) -> Scorer:
        """Tokenizer and network, on the device."""
        return Scorer(self._source, self._device, self._dtype, self._batch_tokens)
