"""What does each part of the search contribute? The search with one part removed.

    PSOPT_DATA_DIR=... python experiments/ablation.py [--model minilm openai/gpt-4o ..] [--seeds 0 1 2]

Not in the paper: Errica et al. fixed prompts by hand. All variants of a seed share samples, wordings and number of
trials. The front is found on train and val, and scored on test under held-out wordings: hypervolume of (F1, S, C)
with the reference point F1 = 0, S = 1, C = 0, in [0, 1], and the knee's scores. Without the constraint the front may
hold prompts that lost F1; their number is given. Expected: every variant loses, the one without notes the most.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from _setting import Setting, panels
from optuna._hypervolume import compute_hypervolume  # Optuna's own; it has no public name
from psopt import SearchRestriction
from psopt.evaluation import objective_values
from psopt.search_spaces import KINDS, VIEWS

REFERENCE = {"f1": 0.0, "sensitivity": 1.0, "consistency": 0.0}
WITHOUT: dict[str, dict[str, Any]] = {
    "nothing (the whole search)": {},
    **{
        f"{left_out} view": {"parts": SearchRestriction(views=tuple(view for view in VIEWS if view != left_out))}
        for left_out in VIEWS
    },
    **{
        f"{left_out}s": {"parts": SearchRestriction(kinds=tuple(kind for kind in KINDS if kind != left_out))}
        for left_out in KINDS
    },
    "constraint": {"parts": SearchRestriction(margin=1.0)},
    "rounds (one only)": {"rounds": 1},
}


def hypervolume(points: list[dict[str, float]]) -> float:
    """The share of the unit cube that these scores dominate."""
    losses = np.array([[-point["f1"], point["sensitivity"], -point["consistency"]] for point in points])
    return float(compute_hypervolume(losses, np.array([0.0, 1.0, 0.0])))


def one_run(setting: Setting, dataset: str, model: str, seed: int, without: str) -> dict[str, Any]:
    """Search with one part removed."""
    run = setting.search(dataset, model, seed, rephrasings=setting.rephrasings, **WITHOUT[without])
    on_test = [objective_values(candidate.test) for candidate in run.front]
    least = run.baseline.val.f1 - SearchRestriction().margin
    row = {"dataset": dataset, "model": model, "seed": seed, "without": without, "front": len(run.front)}
    row |= {
        "lost_f1": sum(candidate.val.f1 < least for candidate in run.front),
        "knee": objective_values(run.pick("knee").test),
    }
    row |= {"seed_prompt": objective_values(run.baseline.test), "hypervolume": hypervolume(on_test)}
    row["hypervolume_seed_prompt"] = hypervolume([row["seed_prompt"]])
    print(f"seed {seed}, without {without}: hypervolume {row['hypervolume']:.3f}, knee {row['knee']}", flush=True)
    return row


def main(setting: Setting) -> None:
    """Run all, and draw the hypervolumes."""
    rows = [one_run(setting, *case, without) for case in setting.cases() for without in WITHOUT]
    figure, (ax,) = panels(1, 7.0)
    for seed in setting.seeds:
        own = [row for row in rows if row["seed"] == seed]
        ax.plot([row["hypervolume"] for row in own], [row["without"] for row in own], "o", label=f"seed {seed}")
    ax.set(xlabel="hypervolume on test", title="without ..")
    ax.invert_yaxis()
    ax.legend(fontsize=7)
    setting.save("ablation", {"reference": REFERENCE, "rows": rows}, figure)


if __name__ == "__main__":
    main(Setting.read(__doc__, samples=200, rephrasings=10, seeds=[0, 1, 2], trials=25))
