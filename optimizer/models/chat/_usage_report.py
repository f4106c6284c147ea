"""What an answer took, as servers report it in `usage`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping


class TokenUsage(NamedTuple):
    """Tokens of one answer.

    Attributes
    ----------
    tokens_in, tokens_out : int
        All that was read and written; 0 where the server says nothing.
    reasoning : int
        How many of `tokens_out` were thought and not said.
    cached_in : int
        How many of `tokens_in` the server had read before: many ask less for them.
    """

    tokens_in: int = 0
    tokens_out: int = 0
    reasoning: int = 0
    cached_in: int = 0


def read_usage(usage: Mapping[str, Any] | None) -> TokenUsage:
    """Read the `usage` of a chat completion.

    Reasoning tokens are a part of `completion_tokens` (OpenAI's protocol), unless the server's own figures show that
    they stand beside them: `total_tokens` counts them once more, or there are more of them than of the whole answer.
    Then they are added, since they are paid like the others.

    >>> read_usage({"prompt_tokens": 9, "completion_tokens": 7, "completion_tokens_details": {"reasoning_tokens": 5}})
    TokenUsage(tokens_in=9, tokens_out=7, reasoning=5, cached_in=0)
    >>> read_usage({"prompt_tokens": 9, "completion_tokens": 7, "total_tokens": 21, "reasoning_tokens": 5})
    TokenUsage(tokens_in=9, tokens_out=12, reasoning=5, cached_in=0)
    """
    usage = usage or {}
    tokens_in = _number(usage, "prompt_tokens")
    tokens_out = _number(usage, "completion_tokens")
    # xAI and some gateways give the figure at the top level.
    reasoning = _number(usage.get("completion_tokens_details"), "reasoning_tokens") or _number(
        usage, "reasoning_tokens"
    )
    cached = _number(usage.get("prompt_tokens_details"), "cached_tokens") or _number(usage, "prompt_cache_hit_tokens")
    counted_beside = _number(usage, "total_tokens") == tokens_in + tokens_out + reasoning
    if reasoning and (counted_beside or reasoning > tokens_out):
        tokens_out += reasoning
    return TokenUsage(tokens_in, tokens_out, reasoning, min(cached, tokens_in))


def _number(counts: Any, name: str) -> int:
    """A count of a usage report; 0 for what is missing, null or no count."""
    try:
        return max(0, int(counts.get(name) or 0))
    except (AttributeError, TypeError, ValueError, OverflowError):
        return 0
