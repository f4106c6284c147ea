"""Where requests go, and with which key: OpenAI, any server that speaks its protocol, Azure."""

from __future__ import annotations

import os
import re
import shlex
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from psopt.errors import InputError
from psopt.models.chat._secrets import CUT, holding, is_secret, redacted

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from psopt.settings import LMConfig

_OPENAI = "https://api.openai.com/"
# The latest general release (learn.microsoft.com/azure/ai-foundry/openai/api-version-lifecycle).
_API_VERSION = "2024-10-21"
_AZURE_HOSTS = (".openai.azure.com", ".cognitiveservices.azure.com", ".services.ai.azure.com")
_CHAT = "/chat/completions"
# What the openai package sends as headers too; of the last, each line is one
_OF_THE_PACKAGE = ("OPENAI_ORG_ID", "OPENAI_PROJECT_ID")
_CUSTOM = "OPENAI_CUSTOM_HEADERS"
# Addresses that may hold secrets; others in a command are left as they are
_WITH_SECRETS = re.compile(r"https?://[^\s'\"]*[?@][^\s'\"]*")
_IS_COUNTED: ContextVar[bool] = ContextVar("_IS_COUNTED", default=False)


@contextmanager
def asking_nothing() -> Iterator[None]:
    """Allow models without a key: their calls are counted, and none is sent."""
    with holding(_IS_COUNTED, value=True):
        yield


@dataclass(frozen=True, slots=True)
class Address:
    """Where requests for a model go."""

    base: str  # the address before ``/chat/completions``, without a query
    query: Mapping[str, str]  # sent with every request
    headers: Mapping[str, str]  # sent with every request; their values are secrets
    key: str  # the key; empty if there is none
    key_header: str = ""  # the header that holds the bare key; empty for ``Authorization: Bearer KEY``

    @property
    def endpoint(self) -> str:
        """The address as the cache's keys and messages name it, without any keys in its query."""
        shown = "&".join(f"{name}={value}" for name, value in self.query.items() if not _is_key(name))
        return f"{self.base}?{shown}" if shown else self.base

    @property
    def secrets(self) -> list[str]:
        """What must not appear in any message."""
        parts = [part for value in self.headers.values() for part in (value, value.rpartition(" ")[2])]
        return [self.key, *parts, *(value for name, value in self.query.items() if _is_key(name))]

    def safe(self, text: str) -> str:
        """What the server says, without secrets."""
        return redacted(text, self.secrets)


def openai_address(model: str, options: LMConfig) -> Address:
    """Return the address of ``openai/MODEL``; raises InputError if it is OpenAI itself without a key, or no address."""
    address, source = _named(options, "OPENAI_BASE_URL") or (f"{_OPENAI}v1", "")
    key, headers = _key("OPENAI_API_KEY"), _headers(options)
    if address.startswith(_OPENAI) and _lacks_key(key, headers):
        raise InputError(
            f"model openai/{model} needs a key: set OPENAI_API_KEY, or name a server of your own with --api-base URL"
        )
    base, query = _split(address, source)
    if options.api_version:
        query["api-version"] = options.api_version
    if (urlsplit(base).hostname or "").endswith(_AZURE_HOSTS):
        return Address(base, query, headers, _key("AZURE_OPENAI_API_KEY", "OPENAI_API_KEY"), "api-key")
    return Address(base, query, headers, key)


def azure_address(deployment: str, options: LMConfig) -> Address:
    """Return the address of ``azure/DEPLOYMENT``; raises InputError if the resource or the key is missing.

    The resource is ``--api-base`` (else ``$AZURE_OPENAI_ENDPOINT``): ``https://NAME.openai.azure.com``, an address that
    already names the deployment, or one that ends in ``/openai/v1`` and needs no version.
    """
    named = _named(options, "AZURE_OPENAI_ENDPOINT")
    if named is None:
        raise InputError(
            f"model azure/{deployment} needs its resource: --api-base https://NAME.openai.azure.com, "
            "or AZURE_OPENAI_ENDPOINT"
        )
    key, headers = _key("AZURE_OPENAI_API_KEY"), _headers(options)
    if _lacks_key(key, headers):
        raise InputError(f"model azure/{deployment} needs a key: set AZURE_OPENAI_API_KEY")
    base, query = _split(*named)
    version = options.api_version or query.get("api-version") or os.environ.get("OPENAI_API_VERSION")
    if not base.endswith("/v1"):
        query["api-version"] = version or _API_VERSION
        if "/deployments/" not in base:
            base = f"{base.removesuffix('/openai')}/openai/deployments/{deployment}"
    elif version:
        query["api-version"] = version
    return Address(base, query, headers, key, "api-key")


def _named(options: LMConfig, variable: str) -> tuple[str, str] | None:
    """The address that the user has given, and where: as an option, or in this variable."""
    of_both = (options.api_base, "--api-base"), (os.environ.get(variable), variable)
    return next(((address, source) for address, source in of_both if address), None)


def _split(address: str, source: str) -> tuple[str, dict[str, str]]:
    """An address without its query, and the query; the path that the protocol adds is removed."""
    if re.match(r"https?://[^/?#]*@", address):
        raise InputError(f"{source} holds a password, which belongs into OPENAI_API_KEY: leave it out")
    try:
        parts = urlsplit(address.strip())
        is_whole = address.startswith(("http://", "https://")) and bool(parts.hostname) and parts.port != 0
    except ValueError:  # no number as port, or no end of an IPv6 address
        is_whole = False
    if not is_whole or re.search(r"\s", parts.netloc):
        place = address.partition("?")[0]
        raise InputError(f"{source} must be an address such as http://localhost:8000/v1, not {place!r}")
    path = parts.path.rstrip("/").removesuffix(_CHAT)
    return urlunsplit((parts.scheme, parts.netloc, path, "", "")), dict(parse_qsl(parts.query))


def _headers(options: LMConfig) -> dict[str, str]:
    headers = {}
    for name, value in options.headers.items():
        if value is None:
            raise InputError(
                f"this run sent the header {name}, whose value run.json does not keep: give it again with --header "
                f"{name}=VALUE"
            )
        _check_sendable(f"the value of --header {name}", value)
        headers[name] = value
    for variable in _OF_THE_PACKAGE:
        _check_sendable(variable, os.environ.get(variable, ""))
    _check_sendable(_CUSTOM, os.environ.get(_CUSTOM, "").replace("\n", ""))
    return headers


def _is_key(name: str) -> bool:
    return is_secret(name) or name.casefold() in {"sig", "code"}  # signatures and codes of Azure's gateways


def _key(*variables: str) -> str:
    """The key that the first of these variables holds; empty if none does."""
    for variable in variables:
        if key := os.environ.get(variable, "").strip():
            _check_sendable(variable, key)
            return key
    return ""


def _check_sendable(name: str, value: str) -> None:
    odd = next((character for character in value if not (character.isascii() and character.isprintable())), None)
    if odd is not None:
        raise InputError(f"{name} can't be sent: it holds {odd!r}, and headers are plain ASCII; set it anew")


def _lacks_key(key: str, headers: Mapping[str, str]) -> bool:
    has_credentials = key or any(name.casefold() in {"authorization", "api-key"} for name in headers)
    return not has_credentials and not _IS_COUNTED.get()


def public_address(address: str | None) -> str | None:
    """An address without user, password and secret parameters; None for anything but a web address.

    >>> public_address("http://me:pw@localhost:8000/v1?api-key=abc&api-version=2")
    'http://localhost:8000/v1?api-version=2'
    >>> public_address("dspy")
    """
    try:
        parts = urlsplit(address or "")
    except ValueError:
        return None
    if parts.scheme not in {"http", "https"}:
        return None
    host = parts.netloc.rpartition("@")[2]
    query = [(name, value) for name, value in parse_qsl(parts.query) if not _is_key(name)]
    return urlunsplit((parts.scheme, host, parts.path, urlencode(query), ""))


def public_command(command: str) -> str:
    """Return a command line without the values of its headers, and without the secrets in its addresses.

    >>> public_command("psopt check --header X-Team=blue --header 'Authorization=Bearer a b'")
    "psopt check --header 'X-Team=***' --header 'Authorization=***'"
    >>> public_command("psopt check --api-base 'http://localhost/v1?code=abc&api-version=2'")
    "psopt check --api-base 'http://localhost/v1?api-version=2'"
    """
    parts = shlex.split(command)
    for index, part in enumerate(parts):
        header = re.match(r"(--header=)?[^=]*=", part)
        if header and (header[1] or (index and parts[index - 1] == "--header")):
            parts[index] = f"{header[0]}{CUT}"
        else:
            parts[index] = _WITH_SECRETS.sub(lambda match: public_address(match[0]) or CUT, part)
    return shlex.join(parts)
