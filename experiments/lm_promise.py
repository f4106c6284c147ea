"""What psopt recommends is not worse than what you had: how often does that hold on a language model?

    python experiments/lm_promise.py smollm2 [gguf/PATH ..] [--sets trec news] [--seeds 200]
        [--originals simple calibrated]

A seed draws 400 of a set's train texts, and `psopt.optimize` searches them with its defaults and few answers: from
the plain request, and from the same with its label prior removed, which does not guess and so has more to lose. The
truth is measured on 150 test texts that no run has, under four wordings by people: F1 and S of the original prompt,
of the knee, and of the recommended prompt. Worse means lower in F1 by more than the gate's margin, or higher in S where
the gate compares S: the S of a near-constant original prompt means nothing. No run finds answers of another.

Expected: at most 5 % of runs recommend a worse prompt, and the knee alone would be worse in more.

Each run is saved when it is done and not repeated. A run takes 2 to 5 minutes on one core.
"""

from __future__ import annotations

import itertools
import json
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psopt
from _lm_cells import KeptResults, lm_parser
from _lm_sets import lm_task, wordings_by_people
from psopt.errors import BudgetReachedError
from psopt.evaluation import evaluate, score
from psopt.models import ModelProvider
from psopt.search import ENOUGH_TESTED
from psopt.search_spaces import Prompt
from psopt.tasks import subset

if TYPE_CHECKING:
    from psopt.tasks import Task

_SETS = ("trec", "news")
_SIZES = (600, 200, 200)  # train, val, test of a set that is drawn here
_ORIGINALS: dict[str, dict[str, str]] = {"simple": {}, "calibrated": {"calibration": "batch"}}
_N_DRAWN, _N_TRUTH, _N_WORDINGS = 400, 150, 4


def main() -> None:
    """Make the missing runs."""
    parser = lm_parser(__doc__, _SETS)
    parser.add_argument("--seeds", type=int, default=200)
    parser.add_argument("--max-calls", type=int, default=1000)
    parser.add_argument("--test-samples", type=int, help="as planned, unless given")
    parser.add_argument("--originals", nargs="+", choices=_ORIGINALS, default=list(_ORIGINALS))
    words = parser.parse_args()
    setting = (
        f"{_N_DRAWN} of a set's train texts a run, at most {words.max_calls:,} answers; the truth on {_N_TRUTH} "
        f"test texts under {_N_WORDINGS} wordings by people."
    )
    kept = KeptResults(words.results, "lm_promise", "runs", setting)
    sizes = {"max_calls": words.max_calls, "test_samples": words.test_samples}
    for model, dataset in itertools.product(words.models, words.sets):
        truth = _Truth(
            model, lm_task(dataset, words.data, _SIZES), wordings_by_people(dataset, words.data, _N_WORDINGS)
        )
        for seed, original in itertools.product(range(words.seeds), words.originals):
            run = {"model": Path(model).stem, "dataset": dataset, "original": original, "seed": seed}
            kept.measure({**run, "held_back": ENOUGH_TESTED}, _measured, truth, seed, {**sizes, **_ORIGINALS[original]})


class _Truth:
    """F1 and S of prompts on texts and wordings that no run has; each prompt is asked once for all runs."""

    def __init__(self, model: str, task: Task, wordings: list[str]) -> None:
        self.model, self.task = model, task
        self._wordings = wordings
        self._rest = subset(task.test, _N_TRUTH, seed=0)
        self._measured: dict[str, list[float]] = {}

    def of(self, written: str, drawn: Task) -> list[float]:
        """F1 and S of a prompt as in `prompts/ID.json`: with its label map and priors."""
        if written not in self._measured:
            prompt = Prompt.from_dict(json.loads(written))
            answering = ModelProvider().answering(self.model, drawn)
            scores = score(evaluate(answering, prompt, self._wordings, self._rest))
            self._measured[written] = [round(scores.f1, 4), round(scores.sensitivity, 4)]
        return self._measured[written]


def _measured(truth: _Truth, seed: int, settings: dict[str, Any]) -> dict[str, Any]:
    """One search, and the truth about its prompts."""
    task = truth.task
    options: dict[str, Any] = {"model": truth.model, "seed": seed, "leave_one_out": 0, **settings}
    records = [(sample.text, str(sample.label)) for sample in subset(task.train, _N_DRAWN, seed=seed)]
    of_task = {name: getattr(task, name) for name in ("name", "description", "noun", "labels", "definitions")}
    drawn = psopt.Task.from_records(records, **of_task, seed=seed)
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "run"
        try:
            run = psopt.optimize(drawn, out=out, cache_dir=folder, **options)
        except BudgetReachedError as reached:
            run = reached.run
        members = {"original": run.baseline, "knee": run.pick("knee"), "recommended": run.recommended}
        written = {name: (out / "prompts" / f"{member.id}.json").read_text("utf-8") for name, member in members.items()}
        manifest = json.loads((out / "run.json").read_text("utf-8"))
    return {
        "verdict": manifest["recommended"]["verdict"],
        "f1_alone": bool(manifest["recommended"].get("reason")),
        "truth": {name: truth.of(prompt, drawn) for name, prompt in written.items()},
        "truth_on": [_N_TRUTH, _N_WORDINGS],
        "tested_on": manifest["recommended"].get("n_samples", 0),
        "answers": manifest["calls"]["made"] + manifest["calls"]["cached"],
        "seconds": round(manifest["seconds"]),
    }


if __name__ == "__main__":
    main()
