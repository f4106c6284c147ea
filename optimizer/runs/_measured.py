"""How a run's prompt was measured: with which model, where, how it was asked, on what; or what a configuration says."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field, fields
from typing import TYPE_CHECKING, Any

from psopt.errors import InputError
from psopt.evaluation import OBJECTIVES
from psopt.models.chat import LMConfig, is_secret, public_address
from psopt.settings import flat
from psopt.tasks import ORDINAL

if TYPE_CHECKING:
    from collections.abc import Mapping

    from psopt.evaluation import Evaluator, Scores
    from psopt.runs._settings import RunSettings
    from psopt.search import Candidate
    from psopt.tasks import Task
    from psopt.text import Node


PACE = frozenset({"concurrency", "timeout", "retries", "requests_per_minute"})
"""Options that affect when an answer comes, but not what it says."""
ONE_START = frozenset(
    {
        *("max_calls", "max_tokens_total", "max_cost", "max_unanswered", "renegotiate"),
        *("batch", "batch_size", "batch_tick", "max_batches", "batch_keep_files"),
    }
)
"""Options that hold for one start of a run: when it must stop, and how a grid is asked."""
_SCORES = (*OBJECTIVES, "na_rate")


@dataclass(frozen=True, slots=True)
class Measured:
    """What a run's prompt carries in addition to its text."""

    model: str  # the task model's name
    by_name: bool = True  # whether `model` is a name to load it by; False where an object was given in Python
    program: str | None = None  # the DSPy program that the prompt was put into, ``module:attribute`` or ``python``
    server: str | None = None  # where the model was asked, without secrets; None for models without a server
    # How it was asked: fields of `LMConfig` by name, without limits and secrets
    client: dict[str, Any] = field(default_factory=dict)
    seed: int | None = None  # the run's, which decides its rephrasings and what it drew of each split
    # ``name`` and ``sha256``; if `load_task` has split them, ``split_seed``; for ordered labels also ``answers`` and
    # their ``order``, which is empty for numbers
    dataset: dict[str, Any] = field(default_factory=dict)
    # ``sha256`` of both sets, ``n_search`` and ``n_heldout``; in an exported file also the sets, as in rephrasings.json
    rephrasings: dict[str, Any] = field(default_factory=dict)
    # ``rephrasings`` (search or heldout), ``n_samples``, ``n_rephrasings`` and the scores
    val: dict[str, Any] | None = None
    test: dict[str, Any] | None = None

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_dict(cls, data: Any) -> Measured:
        """Read it back, without fields that a later version has added; InputError if it names no model."""
        if not isinstance(data, dict) or not isinstance(data.get("model"), str) or not data["model"]:
            raise InputError("its part 'measured' names no model")
        return cls(**{part.name: data[part.name] for part in fields(cls) if part.name in data})

    @property
    def options(self) -> dict[str, Any]:
        """Fields of `LMConfig` with which the model is asked again as before, at the same server."""
        names = {option.name for option in fields(LMConfig)} - ONE_START
        options = {name: value for name, value in self.client.items() if name in names}
        if self.server:
            options["api_base"] = self.server
        return options

    @property
    def deciding(self) -> dict[str, Any]:
        """What determines the answers besides the prompt: two prompts that differ in it can't be compared."""
        client = {name: value for name, value in self.client.items() if name not in PACE | {"api_base", "headers"}}
        return {"model": self.model, "server": self.server, **client}


def measured(settings: RunSettings, task: Task, evaluator: Evaluator, candidate: Candidate) -> Measured:
    """How a candidate of a run in progress was measured."""
    rephrasings, samples = evaluator.rephrasings, evaluator.samples
    n_search, n_heldout = len(rephrasings.search), len(rephrasings.heldout)
    dataset = {"name": task.info.name, "sha256": task.info.sha256, **answers_of(task)}
    if task.info.split_seed is not None:
        dataset["split_seed"] = task.info.split_seed
    return Measured(
        model=settings.model,
        by_name=not settings.own_model,
        program=settings.program,
        server=None if evaluator.others else getattr(evaluator.model, "server", None),
        client=client_options(settings.lm),
        seed=settings.seed,
        dataset=dataset,
        rephrasings={"sha256": rephrasings.sha256, "n_search": n_search, "n_heldout": n_heldout},
        val=_part("search", len(samples["val"]), n_search, candidate.val),
        test=_part("heldout", len(samples["test"]), n_heldout, candidate.test),
    )


def answers_of(task: Task) -> dict[str, Any]:
    """What answers are, as it is recorded; empty for a single label."""
    if task.positions:
        return {"answers": ORDINAL, "order": list(task.order)}
    if task.spec.is_open:
        return {"answers": task.answers}
    return {}


def client_options(lm: LMConfig) -> dict[str, Any]:
    """Options as they may be stored: without limits, secrets, and the secret parts of addresses."""
    flat_options = flat(lm)
    options = {name: value for name, value in flat_options.items() if name not in ONE_START and not is_secret(name)}
    if lm.headers:
        options["headers"] = flat_options["headers"]  # only their names
    options["api_base"] = public_address(lm.api_base)
    return dict(json.loads(json.dumps(options)))


def _part(which: str, n_samples: int, n_rephrasings: int, scores: Scores | None) -> dict[str, Any] | None:
    if scores is None:
        return None
    values = {name: getattr(scores, name) for name in _SCORES}
    return {"rephrasings": which, "n_samples": n_samples, "n_rephrasings": n_rephrasings, **values}


# What stands between a provider and its model if the model is not asked by chat completions
_OTHERS = ("completion", "embedding", "embeddings", "assistant", "realtime", "image", "moderation", "audio", "speech")
_PROVIDERS = {"openai": "openai", "azure": "azure", "azureopenai": "azure", "ollama": "openai", "localai": "openai"}
_BY_CHAT = {"ollama": ("chat", "completion")}  # others: chat and responses
_SERVERS = {"ollama": "http://localhost:11434/v1", "localai": "http://localhost:8080/v1"}
# Numbers of a configuration, and the fields of `LMConfig` that they are
_NUMBERS = {"temperature": "temperature", "max_tokens": "max_tokens", "seed": "request_seed"}
_SENT = ("top_p", "presence_penalty", "frequency_penalty", "stop", "reasoning_effort")
_OF_THE_PLACE = ("apiBaseUrl", "apiHost", "apiVersion", "apiKey", "apiKeyEnvar", "organization", "passthrough")


def stated_model(config: Node) -> tuple[Measured | None, str]:
    """Take the first provider of a promptfoo configuration, without API keys, as the model; None if not, and why."""
    members = config.plain()
    stated = members.get("providers", members.get("targets"))
    if not isinstance(stated, list):
        stated = [stated]
    providers = [_parted(entry) for entry in stated if entry]
    if not providers:
        return None, "it has no provider"
    name, settings = providers[0]
    address = _address(name, settings)
    if address is None:
        return None, f"its provider {name:.60} is none that psopt can ask"
    model, server = address
    notes = []
    if len(providers) > 1:
        notes.append(f"{len(providers)} providers: the first is taken")
    client, left_out = _client(settings)
    if left_out:
        notes.append(f"not taken over of its config: {', '.join(left_out)}")
    return Measured(model, server=server, client=client), "; ".join(notes)


def _parted(entry: Any) -> tuple[str, dict[str, Any]]:
    """A provider's name and its settings: ``NAME``, ``{id: NAME, config: ..}`` or ``{NAME: {config: ..}}``."""
    if not isinstance(entry, dict):
        return str(entry), {}
    name, options = (entry["id"], entry) if "id" in entry else next(iter(entry.items()))
    return str(name), _object(_object(options).get("config"))


def _object(value: Any) -> dict[str, Any]:
    """A value if it is an object; anything else holds nothing."""
    return value if isinstance(value, dict) else {}


def _address(name: str, settings: Mapping[str, Any]) -> tuple[str, str | None] | None:
    """The model as ``--model`` takes it, and its server; None if psopt can't ask it."""
    kind, *parts = name.split(":")
    if parts and parts[0] in _BY_CHAT.get(kind, ("chat", "responses")):
        parts = parts[1:]
    base = settings.get("apiBaseUrl")
    if not base and settings.get("apiHost"):
        base = f"https://{settings['apiHost']}"
    base = base or _SERVERS.get(kind)
    is_unknown = kind not in _PROVIDERS or not parts or parts[0] in _OTHERS
    if is_unknown or "{{" in name or "{{" in str(base):
        return None
    return f"{_PROVIDERS[kind]}/{':'.join(parts)}", base and str(base)


def _client(settings: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """Fields of `LMConfig`, and the settings that have no counterpart."""
    client: dict[str, Any] = {}
    for theirs, ours in _NUMBERS.items():
        if isinstance(settings.get(theirs), (int, float)) and not isinstance(settings[theirs], bool):
            client[ours] = settings[theirs]
    if settings.get("apiVersion"):
        client["api_version"] = str(settings["apiVersion"])
    body = {name: settings[name] for name in _SENT if name in settings} | _object(settings.get("passthrough"))
    if body:
        client["extra_body"] = body
    return client, [name for name in settings if name not in (*_SENT, *_OF_THE_PLACE, *_NUMBERS)]
