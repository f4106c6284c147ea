"""Chat models put together: client, engine, model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from psopt.errors import InputError
from psopt.models._answer_cache import AnswerCache
from psopt.models.chat._address import public_address
from psopt.models.chat._budget import Budget
from psopt.models.chat._config import LMConfig
from psopt.models.chat._engine import Engine
from psopt.models.chat._model import ChatModel
from psopt.models.chat._writer import Writer

if TYPE_CHECKING:
    from pathlib import Path

    from psopt.models.chat._client import ChatClient

CHAT_KINDS = frozenset({"openai", "azure", "dspy"})
"""What names of models that are asked by chat messages begin with."""


def chat_engine(
    kind: str, model: Any, cache: AnswerCache, options: LMConfig | None = None, budget: Budget | None = None
) -> Engine:
    """Make the engine of a kind of model, ``openai``, ``azure`` or ``dspy``; for dspy also from a `dspy.LM` itself."""
    options = options or LMConfig()
    return Engine(chat_client(kind, model, options), cache, budget or Budget.of(options), options)


def chat_client(kind: str, model: Any, options: LMConfig) -> ChatClient:
    """Make what sends the requests to a kind of model, ``openai``, ``azure`` or ``dspy``."""
    if kind == "openai":
        from psopt.models.chat._openai_client import OpenAIClient

        return OpenAIClient(model, options)
    if kind == "azure":
        from psopt.models.chat._address import azure_address
        from psopt.models.chat._openai_client import OpenAIClient

        return OpenAIClient(model, options, azure_address(model, options), kind)
    from psopt.models.chat._dspy_client import DspyClient

    return DspyClient(model, options)


def server_of(model: str, options: LMConfig) -> str | None:
    """The address that a model of this name is asked at, without secrets; None where psopt itself asks no server."""
    kind, _, name = model.partition("/")
    if kind not in CHAT_KINDS or not name:
        return None
    return public_address(chat_client(kind, name, options).endpoint)


def chat_model(
    kind: str, model: Any, cache: AnswerCache, options: LMConfig | None = None, budget: Budget | None = None
) -> ChatModel:
    """Make a task model; see `chat_engine`."""
    return ChatModel(chat_engine(kind, model, cache, options, budget))


def load_writer(
    model: Any, *, cache_dir: Path | None = None, options: LMConfig | None = None, budget: Budget | None = None
) -> Writer:
    """Load a model that writes, by the names of `load_model`, or from a `dspy.LM`.

    Raises
    ------
    InputError
        If the model can't write.
    """
    kind, _, name = model.partition("/") if isinstance(model, str) else ("dspy", "", model)
    if kind not in CHAT_KINDS or not name:
        raise InputError(f"model {model!r} writes no text: use openai/NAME, azure/DEPLOYMENT or dspy/NAME")
    return Writer(chat_engine(kind, name, AnswerCache(cache_dir), options, budget))
