"""gguf/..: a GGUF file as a classifier."""

from __future__ import annotations

import json
import math
import os
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cached_property
from importlib.metadata import version
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any

from jinja2 import TemplateError
from jinja2.sandbox import ImmutableSandboxedEnvironment
from psopt.models.gguf._reader import FEW_WAYS, GGUFWeights, Reader, find_gguf
from psopt.models.scoring import PromptTokenizer, ScoringModel, common_length

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray
    from psopt.models._answer_cache import AnswerCache
    from psopt.models.gguf._reader import ReadPrefix, Tokens
    from psopt.models.scoring import LabelTree
    from psopt.search_spaces import Messages


_WAY_OF_READING = 2  # part of the cache key; way 1 lost the beginning of a prompt when the context had to grow for it
_LONG = 8  # tokens; 57 shared ones read once, not by each: SmolLM2 answers 1.2 times as fast for 60 texts, 1.6 for 15
# SmolLM2 on one thread takes 4.7 ms per token for 20 tokens at once, 4.0 for 64, and 3.9 for 128 and more. So short
# texts are read side by side: 60 TREC questions take 1.15 times less by twos, 1.21 by fours, 1.23 by eights.
_SIDE_BY_SIDE = 4  # prompts; each has its own memory of the common beginning
_ENOUGH = 128  # tokens at once
_LONGEST = 2048  # tokens; SmolLM2 then takes 190 MB for each processor. Longer prompts are read one by one


class GGUFModel(ScoringModel):
    """A GGUF file as a classifier, by llama.cpp in this process; see `ScoringModel`.

    All processors together read the common beginning of all texts once; then each reads its own texts, short ones by
    fours. Beginnings read last are kept, at most as many bytes as the file has, since a search asks each candidate a
    few texts at a time. The same text has the same scores to the last bit, whatever was read before it.

    Raises InputError if there is no such file, or it is not a GGUF file; MissingExtraError without xllamacpp.
    """

    def __init__(
        self, path: str | Path, *, name: str = "", cache: AnswerCache | None = None, likelihood: str = "mean"
    ) -> None:
        name = name or f"gguf/{path}"
        self._path, stat = find_gguf(name, path)
        self._most_kept = stat.st_size
        self._prefixes: dict[tuple[int, ...], ReadPrefix] = {}  # the one used last comes last
        # What computes with the file, and how: other versions may round differently
        precision = f"llama.cpp of xllamacpp {version('xllamacpp')}, {_WAY_OF_READING}"
        super().__init__(name, f"{stat.st_size} {stat.st_mtime_ns}", precision, cache=cache, likelihood=likelihood)

    @cached_property
    def weights(self) -> GGUFWeights:
        return GGUFWeights(self.name, self._path)

    @cached_property
    def tokenizer(self) -> PromptTokenizer:
        return PromptTokenizer(_GGUFTokenizer(self.weights))

    @property
    def longest(self) -> int:
        return self.weights.longest

    @cached_property
    def _readers(self) -> dict[int, SimpleQueue[Reader]]:
        """One for each processor, by how many prompts they read side by side; what is not used takes no memory."""
        readers: dict[int, SimpleQueue[Reader]] = {n_prompts: SimpleQueue() for n_prompts in (1, _SIDE_BY_SIDE)}
        for n_prompts, queue in readers.items():
            for _ in range(n_processors()):
                queue.put(Reader(self.weights, n_prompts))
        return readers

    def steps(self, prompts: Sequence[Tokens], tree: LabelTree) -> Iterator[tuple[list[int], NDArray[np.float64]]]:
        are_beside = len(tree.paths()) <= FEW_WAYS and max(map(len, prompts)) <= _LONGEST
        n_most = min(_SIDE_BY_SIDE, math.ceil(len(prompts) / n_processors())) if are_beside else 1
        readers = self._readers[_SIDE_BY_SIDE if are_beside else 1]
        threads = ThreadPoolExecutor(n_processors())
        try:
            n_shared = common_length(prompts)
            prefix = self._shared(prompts, n_shared, tree, readers)
            futures = {
                threads.submit(_steps, readers, [prompts[index] for index in group], tree, prefix): group
                for group in _groups(prompts, n_shared, n_most)
            }
            for future, group in futures.items():
                yield group, future.result()
        finally:  # after a failure or Ctrl-C nobody needs the rest, and no thread may be left running
            threads.shutdown(cancel_futures=True)

    def _shared(
        self, prompts: Sequence[Tokens], n_shared: int, tree: LabelTree, readers: SimpleQueue[Reader]
    ) -> ReadPrefix | None:
        """The common beginning of all prompts, read now or before; None where it is short, or there is one prompt.

        It is kept as the one used last, and the oldest are dropped while they take more room than the file.
        """
        if len(prompts) == 1 or n_shared < _LONG:
            return None
        tokens = tuple(prompts[0][:n_shared])
        prefix = self._prefixes.pop(tokens, None)
        if prefix is None:
            n_room = max(map(len, prompts)) + len(tree.tokens)
            with _lent(readers) as reader:
                prefix = reader.read_prefix(prompts[0][:n_shared], n_processors(), n_room)
        self._prefixes[tokens] = prefix
        n_bytes = sum(kept.memory.nbytes for kept in list(self._prefixes.values()))  # other threads may add some
        for oldest in list(self._prefixes)[:-1]:
            if n_bytes <= self._most_kept:
                break
            if dropped := self._prefixes.pop(oldest, None):
                n_bytes -= dropped.memory.nbytes
        return prefix


@contextmanager
def _lent(readers: SimpleQueue[Reader]) -> Iterator[Reader]:
    reader = readers.get()
    try:
        yield reader
    finally:
        readers.put(reader)


def _steps(
    readers: SimpleQueue[Reader], prompts: Sequence[Tokens], tree: LabelTree, prefix: ReadPrefix | None
) -> NDArray[np.float64]:
    with _lent(readers) as reader:
        return reader.log_probabilities(prompts, tree, prefix)[:, list(tree.nodes), list(tree.targets)]


def _groups(prompts: Sequence[Tokens], n_shared: int, n_most: int) -> Iterator[list[int]]:
    """Indices of prompts that are read side by side, short ones of similar length, at most `n_most`."""
    group: list[int] = []
    for index in sorted(range(len(prompts)), key=lambda index: len(prompts[index])):
        n_tokens = (len(group) + 1) * (len(prompts[index]) - n_shared)
        if group and (len(group) == n_most or n_tokens > _ENOUGH):
            yield group
            group = []
        group.append(index)
    yield group


def n_processors() -> int:
    """How many processors this process may use: those of its affinity, and no more than OMP_NUM_THREADS says."""
    most = os.environ.get("OMP_NUM_THREADS", "")
    n_all = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(n_all, int(most)) if most.isdecimal() and int(most) else n_all


class _GGUFTokenizer:
    """A tokenizer in the form that `PromptTokenizer` takes."""

    def __init__(self, weights: GGUFWeights) -> None:
        self._weights = weights
        self.chat_template = weights.chat_template

    def get_chat_template(self) -> str:
        return self.chat_template or ""

    def __call__(self, texts: Sequence[str], *, add_special_tokens: bool, **_: Any) -> dict[str, Any]:
        return {"input_ids": [self._weights.tokens(text, with_opening=add_special_tokens) for text in texts]}

    def apply_chat_template(
        self, conversations: Sequence[Messages], *, chat_template: str, add_generation_prompt: bool, **words: Any
    ) -> list[str]:
        """Each conversation as a text; raises jinja2.TemplateError if the template refuses it."""
        template = self._environment.from_string(chat_template)
        words = {
            "add_generation_prompt": add_generation_prompt,
            "enable_thinking": words.get("enable_thinking"),
            "bos_token": self._weights.special_token("bos"),
            "eos_token": self._weights.special_token("eos"),
        }
        return [template.render(messages=messages, **words) for messages in conversations]

    @cached_property
    def _environment(self) -> ImmutableSandboxedEnvironment:
        """Set up as in transformers; it is a sandbox, since the templates come with the file."""
        environment = ImmutableSandboxedEnvironment(
            trim_blocks=True, lstrip_blocks=True, extensions=["jinja2.ext.loopcontrols"]
        )
        environment.globals["raise_exception"] = _refuse
        environment.filters["tojson"] = lambda value, indent=None: json.dumps(value, ensure_ascii=False, indent=indent)
        return environment


def _refuse(message: str) -> None:
    raise TemplateError(message)
