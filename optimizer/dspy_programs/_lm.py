"""The language models of a program: which ones, how they are asked, and what that costs."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import threading
import time
from itertools import chain
from typing import TYPE_CHECKING, Any

from psopt.dspy_programs._contents import configured, digest
from psopt.dspy_programs._dspy import dspy
from psopt.errors import InputError, ModelError
from psopt.models.chat import CHAT_KINDS, Need, Query, name_hint, public_address

if TYPE_CHECKING:
    from collections.abc import Iterator

    from psopt.models import ModelProvider
    from psopt.models.chat import Budget, Engine
    from psopt.search_spaces import Messages

_PAUSE = 0.01  # seconds; a run takes far longer, so polling this often costs nothing


def lm_of(program: Any) -> Any:
    """The model that a program asks: the first one set on a step, otherwise that of DSPy's settings."""
    of_steps = (predictor.lm for _, predictor in program.named_predictors())
    return next((lm for lm in of_steps if lm is not None), None) or dspy.settings.lm


def counted_lm(model: Any, models: ModelProvider) -> Any:
    """Make a `dspy.LM` whose requests go through psopt's engine; DSPy neither caches nor retries them.

    `model` is ``openai/NAME``, ``dspy/NAME``, or an existing LM; `models` says how it is asked, what the whole run may
    spend, and where answers are stored. Raises InputError if it is not a language model.
    """
    kind, name = "dspy", model
    if isinstance(model, str):
        kind, _, name = model.partition("/")
        if kind not in CHAT_KINDS or not name:
            hint = name_hint(model)
            raise InputError(
                f"a program needs a language model: minilm, openai/NAME, azure/NAME or dspy/NAME, not {model!r}"
                f"{hint and f'; {hint}'}"
            )
    engine = models.engine(kind, name)
    engines = {"engine": CountedEngine(engine), "async_engine": AsyncCountedEngine(engine)}
    settings = {"temperature": models.lm.temperature, "max_tokens": models.lm.max_tokens}
    full_name = name if kind == "dspy" else model
    if not isinstance(model, str):
        full_name = model.model
        settings |= {part: model.kwargs[part] for part in settings if model.kwargs.get(part) is not None}
    return dspy.LM(full_name, **engines, cache=False, num_retries=0, **settings)


def is_counted(lm: Any) -> bool:
    """Whether an LM's requests go through psopt's engine."""
    return isinstance(getattr(lm, "_engine_spec", None), CountedEngine)


def server_of(lm: Any) -> str | None:
    """The address at which an LM is asked, without secrets, if known."""
    engine = getattr(lm, "_engine_spec", None)
    if isinstance(engine, CountedEngine):
        return engine.server
    return public_address(lm.kwargs.get("api_base") or lm.kwargs.get("base_url"))


def place_of(lm: Any) -> list[str]:
    """What determines an LM's answers besides its name and settings: the server, if DSPy's settings lack it."""
    engine = getattr(lm, "_engine_spec", None)
    if isinstance(engine, CountedEngine):
        return [engine.place]
    if isinstance(engine, str):
        return [os.environ[name] for name in ("OPENAI_BASE_URL", "OPENAI_API_BASE") if os.environ.get(name)]
    if engine is None:  # a model of a user's own class
        engine = lm
    return [digest(configured(engine))]


class CountedEngine:
    """A DSPy engine that asks through a psopt engine."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    @property
    def server(self) -> str | None:
        """The address that is asked, without secrets; None if DSPy decides it."""
        return public_address(self._engine.client.endpoint)

    @property
    def place(self) -> str:
        """What determines an answer besides the messages: where and how it is asked."""
        request = self._engine.client.request(Query([]))
        return json.dumps([self._engine.client.endpoint, request], sort_keys=True, default=str)

    def dump_state(self) -> dict[str, Any]:
        """Return its state without secrets."""
        return {"model": self._engine.client.name, "server": self.server}

    def complete(self, request: Any) -> Any:
        """Answer an `lm15.Request`; DSPy's threads may call it at once. Raises PsoptError like `Engine.answers`."""
        query = Query(_messages(request), (), request.config.temperature)
        answer = self._engine.answers([query])[0]
        # DSPy refuses an empty part; a blank is parsed as no answer, which is correct.
        text = dspy.lm15.TextPart(answer.text or " ")
        message = dspy.lm15.Message(role="assistant", parts=(text,))
        usage = dspy.lm15.Usage(input_tokens=answer.tokens_in, output_tokens=answer.tokens_out)
        reason = "length" if answer.truncated else "stop"
        return dspy.lm15.Response(id=None, model=request.model, message=message, finish_reason=reason, usage=usage)


class AsyncCountedEngine(CountedEngine):
    """The same for asynchronous programs."""

    async def complete(self, request: Any) -> Any:
        return await asyncio.to_thread(super().complete, request)


def _messages(request: Any) -> Messages:
    """A request's messages in the form of chat completions."""
    if request.tools:
        raise ModelError("the program calls tools, which psopt's own client does not send: use a dspy.LM in Python")
    messages = [{"role": message.role, "content": _text(message.parts)} for message in request.messages]
    if request.system:
        messages.insert(0, {"role": "system", "content": _text(request.system)})
    return messages


def _text(parts: Any) -> str:
    if isinstance(parts, str):
        return parts
    if any(not isinstance(getattr(part, "text", None), str) for part in parts):
        raise ModelError("the program sends more than text, which psopt's own client does not: use a dspy.LM in Python")
    return "\n".join(part.text for part in parts)


class CallsOfARun(dspy.utils.callback.BaseCallback):  # type: ignore[misc]  # dspy has no types
    """Counts the language model calls of one run of a program, unless psopt's engine does; notes the steps called."""

    def __init__(self) -> None:
        self.n = 0
        self.models: set[str] = set()  # the names of those counted here
        self.steps: set[int] = set()  # ids

    def on_lm_start(self, call_id: str, instance: Any, inputs: dict[str, Any]) -> None:  # noqa: ARG002  # DSPy's
        if not is_counted(instance):
            self.n += 1
            self.models.add(instance.model)

    def on_module_start(self, call_id: str, instance: Any, inputs: dict[str, Any]) -> None:  # noqa: ARG002  # DSPy's
        """Note a step; DSPy would only log an error raised here."""
        self.steps.add(id(instance))


class RunCounter:
    """Counts the calls of every step of a program, and of its metric, and their tokens, unless psopt's engine does.

    The number of calls is only known after a run. Before it, the largest number that any run has made is reserved, and
    for the first runs what `expect` was told.
    """

    def __init__(self, budget: Budget) -> None:
        self._budget = budget
        self._lock = threading.Lock()
        self.n_expected = 0  # calls of one run
        self._may_hold = True

    def expect(self, program: Any) -> None:
        """Expect a run to call every step once, except those that psopt's engine counts."""
        lms = [predictor.lm or dspy.settings.lm for _, predictor in program.named_predictors()]
        n_counted_here = sum(not is_counted(lm) for lm in lms)
        with self._lock:
            self.n_expected = max(self.n_expected, n_counted_here)
            self._may_hold = n_counted_here == len(lms)

    @contextlib.contextmanager
    def one_run(self) -> Iterator[CallsOfARun]:
        """Reserve calls for a run, and settle the account after it; raises BudgetReachedError if too few are left."""
        n_reserved = self._reserve()
        calls = CallsOfARun()
        went_well = False
        try:
            with dspy.track_usage() as usage, dspy.context(callbacks=[*dspy.settings.callbacks, calls]):
                yield calls
            went_well = True
        except dspy.AdapterParseError:  # an answer, though not a usable one
            went_well = True
            raise
        finally:
            self._settle(usage, calls, n_reserved, went_well=went_well)

    def _reserve(self) -> int:
        """Wait while active runs may still use up the rest of the budget, or leave some of it.

        If psopt's engine counts some of a run's calls, nothing stays reserved: the run would wait for its own calls.
        Then a limit may be exceeded by the other calls of the runs under way.
        """
        while True:
            with self._lock:
                n_calls = self.n_expected
                if n_calls == 0 or self._budget.reserve(Need(n_calls)):
                    break
            time.sleep(_PAUSE)
        if self._may_hold:
            return n_calls
        self._budget.release(Need(n_calls))
        return 0

    def _settle(self, usage: Any, calls: CallsOfARun, n_reserved: int, *, went_well: bool) -> None:
        with self._lock:
            # A run that failed before any call still counts as a failed attempt, if any was expected.
            n_failed = int(not went_well and max(calls.n, n_reserved) > 0)
            self._budget.count(made=max(0, calls.n - n_failed), failed=n_failed)
            self._budget.release(Need(n_reserved))
            self.n_expected = max(self.n_expected, calls.n)
            for entry in chain.from_iterable(usage.usage_data[model] for model in calls.models):
                read = entry.get("prompt_tokens") or entry.get("input_tokens") or 0
                written = entry.get("completion_tokens") or entry.get("output_tokens") or 0
                self._budget.count(tokens_in=read, tokens_out=written)
