"""The transport to a server: HTTP over aiohttp, with what the openai package sends of a user's settings."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

if TYPE_CHECKING:
    from collections.abc import Awaitable, Mapping

    import httpx2
    from psopt.models.chat._address import Address

_SHOWN = 80  # characters of what a library says of a response


class Transport:
    """Sends requests to one address, and nowhere else: redirects are not followed.

    The openai package knows the headers (organization, project, `$OPENAI_CUSTOM_HEADERS`), proxies and certificates,
    and makes the HTTP client. Requests are sent by that client itself: what the package does around it takes half of
    the processor's time of a request, and is not needed here (retries, types, pages).

    Parameters
    ----------
    address : Address
    connect_timeout : float
        Seconds; how long an answer is waited for is whoever's that sends.
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
        self._headers = httpx2.Headers(_overridden(headers, address.headers))
        query = f"?{urlencode(address.query)}" if address.query else ""
        self._chat = httpx2.URL(f"{address.base}/chat/completions{query}")
        self._models = httpx2.URL(f"{address.base}/models{query}")
        self._props = httpx2.URL(f"{address.base.removesuffix('/v1')}/props{query}")
        # Files and batches are the resource's at Azure, not the deployment's.
        self._beside = httpx2.URL(f"{address.base.partition('/deployments/')[0]}{query}")

    async def post(self, body: dict[str, Any]) -> httpx2.Response:
        """Ask for a chat completion; an HTTP error is a response like any other.

        Raises
        ------
        httpx2.HTTPError, OSError
            If the connection fails.
        """
        content = json.dumps(body).encode()
        return await _in_http(self._http.post(self._chat, content=content, headers=self._headers))

    async def models(self, timeout: float) -> httpx2.Response:
        """Ask which models there are, for so many seconds at most; raises as `post`."""
        return await _in_http(self._http.get(self._models, headers=self._headers, timeout=timeout))

    async def props(self, timeout: float) -> httpx2.Response:
        """Ask llama.cpp's server how it was started; raises as `post`."""
        return await _in_http(self._http.get(self._props, headers=self._headers, timeout=timeout))

    async def call(
        self, method: str, path: str, *, params: Mapping[str, str] | None = None, body: Any = None, upload: bytes = b""
    ) -> httpx2.Response:
        """Ask an address beside the chat's, with JSON, or with a file for a batch; raises as `post`."""
        import httpx2

        url = self._beside.copy_with(path=self._beside.path.rstrip("/") + path).copy_merge_params(params or {})
        if not upload:
            content = None if body is None else json.dumps(body).encode()
            return await _in_http(self._http.request(method, url, content=content, headers=self._headers))
        headers = httpx2.Headers(self._headers)
        headers.pop("Content-Type", None)  # the form's own, which names the boundary of its parts
        file = {"file": ("psopt.jsonl", upload, "application/jsonl")}
        sent = self._http.request(method, url, data={"purpose": "batch"}, files=file, headers=headers)
        return await _in_http(sent)

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()


async def _in_http(sending: Awaitable[httpx2.Response]) -> httpx2.Response:
    """Wait for a response; what is none by the rules of HTTP is a connection that failed."""
    import aiohttp
    import httpx2

    try:
        return await sending
    except (aiohttp.ClientError, aiohttp.http_exceptions.HttpProcessingError) as error:
        what = str(getattr(error, "message", "") or error).partition("\n")[0].strip(" :")
        raise httpx2.RemoteProtocolError(f"no answer in HTTP ({what[:_SHOWN]})") from None


def _overridden(headers: dict[str, str], own: Mapping[str, str]) -> dict[str, str]:
    """Headers with the user's in place of those of the same name, in whatever case."""
    names = {name.casefold() for name in own}
    return {**{name: value for name, value in headers.items() if name.casefold() not in names}, **own}
