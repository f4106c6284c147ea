"""PSS by number of few-shot examples and against confidence: two findings of ProSA (P24).

    PSOPT_DATA_DIR=... python experiments/prosa.py [--model minilm openai/gpt-4o ..]

PSS of correctness over 12 wordings (P24 used 12 templates), test samples. Examples of each class are drawn from train,
larger sets containing smaller ones; several seeds, since the draw matters. Confidence: the mean over wordings of the
highest class probability, if a model gives any; for minilm, the distance between its two best scores stands in for it.
Expected: more examples, lower PSS; higher confidence, lower PSS.
"""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from _setting import Setting, panels
from psopt.metrics import sample_prompt_sensi_score
from psopt.models import can
from psopt.rephrasings import RephrasingOptions, freeze_rephrasings
from psopt.search_spaces import seed_prompt
from scipy.stats import spearmanr

if TYPE_CHECKING:
    from psopt.search_spaces import Prompt
    from psopt.tasks import Sample, Task

SHOTS = (0, 1, 2, 4, 8)
N_BINS = 5


def with_shots(task: Task, shots: int, seed: int) -> Prompt:
    """The simple prompt with this many examples of each class."""
    examples = [seed_prompt(task, "1-shot", seed=1000 * seed + number).examples for number in range(shots)]
    return replace(seed_prompt(task), examples=tuple(itertools.chain.from_iterable(examples)))


def confidence(
    setting: Setting, task: Task, prompt: Prompt, model: str, seed: int, samples: tuple[Sample, ...]
) -> Any | None:
    """Each sample's confidence, and what it is; None if the model gives none."""
    words = freeze_rephrasings(task, prompt.description, setting.rephrasings, 1, seed, RephrasingOptions()).search
    prompts = [prompt.described_as(text) for text in words]
    texts = [sample.text for sample in samples]
    answering = setting.provider.answering(model, task)
    if hasattr(answering, "scores"):
        ordered = np.sort([answering.scores(rephrased, texts) for rephrased in prompts], axis=2)
        return "margin of scores", (ordered[:, :, -1] - ordered[:, :, -2]).mean(axis=0)
    if can(answering, "has_probabilities") and (setting.lm.logprobs or not model.startswith(("openai", "dspy"))):
        return "probability", answering.predict_proba(prompts, texts).max(axis=2).mean(axis=1)
    return None


def main(setting: Setting) -> None:
    """Measure PSS by shots and by confidence, and plot both."""
    by_shots: list[dict[str, Any]] = []
    by_confidence: list[dict[str, Any]] = []
    figure, axes = panels(2)
    for dataset, model, seed in setting.cases():
        task = setting.task(dataset, seed)
        about = {"dataset": dataset, "source": task.info.source, "model": model, "seed": seed}
        for shots in SHOTS:
            prompt = with_shots(task, shots, seed)
            predictions = setting.predictions(task, prompt, model, seed)
            scores = sample_prompt_sensi_score(predictions.array == predictions.truth[:, None])
            f1 = float(predictions.right.mean())
            by_shots.append({**about, "shots": shots, "pss": scores.mean(), "f1": f1, "samples": scores})
            if shots == 0 and (measured := confidence(setting, task, prompt, model, seed, predictions.samples)):
                kind, confidences = measured
                fifths = np.array_split(np.argsort(confidences), N_BINS)
                bins = [float(scores[fifth].mean()) for fifth in fifths]
                test = spearmanr(confidences, scores)
                row = {"confidence": kind, "pss_by_fifth": bins, "rho": test.statistic}
                by_confidence.append({**about, **row, "p_value": test.pvalue})
        own = [row for row in by_shots if row["seed"] == seed and row["model"] == model]
        own = [row for row in own if row["dataset"] == dataset]
        axes[0].plot(SHOTS, [row["pss"] for row in own], "o-", label=f"{dataset} {model}, seed {seed}")
    for row in by_confidence:
        axes[1].plot(range(1, N_BINS + 1), row["pss_by_fifth"], "o-", label=f"{row['dataset']} {row['model']}")
    axes[0].set(xlabel="examples of each class", ylabel="PSS", ylim=(0, None))
    axes[1].set(xlabel="fifth of the samples by confidence", ylabel="PSS", ylim=(0, None))
    axes[0].legend(fontsize=7)
    setting.save("prosa", {"by_shots": _tested(by_shots), "by_confidence": by_confidence}, figure)


def _tested(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Each row with PSS minus that without examples, and its 95 % bootstrap interval, in place of the samples."""
    done, bare = [], rows[0]
    for row in rows:
        bare = row if row["shots"] == 0 else bare
        differences = row["samples"] - bare["samples"]
        rng = np.random.default_rng(row["seed"])
        means = [differences[rng.integers(len(differences), size=len(differences))].mean() for _ in range(1000)]
        row = {**row, "against_none": differences.mean(), "ci": np.percentile(means, [2.5, 97.5])}
        done.append({name: value for name, value in row.items() if name != "samples"})
    return done


if __name__ == "__main__":
    main(Setting.read(__doc__, rephrasings=12, seeds=[0, 1, 2]))
