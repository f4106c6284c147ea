"""What a server can do, found out with a few calls, and remembered for later runs."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from psopt.errors import InputError, ModelError
from psopt.models._answer_cache import AnswerCache
from psopt.models.chat._address import public_address
from psopt.models.chat._budget import Budget
from psopt.models.chat._client import Answer, Query, TransientError
from psopt.models.chat._factory import CHAT_KINDS, RUN_HERE, chat_engine, name_hint
from psopt.models.chat._openai_client import OpenAIClient
from psopt.models.chat._worker_pool import run
from psopt.models.chat.batches import BatchService
from psopt.settings import LMConfig

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from psopt.models.chat._client import ChatClient

_LABELS = ("animal", "plant")
_TASK = "Is it an animal or a plant? Answer with exactly one of these labels and nothing else: animal, plant\n\n{}:"
_MARK = "marble-heron-48"
# About 5,000 tokens: more than the 2,048 and 4,096 to which servers cut prompts by default.
_LONG = "The weather was mild that day, and nothing else was written down about it. " * 340
_RECALL = f"The password is {_MARK}.\n\n{_LONG}\n\nWhat is the password? Answer with the password alone."
_LONGEST = 60  # characters of a reason
_RETRIES = 1  # psopt doctor should report a failure soon, and not wait


@dataclass(frozen=True, slots=True)
class Finding:
    what: str  # such as ``structured output``
    works: str  # ``yes``, ``no``, ``-``, or what is wrong
    used: str  # what runs will use, or what was seen


@dataclass(frozen=True, slots=True)
class Examination:
    model: str
    server: str | None
    findings: tuple[Finding, ...]


def examine(model: str, *, cache_dir: Path | None = None, options: LMConfig | None = None) -> Examination:
    """Find out by a few calls what a model's server can do; what was known about it before is detected again, and kept.

    Raises InputError if the model is not asked with chat messages, ModelError if it gives no answer at all, and
    BudgetReachedError if a limit of `options` does not pay for the calls.
    """
    kind, _, name = model.partition("/")
    if kind not in CHAT_KINDS or not name:
        hint = name_hint(model) or ("give such a name" if "/" in model else f"did you mean openai/{model}?")
        if kind in RUN_HERE:
            hint = "that runs here, and needs no doctor"
        raise InputError(f"doctor looks at openai/NAME, azure/DEPLOYMENT and dspy/NAME, not at {model!r}; {hint}")
    options = replace(options or LMConfig(), retries=_RETRIES, batch=False)
    cache, budget = AnswerCache(cache_dir), Budget.of(options)
    plain = _Patient(kind, name, cache, replace(options, logprobs=False, structured=True, renegotiate=True), budget)
    likely = _Patient(kind, name, cache, replace(options, logprobs=True, renegotiate=False), budget)
    try:
        first = plain.ask("A cat")
        structured = plain.ask("A dog", _LABELS)
        findings = (
            _chat(first),
            _structured(structured),
            _seed(first, plain.ask("A cat")),
            _logprobs(likely),
            _long_prompts(plain),
            run(_batches(plain.engine.client, options.timeout)),
            _speed([*plain.seconds, *likely.seconds]),
        )
    finally:
        plain.engine.close()
        likely.engine.close()
    return Examination(model, public_address(plain.engine.client.endpoint), findings)


class _Call(NamedTuple):
    request: Mapping[str, Any]
    answer: Answer


class _Patient:
    """A model that is asked a few times, never from the cache; it keeps how long that took."""

    def __init__(self, kind: str, name: str, cache: AnswerCache, options: LMConfig, budget: Budget) -> None:
        self.engine = chat_engine(kind, name, cache, options, budget)
        self.seconds: list[float] = []

    def ask(self, text: str, labels: tuple[str, ...] = (), task: str = _TASK) -> _Call:
        """Ask once for the class of a text, with the features that the server accepts; these are remembered."""
        messages = [
            {"role": "system", "content": "You are a text classifier."},
            {"role": "user", "content": task.format(text)},
        ]
        query = Query(messages, labels, sample=time.time_ns())
        start = time.perf_counter()
        (answer,) = self.engine.answers([query])
        self.seconds.append(time.perf_counter() - start)
        return _Call(self.engine.client.request(query), answer)


def _chat(call: _Call) -> Finding:
    temperature = _field(call.request, "temperature") or "no temperature"
    limit = _field(call.request, "max_tokens", "max_completion_tokens") or "no limit on tokens"
    system = "system message" if call.request["messages"][0]["role"] == "system" else "no system message"
    works = "yes" if (call.answer.text or "").strip() else "empty"
    return Finding("chat", works, f"{temperature}, {limit}, {system}")


def _field(request: Mapping[str, Any], *names: str) -> str:
    """The first of these fields that a request has, with its number; empty if it has none."""
    return next((f"{name} {request[name]:.9g}" for name in names if name in request), "")


def _structured(call: _Call) -> Finding:
    form = (call.request.get("response_format") or {}).get("type")
    if form is None:
        return Finding("structured output", "no", "free answers")
    try:
        label = json.loads(call.answer.text or "")["label"]
    except (ValueError, LookupError, TypeError):
        label = None
    return Finding("structured output", "yes" if label in _LABELS else "ignored", form)


def _seed(first: _Call, again: _Call) -> Finding:
    name = next((name for name in ("seed", "random_seed") if name in first.request), "")
    repeat = "the same answer twice" if first.answer.text == again.answer.text else "another answer the second time"
    return Finding("seed", "yes" if name else "no", f"{name or 'no seed'}; {repeat}")


def _logprobs(likely: _Patient) -> Finding:
    try:
        request, answer = likely.ask("An oak", _LABELS)
    except ModelError:
        return Finding("log-probabilities", "no", "leave --logprobs out")
    if "top_logprobs" not in request or not answer.logprobs:
        return Finding("log-probabilities", "no", "none were sent: leave --logprobs out")
    form = "structured" if "response_format" in request else "free"
    return Finding("log-probabilities", "yes", f"--logprobs, {form} answers, {_field(request, 'top_logprobs')}")


def _long_prompts(plain: _Patient) -> Finding:
    """Whether the front of a long prompt is read: it contains a word that the end asks for."""
    try:
        answer = plain.ask(_RECALL, task="{}").answer
    except ModelError as error:
        answer = Answer(None, unanswered="refused", reason=str(error))
    if answer.unanswered:
        return Finding("long prompts", "no", f"one of 5,000 tokens is refused: {answer.reason}"[:_LONGEST])
    counted = f"; {answer.tokens_in:,} tokens counted" if answer.tokens_in else ""
    is_read = _MARK in (answer.text or "").casefold()
    verdict = "the front is read" if is_read else "the front is not read"
    return Finding("long prompts", "yes" if is_read else "no", verdict + counted)


async def _batches(client: ChatClient, timeout: float) -> Finding:
    """Whether the server has the batch API; this check costs nothing."""
    if not isinstance(client, OpenAIClient):
        return Finding("batches", "no", "these models are asked call by call")
    try:
        await BatchService(client, timeout).check()
    except (InputError, ModelError):
        return Finding("batches", "no", "leave --batch out")
    except TransientError as failure:
        return Finding("batches", "-", f"no word of them: {failure}")
    return Finding("batches", "yes", "--batch, within a day; OpenAI and Azure ask half the price")


def _speed(seconds: Sequence[float]) -> Finding:
    middle = sorted(seconds)[len(seconds) // 2]
    return Finding("speed", "-", f"{middle:.2f} s per call, one at a time ({len(seconds)} calls)")
