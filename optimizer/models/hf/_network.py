"""A causal language model, loaded: tokens in, logits out."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from psopt.models.hf._weights import load_weights

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray
    from psopt.models.hf._packed_row import PackedRow
    from psopt.models.hf._source import Source

    KeysValues = list[tuple[Any, Any]]


_DESCRIBED = {"sliding_window", "use_sliding_window", "max_window_layers"}  # by layer_types
# As transformers names kinds of layers in a configuration's layer_types.
_FULL = "full_attention"
_SLIDING = "sliding_attention"


@dataclass(frozen=True, slots=True)
class _Attention:
    """How a model attends."""

    windows: dict[str, int | None]  # how many tokens each kind of layer looks back, None for all
    # Up to how many tokens these windows are the whole truth: behind it some models turn to other frequencies, or to a
    # window that the settings don't describe
    longest: int | None = None

    def covers(self, n_tokens: int) -> bool:
        """Return whether a text of so many tokens is read as described."""
        return self.longest is None or n_tokens <= self.longest


def describe_attention(config: Any) -> _Attention | None:
    """Return how a model attends, or None where the settings name something else than full and sliding attention."""
    text = config.get_text_config(decoder=True)
    if any(value for name, value in text.to_dict().items() if _is_window(name)):
        return None
    window = getattr(text, "sliding_window", None)
    kinds = set(getattr(text, "layer_types", None) or ())
    turns = list(_turning_lengths(getattr(text, "rope_parameters", None)))
    if not kinds:
        return _Attention({_FULL: None}, min([*turns, window] if window else turns, default=None))
    if not kinds <= {_FULL, _SLIDING} or (_SLIDING in kinds and not window):
        return None
    windows = {kind: window if kind == _SLIDING else None for kind in sorted(kinds)}
    return _Attention(windows, min(turns, default=None))


def _is_window(name: str) -> bool:
    """Whether a setting limits attention in a way of its own."""
    if name in _DESCRIBED or name.endswith("pattern"):
        return False
    return any(part in name for part in ("window", "local_attention", "attention_chunk"))


def _turning_lengths(rope: Any) -> Iterator[int]:
    """The lengths behind which rotary positions are computed in another way; settings may differ by kind of layer."""
    if not isinstance(rope, dict):
        return
    if rope.get("rope_type") == "longrope" and rope.get("original_max_position_embeddings"):
        yield rope["original_max_position_embeddings"]
    for nested in rope.values():
        yield from _turning_lengths(nested)


@dataclass(frozen=True, slots=True)
class Network:
    """A loaded model."""

    model: Any
    device: Any
    attention: _Attention | None  # how far its layers look, where that is known

    @property
    def n_vocabulary(self) -> int:
        """How many tokens it has vectors for."""
        return int(self.model.get_input_embeddings().weight.shape[0])

    def read(self, rows: Sequence[Sequence[int]], keep: Sequence[int]) -> Any:
        """Read rows of one length, each alone; returns the logits at some columns: (n_rows, n_keep, n_vocabulary)."""
        import torch

        ids = torch.tensor(rows, device=self.device)
        return self._logits(keep, input_ids=ids, use_cache=False)[0]

    def read_row(self, pack: PackedRow, past: KeysValues) -> tuple[Any, KeysValues]:
        """Read texts in one row behind what was read before.

        Parameters
        ----------
        past : list of tuple of tensor
            Keys and values of each layer, (1, n_heads, n_past, n) each; they stay as they are.

        Returns
        -------
        logits : (1, n_ends, n_vocabulary) tensor
        past : list of tuple of tensor
            Keys and values, the pack's included.
        """
        import torch
        from transformers import DynamicCache

        windows = self.attention.windows if self.attention else {}
        masks = {kind: self._additive(pack.within(window)) for kind, window in windows.items()}
        logits, cache = self._logits(
            pack.ends,
            input_ids=torch.tensor([pack.tokens], device=self.device),
            attention_mask=masks if len(masks) > 1 else next(iter(masks.values())),
            position_ids=torch.as_tensor(pack.positions, device=self.device)[None],
            past_key_values=DynamicCache(past) if past else DynamicCache(),
            use_cache=True,
        )
        return logits, [(layer.keys, layer.values) for layer in cache.layers]

    def _logits(self, keep: Sequence[int], **inputs: Any) -> tuple[Any, Any]:
        import torch

        columns = torch.tensor(keep, device=self.device)
        if "logits_to_keep" in inspect.signature(self.model.forward).parameters:
            inputs["logits_to_keep"] = columns
        with torch.inference_mode():
            output = self.model(**inputs)
        whole = output.logits.shape[1] != len(keep)
        return output.logits[:, columns] if whole else output.logits, getattr(output, "past_key_values", None)

    def _additive(self, mask: Any) -> Any:
        """0 where a token sees, the lowest number where not: what all ways to compute attention understand."""
        import torch

        seen = torch.as_tensor(mask, device=self.device)[None, None]
        additive = torch.zeros(seen.shape, dtype=self.model.dtype, device=self.device)
        return additive.masked_fill_(~seen, torch.finfo(self.model.dtype).min)


def load_network(source: Source, device: Any, dtype: Any) -> Network:
    """Load a model's weights.

    Raises ModelError if weights are missing, damaged or too large for the device, or need a library that is not
    installed.
    """
    model = load_weights(source, "AutoModelForCausalLM", device, dtype)
    return Network(model, device, describe_attention(model.config))


def log_probabilities(logits: Any, columns: Sequence[int], targets: Sequence[int]) -> NDArray[np.float64]:
    """Return the log-probability of each target token where it would follow: (n_texts, n_targets) float.

    Parameters
    ----------
    logits : (n_texts, n_nodes, n_vocabulary) tensor
    columns, targets : sequence of int
        The node, and the token.
    """
    import torch

    # Text by text: a vocabulary in single precision is large.
    totals = torch.stack([torch.logsumexp(text.float(), dim=-1) for text in logits])
    picked = logits[:, list(columns), list(targets)].float() - totals[:, list(columns)]
    return np.asarray(picked.cpu().numpy(), dtype=np.float64)
