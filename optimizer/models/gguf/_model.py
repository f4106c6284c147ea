"""gguf/..: a GGUF file as a classifier."""

from __future__ import annotations

import json
import os
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any

import numpy as np
from jinja2 import TemplateError
from jinja2.sandbox import ImmutableSandboxedEnvironment
from psopt.errors import import_extra
from psopt.models.gguf._reader import GGUFWeights, Reader, check_is_gguf
from psopt.models.scoring import PromptTokenizer, ScoringModel, common_length

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray
    from psopt.models._answer_cache import AnswerCache
    from psopt.models.gguf._reader import ReadPrefix, Tokens
    from psopt.models.scoring import LabelTree
    from psopt.search_spaces import Messages


_WAY_OF_READING = 2  # part of the cache key; way 1 lost the beginning of a prompt when the context had to grow for it
_LONG = 64  # tokens; reading a shorter beginning takes each processor about as long as a copy. Chosen, not measured


class GGUFModel(ScoringModel):
    """A GGUF file as a classifier, by llama.cpp in this process; see `ScoringModel`.

    All processors together read the common beginning of all texts once. Then each of them reads its own texts after
    that, one by one: so no thread waits for another. Reading several texts at once would gain little, as a CPU spends
    its time on multiplying, not on reading weights. Beginnings read last are kept, at most as many bytes as the file
    has, since a search asks each candidate a few texts at a time.

    The same text has the same scores to the last bit, whatever was read before it. Raises InputError if there is no
    such file, or it is not a GGUF file. Raises MissingExtraError if xllamacpp is not installed.
    """

    def __init__(
        self, path: str | Path, *, name: str = "", cache: AnswerCache | None = None, likelihood: str = "mean"
    ) -> None:
        self._path = Path(path).expanduser()
        name = name or f"gguf/{path}"
        import_extra("xllamacpp", f"the model {name}", "gguf")
        check_is_gguf(name, self._path)
        stat = self._path.stat()
        self._most_kept = stat.st_size
        self._prefixes: dict[tuple[int, ...], ReadPrefix] = {}  # the one used last comes last
        # What computes with the file, and how: other versions may round differently
        precision = f"llama.cpp of xllamacpp {version('xllamacpp')}, {_WAY_OF_READING}"
        super().__init__(name, f"{stat.st_size} {stat.st_mtime_ns}", precision, cache=cache, likelihood=likelihood)

    @cached_property
    def weights(self) -> GGUFWeights:
        """The file in memory."""
        return GGUFWeights(self.name, self._path)

    @cached_property
    def tokenizer(self) -> PromptTokenizer:
        return PromptTokenizer(_GGUFTokenizer(self.weights))

    @property
    def longest(self) -> int:
        return self.weights.longest

    @cached_property
    def _readers(self) -> SimpleQueue[Reader]:
        """One for each processor."""
        readers: SimpleQueue[Reader] = SimpleQueue()
        for _ in range(n_processors()):
            readers.put(Reader(self.weights))
        return readers

    def steps(self, prompts: Sequence[Tokens], tree: LabelTree) -> Iterator[tuple[list[int], NDArray[np.float64]]]:
        _ = self._readers  # made once, before threads ask for them
        threads = ThreadPoolExecutor(n_processors())
        try:
            prefix = self._shared(prompts, tree)
            futures = [threads.submit(self._steps, prompt, tree, prefix) for prompt in prompts]
            for index, future in enumerate(futures):
                yield [index], np.array([future.result()])
        finally:  # after a failure or Ctrl-C nobody needs the rest, and no thread may be left running
            threads.shutdown(cancel_futures=True)

    def _shared(self, prompts: Sequence[Tokens], tree: LabelTree) -> ReadPrefix | None:
        """The common beginning of all prompts, read now or before; None where it is short, or there is one prompt."""
        n_shared = common_length(prompts)
        if len(prompts) == 1 or n_shared < _LONG:
            return None
        tokens = tuple(prompts[0][:n_shared])
        prefix = self._prefixes.pop(tokens, None)
        if prefix is None:
            prefix = self._read(prompts[0][:n_shared], max(map(len, prompts)) + len(tree.tokens))
        self._keep(tokens, prefix)
        return prefix

    def _keep(self, tokens: tuple[int, ...], prefix: ReadPrefix) -> None:
        """Keep a beginning as the one used last, and drop the oldest while they take more room than the file."""
        self._prefixes[tokens] = prefix
        n_bytes = sum(kept.memory.nbytes for kept in list(self._prefixes.values()))  # other threads may add some
        for oldest in list(self._prefixes)[:-1]:
            if n_bytes <= self._most_kept:
                break
            if dropped := self._prefixes.pop(oldest, None):
                n_bytes -= dropped.memory.nbytes

    def _read(self, tokens: Tokens, n_room: int) -> ReadPrefix:
        reader = self._readers.get()
        try:
            return reader.read_prefix(tokens, n_processors(), n_room)
        finally:
            self._readers.put(reader)

    def _steps(self, prompt: Tokens, tree: LabelTree, prefix: ReadPrefix | None) -> list[float]:
        """The log-probability of each of the tree's steps after a prompt."""
        reader = self._readers.get()
        try:
            following = reader.log_probabilities(prompt, tree, prefix)
        finally:
            self._readers.put(reader)
        return [float(step) for step in following[list(tree.nodes), list(tree.targets)]]


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
