"""What is a model sensitive to? S by family of perturbations, and the spread over formats.

    PSOPT_DATA_DIR=... python experiments/what_shakes.py [--model minilm openai/gpt-4o ..]

Not in Errica et al., who only rephrase; corresponds to Sclar et al. (FormatSpread, 2024) for formats, and to P24 for
templates. Each family alone, at equal Q (the original and Q - 1 of the family), on the same test samples; the 1-shot
prompt, so that examples have an order. Expected of a language model: every family moves answers. minilm reads neither
layout nor orders, so there its S must be exactly 0, and nothing can be learnt about formats from it.
"""

from __future__ import annotations

from typing import Any, get_args

from _setting import Setting, panels
from psopt.errors import InputError
from psopt.evaluation import score
from psopt.metrics import prompt_f1, spread
from psopt.search_spaces import Family, seed_prompt


def row_of(setting: Setting, dataset: str, model: str, seed: int, family: Any) -> dict[str, Any]:
    """One family's S, F1, and the distance between its best and worst member."""
    task = setting.task(dataset, seed)
    row: dict[str, Any] = {"dataset": dataset, "source": task.info.source, "model": model, "seed": seed}
    row["family"] = family
    try:
        predictions = setting.predictions(task, seed_prompt(task, "1-shot", seed=seed), model, seed, families=(family,))
    except InputError as error:  # three labels have only five other orders
        return {**row, "left_out": str(error)}
    scores = score(predictions, intervals=True)
    row |= {"sensitivity": scores.sensitivity, "f1": scores.f1, "ci": scores.ci}
    row["moved"] = bool((predictions.array != predictions.array[:, :1]).any())
    row["spread"] = spread(predictions.array, predictions.truth)
    return {**row, "f1_std": float(prompt_f1(predictions.array, predictions.truth).std())}


def main(setting: Setting) -> None:
    """Measure each family, and plot S."""
    rows = [row_of(setting, *case, family) for case in setting.cases() for family in get_args(Family)]
    figure, (ax,) = panels(1, 6.0)
    measured = [row for row in rows if "left_out" not in row]
    names = [f"{row['dataset']} {row['model']} {row['family']}" for row in measured]
    ax.barh(names, [row["sensitivity"] for row in measured])
    ax.set(xlabel=f"S at Q = {setting.rephrasings}")
    ax.invert_yaxis()
    setting.save("what_shakes", {"rows": rows}, figure)


if __name__ == "__main__":
    main(Setting.read(__doc__, rephrasings=10))
