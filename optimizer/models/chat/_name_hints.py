"""What a model's name that lacks its kind probably means: names as servers, LiteLLM and Ollama have them."""

from __future__ import annotations

import re

_OLLAMA = "http://localhost:11434/v1"  # where Ollama listens, by its documentation
_OPENAI = re.compile(r"(gpt|chatgpt|o\d|ft:)[\w.:-]*", re.IGNORECASE)
_ELSEWHERE = {"claude": "anthropic", "gemini": "gemini", "command-r": "cohere", "grok": "xai"}
_OPEN_WEIGHTS = re.compile(r"(llama|mistral|mixtral|qwen|phi|gemma|deepseek|tinyllama|smollm|gpt-oss)", re.IGNORECASE)
# Of LiteLLM's many those that people have in their settings; a first part that is none is an organisation of the hub's.
_OF_LITELLM = frozenset({
    "anthropic", "bedrock", "cohere", "deepseek", "gemini", "groq", "mistral", "openrouter", "together_ai", "vertex_ai",
    "xai",
})  # fmt: skip


def name_hint(model: str) -> str:
    """Return what a name of no kind that psopt has was probably to be, as a question; empty where nothing is known.

    >>> name_hint("gpt-4o-mini")
    'did you mean openai/gpt-4o-mini?'
    >>> name_hint("claude-3-5-haiku-latest")
    'did you mean dspy/anthropic/claude-3-5-haiku-latest?'
    >>> name_hint("ollama/llama3")
    'did you mean openai/llama3 with --api-base http://localhost:11434/v1 (Ollama), or another server of yours?'
    """
    kind, slash, rest = model.partition("/")
    kind = kind.casefold()
    if kind in {"ollama", "ollama_chat"} and rest:
        return _of_ollama(rest)
    if kind in {"huggingface", "transformers"} and rest:
        return f"did you mean hf/{rest} to run it here?"
    if slash:
        return f"did you mean dspy/{model}?" if kind in _OF_LITELLM else ""
    if _OPENAI.fullmatch(model) and not _OPEN_WEIGHTS.match(model):
        return f"did you mean openai/{model}?"
    if _OPEN_WEIGHTS.match(model) or ":" in model:  # NAME:TAG is Ollama's way
        return _of_ollama(model)
    provider = next((provider for name, provider in _ELSEWHERE.items() if model.casefold().startswith(name)), None)
    return f"did you mean dspy/{provider}/{model}?" if provider else ""


def _of_ollama(name: str) -> str:
    return f"did you mean openai/{name} with --api-base {_OLLAMA} (Ollama), or another server of yours?"
