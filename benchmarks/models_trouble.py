"""How much of the engine's speed is left when servers fail or queue: ratios, each measured within one run.

    python benchmarks/models_trouble.py [--whole]

*Faults*: 64 in flight, 30 % of the requests fail in one of eight ways, a tenth of these hang for 3 s; against the same
requests to the same server without faults. *One at a time*: a server that takes one request at a time, 48 calls, 32
allowed in flight, a time-out of seven and a half answers; against the time that the answers alone take. Without --whole
these answers take a tenth of a second each, with it one second.
"""

from __future__ import annotations

import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

from models_peers import DELAY_MS, IN_FLIGHT, PROMPT, texts
from psopt.models._answer_cache import AnswerCache
from psopt.models.chat import ChatModel, LMConfig, chat_model

sys.path.append(str(Path(__file__).resolve().parent.parent))  # where `tests` is

from tests.fake_server import FakeServer

if TYPE_CHECKING:
    from collections.abc import Iterator

FAULT_RATE, HANG_MS = 0.3, 3_000.0
FAULTS = ["hang"] * 7 + ["429", "500", "503", "half", "badjson", "empty", "reset"] * 9  # hangs are a tenth
LEAST_OF_FAULTLESS, MOST_OF_IDEAL = 1 / 3, 1.5
N_FAULTY = 20_000  # the last few retries take about five seconds, regardless of the number of requests
N_SERIAL, IN_FLIGHT_SERIAL, PATIENT_FOR = 48, 32, 7.5
SECONDS, SECONDS_WHOLE = 0.1, 1.0
N_WARM_UP = 200


@contextmanager
def _fresh_model(url: str, **options: Any) -> Iterator[ChatModel]:
    with tempfile.TemporaryDirectory() as folder:
        chosen = LMConfig(api_base=url, max_tokens=64, **options)
        yield chat_model("openai", "test", AnswerCache(Path(folder)), chosen)


def _timed(url: str, n: int) -> tuple[float, list[int]]:
    """Seconds for this many new texts, and the answers, by a warmed-up model."""
    with _fresh_model(url, concurrency=IN_FLIGHT) as model:
        model.predict([PROMPT], [f"warm {text}" for text in texts(N_WARM_UP)])
        start = perf_counter()
        predicted = model.predict([PROMPT], texts(n))
        return perf_counter() - start, predicted[:, 0].tolist()


def faults(n: int) -> tuple[float, float]:
    """Requests/s without and with faults.

    Raises
    ------
    RuntimeError
        If the faults changed an answer.
    """
    with FakeServer(delay_ms=DELAY_MS, hang_ms=HANG_MS) as server:
        good, expected = _timed(server.url, n)
        server.change(faults=",".join(FAULTS), fault_rate=FAULT_RATE)
        bad, predicted = _timed(server.url, n)
    if predicted != expected:
        raise RuntimeError("the faults changed an answer")
    return n / good, n / bad


def one_at_a_time(seconds: float) -> tuple[float, int]:
    """Time as a multiple of the ideal, and how many answers the server computed."""
    with FakeServer(delay_ms=1000 * seconds, serial=True) as server:
        options = {"concurrency": IN_FLIGHT_SERIAL, "timeout": PATIENT_FOR * seconds}
        with _fresh_model(server.url, **options) as model:
            import openai  # noqa: F401  # a second of importing must not count as waiting

            start = perf_counter()
            model.predict([PROMPT], texts(N_SERIAL))
            took = perf_counter() - start
        return took / (N_SERIAL * seconds), server.counts()["requests"]


def _apart(measure: Any, *arguments: Any) -> Any:
    """Measure in a fresh process."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as process:
        return process.submit(measure, *arguments).result()


def main(*, whole: bool = False) -> None:
    """Print both ratios, and the targets."""
    good, bad = _apart(faults, N_FAULTY)
    print(
        f"- {N_FAULTY:,} requests, {FAULT_RATE:.0%} faults of 8 kinds, {IN_FLIGHT} in flight: {bad:,.0f}/s of "
        f"{good:,.0f}/s = {bad / good:.2f} (asked: {LEAST_OF_FAULTLESS:.2f}), same answers"
    )
    ratio, n_asked = _apart(one_at_a_time, SECONDS_WHOLE if whole else SECONDS)
    print(
        f"- one request at a time: {ratio:.2f} times the ideal (asked: {MOST_OF_IDEAL}); {n_asked} requests for "
        f"{N_SERIAL} answers"
    )


if __name__ == "__main__":
    main(whole="--whole" in sys.argv[1:])
