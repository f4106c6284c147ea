"""A GGUF file in memory, which turns texts into tokens, and readers, which turn tokens into log-probabilities."""

from __future__ import annotations

import itertools
import os
import weakref
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from psopt.errors import InputError, ModelError, import_extra
from psopt.models.gguf._library import Batch, library, unknown_layout
from psopt.models.scoring import common_length

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

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


def find_gguf(name: str, path: str | Path) -> tuple[Path, os.stat_result]:
    """Find a GGUF file, its size and time; raises InputError if it is none, MissingExtraError without xllamacpp."""
    import_extra("xllamacpp", f"the model {name}", "gguf")
    path = Path(path).expanduser()
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
    return path, path.stat()


_BATCH = 512  # tokens read at once: llama.cpp's own default; larger ones are no faster on a CPU
_FEWEST = 2  # other kernels multiply a single token, and they round differently
_FIRST_CONTEXT = 256  # tokens of a prompt; doubled for longer ones
_BRANCHES = 64  # continuations of a prompt that are read side by side; llama.cpp allows at most 256 sequences
# Side by side, SmolLM2 answers 1.5 to 2.7 times as fast with 7 or more continuations. Sums over tokens that are apart
# may round differently, and eight-bit activations may amplify that: of 268 scores 8 differed, by .06 at most. One or
# two continuations are read one after the other.
FEW_WAYS = 2
_ALL = _WHOLE = -1  # "every sequence" and "to the end" in llama.cpp's interface


@dataclass(frozen=True, slots=True)
class ReadPrefix:
    """Tokens that a reader has read, and its memory of them: others copy that and need not read them."""

    tokens: Tokens
    memory: NDArray[np.uint8]


class _Row(NamedTuple):
    """What a reader reads of one prompt: per token its position, its sequences, and whether its logits are wanted."""

    tokens: Tokens
    positions: Sequence[int]
    sequences: list[NDArray[np.int32]]
    is_wanted: NDArray[np.bool_]

    def part(self, columns: slice) -> _Row:
        return _Row(self.tokens[columns], self.positions[columns], self.sequences[columns], self.is_wanted[columns])


class Reader:
    """Prompts that a model has read, in one thread, and labels behind them, as a tree of tokens.

    Up to `n_prompts` prompts are read side by side, each with a memory of its own. One or two paths through the tree
    follow one by one; a reader of one prompt reads more of them side by side, each in its own sequence. What a prompt
    shares with the previous one is not read again. Scores depend on neither, to the last bit.
    """

    def __init__(self, weights: GGUFWeights, n_prompts: int = 1) -> None:
        self.n_prompts = n_prompts
        self._weights = weights
        self._library = library()
        self._context: int | None = None
        self._free: weakref.finalize[..., Any] | None = None
        self._read: list[Tokens] = [[]] * n_prompts
        self._every_branch = np.arange(_BRANCHES, dtype=np.int32)

    def read_prefix(self, tokens: Tokens, n_threads: int, n_room: int) -> ReadPrefix:
        """Read the common beginning of prompts of at most `n_room` tokens, with several threads of llama.cpp."""
        self._make_room(n_room)
        self._library.llama_set_n_threads(self._context, n_threads, n_threads)
        try:
            self._read_behind([tokens])
        finally:
            self._library.llama_set_n_threads(self._context, 1, 1)
        memory = np.empty(self._library.llama_state_seq_get_size(self._context, 0), dtype=np.uint8)
        n_bytes = self._library.llama_state_seq_get_data(self._context, memory.ctypes.data, len(memory), 0)
        return ReadPrefix(tokens, memory[:n_bytes])

    def _take(self, prefix: ReadPrefix) -> None:
        """Copy what another reader has read for every prompt and branch; if that fails, it is read again."""
        self._forget_from(0)
        memory = prefix.memory
        for sequence in range(self.n_prompts):
            if not self._library.llama_state_seq_set_data(self._context, memory.ctypes.data, len(memory), sequence):
                return
            self._read[sequence] = prefix.tokens
        if self.n_prompts == 1:
            kept = self._library.llama_get_memory(self._context)
            for branch in range(1, _BRANCHES):
                self._library.llama_memory_seq_cp(kept, 0, branch, _WHOLE, _WHOLE)

    def log_probabilities(
        self, prompts: Sequence[Tokens], tree: LabelTree, prefix: ReadPrefix | None = None
    ) -> NDArray[np.float64]:
        """What may follow each prompt and each node behind it: (n_prompts, 1 + n_nodes, n_vocabulary) logs."""
        from scipy.special import log_softmax

        self._make_room(max(map(len, prompts)) + len(tree.tokens))
        if prefix and common_length([*self._read[: len(prompts)], *prompts]) < len(prefix.tokens):
            self._take(prefix)
        logits = np.empty((len(prompts), 1 + len(tree.tokens), self._weights.n_vocabulary))
        paths = tree.paths()
        if len(paths) <= FEW_WAYS:
            for path in paths:
                logits[:, path] = self._read_behind(prompts, [tree.tokens[node - 1] for node in path[1:]])
        else:
            for start in range(0, len(paths), _BRANCHES):
                nodes, depths, branches = _side_by_side(paths[start : start + _BRANCHES])
                tokens = [tree.tokens[node - 1] for node in nodes]
                logits[:, [0, *nodes]] = self._read_behind(prompts, tokens, depths, branches)
        return np.asarray(log_softmax(logits, axis=-1))

    def _read_behind(
        self,
        prompts: Sequence[Tokens],
        behind: Sequence[int] = (),
        depths: Sequence[int] = (),
        branches: Sequence[Sequence[int]] = (),
    ) -> list[list[NDArray[np.float64]]]:
        """Per prompt the logits after it and after each token behind it: one by one, or at a depth in some branches."""
        n_columns = max(map(len, prompts)) + len(behind)
        rows = [self._row(index, prompt, behind, n_columns) for index, prompt in enumerate(prompts)]
        if branches:
            (prompt,) = prompts
            positions = [*range(len(prompt)), *(len(prompt) + depth for depth in depths)]
            sequences = [np.array(branch, dtype=np.int32) for branch in branches]
            rows = [rows[0]._replace(positions=positions, sequences=rows[0].sequences[: len(prompt)] + sequences)]
        n_shared = min(common_length([*pair]) for pair in zip(self._read, prompts, strict=False))
        shortest = min(map(len, prompts))
        n_known = max(0, min(n_shared, shortest - 1, shortest + len(behind) - _FEWEST))
        self._forget_from(n_known)
        logits: list[list[NDArray[np.float64]]] = [[] for _ in rows]
        for columns in _parts(n_known, n_columns, _BATCH // len(rows)):
            parts = [row.part(columns) for row in rows]
            wanted = self._decode(parts)
            for part, of_prompt in zip(parts, logits, strict=True):
                of_prompt += itertools.islice(wanted, int(part.is_wanted.sum()))
        self._read[: len(prompts)] = prompts
        return logits

    def _row(self, index: int, prompt: Tokens, behind: Sequence[int], n_columns: int) -> _Row:
        """A prompt with what follows; lengthened, which changes nothing before, as prompts are read in equal steps."""
        tokens = [*prompt, *behind]
        n = len(tokens)
        tokens += tokens[-1:] * (n_columns - n)
        own = self._every_branch if self.n_prompts == 1 else self._every_branch[index : index + 1]
        column = np.arange(n_columns)
        return _Row(tokens, range(n_columns), [own] * n_columns, (column >= len(prompt) - 1) & (column < n))

    def _make_room(self, n_tokens: int) -> None:
        """Enlarge the context if it is too small; what was read is then read again."""
        if self._context is not None and n_tokens <= self._library.llama_n_ctx_seq(self._context):
            return
        size = _FIRST_CONTEXT
        while size < n_tokens:
            size *= 2
        if self._free is not None:
            self._free()
        self._context = self._free = None
        self._read = [[]] * self.n_prompts
        self._library.listen()
        is_shared = self.n_prompts == 1
        n_sequences = _BRANCHES if is_shared else self.n_prompts
        self._context = self._library.llama_init_from_model(
            self._weights.model, self._library.context_settings(size, _BATCH, n_sequences, is_shared=is_shared)
        )
        if not self._context:
            reason = self._library.reason() or "the memory may be too small"
            raise ModelError(f"{self._weights.name} can't read {n_tokens} tokens: {reason}")
        # A context reads from the memory of the weights, so its finalizer keeps them alive.
        self._free = weakref.finalize(self, _free, self._library, self._context, self._weights)
        self._free.atexit = False
        self._library.llama_set_n_threads(self._context, 1, 1)
        if self._library.llama_n_ctx_seq(self._context) != size:
            raise unknown_layout()

    def _forget_from(self, n_known: int) -> None:
        self._read = [tokens[:n_known] for tokens in self._read]
        memory = self._library.llama_get_memory(self._context)
        if not self._library.llama_memory_seq_rm(memory, _ALL, n_known, _WHOLE):
            # Models with a recurrent state can't forget only a part of what they have read.
            self._library.llama_memory_seq_rm(memory, _ALL, 0, _WHOLE)
            if n_known:
                raise ModelError(
                    f"{self._weights.name} keeps a state that can't be shared between texts: use hf/ or a server"
                )

    def _decode(self, rows: Sequence[_Row]) -> Iterator[NDArray[np.float64]]:
        """Read rows side by side; the logits that are wanted, row by row."""
        token = np.concatenate([row.tokens for row in rows]).astype(np.int32)
        position = np.concatenate([row.positions for row in rows]).astype(np.int32)
        is_wanted = np.concatenate([row.is_wanted for row in rows]).astype(np.int8)
        sequences = [sequence_ids for row in rows for sequence_ids in row.sequences]
        n_sequences = np.array([len(sequence_ids) for sequence_ids in sequences], dtype=np.int32)
        pointers = np.array([sequence_ids.ctypes.data for sequence_ids in sequences], dtype=np.uintp)
        at = [array.ctypes.data for array in (token, position, n_sequences, pointers, is_wanted)]
        code = self._library.llama_decode(self._context, Batch(len(token), at[0], None, at[1], at[2], at[3], at[4]))
        if code != 0:
            self._read = [[]] * self.n_prompts
            reason = self._library.reason() or f"llama.cpp says {code}"
            raise ModelError(f"{self._weights.name} can't answer: {reason}")
        get = self._library.llama_get_logits_ith
        shape = (self._weights.n_vocabulary,)
        return (
            np.ctypeslib.as_array(get(self._context, int(place)), shape).astype(np.float64)
            for place in np.flatnonzero(is_wanted)
        )


def _side_by_side(paths: Sequence[Sequence[int]]) -> tuple[list[int], list[int], list[list[int]]]:
    """The nodes of some paths, each node's depth behind the prompt, and the paths that it is on, as branches."""
    depth_of: dict[int, int] = {}
    branches: dict[int, list[int]] = {}
    for branch, path in enumerate(paths):
        for depth, node in enumerate(path[1:]):
            depth_of[node] = depth
            branches.setdefault(node, []).append(branch)
    nodes = sorted(depth_of)
    return nodes, [depth_of[node] for node in nodes], [branches[node] for node in nodes]


def _parts(first: int, end: int, n_most: int) -> Iterator[slice]:
    """Columns in parts of at most `n_most`, none of them a single one."""
    while first < end:
        n_read = min(end - first, n_most)
        if end - first - n_read == 1:
            n_read -= _FEWEST
        yield slice(first, first + n_read)
        first += n_read


def _free(library: Library, context: int, _weights: GGUFWeights) -> None:
    library.llama_free(context)
