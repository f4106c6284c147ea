"""llama.cpp's C interface, from the package xllamacpp, whose own classes serve chats and give no logits.

We call only functions whose signatures have been the same for years. One large struct must be filled in: the settings
of a context. We set six of its fields, and first check their positions by llama.cpp's default values: another layout is
then an error in one line, and not a crash.
"""

from __future__ import annotations

import ctypes as c
import functools
from typing import Any

import numpy as np
from psopt.errors import ModelError

_BLOB = 1024  # bytes: longer than either struct of settings, so that we can pass it on without knowing all of it
_LONGEST_SETTINGS = 256  # bytes: an upper bound for the struct of a context, which has 136
_SIZES = np.array([512, 2048, 512, 1], dtype=np.uint32)  # llama.cpp's defaults of n_ctx, n_batch, n_ubatch, n_seq_max
_AUTOMATIC = b"\xff" * 16  # -1, four times: types of rotary scaling, pooling, attention, and flash attention
# embeddings, offload_kqv, no_perf, op_offload, swa_full, kv_unified
_SWITCHES = bytes([0, 1, 1, 1, 1, 0])
_ERROR = 4  # GGML_LOG_LEVEL_ERROR
_LINES_KEPT = 20  # of the library's messages, so that they do not pile up


class Settings(c.Structure):
    _fields_ = (("bytes", c.c_uint8 * _BLOB),)


class Batch(c.Structure):
    """llama_batch: pointers to arrays of `n_tokens` each."""

    _pointers = ("token", "embd", "pos", "n_seq_id", "seq_id", "logits")
    _fields_ = (("n_tokens", c.c_int32), *((name, c.c_void_p) for name in _pointers))


_LOGS = c.CFUNCTYPE(None, c.c_int, c.c_char_p, c.c_void_p)
_POINTER, _INT, _TEXT, _BOOL = c.c_void_p, c.c_int32, c.c_char_p, c.c_bool
_FUNCTIONS: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "llama_log_set": (None, (_LOGS, _POINTER)),
    "llama_backend_init": (None, ()),
    "llama_model_default_params": (Settings, ()),
    "llama_context_default_params": (Settings, ()),
    "llama_model_load_from_file": (_POINTER, (_TEXT, Settings)),
    "llama_model_free": (None, (_POINTER,)),
    "llama_model_get_vocab": (_POINTER, (_POINTER,)),
    "llama_model_n_ctx_train": (_INT, (_POINTER,)),
    "llama_model_has_encoder": (_BOOL, (_POINTER,)),
    "llama_model_has_decoder": (_BOOL, (_POINTER,)),
    "llama_model_chat_template": (_TEXT, (_POINTER, _TEXT)),
    "llama_init_from_model": (_POINTER, (_POINTER, Settings)),
    "llama_free": (None, (_POINTER,)),
    "llama_n_ctx_seq": (c.c_uint32, (_POINTER,)),
    "llama_set_n_threads": (None, (_POINTER, _INT, _INT)),
    "llama_get_memory": (_POINTER, (_POINTER,)),
    "llama_memory_seq_rm": (_BOOL, (_POINTER, _INT, _INT, _INT)),
    "llama_memory_seq_cp": (None, (_POINTER, _INT, _INT, _INT, _INT)),
    "llama_state_seq_get_size": (c.c_size_t, (_POINTER, _INT)),
    "llama_state_seq_get_data": (c.c_size_t, (_POINTER, _POINTER, c.c_size_t, _INT)),
    "llama_state_seq_set_data": (c.c_size_t, (_POINTER, _POINTER, c.c_size_t, _INT)),
    "llama_decode": (_INT, (_POINTER, Batch)),
    "llama_get_logits_ith": (c.POINTER(c.c_float), (_POINTER, _INT)),
    "llama_vocab_n_tokens": (_INT, (_POINTER,)),
    "llama_vocab_bos": (_INT, (_POINTER,)),
    "llama_vocab_eos": (_INT, (_POINTER,)),
    "llama_vocab_get_text": (_TEXT, (_POINTER, _INT)),
    "llama_tokenize": (_INT, (_POINTER, _TEXT, _INT, _POINTER, _INT, _BOOL, _BOOL)),
}


class Library:
    """The functions by name, and the library's error messages."""

    def __init__(self) -> None:
        import xllamacpp

        handle = c.CDLL(xllamacpp.xllamacpp.__file__)
        try:
            for function, (result, arguments) in _FUNCTIONS.items():
                bound = getattr(handle, function)
                bound.restype, bound.argtypes = result, arguments
                setattr(self, function, bound)
        except AttributeError as error:
            raise unknown_layout(f"has no {str(error).rpartition(' ')[2]}") from error
        self._keep_errors = _LOGS(self._log)
        self.listen()
        self.llama_backend_init()

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(name)

    def context_settings(self, n_tokens: int, n_batch: int, n_sequences: int, *, is_shared: bool) -> Settings:
        """Settings of a context that reads `n_batch` tokens at once and holds `n_tokens`, shared or for each sequence.

        Flash attention is off: on a CPU its sums depend on how a text is cut into batches, and scores must not. Raises
        ModelError if the layout is another.
        """
        default = bytes(self.llama_context_default_params())
        flash = default.find(_AUTOMATIC) + 12
        switches = default.find(_SWITCHES)  # the first match: the bytes behind the struct are arbitrary
        if default[:16] != _SIZES.tobytes() or not 0 < flash < switches < _LONGEST_SETTINGS:
            raise unknown_layout()
        settings = bytearray(default)
        n_all = n_tokens if is_shared else n_tokens * n_sequences
        settings[:16] = np.array([n_all, n_batch, n_batch, n_sequences], dtype=np.uint32).tobytes()
        settings[flash : flash + 4] = bytes(4)
        settings[switches + len(_SWITCHES) - 1] = is_shared
        return Settings.from_buffer(settings)

    def listen(self) -> None:
        """Forget earlier messages, and keep those to come: a server that xllamacpp starts takes them for itself."""
        self.errors: list[str] = []
        self.llama_log_set(self._keep_errors, None)

    def reason(self) -> str:
        """The library's own explanation of a failure; empty where it gave none."""
        first = next((line for line in self.errors if not line.startswith("llama_model_load_from_file")), "")
        return first.partition("error loading model: ")[2] or first.partition(": ")[2] or first

    def _log(self, level: int, text: bytes | None, _: Any) -> None:
        line = (text or b"").decode("utf-8", "replace").strip()
        if level == _ERROR and line:
            self.errors = [*self.errors, line][-_LINES_KEPT:]


@functools.cache
def library() -> Library:
    """The library, loaded once for all models; raises ModelError if we do not know its version's layout."""
    return Library()


def unknown_layout(why: str = "lays out its settings in another way") -> ModelError:
    return ModelError(
        f"the installed xllamacpp {why}: pip install 'psopt[gguf]' brings one that fits, or ask llama.cpp's own server "
        "(--model openai/NAME --api-base URL)"
    )
