"""Language models that write, from GGUF files: llama.cpp's own HTTP server in this process."""

from __future__ import annotations

import functools
import socket
from pathlib import Path
from typing import Any

_SLOTS = 1
_CONTEXT = 8192  # tokens; a proposer's data summary takes two thousand
_LONGEST_ANSWER = 500  # tokens: an instruction has about fifty


@functools.cache
def server_of(file: str, n_slots: int = _SLOTS, n_context: int = _CONTEXT) -> tuple[Any, str]:
    """llama.cpp's server for a file, in this process, and its address."""
    import xllamacpp

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(Path(file))
    parameters.hostnames = ["127.0.0.1"]
    parameters.port = port
    parameters.n_parallel = n_slots
    parameters.n_ctx = n_context * n_slots
    parameters.cpuparams.n_threads = 1
    return xllamacpp.Server(parameters), f"http://127.0.0.1:{port}"


def writer_of(address: str) -> Any:
    """A `dspy.LM` that writes, from a GGUF file through llama.cpp's server."""
    import dspy

    _, url = server_of(address.removeprefix("gguf/"))
    name = f"openai/{Path(address).stem}"
    return dspy.LM(name, api_base=f"{url}/v1", api_key="none", cache=False, max_tokens=_LONGEST_ANSWER)
