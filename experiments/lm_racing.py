"""How many answers does racing save on a language model, where answers cost time?

    python experiments/lm_racing.py smollm2 [gguf/PATH ..] [--sets trec messages] [--seeds 0 1 2]

The plain search, the same with racing, and the plain search with another seed, which shows how far two searches of
equal cost differ: 16 candidates on 100 val samples under 5 wordings, samples and wordings the same for all. Hypervolume
is that of the front on val, the reference point at F1 = 0, S = 1, C = 0; *gain* is the part beyond the original
prompt's, the stricter measure. Answers of candidates on val are counted, cached or not.

Expected: a fifth of the answers for 99 % of the hypervolume; at 40 candidates of 500 x 10 minilm takes less.

Each run is saved when it is done and not repeated. A seed takes half an hour on one core.
"""

from __future__ import annotations

import json
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import psopt
from _lm_cells import KeptResults, lm_parser
from _lm_sets import lm_task
from ablation import REFERENCE, hypervolume
from psopt.tasks import subset

_TRIALS, _N, _Q = 16, 100, 5
_N_TEST, _Q_TEST = 20, 2  # as few as possible: the front is compared on val
_ARMS = {"plain": ("off", 0), "racing": ("on", 0), "plain, another seed": ("off", 1000)}


def main() -> None:
    """Make the missing runs."""
    parser = lm_parser(__doc__, ("trec", "messages"))
    parser.add_argument("--seeds", nargs="+", type=int, default=[0, 1, 2])
    words = parser.parse_args()
    setting = f"{_TRIALS} candidates on {_N} val samples under {_Q} wordings."
    kept = KeptResults(words.results, "lm_racing", "runs", setting)
    for model in words.models:
        for dataset in words.sets:
            for seed in words.seeds:
                for arm in _ARMS:
                    run = {"model": Path(model).stem, "dataset": dataset, "seed": seed, "arm": arm}
                    kept.measure(run, _run, model, dataset, seed, arm, words.data)


def _run(model: str, dataset: str, seed: int, arm: str, data: Path) -> dict[str, Any]:
    race, away = _ARMS[arm]
    task = lm_task(dataset, data)
    sizes = {"train": _N, "val": _N, "test": _N_TEST}
    drawn = {split: tuple(subset(getattr(task, split), n, seed=seed)) for split, n in sizes.items()}
    with tempfile.TemporaryDirectory() as folder:
        run = psopt.optimize(
            replace(task, **drawn),
            model=model,
            seed=seed + away,
            effort="full",
            trials=_TRIALS,
            rounds=2,
            rephrasings=_Q,
            heldout=_Q_TEST,
            race=race,
            gate="off",
            leave_one_out=0,
            out=Path(folder) / "run",
        )
        manifest = json.loads((Path(folder) / "run" / "run.json").read_text("utf-8"))
    front = [{name: getattr(member.val, name) for name in REFERENCE} for member in run.front]
    start = {name: getattr(run.baseline.val, name) for name in REFERENCE}
    return {
        "answers": manifest["race"]["calls"] if "race" in manifest else _TRIALS * len(drawn["val"]) * _Q,
        "stopped": manifest["race"]["stopped"] if "race" in manifest else 0,
        "hypervolume": round(hypervolume(front), 4),
        "of_original": round(hypervolume([start]), 4),
        "front": front,
        "seconds": round(manifest["seconds"]),
    }


if __name__ == "__main__":
    main()
