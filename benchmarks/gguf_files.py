"""Answers per second from a GGUF file: labels scored in process, next to llama.cpp's own server and transformers.

    python benchmarks/gguf_files.py [FILE] [--texts 60]

All on the same texts under one prompt, in one run on a quiet machine; FILE is by default the one that ``smollm2`` uses.

- *scored*: `GGUFModel`, every label's probability;
- *server*: llama.cpp's HTTP server in a separate process, asked through ``openai/`` with a JSON schema: one label,
  generated;
- *hf*: `HFModel` on the same file, made single precision by transformers (left out without the packages ``gguf`` and
  ``accelerate``);
- *bare*: how fast llama.cpp reads 512 tokens at once, on one thread per processor, in tokens per second. The
  rate at which `scored` reads new prompt tokens is compared with that.

Memory is the increase in what the process holds from before loading to after scoring.
"""

from __future__ import annotations

import argparse
import resource
import socket
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from psopt.models import ModelProvider
from psopt.models.chat import LMConfig
from psopt.models.gguf import GGUFModel, fast_copy, fetched_model
from psopt.models.gguf._model import n_processors
from psopt.models.gguf._reader import Reader
from psopt.models.scoring import common_length, label_tree
from psopt.search_spaces import render, seed_prompt
from psopt.tasks import load_task

if TYPE_CHECKING:
    from collections.abc import Callable

    from psopt.search_spaces import Prompt

_SERVER = """
import signal, sys, xllamacpp
p = xllamacpp.CommonParams()
p.model.path, p.hostnames, p.port, p.n_parallel, p.n_ctx = sys.argv[1], ["127.0.0.1"], int(sys.argv[2]), 4, 8192
p.cpuparams.n_threads = int(sys.argv[3])
server = xllamacpp.Server(p)
print("ready", flush=True)
signal.pause()
"""


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("file", nargs="?", type=Path)
    parser.add_argument("--texts", type=int, default=60)
    words = parser.parse_args()
    file = words.file or fast_copy(fetched_model("smollm2"))
    task = load_task("trec")
    prompt = seed_prompt(task, "simple")
    texts = [sample.text for sample in task.test[: words.texts]]

    before = _memory()
    model = GGUFModel(file)
    model.label_scores([_first(prompt)], texts[:4])
    seconds = _timed(lambda: model.label_scores([prompt], texts))
    rows = [("scored", len(texts) / seconds)]
    memory = _memory() - before
    read = _n_read(model, prompt, texts) / seconds
    bare = _bare_rate(model)
    with_server = _of_server(file, task, prompt, texts)
    rows.append(("server", with_server))
    rows += _of_transformers(file, prompt, texts)
    for name, rate in rows:
        print(f"{name:8} {rate:6.1f} answers/s   {rows[0][1] / rate:5.2f} times as many are scored")
    print(f"bare     {bare:6.0f} tokens/s; scored reads {read:.0f} of these, {read / bare:.2f} of the rate")
    size = file.stat().st_size / 1e6
    print(f"memory   {memory:6.0f} MB beside a file of {size:.0f} MB, {memory / size:.2f} times")


def _first(prompt: Prompt) -> Prompt:
    """Another prompt, for what each does once: load, try what works."""
    return prompt.described_as(f"{prompt.description} ")


def _timed(work: Callable[[], Any]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def _memory() -> float:
    """The most that this process has held so far, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def _n_read(model: GGUFModel, prompt: Prompt, texts: list[str]) -> int:
    """How many tokens differ from the text before."""
    prompts, _ = model.tokenizer.scored([render(prompt, text) for text in texts], prompt.labels)
    shared = common_length(prompts)
    return sum(len(tokens) - shared for tokens in prompts)


def _bare_rate(model: GGUFModel) -> float:
    tokens = [int(token) for token in np.random.default_rng(0).integers(100, 4000, 512)]
    n = n_processors()

    def read(_: int) -> None:
        Reader(model.weights).log_probabilities([tokens], label_tree([[0]]))

    with ThreadPoolExecutor(n) as threads:
        return n * len(tokens) / _timed(lambda: list(threads.map(read, range(n))))


def _of_server(file: Path, task: Any, prompt: Prompt, texts: list[str]) -> float:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-c", _SERVER, str(file), str(port), str(n_processors())]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        assert server.stdout is not None
        server.stdout.readline()
        lm = LMConfig(api_base=f"http://127.0.0.1:{port}/v1", timeout=600)
        with tempfile.TemporaryDirectory() as cache:
            model = ModelProvider(cache, lm).answering("openai/gguf", task)
            model.predict([_first(prompt)], texts[:4])  # detects what the server accepts
            return len(texts) / _timed(lambda: model.predict([prompt], texts))
    finally:
        server.kill()


def _of_transformers(file: Path, prompt: Prompt, texts: list[str]) -> list[tuple[str, float]]:
    try:
        import accelerate  # noqa: F401
        import gguf  # noqa: F401
        from psopt.models.hf import HFModel
    except ImportError:
        return []
    model = HFModel(str(file))
    model.label_scores([_first(prompt)], texts[:4])
    return [("hf", len(texts) / _timed(lambda: model.label_scores([prompt], texts)))]


if __name__ == "__main__":
    main()
