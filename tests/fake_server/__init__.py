"""A server that speaks OpenAI's chat completions, for psopt's tests: it classifies, and misbehaves when told to.

In Python: `FakeServer`. From elsewhere, on a port of its own::

    python -m tests.fake_server --answer hash --faults 429,hang,half --fault-rate .3

When it is ready, it prints one line of JSON, ``{"port": 43211, "url": "http://127.0.0.1:43211/v1"}``. Equal requests
get equal answers: whoever sends a request again until it is answered ends up with what a faultless server gives.

POST /v1/chat/completions, GET /v1/models, and the batch API (/v1/files, /v1/batches) are OpenAI's. GET /control returns
the counts of what was seen; POST /control changes options by name (``{"fault_rate": 0}``; ``{"reset": true}`` sets the
counts to 0); GET /control/log returns each different request's digest, how often it came, and how often it was
answered, the last request whole, and the batches.
"""

from tests.fake_server._fake_server import FakeServer
from tests.fake_server._options import FAULTS, FakeServerOptions
from tests.fake_server._providers import PROVIDERS

__all__ = ["FAULTS", "PROVIDERS", "FakeServer", "FakeServerOptions"]
