"""Chat models put together: client, engine, model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from psopt.models.chat._budget import Budget
from psopt.models.chat._engine import Engine
from psopt.models.chat._model import ChatModel
from psopt.models.chat._options import LmOptions

if TYPE_CHECKING:
    from psopt.models._answer_cache import AnswerCache
    from psopt.models.chat._client import ChatClient


def chat_model(
    kind: str, model: Any, cache: AnswerCache, options: LmOptions | None = None, budget: Budget | None = None
) -> ChatModel:
    """Make the chat model of a kind, ``openai`` or ``dspy``; for dspy also from a `dspy.LM` itself."""
    options = options or LmOptions()
    if budget is None:
        budget = Budget(options.max_calls, options.max_tokens_total, options.max_cost)
    client: ChatClient
    if kind == "openai":
        from psopt.models.chat._openai import OpenAIClient

        client = OpenAIClient(model, options)
    else:
        from psopt.models.chat._dspy import DspyClient

        client = DspyClient(model, options)
    return ChatModel(Engine(client, cache, budget, options))
