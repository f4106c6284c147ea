"""For test suites: assert that a prompt is robust, and a server to test against without a model, a key or a network."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from psopt.testing._fake_server import FakeServer

if TYPE_CHECKING:
    from psopt.testing._assert_robust import assert_robust

__all__ = ["FakeServer", "assert_robust"]


def __getattr__(name: str) -> Any:
    # pytest imports this package, with the plugin, in every session: heavy imports wait until they are needed.
    if name == "assert_robust":
        from psopt.testing._assert_robust import assert_robust

        return assert_robust
    raise AttributeError(f"module 'psopt.testing' has no attribute {name!r}")
