"""Servers of other people's, started for a test on a free port of 127.0.0.1: each ends with its block.

`scripts/server-packages` installs them into an environment of their own, which PSOPT_TEST_SERVERS names; llama.cpp's
comes with the extra gguf.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.waiting import wait_until

KEY = "sk-0123456789abcdef-for-the-proxy"  # LiteLLM refuses to start with a short one
_SLOTS, _CONTEXT = 2, 2048  # of llama.cpp's server; the tokens of each slot
_PATIENCE = 180  # seconds until a server must be up: importing torch and litellm on a busy machine
_DIRECTLY = urllib.request.build_opener(urllib.request.ProxyHandler({}))


class NotInstalledError(Exception):
    """A server is not to be had here; says why."""


@dataclass(frozen=True, slots=True)
class Server:
    """Where a server answers, and by which name it knows its model."""

    url: str
    model: str
    log: Path


@contextmanager
def serve_transformers(folder: Path, log: Path) -> Iterator[Server]:
    """`transformers serve`, pinned to one model."""
    port = _free_port()
    command = [program("transformers"), "serve", str(folder), "--host", "127.0.0.1", "--port", str(port)]
    with _running([*command, "--device", "cpu"], port, "/health", log, HF_HUB_OFFLINE="1", OMP_NUM_THREADS="1"):
        yield Server(f"http://127.0.0.1:{port}/v1", str(folder), log)


@contextmanager
def serve_llama_cpp(file: Path, log: Path) -> Iterator[Server]:
    """llama.cpp's own server, which xllamacpp carries, in threads of this process: what `llama-server` is to people."""
    try:
        import xllamacpp
    except ImportError:
        raise NotInstalledError("psopt[gguf] is not installed") from None
    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(file)
    parameters.hostnames = ["127.0.0.1"]
    parameters.port = 0  # any free one
    parameters.n_parallel = _SLOTS
    parameters.n_ctx = _CONTEXT * _SLOTS
    parameters.cpuparams.n_threads = 1  # threads that wait for each other are slower on a busy machine
    parameters.verbosity = -1
    server = xllamacpp.Server(parameters)
    yield Server(f"{server.listening_address}/v1", file.stem, log)
    del server  # it ends with the last reference to it


@contextmanager
def serve_litellm(upstream: Server, log: Path) -> Iterator[Server]:
    """LiteLLM's proxy in front of another server; it asks for `KEY`."""
    port = _free_port()
    behind = {"model": f"openai/{upstream.model}", "api_base": upstream.url, "api_key": "none"}
    config = log.with_suffix(".json")  # JSON is YAML
    config.write_text(json.dumps({"model_list": [{"model_name": "behind", "litellm_params": behind}]}))
    command = [program("litellm"), "--config", str(config), "--host", "127.0.0.1", "--port", str(port)]
    settings = {"LITELLM_MASTER_KEY": KEY, "LITELLM_LOCAL_MODEL_COST_MAP": "True"}  # the map is fetched otherwise
    with _running([*command, "--telemetry", "False"], port, "/health/liveliness", log, **settings):
        yield Server(f"http://127.0.0.1:{port}/v1", "behind", log)


def program(name: str) -> str:
    """A program of the servers' environment, such as python; a NotInstalledError says that there is none."""
    folder = os.environ.get("PSOPT_TEST_SERVERS")
    if not folder:
        raise NotInstalledError("real servers are started by `make test-servers` alone")
    file = Path(folder).resolve() / "bin" / name
    if not file.exists():
        raise NotInstalledError(f"{name} is not in {folder}: scripts/server-packages says why")
    return str(file)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def _running(command: Sequence[str], port: int, ready: str, log: Path, **settings: str) -> Iterator[None]:
    """Run a server until its block ends; it is up when it answers under `ready`."""
    environment = {**os.environ, **settings, "NO_PROXY": "127.0.0.1"}
    with log.open("w") as output:
        process = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT, env=environment, cwd=log.parent)
        try:
            _wait(process, f"http://127.0.0.1:{port}{ready}", log)
            yield
        finally:
            process.kill()
            process.wait()


def _wait(process: subprocess.Popen[bytes], url: str, log: Path) -> None:
    try:
        wait_until(lambda: process.poll() is not None or _answers(url), seconds=_PATIENCE)
    except AssertionError:
        process.kill()
    if process.poll() is not None:
        raise RuntimeError(f"the server did not start: {log.read_text()[-2000:]}")


def _answers(url: str) -> bool:
    try:
        with _DIRECTLY.open(url, timeout=5):
            return True
    except urllib.error.HTTPError as error:
        error.close()
        return error.code < 500
    except OSError:
        return False
