"""The transport to a server: HTTP over aiohttp, with what the openai package sends of a user's settings."""

from __future__ import annotations

import json
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import httpx2
    from psopt.models.chat._address import Address

_asker_key: ContextVar[str] = ContextVar("asker_key", default="")


@contextmanager
def asking_with_key(key: str) -> Iterator[None]:
    """Ask servers with this key in place of the environment's, as far as this thread goes; not where it is empty."""
    token = _asker_key.set(key)
    try:
        yield
    finally:
        _asker_key.reset(token)


class NoResponseError(Exception):
    """No HTTP response came: the connection failed or broke, or what came is no HTTP. Its cause says how."""

    def __init__(self, reason: str, *, is_no_http: bool) -> None:
        super().__init__(reason)
        self.is_no_http = is_no_http


class Transport:
    """Sends requests to one address, and nowhere else: redirects are not followed.

    The openai package knows the headers (organization, project, `$OPENAI_CUSTOM_HEADERS`), proxies and certificates,
    and makes the HTTP client. Requests are sent by that client itself: what the package does around it takes half of
    the processor's time of a request, and is not needed here (retries, types, pages).
    """

    def __init__(self, address: Address, *, connect_timeout: float) -> None:
        import httpx2
        import openai

        timeout = httpx2.Timeout(None, connect=connect_timeout)
        self._http = openai.DefaultAioHttpClient(timeout=timeout, follow_redirects=False)
        settings = openai.AsyncOpenAI(base_url=address.base, api_key=address.key or "none", http_client=self._http)
        headers = {name: value for name, value in settings.default_headers.items() if isinstance(value, str)}
        if address.key_header:
            headers |= {address.key_header: address.key} if address.key else {}
        else:
            headers["Authorization"] = f"Bearer {address.key or 'none'}"
        self._key_header = address.key_header
        self._headers = httpx2.Headers(_overridden(headers, address.headers))
        query = f"?{urlencode(address.query)}" if address.query else ""
        self._chat = httpx2.URL(f"{address.base}/chat/completions{query}")
        self._models = httpx2.URL(f"{address.base}/models{query}")
        # Files and batches are the resource's at Azure, not the deployment's.
        self._beside = httpx2.URL(f"{address.base.partition('/deployments/')[0]}{query}")

    async def post(self, body: dict[str, Any]) -> httpx2.Response:
        """Ask for a chat completion; an HTTP error is a response like any other.

        Raises NoResponseError if there is none.
        """
        import httpx2

        headers = self._headers
        if key := _asker_key.get():
            headers = httpx2.Headers(headers)
            headers[self._key_header or "Authorization"] = key if self._key_header else f"Bearer {key}"
        return await self._send("POST", self._chat, content=json.dumps(body).encode(), headers=headers)

    async def models(self) -> httpx2.Response:
        """Ask which models there are; raises as `post`."""
        return await self._send("GET", self._models, headers=self._headers)

    async def call(
        self, method: str, path: str, *, params: Mapping[str, str] | None = None, body: Any = None, upload: bytes = b""
    ) -> httpx2.Response:
        """Ask an address beside the chat's, with JSON, or with a file for a batch; raises as `post`."""
        import httpx2

        url = self._beside.copy_with(path=self._beside.path.rstrip("/") + path).copy_merge_params(params or {})
        if not upload:
            content = None if body is None else json.dumps(body).encode()
            return await self._send(method, url, content=content, headers=self._headers)
        headers = httpx2.Headers(self._headers)
        headers.pop("Content-Type", None)  # the form's own, which names the boundary of its parts
        file = {"file": ("psopt.jsonl", upload, "application/jsonl")}
        return await self._send(method, url, data={"purpose": "batch"}, files=file, headers=headers)

    async def _send(self, method: str, url: httpx2.URL, **sent: Any) -> httpx2.Response:
        import aiohttp
        import httpx2

        try:
            return await self._http.request(method, url, **sent)
        except aiohttp.ClientResponseError as error:  # the transport maps all others to httpx2's
            raise NoResponseError(error.message, is_no_http=True) from error
        except (httpx2.HTTPError, aiohttp.ClientError, OSError) as error:
            raise NoResponseError(str(error), is_no_http=False) from error

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()


def _overridden(headers: dict[str, str], own: Mapping[str, str]) -> dict[str, str]:
    """Headers with the user's in place of those of the same name, in whatever case."""
    names = {name.casefold() for name in own}
    return {**{name: value for name, value in headers.items() if name.casefold() not in names}, **own}
