"""How many rephrasings are enough? S, C_y and the ranking of prompts as Q grows from 2 to 30.

    PSOPT_DATA_DIR=... python experiments/how_many_rephrasings.py [--model minilm openai/gpt-4o ..]

Errica et al. leave the question open (they used 10, then 30). Six prompts, the same test samples, subsets of the same
30 wordings. Entropy from Q answers is biased low, so S grows with Q and is compared only at equal Q. Rankings of the
prompts are compared by Kendall's tau: with that of all 30 (which a large subset mostly contains), between two
halves that share no wording, and between halves on only the pairs of prompts that differ clearly under all 30.
Expected: the level of S still grows at 30, while the ranking settles long before.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations, zip_longest
from typing import TYPE_CHECKING, Any

import numpy as np
from _setting import Setting, panels
from psopt.metrics import consistency, prediction_counts, rephrasing_curve, sensitivity
from psopt.search_spaces import seed_prompt

if TYPE_CHECKING:
    from psopt.evaluation import Predictions
    from psopt.search_spaces import Prompt
    from psopt.tasks import Task

    Ways = dict[str, list[float | None]]
    """By how rankings are compared: a mean tau for each Q."""

SIZES = (2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 25, 30)
N_SUBSETS = 100
SETTLED = 0.9  # a ranking with this Kendall's tau or more counts as settled; a convention of this page
CLEAR = 0.01  # prompts that differ by less are not a clear pair; also a convention
MEASURES = {"sensitivity": lambda counts, _: sensitivity(counts), "consistency": consistency}


def prompts_of(task: Task, seed: int) -> dict[str, Prompt]:
    """Six prompts: the three strategies, and combinations of them; the examples are drawn with several seeds."""
    simple, detail = seed_prompt(task, "simple"), seed_prompt(task, "detail")
    shots = [seed_prompt(task, "1-shot", seed=seed + number).examples for number in range(3)]
    return {
        "simple": simple,
        "detail": detail,
        "1-shot": replace(simple, examples=shots[0]),
        "3-shot": replace(simple, examples=shots[0] + shots[1] + shots[2]),
        "detail, 1-shot": replace(detail, examples=shots[0]),
        "detail, 3-shot": replace(detail, examples=shots[0] + shots[1] + shots[2]),
    }


def agreements(by_prompt: dict[str, Predictions], sizes: list[int], seed: int) -> dict[str, Ways]:
    """Mean Kendall's tau of rankings by each measure: with all wordings, and between disjoint halves."""
    q = next(iter(by_prompt.values())).array.shape[1]
    rng = np.random.default_rng(seed)
    rows: dict[str, Ways] = {}
    for measure in MEASURES:
        whole = _values(by_prompt, measure, np.arange(q))
        pairs = list(combinations(range(len(whole)), 2))
        clear = [(i, j) for i, j in pairs if abs(whole[i] - whole[j]) > CLEAR]
        ways: Ways = {"with_all": [], "between_halves": [], "clear_pairs_between_halves": []}
        for size in sizes:
            taus = []
            for _ in range(N_SUBSETS):
                order = rng.permutation(q)
                first = _values(by_prompt, measure, order[:size])
                taus_of_order = [tau(first, whole, pairs)]
                if 2 * size <= q:
                    second = _values(by_prompt, measure, order[size : 2 * size])
                    taus_of_order += [tau(first, second, pairs), tau(first, second, clear)]
                taus.append(taus_of_order)
            means = [float(mean) for mean in np.mean(taus, axis=0)]
            for way, mean in zip_longest(ways.values(), means):
                way.append(mean)
        rows[measure] = ways
    return rows


def tau(first: list[float], second: list[float], pairs: list[tuple[int, int]]) -> float:
    """Kendall's tau on these pairs: +1 if both order every pair alike, -1 if in reverse; NaN without pairs."""
    signs = [np.sign((first[i] - first[j]) * (second[i] - second[j])) for i, j in pairs]
    return float(np.mean(signs)) if signs else float("nan")


def _values(by_prompt: dict[str, Predictions], measure: str, columns: Any) -> list[float]:
    counts = [prediction_counts(answers.array[:, columns], answers.n_classes) for answers in by_prompt.values()]
    truths = [answers.truth for answers in by_prompt.values()]
    return [MEASURES[measure](of_prompt, truth) for of_prompt, truth in zip(counts, truths, strict=True)]


def settles(sizes: list[int], taus: list[float | None]) -> int | None:
    """The smallest Q from which tau stays at `SETTLED` or more, as far as measured; None if there is none."""
    measured = [(size, tau) for size, tau in zip(sizes, taus, strict=True) if tau is not None]
    low = [size for size, tau in measured if not tau >= SETTLED]  # NaN is low too
    after = [size for size, _ in measured if not low or size > low[-1]]
    return after[0] if after else None


def main(setting: Setting) -> None:
    """Subsample, and plot S and the agreement of rankings over Q."""
    rows: list[dict[str, Any]] = []
    sizes = [size for size in SIZES if size <= setting.rephrasings]
    figure, axes = panels(2, 4.6)
    for dataset in setting.datasets:
        for model in setting.models:
            seed = setting.seeds[0]
            task = setting.task(dataset, seed)
            by_prompt = {
                name: setting.predictions(task, prompt, model, seed) for name, prompt in prompts_of(task, seed).items()
            }
            curves = {}
            for name, answers in by_prompt.items():
                curve = rephrasing_curve(
                    answers.array, answers.truth, answers.n_classes, sizes=sizes, n_subsets=N_SUBSETS, seed=seed
                )
                curves[name] = {part: getattr(curve, part) for part in ("mean", "low", "high")}
                axes[0].plot(sizes, curve.mean["sensitivity"], label=f"{model}: {name}")
            agreement = agreements(by_prompt, sizes, seed)
            for measure, taus in agreement.items():
                axes[1].plot(sizes, taus["with_all"], label=f"{model} {measure}: with all")
                halves = np.array(taus["clear_pairs_between_halves"], float)
                axes[1].plot(sizes, halves, "--", label=f"{measure}: clear pairs, between halves")
            settled = {
                measure: {how: settles(sizes, of_way) for how, of_way in taus.items()}
                for measure, taus in agreement.items()
            }
            about = {"dataset": dataset, "source": task.info.source, "model": model, "seed": seed, "sizes": sizes}
            rows.append(
                {
                    **about,
                    "curves": curves,
                    "agreement": agreement,
                    "settles_at": settled,
                    "tau": SETTLED,
                    "clear": CLEAR,
                }
            )
    axes[0].set(xlabel="Q", ylabel="S")
    axes[1].set(xlabel="Q", ylabel="Kendall's tau of rankings")
    for ax in axes:
        ax.legend(fontsize=6)
    setting.save("how_many_rephrasings", {"rows": rows}, figure)


if __name__ == "__main__":
    main(Setting.read(__doc__))
