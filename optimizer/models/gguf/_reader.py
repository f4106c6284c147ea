"""A GGUF file in memory, texts to tokens, and what one thread has read: tokens in, log-probabilities out."""

from __future__ import annotations

import os
import weakref
from typing import TYPE_CHECKING, Any

import numpy as np
from psopt.errors import InputError, ModelError
from psopt.models.gguf._library import Batch, library
from psopt.models.scoring import common_length

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from numpy.typing import NDArray
    from psopt.models.gguf._library import Library

    Tokens = list[int]

_MAGIC = b"GGUF"


class GGUFWeights:
    """A model without anything read: `Reader` reads.

    Raises ModelError if llama.cpp can't load the file, or it does not generate text.

    Parameters
    ----------
    name : str
        The model's name in psopt, for errors.

    Attributes
    ----------
    model
        llama.cpp's handle.
    longest : int
        How many tokens the model was trained to read.
    """

    def __init__(self, name: str, path: Path) -> None:
        self.name = name
        self._library = library()
        self._library.errors = []
        settings = self._library.llama_model_default_params()
        self.model = self._library.llama_model_load_from_file(os.fsencode(path), settings)
        if not self.model:
            raise ModelError(f"{name} can't be loaded: {self._library.reason() or 'llama.cpp does not say why'}")
        weakref.finalize(self, self._library.llama_model_free, self.model).atexit = False
        if self._library.llama_model_has_encoder(self.model) or not self._library.llama_model_has_decoder(self.model):
            raise ModelError(f"{name} does not generate text: give a causal language model")
        self._vocabulary = self._library.llama_model_get_vocab(self.model)
        self.n_vocabulary: int = self._library.llama_vocab_n_tokens(self._vocabulary)
        self.longest: int = self._library.llama_model_n_ctx_train(self.model)

    @property
    def chat_template(self) -> str | None:
        """The template that the file brings, in Jinja; None where it brings none."""
        template = self._library.llama_model_chat_template(self.model, None)
        return None if template is None else template.decode()

    def special_token(self, kind: str) -> str:
        """The text of the token ``bos`` or ``eos``; empty where the vocabulary has none."""
        token = getattr(self._library, f"llama_vocab_{kind}")(self._vocabulary)
        return self._library.llama_vocab_get_text(self._vocabulary, token).decode() if token >= 0 else ""

    def tokens(self, text: str, *, with_opening: bool = False) -> Tokens:
        """The tokens of a text, marks of a chat template among them; on request with what a text begins with."""
        encoded = text.encode()
        tokens = np.empty(len(encoded) + 8, dtype=np.int32)  # no token is less than a byte; 8 for opening and end
        n = self._library.llama_tokenize(
            self._vocabulary, encoded, len(encoded), tokens.ctypes.data, len(tokens), with_opening, True
        )
        return [int(token) for token in tokens[:n]]


def check_is_gguf(name: str, path: Path) -> None:
    """Refuse what is no GGUF file.

    Raises InputError.
    """
    if not path.exists():
        raise InputError(f"{name}: there is no file {path}")
    if path.is_dir():
        files = sorted(file.name for file in path.glob("*.gguf"))
        hint = f": it holds {', '.join(files[:3])}" if files else ""
        raise InputError(f"{name} is a folder: give a .gguf file{hint}")
    try:
        with path.open("rb") as file:
            begins = file.read(len(_MAGIC))
    except OSError as error:
        raise InputError(f"{name} can't be read: {error.strerror}") from error
    if begins != _MAGIC:
        raise InputError(f"{name} is no GGUF file: it begins with {begins!r}")


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
        self._free: weakref.finalize[..., Any] | None = None
        self._read: Tokens = []

    def log_probabilities(self, tokens: Tokens, n_places: int = 1) -> NDArray[np.float64]:
        """What may follow each of the last of these tokens: (n_places, n_vocabulary) log-probabilities.

        Raises ModelError if llama.cpp fails.
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
        # The memory of the weights stays as long as a context may read from it: the finalizer holds on to them.
        self._free = weakref.finalize(self, _free, self._library, self._context, self._weights)
        self._free.atexit = False
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
        if self._free is not None:
            self._free()
        self._context = self._free = None
        self._read = []


def _free(library: Library, context: int, _weights: GGUFWeights) -> None:
    library.llama_free(context)
