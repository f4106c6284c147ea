"""How much of the engine's rate does `psopt serve` keep, with 64 connections?

    python benchmarks/serving.py [--texts 2000] [--delay-ms 200] [--rounds 3]

A stand-in for OpenAI's server answers after a delay, by default what a hosted model takes for a label. The same number
of new texts is classified by `psopt.classify`, sending 64 at once, and through `psopt serve` by 64 clients that each
wait for their answer. It prints both rates and their ratio for each round; the target is a median of .8. Rates depend
on the machine: compare ratios, from one run.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import aiohttp
import psopt
from psopt.search_spaces import Prompt

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from tests.fake_server import FakeServer

if TYPE_CHECKING:
    from collections.abc import Iterator

CONNECTIONS = 64
PROMPT = Prompt("Sort the message.", ("Delivery", "Payment"))


def main() -> None:
    """Print the rates of each round, and the median of their ratios."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--texts", type=int, default=2000)
    parser.add_argument("--delay-ms", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=3)
    words = parser.parse_args()
    ratios = []
    with tempfile.TemporaryDirectory() as name, FakeServer(answer="hash", delay_ms=words.delay_ms) as server:
        folder = Path(name)
        (folder / "prompt.json").write_text(json.dumps(PROMPT.to_dict()))
        with serving(folder, server.url) as address:
            for number in range(words.rounds):
                texts = [f"Round {number}: my parcel {place} is late" for place in range(words.texts)]
                alone = engine_rate([f"{text}." for text in texts], server.url, folder)
                served = asyncio.run(served_rate(texts, address))
                ratios.append(served / alone)
                print(f"engine alone {alone:,.0f}/s, served {served:,.0f}/s: {ratios[-1]:.2f}", flush=True)
    print(f"median {statistics.median(ratios):.2f} of the engine's rate (to reach: .8)")


@contextlib.contextmanager
def serving(folder: Path, url: str) -> Iterator[str]:
    """`psopt serve` in a separate process; yields its address."""
    model = ["--model", "openai/m", "--api-base", url, "--concurrency", str(CONNECTIONS)]
    command = [sys.executable, "-m", "psopt", "serve", str(folder / "prompt.json"), *model, "--port", "0"]
    environment = {**os.environ, "PSOPT_CACHE_DIR": str(folder / "served")}
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment) as process:
        assert process.stderr is not None
        try:
            yield next(found[1] for line in process.stderr if (found := re.search(r"(http://\S+)/v1 with", line)))
        finally:
            process.terminate()


def engine_rate(texts: list[str], url: str, folder: Path) -> float:
    """Answers per second of one call of `psopt.classify`."""
    lm = psopt.LMConfig(api_base=url, concurrency=CONNECTIONS)
    began = time.perf_counter()
    psopt.classify(texts, PROMPT, model="openai/m", lm=lm, cache_dir=folder / "alone", progress=False)
    return len(texts) / (time.perf_counter() - began)


async def served_rate(texts: list[str], address: str) -> float:
    """Answers per second through the server, by clients that each send the next text once they have an answer."""
    left = iter(texts)
    connector = aiohttp.TCPConnector(limit=CONNECTIONS)
    async with aiohttp.ClientSession(connector=connector) as session:

        async def ask_on() -> None:
            for text in left:
                body = {"messages": [{"role": "user", "content": text}]}
                async with session.post(f"{address}/v1/chat/completions", json=body) as response:
                    response.raise_for_status()
                    await response.read()

        began = time.perf_counter()
        await asyncio.gather(*(ask_on() for _ in range(CONNECTIONS)))
        return len(texts) / (time.perf_counter() - began)


if __name__ == "__main__":
    main()
