"""Texts that a server will never answer, however often it is asked: of which kind is the refusal?"""

from __future__ import annotations

import re

CONTENT_FILTER, CONTEXT_LENGTH, INVALID_JSON, REFUSED = "content filter", "context length", "invalid JSON", "refused"

_FINAL = frozenset({400, 413, 422})
_SERVER_ERROR = 500  # llama-cpp-python says it so
# How servers say it, in their codes or in words. Sources: OpenAI (context_length_exceeded, content_filter), Azure
# (content_filter, ResponsibleAIPolicyViolation, "content management policy"), vLLM and SGLang ("maximum context
# length", "longer than the model's context length"), llama.cpp (exceed_context_size_error, "available context
# size"), llama-cpp-python ("exceed context window"), Anthropic ("prompt is too long"), TGI ("`inputs` tokens"), Groq
# (json_validate_failed), Gemini (PROHIBITED_CONTENT), DashScope (data_inspection_failed), LiteLLM (ContextWindow..).
_WORDS = {
    CONTEXT_LENGTH: re.compile(
        r"context_length_exceeded|exceed_context_size|context ?window|context length|available context size"
        r"|prompt is too long|input is too long|`inputs` tokens|inputs` must have less|request_too_large"
        r"|reduce the length of the|maximum model length|max_new_tokens` must be",
        re.IGNORECASE,
    ),
    CONTENT_FILTER: re.compile(
        r"content_?filter|content management policy|ResponsibleAIPolicy|content_policy_violation|ContentPolicyViolation"
        r"|data_inspection_failed|PROHIBITED_CONTENT|safety system|flagged by (?:our )?(?:content )?moderation",
        re.IGNORECASE,
    ),
    INVALID_JSON: re.compile(
        r"json_validate_failed|failed to (?:generate|validate) JSON|failed_generation", re.IGNORECASE
    ),
}


def kind_of_refusal(status: int, message: str) -> str | None:
    """Say as what a text is refused for good; None if the refusal is not the text's fault.

    >>> kind_of_refusal(400, "This model's maximum context length is 4096 tokens. However, you requested ..")
    'context length'
    >>> kind_of_refusal(400, "Unsupported parameter: 'seed'") is None
    True

    Parameters
    ----------
    status : int
        The HTTP status.
    message : str
        What the server said, its code included.
    """
    kinds = (kind for kind, words in _WORDS.items() if words.search(message))
    kind = next(kinds, None)
    if status in _FINAL or (status == _SERVER_ERROR and kind == CONTEXT_LENGTH):
        return kind
    return None
