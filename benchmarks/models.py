"""Requests per second of psopt's engine, end to end, next to the clients in models_peers.py, all in one run.

    python benchmarks/models.py [--rounds 3] [--whole]

End to end: prompts are rendered, keys computed, answers asked, written to the cache and read as labels. "Again" is the
same call with every answer in the cache, from a new model. Each figure is the median of the rounds, which alternate, so
that a change in the machine's load affects all. How much of the speed is left when servers fail or queue is measured
after that, by models_trouble.py, with --whole at its full length.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from time import perf_counter

import models_trouble
from models_peers import IN_FLIGHT, N_REQUESTS, N_WARM_UP, PEERS, PROMPT, answering_server, measure, texts
from psopt.models._answer_cache import AnswerCache
from psopt.models.chat import ChatModel, LMConfig, chat_model

BARE, DSPY = "bare aiohttp", "dspy.Evaluate"
LEAST_OF_BARE, LEAST_OF_DSPY, LEAST_CACHED = 0.6, 1.7, 5_000


def engine_rates(base_url: str, n_requests: int) -> tuple[float, float]:
    """Requests/s of the engine with an empty cache, and answers/s with a full one."""
    with tempfile.TemporaryDirectory() as folder:

        def model() -> ChatModel:
            options = LMConfig(api_base=base_url, concurrency=IN_FLIGHT, max_tokens=64)
            return chat_model("openai", "test", AnswerCache(Path(folder)), options)

        first = model()
        first.predict([PROMPT], [f"warm {text}" for text in texts(N_WARM_UP)])
        asked = _rate(first, n_requests)
        return asked, _rate(model(), n_requests)


def _rate(model: ChatModel, n_requests: int) -> float:
    start = perf_counter()
    model.predict([PROMPT], texts(n_requests))
    return n_requests / (perf_counter() - start)


def measure_engine() -> tuple[float, float]:
    """Measure the engine in a fresh process against a fresh server."""
    with answering_server() as base_url, ProcessPoolExecutor(1, mp_context=get_context("spawn")) as process:
        return process.submit(engine_rates, base_url, N_REQUESTS).result()


def main(n_rounds: int, *, whole: bool) -> None:
    """Print a Markdown table, and the targets."""
    rates: dict[str, list[float]] = {}
    for _ in range(n_rounds):
        asked, again = measure_engine()
        rates.setdefault("psopt", []).append(asked)
        rates.setdefault("psopt, again", []).append(again)
        for name in PEERS:
            rates.setdefault(name, []).append(measure(name))
    median = {name: statistics.median(repeated) for name, repeated in rates.items()}
    print(f"{N_REQUESTS:,} requests, {IN_FLIGHT} in flight, a server that answers after 20 ms; median of {n_rounds}\n")
    print("| client | requests/s | of bare aiohttp |\n|---|--:|--:|")
    for name, rate in median.items():
        print(f"| {name} | {rate:,.0f} | {rate / median[BARE]:.2f} |")
    print(f"\n- psopt / bare aiohttp: {median['psopt'] / median[BARE]:.2f} (asked: {LEAST_OF_BARE})")
    print(f"- psopt / dspy.Evaluate: {median['psopt'] / median[DSPY]:.2f} (asked: {LEAST_OF_DSPY})")
    print(f"- cached answers/s: {median['psopt, again']:,.0f} (asked: {LEAST_CACHED:,})")
    models_trouble.main(whole=whole)


if __name__ == "__main__":
    rounds = int(sys.argv[sys.argv.index("--rounds") + 1]) if "--rounds" in sys.argv else 3
    main(rounds, whole="--whole" in sys.argv)
