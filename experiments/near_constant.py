"""From which lopsidedness does the label prior alone decide S, C and F1?

    python experiments/near_constant.py smollm2 [gguf/PATH ..] [--sets trec cb]

Labels' log-probabilities with the label prior removed, and a bias of up to 12 nats towards each label in turn. If S
falls and C rises then, the bias is the cause, since the model is the same. Expected: the more often a prompt gives one
label beyond the frequency of its class, the more stable it looks, and the less it is worth.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from _lm_cells import KeptResults, lm_parser
from _lm_sets import classes_of, lm_task, wordings_by_people
from psopt.evaluation import lopsidedness
from psopt.metrics import consistency, micro_f1, prediction_counts, sensitivity
from psopt.models import load_model
from psopt.search_spaces import seed_prompt
from psopt.tasks import subset

BIASES = (0.0, *np.linspace(0.25, 4, 16), *np.linspace(4.5, 12, 16))  # nats
EDGES = (0.0, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
_N_TEXTS, _N_WORDINGS = 80, 4


def main() -> None:
    """Measure each model on each set."""
    words = lm_parser(__doc__, ["trec", "cb"]).parse_args()
    setting = (
        f"At most {_N_TEXTS} val samples (of CB, test), {_N_WORDINGS} wordings by people; biases of 0 to 12 "
        "nats towards each label, on scores with the label prior taken out."
    )
    kept = KeptResults(words.results, "near_constant", "rows", setting)
    for model in words.models:
        for dataset in words.sets:
            if not kept.has(model=Path(model).stem, dataset=dataset):
                kept.add(*_biased(model, dataset, words.data))


def _biased(model: str, dataset: str, data: Path) -> list[dict[str, Any]]:
    """How S, C and F1 move with the bias: a row for each bin of lopsidedness."""
    task = lm_task(dataset, data)
    samples = subset(task.test if dataset == "cb" else task.val, _N_TEXTS, seed=0)
    truth = classes_of(samples, task)
    wordings = wordings_by_people(dataset, data, _N_WORDINGS)
    prompts = [seed_prompt(task).described_as(wording) for wording in wordings]
    scores = load_model(model, task).label_scores(prompts, [sample.text for sample in samples])
    scores -= scores.mean(axis=0)  # batch calibration, under each wording
    favours = np.eye(len(task.labels))
    answers = [(scores + bias * favour).argmax(axis=2) for favour in favours for bias in BIASES]
    rows = np.array([_measured(given, truth, task.labels) for given in answers])
    bins = np.digitize(rows[:, 0], EDGES[1:-1])
    return [
        {
            "model": Path(model).stem,
            "dataset": dataset,
            "texts": len(samples),
            "from": EDGES[index],
            "to": EDGES[index + 1],
            "biases": int((bins == index).sum()),
            **dict(
                zip(("sensitivity", "consistency", "f1"), rows[bins == index, 1:].mean(axis=0).tolist(), strict=True)
            ),
        }
        for index in np.unique(bins).tolist()
    ]


def _measured(answers: Any, truth: Any, labels: Any) -> tuple[float, float, float, float]:
    """Lopsidedness, S, C and F1 of answers: (n_texts, n_wordings) int."""
    n_classes = len(labels)
    given, of_class = (
        dict(zip(labels, np.bincount(numbers.ravel(), minlength=n_classes) / numbers.size, strict=True))
        for numbers in (answers, truth)
    )
    counts = prediction_counts(answers, n_classes)
    return (
        lopsidedness(given, of_class),
        sensitivity(counts),
        float(consistency(counts, truth)),
        micro_f1(answers, truth),
    )


if __name__ == "__main__":
    main()
