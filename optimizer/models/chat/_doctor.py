"""What a server can do, found out by a handful of calls, and remembered for the runs to come."""

from __future__ import annotations

import asyncio
import json
import time
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

from psopt.errors import InputError, ModelError
from psopt.models._answer_cache import AnswerCache
from psopt.models.chat._address import public_address
from psopt.models.chat._client import Answer, Query
from psopt.models.chat._config import LMConfig
from psopt.models.chat._errors import ModelRefusedError, TransientError, UnsupportedError
from psopt.models.chat._event_loop import run
from psopt.models.chat._factory import CHAT_KINDS, chat_client
from psopt.models.chat._name_hints import name_hint
from psopt.models.chat._negotiation import Negotiation
from psopt.models.chat._secrets import redacted

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from psopt.models.chat._client import ChatClient

_LABELS = ("animal", "plant")
_TASK = "Is it an animal or a plant? Answer with exactly one of these labels and nothing else: animal, plant\n\n{}:"
_TRIES = 2  # a doctor waits for nobody: a server that fails twice is said to
_YES = "yes"
_NO = "no"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at.

    Attributes
    ----------
    what : str
        ``chat``, ``structured output``, ``seed``, ``log-probabilities``, ``limits``, ``batches`` or ``speed``.
    works : str
        ``yes``, ``no`` or ``-``.
    used : str
        What runs will use, or what was seen.
    """

    what: str
    works: str
    used: str


@dataclass(frozen=True, slots=True)
class Examination:
    """What was found out about a model at its server."""

    model: str
    server: str | None
    findings: tuple[Finding, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain JSON data."""
        return asdict(self)


def examine(model: str, *, cache_dir: Path | None = None, options: LMConfig | None = None) -> Examination:
    """Ask a model's server for a chat, structured output, the same once more, and log-probabilities.

    What was learnt of the server before is found out anew, and kept.

    Raises
    ------
    InputError
        If the model is none that is asked by chat messages.
    ModelError
        If it gives no answer at all.
    """
    kind, _, name = model.partition("/")
    if kind not in CHAT_KINDS or not name:
        meant = name_hint(model) or ("" if "/" in model else f"did you mean openai/{model}?")
        known = "openai/NAME, azure/DEPLOYMENT and dspy/NAME"
        raise InputError(f"doctor looks at {known}, not at {model!r}{meant and f'; {meant}'}")
    options = options or LMConfig()
    cache = AnswerCache(cache_dir)
    plain = _ExaminedClient(kind, name, replace(options, logprobs=False, structured=True), cache, anew=True)
    likely = _ExaminedClient(kind, name, replace(options, logprobs=True), cache)
    return run(_examined(model, plain, likely, options.timeout))


@dataclass(slots=True)
class _Call:
    """A call that was answered: its request, its answer, its headers and its seconds."""

    request: dict[str, Any] = field(default_factory=dict)
    answer: Answer = field(default_factory=lambda: Answer(None))
    headers: Mapping[str, str] = field(default_factory=dict)
    seconds: float = 0.0


class _ExaminedClient:
    """A client and what is learnt of its server; keeps the calls that were answered."""

    def __init__(self, kind: str, name: str, options: LMConfig, cache: AnswerCache, *, anew: bool = False) -> None:
        self.client: ChatClient = chat_client(kind, name, options)
        self._negotiation = Negotiation(self.client, cache, anew=anew)
        self._timeout = options.timeout
        self.calls: list[_Call] = []

    async def ask(self, text: str, labels: tuple[str, ...] = ()) -> _Call:
        """Ask once, with what the server takes; that is remembered."""
        self._negotiation.recall()
        messages = [
            {"role": "system", "content": "You are a text classifier."},
            {"role": "user", "content": _TASK.format(text)},
        ]
        query = Query(messages, labels)
        answer = await self._negotiation.find_out(query, self._answered)
        if not answer.unanswered:
            self._negotiation.answered(query)
        return self.calls[-1]

    async def _answered(self, query: Query) -> Answer:
        tries = 0
        while True:
            request = self.client.request(query)
            start = time.perf_counter()
            try:
                answer = await asyncio.wait_for(self.client.send(request), self._timeout)
            except UnsupportedError as error:
                self._negotiation.refused(error.feature)
                continue
            except TimeoutError:
                raise ModelError(f"{self.client.name}: no answer within {self._timeout:g} s") from None
            except TransientError as failure:
                tries += 1
                if failure.empty is None:
                    if tries >= _TRIES:
                        raise ModelError(f"{self.client.name}: {failure}") from None
                    continue
                answer = failure.empty
            self.calls.append(_Call(request, answer, self.client.headers, time.perf_counter() - start))
            return answer


async def _examined(model: str, plain: _ExaminedClient, likely: _ExaminedClient, timeout: float) -> Examination:
    try:
        first = await plain.ask("A cat")
        structured = await plain.ask("A dog", _LABELS)
        again = await plain.ask("A cat")
        findings = (
            _chat(first),
            _structured(structured),
            _seed(first, again),
            await _logprobs(likely),
            _limits([*plain.calls, *likely.calls]),
            await _batches(plain.client, timeout),
            _speed([*plain.calls, *likely.calls]),
        )
        return Examination(model, public_address(plain.client.endpoint), findings)
    finally:
        await plain.client.close()
        await likely.client.close()


def _chat(call: _Call) -> Finding:
    request = call.request
    text = (call.answer.text or "").strip()
    length = next((name for name in ("max_tokens", "max_completion_tokens") if name in request), None)
    used = [
        f"temperature {request['temperature']:g}" if "temperature" in request else "no temperature",
        f"{length} {request[length]}" if length else "no limit on tokens",
        "system message" if request["messages"][0]["role"] == "system" else "no system message",
    ]
    return Finding("chat", _YES if text else "empty", ", ".join(used))


def _structured(call: _Call) -> Finding:
    form = (call.request.get("response_format") or {}).get("type")
    if form is None:
        return Finding("structured output", _NO, "free answers")
    try:
        label = json.loads(call.answer.text or "")["label"]
    except (ValueError, LookupError, TypeError):
        label = None
    return Finding("structured output", _YES if label in _LABELS else "ignored", form)


def _seed(first: _Call, again: _Call) -> Finding:
    name = next((name for name in ("seed", "random_seed") if name in first.request), None)
    same = "the same answer twice" if first.answer.text == again.answer.text else "another answer the second time"
    return Finding("seed", _YES if name else _NO, f"{name or 'no seed'}; {same}")


async def _logprobs(likely: _ExaminedClient) -> Finding:
    try:
        call = await likely.ask("An oak", _LABELS)
    except (ModelRefusedError, ModelError):
        return Finding("log-probabilities", _NO, "leave --logprobs out")
    if "top_logprobs" not in call.request or not call.answer.logprobs:
        return Finding("log-probabilities", _NO, "none were sent: leave --logprobs out")
    form = "structured" if "response_format" in call.request else "free"
    return Finding(
        "log-probabilities", _YES, f"--logprobs, {form} answers, top_logprobs {call.request['top_logprobs']}"
    )


def _limits(calls: list[_Call]) -> Finding:
    """What the headers say: the limits of OpenAI and those who follow it, and of Anthropic."""
    seen = {
        name.casefold(): value
        for call in calls
        for name, value in call.headers.items()
        if "ratelimit" in name.casefold() and "limit" in name.casefold().replace("ratelimit", "")
    }
    limits = ", ".join(f"{name.partition('ratelimit-')[2]} {value}" for name, value in sorted(seen.items()))
    return Finding("limits", "-", redacted(limits) or "no header says any")


async def _batches(client: ChatClient, timeout: float) -> Finding:
    """Whether the server has the batch API; looking costs nothing."""
    from psopt.models.chat._openai_client import OpenAIClient
    from psopt.models.chat.batches import BatchService

    if not isinstance(client, OpenAIClient):
        return Finding("batches", _NO, "these models are asked call by call")
    try:
        await BatchService(client, timeout).check()
    except (InputError, ModelError):
        return Finding("batches", _NO, "leave --batch out")
    except TransientError as failure:
        return Finding("batches", "-", f"no word of them: {failure}")
    return Finding("batches", _YES, "--batch, within a day; OpenAI and Azure ask half the price")


def _speed(calls: list[_Call]) -> Finding:
    seconds = sorted(call.seconds for call in calls)[len(calls) // 2]
    return Finding("speed", "-", f"{seconds:.2f} s a call, one at a time ({len(calls)} calls)")
