"""For appendices B and C: weak samples of a topic, a sentence by hand, psopt's own edits, before and after."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from _setting import panels
from psopt.diagnosis import severity
from psopt.evaluation import score
from psopt.search_spaces import seed_prompt

if TYPE_CHECKING:
    from collections.abc import Callable

    from _setting import Setting
    from psopt.evaluation import Predictions
    from psopt.search_spaces import View
    from psopt.tasks import Sample

SHOWN = 10
MEASURES = ("f1", "sensitivity", "consistency")


@dataclass(frozen=True)
class Fix:
    """A sentence that gives a topic its class, as the paper's authors wrote it after seeing the samples."""

    topic: str
    label: str
    sentence: str
    belongs: Callable[[Sample], bool]

    @property
    def placebo(self) -> str:
        """A sentence of the same form, about something that the samples don't ask about."""
        return f"Questions about recipes belong to {self.label}."


def study(setting: Setting, view: View, fixes: tuple[Fix, ...], name: str) -> None:
    """Measure every fix under every model; the wordings are held out, so that the search has seen none of them."""
    rows = []
    for dataset, model, seed in setting.cases():
        task = setting.task(dataset, seed)
        baseline = seed_prompt(task, seed=seed)
        improved = setting.search(dataset, model, seed).pick("knee").prompt
        before = setting.predictions(task, baseline, model, seed, heldout=True)
        parts = {
            "automatic": improved,
            "its notes alone": replace(baseline, notes=improved.notes),
            "its definitions alone": replace(baseline, definitions=improved.definitions),
        }
        for fix in fixes:
            by_hand = {"placebo": fix.placebo, "by hand": fix.sentence}
            prompts = {kind: replace(baseline, notes=(sentence,)) for kind, sentence in by_hand.items()} | parts
            columns = {"before": before} | {
                kind: setting.predictions(task, prompt, model, seed, heldout=True) for kind, prompt in prompts.items()
            }
            about = {"dataset": dataset, "source": task.info.source, "model": model, "seed": seed}
            about |= {"rephrasings": before.array.shape[1], "notes": len(improved.notes)}
            rows.append({**about, **compared(fix, view, columns)})
    figure, axes = panels(len(rows))
    for ax, row in zip(axes, rows, strict=True):
        for kind, mark in {"before": "x", "placebo": "_", "by hand": "o", "automatic": "^"}.items():
            right = row["columns"][kind]["right"]
            ax.plot(range(1, len(right) + 1), right, mark, label=kind)
        title = f"{row['model']}: {row['topic']} -> {row['label']}"
        q = setting.rephrasings
        ax.set(title=title, xlabel="sample", ylabel=f"right answers of {q}", ylim=(-0.5, q + 0.5))
        ax.legend(fontsize=7)
    setting.save(name, {"fixes": rows}, figure)


def compared(fix: Fix, view: View, columns: dict[str, Predictions]) -> dict[str, Any]:
    """The topic's weakest samples under the original prompt, and how the same samples fare under the other prompts."""
    before = columns["before"]
    severities = severity(before, view)
    samples = before.samples
    topic = np.array([fix.belongs(sample) for sample in samples])
    of_class = np.array([sample.label == fix.label for sample in samples])
    is_weak = severities > 0
    pool = np.flatnonzero(of_class & is_weak if view == "consistency" else is_weak)  # appendix B: of all classes
    top = pool[np.argsort(-severities[pool], kind="stable")][:SHOWN]
    weakest = np.flatnonzero(topic & is_weak)
    weakest = weakest[np.argsort(-severities[weakest], kind="stable")][:SHOWN]
    wrong_at_once = of_class & (before.array[:, 0] != before.truth)
    return {
        "topic": fix.topic,
        "label": fix.label,
        "sentence": fix.sentence,
        "placebo": fix.placebo,
        "topic_among_weakest": [int(topic[top].sum()), len(top)],
        "topic_among_all": [int(topic[pool].sum()), len(pool)],
        "topic_among_misclassified_once": [int((topic & wrong_at_once).sum()), int(wrong_at_once.sum())],
        "columns": {kind: _fares(predictions, weakest) for kind, predictions in columns.items()},
    }


def _fares(predictions: Predictions, indices: Any) -> dict[str, Any]:
    right = predictions.right.sum(axis=1)[indices]
    scores = score(predictions)
    whole = {measure: getattr(scores, measure) for measure in MEASURES}
    return {"right": right, "sensitivity": predictions.sensitivities[indices], "whole": whole}
