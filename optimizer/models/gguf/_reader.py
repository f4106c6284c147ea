"""A GGUF file in memory, which turns texts into tokens, and readers, which turn tokens into log-probabilities."""

from __future__ import annotations

import itertools
import os
import weakref
from dataclasses import dataclass
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
    from psopt.models.scoring import LabelTree

    Tokens = list[int]

_MAGIC = b"GGUF"


class GGUFWeights:
    """A loaded causal model that has read nothing yet: `Reader` reads. Raises ModelError if llama.cpp can't load it."""

    def __init__(self, name: str, path: Path) -> None:
        self.name = name
        self._library = library()
        self._library.listen()
        settings = self._library.llama_model_default_params()
        self.model = self._library.llama_model_load_from_file(os.fsencode(path), settings)
        if not self.model:
            reason = self._library.reason() or "llama.cpp does not say why"
            place = "" if str(path) in name else f" from {path}"
            raise ModelError(f"{name} can't be loaded{place}: {reason}")
        weakref.finalize(self, self._library.llama_model_free, self.model).atexit = False
        if self._library.llama_model_has_encoder(self.model) or not self._library.llama_model_has_decoder(self.model):
            raise ModelError(f"{name} does not generate text: give a causal language model")
        self._vocabulary = self._library.llama_model_get_vocab(self.model)
        self.n_vocabulary: int = self._library.llama_vocab_n_tokens(self._vocabulary)
        self.longest: int = self._library.llama_model_n_ctx_train(self.model)  # tokens that it was trained to read

    @property
    def chat_template(self) -> str | None:
        """The template that the file brings, in Jinja; None where it brings none."""
        template = self._library.llama_model_chat_template(self.model, None)
        return None if template is None else template.decode()

    def special_token(self, kind: str) -> str:
        """The text of the token ``bos`` or ``eos``; empty where the vocabulary has none."""
        token = getattr(self._library, f"llama_vocab_{kind}")(self._vocabulary)
        if token < 0:
            return ""
        return str(self._library.llama_vocab_get_text(self._vocabulary, token), "utf-8")

    def tokens(self, text: str, *, with_opening: bool = False) -> Tokens:
        """The tokens of a text, including marks of a chat template; on request with those that open a text."""
        encoded = text.encode()
        tokens = np.empty(len(encoded) + 8, dtype=np.int32)  # no token is less than a byte; 8 for opening and end
        n = self._library.llama_tokenize(
            self._vocabulary, encoded, len(encoded), tokens.ctypes.data, len(tokens), with_opening, True
        )
        return list(map(int, tokens[:n]))


def check_is_gguf(name: str, path: Path) -> None:
    """Refuse anything but a GGUF file; raises InputError."""
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
_FEWEST = 2  # other kernels multiply a single token, and they round differently
_FIRST_CONTEXT = 1024  # tokens; doubled for longer prompts
_BRANCHES = 64  # continuations of a prompt that are read side by side; llama.cpp allows at most 256 sequences
# Side by side, SmolLM2 answers 1.5 to 2.7 times as fast with 7 or more continuations. Sums over tokens that are apart
# may round differently, and eight-bit activations may amplify that: of 268 scores 8 differed, by .06 at most. One or
# two continuations are read one after the other.
_FEW_WAYS = 2
_ALL = _WHOLE = -1  # "every sequence" and "to the end" in llama.cpp's interface


@dataclass(frozen=True, slots=True)
class ReadPrefix:
    """Tokens that a reader has read, and its memory of them: others copy that and need not read them."""

    tokens: Tokens
    memory: NDArray[np.uint8]


class Reader:
    """A prompt that a model has read, in one thread, with labels as branches after it.

    What a prompt shares with the previous one is not read again. Many labels are read side by side, each in its own
    sequence that sees the prompt and no other label. Scores do not depend on what was read before, to the last bit.
    """

    def __init__(self, weights: GGUFWeights) -> None:
        self._weights = weights
        self._library = library()
        self._context: int | None = None
        self._free: weakref.finalize[..., Any] | None = None
        self._read: Tokens = []
        self._every_branch = np.arange(_BRANCHES, dtype=np.int32)

    def read_prefix(self, tokens: Tokens, n_threads: int, n_room: int) -> ReadPrefix:
        """Read the common beginning of prompts of at most `n_room` tokens, with several threads of llama.cpp."""
        self._make_room(n_room)
        self._library.llama_set_n_threads(self._context, n_threads, n_threads)
        try:
            self._read_behind(tokens)
        finally:
            self._library.llama_set_n_threads(self._context, 1, 1)
        memory = np.empty(self._library.llama_state_seq_get_size(self._context, 0), dtype=np.uint8)
        n_bytes = self._library.llama_state_seq_get_data(self._context, memory.ctypes.data, len(memory), 0)
        return ReadPrefix(tokens, memory[:n_bytes])

    def _take(self, prefix: ReadPrefix) -> None:
        """Copy what another reader has read into every branch; if that fails, it is read again."""
        self._forget_from(0)
        self._read = []
        memory = prefix.memory
        if not self._library.llama_state_seq_set_data(self._context, memory.ctypes.data, len(memory), 0):
            return
        for branch in range(1, _BRANCHES):
            self._library.llama_memory_seq_cp(self._library.llama_get_memory(self._context), 0, branch, _WHOLE, _WHOLE)
        self._read = prefix.tokens

    def log_probabilities(
        self, prompt: Tokens, tree: LabelTree, prefix: ReadPrefix | None = None
    ) -> NDArray[np.float64]:
        """Log-probabilities of what may follow a prompt and each node of a tree: (1 + n_nodes, n_vocabulary)."""
        from scipy.special import log_softmax

        self._make_room(len(prompt) + len(tree.tokens))
        if prefix and common_length([self._read, prompt]) < len(prefix.tokens):
            self._take(prefix)
        logits = np.empty((1 + len(tree.tokens), self._weights.n_vocabulary))
        paths = tree.paths()
        n_at_once = 1 if len(paths) <= _FEW_WAYS else _BRANCHES
        for start in range(0, len(paths), n_at_once):
            places: dict[int, int] = {}
            branches: dict[int, list[int]] = {}
            for branch, path in enumerate(paths[start : start + n_at_once]):
                places.update(zip(path[1:], itertools.count(len(prompt)), strict=False))
                for node in path[1:]:
                    branches.setdefault(node, []).append(branch)
            nodes = sorted(places)
            branch_tokens = [tree.tokens[node - 1] for node in nodes]
            at = [places[node] for node in nodes]
            logits[[0, *nodes]] = self._read_behind(prompt, branch_tokens, at, [branches[node] for node in nodes])
        return np.asarray(log_softmax(logits, axis=1))

    def _read_behind(
        self, prompt: Tokens, nodes: Sequence[int] = (), places: Sequence[int] = (), branches: Sequence[list[int]] = ()
    ) -> list[NDArray[np.float64]]:
        """The logits after a prompt and after each node: a token at a position in some of the branches."""
        tokens = [*prompt, *nodes]
        position = np.array([*range(len(prompt)), *places], dtype=np.int32)
        sequences = [self._every_branch] * len(prompt) + [np.array(subset, dtype=np.int32) for subset in branches]
        n_known = max(0, min(common_length([self._read, prompt]), len(prompt) - 1, len(tokens) - _FEWEST))
        self._forget_from(n_known)
        rows = []
        while n_known < len(tokens):
            n_left = len(tokens) - n_known
            n_read = min(n_left, _BATCH)
            if n_left - n_read == 1:
                n_read -= _FEWEST
            part = slice(n_known, n_known + n_read)
            is_wanted = np.arange(part.start, part.stop) >= len(prompt) - 1
            rows += self._decode(tokens[part], position[part], sequences[part], is_wanted)
            n_known += n_read
        self._read = prompt
        return rows

    def _make_room(self, n_tokens: int) -> None:
        """Enlarge the context if it is too small; what was read is then read again."""
        if self._context is not None and n_tokens <= self._library.llama_n_ctx(self._context):
            return
        size = _FIRST_CONTEXT
        while size < n_tokens:
            size *= 2
        if self._free is not None:
            self._free()
        self._context = self._free = None
        self._read = []
        self._library.listen()
        self._context = self._library.llama_init_from_model(
            self._weights.model, self._library.context_settings(size, min(size, _BATCH), _BRANCHES)
        )
        if not self._context:
            self._context = None
            reason = self._library.reason() or "the memory may be too small"
            raise ModelError(f"{self._weights.name} can't read {n_tokens} tokens: {reason}")
        # A context reads from the memory of the weights, so its finalizer keeps them alive.
        self._free = weakref.finalize(self, _free, self._library, self._context, self._weights)
        self._free.atexit = False
        self._library.llama_set_n_threads(self._context, 1, 1)
        self._library.check_shares_room(self._context)

    def _forget_from(self, n_known: int) -> None:
        memory = self._library.llama_get_memory(self._context)
        if not self._library.llama_memory_seq_rm(memory, _ALL, n_known, _WHOLE):
            # Models with a recurrent state can't forget only a part of what they have read.
            self._library.llama_memory_seq_rm(memory, _ALL, 0, _WHOLE)
            if n_known:
                raise ModelError(
                    f"{self._weights.name} keeps a state that can't be shared between texts: use hf/ or a server"
                )

    def _decode(
        self,
        tokens: Tokens,
        position: NDArray[np.int32],
        sequences: Sequence[NDArray[np.int32]],
        is_wanted: NDArray[np.bool_],
    ) -> list[NDArray[np.float64]]:
        """Read tokens, each at a position in some sequences; return the logits after those that are wanted."""
        token = np.array(tokens, dtype=np.int32)
        n_sequences = np.array([len(sequence_ids) for sequence_ids in sequences], dtype=np.int32)
        pointers = np.array([sequence_ids.ctypes.data for sequence_ids in sequences], dtype=np.uintp)
        position = np.ascontiguousarray(position)
        wanted = is_wanted.astype(np.int8)
        at = [array.ctypes.data for array in (token, position, n_sequences, pointers, wanted)]
        code = self._library.llama_decode(self._context, Batch(len(token), at[0], None, at[1], at[2], at[3], at[4]))
        if code != 0:
            self._read = []
            reason = self._library.reason() or f"llama.cpp says {code}"
            raise ModelError(f"{self._weights.name} can't answer: {reason}")
        get = self._library.llama_get_logits_ith
        shape = (self._weights.n_vocabulary,)
        return [
            np.ctypeslib.as_array(get(self._context, int(place)), shape).astype(np.float64)
            for place in np.flatnonzero(is_wanted)
        ]


def _free(library: Library, context: int, _weights: GGUFWeights) -> None:
    library.llama_free(context)
