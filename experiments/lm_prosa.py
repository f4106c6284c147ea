"""ProSA's findings on local language models: PSS by model size, by examples, and against confidence.

    python experiments/lm_prosa.py smollm2 [gguf/PATH ..] [--sets trec ..]

PSS is of correctness (Zhuo et al. 2024), over val samples (`_lm_sets.enough`) and all available wordings by people;
0, 1 or 2 examples of each class, where larger sets contain the smaller ones. Confidence is the probability of the
answer among the labels, averaged over wordings, without examples. With the label prior and without: a constant answer
has a PSS of 0, so PSS alone shows nothing there either, and F1 stands next to it. Intervals are 95 %, from 1,000 draws
of samples.

Expected: the larger model is more stable, examples lower PSS, the surer sample is the more stable one.

Each cell is saved when it is done and not measured again.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np
from _lm_cells import KeptResults, lm_parser
from _lm_rules import answers_by_prior, confidences, label_scoring
from _lm_sets import drawn_texts, lm_task, wordings_by_people
from prosa import with_shots
from psopt.metrics import sample_prompt_sensi_score
from psopt.search_spaces import render
from scipy.stats import spearmanr

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

_SHOTS = (0, 1, 2)
_N_HELD, _N_PRIOR, _MOST_WORDINGS = 60, 30, 10
_N_DRAWS = 1000


def main() -> None:
    """Measure the missing cells."""
    words = lm_parser(__doc__, ("trec", "messages")).parse_args()
    setting = f"At most {_N_HELD} val samples, wordings by people, priors on {_N_PRIOR} train texts, seed 0."
    kept = KeptResults(words.results, "lm_prosa", "cells", setting)
    kept.measure_each(words, "shots", _SHOTS, _measured)


def _measured(name: str, dataset: str, shots: int, data: Path) -> dict[str, Any]:
    started = time.monotonic()
    task = lm_task(dataset, data)
    held, unlabelled, truth = drawn_texts(task, _N_HELD, _N_PRIOR)
    prompt = with_shots(task, shots, seed=0)
    scored = label_scoring(name, task)
    wordings = wordings_by_people(dataset, data, _MOST_WORDINGS)
    columns: dict[str, list[Any]] = {"none": [], "batch": []}
    sure: dict[str, list[Any]] = {"none": [], "batch": []}
    for wording in wordings:
        worded = prompt.described_as(wording)
        likelihoods = scored([render(worded, sample.text) for sample in (*held, *unlabelled)])
        for prior, column in answers_by_prior(likelihoods, len(held)).items():
            columns[prior].append(column == truth)
            sure[prior].append(confidences(likelihoods, len(held), prior))
    figures = {}
    for prior in columns:
        right = np.stack(columns[prior], axis=1)
        unsteady = sample_prompt_sensi_score(right)
        test = spearmanr(np.mean(sure[prior], axis=0), unsteady)
        figures[prior] = {
            "pss": [float(unsteady.mean()), *_interval(unsteady)],
            "f1": float(right.mean()),
            "rho": float(test.statistic),
            "p_value": float(test.pvalue),
        }
    return {"n": len(held), "q": len(wordings), **figures, "seconds": round(time.monotonic() - started)}


def _interval(values: NDArray[np.float64]) -> list[float]:
    """The 95 % interval of the means of draws of the same size, with replacement."""
    rng = np.random.default_rng(0)
    means = values[rng.integers(len(values), size=(_N_DRAWS, len(values)))].mean(axis=1)
    return [float(end) for end in np.percentile(means, [2.5, 97.5])]


if __name__ == "__main__":
    main()
