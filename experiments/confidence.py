"""Which figure of a vote best predicts which of its answers are wrong: S, the share of the vote, or probabilities?

    python experiments/confidence.py minilm smollm2 [gguf/PATH ..] [--sets trec dbpedia]

Test samples are asked under five held-out wordings, with label probabilities where the model has them; an answer is
that of the most wordings. Each figure is judged by its AUROC: the chance that a wrong answer looks less stable than a
right one, .5 for a figure that carries no information. Next to it is the share of errors among the most stable 70 %.
Prompts: the original one (uncalibrated for minilm, calibrated for language models, which otherwise give one label to
everything), and those that runs of `shipping.py` recommend, if there are any.

Expected: probabilities beat votes, since S of five answers has seven levels and most texts are at its top.

Each cell is saved when it is done and not measured again.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import psopt
from _lm_cells import KeptResults, lm_parser
from _lm_sets import lm_task
from psopt.errors import InputError
from psopt.metrics import prediction_counts, sample_sensitivity
from psopt.models.chat import LMConfig
from psopt.runs import read_source
from psopt.search_spaces import CALIBRATE, apply_edits, seed_prompt

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray
    from psopt.evaluation import Predictions
    from psopt.search_spaces import Prompt
    from psopt.tasks import Task

_N_SAMPLES, _N_WORDINGS = 200, 5
_KEPT = 0.7
_RUNS = Path.home() / ".cache" / "psopt-experiments" / "shipping"


def main() -> None:
    """Measure the missing cells."""
    words = lm_parser(__doc__, ("trec", "dbpedia")).parse_args()
    setting = (
        f"At most {_N_SAMPLES} test samples under {_N_WORDINGS} held-out wordings; the vote of the first three of "
        "them, and of all. AUROC for errors of the vote, and in brackets the errors among the steadiest 70 %."
    )
    kept = KeptResults(words.results, "confidence", "cells", setting)
    for model in words.models:
        for dataset in words.sets:
            task = lm_task(dataset, words.data)
            for name, prompt in _prompts(task, model, dataset):
                cell = {"model": Path(model).stem, "dataset": dataset, "prompt": name}
                kept.measure(cell, _cell, task, prompt, model)


def _prompts(task: Task, model: str, dataset: str) -> Iterator[tuple[str, Prompt]]:
    """Prompts by name."""
    original = seed_prompt(task)
    if model == "minilm":
        yield "original", original
    else:
        yield "calibrated", apply_edits(original, [CALIBRATE])
    for run in sorted(_RUNS.glob(f"{dataset}-{Path(model).stem}-rules-*")):
        try:
            prompt = read_source(run).with_labels()
        except InputError:  # a run that is not finished
            continue
        if (prompt.labels, prompt.description) == (task.labels, original.description) and prompt.id != original.id:
            yield f"recommended {run.name[-1]}", prompt


def _cell(task: Task, prompt: Prompt, model: str) -> dict[str, Any]:
    lm = LMConfig(logprobs=model != "minilm")
    answered = psopt.measure(
        task, prompt, model=model, split="test", samples=_N_SAMPLES, rephrasings=_N_WORDINGS, seed=0, lm=lm
    )
    figures = {str(n): _figures(answered.under(range(n))) for n in (3, _N_WORDINGS)}
    if answered.probabilities is not None:
        wrong, surest = ~answered.right[:, 0], answered.probabilities[:, 0].max(axis=1)
        figures["1"] = {"errors": _percent(wrong), "mean probability": _tells(surest, wrong)}
    return {"n": len(answered.samples), "figures": figures}


def _figures(answered: Predictions) -> dict[str, Any]:
    """How well each figure predicts the errors of the vote."""
    counts = prediction_counts(answered.array, answered.n_classes)
    wrong = counts.argmax(axis=1) != answered.truth
    steady = 1 - sample_sensitivity(counts)
    share = counts.max(axis=1) / counts.sum(axis=1)
    told = {"errors": _percent(wrong), "steady": _percent(steady == 1)}
    told |= {"S": _tells(steady, wrong), "vote share": _tells(share, wrong)}
    if answered.probabilities is None:
        return told
    means = answered.probabilities.mean(axis=1)
    of_vote = means[np.arange(len(means)), counts.argmax(axis=1)]
    told["S, then probability"] = _tells(steady.round(9) + 1e-6 * of_vote, wrong)
    told["S of probabilities"] = _tells(1 - sample_sensitivity(means), wrong)
    told["mean probability"] = _tells(of_vote, wrong)
    return told


def _tells(confidence: NDArray[np.float64], wrong: NDArray[np.bool_]) -> list[float] | None:
    """AUROC for errors, its standard error (Hanley and McNeil, 1982), and the errors among the surest 70 %."""
    bad, good = confidence[wrong], confidence[~wrong]
    if not (len(bad) and len(good)):
        return None
    above = (good[None, :] > bad[:, None]).mean() + (good[None, :] == bad[:, None]).mean() / 2
    q1, q2 = above / (2 - above), 2 * above**2 / (1 + above)
    spread = above * (1 - above) + (len(bad) - 1) * (q1 - above**2) + (len(good) - 1) * (q2 - above**2)
    return [round(float(above), 3), round(float(np.sqrt(spread / len(bad) / len(good))), 3), _at(confidence, wrong)]


def _at(confidence: NDArray[np.float64], wrong: NDArray[np.bool_]) -> float:
    """The errors among the surest, in percent; ties count as an average over random draws."""
    n = _KEPT * len(wrong)
    edge = np.sort(confidence)[::-1][int(np.ceil(n)) - 1]
    above, equal = confidence > edge, confidence == edge
    return round(float(100 * (wrong[above].sum() + (n - above.sum()) * wrong[equal].mean()) / n), 1)


def _percent(share: NDArray[np.bool_]) -> float:
    return round(float(100 * share.mean()), 1)


if __name__ == "__main__":
    main()
