"""The provider of a promptfoo configuration as psopt's model, its server and options."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from psopt.runs._measured import Measured

if TYPE_CHECKING:
    from collections.abc import Mapping

    from psopt.text import Node

# What stands between a provider and its model, where that is not asked by chat completions
_OTHERS = ("completion", "embedding", "embeddings", "assistant", "realtime", "image", "moderation", "audio", "speech")
_SERVERS = {"ollama": "http://localhost:11434/v1", "localai": "http://localhost:8080/v1"}
_SENT = ("top_p", "presence_penalty", "frequency_penalty", "stop", "reasoning_effort")
_OF_THE_PLACE = ("apiBaseUrl", "apiHost", "apiVersion", "apiKey", "apiKeyEnvar", "organization", "passthrough")


@dataclass(frozen=True, slots=True)
class StatedModel:
    """The model that a configuration states."""

    measured: Measured | None  # None where psopt can't ask it
    note: str  # why it can't, or what else is to be said


def stated_model(config: Node) -> StatedModel:
    """Take the first provider of a promptfoo configuration for the model.

    The values of keys are not read: they come from the environment, as for every model.
    """
    members = config.plain()
    stated = members.get("providers", members.get("targets"))
    providers = [_parted(entry) for entry in (stated if isinstance(stated, list) else [stated]) if entry]
    if not providers:
        return StatedModel(None, "it has no provider")
    name, settings = providers[0]
    address = _address(name, settings)
    if address is None:
        return StatedModel(None, f"its provider {name:.60} is none that psopt can ask")
    model, server = address
    notes = [f"{len(providers)} providers: the first is taken"] if len(providers) > 1 else []
    client, left_out = _client(settings)
    if left_out:
        notes.append(f"not taken over of its config: {', '.join(left_out)}")
    return StatedModel(Measured(model, server=server, client=client), "; ".join(notes))


def _parted(entry: Any) -> tuple[str, dict[str, Any]]:
    """A provider's name and its settings: ``NAME``, ``{id: NAME, config: ..}`` or ``{NAME: {config: ..}}``."""
    if not isinstance(entry, dict):
        return str(entry), {}
    name, options = (entry["id"], entry) if "id" in entry else next(iter(entry.items()))
    settings = options.get("config") if isinstance(options, dict) else None
    return str(name), settings if isinstance(settings, dict) else {}


def _address(name: str, settings: Mapping[str, Any]) -> tuple[str, str | None] | None:
    """The model as ``--model`` takes it and its server; None where psopt can't ask it."""
    kind, *parts = name.split(":")
    if parts and parts[0] in (("chat", "completion") if kind == "ollama" else ("chat", "responses")):
        parts = parts[1:]
    host = settings.get("apiHost")
    base = settings.get("apiBaseUrl") or (f"https://{host}" if host else _SERVERS.get(kind))
    is_unknown = kind not in ("openai", "azure", "azureopenai", *_SERVERS) or not parts or parts[0] in _OTHERS
    if is_unknown or "{{" in name or "{{" in str(base):
        return None
    return f"{'azure' if kind.startswith('azure') else 'openai'}/{':'.join(parts)}", str(base) if base else None


def _client(settings: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """Fields of `LMConfig`, and the settings that none stands for."""
    client: dict[str, Any] = {}
    for theirs, ours in (("temperature", "temperature"), ("max_tokens", "max_tokens"), ("seed", "request_seed")):
        if isinstance(settings.get(theirs), (int, float)) and not isinstance(settings[theirs], bool):
            client[ours] = settings[theirs]
    if settings.get("apiVersion"):
        client["api_version"] = str(settings["apiVersion"])
    passed = settings.get("passthrough")
    body = {name: settings[name] for name in _SENT if name in settings}
    body |= passed if isinstance(passed, dict) else {}
    if body:
        client["extra_body"] = body
    known = {*_SENT, *_OF_THE_PLACE, "temperature", "max_tokens", "seed"}
    return client, [name for name in settings if name not in known]
