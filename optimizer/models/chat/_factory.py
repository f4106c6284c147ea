"""Builds chat models: client, engine, model."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from psopt.errors import InputError
from psopt.models._answer_cache import AnswerCache
from psopt.models.chat._address import public_address
from psopt.models.chat._budget import Budget
from psopt.models.chat._dspy_client import DspyClient
from psopt.models.chat._engine import Engine
from psopt.models.chat._function_client import KIND, FunctionClient
from psopt.models.chat._gguf_client import SLOTS, GGUFClient
from psopt.models.chat._model import ChatModel
from psopt.models.chat._openai_client import OpenAIClient
from psopt.models.chat._writer import Writer
from psopt.models.chat.batches import BatchRunner
from psopt.models.gguf import fetched_model
from psopt.settings import LMConfig

if TYPE_CHECKING:
    from pathlib import Path

    from psopt.models._assessment import Assessor
    from psopt.models.chat._client import ChatClient

CHAT_KINDS = frozenset({"openai", "azure", "dspy"})
"""The first part of the names of models that are asked with chat messages."""
GGUF_KIND = "gguf"
"""The first part of such names if the model writes in this process."""
WRITING_KINDS = CHAT_KINDS | {GGUF_KIND}
RUN_HERE = frozenset({"minilm", "smollm2", "gguf", "hf", "sim"})
"""Models that answer in this process; they choose among labels."""
BATCH_KINDS = frozenset({"openai", "azure"})

_IN_PROCESS = 600.0  # seconds: many times what a model of a few billion parameters takes for a text on two cores


def chat_engine(kind: str, model: Any, cache: AnswerCache, options: LMConfig, budget: Budget | None = None) -> Engine:
    """Make an engine: of ``openai``, ``azure`` or ``dspy`` by name, of a `dspy.LM`, or of a callable (``function``)."""
    if kind == GGUF_KIND:
        # No server can be unreachable, so a short time limit has no use; calls beyond the slots would only queue.
        options = options.changed(timeout=max(options.timeout, _IN_PROCESS), concurrency=SLOTS)
    client = chat_client(kind, model, options)
    engine = Engine(client, cache, budget or Budget.of(options), options)
    if options.batch and isinstance(client, OpenAIClient):
        engine.batches = BatchRunner(engine, client, cache.folder)
    return engine


def chat_client(kind: str, model: Any, options: LMConfig) -> ChatClient:
    if kind in BATCH_KINDS:
        return OpenAIClient(model, options, kind)
    if kind == KIND:
        return FunctionClient(model, options)
    if kind == GGUF_KIND:
        return GGUFClient(f"{kind}/{model}", model, options)
    return DspyClient(model, options)


def server_of(model: str, options: LMConfig) -> str | None:
    """The address at which a model of this name is asked, without secrets; None where psopt itself asks no server."""
    kind, _, name = model.partition("/")
    if kind not in CHAT_KINDS or not name:
        return None
    return public_address(chat_client(kind, name, options).endpoint)


def chat_model(
    kind: str,
    model: Any,
    cache: AnswerCache,
    options: LMConfig,
    budget: Budget | None = None,
    assessor: Assessor | None = None,
) -> ChatModel:
    """Make a task model, perhaps with an assessor of its free answers."""
    engine = chat_engine(kind, model, cache, options, budget)
    if engine.batches:
        engine.meter.price = engine.meter.price.in_batches()
    return ChatModel(engine, assessor)


def load_writer(
    model: Any, *, cache_dir: Path | None = None, options: LMConfig | None = None, budget: Budget | None = None
) -> Writer:
    """Load a model that writes, by its name or from a `dspy.LM`; raises InputError if it can't write."""
    kind, name = "dspy", model
    if model == "smollm2":
        kind, name = GGUF_KIND, str(fetched_model(model))
    elif isinstance(model, str):
        kind, _, name = model.partition("/")
    elif not hasattr(model, "copy"):
        raise InputError(f"a model that writes is a name or a dspy.LM, not {model!r:.60}")
    if kind not in WRITING_KINDS or not name:
        hint = name_hint(model) or "use openai/NAME, azure/DEPLOYMENT, gguf/PATH or dspy/NAME"
        raise InputError(f"model {model!r} writes no text: {hint}")
    return Writer(chat_engine(kind, name, AnswerCache(cache_dir), options or LMConfig(), budget))


_OLLAMA = "openai/{} with --api-base http://localhost:11434/v1 (Ollama), or another server of yours"
# Names as people write them, and what they probably mean; the first that fits applies. Of LiteLLM's many providers only
# those that people have in their settings: any other first part is an organization on the hub.
_MEANT = (
    (r"ollama(?:_chat)?/(.+)", _OLLAMA),
    (r"(?:huggingface|transformers)/(.+)", "hf/{} to run it here"),
    (r"((anthropic|bedrock|cohere|deepseek|gemini|groq|mistral|openrouter|together_ai|vertex_ai|xai)/.*)", "dspy/{}"),
    (r"((?:llama|mistral|mixtral|qwen|phi|gemma|deepseek|tinyllama|smollm|gpt-oss)[^/]*)", _OLLAMA),
    (r"((?:gpt|chatgpt|o\d|ft:)[\w.:-]*)", "openai/{}"),
    (r"([^/]*:[^/]*)", _OLLAMA),  # NAME:TAG is Ollama's format
    (r"(claude[^/]*)", "dspy/anthropic/{}"),
    (r"(gemini[^/]*)", "dspy/gemini/{}"),
    (r"(command-r[^/]*)", "dspy/cohere/{}"),
    (r"(grok[^/]*)", "dspy/xai/{}"),
)


def name_hint(model: str) -> str:
    """Return what a name of an unknown kind probably meant, as a question; empty where that is unclear.

    >>> name_hint("claude-3-5-haiku-latest")
    'did you mean dspy/anthropic/claude-3-5-haiku-latest?'
    >>> name_hint("ollama/llama3")
    'did you mean openai/llama3 with --api-base http://localhost:11434/v1 (Ollama), or another server of yours?'
    """
    for pattern, meant in _MEANT:
        if match := re.fullmatch(pattern, model, re.IGNORECASE):
            return f"did you mean {meant.format(match[1])}?"
    return ""
