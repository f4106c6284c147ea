"""Any server that speaks OpenAI's chat completions, by the openai package over aiohttp."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, NoReturn
from urllib.parse import urlsplit

from psopt.errors import InputError
from psopt.models.chat._client import Answer, FaultError, ModelRefusedError, UnsupportedError
from psopt.models.chat._completion import ErrorInAnswerError, read_completion
from psopt.models.chat._error_bodies import ErrorBody, error_of
from psopt.models.chat._outage import is_nobody_there
from psopt.models.chat._secrets import redacted
from psopt.models.chat._unanswerable import kind_of_refusal
from psopt.models.chat._waits import asked_wait, breather

if TYPE_CHECKING:
    from collections.abc import Sequence

    import openai
    from psopt.models.chat._client import Query
    from psopt.models.chat._options import LmOptions

_OPENAI = "https://api.openai.com/"
_PASSING = frozenset({408, 409, 425, 429})
_TOO_MANY = frozenset({429, 529})  # 529: Anthropic's "overloaded"
_CONNECTING = 10.0  # seconds
_N_ALTERNATIVES = 20
# What may be left out, in the order of how dispensable it is, and how servers call it when they don't know it.
_FEATURES = {
    "structured output": ("response_format", "json_schema", "guided", "grammar"),
    "seed": ("seed",),
    "temperature": ("temperature",),
    "max_tokens": ("max_tokens",),
}


class OpenAIClient:
    """Chat completions at temperature 0 and seed 42, held to the labels where the server can.

    A server that does not know a part of the request is asked without it from then on. The key is read from
    `OPENAI_API_KEY`; servers of one's own may need none.

    Parameters
    ----------
    model : str
        The model's name at the server.
    options : LmOptions

    Raises
    ------
    InputError
        If OpenAI itself is meant and there is no key.
    """

    def __init__(self, model: str, options: LmOptions) -> None:
        self.model, self._options = model, options
        base = options.api_base or os.environ.get("OPENAI_BASE_URL")
        self._key = os.environ.get("OPENAI_API_KEY", "")
        if not self._key and (not base or base.startswith(_OPENAI)):
            raise InputError(
                f"model openai/{model} needs a key: set OPENAI_API_KEY, "
                "or name a server of your own with --api-base URL"
            )
        self.endpoint = (base or f"{_OPENAI}v1").rstrip("/")
        if not self.endpoint.startswith(("http://", "https://")):
            raise InputError(f"--api-base must be an address such as http://localhost:8000/v1, not {self.endpoint!r}")
        if "@" in urlsplit(self.endpoint).netloc:
            raise InputError("--api-base holds a password, which belongs into OPENAI_API_KEY: leave it out")
        self._lacks: frozenset[str] = frozenset()
        self._client: openai.AsyncOpenAI | None = None
        self.breather = 0.0

    @property
    def name(self) -> str:
        """``openai/NAME``."""
        return f"openai/{self.model}"

    @property
    def features(self) -> tuple[str, ...]:
        """What servers may not know."""
        return tuple(_FEATURES)

    def request(self, query: Query) -> dict[str, Any]:
        """Build the body of a chat completion."""
        options, lacks = self._options, self._lacks
        body: dict[str, Any] = {"model": self.model, "messages": query.messages}
        if "temperature" not in lacks:
            body["temperature"] = options.temperature if query.temperature is None else query.temperature
        if "seed" not in lacks:
            body["seed"] = options.request_seed
        body["max_completion_tokens" if "max_tokens" in lacks else "max_tokens"] = options.max_tokens
        if options.logprobs and query.labels:
            body |= {"logprobs": True, "top_logprobs": _N_ALTERNATIVES}
        elif query.labels and options.structured and "structured output" not in lacks:
            body["response_format"] = _one_of(query.labels)
        return body

    def prepare(self) -> None:
        """Import the client: that takes a second, which the first answer must not seem to take."""
        import httpx2  # noqa: F401
        import openai  # noqa: F401

    def without(self, feature: str) -> None:
        """Leave a feature out from now on."""
        self._lacks |= {feature}

    async def send(self, request: dict[str, Any]) -> Answer:
        """Send one chat completion; see `ChatClient.send`."""
        import httpx2
        import openai

        try:
            response = await self._connected().post("/chat/completions", cast_to=httpx2.Response, body=request)
        except openai.APIStatusError as error:
            told = error_of(error.body, error.response.text or error.message)
            wait = asked_wait(error.response.headers, told.message)
            return self._refused(error.status_code, told, request, wait)
        except openai.APIConnectionError as error:
            raise self._broken(error) from None
        except (httpx2.HTTPError, OSError) as error:
            raise FaultError(self._safe(f"{type(error).__name__}: {error}")) from None
        self.breather = max(self.breather, breather(response.headers))
        try:
            return read_completion(response.content)
        except ErrorInAnswerError as error:
            return self._refused(error.status, error_of(error.body, "the answer is an error"), request)

    async def close(self) -> None:
        """Close the connections."""
        if self._client is not None:
            await self._client.close()
            self._client = None

    def _connected(self) -> openai.AsyncOpenAI:
        """The client belongs to the event loop it was first used in."""
        if self._client is None:
            import httpx2
            import openai

            # How long an answer is waited for is the engine's to say.
            timeout = httpx2.Timeout(None, connect=min(_CONNECTING, self._options.timeout))
            self._client = openai.AsyncOpenAI(
                base_url=self.endpoint,
                api_key=self._key or "none",
                max_retries=0,
                timeout=timeout,
                http_client=openai.DefaultAioHttpClient(timeout=timeout),
            )
        return self._client

    def _refused(self, status: int, error: ErrorBody, request: dict[str, Any], wait: float | None = None) -> Answer:
        """Take an HTTP error as the answer that this text gets for good, or say which of the three failures it is."""
        message = self._safe(f"{error.message} {error.code}".strip())
        kind = kind_of_refusal(status, message)
        if kind is None:
            self._explain(status, message, request, wait)
        return Answer(None, unanswered=kind, reason=message)

    def _explain(self, status: int, message: str, request: dict[str, Any], wait: float | None) -> NoReturn:
        """Say which of the three failures an HTTP error is."""
        if status == 429 and "insufficient_quota" in message:
            raise ModelRefusedError(f"{self.endpoint}: the quota is used up: {message}") from None
        if status in _PASSING or status >= 500:
            overloaded = status in _TOO_MANY or (status == 503 and wait is not None)
            raise FaultError(f"HTTP {status}: {message}", wait=wait, overloaded=overloaded) from None
        if status in {400, 422}:
            for feature, names in _FEATURES.items():
                if feature not in self._lacks and any(name in message for name in names) and _uses(request, feature):
                    raise UnsupportedError(feature, message) from None
        raise ModelRefusedError(f"{self.endpoint} answered HTTP {status} for {self.name}: {message}") from None

    def _broken(self, error: openai.APIConnectionError) -> FaultError:
        """Say how a connection failed; a cut one comes as a time-out over aiohttp, so that its first cause is said."""
        if is_nobody_there(error):
            return FaultError(f"no connection to {self.endpoint}: is the server running?", unreachable=True)
        cause: BaseException = error
        while cause.__cause__ is not None:
            cause = cause.__cause__
        return FaultError(self._safe(f"{type(cause).__name__}: {cause}"))

    def _safe(self, text: str) -> str:
        return redacted(text, [self._key])


def _one_of(labels: Sequence[str]) -> dict[str, Any]:
    schema = {
        "type": "object",
        "properties": {"label": {"type": "string", "enum": list(labels)}},
        "required": ["label"],
        "additionalProperties": False,
    }
    return {"type": "json_schema", "json_schema": {"name": "answer", "strict": True, "schema": schema}}


def _uses(request: dict[str, Any], feature: str) -> bool:
    return ("response_format" if feature == "structured output" else feature) in request
