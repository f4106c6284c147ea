"""Would you ship what a whole run recommends, with all defaults, on a real language model?

    python experiments/shipping.py smollm2 [minilm gguf/PATH ..] [--sets trec ..] [--seeds 0 1 2] [--writer gguf/PATH]

`psopt.optimize(task, model=.., seed=..)` as a user calls it; edits and rephrasings by rule, or by a writer as well.
What it recommends is compared with the original prompt on the run's own test and, after the run, under people's
wordings: on test texts that the run did not draw, since its own are too few to tell seeds apart, and on probes, texts
that we wrote to test what labels mean (`probes/`, 30 per set, none from the data). The run itself also answers texts of
other classes with the phrases of its notes planted in them. No choice uses any of these, and no limit pays for what is
measured after a run.

Expected: calibration carries most of the gain in F1, the gate lets no worse prompt through, and notes by rule help less
on probes than on test, since probes do not repeat the wordings of train.

Each run is saved when it is done and not repeated; an interrupted one is resumed. On one core a run of SmolLM2 takes
10 to 30 minutes, depending on the length of the texts, and what is measured after it about as long.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import psopt
from _lm_cells import KeptResults, lm_parser
from _lm_sets import lm_task, wordings_by_people
from psopt.evaluation import evaluate, score
from psopt.models import ModelProvider
from psopt.settings import KINDS, SearchRestriction
from psopt.tasks import Sample, subset

MEASURES = ("f1", "sensitivity", "consistency")
_N_WORDINGS = 4  # by people
_N_TEXTS = 300  # of test, besides those that the run drew
_FEWEST_TEXTS = 100  # if fewer are left, the run's own count too
_PROBES = Path(__file__).parent / "probes"
_RUNS = Path.home() / ".cache" / "psopt-experiments" / "shipping"  # whole runs hold the data sets' texts


def main() -> None:
    """Make the missing runs."""
    parser = lm_parser(__doc__)
    parser.add_argument("--seeds", nargs="+", type=int, default=[0, 1, 2])
    parser.add_argument("--writer", help="the model that writes edits and rephrasings; by rule without one")
    parser.add_argument("--without", nargs="+", choices=KINDS, default=[], help="kinds of edits that are left out")
    parser.add_argument("--max-calls", type=int, help="a run's limit, where texts are long; psopt's default without it")
    parser.add_argument("--texts", type=int, default=_N_TEXTS, help="of test, besides those that a run drew")
    words = parser.parse_args()
    setting = (
        f"`psopt optimize` with its defaults (effort light). After it, {_N_WORDINGS} wordings by people: on up to "
        f"{_N_TEXTS} test texts that the run did not draw, and on probes written by us. No choice has seen any of them."
    )
    kept = KeptResults(words.results, "shipping", "runs", setting)
    for model in words.models:
        for dataset in words.sets:
            for seed in words.seeds:
                edits_by = " without ".join([_writer(words.writer, model), *words.without])
                if words.max_calls:
                    edits_by += f", at most {words.max_calls} calls"
                run = {"model": Path(model).stem, "dataset": dataset, "seed": seed, "edits_by": edits_by}
                kinds = tuple(kind for kind in KINDS if kind not in words.without)
                kept.measure(run, _run, words, model, dataset, seed, edits_by, kinds)


def _writer(address: str | None, model: str) -> str:
    """Who drafts edits besides the rules: as given, otherwise the model itself if it can write."""
    if address:
        return Path(address).stem
    return "itself" if model.startswith("gguf/") else "rules"


def _run(words: Any, model: str, dataset: str, seed: int, edits_by: str, kinds: tuple[str, ...]) -> dict[str, Any]:
    """One run, and its data from run.json, without the data set's texts."""
    out = _RUNS / f"{dataset}-{Path(model).stem}-{edits_by}-{seed}"
    options = {"proposer": words.writer, "rephraser": words.writer, "max_calls": words.max_calls}
    given = {name: option for name, option in options.items() if option}
    task = lm_task(dataset, words.data)
    run = psopt.optimize(
        task, model=model, seed=seed, parts=SearchRestriction(kinds=kinds), out=out, resume=out.exists(), **given
    )
    manifest = json.loads((out / "run.json").read_text("utf-8"))
    recommended = run.recommended
    drawn = {sample["id"] for sample in json.loads((out / "samples.json").read_text("utf-8"))["test"]}
    unseen = [sample for sample in task.test if sample.id not in drawn]
    texts = subset(unseen if len(unseen) >= _FEWEST_TEXTS else task.test, words.texts, seed=0)
    prompts = {"original": run.baseline.prompt, "recommended": recommended.prompt}
    answering = ModelProvider().answering(model, task)

    wordings = wordings_by_people(dataset, words.data, _N_WORDINGS)

    def by_people(samples: list[Sample]) -> dict[str, Any]:
        """Both prompts' scores under people's wordings."""
        figures: dict[str, Any] = {"texts": len(samples)}
        for name, prompt in prompts.items():
            scores = score(evaluate(answering, prompt, wordings, samples))
            figures[name] = {measure: getattr(scores, measure) for measure in MEASURES}
        return figures

    probe = _PROBES / f"{dataset}.jsonl"
    return {
        "verdict": manifest["recommended"]["verdict"],
        "reason": manifest["recommended"].get("reason", ""),
        "original": _scores(run.baseline.test),
        "recommended": _scores(recommended.test),
        "people": by_people(list(texts)),
        "probe": by_people(_probes(probe)) if probe.exists() else None,
        "planted": manifest.get("planted"),
        "edits": sorted(edit.kind for edit in recommended.edits),
        "calibrated": recommended.prompt.calibration is not None,
        "evaluated": manifest["dataset"]["evaluated"],
        "candidates": len(json.loads((out / "trials.json").read_text("utf-8"))["trials"]),
        "answers": manifest["calls"]["made"],
        "seconds": round(manifest["seconds"]),
    }


def _probes(file: Path) -> list[Sample]:
    rows = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    return [Sample(f"probe-{number}", row["text"], row["label"]) for number, row in enumerate(rows)]


def _scores(test: Any) -> dict[str, Any]:
    """F1, S and C, each with its interval."""
    return {**{name: getattr(test, name) for name in MEASURES}, "ci": test.to_dict()["ci"]}


if __name__ == "__main__":
    main()
