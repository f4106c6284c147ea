"""For test suites: assert that a prompt is robust, and a server to test against without a model, a key or a network."""

from psopt.testing._assert_robust import assert_robust
from psopt.testing._fake_server import FakeServer

__all__ = ["FakeServer", "assert_robust"]
