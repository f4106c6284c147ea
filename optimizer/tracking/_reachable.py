"""Whether anybody answers at an address."""

from __future__ import annotations

import urllib.error
import urllib.request

_WAITING = 10.0  # seconds; a server that is there takes a connection within one


def why_unreachable(url: str) -> str:
    """Say why nobody is to be had at an address on the web; empty where anybody answers, whatever he says.

    A certificate that is not trusted here may be trusted by who is to send: somebody is there.
    """
    try:
        with urllib.request.urlopen(url, timeout=_WAITING):  # noqa: S310  # the user's own address
            return ""
    except urllib.error.HTTPError:
        return ""
    except urllib.error.URLError as error:
        is_gone = isinstance(error.reason, ConnectionError | TimeoutError) or type(error.reason).__name__ == "gaierror"
        return str(error.reason) if is_gone else ""
    except TimeoutError:
        return f"no answer within {_WAITING:g} s"
    except (OSError, ValueError):  # no address on the web, or a server that says nothing of HTTP's
        return ""
