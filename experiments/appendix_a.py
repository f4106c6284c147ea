"""S against mean consistency, sample by sample, for a predictor, a half-noised version of it, and a random one.

    PSOPT_DATA_DIR=... python experiments/appendix_a.py [--model minilm openai/gpt-4o ..]

Corresponds to appendix A of Errica et al. The simple prompt, test samples, Q = 30; every answer is replaced by a random
class with probability 0, 1/2 and 1. Expected: S grows with the noise, to nearly 1; the consistency of the random
predictor, whose answers are alike in being random, is higher than the predictor's own: S and C_y alone can be gamed.
"""

from __future__ import annotations

from typing import Any

from _setting import Setting, panels
from psopt.metrics import reference_scores
from psopt.search_spaces import seed_prompt
from psopt.tasks import list_datasets


def main(setting: Setting) -> None:
    """Add noise to the answers, and plot every sample."""
    rows: list[dict[str, Any]] = []
    for dataset in setting.datasets:
        for model in setting.models:
            seed = setting.seeds[0]
            task = setting.task(dataset, seed)
            predictions = setting.predictions(task, seed_prompt(task, seed=seed), model, seed)
            references = reference_scores(predictions.array, predictions.truth, predictions.n_classes, seed=seed)
            about = {"dataset": dataset, "source": task.info.source, "model": model, "seed": seed}
            rows += [{**about, "predictor": name, **vars(scores)} for name, scores in references.items()]
    figure, axes = panels(len(rows))
    for ax, row in zip(axes, rows, strict=True):
        ax.scatter(row["sample_sensitivity"], row["sample_consistency"], s=6, alpha=0.4)
        title = f"{row['dataset']}, {row['model']}: {row['predictor']}"
        ax.set(title=title, xlabel="S", ylabel="mean consistency with the class", xlim=(0, 1), ylim=(0, 1))
    setting.save("appendix_a", {"rows": rows}, figure)


if __name__ == "__main__":
    main(Setting.read(__doc__, dataset=[dataset.name for dataset in list_datasets()]))
