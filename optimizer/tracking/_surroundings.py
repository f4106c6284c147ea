"""What trackers have in common with the world outside: whether a server is there, variables of the environment."""

from __future__ import annotations

import contextlib
import os
import ssl
import urllib.error
import urllib.request
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_WAITING = 10.0  # seconds; a server that is there takes a connection within one


def why_unreachable(url: str) -> str:
    """Say why nobody is to be had at an address; empty where anybody answers, whatever they say."""
    try:
        urllib.request.urlopen(url, timeout=_WAITING).close()  # noqa: S310  # the user's own address
    except urllib.error.HTTPError:
        return ""
    except urllib.error.URLError as error:
        # A certificate that is not trusted here may be trusted by who is to send.
        return "" if isinstance(error.reason, ssl.SSLError) else str(error.reason)
    except TimeoutError:
        return f"no answer within {_WAITING:g} s"
    except (OSError, ValueError):  # a server that says nothing of HTTP's
        return ""
    return ""


@contextlib.contextmanager
def unless_set(**variables: str) -> Iterator[None]:
    """Set variables of the environment for a while, as far as the user has not set them."""
    new = {name: value for name, value in variables.items() if name not in os.environ}
    os.environ.update(new)
    try:
        yield
    finally:
        for name in new:
            os.environ.pop(name, None)
