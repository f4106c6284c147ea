"""What psopt hands back is not worse than what you had: how often is that so on a language model?

    python experiments/lm_promise.py smollm2 [gguf/PATH ..] [--seeds 200] [--max-calls 1000]

A seed draws 400 of TREC's train questions, and `psopt.optimize` searches them with its defaults and few answers. The
truth is measured on 300 test questions that no run has, under six wordings by people: F1 and S of the original prompt,
of the knee, and of what is recommended. Worse is what stands lower by more than the gate's margin in F1, or higher in S
where the gate looks at S: a near-constant original prompt has an S that means nothing.

Expected: at most 5 % of runs recommend a worse prompt, and the knee as it is would be worse in more.

Each run is saved when it is done, and not made again. A run takes 2 to 4 minutes on a core.
"""

from __future__ import annotations

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
from psopt.search_spaces import Prompt
from psopt.tasks import subset

if TYPE_CHECKING:
    from psopt.tasks import Task

_DATASET = "trec"
_N_DRAWN, _N_TRUTH, _N_WORDINGS = 400, 300, 6


def main() -> None:
    """Make the runs that are not there yet."""
    parser = lm_parser(__doc__, (_DATASET,))
    parser.add_argument("--seeds", type=int, default=200)
    parser.add_argument("--max-calls", type=int, default=1000)
    words = parser.parse_args()
    setting = (
        f"{_N_DRAWN} of TREC's train questions a run, at most {words.max_calls:,} answers; the truth on {_N_TRUTH} "
        f"test questions under {_N_WORDINGS} wordings by people."
    )
    kept = KeptResults(words.results, "lm_promise", "runs", setting)
    task = lm_task(_DATASET, words.data)
    wordings = wordings_by_people(_DATASET, words.data, _N_WORDINGS)
    for model in words.models:
        for seed in range(words.seeds):
            run = {"model": Path(model).stem, "seed": seed}
            kept.measure(run, _measured, model, task, wordings, seed, words.max_calls)


def _measured(model: str, task: Task, wordings: list[str], seed: int, max_calls: int) -> dict[str, Any]:
    """One search, and what is true of its prompts."""
    records = [(sample.text, str(sample.label)) for sample in subset(task.train, _N_DRAWN, seed=seed)]
    of_task = {name: getattr(task, name) for name in ("name", "description", "noun", "labels", "definitions")}
    drawn = psopt.Task.from_records(records, **of_task, seed=seed)
    rest = subset(task.test, _N_TRUTH, seed=0)
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "run"
        try:
            run = psopt.optimize(drawn, model=model, seed=seed, max_calls=max_calls, leave_one_out=0, out=out)
        except BudgetReachedError as reached:
            run = reached.run
        members = {"original": run.baseline, "knee": run.pick("knee"), "recommended": run.recommended}
        answering = ModelProvider().answering(model, drawn)
        truth: dict[str, list[float]] = {}
        for name, member in members.items():
            # as it was written down: with its label map and priors
            prompt = Prompt.from_dict(json.loads((out / "prompts" / f"{member.id}.json").read_text("utf-8")))
            scores = score(evaluate(answering, prompt, wordings, rest))
            truth[name] = [round(scores.f1, 4), round(scores.sensitivity, 4)]
        manifest = json.loads((out / "run.json").read_text("utf-8"))
    return {
        "verdict": manifest["recommended"]["verdict"],
        "f1_alone": bool(manifest["recommended"].get("reason")),
        "truth": truth,
        "answers": manifest["calls"]["made"] + manifest["calls"]["cached"],
        "seconds": round(manifest["seconds"]),
    }


if __name__ == "__main__":
    main()
