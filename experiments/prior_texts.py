"""On how many texts must a label prior be measured, if those of other wordings of the same prompt are known?

    python experiments/prior_texts.py smollm2 [gguf/PATH ..] [--sets trec ..]

A prior is the mean of log-probabilities over unlabelled texts. Texts differ more than wordings do, and a text moves the
log-probabilities under all wordings alike. So the difference between two wordings is known from few texts, and the
prior of one wording, measured on 30, serves the others with that difference added (a control variate).

Under five wordings by people: F1 and S of 120 test samples, as the mean over draws of the texts, with the standard
deviation over draws, and the share of answers that are not those of the priors of all 120 texts. Prompts: without
edits, and with an example per class. In "original 120" the prompt without edits, asked about all texts, serves the own
wording in the same way. Expected: "own 30, and 10" is as good as 30 texts for every wording.

Each cell is saved when it is done and not measured again. Two to ten minutes a cell on one core.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np
from _lm_cells import KeptResults, figures_of, lm_parser
from _lm_sets import classes_of, lm_task, wordings_by_people
from psopt.models import ModelProvider, predict_proba_cells
from psopt.search_spaces import Edit, Provenance, apply_edits, seed_prompt
from psopt.tasks import subset

if TYPE_CHECKING:
    from pathlib import Path

_N_POOL, _N_TEST, _N_WORDINGS, _N_DRAWS, _OWN = 120, 120, 5, 200, 30
_SCHEMES = {str(few): (0, few, False) for few in (30, 20, 15, 10, 5)}
_SCHEMES |= {f"own {_OWN}, and {few}": (_OWN, few, False) for few in (20, 15, 10, 5)}
_SCHEMES |= {f"original {_N_POOL}, own {n_own}, and 15": (n_own, 15, True) for n_own in (_OWN, 15)}
_KINDS = ("no edit", "an example a class")


def main() -> None:
    """Measure the missing cells."""
    words = lm_parser(__doc__, ("trec", "cb", "dbpedia", "messages")).parse_args()
    setting = f"{_N_TEST} test samples, {_N_WORDINGS} wordings by people, {_N_DRAWS} draws of the texts."
    kept = KeptResults(words.results, "prior_texts", "cells", setting)
    kept.measure_each(words, "kind", _KINDS, _cell)


def _cell(name: str, dataset: str, kind: str, data: Path) -> dict[str, Any]:
    started = time.monotonic()
    task = lm_task(dataset, data)
    model: Any = ModelProvider().answering(name, task)
    shown = {sample.label: sample for sample in reversed(task.train)}
    others = [sample for sample in task.train if shown[sample.label].id != sample.id]
    pool, test = subset(others, _N_POOL, seed=0), subset(task.test, _N_TEST, seed=0)
    prompt = seed_prompt(task)
    if kind != _KINDS[0]:
        origin = Provenance("rules", "task")
        prompt = apply_edits(prompt, [Edit("example", str(of), each.text, origin) for of, each in shown.items()])
    # the prompt without edits, and the own wording, come first
    prompts = [
        seed_prompt(task),
        prompt,
        *(prompt.described_as(words) for words in wordings_by_people(dataset, data, _N_WORDINGS)),
    ]
    texts = [sample.text for sample in (*pool, *test)]
    cells = np.ones((len(texts), len(prompts)), dtype=np.bool_)
    probabilities = predict_proba_cells(model, prompts, texts, cells)[:, :, :-1]
    scores = np.log(probabilities / probabilities.sum(axis=2, keepdims=True))
    original, of_pool = scores[: len(pool), 0], scores[: len(pool), 1:]
    of_test, truth = scores[len(pool) :, 2:], classes_of(test, task)
    best = (of_test - of_pool[:, 1:].mean(axis=0)).argmax(axis=2)
    row: dict[str, Any] = {"n": len(test), "pool": len(pool), f"{len(pool)}": figures_of(best, truth, task)[:2]}
    for scheme, (n_own, few, by_original) in _SCHEMES.items():
        drawn = []
        for seed in range(_N_DRAWS):
            order = np.random.default_rng(seed).permutation(len(pool))
            prior = of_pool[order[:few], 1:].mean(axis=0)
            if n_own:
                prior = prior + of_pool[order[:n_own], 0].mean(axis=0) - of_pool[order[:few], 0].mean(axis=0)
            if by_original:
                prior = prior + original.mean(axis=0) - original[order[:n_own]].mean(axis=0)
            answers = (of_test - prior).argmax(axis=2)
            drawn.append([*figures_of(answers, truth, task)[:2], float((answers != best).mean())])
        means, deviations = np.mean(drawn, axis=0).round(3).tolist(), np.std(drawn, axis=0, ddof=1).round(3).tolist()
        row[scheme] = {"f1": [means[0], deviations[0]], "s": [means[1], deviations[1]], "other": means[2]}
    return {**row, "seconds": round(time.monotonic() - started)}


if __name__ == "__main__":
    main()
