"""hf/..: a local language model as a classifier, run by transformers.

The common beginning of prompts is read once for all of them, and a text once for all labels, into a cache of
transformers. Only rows of the same length are read together, so that nothing is padded and no mask is needed.
"""

from __future__ import annotations

import copy
import inspect
from collections import defaultdict
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from psopt.errors import ModelError, first_line
from psopt.models.hf._source import check_is_causal, find_source, import_transformers, load_tokenizer, load_weights
from psopt.models.scoring import LabelTree, PromptTokenizer, ScoringModel, common_length, label_tree

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from numpy.typing import NDArray
    from psopt.models._answer_cache import AnswerCache

    Steps = NDArray[np.float64]

Result = TypeVar("Result")

# What a network is tried on: prompts of different lengths that share a prefix, and labels of one to three tokens. Every
# vocabulary has tokens with these numbers.
_TRIED_PROMPTS = [[1, 2, 3, 4, 5, 6, 7], [1, 2, 3, 4, 8], [1, 2, 3, 4, 9, 7, 5, 3, 6]]
_TRIED_LABELS = [[7], [7, 8], [9, 3, 4]]
# Large enough to find only texts that are read wrongly, not differences in rounding: reading in another order moves
# scores by about 1e-5 in single precision and some hundredths in half.
_TOLERANCE = {"torch.float32": 1e-3}
_COARSE_TOLERANCE = 0.5
_KEPT = 16  # most cached tokens per token that is read at once: each row has its own copy of what it begins with
_FEWEST = 8  # tokens: if not even these fit, the network's own weights fill the memory


class HFModel(ScoringModel):
    """A folder or a repository on the hub as a classifier; see `ScoringModel`. Code that comes with it is never run.

    Scores do not depend on what is scored together, except for rounding: 1e-5 in float32 (CPU), some hundredths in
    bfloat16 (CUDA), where a near tie may go either way. One forward pass takes at most `batch_tokens`, by default 2048
    on CUDA and 512 elsewhere; they are halved when the GPU's memory is exhausted.

    Raises InputError if there is no such folder, repository or likelihood; ModelError if it is not a causal language
    model, or can't be fetched; MissingExtraError without torch or transformers.
    """

    def __init__(
        self, name: str, *, cache: AnswerCache | None = None, likelihood: str = "mean", batch_tokens: int = 0
    ) -> None:
        import_transformers(f"hf/{name}")
        import torch

        kind, self._dtype, usual_tokens = "cpu", torch.float32, 512
        if torch.cuda.is_available():
            kind, self._dtype, usual_tokens = "cuda", torch.bfloat16, 2048
        self._device = torch.device(kind)
        self._limit = TokenLimit(batch_tokens or usual_tokens)
        self._source = find_source(name)
        check_is_causal(self._source)
        precision = str(self._dtype)
        super().__init__(self._source.name, self._source.version, precision, cache=cache, likelihood=likelihood)

    @cached_property
    def tokenizer(self) -> PromptTokenizer:
        return PromptTokenizer(load_tokenizer(self._source))

    @cached_property
    def network(self) -> Any:
        return load_weights(self._source, self._device, self._dtype)

    @property
    def longest(self) -> int | None:
        return getattr(self.network.config.get_text_config(), "max_position_embeddings", None)

    @cached_property
    def _can_share(self) -> bool:
        """Whether a few tokens score the same in both ways: not every network can continue from a cache."""
        import torch

        try:
            difference = _tried(self.network, shares=True) - _tried(self.network, shares=False)
        except torch.cuda.OutOfMemoryError:
            raise
        except (AttributeError, IndexError, KeyError, RuntimeError, TypeError, ValueError):
            return False  # other kinds of layers, or a forward pass without such arguments
        return bool(np.abs(difference).max() < _TOLERANCE.get(str(self.network.dtype), _COARSE_TOLERANCE))

    def steps(self, prompts: Sequence[list[int]], tree: LabelTree) -> Iterator[tuple[list[int], Steps]]:
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


def turns_at(network: Any) -> float:
    """After how many tokens it computes all positions differently, so that what was read before is invalid."""
    config = network.config.get_text_config(decoder=True)
    return min(_turning_lengths(getattr(config, "rope_parameters", None)), default=float("inf"))


def read(network: Any, rows: Sequence[Sequence[int]], keep: Sequence[int], cache: Any = None) -> Any:
    """Read rows of one length after a cache, into it; return the logits at the columns `keep` for each row."""
    import torch

    columns = torch.tensor(keep, device=network.device, dtype=torch.long)
    inputs = {"input_ids": torch.tensor(rows, device=network.device), "use_cache": cache is not None}
    if cache is not None:
        inputs["past_key_values"] = cache
    if "logits_to_keep" in inspect.signature(network.forward).parameters:
        inputs["logits_to_keep"] = columns
    with torch.inference_mode():
        logits = network(**inputs).logits
    return logits if logits.shape[1] == len(keep) else logits[:, columns]


def _turning_lengths(rope: Any) -> Iterator[int]:
    """The lengths after which rotary positions are computed differently; settings may depend on the kind of layer."""
    if not isinstance(rope, dict):
        return
    if rope.get("rope_type") == "longrope" and rope.get("original_max_position_embeddings"):
        yield rope["original_max_position_embeddings"]
    for nested in rope.values():
        yield from _turning_lengths(nested)


class TokenLimit:
    """The most tokens in one forward pass; once exhausted memory has lowered it, it stays there."""

    def __init__(self, tokens: int) -> None:
        self.tokens = tokens

    def retrying(self, run: Callable[[int], Result]) -> Result:
        """Return ``run(tokens)``, halving the tokens where the memory is exhausted; raises ModelError in the end."""
        import torch

        while True:
            try:
                return run(self.tokens)
            except torch.cuda.OutOfMemoryError as error:
                if self.tokens <= _FEWEST:
                    raise ModelError(
                        "the GPU's memory is too small for a single text: give a smaller model or shorter prompts, or "
                        "end what else uses the GPU"
                    ) from error
            self.tokens //= 2
            torch.cuda.empty_cache()  # outside the except block, whose error keeps the tensors alive


def score(
    network: Any, prompts: Sequence[list[int]], tree: LabelTree, limit: TokenLimit, *, shares: bool
) -> Iterator[tuple[list[int], Steps]]:
    """Yield indices of some prompts, each once, and log-probabilities of the tree's steps: (n_indices, n_steps).

    If it `shares`, it reads the common beginning of all prompts once, and each text once for all labels. Otherwise it
    reads each prompt completely, and again for each label of several tokens. The numbers are the same.
    """
    n_shared, cache = 0, None
    if shares:
        n_shared = min(common_length(prompts), min(map(len, prompts)) - 1)
        cache = limit.retrying(partial(_prefix, network, prompts[0][:n_shared]))
    by_length: defaultdict[int, list[int]] = defaultdict(list)
    for index, prompt in enumerate(prompts):
        by_length[len(prompt)].append(index)
    for indices in by_length.values():
        unscored = indices
        while unscored:
            texts = [prompts[index][n_shared:] for index in unscored]
            steps = limit.retrying(partial(_steps, network, cache, texts, tree))
            yield unscored[: len(steps)], steps
            unscored = unscored[len(steps) :]


def _prefix(network: Any, tokens: list[int], limit: int) -> Any:
    from transformers import DynamicCache

    cache = DynamicCache()
    if tokens:
        _read_on(network, [tokens], cache, 1, limit)
    return cache


def _steps(network: Any, cache: Any, texts: Sequence[list[int]], tree: LabelTree, limit: int) -> Steps:
    """The steps after as many texts of one length as the limit allows, at least one."""
    paths = tree.paths()
    endings = [[tree.tokens[node - 1] for node in path[1:]] for path in paths]
    longest = max(map(len, endings))
    if cache is None:
        texts = texts[: max(1, limit // (len(texts[0]) + longest))]
        return _whole_steps(network, texts, tree, endings)
    import torch

    n_kept = cache.get_seq_length() + len(texts[0]) + longest
    most_rows = max(1, min(limit, _KEPT * limit // n_kept))
    texts = texts[: max(1, min(limit // (len(texts[0]) + longest * len(paths)), most_rows))]
    steps = np.empty((len(texts), len(tree.nodes)))
    text_cache = _repeated(cache, len(texts))
    first = _read_on(network, texts, text_cache, 1, limit)
    n_paths = max(1, most_rows // len(texts))
    for start in range(0, len(paths), n_paths):
        part = endings[start : start + n_paths]
        logits = first.repeat_interleave(len(part), dim=0)
        if longest:
            rows = [ending + [0] * (longest - len(ending)) for ending in part] * len(texts)
            behind = _read_on(network, rows, _repeated(text_cache, len(part)), longest, limit)
            logits = torch.cat([logits, behind], dim=1)
        for number, path in enumerate(paths[start : start + n_paths]):
            _fill(steps, tree, path, logits[number :: len(part), : len(path)])
    return steps


def _whole_steps(network: Any, texts: Sequence[list[int]], tree: LabelTree, endings: Sequence[list[int]]) -> Steps:
    """The steps after each text, which is read again for each path."""
    steps = np.empty((len(texts), len(tree.nodes)))
    for path, ending in zip(tree.paths(), endings, strict=True):
        rows = [text + ending for text in texts]
        _fill(steps, tree, path, read(network, rows, range(len(rows[0]) - len(path), len(rows[0]))))
    return steps


def _repeated(cache: Any, times: int) -> Any:
    cache = copy.deepcopy(cache)
    cache.batch_repeat_interleave(times)
    return cache


def _read_on(network: Any, rows: Sequence[list[int]], cache: Any, n_kept: int, limit: int) -> Any:
    """Read rows in parts within the limit; return the logits at their last columns."""
    import torch

    width = max(1, limit // len(rows))
    first_kept = len(rows[0]) - n_kept
    logits = []
    for start in range(0, len(rows[0]), width):
        part = [row[start : start + width] for row in rows]
        keep = range(max(0, first_kept - start), len(part[0]))
        logits.append(read(network, part, keep, cache))
    return torch.cat(logits, dim=1)


def _fill(steps: Steps, tree: LabelTree, path: Sequence[int], logits: Any) -> None:
    """Fill in those steps that begin on a path, from the logits at its nodes: (n_texts, n_nodes, n_vocabulary)."""
    import torch

    on_path = [step for step, node in enumerate(tree.nodes) if node in path]
    columns = [path.index(tree.nodes[step]) for step in on_path]
    # One text at a time: logits for a vocabulary in single precision are large.
    totals = torch.stack([torch.logsumexp(text.float(), dim=-1) for text in logits])
    picked = logits[:, columns, [tree.targets[step] for step in on_path]].float() - totals[:, columns]
    steps[:, on_path] = picked.cpu().numpy()


def _tried(network: Any, *, shares: bool) -> Steps:
    tree = label_tree(_TRIED_LABELS)
    steps = np.empty((len(_TRIED_PROMPTS), len(tree.nodes)))
    for indices, scored in score(network, _TRIED_PROMPTS, tree, TokenLimit(64), shares=shares):
        steps[indices] = scored
    return steps
