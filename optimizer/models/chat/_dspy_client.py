"""Any model that `dspy.LM` takes, including custom engines."""

from __future__ import annotations

import json
import os
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from psopt.errors import InputError, import_extra
from psopt.models.chat._client import (
    Answer,
    ChatClient,
    ModelRefusedError,
    TransientError,
    UnclearRefusalError,
    is_unreachable,
)
from psopt.models.chat._dialect import FEATURES, profile_of, refused_part, without_refused
from psopt.models.chat._refusals import read_refusal, retry_after
from psopt.models.chat._secrets import is_secret, redacted, secret_values
from psopt.models.chat._worker_pool import in_a_thread

if TYPE_CHECKING:
    from collections.abc import Container

    from psopt.models.chat._client import Query
    from psopt.settings import LMConfig

# What a `dspy.LM` lets us change; it writes the rest itself, and drops what is not taken.
_NEGOTIABLE = frozenset({"temperature", "max_tokens", "messages"})
_GENERATION = frozenset(
    {"temperature", "max_tokens", "top_p", "seed", "stop", "presence_penalty", "frequency_penalty", "response_format"}
)


class DspyClient(ChatClient):
    """Asks a `dspy.LM`, in threads, without DSPy's own cache and retries: the engine does both.

    The LM is made from a name, or given; if given, its temperature and limit on tokens override the options'.
    """

    features = tuple(feature for feature in FEATURES if feature.field in _NEGOTIABLE)

    def __init__(self, lm: Any, options: LMConfig) -> None:
        dspy = import_extra("dspy", "a dspy/ model", "dspy")
        if options.headers:
            raise InputError("dspy/ models send no --header: use openai/NAME with --api-base")
        self.refused: set[str] = set()
        stay_here()
        self._is_made_here = isinstance(lm, str)
        if isinstance(lm, str):
            self.refused.update(profile_of(lm).lacks)
            try:
                lm = dspy.LM(lm, **_settings(lm, options))
            except (ValueError, TypeError, dspy.LMError) as error:
                raise InputError(f"dspy.LM does not take {lm!r}: {str(error).splitlines()[0]}") from error
        self._lm = lm.copy(cache=False, num_retries=0)
        self._own = options.extra_body or {}
        self.name = f"dspy/{self._lm.model}"
        self.endpoint = _place(lm)

    def request(self, query: Query) -> dict[str, Any]:
        request = {"model": self._lm.model, "messages": query.messages, **public_settings(self._lm.kwargs)}
        if query.temperature is not None:
            request["temperature"] = query.temperature
        if query.max_tokens is not None and self._is_made_here and "max_tokens" in request:
            request["max_tokens"] = query.max_tokens + profile_of(self._lm.model).room
        if query.response_format:
            request["response_format"] = json.loads(query.response_format)
        request |= self._own
        if "max_tokens" in self.refused:
            request.pop("max_tokens", None)
        return without_refused(request, self.refused)

    def own_fields(self, request: dict[str, Any]) -> Container[str]:  # noqa: ARG002
        return self._own.keys()

    async def send(self, request: dict[str, Any]) -> Answer:
        return await in_a_thread(lambda: self._call(request))

    def _call(self, request: dict[str, Any]) -> Answer:
        import dspy
        from dspy import lm15

        settings = {name: request[name] for name in _GENERATION if request.get(name) is not None}
        body = {"model": self._lm.model, "messages": request["messages"], **settings, **self._own}
        try:
            response = self._lm(lm15.request_from_openai_chat(body))
        except (dspy.LMAuthError, dspy.LMBillingError, dspy.LMInvalidRequestError, dspy.LMConfigurationError) as error:
            message = self._safe(error)
            refusal = read_refusal(HTTPStatus.BAD_REQUEST, None, f"{type(error).__name__}: {error}")
            if refusal.text_kind:
                return Answer(None, unanswered=refusal.text_kind, reason=message)
            kind = ModelRefusedError
            if isinstance(error, dspy.LMInvalidRequestError):  # perhaps it can be made in another way
                has_own_form = "response_format" in request
                if named := refused_part(self, refusal, request, message, has_own_form=has_own_form):
                    raise named from None
                kind = ModelRefusedError if refusal.is_about_the_model else UnclearRefusalError
            raise kind(f"{self.name}: {message}") from None
        except dspy.LMError as error:
            message = self._safe(error)
            wait = retry_after({"retry-after": str(getattr(error, "retry_after", None) or "")}, message)
            raise TransientError(
                message,
                wait=wait,
                overloaded=isinstance(error, dspy.LMRateLimitError),
                unreachable=isinstance(error, dspy.LMTransportError) and is_unreachable(error),
            ) from None
        return _read(response)

    def _safe(self, error: BaseException) -> str:
        return redacted(f"{type(error).__name__}: {error}", secret_values(self._lm.kwargs))


def _settings(name: str, options: LMConfig) -> dict[str, Any]:
    """Arguments for `dspy.LM`: for reasoning models it accepts neither a temperature nor a small limit on tokens."""
    profile = profile_of(name)
    settings: dict[str, Any] = {"api_base": options.api_base} if options.api_base else {}
    if "temperature" in profile.lacks:
        return {**settings, "temperature": None, "max_tokens": None}
    return {**settings, "temperature": options.temperature, "max_tokens": options.max_tokens + profile.room}


def stay_here() -> None:
    """Make DSPy look models up in its own list and not fetch a newer one, so that no other server is asked."""
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "true")


def _read(response: Any) -> Answer:
    # What DSPy has parsed by a response format is turned back into JSON.
    parsed = [part.value for part in response.message.parts if part.type == "data"]
    text = response.text or "\n".join(json.dumps(value, ensure_ascii=False) for value in parsed) or response.text
    text = text and text.encode("utf-8", "replace").decode()  # without halves of surrogate pairs
    usage = response.usage
    answer = Answer(
        text=text,
        tokens_in=usage.input_tokens or 0,
        tokens_out=usage.output_tokens or 0,
        truncated=response.finish_reason == "length",
        reasoning=getattr(usage, "reasoning_tokens", None) or 0,
    )
    if answer.is_empty:
        raise TransientError("an empty answer", empty=answer)
    return answer


def _place(lm: Any) -> str | None:
    """Where an LM's answers come from; None for an engine that can't say what it is: then they are not kept on disk."""
    engine = getattr(lm, "_engine_spec", "auto")
    if isinstance(engine, str):
        return str(lm.kwargs.get("api_base") or lm.kwargs.get("base_url") or "dspy")
    if not callable(getattr(engine, "dump_state", None)):
        return None
    return json.dumps([f"{type(engine).__module__}:{type(engine).__qualname__}", engine.dump_state()], sort_keys=True)


def public_settings(settings: dict[str, Any]) -> dict[str, Any]:
    return {
        name: value
        for name, value in settings.items()
        if not is_secret(name) and isinstance(value, (str, int, float, bool, list, dict))
    }
