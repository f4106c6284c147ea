"""Any server with OpenAI's chat completions, through the openai package over aiohttp."""

from __future__ import annotations

import asyncio
import json
import re
import ssl
from dataclasses import replace
from functools import cached_property
from http import HTTPStatus
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode, urlsplit

from psopt.errors import ModelError, nearest
from psopt.models.chat._address import azure_address, openai_address
from psopt.models.chat._client import (
    TOO_MANY,
    Answer,
    ModelRefusedError,
    NotThereError,
    TransientError,
    UnclearRefusalError,
    UnsupportedError,
    is_unreachable,
    passes,
)
from psopt.models.chat._completion import ErrorInAnswerError, read_completion, read_json
from psopt.models.chat._dialect import (
    BOTH,
    ChatCompletionsClient,
    asks_for_tokens_alone,
    labels_asked_for,
    refused_part,
)
from psopt.models.chat._label_probabilities import kept_places
from psopt.models.chat._refusals import read_refusal, retry_after
from psopt.models.chat._secrets import asker_key, redacted
from psopt.models.chat._wait_notices import span
from psopt.text import shortened_list

if TYPE_CHECKING:
    from collections.abc import Mapping

    import httpx2
    from psopt.models.chat._address import Address
    from psopt.models.chat._refusals import Refusal
    from psopt.settings import LMConfig

# Nothing for this key, no such address or thing, no such method (a proxy's way to say so), not implemented.
_NOT_THERE = frozenset({403, 404, 405, 501})
_CONNECTING = 10.0  # seconds to make a connection; a server that is up accepts one within a second
_LISTING = 10.0  # seconds for the list of models, which only improves a message
_MOST_LISTED = 5  # models, in one line


class OpenAIClient(ChatCompletionsClient):
    """Chat completions, restricted to the labels where the server can; later requests leave out what it has refused."""

    def __init__(self, model: str, options: LMConfig, kind: str = "openai") -> None:
        super().__init__(model, options)
        address_of = azure_address if kind == "azure" else openai_address
        self._address = address_of(model, options)
        self.safe = self._address.safe
        self.name = f"{kind}/{model}"
        self.endpoint: str = self._address.endpoint
        self.is_azure = kind == "azure" or bool(self._address.key_header)

    def prepare(self) -> None:
        """Import the client: that takes a second, which must not count as part of the first answer's time."""
        import httpx2  # noqa: F401
        import openai  # noqa: F401

    async def send(self, request: dict[str, Any]) -> Answer:
        return await self._read(await self._transport.post(request), request)

    async def read_response(self, status: int, body: Any, request: dict[str, Any]) -> Answer:
        """Read a response that came in a batch; raises as `ChatClient.send`."""
        return await self._read(_response(status, body), request)

    async def call(self, method: str, path: str, timeout: float, **sent: Any) -> bytes:
        """Ask an address other than the chat's; raises as `send`, and NotThereError if nothing is there for us."""
        try:
            async with asyncio.timeout(timeout):
                response = await self._transport.call(method, path, **sent)
        except TimeoutError:
            raise TransientError(f"no answer within {span(timeout)}", given_up=True) from None
        if response.is_success:
            return response.content
        refusal, message, wait = self._told(response)
        status = refusal.status
        if status in _NOT_THERE:
            raise NotThereError(status, f"{self.endpoint} answered HTTP {status} for {path}: {message}")
        raise self._explained(refusal, message, {}, wait)

    async def close(self) -> None:
        if "_transport" in self.__dict__:
            await self._transport.close()
            del self._transport

    @cached_property
    def _transport(self) -> Transport:
        """It belongs to the event loop it is first used in. The engine decides how long to wait for an answer."""
        return Transport(self._address, connect_timeout=min(_CONNECTING, self._options.timeout))

    async def _read(self, response: httpx2.Response, request: dict[str, Any]) -> Answer:
        if not response.is_success:
            return await self._answer_of(response, request)
        try:
            answer = read_completion(response.content, self.safe)
        except ErrorInAnswerError as error:
            return await self._answer_of(_response(error.status, error.body), request)
        if asks_for_tokens_alone(request):
            # llama.cpp sends alternatives anyway: kept for each token, they would take up most of the cache
            return replace(answer, logprobs=None)
        is_both = any(feature.name == BOTH for feature in self.negotiable(request))
        if not (is_both and answer.text and request.get("logprobs")):
            return answer
        if answer.logprobs is None:
            raise UnsupportedError(BOTH, "no log-probabilities came with a structured answer")
        return replace(answer, logprobs=kept_places(answer.logprobs, labels_asked_for(request)))

    async def _answer_of(self, response: httpx2.Response, request: dict[str, Any]) -> Answer:
        """Return an HTTP error as this text's answer if the text is refused for good, otherwise raise it."""
        refusal, message, wait = self._told(response)
        if refusal.text_kind is not None:
            return Answer(None, unanswered=refusal.text_kind, reason=message)
        if refusal.is_about_the_model or refusal.status == HTTPStatus.NOT_FOUND:
            raise await self._no_such_model(refusal, message)
        raise self._explained(refusal, message, request, wait)

    def _told(self, response: httpx2.Response) -> tuple[Refusal, str, float | None]:
        """What an HTTP error says, the message to show, and how long the server asks to wait.

        A redirect is not followed: requests are meant only for the server that the user has named.
        """
        status = response.status_code
        if status < HTTPStatus.BAD_REQUEST:
            place = self.safe(response.headers.get("location", "an address that it does not name"))
            raise ModelRefusedError(
                f"{self.endpoint} answered HTTP {status}: it sends requests on to {place}; "
                "if they may go there, give its address with --api-base"
            )
        try:
            body = read_json(response.content)
        except ValueError:
            body = None
        refusal = read_refusal(status, body, response.text)
        return refusal, self.safe(refusal.text) or "no reason given", retry_after(response.headers, refusal.text)

    def _explained(self, refusal: Refusal, message: str, request: dict[str, Any], wait: float | None) -> Exception:
        status = refusal.status
        if status == HTTPStatus.TOO_MANY_REQUESTS and "insufficient_quota" in refusal.text:
            return ModelRefusedError(f"{self.endpoint}: the quota is used up: {message}")
        has_own_form = self.has_own_form(request)
        if refusal.is_about_the_request and (
            error := refused_part(self, refusal, request, message, has_own_form=has_own_form)
        ):
            return error
        if passes(status):
            overloaded = status in TOO_MANY or (status == HTTPStatus.SERVICE_UNAVAILABLE and wait is not None)
            return TransientError(f"HTTP {status}: {message}", wait=wait, overloaded=overloaded, status=status)
        kind = UnclearRefusalError if refusal.is_about_the_request else ModelRefusedError
        return kind(f"{self.endpoint} answered HTTP {status} for {self.name}: {message}")

    async def _no_such_model(self, refusal: Refusal, message: str) -> ModelRefusedError:
        """Say whether it is the model's name or the address that is wrong."""
        told = f"{self.endpoint} answered HTTP {refusal.status} for {self.name}: {message}"
        names = await self._models()
        if names and self.model not in names:
            listed = self.safe(shortened_list(names, _MOST_LISTED))
            return ModelRefusedError(f"{told}{nearest(self.model, names)}; it has {listed}")
        # Most servers' addresses end in a part such as v1.
        lacks_a_version = re.search(r"/v\d", urlsplit(self._address.base).path) is None
        if refusal.status == HTTPStatus.NOT_FOUND and not names and lacks_a_version and self.name.startswith("openai/"):
            return ModelRefusedError(f"{told}; most addresses end in /v1: --api-base {self._address.base}/v1")
        return ModelRefusedError(told)

    async def _models(self) -> list[str]:
        """The names that the server lists; empty where it can't."""
        try:
            listed = read_json(await self.call("GET", "/models", _LISTING))["data"]
            return [redacted(entry["id"]) for entry in listed]
        except (ModelError, TransientError, ValueError, LookupError, TypeError):
            return []


def _response(status: int, body: Any) -> httpx2.Response:
    """A response from a body that did not come as its own HTTP response."""
    import httpx2

    return httpx2.Response(status, content=json.dumps(body).encode())


class Transport:
    """Sends requests to one address, and nowhere else: redirects are not followed.

    The openai package knows the headers (organization, project, `$OPENAI_CUSTOM_HEADERS`), proxies and certificates,
    and makes the HTTP client. That is asked directly: what the package does around it takes half of the CPU time.
    """

    def __init__(self, address: Address, *, connect_timeout: float) -> None:
        import httpx2
        import openai

        timeout = httpx2.Timeout(None, connect=connect_timeout)
        self._http = openai.DefaultAioHttpClient(timeout=timeout, follow_redirects=False)
        settings = openai.AsyncOpenAI(base_url=address.base, api_key=address.key or "none", http_client=self._http)
        stated = {name: value for name, value in settings.default_headers.items() if isinstance(value, str)}
        self._headers = httpx2.Headers(stated)
        self._address = address
        if address.key or not address.key_header:
            self._headers.update(self._with_key(address.key or "none"))
        self._headers.update(address.headers)
        query = f"?{urlencode(address.query)}" if address.query else ""
        self._chat = httpx2.URL(f"{address.base}/chat/completions{query}")
        # At Azure, files and batches belong to the resource, not to the deployment.
        self._beside = httpx2.URL(f"{address.base.partition('/deployments/')[0]}{query}")

    async def post(self, body: dict[str, Any]) -> httpx2.Response:
        """Ask for a chat completion; an HTTP error is a response too; raises as `ChatClient.send` if none comes."""
        headers = self._headers.copy()
        if key := asker_key.get():
            headers.update(self._with_key(key))
        return await self._send("POST", self._chat, content=json.dumps(body).encode(), headers=headers)

    def _with_key(self, key: str) -> dict[str, str]:
        if self._address.key_header:
            return {self._address.key_header: key}
        return {"Authorization": f"Bearer {key}"}

    async def call(
        self, method: str, path: str, *, params: Mapping[str, str] | None = None, body: Any = None, upload: bytes = b""
    ) -> httpx2.Response:
        """Ask an address other than the chat's, with JSON, or with a file for a batch; raises as `post`."""
        url = self._beside.copy_with(path=self._beside.path.rstrip("/") + path).copy_merge_params(params or {})
        if not upload:
            return await self._send(method, url, content=body and json.dumps(body).encode(), headers=self._headers)
        headers = self._headers.copy()
        headers.pop("content-type", None)  # the form has its own, which names the boundary between its parts
        file = {"file": ("psopt.jsonl", upload, "application/jsonl")}
        return await self._send(method, url, data={"purpose": "batch"}, files=file, headers=headers)

    async def _send(self, method: str, url: httpx2.URL, **sent: Any) -> httpx2.Response:
        import aiohttp
        import httpx2

        try:
            return await self._http.request(method, url, **sent)
        except aiohttp.ClientResponseError as error:  # the transport maps all others to httpx2's
            reason = self._address.safe(error.message).rstrip(" ^")
            message = f"{self._address.endpoint} answered no HTTP ({reason}): is it the right address?"
            raise TransientError(message, unreadable=True) from None
        except (httpx2.HTTPError, aiohttp.ClientError, OSError) as error:
            raise self._broken(error) from None

    def _broken(self, error: Exception) -> Exception:
        """Say how a connection failed; aiohttp reports a cut one as a time-out, so this names the first cause."""
        cause: BaseException = error
        while cause.__cause__ is not None:
            cause = cause.__cause__
        if "certificate" in str(cause).casefold():
            return ModelRefusedError(
                f"the certificate of {self._address.endpoint} is not trusted ({self._address.safe(str(cause))}): "
                "set SSL_CERT_FILE to the file of the authority that signed it"
            )
        if is_unreachable(error):
            return TransientError(self._unreachable(error, cause), unreachable=True)
        return TransientError(self._address.safe(f"{type(cause).__name__}: {cause}"))

    def _unreachable(self, error: Exception, cause: BaseException) -> str:
        """Say what can't be reached, the server or a proxy, and why."""
        place, fault = self._address.endpoint, "is the server running?"
        reached = getattr(error.__cause__, "host", None)  # aiohttp's errors name what they have tried to reach
        if reached not in {None, self._chat.host, self._chat.raw_host.decode()}:
            proxy = f"{reached}:{getattr(error.__cause__, 'port', '')}"
            place, fault = f"the proxy {proxy} (HTTP_PROXY, HTTPS_PROXY or ALL_PROXY)", "is it running?"
        if isinstance(cause, ssl.SSLError):
            fault = "it speaks no TLS: does its address begin with http://?"
            if cause.reason != "WRONG_VERSION_NUMBER":
                fault = self._address.safe(str(cause))
        return f"no connection to {place}: {fault}"

    async def close(self) -> None:
        await self._http.aclose()
