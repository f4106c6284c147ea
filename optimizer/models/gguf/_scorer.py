"""A GGUF file made ready: conversations and labels in, log-likelihoods out."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from queue import SimpleQueue
from typing import TYPE_CHECKING

import numpy as np
from psopt.models.gguf._reader import Reader
from psopt.models.gguf._tokenizer import GGUFTokenizer
from psopt.models.gguf._weights import GGUFWeights
from psopt.models.scoring import PromptTokenizer, check_length

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from numpy.typing import NDArray
    from psopt.models.gguf._weights import Tokens
    from psopt.models.scoring import LabelTree
    from psopt.search_spaces import Messages


class GGUFScorer:
    """A `LabelScorer` of a GGUF file.

    Each processor reads texts of its own, one by one behind what they share with the text before. So no thread waits
    for another, which costs most where other programs run beside; and a CPU, whose time goes into multiplying and not
    into reading weights, gains little by several texts at once.

    Raises
    ------
    InputError, ModelError, MissingExtraError
        As `GGUFWeights`.
    """

    def __init__(self, name: str, path: Path) -> None:
        self._weights = GGUFWeights(name, path)
        self._tokenizer = PromptTokenizer(GGUFTokenizer(self._weights))
        self._readers: SimpleQueue[Reader] = SimpleQueue()
        self._n_readers = _n_processors()
        for _ in range(self._n_readers):
            self._readers.put(Reader(self._weights))

    def score(
        self, conversations: Sequence[Messages], labels: Sequence[str], *, per_token: bool, lead: str = ""
    ) -> Iterator[tuple[list[int], NDArray[np.float64]]]:
        """Score labels as answers to conversations; see `LabelScorer.score`."""
        prompts, tree = self._tokenizer.scored(conversations, labels, lead)
        check_length(self._weights.name, prompts, tree, self._weights.longest)
        threads = ThreadPoolExecutor(self._n_readers)
        try:
            futures = [threads.submit(self._steps, prompt, tree) for prompt in prompts]
            for index, future in enumerate(futures):
                yield [index], tree.log_likelihoods(np.array([future.result()]), per_token=per_token)
        finally:  # nobody wants the rest where one has failed, or Ctrl-C was pressed; and no thread is left behind
            threads.shutdown(cancel_futures=True)

    def _steps(self, prompt: Tokens, tree: LabelTree) -> list[float]:
        """The log-probability of each of the tree's steps behind a prompt."""
        reader = self._readers.get()
        following: dict[int, NDArray[np.float64]] = {}
        try:
            for nodes in tree.paths():
                read = [*prompt, *(tree.tokens[node - 1] for node in nodes[1:])]  # node 0 is the prompt's end
                following.update(zip(nodes, reader.log_probabilities(read, len(nodes)), strict=True))
        finally:
            self._readers.put(reader)
        return [float(following[node][target]) for node, target in zip(tree.nodes, tree.targets, strict=True)]


def _n_processors() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
