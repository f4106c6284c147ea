"""What one thread has read of a text: tokens in, the probabilities of what may follow out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from psopt.errors import ModelError
from psopt.models.gguf._library import Batch, library
from psopt.models.scoring import common_length

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray
    from psopt.models.gguf._weights import GGUFWeights, Tokens

_BATCH = 512  # tokens read at once: llama.cpp's own default; larger ones are no faster on a CPU
_FEWEST = 2  # a token alone is multiplied by other kernels, which round otherwise
_FIRST_CONTEXT = 1024  # tokens; doubled as longer prompts come
_WHOLE = -1  # "to the end", as llama.cpp says it


class Reader:
    """One sequence of tokens that a model has read, by one thread.

    What a prompt shares with the one before it is not read again, and every token is computed as it would be in a text
    read alone, in the same order: scores do not depend on what was read before, to the last bit.
    """

    def __init__(self, weights: GGUFWeights) -> None:
        self._weights = weights
        self._library = library()
        self._context: int | None = None
        self._read: Tokens = []

    def log_probabilities(self, tokens: Tokens, n_places: int = 1) -> NDArray[np.float64]:
        """What may follow each of the last of these tokens: (n_places, n_vocabulary) log-probabilities.

        Raises ModelError if llama.cpp fails, or answers with what is no number.
        """
        first_place = len(tokens) - n_places
        n_known = max(0, min(common_length([self._read, tokens]), first_place, len(tokens) - _FEWEST))
        self._make_room(len(tokens))
        self._forget_from(n_known)
        rows = []
        while n_known < len(tokens):
            n_left = len(tokens) - n_known
            n_read = _BATCH - _FEWEST if n_left == _BATCH + 1 else min(n_left, _BATCH)
            rows += self._decode(tokens[n_known : n_known + n_read], n_known, first_place)
            n_known += n_read
        self._read = list(tokens)
        logits = np.array(rows)
        if np.isnan(logits).any():
            raise ModelError(f"{self._weights.name} gives NaN for a probability: its weights are damaged")
        logits -= logits.max(axis=1, keepdims=True)
        return np.asarray(logits - np.log(np.exp(logits).sum(axis=1, keepdims=True)))

    def _make_room(self, n_tokens: int) -> None:
        """Make the context larger where it must be; what was read is then read again."""
        if self._context is not None and n_tokens <= self._library.llama_n_ctx(self._context):
            return
        size = _FIRST_CONTEXT
        while size < n_tokens:
            size *= 2
        self._free_context()
        self._library.errors = []
        self._context = self._library.llama_init_from_model(
            self._weights.model, self._library.context_settings(size, min(size, _BATCH))
        )
        if not self._context:
            self._context = None
            reason = self._library.reason() or "the memory may be too small"
            raise ModelError(f"{self._weights.name} can't read {n_tokens} tokens: {reason}")
        self._weights.hold()
        self._library.llama_set_n_threads(self._context, 1, 1)

    def _forget_from(self, n_known: int) -> None:
        if not self._library.llama_memory_seq_rm(self._library.llama_get_memory(self._context), 0, n_known, _WHOLE):
            # Models with a recurrent state can't take back a part of what they have read.
            self._library.llama_memory_seq_rm(self._library.llama_get_memory(self._context), 0, 0, _WHOLE)
            if n_known:
                raise ModelError(
                    f"{self._weights.name} keeps a state that can't be shared between texts: use hf/ or a server"
                )

    def _decode(self, tokens: Sequence[int], start: int, first_place: int) -> list[NDArray[np.float64]]:
        """Read tokens behind the first `start`; the logits behind each from number `first_place` on."""
        n = len(tokens)
        token = np.array(tokens, dtype=np.int32)
        position = np.arange(start, start + n, dtype=np.int32)
        ones = np.ones(n, dtype=np.int32)
        sequence = np.zeros(1, dtype=np.int32)
        sequences = np.full(n, sequence.ctypes.data, dtype=np.uintp)
        is_wanted = (position >= first_place).astype(np.int8)
        arrays = (token, position, ones, sequences, is_wanted)
        at = [array.ctypes.data for array in arrays]
        code = self._library.llama_decode(self._context, Batch(n, at[0], None, at[1], at[2], at[3], at[4]))
        if code != 0:
            self._read = []
            raise ModelError(f"{self._weights.name} can't answer: {self._library.reason() or f'llama.cpp says {code}'}")
        get = self._library.llama_get_logits_ith
        shape = (self._weights.n_vocabulary,)
        return [
            np.ctypeslib.as_array(get(self._context, int(place)), shape).astype(np.float64)
            for place in np.flatnonzero(is_wanted)
        ]

    def _free_context(self) -> None:
        if self._context is not None:
            self._library.llama_free(self._context)
            self._weights.release()
        self._context = None
        self._read = []

    def __del__(self) -> None:
        self._free_context()
