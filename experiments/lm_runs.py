"""What does a whole run with every default recommend on a real language model?

    python experiments/lm_runs.py smollm2 [gguf/PATH ..] [--sets trec ..] [--seeds 0 1 2]

`psopt.optimize(task, model=.., seed=..)` as a user calls it: effort light, edits and rephrasings by rule. What it
recommends is compared with the original prompt on test, under psopt's held-out rephrasings and under people's wordings.
Expected: calibration carries most of the gain in F1, and the gate lets no worse prompt through.

Each run is saved when it is done, and not made again; one that was interrupted is resumed. Of a model that answers 12
texts a second a run takes 4 to 7 minutes.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import psopt
from _lm_cells import KeptResults, lm_parser
from _lm_sets import lm_task, wordings_by_people

MEASURES = ("f1", "sensitivity", "consistency")
_N_WORDINGS = 3  # by people
_RUNS = Path.home() / ".cache" / "psopt-experiments" / "lm_runs"  # whole runs hold the data sets' texts


def main() -> None:
    """Make the runs that are not there yet."""
    parser = lm_parser(__doc__)
    parser.add_argument("--seeds", nargs="+", type=int, default=[0, 1, 2])
    words = parser.parse_args()
    setting = (
        f"`psopt optimize` with its defaults (effort light), {_N_WORDINGS} wordings by people beside psopt's "
        "own held-out ones; all on test, which no choice has seen."
    )
    kept = KeptResults(words.results, "lm_runs", "runs", setting)
    for model in words.models:
        for dataset in words.sets:
            for seed in words.seeds:
                if kept.has(model=Path(model).stem, dataset=dataset, seed=seed):
                    continue
                row = _run(model, dataset, seed, words.data)
                kept.add(row)
                print(json.dumps(row), flush=True)


def _run(model: str, dataset: str, seed: int, data: Path) -> dict[str, Any]:
    """One run, and what run.json says of it, without the data set's texts."""
    name = Path(model).stem
    out = _RUNS / f"{dataset}-{name}-{seed}"
    wordings = wordings_by_people(dataset, data, _N_WORDINGS)
    run = psopt.optimize(
        lm_task(dataset, data), model=model, seed=seed, heldout_from=wordings, out=out, resume=out.exists()
    )
    manifest = json.loads((out / "run.json").read_text("utf-8"))
    recommended = run.recommended
    return {
        "model": name,
        "dataset": dataset,
        "seed": seed,
        "verdict": manifest["recommended"]["verdict"],
        "reason": manifest["recommended"].get("reason", ""),
        "original": _scores(run.baseline.test),
        "recommended": _scores(recommended.test),
        "other_wordings": {
            name: manifest["other_wordings"][name] for name in ("baseline", "differences", "own_sensitivity")
        },
        "edits": sorted(edit.kind for edit in recommended.edits),
        "calibrated": recommended.prompt.calibration is not None,
        "evaluated": manifest["dataset"]["evaluated"],
        "answers": manifest["calls"]["made"],
        "seconds": round(manifest["seconds"]),
    }


def _scores(test: Any) -> dict[str, Any]:
    """F1, S and C, each with its interval."""
    return {**{name: getattr(test, name) for name in MEASURES}, "ci": test.to_dict()["ci"]}


if __name__ == "__main__":
    main()
