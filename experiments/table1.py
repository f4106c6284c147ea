"""S, C_y and F1 of three strategies: Tables 1 and 2 of Errica et al., next to the published numbers.

    PSOPT_DATA_DIR=... python experiments/table1.py [--dataset trec ..] [--model minilm openai/gpt-4o ..]

Test samples, Q = 30 wordings (the original among them), micro-F1, pooled C_y. Standard deviations: of S and of the mean
consistency with the class over samples, of F1 over wordings. Intervals of 95 % and tests are over samples and wordings
(`psopt.metrics.score_intervals`). A seed draws the split (minilm sees texts from the centre of train's), the order of
wordings and the examples of 1-shot. Expected: 1-shot is more stable than simple; detail helps on some sets and
harms on others; prompts of equal F1 differ in S.
"""

from __future__ import annotations

import json
from typing import Any

from _setting import HERE, Setting, panels
from psopt.evaluation import compare_paired, score
from psopt.metrics import prompt_f1, sample_consistency
from psopt.search_spaces import STRATEGIES, seed_prompt
from psopt.tasks import list_datasets

MEASURES = ("sensitivity", "consistency", "f1")


def rows_of(setting: Setting, dataset: str, model: str, seed: int) -> list[dict[str, Any]]:
    """A row for each strategy; each is tested against the first, on the same samples and wordings."""
    task, rows, first = setting.task(dataset, seed), [], None
    for strategy in STRATEGIES:
        predictions = setting.predictions(task, seed_prompt(task, strategy, seed=seed), model, seed)
        scores = score(predictions, intervals=True)
        first = first or predictions
        std = {
            "sensitivity": predictions.sensitivities.std(),
            "consistency": sample_consistency(predictions.p_tau, predictions.truth).std(),
            "f1": float(prompt_f1(predictions.array, predictions.truth).std()),
        }
        row = {"dataset": dataset, "source": task.info.source, "model": model, "strategy": strategy, "seed": seed}
        row |= {"samples": len(predictions.samples), "na_rate": scores.na_rate, "ci": scores.ci, "std": std}
        row |= {measure: getattr(scores, measure) for measure in MEASURES}
        if predictions is not first:
            against = compare_paired(first, predictions)
            row["against_simple"] = {
                name: {"difference": test.difference, "p_value": test.p_value} for name, test in against.items()
            }
        rows.append(row)
        print(f"{dataset} {model} {strategy}: " + ", ".join(f"{name} {row[name]:.3f}" for name in MEASURES), flush=True)
    return rows


def main(setting: Setting) -> None:
    """Measure everything, and plot F1 against S."""
    rows = [row for case in setting.cases() for row in rows_of(setting, *case)]
    published = json.loads((HERE / "published.json").read_text("utf-8"))["table1"]
    figure, axes = panels(len(setting.datasets))
    for ax, dataset in zip(axes, setting.datasets, strict=True):
        own = [row for row in rows if row["dataset"] == dataset]
        theirs = [scores for model in published.get(dataset, {}).values() for scores in model.values()]
        ax.scatter(*_coordinates(theirs), c="lightgrey", label="published")
        for strategy, mark in zip(STRATEGIES, "os^", strict=True):
            points = [row for row in own if row["strategy"] == strategy]
            ax.scatter(
                [row["sensitivity"] for row in points], [row["f1"] for row in points], marker=mark, label=strategy
            )
        ax.set(title=dataset, xlabel="S", ylabel="F1", xlim=(0, None))
        ax.legend(fontsize=7)
    setting.save("table1", {"rows": rows}, figure)


def _coordinates(points: list[dict[str, Any]]) -> tuple[list[float], list[float]]:
    return [point["sensitivity"] for point in points], [point["f1"] for point in points]


if __name__ == "__main__":
    main(Setting.read(__doc__, dataset=[dataset.name for dataset in list_datasets()], seeds=[0, 1, 2]))
