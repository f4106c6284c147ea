"""Requests per second of the clients that psopt is compared with, each against the same server on the loopback.

    python benchmarks/models_peers.py [NAME ...]

64 requests in flight from one process, each with a different text, no caches, no retries. The server, in its own
process, answers after 20 ms, so no client can pass 3,200 per second; it is the test server, which with 256 in flight
answers more than 8,000.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import logging
import os
import sys
import urllib.request
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

from psopt.search_spaces import Messages, Prompt, render

sys.path.append(str(Path(__file__).resolve().parent.parent))  # where `tests` is

from tests.fake_server import FakeServer

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator

    Send = Callable[[Messages], Awaitable[object]]

IN_FLIGHT = 64
N_WARM_UP = 2 * IN_FLIGHT
N_REQUESTS = 3_000
DELAY_MS = 20
MODEL, KEY, LABEL = "test", "none", "Entity"
PARAMETERS = {"temperature": 0.0, "seed": 42, "max_tokens": 64}
PROMPT = Prompt(
    "Classify the question by the kind of answer that it asks for.",
    ("Number", "Location", "Person", "Description", LABEL, "Abbreviation"),
    "question",
)
_OFFLINE = "True"  # litellm and dspy would look up prices on the network


@contextmanager
def answering_server(delay_ms: float = DELAY_MS) -> Iterator[str]:
    """The fake server, which answers everything with one label; yields its base URL."""
    with FakeServer(answer=f"fixed:{LABEL}", delay_ms=delay_ms) as server:
        yield server.url


def n_answered(base_url: str) -> int:
    """How many requests the server has answered."""
    with urllib.request.urlopen(f"{base_url.removesuffix('/v1')}/control") as response:
        return json.load(response)["answered"]


def texts(n_texts: int) -> list[str]:
    """Questions, all different."""
    return [f"What is the name of thing number {i} ?" for i in range(n_texts)]


async def aiohttp_rate(base_url: str, n_requests: int) -> float:
    """A bare loop over aiohttp: the upper bound for any client in Python."""
    import aiohttp

    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:

        async def send(messages: Messages) -> object:
            body = {"model": MODEL, "messages": messages, **PARAMETERS}
            async with session.post(f"{base_url}/chat/completions", json=body) as response:
                return (await response.json())["choices"][0]["message"]["content"]

        return await _rate(send, n_requests)


async def openai_rate(base_url: str, n_requests: int, *, aiohttp: bool = False, raw: bool = False) -> float:
    """The openai package: over httpx as by default or over aiohttp, answers parsed into its models or left raw."""
    import openai

    transport = openai.DefaultAioHttpClient() if aiohttp else None
    async with openai.AsyncOpenAI(base_url=base_url, api_key=KEY, max_retries=0, http_client=transport) as client:
        completions = client.chat.completions

        async def send(messages: Messages) -> object:
            request = {"model": MODEL, "messages": messages, **PARAMETERS}
            if raw:
                response = await completions.with_raw_response.create(**request)
                return json.loads(response.content)["choices"][0]["message"]["content"]
            return (await completions.create(**request)).choices[0].message.content

        return await _rate(send, n_requests)


async def litellm_rate(base_url: str, n_requests: int) -> float:
    """litellm.acompletion."""
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = _OFFLINE
    import litellm

    litellm.telemetry = False

    async def send(messages: Messages) -> object:
        answer = await litellm.acompletion(
            f"openai/{MODEL}", messages, api_base=base_url, api_key=KEY, num_retries=0, caching=False, **PARAMETERS
        )
        return answer.choices[0].message.content

    return await _rate(send, n_requests)


def dspy_rate(base_url: str, n_requests: int) -> float:
    """dspy.Evaluate with as many threads as the others have requests in flight."""
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = _OFFLINE
    import dspy

    logging.getLogger("dspy").setLevel(logging.ERROR)
    lm = dspy.LM(f"openai/{MODEL}", api_base=base_url, api_key=KEY, cache=False, num_retries=0, **PARAMETERS)
    program = dspy.Predict(dspy.Signature("question -> label", PROMPT.description))

    def evaluate(n_examples: int) -> float:
        examples = [dspy.Example(question=text, label=LABEL).with_inputs("question") for text in texts(n_examples)]
        run = dspy.Evaluate(devset=examples, num_threads=IN_FLIGHT, display_progress=False, max_errors=1)
        start = perf_counter()
        result = run(program, metric=lambda example, found: example.label == found.label)
        seconds = perf_counter() - start
        if result.score != 100:
            raise RuntimeError(f"the server's label was found in {result.score} % of its answers")
        return n_examples / seconds

    with dspy.context(lm=lm):
        evaluate(N_WARM_UP)
        return evaluate(n_requests)


async def _rate(send: Send, n_requests: int) -> float:
    """Send this many requests after some for warm-up; return the number per second."""
    await _send_all(send, texts(N_WARM_UP))
    start = perf_counter()
    await _send_all(send, texts(n_requests))
    return n_requests / (perf_counter() - start)


async def _send_all(send: Send, questions: list[str]) -> None:
    waiting = iter(questions)

    async def work() -> None:
        for text in waiting:
            said = await send(render(PROMPT, text))
            if said != LABEL:
                raise RuntimeError(f"the server said {said!r}, not {LABEL!r}")

    await asyncio.gather(*itertools.starmap(work, [()] * IN_FLIGHT))


def _blocking(measure: Callable[..., Any]) -> Callable[[str, int], float]:
    return lambda base_url, n_requests: asyncio.run(measure(base_url, n_requests))


PEERS: dict[str, Callable[[str, int], float]] = {
    "bare aiohttp": _blocking(aiohttp_rate),
    "openai, aiohttp, raw": _blocking(partial(openai_rate, aiohttp=True, raw=True)),
    "openai, aiohttp": _blocking(partial(openai_rate, aiohttp=True)),
    "openai, default": _blocking(openai_rate),
    "litellm": _blocking(litellm_rate),
    "dspy.Evaluate": dspy_rate,
}
"""Requests per second by (base URL, number of requests)."""


def peer_rate(name: str, base_url: str, n_requests: int) -> float:
    """Measure one peer here; an error if it did not send the expected number of requests."""
    before = n_answered(base_url)
    rate = PEERS[name](base_url, n_requests)
    asked = n_answered(base_url) - before
    if asked != n_requests + N_WARM_UP:
        raise RuntimeError(f"{name} sent {asked} requests, not {n_requests + N_WARM_UP}")
    return rate


def measure(name: str, n_requests: int = N_REQUESTS) -> float:
    """Measure one peer in a fresh process against a fresh server, so that none is slowed by another's imports."""
    with answering_server() as base_url, ProcessPoolExecutor(1, mp_context=get_context("spawn")) as process:
        return process.submit(peer_rate, name, base_url, n_requests).result()


def main(names: list[str]) -> None:
    """Print a Markdown table."""
    print("| client | requests/s |\n|---|--:|")
    for name in names:
        print(f"| {name} | {measure(name):,.0f} |", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:] or list(PEERS))
