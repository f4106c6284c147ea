"""How many trials per minute do 1, 2 and 4 workers finish on one study?

    python benchmarks/workers.py [--trials 40] [--storage URL]

Against a server that answers after 20 ms, on the bundled sample, 8 requests in flight per worker (a server that serves
many), with no answer cached. Trials per minute count from the first trial to the last, which leaves out the start of
Python and the scoring on test. The storage is a SQLite file unless another is given. Workers on separate machines do
not share a processor; these do.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
import uuid
from pathlib import Path

import optuna

sys.path.append(str(Path(__file__).resolve().parent.parent))  # where `tests` is

from tests.fake_server import FakeServer

SIZES = ["--samples", "72", "--rephrasings", "10", "--concurrency", "8", "--quiet"]


def rate(n_workers: int, trials: int, storage: str | None) -> float:
    """Trials per minute."""
    with tempfile.TemporaryDirectory() as folder, FakeServer(answer="hash", delay_ms=20) as server:
        url = storage or f"sqlite:///{folder}/study.db"
        name = f"bench-{uuid.uuid4().hex[:8]}"
        environment = {**os.environ, "OPENAI_API_KEY": "sk-of-no-use"}
        environment.pop("PSOPT_DATA_DIR", None)

        def start(number: int, *words: str) -> subprocess.Popen[bytes]:
            own = {**environment, "PSOPT_CACHE_DIR": f"{folder}/cache-{number}"}
            return subprocess.Popen([sys.executable, "-P", "-m", "psopt", *words], env=own, cwd=folder)

        first = ["optimize", "--dataset", "trec", "--model", "openai/test", "--api-base", server.url, *SIZES]
        first += ["--trials", str(trials), "--storage", url, "--study-name", name, "--out", "run"]
        processes = [start(0, *first)]
        while not _trials(url, name) and processes[0].poll() is None:
            time.sleep(0.1)
        joining = ["worker", "--storage", url, "--study-name", name, "--quiet"]
        processes += [start(number, *joining) for number in range(1, n_workers)]
        while len(done := [trial for trial in _trials(url, name) if trial.values]) < trials:
            if any(process.poll() for process in processes):
                raise SystemExit("a worker failed")
            time.sleep(0.5)
        for process in processes:  # the scoring on test is not counted
            process.kill()
            process.wait()
    seconds = max(trial.datetime_complete for trial in done) - min(trial.datetime_complete for trial in done)
    return 60 * (len(done) - 1) / seconds.total_seconds()


def _trials(url: str, name: str) -> list[optuna.trial.FrozenTrial]:
    try:
        return optuna.load_study(study_name=name, storage=_driver(url)).trials
    except Exception:  # noqa: BLE001  # not yet
        return []


def _driver(url: str) -> str:
    return url.replace("postgresql:", "postgresql+psycopg:")


def main(trials: int, storage: str | None) -> None:
    """Print a Markdown table."""
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    print("| workers | trials a minute | of one | efficiency |\n|--:|--:|--:|--:|")
    alone = 0.0
    for n_workers in (1, 2, 4):
        per_minute = rate(n_workers, trials, storage)
        alone = alone or per_minute
        times = per_minute / alone
        print(f"| {n_workers} | {per_minute:.0f} | {times:.2f} | {times / n_workers:.2f} |", flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--trials", type=int, default=40)
    parser.add_argument("--storage")
    words = parser.parse_args()
    main(words.trials, words.storage)
