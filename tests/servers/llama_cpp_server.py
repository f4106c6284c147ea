"""llama.cpp's own HTTP server, from xllamacpp's wheel, until it is killed: what `llama-server` is to people.

python tests/servers/llama_cpp_server.py FILE PORT
"""

from __future__ import annotations

import signal
import sys

SLOTS = 2
CONTEXT = 2048  # of each slot


def serve(file: str, port: int) -> None:
    """Start the server in this process; it answers from its own threads."""
    import xllamacpp

    parameters = xllamacpp.CommonParams()
    parameters.model.path = file
    parameters.hostnames = ["127.0.0.1"]
    parameters.port = port
    parameters.n_parallel = SLOTS
    parameters.n_ctx = CONTEXT * SLOTS
    parameters.cpuparams.n_threads = 1  # threads that wait for each other are slower on a busy machine
    server = xllamacpp.Server(parameters)
    signal.pause()
    del server  # it ends with the last reference to it


if __name__ == "__main__":
    serve(sys.argv[1], int(sys.argv[2]))
