"""A GGUF file in memory: its weights, and texts to tokens."""

from __future__ import annotations

import os
import threading
from typing import TYPE_CHECKING

import numpy as np
from psopt.errors import InputError, ModelError, import_extra
from psopt.models.gguf._library import library

if TYPE_CHECKING:
    from pathlib import Path

    Tokens = list[int]

_MAGIC = b"GGUF"


class GGUFWeights:
    """A model without anything read: `Reader` reads.

    Raises InputError if there is no such file, or it is no GGUF file. Raises ModelError if llama.cpp can't load it, or
    it does not generate text. Raises MissingExtraError if xllamacpp is not installed.

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
        import_extra("xllamacpp", f"the model {name}", "gguf")
        check_is_gguf(name, path)
        self.name = name
        self._library = library()
        self._library.errors = []
        settings = self._library.llama_model_default_params()
        self.model = self._library.llama_model_load_from_file(os.fsencode(path), settings)
        if not self.model:
            raise ModelError(f"{name} can't be loaded: {self._library.reason() or 'llama.cpp does not say why'}")
        if self._library.llama_model_has_encoder(self.model) or not self._library.llama_model_has_decoder(self.model):
            raise ModelError(f"{name} does not generate text: give a causal language model")
        self._vocabulary = self._library.llama_model_get_vocab(self.model)
        self.n_vocabulary: int = self._library.llama_vocab_n_tokens(self._vocabulary)
        self._n_holders = 1
        self._lock = threading.Lock()
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

    def hold(self) -> None:
        """Keep the memory until `release`: a context reads from it, and the collector ends objects in any order."""
        with self._lock:
            self._n_holders += 1

    def release(self) -> None:
        """Free the memory, if nobody holds it any more."""
        with self._lock:
            self._n_holders -= 1
            if self._n_holders == 0:
                self._library.llama_model_free(self.model)

    def __del__(self) -> None:
        if getattr(self, "_n_holders", 0):
            self.release()


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
