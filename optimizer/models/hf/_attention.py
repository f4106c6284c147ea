"""What a model's settings say about how far its layers look, which decides whether texts can share a prefix."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

_DESCRIBED = {"sliding_window", "use_sliding_window", "max_window_layers"}  # by layer_types
# As transformers names kinds of layers in a configuration's layer_types.
_FULL = "full_attention"
_SLIDING = "sliding_attention"


@dataclass(frozen=True, slots=True)
class Attention:
    """How a model attends.

    Attributes
    ----------
    windows : dict
        How many tokens each kind of layer looks back, None for all.
    longest : int or None
        Up to how many tokens these windows are the whole truth: behind it some models turn to other frequencies, or
        to a window that the settings don't describe.
    """

    windows: dict[str, int | None]
    longest: int | None = None

    def covers(self, n_tokens: int) -> bool:
        """Return whether a text of so many tokens is read as described."""
        return self.longest is None or n_tokens <= self.longest


def describe_attention(config: Any) -> Attention | None:
    """Return how a model attends, or None where the settings name something else than full and sliding attention."""
    text = config.get_text_config(decoder=True)
    if any(value for name, value in text.to_dict().items() if _is_window(name)):
        return None
    window = getattr(text, "sliding_window", None)
    kinds = set(getattr(text, "layer_types", None) or ())
    turns = list(_turning_lengths(getattr(text, "rope_parameters", None)))
    if not kinds:
        return Attention({_FULL: None}, min([*turns, window] if window else turns, default=None))
    if not kinds <= {_FULL, _SLIDING} or (_SLIDING in kinds and not window):
        return None
    windows = {kind: window if kind == _SLIDING else None for kind in sorted(kinds)}
    return Attention(windows, min(turns, default=None))


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
