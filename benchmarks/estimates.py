"""How far a run's cost lies from what `--dry-run` expected: dry run and real run, over many settings.

    python benchmarks/estimates.py [--only 3,7]

Data sets are TREC, the bundled ones, and customers' mails written here; the server answers by a hash of the prompt, or
knows most labels, and its tokens have four characters. A run is near if its calls, tokens and US dollars all are
within a third of what was expected and three times that.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parent.parent
sys.path.append(str(ROOT))  # where `tests` is

from tests.fake_server import FakeServer  # noqa: E402

PRICES = '"openai/cheap" = { in = 0.15, out = 0.6 }\n"openai/dear" = { in = 2.5, out = 10.0 }\n'
LEAST_NEAR = 0.9  # the share of runs
FARTHEST = 3.0


class Setting(NamedTuple):
    """What is run: a data set, how the server answers, the model's name, and further options."""

    dataset: str
    answer: str
    model: str
    options: tuple[str, ...]


def _sized(trials: int, samples: int, rephrasings: int, *options: str) -> tuple[str, ...]:
    return ("--trials", str(trials), "--samples", str(samples), "--rephrasings", str(rephrasings), *options)


PROPOSER = ("--proposer", "openai/cheap")
SETTINGS = (
    Setting("trec", "hash", "openai/cheap", _sized(10, 36, 2)),
    Setting("trec", "knows", "openai/dear", _sized(12, 36, 2)),
    Setting("cb", "hash", "openai/cheap", _sized(10, 36, 2)),
    Setting("rte", "hash", "openai/dear", _sized(6, 40, 2, "--plain")),
    Setting("dbpedia", "hash", "openai/cheap", _sized(10, 42, 2)),
    Setting("wos", "hash", "openai/dear", _sized(20, 28, 2)),
    Setting("mails", "hash", "openai/cheap", _sized(10, 36, 2)),
    Setting("mails", "hash", "openai/dear", _sized(20, 30, 2)),
    Setting("mails", "hash", "openai/cheap", _sized(10, 36, 2, *PROPOSER)),
    Setting("trec", "hash", "openai/dear", _sized(10, 36, 2, *PROPOSER, "--rephraser", "openai/cheap")),
)

_OPENINGS = ("Hello,", "Dear team,", "Hi there,", "Good morning,", "To whom it may concern,")
_MATTERS = {
    "billing": ("my card was charged twice for invoice {n}", "the refund for order {n} has not arrived yet"),
    "technical": ("the app closes by itself when I open report {n}", "I cannot sign in since update {n}"),
    "delivery": ("parcel {n} was left in the rain", "the driver says that he could not find house {n}"),
    "account": (
        "please change the address of customer {n}",
        "I would like to close contract {n} at the end of the year",
    ),
}
_DETAILS = (
    "I have written about this before and nobody has answered.",
    "It happens every time, on the phone as well as on the computer at work.",
    "My neighbour has had the same trouble and was helped within a day.",
    "Please tell me what you need from me, I can send pictures and the papers.",
    "This is rather urgent, since we are leaving for three weeks on Friday.",
    "I have tried everything that your pages of help say, in that order.",
    "Otherwise I am content with what you do, and would like to remain so.",
)


def write_mails(path: Path) -> None:
    """Customers' mails of 150 to 600 characters, 60 of train, 40 of val, 12 of test."""
    draw = random.Random(7)
    rows = []
    for split, n in (("train", 60), ("val", 40), ("test", 12)):
        for i in range(n):
            label = list(_MATTERS)[i % len(_MATTERS)]
            matter = draw.choice(_MATTERS[label]).format(n=draw.randint(100, 9999))
            details = " ".join(draw.sample(_DETAILS, draw.randint(1, 6)))
            text = f"{draw.choice(_OPENINGS)} {matter}. {details}"
            rows.append(json.dumps({"id": f"{split}{i}", "text": text, "label": label, "split": split}))
    path.write_text("\n".join(rows) + "\n", "utf-8")


def short_test(dataset: str, folder: Path) -> str:
    """The data set as a file whose test has 12 samples, as few beside val as usual, so that a run takes seconds."""
    from psopt.tasks import load_task

    path = folder / f"{dataset}.jsonl"
    if path.exists():
        return str(path)
    if dataset == "mails":
        write_mails(path)
        return str(path)
    task, rows = load_task(dataset), []
    for split, most in (("train", 400), ("val", 200), ("test", 12)):
        rows += [
            json.dumps({"id": sample.id, "text": sample.text, "label": sample.label, "split": split})
            for sample in getattr(task, split)[:most]
        ]
    path.write_text("\n".join(rows) + "\n", "utf-8")
    return str(path)


def measure(setting: Setting, folder: Path) -> dict[str, Any]:
    """Estimate and run: what a dry run expects, and what the run took."""
    data = short_test(setting.dataset, folder)
    with tempfile.TemporaryDirectory() as cache, FakeServer(answer=setting.answer, task=data) as server:
        environment = {**os.environ, "PSOPT_CACHE_DIR": cache, "PSOPT_PRICES": str(folder / "prices.toml")}
        environment |= {"OPENAI_API_KEY": "none", "PSOPT_OFFLINE": "1"}
        common = ["--dataset", data, "--model", setting.model, "--json"]
        common += ["--api-base", server.url, "--out", f"{cache}/run", *setting.options]

        def psopt(*options: str) -> dict[str, Any]:
            command = [sys.executable, "-m", "psopt", "optimize", *common, *options]
            done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
            if done.returncode:
                raise RuntimeError(f"{setting}: {done.stderr[-500:]}")
            return json.loads(done.stdout)

        said, took = psopt("--dry-run"), psopt()["calls"]
    return {
        "calls": (said["calls"], took["made"]),
        "tokens": (said["tokens"], took["tokens"]),
        "USD": (said["cost_usd"], took["cost_usd"]),
    }


def run_all(only: list[int]) -> bool:
    """Print a Markdown table and the share of runs that are near; return whether the target is met."""
    ratios = []
    print(
        "| data | server | model | options | calls | tokens | USD | near | s |\n|---|---|---|---|---|---|---|---|--:|"
    )
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "prices.toml").write_text(PRICES)
        for setting in [SETTINGS[n - 1] for n in only] or SETTINGS:
            start = time.perf_counter()
            by_measure = measure(setting, folder)
            ratios.append([took / expected for expected, took in by_measure.values()])
            cells = [f"{expected:,.4g}: {took:,.4g}" for expected, took in by_measure.values()]
            options = " ".join(setting.options)
            row = [setting.dataset, setting.answer, setting.model, options, *cells, near(ratios[-1])]
            print(f"| {' | '.join(row)} | {time.perf_counter() - start:.0f} |", flush=True)
    n_near = [near(of_run) for of_run in ratios].count("yes")
    print(f"\n{n_near} of {len(ratios)} near")
    for measured, of_runs in zip(by_measure, zip(*ratios, strict=True), strict=True):
        print(f"{measured}: {min(of_runs):.2f} to {max(of_runs):.2f} times what was expected")
    return n_near >= LEAST_NEAR * len(ratios)


def near(ratios: list[float]) -> str:
    """Whether all that a run took is near what was expected, in words."""
    return "yes" if all(1 / FARTHEST <= ratio <= FARTHEST for ratio in ratios) else "**no**"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--only", default="", help="numbers of the settings, with commas between")
    arguments = parser.parse_args()
    sys.exit(0 if run_all([int(n) for n in arguments.only.split(",") if n]) else 1)
