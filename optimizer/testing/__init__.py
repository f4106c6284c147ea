"""For test suites: assert that a prompt is robust, and a server to test against without a model, a key or a network."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from psopt.testing._assert_robust import assert_robust
    from psopt.testing.fake_server import FakeServer

__all__ = ["FakeServer", "assert_robust"]

# The server's process imports this package too: what it does not need would only make it slow to start.
_HOMES = {"FakeServer": "psopt.testing.fake_server", "assert_robust": "psopt.testing._assert_robust"}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'psopt.testing' has no attribute {name!r}")
