"""Does a front that was found on one model, or on one kind of wordings, hold up on another?

    PSOPT_DATA_DIR=... python experiments/transfer.py [--model minilm openai/gpt-4o ..]

Not in the paper: Errica et al. fix a prompt for one model. Offline the other model is `sim`, which follows notes that
quote phrases but is a simulation. Wordings: those written for the task (paraphrase), or made by rule (wording). Each
front is found in one setting (model, wordings), and its knee and members are tested under held-out wordings of every
setting, against the original prompt. Expected: gains in the other setting are smaller, but still gains.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from _setting import Setting, panels
from psopt.evaluation import score
from psopt.rephrasings import RephrasingOptions
from psopt.search_spaces import seed_prompt

if TYPE_CHECKING:
    from psopt.search_spaces import Family, Prompt

WORDINGS: tuple[Family, ...] = ("paraphrase", "wording")
MEASURES = ("f1", "sensitivity", "consistency")


def front_of(setting: Setting, dataset: str, model: str, words: Family, seed: int) -> tuple[Prompt, list[Prompt]]:
    """The knee and the whole front of a search."""
    rephrasing = RephrasingOptions(families=(words,))
    run = setting.search(dataset, model, seed, rephrasings=setting.rephrasings, rephrasing=rephrasing)
    return run.pick("knee").prompt, [candidate.prompt for candidate in run.front]


def rows_of(setting: Setting, dataset: str, seed: int) -> list[dict[str, Any]]:
    """Every front in every setting."""
    task = setting.task(dataset, seed)
    places = [(model, words) for model in setting.models for words in WORDINGS]

    def fares(prompt: Prompt, model: str, words: Family) -> dict[str, float]:
        scores = score(setting.predictions(task, prompt, model, seed, heldout=True, families=(words,)))
        return {name: getattr(scores, name) for name in MEASURES}

    rows = []
    bare = {place: fares(seed_prompt(task), *place) for place in places}
    for source in places:
        knee, front = front_of(setting, dataset, *source, seed)
        for target in places:
            everyone = [fares(prompt, *target) for prompt in front]
            better = [
                scores["f1"] > bare[target]["f1"] and scores["sensitivity"] < bare[target]["sensitivity"]
                for scores in everyone
            ]
            row = {"dataset": dataset, "seed": seed, "from": list(source), "to": list(target), "front": len(front)}
            row |= {"seed_prompt": bare[target], "knee": fares(knee, *target), "better": sum(better) / len(better)}
            rows.append(row)
            print(f"seed {seed}, {source} to {target}: {row['knee']}", flush=True)
    return rows


def main(setting: Setting) -> None:
    """Run all, and plot what the knee gains in F1 and S."""
    rows = [row for dataset in setting.datasets for seed in setting.seeds for row in rows_of(setting, dataset, seed)]
    figure, axes = panels(2, 4.4)
    for ax, measure in zip(axes, ("f1", "sensitivity"), strict=True):
        for row in rows:
            at_home = row["from"] == row["to"]
            gain = row["knee"][measure] - row["seed_prompt"][measure]
            ax.plot(gain, " ".join(row["from"]) + " to " + " ".join(row["to"]), "o" if at_home else "x", c="C0")
        ax.axvline(0, c="lightgrey")
        ax.set(xlabel=f"{measure}: knee less seed prompt")
    axes[1].set(yticklabels=[])
    setting.save("transfer", {"rows": rows}, figure)


if __name__ == "__main__":
    main(Setting.read(__doc__, model=["minilm", "sim/"], samples=200, rephrasings=10, trials=25))
